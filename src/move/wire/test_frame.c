/* test_frame.c - frames that are valid, and frames that are not */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "move/wire/frame.h"

struct wire {
	struct channel *a, *b;
	int raw; /* the descriptor of channel a */
};

static void wire_open(struct wire *w)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	w->raw = pair[0];
	w->a = channel_from_fd(pair[0]);
	w->b = channel_from_fd(pair[1]);
}

static void wire_close(struct wire *w)
{
	channel_close(w->a);
	channel_close(w->b);
}

static void test_round_trip(void **state)
{
	struct frame f = { 0 };
	struct wire w;

	wire_open(&w);
	assert_int_equal(frame_send_u64(w.a, FRAME_READY, 77, NULL), 0);
	assert_int_equal(frame_expect_u64(w.b, &f, FRAME_READY, 77, NULL), 0);
	assert_int_equal(frame_send_u64(w.a, FRAME_READY, 78, NULL), 0);
	assert_int_equal(frame_expect_u64(w.b, &f, FRAME_READY, 77, NULL),
			 -EPROTO);
	assert_int_equal(frame_send_u64(w.a, FRAME_COMMIT, 1, NULL), 0);
	assert_int_equal(frame_expect(w.b, &f, FRAME_READY, NULL), -EPROTO);
	frame_clear(&f);
	wire_close(&w);
}

static void test_abort(void **state)
{
	struct error err = ERROR_INIT;
	struct frame f = { 0 };
	struct wire w;

	wire_open(&w);
	frame_send_abort(w.a, "no room");
	assert_int_equal(frame_expect(w.b, &f, FRAME_READY, &err), -ECANCELED);
	assert_string_equal(err.text, "no room");
	frame_clear(&f);
	wire_close(&w);
}

/* Send a valid frame with one byte changed. */
static int send_spoilt(size_t at)
{
	unsigned char bytes[FRAME_HEAD_SIZE + 8];
	struct frame f = { 0 };
	struct wire w, to;
	int r;

	wire_open(&w);
	wire_open(&to);
	assert_int_equal(frame_send_u64(w.a, FRAME_READY, 77, NULL), 0);
	assert_int_equal(channel_read(w.b, bytes, sizeof(bytes)), 0);
	bytes[at] ^= 0x40;
	assert_int_equal(channel_write(to.a, bytes, sizeof(bytes)), 0);
	shutdown(to.raw, SHUT_WR);
	r = frame_recv(to.b, &f, NULL);
	frame_clear(&f);
	wire_close(&w);
	wire_close(&to);
	return r;
}

static void test_damage(void **state)
{
	for (size_t i = 0; i < FRAME_HEAD_SIZE + 8; i++)
		assert_true(send_spoilt(i) < 0);
}

static void test_end(void **state)
{
	struct frame f = { 0 };
	struct wire w;

	wire_open(&w);
	assert_int_equal(channel_write(w.a, "STNT", 4), 0);
	shutdown(w.raw, SHUT_WR);
	assert_int_equal(frame_recv(w.b, &f, NULL), -EPIPE);
	frame_clear(&f);
	wire_close(&w);
}

static void test_ranges(void **state)
{
	struct frame_range good = { 0x1000, 0x3000 };
	struct frame_range bad[] = {
		{ 0x1000, 0x1000 },
		{ 0x3000, 0x1000 },
		{ 0x1001, 0x3000 },
		{ 0x1000, UINT64_MAX & ~4095ull },
	};

	assert_int_equal(frame_check(FRAME_ZAP, (void *)&good, 16, NULL), 0);
	assert_int_equal(frame_check(FRAME_ZAP, (void *)&good, 15, NULL),
			 -EPROTO);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(
			frame_check(FRAME_UNMAP, (void *)&bad[i], 16, NULL),
			-EPROTO);
		assert_int_equal(
			frame_check(FRAME_PUNCH, (void *)&bad[i], 16, NULL),
			-EPROTO);
	}
}

/* A file that is open, but not mapped, has no addresses. */
static void test_lack(void **state)
{
	struct {
		struct frame_range range;
		char why[8];
	} lack = { { 0, 0 }, "gone" };

	assert_int_equal(frame_check(FRAME_LACK, (void *)&lack, 20, NULL), 0);
	lack.range.end = FRAME_PAGE;
	assert_int_equal(frame_check(FRAME_LACK, (void *)&lack, 20, NULL), 0);
	lack.range.start = FRAME_PAGE;
	assert_int_equal(frame_check(FRAME_LACK, (void *)&lack, 20, NULL),
			 -EPROTO);
}

