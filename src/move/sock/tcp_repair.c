/* tcp_repair.c - in and out of repair mode; see tcp_repair.h */
#include "move/sock/tcp_repair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "move/sock/options.h"

int tcp_info_of(int fd, struct tcp_info *ti)
{
	socklen_t n = sizeof(*ti);

	memset(ti, 0, sizeof(*ti));
	return getsockopt(fd, SOL_TCP, TCP_INFO, ti, &n) < 0 ? -errno : 0;
}

int tcp_repair_on(int fd)
{
	return sockopt_set_int(fd, SOL_TCP, TCP_REPAIR, TCP_REPAIR_ON);
}

int tcp_repair_off(int fd, bool reuseaddr)
{
	int r = sockopt_set_int(fd, SOL_TCP, TCP_REPAIR, TCP_REPAIR_OFF_NO_WP);

	if (!r && reuseaddr)
		r = sockopt_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	return r;
}

int tcp_repair_set(int fd, int v)
{
	return sockopt_set_int(fd, SOL_TCP, TCP_REPAIR, v);
}

/*
 * Without sending anything, and with SO_REUSEADDR, which repair mode clears, as it was.
 */
int tcp_repair_leave(int fd, const Fds__Socket *m, int how)
{
	int r = tcp_repair_set(fd, how);

	if (!r)
		r = sockopt_set_int(fd, SOL_SOCKET, SO_REUSEADDR, m->reuseaddr);
	return r;
}

int tcp_ignore_resets(int fd, bool on)
{
	/* offset of the flags in a segment, and the bit of RST */
	enum { FLAGS = 13, RST = 4 };
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, RST, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	const struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };
	int r = setsockopt(fd, SOL_SOCKET,
			   on ? SO_ATTACH_FILTER : SO_DETACH_FILTER, &prog,
			   sizeof(prog));

	return r < 0 ? -errno : 0;
}

int tcp_capture_kill(int fd)
{
	struct sockaddr sa = { .sa_family = AF_UNSPEC };
	struct tcp_info ti;
	int r = tcp_info_of(fd, &ti);

	if (r < 0 || ti.tcpi_state == TCP_LISTEN || ti.tcpi_state == TCP_CLOSE)
		return r;
	r = tcp_repair_on(fd);
	if (r < 0)
		return r;
	return connect(fd, &sa, sizeof(sa)) < 0 ? -errno : 0;
}

int tcp_capture_heal(int fd)
{
	int on = sockopt_int(fd, SOL_TCP, TCP_REPAIR);

	return on > 0 ? tcp_repair_off(fd, false) : 0;
}

bool tcp_is(int fd)
{
	return sockopt_int(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM &&
	       sockopt_int(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP;
}
