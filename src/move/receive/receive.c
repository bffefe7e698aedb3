/*
 * receive.c - the destination's side of a move
 *
 * Frames are taken as they come; each type has its handler.  Whatever fails
 * before READY ends the landing process; after READY its copy is kept and
 * waits for whoever knows.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/check/hello.h"
#include "move/fd/fds.h"
#include "move/land/land.h"
#include "move/land/place.h"
#include "move/move.h"
#include "move/proc/files.h"
#include "move/restore/restart.h"
#include "move/restore/restore.h"
#include "move/wire/fault.h"
#include "move/wire/frame.h"
#include "move/wire/lack.h"
#include "move/wire/message.h"

#define LANDING_MAX (1u << 30)

struct receiving {
	const struct move_dest *dst;
	struct channel *ch;
	struct move_report *report;
	struct landing *landing;
	struct restore_ids ids; /* who it is, */
	char *exe;		/* and whose program it is to be, */
	bool exe_done;		/* which it is */
	int root;		/* of the capsule */
	Move__Hello *hello;	/* the source's */
	Move__State *state;
	struct lacks lacks;	 /* since the last SYNC */
	struct restart *restart; /* threads that we see off */
	struct frame frame;
	bool done, ready;
	const Move__File *checked; /* the last in this MAP, */
	int check;		   /* with that result */
	struct error check_why;
	bool other_vdso; /* hello->vdso is to take the place of ours */
};

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

	if (r == 0)
		r = check_trees(v, err);
	if (r == 0)
		r = move_fault(MF_DEST_HELLO, err);
	if (r == 0)
		hello_check_files(v->hello, v->root, here);
	return r;
}

/* Once more, if the answer to the last one did not please. */
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
	if (r == 0)
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

static int make_landing(struct receiving *v, const Move__Layout *m,
			struct error *err)
{
	struct landing_spec spec = {
		.area = m->area,
		.size = m->area_size,
		.pid = v->hello->pid,
		.own_session = v->hello->own_session,
		.own_group = v->hello->own_group,
		.clocks = { m->monotonic_offset, m->boottime_offset },
	};
	struct clocks here;
	int r;

	if (m->area_size < stub_area_size(1, v->hello->xsave_size) ||
	    m->area_size > LANDING_MAX)
		return error_set(err, -EPROTO, "landing area of %llu bytes",
				 (unsigned long long)m->area_size);
	clocks_offsets(0, &here);
	/*
	 * A thread in the middle of the vdso may have seen that there is a
	 * time namespace, whose page must then be there.
	 */
	spec.shift_clocks = m->own_clocks ||
			    spec.clocks.monotonic != here.monotonic ||
			    spec.clocks.boottime != here.boottime;
	r = landing_create(v->dst, &spec, &v->landing, err);
	if (r == 0)
		r = landing_watch(v->landing, err);
	if (r == 0)
		r = place_begin(v->landing, err);
	if (r == 0)
		r = restore_clear(v->landing, v->other_vdso ? 0 : m->vdso, err);
	if (r == 0)
		r = restore_read_ids(v->landing, &v->ids, err);
	if (r == 0)
		v->exe = xstrdup(m->exe);
	if (r == 0 && v->other_vdso)
		r = restore_vdso(v->landing, m->vdso, v->hello->vdso.data,
				 v->hello->vdso.len, err);
	return r < 0 ? r : move_fault(MF_DEST_SPAWNED, err);
}

/* Mappings of one file follow one another: it is compared once. */
static int check_file(struct receiving *v, const Move__Vma *m)
{
	const Move__File *f = m->file, *last = v->checked;

	if (!last || strcmp(last->path, f->path) || last->shared != f->shared ||
	    last->ino != f->ino || last->hash != f->hash)
		v->check = files_check_new(v->root, f, &v->check_why);
	v->checked = f;
	return v->check;
}

/*
 * Where the file cannot be had nothing is mapped, not even what was there
 * before.
 */
static int receive_mapping(struct receiving *v, const Move__Vma *m,
			   struct error *err)
{
	struct error why = ERROR_INIT;
	int fd = -1, r = 0;

	if (m->file) {
		r = check_file(v, m);
		if (r < 0)
			why = v->check_why;
		else
			r = fd = restore_open(v->landing, m, &why);
	}
	if (r >= 0)
		return restore_map(v->landing, m, fd, err);
	lacks_add(&v->lacks, m->start, m->end, &why);
	return landing_call(v->landing, "munmap", SYS_munmap, m->start,
			    m->end - m->start, 0, 0, 0, 0, err);
}

