/* identity.c - what a user may be, see identity.h */
#include "cluster/host/identity.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "core/xalloc.h"

enum {
	FIRST_PERSON = 1000,
	/* The kernel's name for whoever a namespace does not know; by that
	 * name also NFS knows everybody it does not trust. */
	OVERFLOW_UID = 65534,
	LOGIN_DEFS_MAX = 1 << 20,
};

uint32_t identity_first(const char *what)
{
	size_t n = strlen(what);
	uint32_t first = FIRST_PERSON;
	char *text;

	if (io_read_file(AT_FDCWD, "/etc/login.defs", LOGIN_DEFS_MAX, &text) <
	    0)
		return first;
	for (char *line = text; line; line = strchr(line, '\n')) {
		line += strspn(line, " \t\n");
		if (!strncmp(line, what, n) && isspace((unsigned char)line[n]))
			first = strtoul(line + n, NULL, 0);
	}
	free(text);
	return first;
}

static int groups_of(const struct passwd *pw, struct identity *ret)
{
	int n = 32, room;

	do {
		room = n;
		ret->groups =
			xreallocarray(ret->groups, room, sizeof(*ret->groups));
	} while (getgrouplist(pw->pw_name, pw->pw_gid, ret->groups, &n) < 0 &&
		 n > room);
	ret->nr_groups = n;
	return n <= room ? 0 : -EIO;
}

static int take_entry(const struct passwd *pw, const char *who, int code,
		      struct identity *ret, struct error *err)
{
	struct identity id = { 0 };

	/*
	 * errno of getpwnam() for an unknown user is not standardized; these
	 * values are real errors.
	 */
	if (!pw && (code == EIO || code == EMFILE || code == ENFILE ||
		    code == ENOMEM || code == ETIMEDOUT || code == EINTR))
		return error_sys(err, -code, "looking up user %s", who);
	if (!pw)
		return error_set(err, -ENOENT,
				 "there is no user %s in the user database",
				 who);
	id.name = xstrdup(pw->pw_name);
	id.uid = pw->pw_uid;
	id.gid = pw->pw_gid;
	if (groups_of(pw, &id) < 0) {
		identity_clear(&id);
		return error_set(err, -EIO, "cannot look up the groups of %s",
				 who);
	}
	*ret = id;
	return 0;
}

int identity_by_name(const char *name, struct identity *ret, struct error *err)
{
	const struct passwd *pw;

	errno = 0;
	pw = getpwnam(name);
	return take_entry(pw, name, errno, ret, err);
}

int identity_by_uid(uid_t uid, struct identity *ret, struct error *err)
{
	const struct passwd *pw;
	char *who = xasprintf("with uid %u", uid);
	int r;

	errno = 0;
	pw = getpwuid(uid);
	r = take_entry(pw, who, errno, ret, err);
	free(who);
	return r;
}

void identity_clear(struct identity *id)
{
	free(id->name);
	free(id->groups);
	*id = (struct identity){ 0 };
}

bool identity_has_group(const struct identity *id, gid_t gid)
{
	for (size_t i = 0; i < id->nr_groups; i++)
		if (id->groups[i] == gid)
			return true;
	return false;
}

int identity_check_uid(uid_t uid, uint32_t first, const char *where,
		       struct error *err)
{
	if (uid == OVERFLOW_UID || uid == (uid_t)-1)
		return error_set(err, -EPERM, "no user has uid %u", uid);
	if (uid < first)
		return error_set(err, -EPERM,
				 "uid %u is %s: only uids from %u on run jobs "
				 "(min-uid in %s)",
				 uid, uid ? "the system's" : "root", first,
				 where);
	return 0;
}

int identity_check_groups(uid_t uid, gid_t gid, const gid_t *groups, size_t n,
			  uint32_t first, struct error *err)
{
	struct identity id = { 0 };
	int r = 0;

	for (size_t i = 0; i <= n && !r; i++) {
		gid_t g = i < n ? groups[i] : gid;

		if (g >= first)
			continue;
		if (!id.name && identity_by_uid(uid, &id, NULL) < 0)
			id.name = xstrdup(""); /* users without a group */
		if (!identity_has_group(&id, g))
			r = error_set(err, -EPERM,
				      "this host's user database does not put "
				      "uid %u into group %u, which is the "
				      "system's (min-gid in [agent])",
				      uid, g);
	}
	identity_clear(&id);
	return r;
}
