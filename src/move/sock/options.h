/*
 * options.h - the options of a socket, as a list
 */
#ifndef MOVE_SOCK_OPTIONS_H
#define MOVE_SOCK_OPTIONS_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * Read all options of the table that can be read, the buffer sizes and SO_REUSEADDR;
 * the second reads, for a check that captures nothing, only options that may be needs:
 * about eight instead of thirty to sixty.  -ENOTSUP from either if the socket has a
 * filter.
 */
int sockopt_get_all(int fd, Fds__Socket *m, struct error *err) must_check;
int sockopt_get_needs(int fd, Fds__Socket *m, struct error *err) must_check;

/*
 * Set those options that differ on a new socket that is not bound yet, but neither
 * SO_REUSEADDR nor the buffers.  Options that are not in the table are refused.
 */
int sockopt_set_all(int fd, const Fds__Socket *m, struct error *err) must_check;

/*
 * Does the option take something that a destination may lack?  If so, the second
 * function tries it at the destination, on a socket that is thrown away.
 */
bool sockopt_is_need(const Fds__Socket *m, const Fds__SockOpt *o);
int sockopt_try(int fd, const Fds__Socket *m, const Fds__SockOpt *o,
		struct error *err) must_check;

/*
 * Set only those options that cannot be set once the socket is bound; for a socket that
 * is to be connected before it gets the others.
 */
int sockopt_set_unbound(int fd, const Fds__Socket *m,
			struct error *err) must_check;

/*
 * Bind it to its address, if it has one; also to an address that this host does not
 * have, if the source did not have it either.
 */
int sockopt_bind(int fd, const Fds__Inet *m) must_check;

/*
 * Set the buffer sizes.  SO_SNDBUF reads back doubled, and setting it ends the kernel's
 * own tuning unless SO_BUF_LOCK says otherwise.  Sizes beyond net.core.[rw]mem_max take
 * a privilege; without it a buffer stays smaller.
 */
int sockopt_set_buffers(int fd, const Fds__Socket *m, struct error *err);

/*
 * The name and the number of an interface of the socket's network namespace.  Numbers
 * differ from host to host, while names are the capsule's.  -ENODEV if there is no such
 * interface.
 */
int sockopt_interface_name(int fd, uint32_t index,
			   char ret[IF_NAMESIZE]) must_check;
int sockopt_interface_index(int fd, const char *name, uint32_t *ret,
			    struct error *err) must_check;

/*
 * The value of an int option, or a negative errno (none of these options is ever
 * negative).
 */
int sockopt_int(int fd, int level, int name);
/* 0 or a negative errno. */
int sockopt_set_int(int fd, int level, int name, int v);

#endif
