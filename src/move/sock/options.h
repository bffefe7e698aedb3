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
 * Read what can be read of the table's options, sizes and SO_REUSEADDR; or, for a
 * look that captures nothing, only the options that may be needs: eight or so
 * instead of thirty to sixty.  -ENOTSUP from either if there is a filter.
 */
int sockopt_get_all(int fd, Fds__Socket *m, struct error *err) must_check;
int sockopt_get_needs(int fd, Fds__Socket *m, struct error *err) must_check;

/*
 * Set, on a new socket that is not yet bound, what differs.  Only options of
 * the table are accepted.  Not SO_REUSEADDR, nor the buffers.
 */
int sockopt_set_all(int fd, const Fds__Socket *m, struct error *err) must_check;

/*
 * Does it take something that a destination may lack?  Try there, on a socket that
 * is thrown away, whether it does not.
 */
bool sockopt_is_need(const Fds__Socket *m, const Fds__SockOpt *o);
int sockopt_try(int fd, const Fds__Socket *m, const Fds__SockOpt *o,
		struct error *err) must_check;

/*
 * Of those only what a bound socket does not take any more, for a socket that
 * shall be connected before it gets the others.
 */
int sockopt_set_unbound(int fd, const Fds__Socket *m,
			struct error *err) must_check;

/*
 * Bind it to its address, if it has one; also to one that is not there, if the
 * source did not have it either.
 */
int sockopt_bind(int fd, const Fds__Inet *m) must_check;

/*
 * Buffers as they were: SO_SNDBUF reads back doubled, and setting it ends the
 * kernel's own tuning unless SO_BUF_LOCK says otherwise.  Beyond
 * net.core.[rw]mem_max only with privilege; what cannot be had is left.
 */
int sockopt_set_buffers(int fd, const Fds__Socket *m, struct error *err);

/*
 * Interfaces of the socket's network namespace, whose numbers differ from host
 * to host while names go with a capsule; -ENODEV if there is none such.
 */
int sockopt_interface_name(int fd, uint32_t index,
			   char ret[IF_NAMESIZE]) must_check;
int sockopt_interface_index(int fd, const char *name, uint32_t *ret,
			    struct error *err) must_check;

/* Read an int option; or negative errno (options here are never negative). */
int sockopt_int(int fd, int level, int name);
/* 0 or a negative errno. */
int sockopt_set_int(int fd, int level, int name, int v);

#endif
