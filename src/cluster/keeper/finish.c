/* finish.c - the end of a rank, and of its keeper */
#include <signal.h>
#include <sys/wait.h>

#include "cluster/keeper/priv.h"
#include "core/log.h"

static bool over(const struct keeper *k)
{
	if (k->move.pid || k->capsule)
		return false;
	if (k->state == KEEPER__STATE__EMPTY ||
	    k->state == KEEPER__STATE__RECEIVING)
		return k->ending;
	return (k->state == KEEPER__STATE__EXITED ||
		k->state == KEEPER__STATE__LEFT) &&
	       keeper_io_drained(k) && !keeper_queue_kept(k->queue);
}

void keeper_maybe_end(struct keeper *k)
{
	if (!over(k))
		return;
	/* The agent knows of GONE, and RUNNING was seen: nobody asks again. */
	if (k->committed_epoch)
		keeper_record_remove(&k->id, k->committed_epoch);
	sd_event_exit(k->event, 0);
}

void keeper_kill_rank(struct keeper *k)
{
	struct error err = ERROR_INIT;

	if (capsule_kill(k->capsule, 0, SIGKILL, &err) < 0)
		log_warnx("%s", err.text);
}

struct limits_met keeper_met(const struct keeper *k)
{
	struct limits_met met = k->met, here = { 0 };

	if (k->capsule)
		capsule_met(k->capsule, &here);
	met.kills += here.kills;
	met.own_memory |= here.own_memory;
	met.refused += here.refused;
	return met;
}

void keeper_ease(struct keeper *k, bool move)
{
	struct error err = ERROR_INIT;

	if (k->capsule && capsule_ease(k->capsule, move, &err) < 0)
		log_warnx("rank=%u %s", k->id.rank, err.text);
}

void keeper_drop_capsule(struct keeper *k)
{
	k->capsule_source = sd_event_source_disable_unref(k->capsule_source);
	keeper_fast_path_end(k);
	capsule_destroy(k->capsule);
	k->capsule = NULL;
	k->rank_pid = 0;
}

static void tell_exited(struct keeper *k)
{
	Keeper__Event ev = KEEPER__EVENT__INIT;
	Keeper__Exited exited = KEEPER__EXITED__INIT;
	const struct rusage *ru = &k->exit.usage;

	exited.signaled = WIFSIGNALED(k->exit.status);
	exited.code = exited.signaled ? WTERMSIG(k->exit.status)
				      : WEXITSTATUS(k->exit.status);
	exited.core_dumped = exited.signaled && WCOREDUMP(k->exit.status);
	exited.killed = k->exit_killed;
	exited.at_usec = (uint64_t)k->exit.at;
	exited.stdout_end = k->io.out_offset[0];
	exited.stderr_end = k->io.out_offset[1];
	exited.cpu_usec =
		(uint64_t)(ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) *
			1000000 +
		(uint64_t)(ru->ru_utime.tv_usec + ru->ru_stime.tv_usec);
	exited.max_rss = (uint64_t)ru->ru_maxrss * 1024;
	exited.memory_max = k->limits.memory;
	exited.pids_max = k->limits.pids;
	exited.memory_kills = k->met.kills;
	exited.own_memory = k->met.own_memory;
	exited.pids_refused = k->met.refused;
	if (k->pmi)
		exited.pmi = (Keeper__Phase)pmi_server_phase(k->pmi);
	ev.body_case = KEEPER__EVENT__BODY_EXITED;
	ev.exited = &exited;
	keeper_tell(k, &ev, true);
}

/*
 * In this order: the rank ends, what is left of its capsule is ended (so nobody
 * holds its pipes any more), the pipes are read to their end, EXITED.  During
 * a move the engine's outcome comes before any of it: a source's copy
 * also ends when the rank has left.
 */
void keeper_maybe_exited(struct keeper *k)
{
	if (!k->have_exit || k->move.pid || k->state == KEEPER__STATE__EXITED ||
	    k->state == KEEPER__STATE__LEFT ||
	    k->state == KEEPER__STATE__RECEIVING)
		return;
	if (k->capsule) {
		keeper_pmi_drain(k);
		k->met = keeper_met(k);
		keeper_drop_capsule(k);
		keeper_end_close(&k->end[EXT_STDIN]);
		keeper_end_close(&k->end[EXT_PMI]);
	}
	if (!keeper_io_drained(k))
		return;
	k->state = KEEPER__STATE__EXITED;
	tell_exited(k);
	keeper_maybe_end(k);
}
