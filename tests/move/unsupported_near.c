/*
 * unsupported_near.c - connections to another process of the host, and ports shared with one
 */
#include <ifaddrs.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "check.h"
#include "unsupported.h"

static int fd;

static void nothing(void)
{
}

/* Return each byte until the end of the stream; then write without end. */
static void peer(int listener)
{
	char c = 'x';

	close(fd);
	fd = accept(listener, NULL, NULL);
	while (read(fd, &c, 1) == 1 && write(fd, &c, 1) == 1)
		;
	signal(SIGPIPE, SIG_DFL);
	while (write(fd, &c, 1) == 1)
		check_nap();
	_exit(0);
}

/* Connect to a process that is no child of ours; fd is our end. */
static void connect_peer(int listener, const struct sockaddr_in *at)
{
	pid_t child;
	int status;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		if (fork() > 0)
			_exit(0);
		peer(listener);
	}
	CHECK(waitpid(child, &status, 0) == child);
	close(listener);
	CHECK(connect(fd, (const void *)at, sizeof(*at)) == 0);
}

static void make_local(void)
{
	struct sockaddr_in at;
	int listener = check_listen(&at);

	connect_peer(listener, &at);
}

static void use_local(void)
{
	char c = 'x';

	CHECK(write(fd, &c, 1) == 1 && read(fd, &c, 1) == 1 && c == 'x');
}

static void make_half(void)
{
	make_local();
	use_local();
	CHECK(shutdown(fd, SHUT_WR) == 0);
}

static void use_half(void)
{
	char c = 0;

	CHECK(read(fd, &c, 1) == 1 && c == 'x');
}

/* Of this host, and not of its loopback. */
static struct in_addr own_address(void)
{
	struct in_addr found = { 0 };
	struct ifaddrs *all, *i;

	CHECK(getifaddrs(&all) == 0);
	for (i = all; i; i = i->ifa_next) {
		const struct sockaddr_in *a = (void *)i->ifa_addr;

		if (a && a->sin_family == AF_INET &&
		    ntohl(a->sin_addr.s_addr) >> 24 != 127)
			found = a->sin_addr;
	}
	freeifaddrs(all);
	if (!found.s_addr)
		check_skip("no address but loopback's");
	return found;
}

static int listen_own(struct sockaddr_in *ret)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t n = sizeof(*ret);

	*ret = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr = own_address() };
	CHECK(bind(s, (void *)ret, n) == 0 && listen(s, 1) == 0);
	CHECK(getsockname(s, (void *)ret, &n) == 0);
	return s;
}

static void make_own(void)
{
	struct sockaddr_in at;
	int listener = listen_own(&at);

	connect_peer(listener, &at);
}

static void make_own_half(void)
{
	make_own();
	use_local();
	CHECK(shutdown(fd, SHUT_WR) == 0);
}

/* Bind to that address, which other sockets may have as well. */
static int join_port(int type, struct sockaddr_in *at)
{
	int s = socket(AF_INET, type, 0), one = 1;
	socklen_t n = sizeof(*at);

	CHECK(setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) == 0);
	CHECK(bind(s, (void *)at, n) == 0);
	CHECK(type == SOCK_DGRAM || listen(s, 1) == 0);
	CHECK(getsockname(s, (void *)at, &n) == 0);
	return s;
}

/* Share a port until the process that shares it has ended. */
static void partner(int type, struct sockaddr_in *at, pid_t with, int told)
{
	close(fd);
	join_port(type, at);
	CHECK(write(told, "x", 1) == 1);
	close(told);
	while (kill(with, 0) == 0)
		check_nap();
	_exit(0);
}

/* Share it with a process that is no child of ours. */
static void share_port(int type)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	pid_t child, self = getpid();
	int status, told[2];
	char c;

	fd = join_port(type, &at);
	CHECK(pipe(told) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		if (fork() > 0)
			_exit(0);
		partner(type, &at, self, told[1]);
	}
	CHECK(waitpid(child, &status, 0) == child);
	close(told[1]);
	CHECK(read(told[0], &c, 1) == 1);
	close(told[0]);
}

static void make_port_stream(void)
{
	share_port(SOCK_STREAM);
}

static void make_port_datagram(void)
{
	share_port(SOCK_DGRAM);
}

static void use_port(void)
{
	struct sockaddr_in at;
	socklen_t n = sizeof(at);

	CHECK(getsockname(fd, (void *)&at, &n) == 0 && at.sin_port);
}

const struct thing near_things[] = {
	{ "port-group", "shares port", make_port_stream, use_port, nothing },
	{ "port-group-udp", "shares port", make_port_datagram, use_port,
	  nothing },
	{ "local-peer", "connected within this host", make_local, use_local,
	  nothing },
	{ "local-half", "connected within this host", make_half, use_half,
	  nothing },
	{ "own-address", "connected within this host", make_own, use_local,
	  nothing },
	{ "own-half", "connected within this host", make_own_half, use_half,
	  nothing },
};
const size_t nr_near = sizeof(near_things) / sizeof(*near_things);
