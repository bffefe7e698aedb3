/*
 * receive.c - the destination's side of a move
 *
 * Frames are taken as they come; each type has its handler.  A failure before
 * READY ends the landing process; after READY the copy is kept and waits for a
 * decision.
 */
#include "move/receive/receive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "move/check/hello.h"
#include "move/fd/fds.h"
#include "move/land/place.h"
#include "move/wire/fault.h"
#include "move/wire/message.h"

static bool has_tree(const struct move_dest *dst, const char *path)
{
	for (size_t i = 0; dst->trees && dst->trees[i]; i++)
		if (!strcmp(dst->trees[i], path))
			return true;
	return false;
}

static int check_trees(const struct receiving *v, struct error *err)
{
	for (size_t i = 0; i < v->hello->n_tree; i++)
		if (!has_tree(v->dst, v->hello->tree[i]->path))
			return error_set(
				err, -ENOTSUP,
				"%s moves with the process, and the destination has no such directory of its own for it",
				v->hello->tree[i]->path);
	return 0;
}

static int check_hello(struct receiving *v, Move__Hello *here,
		       struct error *err)
{
	int r = hello_check(v->hello, here, err);

	if (!r)
		r = check_trees(v, err);
	if (!r)
		r = move_fault(MF_DEST_HELLO, err);
	if (!r)
		hello_check_files(v->hello, v->root, here);
	return r;
}

/* A HELLO may come again, if the source did not accept the last answer. */
static int answer_hello(struct receiving *v, struct error *err)
{
	Move__Hello *here;
	int r;

	move__hello__free_unpacked(v->hello, NULL);
	v->hello = NULL;
	r = wire_unpack(&v->frame, &move__hello__descriptor, &v->hello, err);
	if (r < 0)
		return r;
	here = hello_of_host();
	here->epoch = v->hello->epoch;
	v->other_vdso = hello_other_vdso(v->hello, here);
	r = check_hello(v, here, err);
	hello_answer_clocks(here);
	if (!r)
		r = move_fault(MF_DEST_ANSWERS, err);
	if (!r)
		r = wire_send(v->ch, FRAME_HELLO, &here->base, err);
	move__hello__free_unpacked(here, NULL);
	return r;
}

static int receive_hello(struct receiving *v, struct error *err)
{
	const char *root = v->dst->root ? v->dst->root : "/";
	int r;

	v->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (v->root < 0)
		return error_sys(err, -errno, "%s", root);
	r = frame_expect(v->ch, &v->frame, FRAME_HELLO, err);
	return r < 0 ? r : answer_hello(v, err);
}

/*
 * Answer SYNC: all that came before it has been done, except what is lacking.
 */
static int receive_sync(struct receiving *v, struct error *err)
{
	uint64_t nr = frame_u64(&v->frame);
	int r = move_fault(MF_DEST_ROUND, err);

	if (!r)
		r = lacks_send(&v->lacks, v->ch, err);
	return r < 0 ? r : frame_send_u64(v->ch, FRAME_SYNC, nr, err);
}

/* Open early the files that the process has opened since. */
static int receive_paths(struct receiving *v, struct error *err)
{
	struct error why;
	int r = fds_check_dest(v->root, v->frame.data, v->frame.size, NULL,
			       &why);

	if (r == -EPROTO) {
		*err = why;
		return r;
	}
	if (!r && v->process.landing)
		r = landing_open_early(v->process.landing, v->frame.data,
				       v->frame.size, &why);
	if (r < 0)
		lacks_add(&v->lacks, 0, 0, &why);
	return 0;
}

static int receive_done(struct receiving *v, struct error *err)
{
	v->done = true;
	if (!v->lacks.nr)
		return 0;
	*err = v->lacks.v[0].why;
	return -ENOTSUP;
}

static int receive_tree(struct receiving *v, struct error *err)
{
	if (!has_tree(v->dst, (const char *)v->frame.data))
		return error_set(err, -EPROTO, "TREE that was not announced");
	return landing_change_tree(v->process.landing, v->frame.data,
				   v->frame.size, err);
}

static int receive_state(struct receiving *v, struct error *err)
{
	struct receive_process *p = &v->process;
	int r = move_fault(MF_DEST_STATE, err);

	/* what is lacking is checked when DONE comes */
	if (!r && !v->done)
		r = error_set(err, -EPROTO, "STATE before DONE");
	if (!r)
		r = wire_unpack(&v->frame, &move__state__descriptor, &p->state,
				err);
	if (!r && !p->state->n_thread)
		r = error_set(err, -EPROTO, "a process without threads");
	if (!r)
		r = restore_state(p->landing, p->state, &p->ids, &p->protected,
				  err);
	return r;
}

/*
 * Prepare what only the end of the move needs, as far as it is known before the freeze.
 */
static int prepare_end(struct receive_process *p, struct error *err)
{
	int r = p->exe_done ? 0 : restore_exe(p->landing, p->exe, err);

	p->exe_done |= !r;
	return r;
}

static int receive_fds(struct receiving *v, struct error *err)
{
	int r = prepare_end(&v->process, err);

	return r < 0 ? r
		     : landing_restore_fds(v->process.landing, v->frame.data,
					   v->frame.size, err);
}

/* The process is about to stand still (on), or that is over, or was in vain. */
static void receive_hurry(struct receiving *v, bool on)
{
	/* what cannot be made now may be made at the freeze */
	if (on)
		(void)!prepare_end(&v->process, &(struct error)ERROR_INIT);
	landing_hurry(v->process.landing, on);
}

/*
 * The end of a round.  What is protected now is not in the freeze, nor in the short
 * time for which the engines run ahead of others.
 */
