/*
 * ids.c - which ids there are in a user namespace that is new, and a keyring of one's own
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "core/io.h"

static int write_proc(pid_t pid, const char *file, const char *text,
		      struct error *err)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	r = io_write_file(AT_FDCWD, path, text);
	return r < 0 ? error_sys(err, r, "cannot write %s", path) : 0;
}

static bool has_gid(const struct capsule_spec *spec, size_t n, gid_t gid)
{
	for (size_t i = 0; i < n; i++)
		if (spec->groups[i] == gid)
			return true;
	return gid == spec->gid;
}

static int map_groups(pid_t pid, const struct capsule_spec *spec, size_t nr,
		      struct error *err)
{
	char text[4096];
	size_t n;

	n = snprintf(text, sizeof(text), "%u %u 1\n", spec->gid, spec->gid);
	for (size_t i = 0; i < nr; i++) {
		if (has_gid(spec, i, spec->groups[i]))
			continue;
		if (n >= sizeof(text) - 32)
			return error_set(err, -E2BIG,
					 "a user in %zu groups: more than a "
					 "user namespace has room for",
					 spec->nr_groups);
		n += snprintf(text + n, sizeof(text) - n, "%u %u 1\n",
			      spec->groups[i], spec->groups[i]);
	}
	return write_proc(pid, "gid_map", text, err);
}

int ids_map(pid_t pid, const struct capsule_spec *spec, bool lasting,
	    struct error *err)
{
	const bool root = !geteuid();
	char text[64];
	int r, n;

	n = snprintf(text, sizeof(text), "%u %u 1\n", spec->uid, spec->uid);
	if (lasting)
		snprintf(text + n, sizeof(text) - (size_t)n, "%u %u 1\n",
			 LASTING_UID, LASTING_UID);
	r = write_proc(pid, "uid_map", text, err);
	if (!r && !root)
		r = write_proc(pid, "setgroups", "deny", err);
	return r < 0 ? r
		     : map_groups(pid, spec, root ? spec->nr_groups : 0, err);
}

int ids_map_program(pid_t pid, const struct capsule_spec *spec,
		    struct error *err)
{
	char text[32];
	int r;

	snprintf(text, sizeof(text), "%u %u 1\n", spec->uid, spec->uid);
	r = write_proc(pid, "uid_map", text, err);
	return r < 0 ? r : map_groups(pid, spec, spec->nr_groups, err);
}

/*
 * The keys of whoever started the agent, a login's for example, would be every rank's to
 * read, and what one rank adds any other's: who is in a session keyring has them all.  Where
 * the kernel has no keys, or forbids these calls, ranks have none either.
 */
int ids_leave_keys(struct error *err)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 &&
	    errno != ENOSYS && errno != EPERM)
		return error_sys(err, -errno, "cannot make a session keyring");
	return 0;
}
