/* tree.c - a process and all below it, thread by thread, see tree.h */
#include "cluster/agent/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/io.h"

#define CHILDREN_MAX (1 << 24) /* bytes */

/* The numbers of the children that a thread has forked, as text. */
static char *children_of(pid_t pid, const char *tid)
{
	char path[320], *text;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, tid);
	if (io_read_file(AT_FDCWD, path, CHILDREN_MAX, &text) < 0)
		return NULL;
	return text;
}

static void walk_children(pid_t pid, const char *tid, pid_t skip,
			  proctree_fn *fn, void *arg)
{
	char *text = children_of(pid, tid), *at, *end;
	long child;

	for (at = text; at && (child = strtol(at, &end, 10)) > 0; at = end)
		proctree_walk((pid_t)child, skip, fn, arg);
	free(text);
}

void proctree_walk(pid_t top, pid_t skip, proctree_fn *fn, void *arg)
{
	const struct dirent *e;
	char path[64];
	DIR *dir;

	if (top == skip)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", top);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (!isdigit((unsigned char)*e->d_name))
			continue;
		fn(top, (pid_t)strtol(e->d_name, NULL, 10), arg);
		walk_children(top, e->d_name, skip, fn, arg);
	}
	if (dir)
		closedir(dir);
}

pid_t proctree_first_child(pid_t pid)
{
	char tid[16], *text;
	pid_t first;

	snprintf(tid, sizeof(tid), "%d", pid);
	text = children_of(pid, tid);
	first = text ? (pid_t)strtol(text, NULL, 10) : 0;
	free(text);
	return first;
}