static int receive_map(struct receiving *v, struct error *err)
{
	Move__Layout *m;
	int r = wire_unpack(&v->frame, &move__layout__descriptor, &m, err);

	if (r < 0)
		return r;
	if (!v->landing)
		r = make_landing(v, m, err);
	for (size_t i = 0; i < m->n_map && r == 0; i++)
		r = receive_mapping(v, m->map[i], err);
	if (r == 0)
		r = landing_flush(v->landing, err);
	for (size_t i = 0; i < m->n_map && r == 0; i++)
		place_expect(v->landing, m->map[i]);
	if (v->landing)
		landing_close_files(v->landing);
	v->checked = NULL;
	move__layout__free_unpacked(m, NULL);
	return r;
}

static void lose_page(void *arg, uint64_t start, uint64_t end)
{
	struct receiving *v = arg;
	struct error why;

	error_set(
		&why, -ENOTSUP,
		"the page at %#llx cannot be placed here: the file mapped there is shorter, or is gone",
		(unsigned long long)start);
	lacks_add(&v->lacks, start, end, &why);
}

/* All before it is there, but for what is lacking. */
static int receive_sync(struct receiving *v, struct error *err)
{
	uint64_t nr = frame_u64(&v->frame);
	int r = move_fault(MF_DEST_ROUND, err);

	if (r == 0)
		r = lacks_send(&v->lacks, v->ch, err);
	return r < 0 ? r : frame_send_u64(v->ch, FRAME_SYNC, nr, err);
}

