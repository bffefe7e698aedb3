/*
 * pmi.c - the rank's PMI socket, and its fences as events
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "cluster/keeper/priv.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/xalloc.h"

enum {
	PIECE = 100,	     /* puts in a message: some 110 KiB at most */
	UNREAD_MAX = 1 << 20 /* bytes of answers: then the rank is to read */
};

static void send_output(struct keeper_rank *rank)
{
	const void *p;
	size_t n;
	ssize_t w;

	p = pmi_server_output(rank->pmi, &n);
	if (!n || rank->quiet || rank->end[EXT_PMI].far < 0)
		return;
	w = send(rank->end[EXT_PMI].far, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (w > 0)
		pmi_server_sent(rank->pmi, (size_t)w);
	else if (w < 0 && errno != EAGAIN)
		keeper_end_close(&rank->end[EXT_PMI]);
}

void keeper_pmi_update(struct keeper_rank *rank)
{
	struct keeper_end *e = &rank->end[EXT_PMI];
	size_t n;

	if (!rank->pmi)
		return;
	send_output(rank);
	if (!e->source)
		return;
	pmi_server_output(rank->pmi, &n);
	sd_event_source_set_io_events(
		e->source, (n < UNREAD_MAX ? EPOLLIN : 0) | (n ? EPOLLOUT : 0));
	sd_event_source_set_enabled(e->source,
				    rank->quiet ? SD_EVENT_OFF : SD_EVENT_ON);
}

/* Read up to one buffer; false when there is no more to read now. */
static bool read_some(struct keeper_rank *rank)
{
	struct keeper_end *e = &rank->end[EXT_PMI];
	char buf[4096];
	ssize_t n = recv(e->far, buf, sizeof(buf), MSG_DONTWAIT);
	struct error err = ERROR_INIT;

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		keeper_end_close(e);
		return false;
	}
	if (pmi_server_feed(rank->pmi, buf, (size_t)n, &err) < 0) {
		log_warnx("rank=%u %s", rank->id.rank, err.text);
		keeper_end_close(e);
		return false;
	}
	return true;
}

void keeper_pmi_drain(struct keeper_rank *rank)
{
	while (rank->pmi && rank->end[EXT_PMI].far >= 0 && read_some(rank))
		;
}

static int on_pmi(sd_event_source *src, int fd, uint32_t events, void *ctx)
{
	struct keeper_rank *rank = ctx;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		read_some(rank);
	keeper_pmi_update(rank);
	return 0;
}

/* ---- the exchange: what comes out of the server */

static void tell_piece(struct keeper_rank *rank, uint64_t generation,
		       const struct pmi_put *puts, size_t n, bool more)
{
	Keeper__PmiFence fence = KEEPER__PMI_FENCE__INIT;
	Keeper__PmiPut put[PIECE], *ptr[PIECE];

	for (size_t i = 0; i < n; i++) {
		keeper__pmi_put__init(&put[i]);
		put[i].key = (char *)puts[i].key;
		put[i].value = (char *)puts[i].value;
		ptr[i] = &put[i];
	}
	fence.generation = generation;
	fence.n_puts = n;
	fence.puts = ptr;
	fence.more = more;
	keeper_tell(rank->k, 0, KEEPER__EVENT__BODY_PMI_FENCE, &fence, false);
}

static void on_fence(void *ctx, uint64_t generation, const struct pmi_put *puts,
		     size_t n)
{
	size_t part;

	do {
		part = n < PIECE ? n : PIECE;
		tell_piece(ctx, generation, puts, part, n > part);
		puts += part;
		n -= part;
	} while (n);
}

static void on_abort(void *ctx, int code, const char *text)
{
	struct keeper_rank *rank = ctx;
	Keeper__PmiAbort abort_ = KEEPER__PMI_ABORT__INIT;

	abort_.code = code;
	abort_.text = (char *)text;
	abort_.at_usec = (uint64_t)clock_usec(CLOCK_REALTIME);
	keeper_tell(rank->k, 0, KEEPER__EVENT__BODY_PMI_ABORT, &abort_, true);
	if (rank->capsule && !rank->quiet)
		(void)!capsule_kill(rank->capsule, 0, SIGKILL, NULL);
}

const struct pmi_exchange keeper_pmi_exchange = { on_fence, on_abort };

void keeper_on_pmi_release(struct keeper *k, const Keeper__Request *req)
{
	struct keeper_rank *rank = &k->rank;
	const Keeper__PmiRelease *rel = req->pmi_release;
	struct pmi_put *puts = xcalloc(rel->n_puts + 1, sizeof(*puts));
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < rel->n_puts; i++) {
		puts[i].key = rel->puts[i]->key;
		puts[i].value = rel->puts[i]->value;
	}
	/* While quiet the server's state is already on its way elsewhere. */
	if (rank->pmi && !rank->quiet &&
	    pmi_server_release(rank->pmi, rel->generation, puts, rel->n_puts,
			       rel->more, &err) < 0)
		on_abort(rank, 1, err.text); /* it would wait for ever */
	free(puts);
	keeper_pmi_update(rank);
}

int keeper_pmi_begin(struct keeper_rank *rank, struct error *err)
{
	struct keeper_end *e = &rank->end[EXT_PMI];
	int r;

	if (e->far < 0)
		return 0;
	r = sd_event_add_io(rank->k->event, &e->source, e->far, EPOLLIN, on_pmi,
			    rank);
	if (r < 0)
		return error_sys(err, r, "sd-event");
	keeper_pmi_update(rank);
	return 0;
}
