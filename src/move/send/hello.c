/*
 * hello.c - what the source says about the process in HELLO, and what it learns from
 * the answer; see send.h
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/check/check.h"
#include "move/check/hello.h"
#include "move/fd/fds.h"
#include "move/proc/clocks.h"
#include "move/proc/files.h"
#include "move/proc/layout.h"
#include "move/send/send.h"
#include "move/tracee/vdso.h"
#include "move/wire/append.h"
#include "move/wire/message.h"

/* Fill in what the destination must know of the process itself. */
static int describe_process(pid_t pid, Move__Hello *h, struct error *err)
{
	struct proc_status st;
	struct procstat stat;
	uint64_t vdso;
	int r = proc_read_status(pid, &st, err);

	if (!r)
		r = proc_read_stat(pid, &stat, err);
	if (r < 0)
		return r;
	h->pid = st.ns_pid;
	h->memory = st.memory;
	h->own_session = stat.session == pid;
	h->own_group = stat.pgrp == pid;
	r = vdso_read(pid, &h->vdso.data, &h->vdso.len, &vdso);
	if (r < 0)
		return error_sys(err, r, "the vdso of process %d", (int)pid);
	h->vdso_hash = vdso_hash(h->vdso.data, h->vdso.len);
	return 0;
}

static int describe_trees(struct tree_set *trees, Move__Hello *h,
			  struct error *err)
{
	uint64_t bytes = 0;
	int r = tree_measure(trees, &bytes, err);

	h->memory += bytes;
	for (size_t i = 0; i < tree_count(trees); i++) {
		Move__Tree *t = append_new(&move__tree__descriptor);
		dev_t dev;

		t->path = xstrdup(tree_path(trees, i, &dev));
		t->dev = dev;
		append_to(h->tree, h->n_tree, t);
	}
	return r;
}

static int hello_of_source(struct sending *s, Move__Hello **ret,
			   struct error *err)
{
	Move__Hello *h = hello_of_host();
	struct vma_list maps = { 0 };
	char *exe = NULL;
	int r = describe_process(s->process.pid, h, err);

	h->epoch = s->src->epoch;
	if (!r)
		s->report->bytes_held = h->memory;
	if (!r)
		r = describe_trees(s->common.trees, h, err);
	if (!r)
		r = layout_read(s->process.pid, &s->process.seen, &maps, err);
	/*
	 * obstacles that may pass do not matter yet, and move_check() has
	 * refused the others
	 */
	if (!r)
		check_drop_unmovable(s->process.pid, &maps);
	if (!r)
		r = proc_read_link(s->process.pid, "exe", &exe, err);
	if (!r)
		r = files_describe(s->process.pid, &maps, exe, h, err);
	free(exe);
	vma_list_clear(&maps);
	if (r < 0) {
		move__hello__free_unpacked(h, NULL);
		return r;
	}
	fds_paths(s->common.fds, &h->paths.data, &h->paths.len);
	*ret = h;
	return 0;
}

bool hello_clocks(struct send_process *p, const Move__Hello *there,
		  struct clocks *ret)
{
	char *boot_id = io_read_line("/proc/sys/kernel/random/boot_id");
	bool other = strcmp(there->boot_id, boot_id) != 0;

	if (other) {
		clocks_now(p->pid, ret);
		ret->monotonic -= there->monotonic;
		ret->boottime -= there->boottime;
		p->tracee->leave_vdso = clocks_own(p->pid);
	} else {
		clocks_offsets(p->pid, ret);
	}
	free(boot_id);
	return other;
}

int hello_ask(struct sending *s, Move__Hello **ret, struct error *err)
{
	const struct move_source *src = s->src;
	int r;

	fds_source_destroy(s->common.fds);
	s->common.fds = NULL;
	r = fds_prepare(src->pid, s->process.pidfd, src->external,
			src->nr_externals, s->common.trees, &s->common.fds,
			err);
	move__hello__free_unpacked(s->common.hello, NULL);
	s->common.hello = NULL;
	if (!r)
		r = hello_of_source(s, &s->common.hello, err);
	if (!r)
		r = wire_send(s->ch, FRAME_HELLO, &s->common.hello->base, err);
	if (!r)
		r = frame_expect(s->ch, &s->frame, FRAME_HELLO, err);
	return r < 0 ? r
		     : wire_unpack(&s->frame, &move__hello__descriptor, ret,
				   err);
}

bool hello_stays(const struct common *c, pid_t pid, const char *path)
{
	fd_auto root = files_root(pid, NULL);

	files_forget_changed(root, c->hello);
	return files_known(c->hello, path, false) ||
	       files_known(c->hello, path, true) ||
	       fds_path_stays(root, c->hello->paths.data, c->hello->paths.len,
			      path);
}
