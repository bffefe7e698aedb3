/*
 * fuzz_script.c - any bytes as an event file: in order, or an error
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/workload/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xmalloc(size + 1);
	struct sim_script s;
	struct error err = ERROR_INIT;

	memcpy(text, data, size);
	text[size] = '\0';
	if (!script_parse(text, size, "fuzz", &s, &err)) {
		for (size_t i = 1; i < s.nr; i++)
			assert(s.event[i - 1].at <= s.event[i].at);
		script_clear(&s);
	} else {
		assert(*err.text);
	}
	free(text);
	return 0;
}
