/*
 * store.c - networks that wait for their next capsule, see spare.c
 *
 * They are held by the process that keepers are forked from, and by nobody else:
 * when it ends, so do they.  A keeper asks for one that fits, or gives one, by a socket
 * that all have from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "core/io.h"
#include "core/packet.h"
#include "core/xalloc.h"

enum { STORE_MOST = 16, PATIENCE = 1000 /* ms */ };

/*
 * ASK comes with a socket, on which a GIVE answers, or nothing; GIVE with a network.
 */
struct word {
	enum { WORD_ASK, WORD_GIVE } what;
	struct spare spare;
};

static int door = -1;	 /* the store's end */
static int keepers = -1; /* theirs; does not block */
static struct capsule_spare *kept[STORE_MOST];
static unsigned nr_kept;

/* ---- for keepers */

bool store_is_there(void)
{
	return keepers >= 0;
}

static int say(int sock, const struct word *word, int fd)
{
	size_t n = offsetof(struct word, spare.text) + word->spare.n;

	return packet_send(sock, word, n, &fd, 1);
}

/* One word, and the descriptor with it. */
static int hear(int sock, struct word *ret, int *ret_fd)
{
	unsigned nr = 1;
	ssize_t n = packet_receive_some(sock, ret, sizeof(*ret), ret_fd, &nr,
					MSG_DONTWAIT);

	if (n < 0)
		return (int)n;
	if (nr && (size_t)n >= offsetof(struct word, spare.text) &&
	    ret->spare.n == (size_t)n - offsetof(struct word, spare.text))
		return 0;
	if (nr)
		close(*ret_fd);
	return -EBADMSG;
}

bool store_ask(struct capsule_spare *spare)
{
	struct word word = { .what = WORD_ASK, .spare = spare->is };
	int pair[2], r;

	word.spare.n = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	r = say(keepers, &word, pair[1]);
	close(pair[1]);
	if (!r)
		r = request_await(pair[0], PATIENCE, NULL);
	if (!r)
		r = hear(pair[0], &word, &spare->netns);
	close(pair[0]);
	if (r < 0)
		return false;
	spare->is = word.spare;
	return true;
}

void store_give(const struct capsule_spare *spare)
{
	struct word word = { .what = WORD_GIVE, .spare = spare->is };

	/* One that cannot be given ends with its keeper. */
	(void)!say(keepers, &word, spare->netns);
}

void store_let_go(struct capsule_spare *spare)
{
	io_close(&spare->netns);
	for (int i = 0; spare->files.open && i < SPARE_FILES; i++)
		io_close(&spare->files.fd[i]);
	spare->files.open = false;
}

/* ---- the store */

static void drop(unsigned i)
{
	close(kept[i]->netns);
	free(kept[i]);
	nr_kept--;
	memmove(kept + i, kept + i + 1, (nr_kept - i) * sizeof(*kept));
}

static void keep(const struct spare *is, int netns)
{
	struct capsule_spare *spare = xmalloc(sizeof(*spare));

	*spare = (struct capsule_spare){ .netns = netns, .is = *is };
	if (nr_kept == STORE_MOST)
		drop(0); /* which has waited longest */
	kept[nr_kept++] = spare;
}

static bool fits(const struct spare *is, const struct spare *want)
{
	return is->uid == want->uid && is->bound == want->bound &&
	       is->mtu == want->mtu;
}

/* The latest one, so that those that are too many are the oldest. */
static void answer(const struct spare *want, int sock)
{
	struct word word = { .what = WORD_GIVE };
	unsigned i = nr_kept;

	while (i && !fits(&kept[i - 1]->is, want))
		i--;
	if (i) {
		word.spare = kept[i - 1]->is;
		if (!say(sock, &word, kept[i - 1]->netns))
			drop(i - 1);
	}
	close(sock);
}

int capsule_store_open(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	if (fcntl(pair[1], F_SETFL, O_NONBLOCK) < 0) {
		close(pair[0]);
		close(pair[1]);
		return -errno;
	}
	door = pair[0];
	keepers = pair[1];
	return door;
}

void capsule_store_serve(void)
{
	struct word word;
	int fd;

	if (hear(door, &word, &fd) < 0)
		return;
	if (word.what == WORD_GIVE)
		keep(&word.spare, fd);
	else
		answer(&word.spare, fd);
}

void capsule_store_leave(void)
{
	while (nr_kept)
		drop(nr_kept - 1);
	io_close(&door);
}
