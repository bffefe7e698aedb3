/* instants.c - the instants in a policy's sentence, see instants.h */
#include "cmd/client/instants.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/units.h"
#include "core/xalloc.h"

enum { DIGITS = 10 }; /* of the seconds since 1970, 2001 to 2286 */

const char *show_time(uint64_t usec, char ret[32])
{
	time_t at = (time_t)(usec / USEC_PER_SEC);
	struct tm tm;

	strftime(ret, 32, "%F %T", localtime_r(&at, &tm));
	return ret;
}

/* The length of the instant that a sentence has at `at`, with its unit; 0: none. */
static size_t instant_at(const char *text, const char *at)
{
	static const char digits[] = "0123456789";
	size_t n = strspn(at, digits);

	if (n != DIGITS || *at == '0' || (at > text && at[-1] != ' '))
		return 0;
	if (at[n] == '.')
		n += 1 + strspn(at + n + 1, digits);
	if (strncmp(at + n, " s", 2) || isalnum((unsigned char)at[n + 2]))
		return 0;
	return n + 2;
}

static char *append(char *text, const char *more, size_t n)
{
	char *both = xasprintf("%s%.*s", text, (int)n, more);

	free(text);
	return both;
}

char *instants_told(const char *text)
{
	char when[32], *told = xstrdup("");
	size_t n = 0, plain = 0;

	for (;;) {
		while (text[plain] && !(n = instant_at(text, text + plain)))
			plain++;
		told = append(told, text, plain);
		if (!text[plain])
			return told;
		show_time(strtoull(text + plain, NULL, 10) * USEC_PER_SEC,
			  when);
		told = append(told, when, strlen(when));
		text += plain + n;
		plain = 0;
	}
}
