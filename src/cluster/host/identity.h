/*
 * identity.h - the uid, gid and groups that a user may have
 *
 * They come from the user database of this machine (getpwnam(),
 * getgrouplist()), never from the requester.
 */
#ifndef CLUSTER_HOST_IDENTITY_H
#define CLUSTER_HOST_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

struct identity {
	char *name;
	uid_t uid;
	gid_t gid;     /* of the database */
	gid_t *groups; /* all groups including gid, without duplicates */
	size_t nr_groups;
};

/*
 * The lowest id of ordinary users: UID_MIN or GID_MIN of
 * /etc/login.defs, or 1000 if it has none.
 */
uint32_t identity_first(const char *what);

/*
 * Look a user up: 0, -ENOENT if there is none, or another error when the
 * database could not be read.  identity_clear() frees what 0 left in ret.
 */
int identity_by_name(const char *name, struct identity *ret,
		     struct error *err) must_check;
int identity_by_uid(uid_t uid, struct identity *ret,
		    struct error *err) must_check;
void identity_clear(struct identity *id); /* {0} is allowed */

bool identity_has_group(const struct identity *id, gid_t gid);

/*
 * Refuse (-EPERM) a uid that no rank may run as: below first, the lowest of
 * ordinary users (0: root is allowed).  where: "[controller]", whose min-uid
 * could allow it.
 */
int identity_check_uid(uid_t uid, uint32_t first, const char *where,
		       struct error *err) must_check;

/*
 * Refuse (-EPERM) system groups (below first) that this machine's own user
 * database does not give to uid.
 */
int identity_check_groups(uid_t uid, gid_t gid, const gid_t *groups, size_t n,
			  uint32_t first, struct error *err) must_check;

#endif
