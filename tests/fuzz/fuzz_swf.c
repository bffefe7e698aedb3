/*
 * fuzz_swf.c - any bytes as a trace: read or refused, with an error of one line
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/workload/swf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct swf_options options = {
		.extra = size % 2 ? SWF_EXTRA_IGNORE : SWF_EXTRA_REFUSE
	};
	char *text = xmalloc(size + 1);
	struct swf_trace t;
	struct error err = ERROR_INIT;

	memcpy(text, data, size);
	text[size] = '\0';
	if (!swf_parse(text, size, "fuzz", &options, &t, &err)) {
		for (size_t i = 0; i < t.nr; i++) {
			assert(t.job[i].run > 0 && t.job[i].size > 0);
			assert(t.job[i].size <= t.procs);
			assert(!i || t.job[i - 1].submit <= t.job[i].submit);
		}
		swf_clear(&t);
	} else {
		assert(*err.text && !strchr(err.text, '\n'));
	}
	free(text);
	return 0;
}
