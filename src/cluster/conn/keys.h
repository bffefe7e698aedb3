/*
 * keys.h - key files, and what an identity may do
 *
 * The controller's state directory holds `keys`, one line for each party
 * that is enrolled (core/tls.h has their form).  A party's own key file holds
 * its line alone (tls_key_read()).  All are for their owner's eyes only: mode
 * 0600.
 */
#ifndef CLUSTER_CONN_KEYS_H
#define CLUSTER_CONN_KEYS_H

#include "core/error.h"
#include "core/tls.h"

enum role { ROLE_NONE, ROLE_HOST, ROLE_USER, ROLE_ADMIN };

/* The role at the head of "host/NAME"; *name is what follows, if not NULL. */
enum role role_of(const char *identity, const char **name);

/* Refuse a file of many at path that others may read; none at all is well. */
int keys_check(const char *path, struct error *err) must_check;

/*
 * Find identity in the file of many at path, which is read anew each time so
 * that enrolling takes effect at once: 0 or -ENOENT.
 */
int keys_find(const char *path, const char *identity, struct tls_key *ret,
	      struct error *err) must_check;

/* Call each for every key of the file; no file is an empty one. */
int keys_each(const char *path,
	      void (*each)(void *ctx, const struct tls_key *key), void *ctx,
	      struct error *err) must_check;

/* Is it one?  Enrolling and revoking see to it themselves. */
int keys_check_identity(const char *identity, struct error *err) must_check;

/*
 * The key of identity from the file at path, made and added (durably) if there
 * is none yet.
 */
int keys_enrol(const char *path, const char *identity, struct tls_key *ret,
	       struct error *err) must_check;

/*
 * Remove (durably) the key of identity, or -ENOENT.  A controller that runs
 * ends the connections that were made with it.
 */
int keys_revoke(const char *path, const char *identity,
		struct error *err) must_check;

#endif
