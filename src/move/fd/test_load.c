/*
 * test_load.c - move a process's connections many times under load
 *
 *	fdload [MOVES [CONNECTIONS [BYTES/S [RTO_MIN_US]]]]
 *
 * Every byte of every connection is checked at both ends.  Each tenth move is
 * given up after the capture.  Prints one JSON object; exit status 1 if a
 * byte was wrong or missing.
 */
#include "move/fd/test_load.h"
#include "core/test_fork.h"

#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "move/fd/fds.h"
#include "move/fdkit/source.h"

#define CONTROL	  900 /* the landing process's end */
#define MOVES_MAX 100000
#define SETTLE_MS 30

static struct load *load;
static pid_t rank, peer;

/*
 * How long each part of a move took, in us, and how long the peer waited at
 * most.
 */
enum {
	DRAIN,
	UNPLUG,
	CAPTURE,
	RESTORE,
	FINISH,
	PLUG,
	ACTIVATE,
	DOWN,
	STALL,
	BLOB,
	PARTS
};
static const char *const part_names[] = {
	"drain", "unplug",   "capture", "restore", "finish",
	"plug",	 "activate", "down",	"stall",   "blob",
};
static uint32_t *taken[PARTS];

static void fail(const char *what, const struct error *err)
{
	fprintf(stderr, "%s: %s\n", what, err->text);
	exit(1);
}

static pid_t start(void (*run)(void), int net)
{
	pid_t pid = fork_to_end_with();

	if (pid)
		return pid;
	load_net_enter(net);
	close_range(3, ~0u, 0);
	run();
	_exit(0);
}

static void run_peer(void)
{
	load_peer(load);
}

static void run_rank(void)
{
	close_range(0, ~0u, 0);
	load_rank_start(load);
	load_rank_loop(load);
}

/* ---- the landing process ---- */

static void tell(char c)
{
	if (write(CONTROL, &c, 1) != 1)
		_exit(3);
}

static char hear(int fd)
{
	char c = 0;

	return read(fd, &c, 1) == 1 ? c : 0;
}

static void land(void)
{
	struct error err = ERROR_INIT;
	struct fds_restored *r;
	int reserved = CONTROL;

	if (hear(CONTROL) != 'g')
		_exit(0);
	if (fds_unpack(load->blob, load->blob_n, &r, &err) < 0 ||
	    fds_restore(r, NULL, NULL, &reserved, 1, &err) < 0) {
		dprintf(CONTROL, "f%s", err.text);
		_exit(1);
	}
	tell('r');
	if (hear(CONTROL) != 'p')
		_exit(0);
	if (fds_activate(r, &err) < 0) {
		dprintf(CONTROL, "f%s", err.text);
		_exit(1);
	}
	tell('a');
	close(CONTROL);
	fds_restored_destroy(r);
	load_rank_loop(load);
}

/* Forked before the freeze, as a capsule's init would fork it. */
static pid_t start_landing(int net, int *control)
{
	int s[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) < 0)
		load_die("socketpair");
	pid = fork_to_end_with();
	if (pid == 0) {
		load_net_enter(net);
		dup2(s[1], CONTROL);
		close_range(0, CONTROL - 1, 0);
		land();
	}
	close(s[1]);
	*control = s[0];
	return pid;
}

static void expect(int control, char want)
{
	char text[512] = "";
	ssize_t n = read(control, text, 1);

	if (n == 1 && text[0] == want)
		return;
	n = read(control, text, sizeof(text) - 1);
	fprintf(stderr, "landing: %s\n", n > 0 ? text : "died");
	exit(1);
}

/* ---- a move ---- */

static void stop_rank(void)
{
	int status;

	load->stop = true;
	if (waitpid(rank, &status, WUNTRACED) != rank || !WIFSTOPPED(status)) {
		fprintf(stderr, "the rank ended: %x\n", (unsigned)status);
		exit(1);
	}
}

static struct fds_source *prepare(int *pidfd)
{
	struct error err = ERROR_INIT;
	struct fds_source *s;

	*pidfd = (int)syscall(SYS_pidfd_open, rank, 0);
	if (fds_prepare(rank, *pidfd, NULL, 0, NULL, &s, &err) < 0)
		fail("prepare", &err);
	return s;
}

/* Add the time since *since to that part. */
static void part(int p, unsigned i, uint64_t *since)
{
	uint64_t now = load_now();

	taken[p][i] = (uint32_t)(now - *since);
	*since = now;
}

/* On return the network is unplugged. */
static void capture(struct fds_source *s, int net, unsigned i, uint64_t *t)
{
	struct error err = ERROR_INIT;
	uint8_t *blob;

	if (fds_drain(s, 5000, &err) < 0)
		fail("drain", &err);
	part(DRAIN, i, t);
	load_net_plug(net, false);
	part(UNPLUG, i, t);
	s->later_least = SIZE_MAX; /* test_move.c tests late queues */
	if (fds_capture(s, &blob, &load->blob_n, &err) < 0)
		fail("capture", &err);
	if (load->blob_n > LOAD_BLOB_MAX) {
		fprintf(stderr, "a capture of %zu bytes\n", load->blob_n);
		exit(1);
	}
	memcpy(load->blob, blob, load->blob_n);
	free(blob);
	part(CAPTURE, i, t);
	taken[BLOB][i] = (uint32_t)load->blob_n;
}

