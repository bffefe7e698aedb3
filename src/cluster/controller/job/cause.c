/*
 * cause.c - which of several ends a job failed of
 *
 * A rank whose peer has gone often hears of that before we do (a connection
 * breaks at once, an end is told after all output), and its MPI library aborts:
 * through PMI with a code of its own, or by SIGABRT.  Such an end ends the job,
 * but what the job ended with is decided by the rank that failed first.  All of
 * them are heard before the job is over, which needs the end of every rank, or
 * its host given up; so until then the cause may become another one.
 */
#include "cluster/controller/job/job.h"

/*
 * Clocks of two hosts are compared only to within the time that messages take,
 * and a rank's end is noticed only when its capsule's init gets a processor. So
 * the order of two ends that are closer than this is not certain; of these,
 * SIGABRT is taken for a consequence of the other.
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
