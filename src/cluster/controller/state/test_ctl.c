/* test_ctl.c - see test_ctl.h */
#include "cluster/controller/state/test_ctl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/controller/state/job.h"
#include "core/scratch.h"
#include "core/xalloc.h"

struct ctl test_ctl;
static char path[SCRATCH_MAX + 16];

int test_ctl_setup(void **state)
{
	char dir[SCRATCH_MAX];

	(void)state;
	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/state", dir);
	test_ctl_begin();
	return 0;
}

void test_ctl_begin(void)
{
	struct error err;

	memset(&test_ctl, 0, sizeof(test_ctl));
	TAILQ_INIT(&test_ctl.jobs.list);
	TAILQ_INIT(&test_ctl.jobs.ended);
	TAILQ_INIT(&test_ctl.jobs.due);
	TAILQ_INIT(&test_ctl.jobs.telling);
	assert_int_equal(store_open(path, &test_ctl.store, &err), 0);
	ctl_jobs_read(&test_ctl);
}

void test_ctl_end(void)
{
	while (!TAILQ_EMPTY(&test_ctl.jobs.list))
		ctl_job_destroy(TAILQ_FIRST(&test_ctl.jobs.list));
	store_close(test_ctl.store);
}

Control__Submit *test_ctl_submit(const char *user, uint32_t ranks)
{
	Control__Submit *s = xmalloc(sizeof(*s));

	control__submit__init(s);
	s->user = xstrdup(user);
	s->argv = xcalloc(1, sizeof(*s->argv));
	s->argv[s->n_argv++] = xstrdup("true");
	s->ranks = ranks;
	return s;
}