static void give_up(unsigned i, int net)
{
	uint64_t t0, t;
	int pidfd;
	struct fds_source *s = prepare(&pidfd);

	stop_rank();
	t0 = t = load_now();
	capture(s, net, i, &t);
	fds_source_destroy(s);
	load_net_plug(net, true);
	kill(rank, SIGCONT);
	taken[DOWN][i] = (uint32_t)(load_now() - t0);
	close(pidfd);
}

static void move(unsigned i, int from, int to)
{
	struct error err = ERROR_INIT;
	int pidfd, control;
	struct fds_source *s = prepare(&pidfd);
	pid_t landing = start_landing(to, &control);
	uint64_t t0, t;

	stop_rank();
	t0 = t = load_now();
	capture(s, from, i, &t);
	if (write(control, "g", 1) != 1)
		load_die("landing");
	expect(control, 'r');
	part(RESTORE, i, &t);
	if (fds_finish(s, &err) < 0)
		fail("finish", &err);
	part(FINISH, i, &t);
	load_net_plug(to, true);
	part(PLUG, i, &t);
	if (write(control, "p", 1) != 1)
		load_die("landing");
	expect(control, 'a');
	part(ACTIVATE, i, &t);
	taken[DOWN][i] = (uint32_t)(load_now() - t0);
	kill(rank, SIGKILL);
	waitpid(rank, NULL, 0);
	rank = landing;
	close(control);
	close(pidfd);
	fds_source_destroy(s);
}

static uint32_t worst_stall(void)
{
	uint64_t worst = 0, now = load_now();

	for (unsigned i = 0; i < load->nr_conns; i++) {
		const struct load_flow *f = &load->peer[i];

		if (load_kind(i) == LOAD_LAZY)
			continue;
		if (f->worst > worst)
			worst = f->worst;
		/* A wait that still lasts counts, too. */
		if (now > f->last && now - f->last > worst)
			worst = now - f->last;
	}
	return (uint32_t)worst;
}

/* ---- all ---- */

static bool all_arrived(void)
{
	for (unsigned i = 0; i < load->nr_conns; i++) {
		if (load->rank[i].sent != load->peer[i].got ||
		    load->peer[i].sent != load->rank[i].got)
			return false;
	}
	return true;
}

static int verdict(void)
{
	uint64_t bad = 0;

	load->finish = true;
	for (int i = 0; i < 10000 && !all_arrived(); i++)
		poll(NULL, 0, 10);
	for (unsigned i = 0; i < load->nr_conns; i++) {
		const struct load_flow *r = &load->rank[i];
		const struct load_flow *p = &load->peer[i];

		bad += r->bad + p->bad;
		if (r->sent != p->got || p->sent != r->got || r->bad || p->bad)
			fprintf(stderr,
				"connection %u: rank sent %lu got %lu bad %lu, "
				"peer sent %lu got %lu bad %lu\n",
				i, r->sent, r->got, r->bad, p->sent, p->got,
				p->bad);
	}
	return bad || !all_arrived();
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void report(unsigned n, int failed)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < load->nr_conns; i++)
		bytes += load->rank[i].got + load->peer[i].got;
	printf("{\"what\":\"fdload\",\"n\":%u,\"conns\":%u,\"bytes\":%lu,"
	       "\"ok\":%s",
	       n, load->nr_conns, bytes, failed ? "false" : "true");
	for (int p = 0; p < PARTS; p++) {
		qsort(taken[p], n, sizeof(uint32_t), compare);
		printf(",\"%s_us\":[%u,%u,%u]", part_names[p], taken[p][n / 2],
		       taken[p][n * 99 / 100], taken[p][n - 1]);
	}
	printf("}\n");
}

static unsigned argument(int argc, char **argv, int i, unsigned otherwise)
{
	return i < argc ? (unsigned)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	unsigned n = argument(argc, argv, 1, 100);
	int here = LOAD_A, failed;

	if (n < 1 || n > MOVES_MAX)
		return 2;
	load = mmap(NULL, sizeof(*load), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (load == MAP_FAILED)
		load_die("mmap");
	load->nr_conns = argument(argc, argv, 2, 6);
	if (load->nr_conns < 1 || load->nr_conns > LOAD_CONNS_MAX)
		return 2;
	load->rate = argument(argc, argv, 3, 10000000);
	for (int p = 0; p < PARTS; p++)
		taken[p] = calloc(n, sizeof(uint32_t));
	load_net_create((int)argument(argc, argv, 4, 5000));
	load_net_plug(LOAD_A, true);
	rank = start(run_rank, LOAD_A);
	peer = start(run_peer, LOAD_PEER);
	while (!load->connected)
		poll(NULL, 0, 1);
	for (unsigned i = 0; i < n; i++) {
		poll(NULL, 0, SETTLE_MS);
		load->reset++;
		poll(NULL, 0, 3);
		if (i % 10 == 9) {
			give_up(i, here);
		} else {
			move(i, here, LOAD_A + LOAD_B - here);
			here = LOAD_A + LOAD_B - here;
		}
		poll(NULL, 0, SETTLE_MS);
		taken[STALL][i] = worst_stall();
	}
	failed = verdict();
	report(n, failed);
	kill(rank, SIGKILL);
	kill(peer, SIGKILL);
	return failed;
}
