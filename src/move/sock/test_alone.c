/* test_alone.c - a connection that is made while its other end is not there yet */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <net/if.h>

#include <cmocka.h>

#include "core/io.h"
#include "move/sock/tcp_make.h"
#include "move/sock/tcp_repair.h"

#define FOREVER 60000 /* ms */
#define TEXT	"sent, and not acknowledged"

/* One end of a connection within this host. */
struct end {
	struct sockaddr_in here, there;
	Fds__Tcp tcp;
	Fds__Inet inet;
	Fds__Socket socket;
	int fd;
};

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static void describe(struct end *e, uint16_t here, uint16_t there)
{
	e->here = loopback(here);
	e->there = loopback(there);
	fds__tcp__init(&e->tcp);
	fds__inet__init(&e->inet);
	fds__socket__init(&e->socket);
	e->tcp.state = TCP_ESTABLISHED;
	e->tcp.mss_clamp = 1400;
	e->tcp.snd_wscale = e->tcp.rcv_wscale = -1;
	e->tcp.timestamps = true;
	e->tcp.snd_wnd = e->tcp.max_window = e->tcp.rcv_wnd = 60000;
	e->inet.local =
		(ProtobufCBinaryData){ sizeof(e->here), (void *)&e->here };
	e->inet.peer =
		(ProtobufCBinaryData){ sizeof(e->there), (void *)&e->there };
	e->inet.tcp = &e->tcp;
	e->socket.kind_case = FDS__SOCKET__KIND_INET;
	e->socket.inet = &e->inet;
	e->socket.family = AF_INET;
	e->socket.type = SOCK_STREAM;
	e->socket.sndbuf = e->socket.rcvbuf = 100000;
}

static void set_numbers(struct end *e, uint32_t snd, uint32_t rcv)
{
	e->tcp.snd_seq = snd + (uint32_t)e->tcp.unacked.len;
	e->tcp.rcv_seq = e->tcp.rcv_wup = e->tcp.snd_wl1 = rcv;
}

static void make(struct end *e)
{
	struct error err;

	e->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(e->fd >= 0);
	if (tcp_make_state(e->fd, &e->socket, &err) < 0)
		fail_msg("%s", err.text);
}

static void activate(struct end *e)
{
	struct error err;

	if (tcp_make_activate(e->fd, &e->socket, &err) < 0)
		fail_msg("%s", err.text);
}

/* The kernel's count of resets sent in this network namespace. */
static unsigned long resets(void)
{
	unsigned long ret = 0;
	char line[512];
	FILE *f = fopen("/proc/thread-self/net/snmp", "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line,
			   "Tcp: %*u %*u %*u %*d %*u %*u %*u %*u %*u %*u %*u "
			   "%*u %*u %lu",
			   &ret) == 1)
			break;
	fclose(f);
	return ret;
}

static void wait_for_reset(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (int i = 0; i < FOREVER && !resets(); i++)
		nanosleep(&ms, NULL);
	assert_true(resets() > 0);
}

static void raise_loopback(void)
{
	struct ifreq ifr = { .ifr_name = "lo",
			     .ifr_flags = IFF_UP | IFF_RUNNING };
	fd_auto fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &ifr), 0);
}

/* What is not acknowledged is sent again, and the other end is not there. */
static void test_nobody_at_the_other_end_resets_it(void **state)
{
	struct end a, b;
	struct tcp_info ti;
	char got[sizeof(TEXT)] = "";

	if (unshare(CLONE_NEWNET) < 0) {
		print_message("# not tested: no network namespaces here\n");
		return;
	}
	raise_loopback();
	describe(&a, 40001, 40002);
	describe(&b, 40002, 40001);
	a.tcp.unacked = (ProtobufCBinaryData){ strlen(TEXT), (void *)TEXT };
	set_numbers(&a, 1000, 5000);
	set_numbers(&b, 5000, 1000);
	make(&a);
	wait_for_reset();
	assert_int_equal(tcp_info_of(a.fd, &ti), 0);
	assert_int_equal(ti.tcpi_state, TCP_ESTABLISHED);
	make(&b);
	activate(&a);
	activate(&b);
	assert_int_equal(recv(b.fd, got, strlen(TEXT), MSG_WAITALL),
			 strlen(TEXT));
	assert_string_equal(got, TEXT);
	/* from now on it gets resets */
	assert_int_equal(tcp_capture_kill(b.fd), 0);
	assert_int_equal(send(a.fd, "x", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(recv(a.fd, got, 1, 0), -1);
	close(a.fd);
	close(b.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_at_the_other_end_resets_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
