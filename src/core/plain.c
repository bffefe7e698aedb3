/* plain.c - texts without control characters, see plain.h */
#include "core/plain.h"

void plain_text(char *text)
{
	unsigned char *to = (unsigned char *)text;

	for (const unsigned char *c = to; *c; c++) {
		if (*c == '\n' || *c == '\r' || *c == '\t')
			*to++ = ' ';
		else if (*c < ' ' || *c == 0x7f)
			*to++ = '?';
		else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			*to++ = '?', c++;
		else
			*to++ = *c;
	}
	*to = 0;
}
