/*
 * queues.c - connections whose buffers hold many megabytes, in both directions
 *
 *	queues [KILOBYTES [CONNECTIONS]]
 *
 * So much (8192) is asked for as SO_SNDBUF and SO_RCVBUF of each connection (1).
 * Both ends are the process's, over its own loopback.  Everything is filled
 * until no byte goes in; between moves some is read, checked and filled again.
 */
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "check.h"

#define PIECE (64 << 10)

/* One direction; its bytes are a stream that depends on seed alone. */
struct way {
	int from, to;
	uint64_t seed, sent, received;
};

static unsigned char piece[PIECE];
static uint64_t turn, *least;

/* The bytes of the stream from that position on, up to the end of the piece. */
static size_t stream(const struct way *w, uint64_t at)
{
	check_fill(piece, PIECE, w->seed + at / PIECE);
	return PIECE - at % PIECE;
}

static void fill(struct way *w)
{
	for (int idle = 0; idle < 3;) {
		size_t n = stream(w, w->sent);
		ssize_t k =
			send(w->from, piece + w->sent % PIECE, n, MSG_DONTWAIT);

		if (k > 0) {
			w->sent += (uint64_t)k;
			idle = 0;
			continue;
		}
		CHECK(k < 0 && errno == EAGAIN);
		idle++;
		check_nap();
	}
}

static void drain(struct way *w, uint64_t upto)
{
	static unsigned char got[PIECE];

	while (w->received < upto) {
		size_t n = stream(w, w->received);

		if (n > upto - w->received)
			n = upto - w->received;
		CHECK(check_read(w->to, got, n));
		CHECK(!memcmp(got, piece + w->received % PIECE, n),
		      "behind byte %llu", (unsigned long long)w->received);
		w->received += n;
	}
}

/* More than the host allows, if we are privileged. */
static void set_buffers(int fd, int bytes)
{
	static const int opt[][2] = { { SO_SNDBUFFORCE, SO_SNDBUF },
				      { SO_RCVBUFFORCE, SO_RCVBUF } };

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++)
			if (setsockopt(fd, SOL_SOCKET, opt[i][k], &bytes,
				       sizeof(bytes)) == 0)
				break;
}

static void make_ways(struct way w[2], int bytes)
{
	struct sockaddr_in a;
	int l = check_listen(&a);

	set_buffers(l, bytes);
	w[0].from = w[1].to = socket(AF_INET, SOCK_STREAM, 0);
	set_buffers(w[0].from, bytes);
	CHECK(connect(w[0].from, (void *)&a, sizeof(a)) == 0);
	w[0].to = w[1].from = accept(l, NULL, NULL);
	CHECK(w[0].to >= 0 && close(l) == 0);
}

/* How many bytes are under way. */
static uint64_t make_all(struct way *w, int n, int bytes)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		w[i].seed = i % 2 ? (1u << 30) + i * 4096u : 1 + i * 4096u;
	for (int i = 0; i < n; i += 2)
		make_ways(&w[i], bytes);
	for (int i = 0; i < n; i++) {
		fill(&w[i]);
		CHECK(w[i].sent > (uint64_t)bytes, "%llu",
		      (unsigned long long)w[i].sent);
		least[i] = w[i].sent;
		sum += w[i].sent;
	}
	return sum;
}

/*
 * The receive buffer has room for what has come, except for a packet that older
 * kernels let in.
 */
static void check_room(const struct way *v)
{
	int bytes = 0, room = 0;
	socklen_t n = sizeof(room);

	CHECK(ioctl(v->to, FIONREAD, &bytes) == 0 &&
	      getsockopt(v->to, SOL_SOCKET, SO_RCVBUF, &room, &n) == 0);
	CHECK(bytes <= room + PIECE, "%d bytes in room for %d", bytes, room);
}

static void use(struct way *v)
{
	check_room(v);
	drain(v, v->received + (v->sent - v->received) / 8);
	fill(v);
}

int main(int argc, char **argv)
{
	int bytes = (argc > 1 ? atoi(argv[1]) : 8192) << 10;
	int n = 2 * (argc > 2 ? atoi(argv[2]) : 1);
	struct way *w = calloc((size_t)n, sizeof(*w));

	least = calloc((size_t)n, sizeof(*least));
	CHECK(w && least);
	fprintf(stderr, "%llu bytes in queues\n",
		(unsigned long long)make_all(w, n, bytes));
	check_ready();
	if (check_sabotaged())
		w[1].seed++;
	for (; check_running(); turn++) {
		check_nap();
		if (turn % 16 <= 1)
			use(&w[turn % (uint64_t)n]);
	}
	for (int i = 0; i < n; i++) {
		check_room(&w[i]);
		drain(&w[i], w[i].sent);
		CHECK(w[i].sent >= least[i]);
	}
	return check_pass();
}
