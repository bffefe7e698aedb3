/*
 * kept.c - store the output of jobs that run without a client
 *
 * Output is stored under its keeper's own number, in the transaction that the ACK to
 * the keeper waits for.  So if keeper or controller was killed and it is sent again, it
 * is stored once.  Of each job the last conf->keep_output bytes are kept.
 */
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"

/* Cut it down to half, so that this need not be done again for every line. */
static void keep_less(struct ctl_job *job)
{
	size_t most = (size_t)job->ctl->conf->keep_output;

	if (job->kept.bytes <= most)
		return;
	store_trim_output(job->ctl->store, job->id, most / 2);
	job->kept.bytes = store_output_bytes(job->ctl->store, job->id);
	if (job->spec->output_dropped)
		return;
	job->spec->output_dropped = true;
	ctl_job_store(job);
}

/* What an earlier controller has stored counts as well. */
static void know_kept(struct ctl_job *job)
{
	if (!job->kept.known)
		job->kept.bytes = store_output_bytes(job->ctl->store, job->id);
	job->kept.known = true;
}

bool ctl_kept_some(struct ctl_job *job)
{
	know_kept(job);
	return job->kept.bytes > 0;
}

void klink_keep(struct klink *k, uint64_t seq, const Keeper__Output *o)
{
	struct ctl_job *job = k->job;
	struct store_output piece = { .job = job->id,
				      .rank = k->rank,
				      .stream = o->stream,
				      .epoch = k->epoch,
				      .number = seq,
				      .offset = klink_whole_offset(k, o),
				      .data = o->data.data,
				      .n = o->data.len };

	know_kept(job);
	store_put_output(job->ctl->store, &piece);
	job->kept.bytes += piece.n + STORE_PIECE;
	keep_less(job);
	ctl_kept_tell(job);
}

bool ctl_kept_over(const struct ctl_job *job)
{
	const struct klink *k;

	if (job->state != STATE(DONE))
		return false;
	for (uint32_t i = 0; i < job->nr; i++)
		TAILQ_FOREACH (k, &job->ranks[i].klinks, kin)
			if (k->heard && !k->gone)
				return false;
	return true;
}

void ctl_kept_tell(struct ctl_job *job)
{
	Control__KeptOutput more = CONTROL__KEPT_OUTPUT__INIT;

	more.more = true;
	ctl_waiters_tell(&job->kept.readers, MESSAGE_BODY(KEPT_OUTPUT), &more);
	ctl_waiters_drop(&job->kept.readers);
}
