/*
 * answer.c - why a job waits, and whether it can ever start
 */
#include <errno.h>
#include <stdlib.h>

#include "cluster/controller/sched/priv.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "policy/expect.h"

static bool any_up(const struct ctl *ctl)
{
	for (size_t i = 0; i < ctl->hosts.nr; i++)
		if (ctl->hosts.at[i]->agent)
			return true;
	return false;
}

void ctl_sched_why(struct ctl_job *job, char *buf, size_t n, FILE *numbers)
{
	const struct ctl_sched *s = job->ctl->sched;
	struct plan plan = PLAN_INIT;

	if (!any_up(job->ctl)) {
		snprintf(buf, n, "no host is up; `stint hosts` shows them");
		return;
	}
	plan_reset(&plan, &s->view);
	policy_explain(s->policy, &s->view, job->model, &plan);
	*buf = 0;
	if (plan.nr)
		because_print(&s->view, &plan.entry[0].why, buf, n);
	if (plan.nr && numbers)
		because_write_numbers(&s->view, &plan.entry[0].why, numbers);
	plan_clear(&plan);
}

/*
 * While the controller tries that out, all other peers wait: so bound it to some 10 ms.
 */
enum { EXPECT_JOBS = 2000 };

static usec_t limit_of(const struct job *job)
{
	const struct ctl_job *j = job->driver;

	return j ? (usec_t)j->spec->limit_usec : 0;
}

usec_t ctl_sched_expect(const struct ctl_job *job)
{
	const struct ctl_sched *s = job->ctl->sched;
	char *state = policy_save(s->policy, &s->view);
	const struct expect x = { .spec = job->ctl->conf->policy,
				  .seed = CTL_SEED,
				  .state = state,
				  .limit = limit_of,
				  .most = EXPECT_JOBS };
	usec_t at = any_up(job->ctl) ? policy_expect(&x, &s->view, job->model)
				     : USEC_MAX;

	free(state);
	return at;
}

int ctl_sched_check(const struct ctl_job *job, struct error *err)
{
	const Control__Submit *s = job->spec;
	struct ctl *ctl = job->ctl;
	struct error why;

	if (!ctl->hosts.nr)
		return error_set(
			err, -ENODEV,
			"this cluster has no host yet: make a key for one "
			"with `stint controller --enrol=host/NAME`, "
			"and start `stint agent` there");
	/* No job can be refused before all hosts have reported what they have. */
	for (size_t i = 0; i < ctl->hosts.nr; i++)
		if (!ctl->hosts.at[i]->cores)
			return 0;
	if (!policy_check_size(ctl->sched->policy, &ctl->sched->view, s->ranks,
			       s->min_ranks ? s->min_ranks : s->ranks, &why))
		return 0;
	return error_set(err, -E2BIG, "%s; `stint hosts` lists what there is",
			 why.text);
}

static int no_host(const char *name, struct error *err)
{
	return error_set(err, -ENOENT, "no host %s; `stint hosts` lists them",
			 name);
}

int ctl_sched_named(const struct ctl_job *job, struct error *err)
{
	const Control__Submit *s = job->spec;

	for (size_t i = 0; i < s->n_hosts; i++)
		if (!ctl_host_find(job->ctl, s->hosts[i]))
			return no_host(s->hosts[i], err);
	return 0;
}

int ctl_sched_fixed(struct ctl_job *job, uint32_t *hosts, struct error *err)
{
	const Control__Submit *s = job->spec;
	char text[HOST_DRAIN_TEXT];

	for (uint32_t i = 0; i < job->nr; i++) {
		const char *name = s->hosts[i % s->n_hosts];
		struct ctl_host *h = ctl_host_find(job->ctl, name);

		if (!h) /* its key was taken back before a restart */
			return no_host(name, err);
		if (ctl_host_coming(h))
			return error_set(err, -EAGAIN,
					 "the controller has just been "
					 "started, and host %s has not come "
					 "back to it yet",
					 name);
		if (!h->agent)
			return error_set(err, -EHOSTDOWN,
					 "host %s does not answer: is its "
					 "agent running?",
					 name);
		if (ctl_host_admits(h, job, err) < 0)
			return -EBUSY;
		if (h->drain) {
			ctl_host_drain_text(h, text);
			return error_set(err, -EBUSY,
					 "%s; `stint undrain %s` ends that",
					 text, name);
		}
		hosts[i] = h->ix;
	}
	return 0;
}
