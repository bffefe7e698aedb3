/*
 * source.h - one look at the descriptors of the process that moves
 *
 * A scan lists the numbers, takes a copy of each (pidfd_getfd), finds which are
 * the same open file description (kcmp) and turns each description into a
 * message.  Without content it only asks whether that would work, and
 * the process may run meanwhile; with content the process stands still.
 *
 * A copy keeps a pipe or connection open that the process closes, so scans of
 * a running process are short.
 */
#ifndef MOVE_FDKIT_SOURCE_H
#define MOVE_FDKIT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/error.h"
#include "core/names.h"
#include "move/move.h"
#include "move/proc/fdinfo.h"
#include "move/tree/tree.h"
#include "move/wire/fds.pb-c.h"

/*
 * The most bytes in TCP connections; the rest of FDS has room beside them
 * (wire/frame.c).
 */
#define FDS_QUEUED_MOST ((size_t)960 << 20)

/*
 * The bytes of a connection with so many in its queues are sent apart, after
 * the set (sock/tcp_later.h).
 */
#define FDS_LATER_LEAST ((size_t)128 << 10)

struct fds_source {
	pid_t pid, ns_pid;
	int pidfd;
	const struct move_external *ext;
	size_t nr_ext;
	int proc;  /* /proc/PID */
	int root;  /* /proc/PID/root */
	int diag;  /* sock_diag in its network namespace, or -1 */
	int route; /* rtnetlink there, or -1 */
	const struct tree_set *trees;
	bool soon;  /* near the freeze: a passing obstacle counts */
	bool whole; /* a look reads as much as a capture (fds_prepare()) */
	bool reads_direct; /* as fds_reads_direct() */
	bool no_direct;	   /* as fds_forbid_direct() */
	Fds__Paths *told;  /* files and kinds that the destination was told */
	struct fds_told {
		struct names name; /* of told->path; by their numbers: */
		size_t *last; /* the last of that name: its index plus 1, or 0 */
		size_t cap_last;
		size_t *before; /* the same of the one before, by index */
		size_t cap_before;
	} told_path;
	struct fds_early { /* and those that it has open, ascending */
		int number;
		enum {
			FDS_EARLY_NEW, /* it is to be told of */
			FDS_EARLY_TOLD,
			FDS_EARLY_OPEN,
		} state;
		unsigned flags;
		dev_t dev;
		Fds__Path *path;
	} * early;
	size_t nr_early;
	int *gone; /* of these, not open any more */
	size_t nr_gone, cap_gone;
	int room;	  /* above all numbers so far */
	int room_there;	  /* as the destination has it */
	struct fds_kept { /* /proc/PID/fdinfo/NUMBER, ascending */
		int number, fd;
	} * kept;
	size_t nr_kept;
	struct fds_place { /* in kcmp's order, when looked at last */
		int number;
		size_t place;
	} * place;
	size_t nr_place;
	size_t nr_found;   /* of told->path, the first so many are there */
	size_t nr_known;   /* and of told->kind it knows the first so many */
	size_t nr_needed;  /* and it has the first so many of told->need */
	struct fds_alone { /* files that nobody else has open */
		dev_t dev;
		ino_t ino;
	} * alone;
	size_t nr_alone, cap_alone;
	struct strangers strangers; /* who might have them, too */
	bool has_socket;	    /* when looked at last */
	size_t queued_most;	    /* FDS_QUEUED_MOST; less in tests */
	size_t later_least;	    /* FDS_LATER_LEAST; less in tests */
	size_t content; /* bytes that a capture would have taken along then */
	struct fdscan *scan; /* of the last capture */
	int *passed;	     /* numbers that were closed during a look */
	size_t nr_passed, cap_passed;
};

struct fdscan_number {
	int number;
	int copy;
	bool cloexec;
	size_t file; /* index */
	struct stat st;
	size_t place; /* among the descriptions of its inode, by kcmp() */
};

struct fdscan_file {
	int number; /* one of its numbers */
	int copy;   /* that number's */
	struct stat st;
	struct fdinfo info;
	bool early;	/* the destination has it open */
	Fds__File *msg; /* owned by set */
};

struct fdscan {
	struct fds_source *s;
	pid_t engine; /* whose the copies are: this process */
	bool content;
	struct fdscan_number *number;
	size_t nr_number;
	int gone; /* the number that was closed when it was read, or -1 */
	struct fdscan_file *file; /* by device and inode */
	size_t nr_file;
	size_t nr_handed; /* locks so far that are to be handed over */
	ProtobufCBinaryData *later; /* of queues, which the set only counts */
	size_t nr_later, cap_later;
	Fds__Set *set;
};

static inline bool fdscan_same_inode(const struct fdscan_file *a,
				     const struct fdscan_file *b)
{
	return a->st.st_ino == b->st.st_ino && a->st.st_dev == b->st.st_dev;
}

/* The index of the first description of f's inode; the others follow it. */
static inline size_t fdscan_first_of_inode(const struct fdscan *sc,
					   const struct fdscan_file *f)
{
	size_t i = (size_t)(f - sc->file);

	while (i && fdscan_same_inode(&sc->file[i - 1], f))
		i--;
	return i;
}

/*
 * early.c: note which files are open now; true if there is something to
 * tell.  Put that in a message, whose list then goes by fdearly_told().
 */
bool fdearly_look(struct fds_source *s, const struct fdscan *sc);
void fdearly_tell(struct fds_source *s, Fds__Paths *ret);
void fdearly_told(Fds__Paths *m);
void fdearly_confirm(struct fds_source *s, bool there);
/* The file of that descriptor, if it is the one the destination has open. */
const Fds__Path *fdearly_find(const struct fds_source *s,
			      const struct fdscan_file *f);
void fdearly_clear(struct fds_source *s);

/* Append a copy of p to s->told if it is not there yet. */
void fdtold_path(struct fds_source *s, const Fds__Path *p);
/* What was told of the file at path that st describes, or NULL. */
const Fds__Path *fdtold_find(const struct fds_source *s, const char *path,
			     const struct stat *st);
void fdtold_drop_last_path(struct fds_source *s);
void fdtold_clear(struct fds_source *s);
/* The same for something that a socket needs there. */
void fdtold_need(struct fds_source *s, const Fds__Need *need);
void fdtold_forget_needs(struct fds_source *s);

/*
 * The pid of another process that has the file open as well, or 0. This takes
 * long, so it is asked once for each file, and never while the process stands
 * still: then 0.
 */
pid_t fdscan_other_holder(struct fdscan *sc, const struct stat *st);
/* Has it been asked already, with the answer that there is none? */
bool fdscan_known_alone(const struct fdscan *sc, const struct stat *st);

#endif
