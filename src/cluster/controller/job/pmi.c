/*
 * pmi.c - PMI barriers of a job's ranks (pmi/gather.h), and aborts
 *
 * The union of the last complete barrier is stored before any rank is told of it, so
 * that a rank whose release got lost can ask a restarted controller.
 */
#include <signal.h>
#include <stdlib.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "core/xalloc.h"

/* Bytes of keys and values in one packet; keepers take 192 KiB. */
enum { PIECE = 96 << 10 };

static void send_release(struct klink *k, const Keeper__PmiRelease *all)
{
	Keeper__PmiRelease piece = KEEPER__PMI_RELEASE__INIT;
	size_t at = 0, bytes;

	k->release_late = !klink_has_room(k);
	if (k->release_late)
		return;
	piece.generation = all->generation;
	do {
		piece.puts = all->puts + at;
		for (bytes = 0; at < all->n_puts && bytes < PIECE; at++)
			bytes += keeper__pmi_put__get_packed_size(
					 all->puts[at]) +
				 8;
		piece.n_puts = all->puts + at - piece.puts;
		piece.more = at < all->n_puts;
		klink_request(k, KEEPER__REQUEST__BODY_PMI_RELEASE, &piece);
	} while (piece.more);
}

/* The barrier is complete: keep its union, and tell every rank. */
static void release_all(struct ctl_job *job, uint64_t generation)
{
	Keeper__PmiRelease all = KEEPER__PMI_RELEASE__INIT;
	const struct pmi_put *puts =
		pmi_gather_union(job->pmi.gather, &all.n_puts);
	Keeper__PmiPut *items = xcalloc(all.n_puts + 1, sizeof(*items));

	all.generation = generation;
	all.puts = xcalloc(all.n_puts + 1, sizeof(*all.puts));
	for (size_t i = 0; i < all.n_puts; i++) {
		keeper__pmi_put__init(&items[i]);
		items[i].key = (char *)puts[i].key;
		items[i].value = (char *)puts[i].value;
		all.puts[i] = &items[i];
	}
	job->pmi.generation = generation + 1;
	job->pmi.release_n = keeper__pmi_release__get_packed_size(&all);
	job->pmi.release = xrealloc(job->pmi.release, job->pmi.release_n + 1);
	keeper__pmi_release__pack(&all, job->pmi.release);
	ctl_job_store(job);
	for (uint32_t i = 0; i < job->nr; i++)
		if (klink_of(&job->ranks[i]))
			send_release(klink_of(&job->ranks[i]), &all);
	free(all.puts);
	free(items);
}

static void release_again(struct klink *k)
{
	Keeper__PmiRelease *all = keeper__pmi_release__unpack(
		NULL, k->job->pmi.release_n, k->job->pmi.release);

	if (!all)
		return;
	send_release(k, all);
	keeper__pmi_release__free_unpacked(all, NULL);
}

void ctl_pmi_late(struct klink *k)
{
	release_again(k);
}

/*
 * A rank that has ended well enters no barrier any more.  So who waits for it there,
 * in MPI_Init or MPI_Finalize, is told that the job fails, in whichever order it is
 * heard: its peers would wait for ever.  ended: when, by our clock (0: unknown).
 */
static void fail_stuck(struct ctl_job *job, usec_t ended)
{
	uint32_t missed = pmi_gather_missed(job->pmi.gather);

	ctl_job_cause(job, CAUSE_OWN, ended);
	ctl_job_set_reason(job, ENDED(EXIT_CODE), "");
	ctl_job_fail(job, (int)missed, 1,
		     "rank %u has ended, and others wait for it in MPI_Init or "
		     "MPI_Finalize",
		     missed);
}

void ctl_pmi_fence(struct klink *k, const Keeper__PmiFence *f)
{
	struct ctl_job *job = k->job;
	struct pmi_put *puts;
	struct error err;
	int r;

	if (!job->pmi.gather)
		return;
	puts = xcalloc(f->n_puts + 1, sizeof(*puts));
	for (size_t i = 0; i < f->n_puts; i++)
		puts[i] =
			(struct pmi_put){ f->puts[i]->key, f->puts[i]->value };
	r = pmi_gather_add(job->pmi.gather, k->rank, f->generation, puts,
			   f->n_puts, f->more, &err);
	free(puts);
	if (r < 0)
		ctl_job_fail(job, k->rank, 1, "%s", err.text);
	else if (r == PMI_GATHER_ALL)
		release_all(job, f->generation);
	else if (r == PMI_GATHER_AGAIN)
		release_again(k);
	else if (r == PMI_GATHER_STUCK)
		fail_stuck(job, 0);
}

void ctl_pmi_abort(struct klink *k, const Keeper__PmiAbort *a)
{
	struct ctl_job *job = k->job;

	job->ranks[k->rank].aborted = true;
	/* Such codes are the MPI library's own errors, not a program's. */
	ctl_job_cause(job, a->code > 255 ? CAUSE_ECHO : CAUSE_OWN,
		      skew_ours(&k->host->skew, (usec_t)a->at_usec));
	ctl_job_set_reason(job, ENDED(EXIT_CODE), "");
	/* A program that calls MPI_Abort(0) has not finished, either. */
	ctl_job_fail(job, k->rank, a->code & 255 ? a->code & 255 : 1,
		     "rank %u called MPI_Abort with code %d%s%s", k->rank,
		     a->code, *a->text ? ": " : "", a->text);
}

void ctl_pmi_exited(struct klink *k, const Keeper__Exited *e, int code)
{
	struct ctl_rank *r = klink_rank(k);
	struct pmi_gather *gather = r->job->pmi.gather;
	bool left = !code && e->pmi == KEEPER__PHASE__PMI_BEGUN;
	bool killed = code == 128 + SIGKILL && e->signaled && e->killed;
	bool sigabrt = code == 128 + SIGABRT && e->signaled;

	if (r->state == STATE(DONE))
		return;
	if (!r->aborted && !killed && (code || left))
		ctl_job_cause(r->job, sigabrt ? CAUSE_SIGABRT : CAUSE_OWN,
			      skew_ours(&k->host->skew, (usec_t)e->at_usec));
	if (left)
		ctl_job_set_reason(r->job, ENDED(EXIT_CODE), "");
	if (left)
		ctl_job_fail(r->job, r->rank, 1,
			     "rank %u ended without MPI_Finalize", r->rank);
	else if (!code && gather && pmi_gather_gone(gather, r->rank))
		fail_stuck(r->job,
			   skew_ours(&k->host->skew, (usec_t)e->at_usec));
}
