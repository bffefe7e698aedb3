/* test_needs.c - see test_needs.h */
#include "sim/engine/test_needs.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/engine/paging.h"
#include "sim/engine/testing.h"
#include "sim/workload/machine.h"

struct table {
	struct workload base;
	const struct line *line;
	size_t nr, at;
};

static int table_next(struct workload *workload, struct workload_job *ret,
		      struct error *err)
{
	struct table *t = (struct table *)workload;
	const struct line *l = &t->line[t->at];

	(void)err;
	if (t->at == t->nr)
		return 0;
	*ret = (struct workload_job){ .id = (int64_t)++t->at,
				      .submit = l->submit,
				      .run = l->run,
				      .estimate = l->run,
				      .size = l->size ? l->size : 1,
				      .min_size = l->size ? l->size : 1,
				      .memory = l->memory,
				      .home = l->home,
				      .phases = l->phases };
	return 1;
}

void run_with(const struct line *line, size_t nr, const char *machine,
	      const char *paging, struct sim_config c, struct sim_result *ret)
{
	static const struct workload_ops ops = { .name = "table",
						 .next = table_next };
	struct table t = { .base = { .ops = &ops }, .line = line, .nr = nr };
	struct paging p = make_paging(paging);
	struct host *hosts;

	c.workload = &t.base;
	c.paging = &p;
	assert_int_equal(machine_parse(machine, &hosts, &c.nr_hosts, NULL), 0);
	c.hosts = hosts;
	simulate(&c, ret);
	free(hosts);
}

void run_table(const struct line *line, size_t nr, const char *machine,
	       const char *paging, const char *policy, struct sim_result *ret)
{
	run_with(line, nr, machine, paging,
		 (struct sim_config){ .policy = policy }, ret);
}

/* What was planned, in words. */
static void write_plan(void *data, const struct view *view,
		       const struct plan *plan)
{
	char text[300];

	for (size_t i = 0; i < plan->nr; i++) {
		if (plan->entry[i].type == PLAN_WAKE)
			continue;
		plan_print(view, &plan->entry[i], text, sizeof(text));
		*strchr(text, ':') = '\0';
		fprintf(data, "%" PRId64 " %s\n", view->now / USEC_PER_SEC,
			text);
	}
}

char *plans_of(const struct line *line, size_t nr, const char *machine,
	       const char *policy, struct sim_result *ret)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	const struct sim_observer observer = { .plan = write_plan, .data = f };

	assert_non_null(f);
	run_with(line, nr, machine, "system=0,sweep=10,switch=0",
		 (struct sim_config){ .policy = policy, .observer = &observer },
		 ret);
	fclose(f);
	return text;
}
