/* needs.c - what sockets need that a destination may lack, see needs.h */
#include "move/sock/needs.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/sock/options.h"
#include "move/sock/tcp.h"
#include "move/sock/tcp_compat.h"
#include "move/sock/tcp_repair.h"

#define PRIVILEGED 1024

static Fds__Need need_of(const Fds__Socket *m)
{
	Fds__Need need = FDS__NEED__INIT;

	need.family = m->family;
	need.type = m->type;
	need.protocol = m->protocol;
	return need;
}

static in_port_t port_of(const Fds__Inet *m)
{
	/* the port is at the same place in both families */
	struct sockaddr_in in = { 0 };

	if (m->local.len >= sizeof(in))
		memcpy(&in, m->local.data, sizeof(in));
	return ntohs(in.sin_port);
}

static void tell_inet(struct fds_source *s, const Fds__Socket *m, int fd)
{
	Fds__Need port = need_of(m), repair = port;
	int state = m->type == SOCK_STREAM ? tcp_capture_state(fd) : -1;

	port.port = port_of(m->inet);
	if (port.port && port.port < PRIVILEGED)
		fdtold_need(s, &port);
	repair.repair = true;
	if (state >= 0 && TCP_STATE(state) & TCP_STATES_CONNECTED)
		fdtold_need(s, &repair);
}

void sock_needs_tell(struct fds_source *s, const struct fdscan *sc, size_t i)
{
	const Fds__Socket *m = sc->set->file[i]->socket;

	if (sc->content)
		/*
		 * the freeze has begun: the destination cannot be asked any
		 * more
		 */
		return;
	for (size_t k = 0; k < m->n_opt; k++) {
		Fds__Need need = need_of(m);

		need.opt = m->opt[k];
		if (sockopt_is_need(m, need.opt))
			fdtold_need(s, &need);
	}
	if (m->kind_case == FDS__SOCKET__KIND_INET)
		tell_inet(s, m, sc->file[i].copy);
}

/* ---- destination ---- */

/*
 * Try to bind the port, on loopback, where nothing arrives meanwhile.  That it is in
 * use says nothing about privileges.
 */
static int try_port(int fd, const Fds__Need *need, struct error *err)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)need->port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6,
		.sin6_port = in.sin_port,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	int r = need->family == AF_INET ? bind(fd, (void *)&in, sizeof(in))
					: bind(fd, (void *)&in6, sizeof(in6));

	if (r == 0 || errno != EACCES)
		return 0;
	return error_set(
		err, -EACCES,
		"a socket has port %u, and the destination lets nobody without "
		"a privilege have it",
		need->port);
}

static int try_repair(int fd, struct error *err)
{
	int r = tcp_repair_on(fd);

	return r < 0 ? error_set(
			       err, r,
			       "a TCP connection cannot be made again at the destination: "
			       "%s (it takes CAP_NET_ADMIN there)",
			       strerror(-r))
		     : 0;
}

static bool is_known(const Fds__Need *need)
{
	bool inet = need->family == AF_INET || need->family == AF_INET6;

	if (need->repair && (!inet || need->type != SOCK_STREAM))
		return false;
	if (need->port && (!inet || need->port >= PRIVILEGED))
		return false;
	return (inet &&
		(need->type == SOCK_STREAM || need->type == SOCK_DGRAM)) ||
	       need->family == AF_UNIX;
}

int sock_need_check(const Fds__Need *need, struct error *err)
{
	Fds__Socket m = FDS__SOCKET__INIT;
	fd_auto fd = -1;
	int r = 0;

	if (!is_known(need))
		return error_set(err, -EPROTO,
				 "a need that is not of a socket");
	m.family = need->family;
	m.type = need->type;
	m.protocol = need->protocol;
	fd = socket(need->family, need->type | SOCK_CLOEXEC, need->protocol);
	if (fd < 0)
		return error_sys(err, -errno, "a socket at the destination");
	if (need->opt)
		r = sockopt_try(fd, &m, need->opt, err);
	if (!r && need->port)
		r = try_port(fd, need, err);
	if (!r && need->repair)
		r = try_repair(fd, err);
	return r;
}
