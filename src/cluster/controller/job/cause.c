/*
 * cause.c - which rank's end is the cause of a job's failure
 *
 * A rank often notices the end of another rank before the controller does, because
 * connections break at once while an end is reported after all output.  Its MPI library
 * then aborts, through PMI with a code of its own, or by SIGABRT. Such an end ends the
 * job, but the job's exit code is that of the rank that failed first.  A job is over
 * only when every rank has ended or its host is given up, so all ends are known by
 * then; until then the recorded cause may change.
 */
#include "cluster/controller/job/job.h"

/*
 * The clocks of two hosts can be compared only up to the time that messages take, and a
 * rank's end is noticed only when its capsule's init gets a processor.  So the order of
 * two ends that are closer than this is uncertain; then SIGABRT is taken for a
 * consequence of the other end.
 */
#define CAUSE_APART USEC_PER_SEC

static bool is_cause(const struct ctl_job *job, enum ctl_cause cause, usec_t at)
{
	int surer = job->cause - (int)cause;

	if (!job->exit)
		return true;
	if (cause == CAUSE_ECHO || job->cause == CAUSE_ECHO)
		return surer > 0;
	if (job->spec->stopping)
		return false;
	if (!at || !job->cause_at)
		return surer > 0;
	return at < job->cause_at + surer * CAUSE_APART;
}

void ctl_job_cause(struct ctl_job *job, enum ctl_cause cause, usec_t at)
{
	if (job->state == STATE(DONE) || !is_cause(job, cause, at))
		return;
	job->exit = 0;
	job->cause = cause;
	job->cause_at = at;
}
