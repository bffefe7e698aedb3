/* halt.c - let the process stand still for the rest of the rounds; see halt.h */
#include "move/send/halt.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "core/claim.h"
#include "move/send/throttle.h"

#define BASE_USEC 1500 /* downtime that does not depend on size */
/* So many pages that the peer has tell the rate of the link, */
#define ENOUGH	  1024
/* or, of a slow one, this part of the time until the deadline. */
#define PART	  8
/* Beside an owner a process stands still for a copy of that length. */
#define AT_ONCE	  (300 * USEC_PER_MSEC)

double halt_allowed(const struct sending *s, double bytes_per_us)
{
	double most = (double)channel_rate(s->ch) / USEC_PER_SEC;

	return most > 0 && most < bytes_per_us ? most : bytes_per_us;
}

static void halt(struct sending *s, const char *why)
{
	send_progress(s->src, "%s: it stands still for the rest of the move",
		      why);
	s->halted = send_now();
	send_limit_halted(s);
	s->throttle = throttle_create(s->process.tracee, 0);
}

void halt_if_late(struct sending *s, usec_t rest)
{
	if (s->deadline && !s->throttle &&
	    send_now() + rest + BASE_USEC >= s->deadline)
		halt(s, "the process would not leave in time");
}

void halt_for_owner(struct sending *s, usec_t rest)
{
	if (s->deadline && !s->throttle && !s->src->budget && rest <= AT_ONCE &&
	    claim_is_marked(0))
		halt(s, "this host's owner is there");
}

void halt_round_begins(struct sending *s)
{
	s->first.began = send_now();
}

void halt_round_ends(struct sending *s)
{
	s->first.began = 0;
}

/* Pages that the peer has not got yet: buffers swallow megabytes at once. */
static uint64_t under_way(const struct sending *s)
{
	int n;

	return ioctl(channel_fd(s->ch), SIOCOUTQ, &n) < 0 || n < 0
		       ? 0
		       : (uint64_t)n / FRAME_PAGE;
}

/*
 * How long the first round, which sends all of the memory, will still take. False as long as
 * the link's rate is not known: what comes before the first page is no sign of it.
 */
static bool rest_of_first(const struct sending *s, uint64_t sent, usec_t *ret)
{
	uint64_t all = s->report->bytes_held / FRAME_PAGE;
	uint64_t had = sent - s->first.pages, rest = under_way(s);
	usec_t now = send_now(), time = now - s->first.flows;

	had -= had < rest ? had : rest;
	if (sent >= all || !had ||
	    (had < ENOUGH &&
	     now - s->first.began < (s->deadline - s->first.began) / PART))
		return false;
	*ret = (usec_t)((double)(all - sent) * FRAME_PAGE /
			halt_allowed(s, (double)had * FRAME_PAGE /
						(double)(time + 1)));
	return true;
}

void halt_tick(struct sending *s, uint64_t sent)
{
	usec_t rest = 0;

	if (!s->first.began || !s->deadline || s->throttle)
		return;
	if (s->report->rounds > 1) {
		halt_if_late(s, 0);
	} else if (!s->first.flows) {
		s->first.flows = send_now();
		s->first.pages = sent;
		halt_if_late(s, 0);
	} else if (rest_of_first(s, sent, &rest)) {
		halt_for_owner(s, rest);
		halt_if_late(s, rest);
	} else {
		halt_if_late(s, 0);
	}
}
