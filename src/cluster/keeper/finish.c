/* finish.c - the end of a rank, and of its keeper */
#include <signal.h>
#include <sys/wait.h>

#include "cluster/conn/loop.h"
#include "cluster/keeper/priv.h"
#include "core/log.h"
#include "core/units.h"

static bool is_over(const struct keeper *k)
{
	const struct keeper_rank *rank = &k->rank;
	if (k->move.pid || rank->capsule || rank->remains)
		return false;
	if (rank->state == KEEPER__STATE__EMPTY ||
	    rank->state == KEEPER__STATE__RECEIVING)
		return rank->ending;
	return (rank->state == KEEPER__STATE__EXITED ||
		rank->state == KEEPER__STATE__LEFT) &&
	       keeper_io_drained(rank) && !keeper_queue_kept(k->agent.queue);
}

void keeper_maybe_end(struct keeper *k)
{
	if (!is_over(k))
		return;
	/*
	 * The agent has acknowledged GONE, and RUNNING was received: the record
	 * is not needed any more.
	 */
	if (k->move.committed_epoch)
		keeper_record_remove(&k->rank.id, k->move.committed_epoch);
	k->over = true;
	sd_event_exit(k->event, 0);
}

void keeper_kill_rank(struct keeper_rank *rank)
{
	struct error err = ERROR_INIT;

	capsule_hasten(rank->capsule);
	if (capsule_kill(rank->capsule, 0, SIGKILL, &err) < 0)
		log_warnx("%s", err.text);
}

struct limits_met keeper_met(const struct keeper_rank *rank)
{
	struct limits_met met = rank->met, here = { 0 };

	if (rank->capsule)
		capsule_met(rank->capsule, &here);
	met.kills += here.kills;
	met.own_memory |= here.own_memory;
	met.refused += here.refused;
	met.held_usec += here.held_usec;
	return met;
}

void keeper_ease(struct keeper_rank *rank, bool move)
{
	struct error err = ERROR_INIT;

	if (rank->capsule && capsule_ease(rank->capsule, move, &err) < 0)
		log_warnx("rank=%u %s", rank->id.rank, err.text);
}

static void bury(struct keeper_rank *rank)
{
	rank->burial = sd_event_source_disable_unref(rank->burial);
	capsule_destroy(rank->remains);
	rank->remains = NULL;
}

static int on_burial(sd_event_source *src, void *ctx)
{
	struct keeper_rank *rank = ctx;

	bury(rank);
	keeper_maybe_end(rank->k);
	return 0;
}

/* True when nothing runs in it any more: that may be told. */
static bool end_capsule(struct keeper_rank *rank)
{
	bool ended = !rank->capsule || capsule_end(rank->capsule);

	rank->capsule_source =
		sd_event_source_disable_unref(rank->capsule_source);
	keeper_fast_path_end(rank);
	if (rank->capsule)
		rank->remains = rank->capsule;
	rank->capsule = NULL;
	rank->pid = 0;
	keeper_io_last(rank);
	return ended;
}

void keeper_drop_capsule(struct keeper_rank *rank)
{
	(void)!end_capsule(rank);
	bury(rank);
}

/*
 * The capsule ends, and what is left of it is removed when there is nothing
 * else to do, which is after EXITED: it takes 60 ms, most of them waits in the
 * kernel, and nobody needs to wait for them.
 */
static void lay_out_capsule(struct keeper_rank *rank)
{
	if (!end_capsule(rank)) {
		bury(rank);
		return;
	}
	loop_defer(rank->k->event, &rank->burial, on_burial, rank);
	sd_event_source_set_priority(rank->burial, SD_EVENT_PRIORITY_IDLE);
}

static void tell_exited(struct keeper_rank *rank)
{
	Keeper__Exited exited = KEEPER__EXITED__INIT;
	const struct rusage *ru = &rank->exit.usage;

	exited.signaled = WIFSIGNALED(rank->exit.status);
	exited.code = exited.signaled ? WTERMSIG(rank->exit.status)
				      : WEXITSTATUS(rank->exit.status);
	exited.core_dumped = exited.signaled && WCOREDUMP(rank->exit.status);
	exited.killed = rank->exit_killed;
	exited.at_usec = (uint64_t)rank->exit.at;
	exited.stdout_end = rank->io.out_offset[0];
	exited.stderr_end = rank->io.out_offset[1];
	exited.cpu_usec =
		(uint64_t)(ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) *
			USEC_PER_SEC +
		(uint64_t)(ru->ru_utime.tv_usec + ru->ru_stime.tv_usec);
	exited.max_rss = (uint64_t)ru->ru_maxrss * 1024;
	exited.memory_max = rank->limits.memory;
	exited.pids_max = rank->limits.pids;
	exited.milli_cpus = rank->limits.cpus;
	exited.memory_kills = rank->met.kills;
	exited.own_memory = rank->met.own_memory;
	exited.pids_refused = rank->met.refused;
	exited.cpus_held_usec = rank->met.held_usec;
	if (rank->pmi)
		exited.pmi = (Keeper__Phase)pmi_server_phase(rank->pmi);
	keeper_tell(rank->k, 0, KEEPER__EVENT__BODY_EXITED, &exited, true);
}

/*
 * In this order: the rank ends, the rest of its capsule is killed (so that no
 * process holds its pipes), the pipes are read to their end, EXITED; then what
 * is left of the capsule is removed, and only then the keeper ends.  During a
 * move the engine's outcome comes before any of it: a source's copy also ends
 * when the rank has left.
 */
void keeper_maybe_exited(struct keeper_rank *rank)
{
	if (!rank->have_exit || rank->k->move.pid ||
	    rank->state == KEEPER__STATE__EXITED ||
	    rank->state == KEEPER__STATE__LEFT ||
	    rank->state == KEEPER__STATE__RECEIVING)
		return;
	if (rank->capsule) {
		keeper_pmi_drain(rank);
		rank->met = keeper_met(rank);
		lay_out_capsule(rank);
		keeper_end_close(&rank->end[EXT_STDIN]);
		keeper_end_close(&rank->end[EXT_PMI]);
	}
	if (!keeper_io_drained(rank))
		return;
	rank->state = KEEPER__STATE__EXITED;
	tell_exited(rank);
	keeper_maybe_end(rank->k);
}
