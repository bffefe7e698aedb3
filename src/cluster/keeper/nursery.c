/*
 * nursery.c - see nursery.h
 */
#include "cluster/keeper/nursery.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/capsule/capsule.h"
#include "core/claim.h"
#include "core/io.h"
#include "core/log.h"
#include "core/packet.h"
#include "core/procstat.h"
#include "core/xalloc.h"

enum { REST_MS = 5000, REST_MOST = 32 };

/* A keeper that rests: where it takes an order, and what its last one was. */
struct resting {
	int sock;
	char *words;
	size_t len;
};

struct nursery {
	int sock;
	nursery_keeper *be;
	struct prctl_mm_map map; /* the kernel's word on our memory */
	int door, bell; /* where keepers say that they rest: ours, theirs */
	struct resting resting[REST_MOST];
	unsigned nr_resting;
	char *at_rest; /* the kernel shows nothing that a file is mapped to */
};

/* An order, as it came. */
struct order {
	char *words;
	size_t len;
	int ready;
};

static void drop_resting(struct nursery *n, unsigned i)
{
	close(n->resting[i].sock);
	free(n->resting[i].words);
	n->nr_resting--;
	memmove(n->resting + i, n->resting + i + 1,
		(n->nr_resting - i) * sizeof(*n->resting));
}

static void drop_all_resting(struct nursery *n)
{
	while (n->nr_resting)
		drop_resting(n, n->nr_resting - 1);
}

/* ---- in the keeper */

/* So that ps shows it as the keeper that it is, not as a nursery. */
static void show_words(struct nursery *n, const char *words, size_t len)
{
	n->map.arg_start = (uintptr_t)words;
	n->map.arg_end = (uintptr_t)words + len;
	n->map.brk = (uintptr_t)sbrk(0);
	if (prctl(PR_SET_MM, PR_SET_MM_MAP, &n->map, sizeof(n->map), 0) < 0)
		log_warnx("ps cannot show this keeper's name: %s",
			  strerror(errno));
}

static int split_order(char *words, size_t len, char ***ret)
{
	char **argv = NULL, *end = words + len;
	size_t n = 0, cap = 0;

	for (char *p = words; p < end; p += strlen(p) + 1) {
		array_room(argv, n, &cap);
		argv[n++] = p;
	}
	array_room(argv, n, &cap);
	argv[n] = NULL;
	*ret = argv;
	return (int)n;
}

/* The keeper may change its words. */
static int carry_out(struct nursery *n, const struct order *o)
{
	char *words = xmalloc(o->len), **argv;
	int argc, status;

	memcpy(words, o->words, o->len);
	show_words(n, o->words, o->len);
	if (o->ready != NURSERY_READY) {
		if (dup2(o->ready, NURSERY_READY) < 0)
			_exit(1);
		close(o->ready);
	}
	argc = split_order(words, o->len, &argv);
	status = n->be(argc, argv);
	free(argv);
	free(words);
	return status;
}

/*
 * An order that comes within REST_MS.  Whoever has sent one has been heard: when we
 * wait no longer nobody can send any more, and then we look once again.
 */
static bool await_order(int sock, struct order *ret)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	char *words = xmalloc(NURSERY_ORDER_MAX);
	unsigned nr = 1;
	ssize_t len;

	if (poll(&p, 1, REST_MS) <= 0)
		shutdown(sock, SHUT_RD);
	len = packet_receive_some(sock, words, NURSERY_ORDER_MAX, &ret->ready,
				  &nr, MSG_DONTWAIT);
	if (len <= 0 || !nr) {
		free(words);
		return false;
	}
	free(ret->words);
	ret->words = xrealloc(words, (size_t)len);
	ret->len = (size_t)len;
	return true;
}

/*
 * An agent lowers keepers by the records of their capsules, and one at rest has none: it
 * would not be raised again.
 */
static bool is_lowered(void)
{
	return sched_getscheduler(0) != SCHED_OTHER || claim_is_marked(0);
}

