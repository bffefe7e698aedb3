/*
 * fuzz_record.c - any bytes as a record of a live run: replayed and made a
 * workload, or an error
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/replay.h"
#include "sim/workload/recorded.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct replay_result result;
	struct recorded recorded;
	struct error err = ERROR_INIT;
	char *text = fuzz_text(data, size);
	int r = replay_run(text, size, "fuzz", &result, &err);

	assert(!r || *err.text);
	if (!r)
		free(result.differs);
	free(text);
	text = fuzz_text(data, size);
	err = (struct error)ERROR_INIT;
	if (!recorded_parse(text, size, "fuzz", &recorded, &err)) {
		assert(recorded.nr_hosts);
		recorded_clear(&recorded);
	} else {
		assert(*err.text);
	}
	free(text);
	return 0;
}
