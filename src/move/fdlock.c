/*
 * fdlock.c - capture of file locks; doc/design/21-descriptors.md, "Locks"
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fdsrc.h"

/* "1: FLOCK  ADVISORY  WRITE 123 fe:00:4711 0 EOF" */
struct line {
	char type[16], access[16], inode[64], end[24];
	long long start;
};

static bool parse(const char *text, struct line *ret)
{
	return sscanf(text, " %*d: %15s %*s %15s %*d %63s %lld %23s", ret->type,
		      ret->access, ret->inode, &ret->start, ret->end) == 5;
}

static void append(Fds__File *m, const struct line *line)
{
	Fds__Lock *l = xmalloc(sizeof(*l));

	fds__lock__init(l);
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
 * Whoever waits for it would have it the moment that the source lets go.
 * /proc/locks has a line with "->" for each, as far as they are on this host.
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
 * An exclusive one must be free at the destination before the source has let
 * go: it is, if the file is another one there.
 */
static int add_posix(struct fdscan *sc, struct fdscan_file *f,
		     const struct line *line, struct error *err)
{
	if (!strcmp(line->access, "WRITE") && f->st.st_nlink &&
	    !tree_holds(sc->s->trees, f->st.st_dev))
		return error_set(err, sc->content ? -EAGAIN : -ENOLCK,
				 "fd %d: exclusive lock by fcntl(F_SETLK), "
				 "which cannot be handed over (one by flock() "
				 "or F_OFD_SETLK can)",
				 f->number);
	append(f->msg, line);
	return 0;
}

static int add_lock(struct fdscan *sc, struct fdscan_file *f, const char *text,
		    struct error *err)
{
	struct line line;

	if (!parse(text, &line))
		return error_set(err, -EPROTO, "fd %d: odd fdinfo", f->number);
	if (!strcmp(line.type, "POSIX"))
		return add_posix(sc, f, &line, err);
	if (strcmp(line.type, "FLOCK") && strcmp(line.type, "OFDLCK"))
		return error_set(err, -ENOTSUP, "fd %d: %s", f->number,
				 strcmp(line.type, "LEASE") ? line.type
							    : "lease");
	append(f->msg, &line);
	if (!strcmp(line.access, "WRITE") && is_awaited(&line))
		return error_set(err, sc->content ? -EAGAIN : -ENOLCK,
				 "fd %d: another process waits for its lock",
				 f->number);
	return 0;
}

int fdlock_all(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	const char *p = f->info.text;
	uint64_t v;
	int r = 0;

	while (!r && (p = fdproc_field(p, "lock", 10, &v)))
		r = add_lock(sc, f, p, err);
	return r;
}
