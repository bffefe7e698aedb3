/*
 * chkmpi.c - an MPI program that checks every byte it exchanges
 *
 *	chkmpi [--seconds S | --rounds N] [--max BYTES] [--seed X] [--quiet]
 *	       [--sabotage ROUND] [--log FILE]
 *
 * Each round goes through a ring (blocking and not), an all-to-all with
 * sizes of its own for each pair, a broadcast, an allreduce, a barrier and
 * some messages out of order, with contents and sizes that both sides compute
 * from the seed.  Prints "round N" now and then, at the end "PASS"; exit
 * status 0 only if every byte was right.  SIGUSR1 ends it before its time.
 * Rank 0 appends the number of each round it has made to FILE: a second copy
 * of it would show there.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "common.h"

struct options {
	double seconds;
	long rounds, sabotage;
	size_t max;
	uint64_t seed;
	bool quiet;
	const char *log;
};

static struct {
	struct options o;
	int rank, size;
	unsigned char *out, *in;
	uint64_t bytes;
} c;

static uint64_t seed_of(long round, int kind, int from, int to)
{
	return mix(c.o.seed ^ mix((uint64_t)round * 64 + (uint64_t)kind) ^
		   mix((uint64_t)from * 65536 + (uint64_t)to + 1));
}

/* Sizes are spread evenly over all magnitudes from one byte to the largest. */
static size_t size_of(uint64_t seed)
{
	unsigned bits = 0;
	size_t n;

	while (c.o.max >> (bits + 1))
		bits++;
	n = (size_t)1 << (mix(seed) % (bits + 1));
	n += mix(seed + 1) % n;
	return n > c.o.max ? c.o.max : n;
}

static void expect(const char *what, const unsigned char *p, size_t n,
		   uint64_t seed, long round)
{
	long at = wrong_byte(p, n, seed);

	if (at >= 0)
		fail("%s, round %ld: byte %ld of %zu is wrong", what, round, at,
		     n);
	c.bytes += n;
}

static void ring(long round, bool blocking)
{
	int next = (c.rank + 1) % c.size, prev = (c.rank + c.size - 1) % c.size;
	uint64_t to = seed_of(round, blocking, c.rank, next);
	uint64_t from = seed_of(round, blocking, prev, c.rank);
	size_t nto = size_of(to), nfrom = size_of(from);
	MPI_Status status[2];
	MPI_Request request[2];
	int got;

	make_bytes(c.out, nto, to);
	if (blocking) {
		MPI_Sendrecv(c.out, (int)nto, MPI_BYTE, next, 1, c.in,
			     (int)c.o.max, MPI_BYTE, prev, 1, MPI_COMM_WORLD,
			     &status[0]);
	} else {
		MPI_Irecv(c.in, (int)c.o.max, MPI_BYTE, prev, 2, MPI_COMM_WORLD,
			  &request[0]);
		MPI_Isend(c.out, (int)nto, MPI_BYTE, next, 2, MPI_COMM_WORLD,
			  &request[1]);
		MPI_Waitall(2, request, status);
	}
	MPI_Get_count(&status[0], MPI_BYTE, &got);
	if ((size_t)got != nfrom)
		fail("ring, round %ld: %d bytes, not %zu", round, got, nfrom);
	if (round == c.o.sabotage && c.rank == c.size - 1)
		c.in[nfrom / 2] ^= 1;
	expect(blocking ? "ring" : "ring, non-blocking", c.in, nfrom, from,
	       round);
}

