/*
 * playback.h - a record of a live run (model/record.h), read and played
 *
 * Maintains the view as the live driver did, and calls a reader for each step.
 * Lines that contradict the state (a start of a job that runs) are errors with
 * file and line: a record may have been cut, edited or made up.
 */
#ifndef MODEL_PLAYBACK_H
#define MODEL_PLAYBACK_H

#include "core/error.h"
#include "model/record.h"
#include "model/view.h"

/* Each may be NULL; 0, or -errno with a reason, which ends the playback; a
 * positive value ends it as well, and is what playback_run() returns. */
struct playback_ops {
	/* The view is new: hosts, and no job yet. */
	int (*begin)(void *ctx, const struct view *view, const char *policy,
		     uint64_t seed, struct error *err);
	/* Before an event is applied, */
	int (*before)(void *ctx, const struct view *view,
		      const struct event *event, bool told, struct error *err);
	/* and after: of END, the job is in no list any more. */
	int (*event)(void *ctx, const struct view *view,
		     const struct event *event, bool told, struct error *err);
	int (*state)(void *ctx, const struct view *view, const char *text,
		     struct error *err);
	/* The policy was asked and planned these lines. */
	int (*pass)(void *ctx, const struct view *view, char *const *plan,
		    uint32_t nr, struct error *err);
	/* The record is over. */
	int (*end)(void *ctx, const struct view *view, struct error *err);
};

struct playback {
	const struct playback_ops *ops;
	void *ctx;
	const char *name; /* of the file, for errors */
	size_t line;	  /* being played; of a pass: its own */
	const char *last; /* the last event's line; "" */
	struct view view; /* as of now */
};

/*
 * Play text of size bytes with a NUL after them; it is changed.  ops, ctx and
 * name are set, the rest is zero.  The view is gone afterwards.
 */
int playback_run(struct playback *p, char *text, size_t size,
		 struct error *err) must_check;

#endif
