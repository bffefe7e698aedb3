/* ask.c - what the engine asks of F, and F of the engine; see land.h */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/land/land.h"
#include "move/proc/proc.h"

/* F asks for the process's end of an external descriptor. */
static int give_external(struct landing *l, const char *name)
{
	const struct move_dest_ops *ops = l->dst->ops;
	struct error err = ERROR_INIT;
	int far = -1;
	int near = ops->external
			   ? ops->external(l->dst->ctx, name, &far, &err)
			   : error_set(&err, -ENOENT,
				       "nothing to connect its %s to", name);
	int r = helper_send(l->helper.sock, HELPER_EXTERNAL,
			    near < 0 ? near : 0, err.text, strlen(err.text),
			    (int[]){ near, far });

	io_close(&near);
	io_close(&far);
	return r;
}

/*
 * These requests may take so long that nobody is to be ahead of others any more.
 */
static int next_queue(struct landing *l, struct frame *f, struct error *err)
{
	int r;

	while (!(r = frame_recv(l->ch, f, err)) && f->type == FRAME_HURRY)
		landing_hurry(l, frame_u64(f) != 0);
	if (!r && f->type != FRAME_QUEUE)
		r = error_set(err, -EPROTO, "the peer sent %s instead of QUEUE",
			      frame_name(f->type));
	return r;
}

/*
 * F asks for so many bytes of queues at most. An error here is told by F in the end,
 * which itself only hears that no bytes came.
 */
static int give_queue(struct landing *l, int32_t most)
{
	struct frame *f = &l->helper.queue;
	int r = next_queue(l, f, &l->helper.lost);

	if (!r && (int64_t)f->size > most)
		r = error_set(&l->helper.lost, -EPROTO, "QUEUE of %zu bytes",
			      f->size);
	landing_beat(l, 0);
	l->helper.lost_code = r;
	return helper_send(l->helper.sock, HELPER_QUEUE, r, f->data,
			   r < 0 ? 0 : f->size, NULL);
}

static int answer_of(struct landing *l, const struct helper_head *head,
		     const char *text, struct error *err)
{
	if (head->value >= 0)
		return head->value;
	if (l->helper.lost_code < 0) {
		*err = l->helper.lost;
		return l->helper.lost_code;
	}
	return error_set(err, head->value, "%s", text);
}

int landing_ask(struct landing *l, enum helper_verb verb, int32_t value,
		const void *p, size_t n, int ret_fds[HELPER_FDS],
		struct error *err)
{
	int r = helper_send(l->helper.sock, verb, value, p, n, NULL);

	while (!r) {
		struct pollfd news = { .fd = l->helper.sock, .events = POLLIN };
		struct helper_head head;
		int fds[HELPER_FDS];
		void *text;

		while (poll(&news, 1, LANDING_LOOK) == 0)
			landing_wait_longer(l, l->helper.pid);
		r = helper_recv(l->helper.sock, &head, &text, fds);
		if (r < 0)
			break;
		for (int i = 0; i < HELPER_FDS; i++)
			if (ret_fds)
				ret_fds[i] = fds[i];
			else
				io_close(&fds[i]);
		if (head.verb == HELPER_EXTERNAL) {
			r = give_external(l, text);
			free(text);
			continue;
		}
		if (head.verb == HELPER_QUEUE) {
			r = give_queue(l, head.value);
			free(text);
			continue;
		}
		r = answer_of(l, &head, text, err);
		free(text);
		return r;
	}
	return error_sys(err, r, "the landing helper");
}

void landing_forget_files(struct landing *l)
{
	for (size_t i = 0; i < l->helper.nr_files; i++)
		free(l->helper.file[i].path);
	l->helper.nr_files = 0;
}

int landing_open(struct landing *l, const char *path, int flags,
		 struct error *err)
{
	int fd;

	for (size_t i = 0; i < l->helper.nr_files; i++)
		if (l->helper.file[i].flags == flags &&
		    !strcmp(l->helper.file[i].path, path))
			return l->helper.file[i].fd;
	fd = landing_ask(l, HELPER_OPEN, flags, path, strlen(path), NULL, err);
	if (fd >= 0) {
		array_room(l->helper.file, l->helper.nr_files,
			   &l->helper.cap_files);
		l->helper.file[l->helper.nr_files++] =
			(struct landing_file){ xstrdup(path), flags, fd };
	}
	return fd;
}

void landing_close_files(struct landing *l)
{
	struct error err;

	/* if F is dead, the next request will tell */
	for (size_t i = 0; i < l->helper.nr_files; i++)
		(void)!landing_ask(l, HELPER_CLOSE, l->helper.file[i].fd, NULL,
				   0, NULL, &err);
	landing_forget_files(l);
}

int landing_object(struct landing *l, uint64_t dev, uint64_t ino,
		   const char *name, uint64_t size, struct error *err)
{
	struct landing_object o = { .dev = dev, .ino = ino, .size = size };

	if (strlen(name) >= sizeof(o.name))
		return error_set(err, -EPROTO, "memfd of a long name");
	snprintf(o.name, sizeof(o.name), "%s", *name ? name : OBJECT_NAMELESS);
	return landing_ask(l, HELPER_OBJECT, 0, &o, sizeof(o), NULL, err);
}

int landing_change_tree(struct landing *l, const void *p, size_t n,
			struct error *err)
{
	return landing_ask(l, HELPER_TREE, 0, p, n, NULL, err);
}

int landing_open_early(struct landing *l, const void *paths, size_t n,
		       struct error *err)
{
	return landing_ask(l, HELPER_EARLY, 0, paths, n, NULL, err);
}

int landing_restore_fds(struct landing *l, const void *blob, size_t n,
			struct error *err)
{
	int r;

	landing_forget_files(l); /* F closes all that is not of the process */
	r = landing_ask(l, HELPER_RESTORE, 0, blob, n, NULL, err);
	if (r < 0)
		return r;
	l->helper.left = r;
	/* Nothing is left to do, and there is no lock to take. */
	if (l->helper.left == HELPER_LEFT_NOTHING)
		return 0;
	return fds_locks(blob, n, &l->lock, &l->nr_locks, err);
}

int landing_late_fds(struct landing *l, struct error *err)
{
	if (l->helper.left != HELPER_LEFT_LATE)
		return 0;
	return landing_ask(l, HELPER_LATE, 0, NULL, 0, NULL, err);
}

int landing_activate(struct landing *l, struct error *err)
{
	if (l->helper.left == HELPER_LEFT_NOTHING)
		return 0;
	return landing_ask(l, HELPER_ACTIVATE, 0, NULL, 0, NULL, err);
}
