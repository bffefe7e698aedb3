/*
 * stdin.c - pass standard input from the client to the keeper of rank 0
 *
 * The client sends as much as it is told there is room for.  Only the keeper that has
 * the rank knows what it wants next, so after each move or broken connection input is
 * asked for again from the offset that this keeper names.
 */
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"

enum { ROOM = 64 << 10 }; /* bytes that a client may send at once */

void ctl_stdin_ask(struct ctl_job *job)
{
	Control__StdinRoom room = CONTROL__STDIN_ROOM__INIT;

	if (!job->client || !job->spec->stdin_open || !job->input.known ||
	    job->input.ended)
		return;
	job->input.late = false;
	room.job = job->id;
	room.from = job->input.from;
	room.room = ROOM;
	ctl_send(job->client, 0, 0, MESSAGE_BODY(STDIN_ROOM), &room);
}

void ctl_stdin_wanted(struct ctl_job *job, uint64_t from)
{
	job->input.from = from;
	job->input.known = true;
	ctl_stdin_ask(job);
}

void ctl_stdin_begins(struct ctl_job *job)
{
	if (!job->input.known)
		ctl_stdin_wanted(job, job->input.from);
}

void ctl_stdin_moves(struct ctl_job *job)
{
	job->input.known = false;
}

void ctl_stdin_taken(struct ctl_job *job, uint64_t re,
		     const Keeper__StdinTaken *s)
{
	/* The keeper is full, and will report when it is not. */
	if (re && s->offset < job->input.sent)
		return;
	job->input.ended = s->eof;
	ctl_stdin_wanted(job, s->offset);
}

void ctl_stdin_send(struct ctl_job *job, const Control__Stdin *from)
{
	Keeper__Stdin s = KEEPER__STDIN__INIT;
	struct klink *k = klink_of(&job->ranks[0]);

	if (!k)
		return; /* the next keeper will say where to go on */
	if (!klink_has_room(k)) {
		job->input.late = true; /* it is asked for again */
		return;
	}
	s.offset = from->offset;
	s.data = from->data;
	s.eof = from->eof;
	job->input.sent = s.offset + s.data.len;
	klink_request(k, KEEPER__REQUEST__BODY_STDIN_DATA, &s);
}

void ctl_stdin_late(struct klink *k)
{
	if (k->job->input.late && !k->rank && klink_is_current(k))
		ctl_stdin_ask(k->job);
}
