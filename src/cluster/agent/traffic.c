/* traffic.c - what a guest has sent, see traffic.h */
#include "cluster/agent/traffic.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bisect.h"
#include "core/io.h"
#include "core/xalloc.h"

/* The namespace of a capsule's network; -1: it has none of its own. */
static int open_network(const struct capsule_record *rec)
{
	struct stat st;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", rec->init.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Not another's, who has its pid by now. */
	if (fd >= 0 && (!process_alive(&rec->init) || fstat(fd, &st) < 0 ||
			st.st_ino == rec->netns))
		io_close(&fd);
	return fd;
}

static int compare_peers(const void *x, const void *y)
{
	in_addr_t a = ((const struct sent *)x)->peer.s_addr;
	in_addr_t b = ((const struct sent *)y)->peer.s_addr;

	return (a > b) - (a < b);
}

static struct sent *sent_to(struct traffic *t, struct in_addr peer)
{
	const struct sent fresh = { .peer = peer };
	size_t at;

	bisect(at, t->nr_sent, compare_peers(&t->sent[at], &fresh) < 0);
	if (at < t->nr_sent && !compare_peers(&t->sent[at], &fresh))
		return &t->sent[at];
	array_room(t->sent, t->nr_sent, &t->cap_sent);
	memmove(t->sent + at + 1, t->sent + at,
		(t->nr_sent++ - at) * sizeof(*t->sent));
	t->sent[at] = fresh;
	return &t->sent[at];
}

static int compare_talks(const void *x, const void *y)
{
	const struct net_talk *a = x, *b = y;

	return (a->cookie > b->cookie) - (a->cookie < b->cookie);
}

static void count_talk(struct traffic *t, const struct net_talk *now,
		       const struct net_talk *before)
{
	struct sent *s;

	if (now->bytes == before->bytes && now->segments == before->segments)
		return;
	s = sent_to(t, now->peer);
	s->bytes += now->bytes - before->bytes;
	t->total += now->bytes - before->bytes;
	s->segments += now->segments - before->segments;
}

void traffic_feed(struct traffic *t, struct net_talk *talks, size_t nr,
		  bool anew)
{
	static const struct net_talk none;

	for (size_t i = 0; i < nr; i++) {
		const struct net_talk *before =
			t->nr_known ? bsearch(&talks[i], t->known, t->nr_known,
					      sizeof(*talks), compare_talks)
				    : NULL;

		if (before || anew)
			count_talk(t, &talks[i], before ? before : &none);
	}
	if (nr)
		qsort(talks, nr, sizeof(*talks), compare_talks);
	free(t->known);
	t->known = talks;
	t->nr_known = nr;
}

struct found {
	struct net_talk *talk;
	size_t nr, cap;
};

static void find_talk(const struct net_talk *talk, void *arg)
{
	struct found *f = arg;

	array_room(f->talk, f->nr, &f->cap);
	f->talk[f->nr++] = *talk;
}

void traffic_look(struct traffic *t, const struct capsule_record *rec,
		  bool anew)
{
	struct found f = { .nr = 0 };
	fd_auto netns = open_network(rec);
	struct error err;

	/* What could not be seen now is counted at the next look. */
	if (netns >= 0 && !net_talks_each(netns, find_talk, &f, &err))
		traffic_feed(t, f.talk, f.nr, anew);
	else
		free(f.talk);
}

static int compare_sent(const void *x, const void *y)
{
	const struct sent *a = x, *b = y;

	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

size_t traffic_take(struct traffic *t, struct sent *ret, size_t most)
{
	size_t n = t->nr_sent < most ? t->nr_sent : most;

	if (!n)
		return 0;
	qsort(t->sent, t->nr_sent, sizeof(*t->sent), compare_sent);
	memcpy(ret, t->sent, n * sizeof(*ret));
	t->nr_sent -= n;
	memmove(t->sent, t->sent + n, t->nr_sent * sizeof(*t->sent));
	qsort(t->sent, t->nr_sent, sizeof(*t->sent), compare_peers);
	return n;
}

void traffic_clear(struct traffic *t)
{
	free(t->known);
	free(t->sent);
	*t = (struct traffic){ .nr_known = 0 };
}