/* True: with the next order. */
static bool rest(struct nursery *n, struct order *o)
{
	int pair[2], r;
	sigset_t none;
	bool again;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (is_lowered() ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	show_words(n, n->at_rest, sizeof(NURSERY_AT_REST));
	r = packet_send(n->bell, o->words, o->len, &pair[1], 1);
	close(pair[1]);
	again = !r && await_order(pair[0], o);
	close(pair[0]);
	(void)claim_raise_worker(0);
	return again;
}

static _Noreturn void keeper_main(struct nursery *n, const struct order *order)
{
	struct order o = { xmalloc(order->len), order->len, order->ready };
	int status;

	memcpy(o.words, order->words, o.len);
	capsule_store_leave();
	drop_all_resting(n);
	io_close(&n->door);
	n->at_rest = xmalloc(sizeof(NURSERY_AT_REST));
	memcpy(n->at_rest, NURSERY_AT_REST, sizeof(NURSERY_AT_REST));
	signal(SIGCHLD, SIG_DFL);
	/* What is ready goes in the place of the nursery's socket. */
	if (n->sock != o.ready)
		close(n->sock);
	do
		status = carry_out(n, &o);
	while (status == NURSERY_RESTS && rest(n, &o));
	capsule_keep_end();
	/* Not exit(): all libraries would tidy up what ends with the process. */
	_exit(status == NURSERY_RESTS ? 0 : status);
}

/* ---- the nursery */

/* PR_SET_MM_MAP wants all of them to set some. */
static int read_map(struct prctl_mm_map *ret)
{
	struct procstat s;
	int r = procstat_read(0, &s);

	if (r < 0)
		return r;
	*ret = (struct prctl_mm_map){
		.start_code = s.start_code,
		.end_code = s.end_code,
		.start_stack = s.start_stack,
		.start_data = s.start_data,
		.end_data = s.end_data,
		.start_brk = s.start_brk,
		.env_start = s.env_start,
		.env_end = s.env_end,
		.exe_fd = (uint32_t)-1,
	};
	return 0;
}

static void fork_keeper(struct nursery *n, const struct order *o)
{
	pid_t pid = fork();

	if (!pid)
		keeper_main(n, o);
	if (pid < 0)
		log_warnx("cannot fork a keeper: %s", strerror(errno));
}

/* Are all words the same but that of the rank? */
static bool is_like(const struct resting *r, const struct order *o)
{
	const char *a = r->words, *b = o->words;

	for (int i = 0; a < r->words + r->len && b < o->words + o->len; i++) {
		if (i != NURSERY_WORD_RANK && strcmp(a, b))
			return false;
		a += strlen(a) + 1;
		b += strlen(b) + 1;
	}
	return a == r->words + r->len && b == o->words + o->len;
}

/* To the one that has rested least, whose memory is the warmest. */
static bool wake_one(struct nursery *n, const struct order *o)
{
	bool sent = false;

	for (unsigned i = n->nr_resting; i-- > 0 && !sent;)
		if (is_like(&n->resting[i], o)) {
			sent = !packet_send(n->resting[i].sock, o->words,
					    o->len, &o->ready, 1);
			drop_resting(n, i);
		}
	return sent;
}

static void give_order(struct nursery *n, const struct order *o)
{
	if (!o->len || o->words[o->len - 1]) {
		log_warnx("malformed request for a keeper");
		return;
	}
	/* Those that rest do not know what has changed. */
	if (capsule_prepare())
		drop_all_resting(n);
	if (!wake_one(n, o))
		fork_keeper(n, o);
}

/* Words with a descriptor from sock; false at the end. */
static bool receive(int sock, struct order *o, bool *ret_whole)
{
	unsigned nr = 1;
	ssize_t len = packet_receive_some(sock, o->words, NURSERY_ORDER_MAX,
					  &o->ready, &nr, 0);

	o->len = len > 0 ? (size_t)len : 0;
	*ret_whole = len > 0 && nr;
	if (!*ret_whole && nr)
		io_close(&o->ready);
	return len >= 0 || len == -EBADMSG;
}

/* One order; false at the end. */
static bool serve(struct nursery *n, struct order *o)
{
	bool whole, goes_on;

	o->ready = -1;
	goes_on = receive(n->sock, o, &whole);
	if (whole)
		give_order(n, o);
	io_close(&o->ready);
	return goes_on;
}

static void hear_bell(struct nursery *n, struct order *o)
{
	bool whole;

	o->ready = -1;
	if (!receive(n->door, o, &whole) || !whole)
		return;
	if (n->nr_resting == REST_MOST)
		drop_resting(n, 0);
	n->resting[n->nr_resting] = (struct resting){
		.sock = o->ready,
		.words = xmalloc(o->len),
		.len = o->len,
	};
	memcpy(n->resting[n->nr_resting++].words, o->words, o->len);
}

/* Without them no keeper rests. */
static void make_bell(struct nursery *n)
{
	int pair[2];

	n->door = n->bell = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	n->door = pair[0];
	n->bell = pair[1];
}

void nursery_serve(int sock, nursery_keeper *be)
{
	struct nursery n = { .sock = sock, .be = be };
	struct order o = { .words = xmalloc(NURSERY_ORDER_MAX) };
	struct pollfd p[] = { { .fd = sock, .events = POLLIN },
			      { .events = POLLIN },
			      { .events = POLLIN } };

	unsetenv(NURSERY_BINDS);
	setsid();
	signal(SIGCHLD, SIG_IGN); /* nobody waits for keepers */
	if (read_map(&n.map) < 0)
		log_warnx("/proc/self/stat is not as proc(5) has it");
	make_bell(&n);
	/* Without one, poll() leaves it out. */
	p[1].fd = capsule_store_open();
	p[2].fd = n.door;
	do {
		if (poll(p, 3, -1) < 0)
			continue;
		if (p[1].revents)
			capsule_store_serve();
		if (p[2].revents)
			hear_bell(&n, &o);
	} while (!p[0].revents || serve(&n, &o));
	free(o.words);
}
