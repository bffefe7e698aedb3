/*
 * tell.c - what the agent is told, in order, and that it is there
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/keeper/priv.h"
#include "core/io.h"
#include "core/log.h"
#include "core/procstat.h"
#include "core/units.h"

/* This keeper was created and then forgotten: no START will ever come. */
static int on_lonely(sd_event_source *src, uint64_t now, void *ctx)
{
	struct keeper *k = ctx;

	if (k->rank.state == KEEPER__STATE__EMPTY) {
		log_info("ended: no rank, and no agent comes");
		sd_event_exit(k->event, 0);
	}
	return 0;
}

void keeper_watch_loneliness(struct keeper *k)
{
	k->agent.lonely = sd_event_source_disable_unref(k->agent.lonely);
	loop_after(k->event, &k->agent.lonely, k->agent.lonely_after, on_lonely,
		   k);
}

void keeper_hang_up(struct keeper *k)
{
	sd_event_source_unref(k->agent.source);
	k->agent.source = NULL;
	io_close(&k->agent.fd);
	k->agent.ready = false;
	keeper_queue_detach(k->agent.queue);
	keeper_watch_loneliness(k);
}

/* Watch for requests, or only for room while the agent does not read. */
void keeper_flush(struct keeper *k)
{
	int r;

	if (k->agent.fd < 0)
		return;
	r = keeper_queue_send(k->agent.queue, k->agent.fd);
	if (r >= 0)
		r = sd_event_source_set_io_events(k->agent.source,
						  r ? EPOLLOUT : EPOLLIN);
	if (r < 0)
		keeper_hang_up(k);
}

void keeper_tell(struct keeper *k, uint64_t re, Keeper__Event__BodyCase what,
		 void *body, bool keep)
{
	Keeper__Event ev = KEEPER__EVENT__INIT;

	ev.re = re;
	ev.body_case = what;
	ev.hello = body; /* all members of the union are pointers */
	keeper_queue_add(k->agent.queue, &ev, keep);
	if (k->agent.ready)
		keeper_flush(k);
}

void keeper_answer_ok(struct keeper *k, uint64_t re)
{
	Keeper__Ok ok = KEEPER__OK__INIT;

	keeper_tell(k, re, KEEPER__EVENT__BODY_OK, &ok, false);
}

void keeper_answer_failed(struct keeper *k, uint64_t re, int code,
			  const struct error *err)
{
	keeper_answer_not_started(k, re, code, KEEPER__BEGUN__BEGUN_UNKNOWN,
				  err);
}

void keeper_answer_not_started(struct keeper *k, uint64_t re, int code,
			       Keeper__Begun begun, const struct error *err)
{
	Keeper__Failed failed = KEEPER__FAILED__INIT;

	failed.code = code;
	failed.begun = begun;
	failed.why = (char *)err->text;
	keeper_tell(k, re, KEEPER__EVENT__BODY_FAILED, &failed, false);
}

void keeper_tell_doubt(struct keeper *k)
{
	Keeper__MoveDoubt doubt = KEEPER__MOVE_DOUBT__INIT;

	if (k->rank.state != KEEPER__STATE__DOUBT)
		return;
	doubt.epoch = k->move.epoch;
	doubt.source = k->move.out;
	keeper_tell(k, 0, KEEPER__EVENT__BODY_MOVE_DOUBT, &doubt, false);
}

void keeper_usage(pid_t pid, uint64_t *cpu_usec, uint64_t *memory)
{
	struct procstat s;

	if (procstat_read(pid, &s) < 0)
		return;
	*cpu_usec = (s.user_ticks + s.system_ticks) * USEC_PER_SEC /
		    (uint64_t)sysconf(_SC_CLK_TCK);
	*memory = s.resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void fill_report(Keeper__MoveReport *to, const struct move_report *from)
{
	to->rounds = from->rounds;
	to->bytes = from->pages_sent * 4096;
	to->pages = from->pages_sent;
	to->pages_last = from->pages_last;
	to->bytes_held = from->bytes_held;
	to->downtime_usec = (uint64_t)from->downtime;
	to->total_usec = (uint64_t)from->total;
	to->predicted_usec = (uint64_t)from->predicted;
	to->freeze_usec = (uint64_t)from->freeze;
	to->last_usec = (uint64_t)from->last;
	to->capture_usec = (uint64_t)from->capture;
	to->restore_usec = (uint64_t)from->restore;
	to->commit_usec = (uint64_t)from->commit;
	to->threads = from->threads;
	to->tracked = from->tracked;
	to->written = from->written;
	to->written_in_usec = (uint64_t)from->written_in;
}

void keeper_tell_done(struct keeper *k, Keeper__Outcome outcome,
		      const char *why)
{
	Keeper__MoveDone done = KEEPER__MOVE_DONE__INIT;
	Keeper__MoveReport report = KEEPER__MOVE_REPORT__INIT;

	fill_report(&report, &k->move.report);
	done.epoch = k->move.epoch;
	done.outcome = outcome;
	done.why = (char *)why;
	done.refused =
		outcome == KEEPER__OUTCOME__STAYED && k->move.code == -ENOTSUP;
	done.report = &report;
	done.stdin_offset = k->rank.io.in_offset;
	done.pid = (uint32_t)k->rank.pid;
	done.signals = k->rank.signals;
	if (outcome == KEEPER__OUTCOME__GONE) {
		done.cpu_usec = k->rank.used_cpu;
		done.max_rss = k->rank.used_memory;
	}
	keeper_tell(k, 0, KEEPER__EVENT__BODY_MOVE_DONE, &done, true);
}
