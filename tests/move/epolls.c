/*
 * epolls.c - epoll sets: nested, edge-triggered, one-shot, data words
 *
 * Every kind of entry is armed, fired and taken again and again; a thread
 * sits in epoll_wait without limit.  An edge-triggered entry may report once
 * more than it had to, as epoll allows; it must never stay silent.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "check.h"

#define DATA(n) (0xabcdef0012340000ull + (n))

static struct {
	int top, nested, deep; /* top holds nested holds deep */
	int level, edge, shot, twice, stale, excl;
	int woken, wakeup; /* the set of the waiting thread, and its bell */
} e;

static _Atomic uint64_t wakeups;

static int bell(void)
{
	int fd = eventfd(0, EFD_NONBLOCK);

	CHECK(fd >= 0);
	return fd;
}

static void add(int set, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event ev = { .events = events, .data.u64 = data };

	CHECK(epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev) == 0);
}

static void ring(int fd)
{
	uint64_t one = 1;

	CHECK(write(fd, &one, sizeof(one)) == sizeof(one));
}

static void hush(int fd)
{
	uint64_t n;

	CHECK(read(fd, &n, sizeof(n)) == sizeof(n));
}

/*
 * How often is this data among what is ready now? events gets the event bits.
 */
static int ready(int set, uint64_t data, uint32_t *events)
{
	struct epoll_event ev[16];
	int n = epoll_wait(set, ev, 16, 0), found = 0;

	CHECK(n >= 0);
	for (int i = 0; i < n; i++)
		if (ev[i].data.u64 == data) {
			found++;
			*events = ev[i].events;
		}
	return found;
}

static void make_sets(void)
{
	e.top = epoll_create1(EPOLL_CLOEXEC);
	e.nested = epoll_create1(0);
	e.deep = epoll_create1(0);
	add(e.top, e.nested, EPOLLIN, DATA(1));
	add(e.nested, e.deep, EPOLLIN, DATA(2));
	e.level = bell();
	add(e.deep, e.level, EPOLLIN | EPOLLRDHUP, DATA(3));
	e.edge = bell();
	add(e.top, e.edge, EPOLLIN | EPOLLET, DATA(4));
	e.shot = bell();
	add(e.top, e.shot, EPOLLIN | EPOLLONESHOT, DATA(5));
	e.twice = bell();
	add(e.top, e.twice, EPOLLIN, DATA(6));
	add(e.nested, e.twice, EPOLLIN | EPOLLOUT | EPOLLPRI, DATA(7));
	e.excl = bell();
	add(e.top, e.excl, EPOLLIN | EPOLLEXCLUSIVE, DATA(8));
	e.woken = epoll_create1(0);
	e.wakeup = bell();
	add(e.woken, e.wakeup, EPOLLIN, DATA(10));
}

static void check_level(void)
{
	uint32_t got = 0;

	CHECK(ready(e.top, DATA(1), &got) == 1); /* 7 waits for EPOLLOUT */
	CHECK(ready(e.nested, DATA(2), &got) == 0);
	CHECK(ready(e.nested, DATA(7), &got) == 1 && got == EPOLLOUT);
	ring(e.level);
	CHECK(ready(e.nested, DATA(2), &got) == 1);
	for (int i = 0; i < 3; i++)
		CHECK(ready(e.deep, DATA(3), &got) == 1 && got == EPOLLIN);
	hush(e.level);
	CHECK(ready(e.deep, DATA(3), &got) == 0);
	ring(e.twice);
	CHECK(ready(e.top, DATA(6), &got) == 1);
	CHECK(ready(e.nested, DATA(7), &got) == 1);
	CHECK(got == (EPOLLIN | EPOLLOUT));
	hush(e.twice);
	CHECK(ready(e.top, DATA(6), &got) == 0);
	ring(e.excl);
	CHECK(ready(e.top, DATA(8), &got) == 1);
	hush(e.excl);
}

static void check_edge(void)
{
	uint32_t got = 0;

	ring(e.edge);
	CHECK(ready(e.top, DATA(4), &got) == 1 && got == EPOLLIN);
	ready(e.top, DATA(4), &got);
	ring(e.edge); /* a new edge, though the old count is unread */
	CHECK(ready(e.top, DATA(4), &got) == 1);
	hush(e.edge);
	CHECK(ready(e.top, DATA(4), &got) == 0);
}

/* A one-shot entry that has fired is silent until it is armed again. */
static void check_shot(void)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT,
				  .data.u64 = DATA(5) };
	uint32_t got = 0;

	ring(e.shot);
	CHECK(ready(e.top, DATA(5), &got) == 1);
	for (int i = 0; i < 5; i++) {
		CHECK(ready(e.top, DATA(5), &got) == 0, "fired again");
		ring(e.shot);
		check_nap();
	}
	hush(e.shot);
	CHECK(epoll_ctl(e.top, EPOLL_CTL_MOD, e.shot, &ev) == 0);
	CHECK(ready(e.top, DATA(5), &got) == 0);
}

/* Watch a file by a number that is then closed and given to another file. */
static void make_stale(void)
{
	int low = bell();

	e.stale = dup(low);
	add(e.top, low, EPOLLIN, DATA(9));
	CHECK(close(low) == 0);
	CHECK(epoll_create1(0) == low);
}

static void check_stale(void)
{
	uint32_t got = 0;

	ring(e.stale);
	CHECK(ready(e.top, DATA(9), &got) == 1, "entry of a closed number");
	hush(e.stale);
	CHECK(ready(e.top, DATA(9), &got) == 0);
}

static void *wait_on(void *arg)
{
	for (;;) {
		struct epoll_event ev;
		int n = epoll_wait(e.woken, &ev, 1, -1);

		CHECK(n == 1 && ev.data.u64 == DATA(10), "got %d", n);
		hush(e.wakeup);
		wakeups++;
	}
}

int main(int argc, char **argv)
{
	uint64_t rung = 0;

	make_sets();
	if (argc > 1 && !strcmp(argv[1], "stale"))
		make_stale();
	check_thread(wait_on, NULL);
	check_ready();
	if (check_sabotaged())
		close(e.edge);
	while (check_running()) {
		check_level();
		check_edge();
		check_shot();
		if (e.stale)
			check_stale();
		if (rung % 4 == 3) {
			ring(e.wakeup);
			CHECK_WAIT(wakeups == (rung + 1) / 4);
		}
		rung++;
		check_nap();
	}
	return check_pass();
}