static struct {
	struct frame_pages head;
	struct frame_run run[2];
	unsigned char data[2 * FRAME_PAGE];
} pages;

static int check_pages(uint64_t runs, uint64_t n0, uint64_t n1)
{
	memset(&pages, 0, sizeof(pages));
	pages.head.nr_runs = runs;
	pages.run[0] = (struct frame_run){ 0x1000, n0 };
	pages.run[1] = (struct frame_run){ 0x9000, n1 };
	return frame_check(FRAME_PAGES, (void *)&pages, sizeof(pages), NULL);
}

static void test_pages(void **state)
{
	assert_int_equal(check_pages(2, 1, 1), 0);
	assert_int_equal(check_pages(2, 2, 1), -EPROTO);
	assert_int_equal(check_pages(2, 0, 2), -EPROTO);
	assert_int_equal(check_pages(1, 2, 0), -EPROTO);
	assert_int_equal(check_pages(0, 1, 1), -EPROTO);
	assert_int_equal(check_pages(UINT64_MAX, 1, 1), -EPROTO);
	assert_int_equal(check_pages(2, UINT64_MAX, 3), -EPROTO);
}

/* An end that still sends when the other one gives up must get to hear why. */
static void test_heard_out(void **state)
{
	static char much[8 << 20];
	struct frame f = { 0 };
	struct error err;
	struct channel *ch;
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	if (fork() == 0) {
		close(sv[0]);
		ch = channel_from_fd(sv[1]);
		frame_send_abort(ch, "because");
		frame_hear_out(ch);
		_exit(0);
	}
	close(sv[1]);
	ch = channel_from_fd(sv[0]);
	assert_int_equal(channel_write(ch, much, sizeof(much)), 0);
	assert_int_equal(frame_recv(ch, &f, &err), -ECANCELED);
	assert_string_equal(err.text, "because");
	frame_clear(&f);
	channel_close(ch);
	wait(NULL);
}

static void test_patience(void **state)
{
	static const usec_t all[] = { 2500000, 40000, 3000000 };
	struct wire w;

	wire_open(&w);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct timeval tv[2];
		socklen_t n = sizeof(*tv);

		frame_set_patience(w.a, all[i]);
		assert_int_equal(
			getsockopt(w.raw, SOL_SOCKET, SO_RCVTIMEO, &tv[0], &n),
			0);
		assert_int_equal(
			getsockopt(w.raw, SOL_SOCKET, SO_SNDTIMEO, &tv[1], &n),
			0);
		for (int k = 0; k < 2; k++) /* the kernel rounds to its tick */
			assert_in_range(tv[k].tv_sec * USEC_PER_SEC +
						tv[k].tv_usec,
					all[i], all[i] + 10000);
	}
	wire_close(&w);
}

static void count(void *arg)
{
	++*(int *)arg;
}

/* A peer that says it makes progress is waited for, and this is told on. */
static void test_beats(void **state)
{
	int told = 0;
	struct frame f = { .beats = { .told = count, .arg = &told } };
	struct wire w;

	wire_open(&w);
	for (int i = 0; i < 3; i++)
		assert_int_equal(frame_send(w.a, FRAME_BEAT, NULL, 0, NULL), 0);
	assert_int_equal(frame_send_u64(w.a, FRAME_READY, 7, NULL), 0);
	assert_int_equal(frame_expect_u64(w.b, &f, FRAME_READY, 7, NULL), 0);
	assert_int_equal(told, 3);
	frame_clear(&f);
	wire_close(&w);
}

/* But not for ever: the peer may lie. */
static void test_beats_end(void **state)
{
	struct frame f = { .beats.most = 1 };
	struct wire w;
	int r = 0;
	pid_t pid;

	wire_open(&w);
	pid = fork();
	if (pid == 0) {
		while (!r)
			r = frame_send(w.a, FRAME_BEAT, NULL, 0, NULL);
		_exit(0);
	}
	assert_int_equal(frame_recv(w.b, &f, NULL), -ETIMEDOUT);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	frame_clear(&f);
	wire_close(&w);
}

/*
 * The kernel does not give up a peer that acknowledges data and has only had no
 * processor to read it, whatever options the socket comes with.
 */
static void test_a_closed_window_is_no_end(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), ms = 10000;
	struct channel *ch = channel_from_fd(fd);
	socklen_t n = sizeof(ms);

	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, n),
			 0);
	frame_set_link(ch);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, &n),
			 0);
	assert_int_equal(ms, 0);
	channel_close(ch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heard_out),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_beats),
		cmocka_unit_test(test_beats_end),
		cmocka_unit_test(test_a_closed_window_is_no_end),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_lack),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
