/* move_report.c - how a move went, for people and programs */
#include <jansson.h>
#include <stdio.h>

#include "cmd/move/move_peer.h"
#include "core/json.h"

void move_report_json(const struct move_report *rep, const struct error *err)
{
	static const char *const outcome[] = { "aborted", "done", "undecided" };
	json_t *j = json_pack(
		"{s:s, s:o, s:i, s:i, s:i, s:I, s:I, s:I, s:b, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"outcome", outcome[rep->outcome], "error", json_text(err->text),
		"pid", (int)rep->pid, "rounds", (int)rep->rounds, "threads",
		(int)rep->threads, "pages_sent", (json_int_t)rep->pages_sent,
		"pages_last", (json_int_t)rep->pages_last, "bytes_held",
		(json_int_t)rep->bytes_held, "tracked", rep->tracked, "retries",
		(int)rep->retries, "stalled_us", (json_int_t)rep->stalled,
		"paused_us", (json_int_t)rep->paused, "total_us",
		(json_int_t)rep->total, "downtime_us",
		(json_int_t)rep->downtime, "predicted_us",
		(json_int_t)rep->predicted, "freeze_us",
		(json_int_t)rep->freeze, "last_us", (json_int_t)rep->last,
		"capture_us", (json_int_t)rep->capture, "restore_us",
		(json_int_t)rep->restore, "commit_us", (json_int_t)rep->commit,
		"written", (json_int_t)rep->written, "written_in_us",
		(json_int_t)rep->written_in);

	json_line(j, stdout);
	fflush(stdout);
}

void move_report_print(const struct move_report *rep)
{
	double mib = (double)rep->pages_sent / 256;

	fprintf(stderr,
		"moved in %.3f s: %.1f MiB in %u rounds%s, %u threads\n",
		usec_to_seconds(rep->total), mib, rep->rounds,
		rep->tracked ? "" : " (stop-and-copy)", rep->threads);
	fprintf(stderr,
		"downtime %.2f ms: freeze %.2f, last pages %.2f, state %.2f, restore %.2f, commit %.2f\n",
		(double)rep->downtime / 1e3, (double)rep->freeze / 1e3,
		(double)rep->last / 1e3, (double)rep->capture / 1e3,
		(double)rep->restore / 1e3, (double)rep->commit / 1e3);
	if (rep->retries)
		fprintf(stderr,
			"stopped %u times in vain before, for %.2f ms in all, while something was in the way\n",
			rep->retries, (double)rep->stalled / 1e3);
}
