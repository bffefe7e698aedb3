/* share.c - who else has a process's shared memory; see share.h */
#include "move/proc/share.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "move/proc/strangers.h"

static bool has_descriptor(struct strangers *s, pid_t pid, const struct vma *v)
{
	const struct stat st = { .st_dev = v->dev, .st_ino = v->ino };

	return strangers_have_open(s, pid, &st);
}

bool share_has_descriptor(pid_t pid, const struct vma *v)
{
	struct strangers any = { .left = INT64_MAX };

	return has_descriptor(&any, pid, v);
}

enum share_how share_how(pid_t pid, const struct vma *v,
			 struct share_left *left)
{
	bool was_left = false;

	if (v->kind != VMA_SHARED_ANON || vma_is_nameless(v))
		return SHARE_PAGES;
	for (size_t i = 0; i < left->nr; i++)
		was_left |= left->object[i].dev == v->dev &&
			    left->object[i].ino == v->ino;
	if (!share_has_descriptor(pid, v))
		return was_left ? SHARE_WHOLE : SHARE_PAGES;
	if (!was_left) {
		array_room(left->object, left->nr, &left->cap);
		left->object[left->nr++] =
			(struct share_object){ v->dev, v->ino };
	}
	return SHARE_DESCRIPTOR;
}

static bool maps_object(const struct vma_list *maps, const struct vma *v)
{
	for (size_t i = 0; i < maps->nr; i++)
		if (maps->v[i].dev == v->dev && maps->v[i].ino == v->ino)
			return true;
	return false;
}

/* Which object of maps, if any, does process `other` have too? */
static const struct vma *find_shared(pid_t other, const struct vma_list *maps,
				     struct strangers *s)
{
	struct vma_list its = { 0 };
	const struct vma *found = NULL;
	bool stranger = strangers_are(s, other), known;

	if (stranger && s->left <= 0)
		return NULL;
	known = proc_read_maps(other, &its, NULL) == 0;
	if (stranger)
		s->left -= (int64_t)its.nr;
	for (size_t i = 0; known && i < maps->nr && !found; i++) {
		const struct vma *v = &maps->v[i];

		if (vma_has_object(v) &&
		    (maps_object(&its, v) || has_descriptor(s, other, v)))
			found = v;
	}
	vma_list_clear(&its);
	return found;
}

static bool any_object(const struct vma_list *maps)
{
	for (size_t i = 0; i < maps->nr; i++)
		if (vma_has_object(&maps->v[i]))
			return true;
	return false;
}

int share_check(pid_t pid, const struct vma_list *maps, struct error *err)
{
	DIR *d = any_object(maps) ? opendir("/proc") : NULL;
	struct strangers strangers = strangers_to(pid);
	struct dirent *e;
	int r = 0;

	while (d && !r && (e = readdir(d))) {
		pid_t other = (pid_t)strtol(e->d_name, NULL, 10);
		const struct vma *v =
			other > 0 && other != pid
				? find_shared(other, maps, &strangers)
				: NULL;

		if (v)
			r = error_set(
				err, -ENOTSUP,
				"process %d shares memory with process %d (%#llx, %s)",
				pid, other, (unsigned long long)v->start,
				v->path);
	}
	if (d)
		closedir(d);
	return r;
}
