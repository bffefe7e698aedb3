/*
 * fuzz_activity.c - any bytes as an activity script: what is read is in order,
 * and written and read again the same; or an error
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/activity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_read(const struct activity *a)
{
	struct activity back;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	activity_write(a, false, f);
	fclose(f);
	assert(!activity_parse(text, size, "again", &back, NULL));
	assert(back.nr == a->nr);
	for (size_t i = 0; i < a->nr; i++)
		assert(back.change[i].value == a->change[i].value);
	activity_clear(&back);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xmalloc(size + 1);
	struct activity a;
	struct error err = ERROR_INIT;

	memcpy(text, data, size);
	text[size] = '\0';
	if (!activity_parse(text, size, "fuzz", &a, &err)) {
		for (size_t i = 1; i < a.nr; i++)
			assert(a.change[i - 1].at <= a.change[i].at);
		write_and_read(&a);
		activity_clear(&a);
	} else {
		assert(*err.text);
	}
	free(text);
	return 0;
}
