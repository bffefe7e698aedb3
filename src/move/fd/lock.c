/*
 * lock.c - capture of file locks; doc/design/21-descriptors.md, "Locks"
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/fd/scan.h"
#include "move/wire/append.h"

/* "1: FLOCK  ADVISORY  WRITE 123 fe:00:4711 0 EOF" */
struct line {
	char type[16], access[16], inode[64], end[24];
	long long start;
};

static bool parse_line(const char *text, struct line *ret)
{
	return sscanf(text, " %*d: %15s %*s %15s %*d %63s %lld %23s", ret->type,
		      ret->access, ret->inode, &ret->start, ret->end) == 5;
}

static void append(Fds__File *m, const struct line *line)
{
	Fds__Lock *l = append_new(&fds__lock__descriptor);

	l->ofd = !strcmp(line->type, "OFDLCK");
	l->posix = !strcmp(line->type, "POSIX");
	l->write = !strcmp(line->access, "WRITE");
	l->start = line->start;
	if (strcmp(line->end, "EOF"))
		l->len = strtoll(line->end, NULL, 10) - line->start + 1;
	m->lock = xreallocarray(m->lock, m->n_lock + 1, sizeof(*m->lock));
	m->lock[m->n_lock++] = l;
}

/*
 * Does another process wait for this lock? That one would get it as soon as the
 * source lets go. /proc/locks has a line with "->" for each waiter on this
 * host.
 */
static bool is_awaited(const struct line *line)
{
	char *text, *p, want[72];
	bool found = false;

	if (io_read_file(AT_FDCWD, "/proc/locks", 16 << 20, &text) < 0)
		return false;
	snprintf(want, sizeof(want), " %s ", line->inode);
	for (p = text; !found && (p = strstr(p, " -> ")); p++) {
		char *end = p + strcspn(p, "\n"), *at = strstr(p, want);

		found = at && at < end;
	}
	free(text);
	return found;
}

/*
 * Can only processes of this host have such a file open? Of an unknown file
 * system, or one over FUSE, that is not certain.
 */
static bool is_local(int fd, unsigned long *ret)
{
	static const unsigned long local[] = {
		0xef53,	    /* ext2 to ext4 */
		0x58465342, /* xfs */
		0x9123683e, /* btrfs */
		0x01021994, /* tmpfs */
		0x858458f6, /* ramfs */
		0x794c7630, /* overlay */
		0xf2f52010, /* f2fs */
		0x2fc12fc1, /* zfs */
		0xca451a4e, /* bcachefs */
		0x52654973, /* reiserfs */
		0x3153464a, /* jfs */
		0x4d44,	    /* vfat */
		0x2011bab0, /* exfat */
	};
	struct statfs fs;

	*ret = 0;
	if (fstatfs(fd, &fs) < 0)
		return false;
	*ret = (unsigned long)fs.f_type;
	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		if (*ret == local[i])
			return true;
	return false;
}

/*
 * The name of the file system if hosts can share it; NULL if it is not known to
 * be one of these.
 */
static const char *fs_name(unsigned long magic)
{
	static const struct {
		unsigned long magic;
		const char *name;
	} shared[] = {
		{ 0x6969, "nfs" },	  { 0xff534d42, "cifs" },
		{ 0xfe534d42, "smb3" },	  { 0x517b, "smb" },
		{ 0x01021997, "9p" },	  { 0x65735546, "fuse" },
		{ 0x00c36400, "ceph" },	  { 0x01161970, "gfs2" },
		{ 0x7461636f, "ocfs2" },  { 0x0bd00bd0, "lustre" },
		{ 0x5346414f, "afs" },	  { 0x6b414653, "afs" },
		{ 0x73757245, "coda" },	  { 0x19830326, "beegfs" },
		{ 0x47504653, "gpfs" },	  { 0x20030528, "orangefs" },
		{ 0x786f4256, "vboxsf" },
	};

	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
		if (magic == shared[i].magic)
			return shared[i].name;
	return NULL;
}

/* Refuse for now: a moment later the process may have given the lock back. */
static int not_now(const struct fdscan *sc)
{
	return sc->content ? -EAGAIN : -ENOLCK;
}

/*
 * Nobody may get the lock between source and destination, so no other process
 * that could try may have the file open.
 */
static int may_hand_over(struct fdscan *sc, const struct fdscan_file *f,
			 struct error *err)
{
	const char *what = "exclusive lock by fcntl(F_SETLK)";
	unsigned long magic;
	const char *name;
	pid_t other;

	if (!is_local(f->copy, &magic)) {
		name = fs_name(magic);
		return error_set(
			err, not_now(sc),
			"fd %d: %s on a file system that other hosts may share (%s, type %#lx), where they may have the file open",
			f->number, what, name ? name : "unknown", magic);
	}
	other = fdscan_other_holder(sc, &f->st);
	if (other)
		return error_set(
			err, not_now(sc),
			"fd %d: %s of a file that process %d has open as well",
			f->number, what, other);
	/* at the freeze: looking through all processes would take too long */
	if (sc->content && !fdscan_known_alone(sc, &f->st))
		return error_set(err, -EAGAIN, "fd %d: %s, taken just now",
				 f->number, what);
	if (++sc->nr_handed > FDS_HANDED_MOST)
		return error_set(
			err, not_now(sc),
			"fd %d: %ss: more than %d, which is what can be handed over",
			f->number, what, FDS_HANDED_MOST);
	return 0;
}

/*
 * An exclusive lock on the very same file at the destination is handed over by
 * turns; on another file it is free there.
 */
static int add_posix(struct fdscan *sc, struct fdscan_file *f,
		     const struct line *line, struct error *err)
{
	bool hand = !strcmp(line->access, "WRITE") && f->st.st_nlink &&
		    !tree_holds(sc->s->trees, f->st.st_dev);
	int r = hand ? may_hand_over(sc, f, err) : 0;

	if (r < 0)
		return r;
	append(f->msg, line);
	f->msg->lock[f->msg->n_lock - 1]->handed = hand;
	return 0;
}

static int add_lock(struct fdscan *sc, struct fdscan_file *f, const char *text,
		    struct error *err)
{
	struct line line;

	if (!parse_line(text, &line))
		return error_set(err, -EPROTO, "fd %d: odd fdinfo", f->number);
	if (!strcmp(line.type, "POSIX"))
		return add_posix(sc, f, &line, err);
	if (strcmp(line.type, "FLOCK") && strcmp(line.type, "OFDLCK"))
		return error_set(err, -ENOTSUP, "fd %d: %s", f->number,
				 strcmp(line.type, "LEASE") ? line.type
							    : "lease");
	append(f->msg, &line);
	if (!strcmp(line.access, "WRITE") && is_awaited(&line))
		return error_set(err, not_now(sc),
				 "fd %d: another process waits for its lock",
				 f->number);
	return 0;
}

int fdlock_all(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	const char *p = f->info.text;
	uint64_t v;
	int r = 0;

	while (!r && (p = fdinfo_field(p, "lock", 10, &v)))
		r = add_lock(sc, f, p, err);
	return r;
}
