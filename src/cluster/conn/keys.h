/*
 * keys.h - key files, and the role of an identity
 *
 * The controller's state directory holds `keys`, one line for each enrolled
 * party (core/tls.h has the format).  A party's own key file holds only its own
 * line (tls_key_read()).  All have mode 0600.
 */
#ifndef CLUSTER_CONN_KEYS_H
#define CLUSTER_CONN_KEYS_H

#include "core/error.h"
#include "core/tls.h"

enum role { ROLE_NONE, ROLE_HOST, ROLE_USER, ROLE_ADMIN };

/*
 * The role in an identity such as "host/NAME"; name, if not NULL, gets the part
 * behind the slash.
 */
enum role role_of(const char *identity, const char **name);

/*
 * Refuse a key file of the controller that others may read; a missing file is
 * accepted.
 */
int keys_check(const char *path, struct error *err) must_check;

/*
 * Find identity in the controller's key file, which is read again each time so
 * that enrolling takes effect at once: 0 or -ENOENT.
 */
int keys_find(const char *path, const char *identity, struct tls_key *ret,
	      struct error *err) must_check;

/* Call each() for every key of the file; a missing file counts as empty. */
int keys_each(const char *path,
	      void (*each)(void *ctx, const struct tls_key *key), void *ctx,
	      struct error *err) must_check;

/*
 * Is it a valid identity?  keys_enrol() and keys_revoke() check that
 * themselves.
 */
int keys_check_identity(const char *identity, struct error *err) must_check;

/*
 * The key of identity from the file at path, created and added (durably) if
 * there is none yet.
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