static int receive_round(struct receiving *v, struct error *err)
{
	struct receive_process *p = &v->process;
	int r = 0;

	if (p->landing) {
		place_end(p->landing);
		r = restore_protect(p->landing, &p->protected, err);
	}
	return r < 0 ? r : receive_sync(v, err);
}

static bool needs_landing(enum frame_type type)
{
	return type != FRAME_MAP && type != FRAME_PATHS && type != FRAME_SYNC;
}

static int receive_frame(struct receiving *v, struct error *err)
{
	if (!v->process.landing && v->frame.type == FRAME_HELLO)
		return answer_hello(v, err);
	if (!v->process.landing && needs_landing(v->frame.type))
		return error_set(err, -EPROTO, "%s before the first MAP",
				 frame_name(v->frame.type));
	switch (v->frame.type) {
	case FRAME_MAP:
	case FRAME_UNMAP:
	case FRAME_ZAP:
	case FRAME_PUNCH:
	case FRAME_PAGES:
		return receive_memory(v, err);
	case FRAME_TREE:
		return receive_tree(v, err);
	case FRAME_PATHS:
		return receive_paths(v, err);
	case FRAME_SYNC:
		return receive_round(v, err);
	case FRAME_HURRY:
		receive_hurry(v, frame_u64(&v->frame) != 0);
		return 0;
	case FRAME_DONE:
		place_end(v->process.landing);
		return receive_done(v, err);
	case FRAME_FDS:
		return receive_fds(v, err);
	case FRAME_SAVED:
		return v->dst->ops->load
			       ? v->dst->ops->load(v->dst->ctx, v->frame.data,
						   v->frame.size, err)
			       : 0;
	case FRAME_STATE:
		return receive_state(v, err);
	default:
		return error_set(err, -EPROTO, "unexpected %s",
				 frame_name(v->frame.type));
	}
}

static int receive_all(struct receiving *v, struct error *err)
{
	int r = 0;

	while (!v->process.state && !r) {
		r = frame_recv(v->ch, &v->frame, err);
		if (!r)
			r = receive_frame(v, err);
		if (v->process.landing) {
			landing_hurry_bound(v->process.landing);
			landing_beat(v->process.landing, 0);
		}
	}
	return r;
}

/* The copy belongs to this host now, and runs whatever else goes wrong. */
static int receive_release(struct receiving *v, struct error *err)
{
	const struct move_dest_ops *ops = v->dst->ops;
	int plugged = ops->plug ? ops->plug(v->dst->ctx, err) : 0;
	int active =
		landing_activate(v->process.landing, plugged < 0 ? NULL : err);

	v->report->flawed = plugged < 0 || active < 0;
	landing_tick(v->process.landing);
	landing_release(v->process.landing);
	v->report->outcome = MOVE_DONE;
	return move_fault(MF_DEST_RELEASED, NULL);
}

static int receive_commit(struct receiving *v, struct error *err)
{
	struct receive_process *p = &v->process;
	const struct move_dest_ops *ops = v->dst->ops;
	uint64_t epoch = v->hello->epoch;
	int r;

	landing_stage(p->landing, LANDING_STANDS);
	r = move_fault(MF_DEST_LANDED, err);
	v->report->pid = p->landing->pid;
	v->report->threads = (unsigned)p->state->n_thread;
	if (!r && ops->landed)
		r = ops->landed(v->dst->ctx, epoch, v->hello->pid, err);
	if (r < 0)
		return r;
	v->ready = true;
	r = frame_send_u64(v->ch, FRAME_READY, epoch, err);
	/* done while READY is under way */
	p->restart = restart_begin(p->landing, p->state);
	if (!r)
		r = move_fault(MF_DEST_READY, err);
	landing_stage(p->landing, LANDING_ASKS);
	if (!r)
		r = frame_expect_u64(v->ch, &v->frame, FRAME_COMMIT, epoch,
				     err);
	if (!r)
		landing_stage(p->landing, LANDING_COMMITTED);
	if (!r)
		r = move_fault(MF_DEST_COMMIT, err);
	if (!r && ops->committed)
		r = ops->committed(v->dst->ctx, epoch, err);
	if (r < 0)
		return r;
	r = receive_release(v, err);
	/* if RUNNING is lost, the keepers and the controller find out */
	if (!r && frame_send_u64(v->ch, FRAME_RUNNING, epoch, NULL) == 0)
		r = move_fault(MF_DEST_RUNNING, NULL);
	(void)r;
	/* following the traced threads may take time; all others run already */
	landing_hurry(p->landing, false);
	restart_finish(p->restart);
	return 0;
}

int move_receive(const struct move_dest *dst, struct channel *ch,
		 struct move_report *ret, struct error *err)
{
	struct receiving v = {
		.dst = dst, .ch = ch, .report = ret, .root = -1
	};
	int r;

	*ret = (struct move_report){ 0 };
	frame_set_link(ch);
	r = receive_hello(&v, err);
	if (!r)
		r = receive_all(&v, err);
	if (!r)
		r = receive_commit(&v, err);
	restart_end(v.process.restart);
	if (r < 0 && v.ready && r != -ECANCELED)
		ret->outcome = MOVE_UNDECIDED;
	else if (r < 0 && r != -ECANCELED)
		frame_send_abort(ch, err->text);
	landing_destroy(v.process.landing, ret->outcome != MOVE_ABORTED);
	move__hello__free_unpacked(v.hello, NULL);
	move__state__free_unpacked(v.process.state, NULL);
	lacks_clear(&v.lacks);
	free(v.process.exe);
	free(v.process.protected.v);
	io_close(&v.root);
	frame_clear(&v.frame);
	if (r < 0 && r != -ECANCELED && ret->outcome == MOVE_ABORTED)
		frame_hear_out(ch);
	channel_close(ch);
	return r;
}
