/*
 * fuzz_job.c - rank 0 of a job says whatever it likes to its PMI server, while
 * two others say what they should
 *
 * The input is pieces: a byte with how many bytes follow, less one, in its low
 * seven bits, and whether the rank reads the answers so far in the high one.
 * Before each piece the honest ranks enter their next fence, if they are out of
 * the last.  Whatever rank 0 says, their talk goes on, and of each fence each
 * has what both have put for it.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmi/gather.h"
#include "pmi/pmi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANKS = 3, LIAR = 0 };

static struct pmi_gather *gather;
static struct pmi_server *server[RANKS];
static uint32_t ranks[RANKS] = { 0, 1, 2 };

static void release(uint32_t rank, uint64_t generation)
{
	size_t n;
	const struct pmi_put *puts = pmi_gather_union(gather, &n);

	assert(!pmi_server_release(server[rank], generation, puts, n, false,
				   NULL));
}

static void on_fence(void *ctx, uint64_t generation, const struct pmi_put *puts,
		     size_t n)
{
	uint32_t rank = *(uint32_t *)ctx;
	int r = pmi_gather_add(gather, rank, generation, puts, n, false, NULL);

	assert(r >= 0);
	if (r == PMI_GATHER_AGAIN)
		release(rank, generation);
	for (uint32_t i = 0; r == PMI_GATHER_ALL && i < RANKS; i++)
		release(i, generation);
}

static void on_abort(void *ctx, int code, const char *text)
{
	assert(text);
}

static const struct pmi_exchange exchange = { on_fence, on_abort };

/* What that rank puts for that fence, as hex. */
static void name_blob(uint32_t rank, uint64_t generation, char ret[16])
{
	snprintf(ret, 16, "%02x%02x", (unsigned)rank,
		 (unsigned)generation & 255);
}

/* All that the server has said to a rank that is out of `fences` fences. */
static void check_answers(uint32_t rank, uint64_t fences)
{
	char blob[16], want[64], *text;
	const char *out;
	size_t n;

	out = pmi_server_output(server[rank], &n);
	text = strndup(n ? out : "", n);
	for (uint32_t i = 0; fences && i < RANKS; i++) {
		if (i == LIAR)
			continue;
		name_blob(i, fences - 1, blob);
		snprintf(want, sizeof(want), "cmd=blob value=%s\n", blob);
		assert(strstr(text, want));
	}
	assert(!fences || strstr(text, "cmd=fence_out rc=0\n"));
	free(text);
	pmi_server_sent(server[rank], n);
}

static void enter_fence(uint32_t rank)
{
	char blob[16], text[128];
	uint64_t fences;
	bool waits;

	fences = pmi_server_generation(server[rank], &waits);
	if (waits)
		return;
	check_answers(rank, fences);
	name_blob(rank, fences, blob);
	snprintf(text, sizeof(text),
		 "cmd=put kvsname=kvs key=" PMI_BLOB_KEY " value=.%s\n"
		 "cmd=fence_in\n",
		 (unsigned)rank, 0u, blob);
	assert(!pmi_server_feed(server[rank], text, strlen(text), NULL));
}

static void be_honest(void)
{
	for (uint32_t i = 0; i < RANKS; i++)
		if (i != LIAR)
			enter_fence(i);
}

static bool lie(const uint8_t *data, size_t n, bool reads)
{
	bool up = !pmi_server_feed(server[LIAR], data, n, NULL);
	size_t answers;

	pmi_server_output(server[LIAR], &answers);
	if (reads)
		pmi_server_sent(server[LIAR], answers);
	pmi_server_refence(server[LIAR]);
	return up;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	bool up = true;

	gather = pmi_gather_create(RANKS);
	for (uint32_t i = 0; i < RANKS; i++)
		assert(!pmi_server_create(i, RANKS, "kvs", &exchange, &ranks[i],
					  &server[i], NULL));
	while (data < end && up) {
		uint8_t head = *data++;
		size_t n = 1 + (head & 127);

		if (n > (size_t)(end - data))
			n = (size_t)(end - data);
		be_honest();
		up = lie(data, n, head & 128);
		data += n;
	}
	be_honest();
	for (uint32_t i = 0; i < RANKS; i++)
		pmi_server_destroy(server[i]);
	pmi_gather_destroy(gather);
	return 0;
}
