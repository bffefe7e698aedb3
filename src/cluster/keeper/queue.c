/*
 * queue.c - numbered events, packed once, sent until acknowledged
 */
#include "cluster/keeper/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "core/xalloc.h"

struct packet {
	TAILQ_ENTRY(packet) link;
	uint64_t seq; /* 0: needs no ack */
	bool sent;
	size_t n;
	uint8_t bytes[];
};

struct keeper_queue {
	TAILQ_HEAD(, packet) list; /* kept and unsent, in order */
	uint64_t last;		   /* number given last */
	size_t bytes, nr_kept;
	bool attached;
};

struct keeper_queue *keeper_queue_create(void)
{
	struct keeper_queue *q = xcalloc(1, sizeof(*q));

	TAILQ_INIT(&q->list);
	return q;
}

static void drop(struct keeper_queue *q, struct packet *p)
{
	if (p->seq) {
		q->bytes -= p->n;
		q->nr_kept--;
	}
	TAILQ_REMOVE(&q->list, p, link);
	free(p);
}

void keeper_queue_destroy(struct keeper_queue *q)
{
	if (!q)
		return;
	while (!TAILQ_EMPTY(&q->list))
		drop(q, TAILQ_FIRST(&q->list));
	free(q);
}

void keeper_queue_add(struct keeper_queue *q, Keeper__Event *ev, bool keep)
{
	struct packet *p;
	size_t n;

	if (!keep && !q->attached)
		return;
	ev->seq = keep ? ++q->last : 0;
	n = keeper__event__get_packed_size(ev);
	p = xcalloc(1, sizeof(*p) + n);
	p->seq = ev->seq;
	p->n = keeper__event__pack(ev, p->bytes);
	if (keep) {
		q->bytes += n;
		q->nr_kept++;
	}
	TAILQ_INSERT_TAIL(&q->list, p, link);
}

int keeper_queue_send(struct keeper_queue *q, int fd)
{
	struct packet *p, *next;
	ssize_t n;

	for (p = TAILQ_FIRST(&q->list); p; p = next) {
		next = TAILQ_NEXT(p, link);
		if (p->sent)
			continue;
		n = send(fd, p->bytes, p->n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN ? 1 : -errno;
		p->sent = true;
		if (!p->seq)
			drop(q, p);
	}
	return 0;
}

void keeper_queue_ack(struct keeper_queue *q, uint64_t seq)
{
	struct packet *p, *next;

	for (p = TAILQ_FIRST(&q->list); p; p = next) {
		next = TAILQ_NEXT(p, link);
		if (p->seq && p->seq <= seq)
			drop(q, p);
	}
}

void keeper_queue_detach(struct keeper_queue *q)
{
	struct packet *p, *next;

	q->attached = false;
	for (p = TAILQ_FIRST(&q->list); p; p = next) {
		next = TAILQ_NEXT(p, link);
		if (!p->seq)
			drop(q, p);
	}
}

void keeper_queue_restart(struct keeper_queue *q, uint64_t seq)
{
	struct packet *p;

	keeper_queue_detach(q);
	keeper_queue_ack(q, seq);
	TAILQ_FOREACH (p, &q->list, link)
		p->sent = false;
	q->attached = true;
}

size_t keeper_queue_bytes(const struct keeper_queue *q)
{
	return q->bytes;
}

size_t keeper_queue_kept(const struct keeper_queue *q)
{
	return q->nr_kept;
}
