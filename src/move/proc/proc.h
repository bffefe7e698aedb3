/*
 * proc.h - what /proc tells about the process to move
 *
 * Parsers take text, so that they can be tested and fuzzed; readers take the
 * pid as this process sees it.  Whatever does not parse is -EPROTO.
 */
#ifndef MOVE_PROC_PROC_H
#define MOVE_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "core/procstat.h"

enum vma_kind {
	VMA_ANON,	 /* private, no file */
	VMA_FILE,	 /* private mapping of a file */
	VMA_SHARED_ANON, /* shared, no file that has a name, or a memfd */
	VMA_SHARED_FILE,
	VMA_SPECIAL, /* vdso, vvar: the kernel's own */
	VMA_LANDING, /* Stint's landing area */
};

/* madvise and mlock settings worth keeping, from VmFlags. */
enum vma_advice {
	VMA_GROWSDOWN = 1 << 0,
	VMA_LOCKED = 1 << 1,
	VMA_DONTFORK = 1 << 2,
	VMA_WIPEONFORK = 1 << 3,
	VMA_DONTDUMP = 1 << 4,
	VMA_HUGEPAGE = 1 << 5,
	VMA_NOHUGEPAGE = 1 << 6,
	VMA_MERGEABLE = 1 << 7,
	VMA_NORESERVE = 1 << 8,
	VMA_SEALED = 1 << 9,
	VMA_IO = 1 << 10,
	VMA_HUGETLB = 1 << 11,
	VMA_MAYWRITE = 1 << 12,
	VMA_ONFAULT = 1 << 13, /* locked page by page, as they come */
	VMA_RANDOM = 1 << 14,
	VMA_SEQUENTIAL = 1 << 15,
	VMA_DROPPABLE = 1 << 16,
};

/* The memfd name of shared anonymous memory after a move. */
#define OBJECT_NAMELESS "stint-shared"

struct vma {
	uint64_t start, end;
	uint64_t offset;
	uint64_t dev, ino;
	int prot; /* PROT_* */
	enum vma_kind kind;
	unsigned advice; /* enum vma_advice; until proc_read_advice() what
			    prot tells of it */
	bool empty;	 /* had no page then */
	char *path;	 /* as in maps: "[heap]", "/lib/x"; NULL when empty */
};

struct vma_list {
	struct vma *v;
	size_t nr, cap;
};

void vma_list_clear(struct vma_list *l);

/*
 * Parse the text of /proc/PID/maps and append the mappings, sorted and
 * disjoint.  If the process runs, each mapping is as it was at some moment
 * during the read.
 */
int proc_parse_maps(const char *text, struct vma_list *ret,
		    struct error *err) must_check;
int proc_read_maps(pid_t pid, struct vma_list *ret,
		   struct error *err) must_check;

/* Fill in advice from /proc/PID/smaps for the mappings that are there. */
int proc_parse_advice(char *text, struct vma_list *l,
		      struct error *err) must_check;
int proc_read_advice(pid_t pid, struct vma_list *l,
		     struct error *err) must_check;

/* The mapping that holds addr, or NULL. */
const struct vma *vma_find(const struct vma_list *l, uint64_t addr);
/*
 * Does it map an object (a memfd, shared anonymous memory), which may have
 * other mappings and descriptors?
 */
bool vma_has_object(const struct vma *v);
/* Does it map a file that has a name? */
bool vma_shows_file(const struct vma *v);
/*
 * Can the process write to that file through this mapping? Its advice must have been
 * read.
 */
bool vma_writes_file(const struct vma *v);
/* Shared memory without a name: no process has a descriptor of it. */
bool vma_is_nameless(const struct vma *v);
/* The name of its memfd, fresh; "" if it has none. */
char *vma_object_name(const struct vma *v);
/*
 * Are its pages sent as PAGES?  Not those of files, nor those of a memfd that
 * is not writable through it: these are moved in other ways.  Its advice has
 * been read.
 */
bool vma_carries_pages(const struct vma *v);

/* Does v overlap a mapping of the list? */
bool vma_meets(const struct vma_list *l, const struct vma *v);
const struct vma *vma_named(const struct vma_list *l, const char *name);

struct proc_status {
	pid_t ns_pid; /* innermost namespace's */
	pid_t tgid, ppid, tracer;
	uid_t uid; /* the real one, as we see it */
	int nr_ns; /* pid namespaces deep */
	unsigned threads, umask;
	bool no_new_privs, seccomp, shadow_stack;
	uint64_t memory;  /* bytes, swapped out or not */
	uint64_t swapped; /* of these */
	uint64_t locked;  /* bytes that mlock() counts */
	uint64_t
		queued; /* signals, and POSIX timers, of its user's processes */
	char state;
	uint64_t cap_inh, cap_prm, cap_eff, cap_bnd, cap_amb;
	uint64_t sig_caught;
};
int proc_parse_status(const char *text, struct proc_status *ret,
		      struct error *err) must_check;
int proc_read_status(pid_t pid, struct proc_status *ret,
		     struct error *err) must_check;

int proc_read_stat(pid_t pid, struct procstat *ret,
		   struct error *err) must_check;

/* The thread ids; fresh memory.  Returns how many, or -errno. */
ssize_t proc_read_tasks(pid_t pid, pid_t **ret, struct error *err) must_check;

/* Find a child process of any of its threads: *ret is one of them, or 0. */
int proc_read_child(pid_t pid, pid_t *ret, struct error *err) must_check;
/* The same for a process whose n threads are known. */
int proc_child_of(pid_t pid, const pid_t *tid, size_t n, pid_t *ret,
		  struct error *err) must_check;

/*
 * -ESRCH, and "process N has exited", if it has exited or is about to. Reading its
 * files fails with other texts then, so ask this whenever something has failed.
 */
int proc_running(pid_t pid, struct error *err) must_check;

/*
 * Has it still an address space? A process that exits loses it before it becomes a
 * zombie.
 */
bool proc_has_memory(pid_t pid);

/* A whole file of /proc/PID, as fresh text; what as in "task/7/comm". */
ssize_t proc_read(pid_t pid, const char *what, char **ret,
		  struct error *err) must_check;
/* A symbolic link of /proc/PID, as fresh text. */
int proc_read_link(pid_t pid, const char *what, char **ret,
		   struct error *err) must_check;

#endif
