/*
 * fuzz_pmi.c - whatever a rank sends to its PMI server, and whatever comes as
 * the state of one
 *
 * The first byte chooses: 's' is followed by a saved state, anything else by
 * what a rank sends.  In both cases a server that still works must survive
 * being saved and loaded, and say the same afterwards.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pmi/pmi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pmi_server *server;

static void on_fence(void *ctx, uint64_t generation, const struct pmi_put *puts,
		     size_t n)
{
	struct pmi_put more = { "from_another", "rank" };

	assert(n <= PMI_PUTS_MAX);
	for (size_t i = 0; i < n; i++)
		assert(strlen(puts[i].key) < PMI_KEY_MAX &&
		       strlen(puts[i].value) < PMI_VALUE_MAX);
	if (server && generation % 2)
		assert(!pmi_server_release(server, generation, &more, 1, false,
					   NULL));
}

static void on_abort(void *ctx, int code, const char *text)
{
	assert(text);
}

static const struct pmi_exchange exchange = { on_fence, on_abort };

/* Through bytes and back. */
static void travel(void)
{
	struct pmi_server *copy;
	const void *p, *q;
	void *bytes;
	size_t n, np, nq;

	pmi_server_save(server, &bytes, &n);
	assert(!pmi_server_load(bytes, n, &exchange, NULL, &copy, NULL));
	free(bytes);
	p = pmi_server_output(server, &np);
	q = pmi_server_output(copy, &nq);
	assert(np == nq && (!np || !memcmp(p, q, np)));
	assert(pmi_server_phase(server) == pmi_server_phase(copy));
	pmi_server_destroy(server);
	server = copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t half = size / 2;

	server = NULL;
	if (!size)
		return 0;
	if (data[0] == 's') {
		if (pmi_server_load(data + 1, size - 1, &exchange, NULL,
				    &server, NULL) < 0)
			return 0;
		pmi_server_refence(server);
		travel();
	} else {
		assert(!pmi_server_create(0, 3, "kvs", &exchange, NULL, &server,
					  NULL));
		if (!pmi_server_feed(server, data, half, NULL)) {
			travel();
			(void)!pmi_server_feed(server, data + half, size - half,
					       NULL);
			pmi_server_sent(server, 0);
		}
	}
	pmi_server_destroy(server);
	server = NULL;
	return 0;
}