/* Rank 0 answers; even ranks send first, odd ones receive first. */
static void plain_send(long round)
{
	uint64_t seed;
	size_t n;

	for (int from = 1; from < c.size; from++) {
		seed = seed_of(round, 3, from, 0);
		n = size_of(seed);
		if (c.rank == from) {
			make_bytes(c.out, n, seed);
			MPI_Send(c.out, (int)n, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
		} else if (c.rank == 0) {
			MPI_Recv(c.in, (int)n, MPI_BYTE, from, 3,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			expect("send", c.in, n, seed, round);
		}
	}
}

static void broadcast(long round)
{
	int root = (int)(round % c.size);
	uint64_t seed = seed_of(round, 4, root, 0);
	size_t n = size_of(seed);

	memset(c.in, 0, n);
	if (c.rank == root)
		make_bytes(c.in, n, seed);
	MPI_Bcast(c.in, (int)n, MPI_BYTE, root, MPI_COMM_WORLD);
	expect("broadcast", c.in, n, seed, round);
}

static void allreduce(long round)
{
	enum { WORDS = 512 };
	static uint64_t mine[WORDS], sum[WORDS];

	for (unsigned i = 0; i < WORDS; i++)
		mine[i] = seed_of(round, 5, c.rank, (int)i);
	MPI_Allreduce(mine, sum, WORDS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t want = 0;

		for (int r = 0; r < c.size; r++)
			want += seed_of(round, 5, r, (int)i);
		if (sum[i] != want)
			fail("allreduce, round %ld: word %u is wrong", round,
			     i);
	}
	c.bytes += sizeof(sum);
}

/* Each pair of ranks has a size of its own, none above max / size. */
static void alltoall(long round)
{
	int counts[4][256]; /* sent, at, received, at */
	int at[2] = { 0, 0 };

	for (int r = 0; r < c.size; r++) {
		uint64_t to = seed_of(round, 6, c.rank, r);
		uint64_t from = seed_of(round, 6, r, c.rank);

		counts[0][r] = (int)(size_of(to) / (size_t)c.size);
		counts[1][r] = at[0];
		make_bytes(c.out + at[0], (size_t)counts[0][r], to);
		at[0] += counts[0][r];
		counts[2][r] = (int)(size_of(from) / (size_t)c.size);
		counts[3][r] = at[1];
		at[1] += counts[2][r];
	}
	MPI_Alltoallv(c.out, counts[0], counts[1], MPI_BYTE, c.in, counts[2],
		      counts[3], MPI_BYTE, MPI_COMM_WORLD);
	for (int r = 0; r < c.size; r++)
		expect("all-to-all", c.in + counts[3][r], (size_t)counts[2][r],
		       seed_of(round, 6, r, c.rank), round);
}

/* Eight messages are sent in one order and received in the opposite one. */
static void out_of_order(long round)
{
	enum { NR = 8 };
	int peer = c.rank ^ 1;
	size_t slot = c.o.max / NR;
	MPI_Request request[2 * NR];
	MPI_Status status[2 * NR];
	size_t n[2 * NR];

	if (peer >= c.size)
		return;
	for (int i = 0; i < NR; i++) {
		n[i] = size_of(seed_of(round, 10 + i, peer, c.rank)) / NR;
		MPI_Irecv(c.in + slot * (size_t)i, (int)n[i], MPI_BYTE, peer,
			  10 + i, MPI_COMM_WORLD, &request[i]);
	}
	for (int i = NR - 1; i >= 0; i--) {
		uint64_t seed = seed_of(round, 10 + i, c.rank, peer);

		n[NR + i] = size_of(seed) / NR;
		make_bytes(c.out + slot * (size_t)i, n[NR + i], seed);
		MPI_Isend(c.out + slot * (size_t)i, (int)n[NR + i], MPI_BYTE,
			  peer, 10 + i, MPI_COMM_WORLD, &request[NR + i]);
	}
	MPI_Waitall(2 * NR, request, status);
	for (int i = 0; i < NR; i++)
		expect("out of order", c.in + slot * (size_t)i, n[i],
		       seed_of(round, 10 + i, peer, c.rank), round);
}

static void do_round(long round)
{
	ring(round, true);
	ring(round, false);
	plain_send(round);
	broadcast(round);
	allreduce(round);
	alltoall(round);
	out_of_order(round);
	MPI_Barrier(MPI_COMM_WORLD);
}

static volatile sig_atomic_t enough;

static void on_usr1(int sig)
{
	enough = 1;
}

/* The clock and the signals of rank 0 decide for all. */
static bool go_on(long round, double end)
{
	int on = c.o.rounds ? round < c.o.rounds : MPI_Wtime() < end;

	on = on && !enough;
	MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return on;
}

static void note_round(int fd, long round)
{
	char line[24];
	int n = snprintf(line, sizeof(line), "%ld\n", round);

	if (fd >= 0 && write(fd, line, (size_t)n) != n)
		fail("cannot note round %ld", round);
}

static bool parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "max", required_argument, NULL, 'm' },
		{ "seed", required_argument, NULL, 'e' },
		{ "sabotage", required_argument, NULL, 'x' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "log", required_argument, NULL, 'l' },
		{ 0 },
	};
	int opt;

	c.o = (struct options){
		.seconds = 10, .max = 1200000, .seed = 1, .sabotage = -1
	};
	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (opt == 's')
			c.o.seconds = strtod(optarg, NULL);
		else if (opt == 'r')
			c.o.rounds = strtol(optarg, NULL, 10);
		else if (opt == 'm')
			c.o.max = strtoul(optarg, NULL, 10);
		else if (opt == 'e')
			c.o.seed = strtoull(optarg, NULL, 0);
		else if (opt == 'x')
			c.o.sabotage = strtol(optarg, NULL, 10);
		else if (opt == 'q')
			c.o.quiet = true;
		else if (opt == 'l')
			c.o.log = optarg;
		else
			return false;
	}
	return optind == argc && c.o.max >= 64 && c.size <= 256;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_usr1, .sa_flags = SA_RESTART };
	double end, said = 0;
	long round = 0;
	int log = -1;

	sigaction(SIGUSR1, &sa, NULL);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c.size);
	if (!parse(argc, argv))
		fail("usage: chkmpi [--seconds S | --rounds N] [--max BYTES] "
		     "[--seed X] [--sabotage ROUND] [--quiet] [--log FILE]");
	c.out = malloc(c.o.max + 8);
	c.in = malloc(c.o.max + 8);
	if (!c.out || !c.in)
		fail("out of memory");
	if (c.o.log && !c.rank) {
		log = open(c.o.log, O_WRONLY | O_CREAT | O_APPEND, 0600);
		if (log < 0)
			fail("cannot open %s", c.o.log);
	}
	end = MPI_Wtime() + c.o.seconds;
	for (; go_on(round, end); round++) {
		do_round(round);
		note_round(log, round);
		if (c.rank || c.o.quiet || MPI_Wtime() < said + 1)
			continue;
		said = MPI_Wtime();
		printf("round %ld\n", round);
		fflush(stdout);
	}
	MPI_Allreduce(MPI_IN_PLACE, &c.bytes, 1, MPI_UINT64_T, MPI_SUM,
		      MPI_COMM_WORLD);
	if (c.rank == 0)
		printf("PASS %ld rounds, %llu bytes\n", round,
		       (unsigned long long)c.bytes);
	MPI_Finalize();
	return 0;
}
