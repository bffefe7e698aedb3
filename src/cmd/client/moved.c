/* moved.c - showing how a move went, see moved.h */
#include "cmd/client/moved.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "cmd/client/client_options.h"
#include "core/json.h"

enum { PAGE = 4096 };

static json_t *moved_json(const Control__Moved *m)
{
	return json_pack(
		"{sI si ss ss sb sb so sI si sI sI sI sI sI sI sI sI sI sI sI si "
		"sb sI sI}",
		"job", (json_int_t)m->job, "rank", (int)m->rank, "from",
		m->from, "to", m->to, "moved", (int)m->ok, "lost", (int)m->lost,
		"why", json_text(m->why), "epoch", (json_int_t)m->epoch,
		"rounds", (int)m->rounds, "bytes", (json_int_t)m->bytes,
		"bytes_last", (json_int_t)m->pages_last * PAGE, "bytes_held",
		(json_int_t)m->bytes_held, "downtime_us",
		(json_int_t)m->downtime_usec, "total_us",
		(json_int_t)m->total_usec, "predicted_us",
		(json_int_t)m->predicted_usec, "freeze_us",
		(json_int_t)m->freeze_usec, "last_us", (json_int_t)m->last_usec,
		"capture_us", (json_int_t)m->capture_usec, "restore_us",
		(json_int_t)m->restore_usec, "commit_us",
		(json_int_t)m->commit_usec, "threads", (int)m->threads,
		"tracked", (int)m->tracked, "written", (json_int_t)m->written,
		"written_in_us", (json_int_t)m->written_in_usec);
}

void moved_print(const Control__Moved *m, bool json)
{
	if (json) {
		json_line(moved_json(m), stdout);
		return;
	}
	if (!m->ok) {
		printf("rank %" PRIu64 ".%u %s %s: %s\n", m->job, m->rank,
		       m->lost ? "is lost, which was on" : "stays on", m->from,
		       m->why);
		return;
	}
	if (!m->total_usec) {
		printf("rank %" PRIu64 ".%u moved from %s to %s; %s did not "
		       "tell how long that took\n",
		       m->job, m->rank, m->from, m->to, m->from);
		return;
	}
	printf("rank %" PRIu64 ".%u moved from %s to %s in %s\n", m->job,
	       m->rank, m->from, m->to, show_usec(m->total_usec));
	if (m->tracked)
		printf("  while it ran   %10s   %s in %u round%s\n",
		       show_usec(m->total_usec - m->downtime_usec),
		       show_bytes(m->bytes - m->pages_last * PAGE), m->rounds,
		       m->rounds == 1 ? "" : "s");
	printf("  standing still %10s   freeze %s, last %s %s, capture %s, "
	       "restore %s, commit %s\n",
	       show_usec(m->downtime_usec), show_usec(m->freeze_usec),
	       show_bytes(m->pages_last * PAGE), show_usec(m->last_usec),
	       show_usec(m->capture_usec), show_usec(m->restore_usec),
	       show_usec(m->commit_usec));
	printf("  what moved     %10s   %u thread%s\n",
	       show_bytes(m->bytes_held), m->threads,
	       m->threads == 1 ? "" : "s");
}
