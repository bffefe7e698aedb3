/*
 * fuzz_param.c - any text as the parameters of every policy and workload
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/param.h"
#include "core/xalloc.h"
#include "policy/policies.h"
#include "sim/workload/attach.h"
#include "sim/workload/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const struct param *table, const char *text)
{
	struct params p;
	struct error err = ERROR_INIT;

	if (params_parse(table, text, "fuzz", &p, &err) < 0) {
		assert(*err.text);
		return;
	}
	for (size_t i = 0; i < p.nr; i++)
		assert(table[i].type == PARAM_TEXT ||
		       table[i].type == PARAM_BOOL ||
		       table[i].type == PARAM_CHOICE ||
		       (p.value[i].number >= table[i].min &&
			p.value[i].number <= table[i].max));
	params_clear(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct workload_setup setup = { .procs = 4, .nr_jobs = 1 };
	char *text = xmalloc(size + 1);
	const struct policy_ops *p;
	struct workload *w;
	struct host *hosts = NULL;
	uint32_t n;

	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; (p = policy_nth(i)); i++)
		parse(p->params, text);
	for (size_t i = 0; workload_nth(i); i++)
		parse(workload_nth(i)->params, text);
	if (!workload_create("poisson", &setup, &w, NULL)) {
		if (attach_speedup(&w, text, 1, 0, NULL) < 0)
			assert(w);
		workload_destroy(w);
	}
	if (size < 12 && !machine_parse(text, &hosts, &n, NULL))
		free(hosts);
	free(text);
	return 0;
}