/* Files that the process has opened. */
static int receive_paths(struct receiving *v, struct error *err)
{
	struct error why;
	int r = fds_check_dest(v->root, v->frame.data, v->frame.size, NULL,
			       &why);

	if (r == -EPROTO) {
		*err = why;
		return r;
	}
	if (r == 0 && v->landing)
		r = landing_open_early(v->landing, v->frame.data, v->frame.size,
				       &why);
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

static int receive_ranges(struct receiving *v, struct error *err)
{
	const struct frame_range *range = (const void *)v->frame.data;
	size_t n = v->frame.size / sizeof(*range);
	bool unmap = v->frame.type == FRAME_UNMAP;
	int advice = v->frame.type == FRAME_ZAP ? MADV_DONTNEED : MADV_REMOVE;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = landing_call(v->landing, unmap ? "munmap" : "madvise",
				 unmap ? SYS_munmap : SYS_madvise,
				 range[i].start, range[i].end - range[i].start,
				 unmap ? 0 : (uint64_t)advice, 0, 0, 0, err);
	return r < 0 ? r : landing_flush(v->landing, err);
}

static int receive_tree(struct receiving *v, struct error *err)
{
	if (!has_tree(v->dst, (const char *)v->frame.data))
		return error_set(err, -EPROTO, "TREE that was not announced");
	return landing_change_tree(v->landing, v->frame.data, v->frame.size,
				   err);
}

static int receive_state(struct receiving *v, struct error *err)
{
	int r = move_fault(MF_DEST_STATE, err);

	/* what lacks is looked at by DONE */
	if (r == 0 && !v->done)
		r = error_set(err, -EPROTO, "STATE before DONE");
	if (r == 0)
		r = wire_unpack(&v->frame, &move__state__descriptor, &v->state,
				err);
	if (r == 0 && !v->state->n_thread)
		r = error_set(err, -EPROTO, "a process without threads");
	v->landing->ch = v->ch;
	if (r == 0)
		r = restore_state(v->landing, v->state, &v->ids, err);
	return r;
}

/* Of what only the end needs, that which is known before the freeze. */
static int prepare(struct receiving *v, struct error *err)
{
	int r = v->exe_done ? 0 : restore_exe(v->landing, v->exe, err);

	v->exe_done |= r == 0;
	return r;
}

static int receive_fds(struct receiving *v, struct error *err)
{
	int r = prepare(v, err);

	return r < 0 ? r
		     : landing_restore_fds(v->landing, v->frame.data,
					   v->frame.size, err);
}

/* It is about to stand still (on); or it is over, or was in vain. */
static void receive_hurry(struct receiving *v, bool on)
{
	/* what cannot be done yet may be then */
	if (on)
		(void)!prepare(v, &(struct error)ERROR_INIT);
	landing_hurry(v->landing, on);
}

static bool needs_landing(enum frame_type type)
{
	return type != FRAME_MAP && type != FRAME_PATHS && type != FRAME_SYNC;
}

static int receive_frame(struct receiving *v, struct error *err)
{
	if (!v->landing && v->frame.type == FRAME_HELLO)
		return answer_hello(v, err);
	if (!v->landing && needs_landing(v->frame.type))
		return error_set(err, -EPROTO, "%s before the first MAP",
				 frame_name(v->frame.type));
	switch (v->frame.type) {
	case FRAME_MAP:
		return receive_map(v, err);
	case FRAME_UNMAP:
	case FRAME_ZAP:
	case FRAME_PUNCH:
		return receive_ranges(v, err);
	case FRAME_TREE:
		return receive_tree(v, err);
	case FRAME_PATHS:
		return receive_paths(v, err);
	case FRAME_PAGES:
		return place_pages(v->landing, &v->frame, lose_page, v, err);
	case FRAME_SYNC:
		if (v->landing)
			place_end(v->landing);
		return receive_sync(v, err);
	case FRAME_HURRY:
		receive_hurry(v, frame_u64(&v->frame) != 0);
		return 0;
	case FRAME_DONE:
		place_end(v->landing);
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

	while (!v->state && r == 0) {
		r = frame_recv(v->ch, &v->frame, err);
		if (r == 0)
			r = receive_frame(v, err);
		if (v->landing)
			landing_hurry_bound(v->landing);
	}
	return r;
}

/* It is ours now, and runs whatever else goes wrong. */
static int receive_release(struct receiving *v, struct error *err)
{
	const struct move_dest_ops *ops = v->dst->ops;
	int plugged = ops->plug ? ops->plug(v->dst->ctx, err) : 0;
	int active = landing_activate(v->landing, plugged < 0 ? NULL : err);

	v->report->flawed = plugged < 0 || active < 0;
	landing_tick(v->landing);
	landing_release(v->landing);
	v->report->outcome = MOVE_DONE;
	return move_fault(MF_DEST_RELEASED, NULL);
}

static int receive_commit(struct receiving *v, struct error *err)
{
	const struct move_dest_ops *ops = v->dst->ops;
	uint64_t epoch = v->hello->epoch;
	int r;

	landing_stage(v->landing, LANDING_STANDS);
	r = move_fault(MF_DEST_LANDED, err);
	v->report->pid = v->landing->pid;
	v->report->threads = (unsigned)v->state->n_thread;
	if (r == 0 && ops->landed)
		r = ops->landed(v->dst->ctx, epoch, v->hello->pid, err);
	if (r < 0)
		return r;
	v->ready = true;
	r = frame_send_u64(v->ch, FRAME_READY, epoch, err);
	/* while the word is under way */
	v->restart = restart_begin(v->landing, v->state);
	if (r == 0)
		r = move_fault(MF_DEST_READY, err);
	landing_stage(v->landing, LANDING_ASKS);
	if (r == 0)
		r = frame_expect_u64(v->ch, &v->frame, FRAME_COMMIT, epoch,
				     err);
	if (r == 0)
		landing_stage(v->landing, LANDING_COMMITTED);
	if (r == 0)
		r = move_fault(MF_DEST_COMMIT, err);
	if (r == 0 && ops->committed)
		r = ops->committed(v->dst->ctx, epoch, err);
	if (r < 0)
		return r;
	r = receive_release(v, err);
	/* if nobody hears it, the source finds out by asking */
	if (r == 0 && frame_send_u64(v->ch, FRAME_RUNNING, epoch, NULL) == 0)
		r = move_fault(MF_DEST_RUNNING, NULL);
	(void)r;
	/* who is seen off takes its time, and keeps nobody from running */
	landing_hurry(v->landing, false);
	restart_finish(v->restart);
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
	if (r == 0)
		r = receive_all(&v, err);
	if (r == 0)
		r = receive_commit(&v, err);
	restart_end(v.restart);
	if (r < 0 && v.ready && r != -ECANCELED)
		ret->outcome = MOVE_UNDECIDED;
	else if (r < 0 && r != -ECANCELED)
		frame_send_abort(ch, err->text);
	landing_destroy(v.landing, ret->outcome != MOVE_ABORTED);
	move__hello__free_unpacked(v.hello, NULL);
	move__state__free_unpacked(v.state, NULL);
	lacks_clear(&v.lacks);
	free(v.exe);
	io_close(&v.root);
	frame_clear(&v.frame);
	if (r < 0 && r != -ECANCELED && ret->outcome == MOVE_ABORTED)
		frame_hear_out(ch);
	channel_close(ch);
	return r;
}
