/* contract_paper.c - a contract as text, and back, see contract.h */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "model/contract.h"
#include "model/contract_priv.h"

static const char heading[] = "stint-contract 1";

void contract_write(const struct contract *c, const struct moment *now,
		    const char *boot, FILE *to)
{
	fprintf(to, "%s %s\n", heading, boot);
	fprintf(to, "at %" PRId64 " %" PRId64 "\n", now->steady, now->wall);
	fprintf(to, "day %" PRId64 " %" PRIu32 " %" PRIu32 " %s\n",
		c->ends - now->steady, c->disturbed, c->returns,
		closed_name(c->closed));
	fprintf(to,
		"now %d %d %" PRIu32 " %" PRIu32 " %" PRId64 " %" PRId64 "\n",
		c->scene.here, c->used, c->scene.guests, c->scene.running,
		c->giving < 0 ? -1 : now->steady - c->giving,
		now->steady - c->returned);
	if (c->unsettled)
		fprintf(to, "unsettled %" PRId64 " %" PRId64 "\n", c->written,
			c->left);
	if (c->leaving >= 0)
		fprintf(to, "leaving %" PRId64 " %" PRIu32 "\n",
			now->steady - c->leaving, c->leavers);
	for (uint32_t i = 0; i < c->nr_last; i++)
		fprintf(to, "return %" PRId64 " %" PRId64 " %" PRIu32 " %d\n",
			c->last[i].wall, c->last[i].took, c->last[i].guests,
			c->last[i].disturbed);
	fputs("end\n", to);
}

/*
 * By the number whoever restarts sees that a guest has come or gone meanwhile, which
 * is no news once the host counts as used.
 */
static bool guests_differ(const struct contract *a, const struct contract *b)
{
	return a->scene.guests != b->scene.guests && !(a->used && b->used);
}

bool contract_differs(const struct contract *a, const struct contract *b)
{
	return a->ends != b->ends || a->disturbed != b->disturbed ||
	       a->returns != b->returns || a->closed != b->closed ||
	       a->used != b->used || a->scene.here != b->scene.here ||
	       guests_differ(a, b) || (a->giving < 0) != (b->giving < 0) ||
	       (a->leaving < 0) != (b->leaving < 0) ||
	       a->unsettled != b->unsettled;
}

/* Numbers as they stand in the text, before a clock is asked. */
struct paper {
	struct contract c; /* its times: before and after that of the writing */
	usec_t steady, wall;
	char boot[64];
};

/* What sscanf() reads of a line may be followed by nothing. */
#define LINE(text, format, ...)                                  \
	(end = -1, sscanf(text, format "%n", __VA_ARGS__, &end), \
	 end >= 0 && !(text)[end])

static bool read_day(const char *line, struct contract *c)
{
	char why[16];
	int end;

	if (!LINE(line, "day %" SCNd64 " %" SCNu32 " %" SCNu32 " %15s",
		  &c->ends, &c->disturbed, &c->returns, why) ||
	    c->ends < -USEC_PER_DAY || c->ends > 2 * USEC_PER_DAY)
		return false;
	for (enum closed i = CLOSED_NOT; i <= CLOSED_LOST; i++) {
		if (strcmp(why, closed_name(i)) ||
		    (i != CLOSED_NOT && i != CLOSED_SLOW && i != CLOSED_LOST))
			continue;
		c->closed = i;
		return true;
	}
	return false;
}

static bool read_now(const char *line, struct contract *c)
{
	int end, here, used;

	if (!LINE(line,
		  "now %d %d %" SCNu32 " %" SCNu32 " %" SCNd64 " %" SCNd64,
		  &here, &used, &c->scene.guests, &c->scene.running, &c->giving,
		  &c->returned) ||
	    c->giving < -1 || c->returned < 0)
		return false;
	c->scene.here = here;
	c->used = used;
	return true;
}

static bool read_return(const char *line, struct contract *c)
{
	struct owner_return r;
	int end, disturbed;

	if (!LINE(line, "return %" SCNd64 " %" SCNd64 " %" SCNu32 " %d",
		  &r.wall, &r.took, &r.guests, &disturbed) ||
	    c->nr_last == CONTRACT_RETURNS)
		return false;
	r.disturbed = disturbed;
	c->last[c->nr_last++] = r;
	return true;
}

/* One that was written before leavers were counted: all that run. */
static bool read_leaving(const char *line, struct contract *c)
{
	uint32_t n = c->scene.running;
	int end;

	if (!LINE(line, "leaving %" SCNd64, &c->leaving) &&
	    !LINE(line, "leaving %" SCNd64 " %" SCNu32, &c->leaving, &n))
		return false;
	c->leavers = n;
	return true;
}

static bool read_line(const char *line, unsigned number, struct paper *p)
{
	struct contract *c = &p->c;
	int end;

	switch (number) {
	case 1:
		return LINE(line, "stint-contract 1 %63s", p->boot);
	case 2:
		return LINE(line, "at %" SCNd64 " %" SCNd64, &p->steady,
			    &p->wall);
	case 3:
		return read_day(line, c);
	case 4:
		return read_now(line, c);
	default:
		if (number <= 6 && read_leaving(line, c))
			return c->leaving >= 0;
		if (number == 5 && LINE(line, "unsettled %" SCNd64 " %" SCNd64,
					&c->written, &c->left))
			return c->unsettled = true;
		return read_return(line, c);
	}
}

static bool sane(usec_t v)
{
	return v > AGES_AGO && v < -AGES_AGO;
}

/* Times so far away could overflow. */
static bool times_sane(const struct paper *p)
{
	return p->steady >= 0 && sane(p->steady) && sane(p->wall) &&
	       p->c.giving <= p->steady && p->c.returned <= p->steady &&
	       p->c.leaving <= p->steady && sane(p->c.written) &&
	       p->c.left >= -USEC_PER_DAY && p->c.left <= 2 * USEC_PER_DAY;
}

/* Up to and without the line "end", after which there is nothing. */
static int read_paper(const char *text, struct paper *ret, struct error *err)
{
	struct paper p = { .boot = "", .c.leaving = -1 };
	char line[256];
	unsigned number = 1;

	for (;; number++) {
		size_t n = strcspn(text, "\n");

		if (!text[n] || n >= sizeof(line))
			break;
		memcpy(line, text, n);
		line[n] = '\0';
		text += n + 1;
		if (number > 4 && !strcmp(line, "end") && !*text &&
		    times_sane(&p)) {
			*ret = p;
			return 0;
		}
		if (!read_line(line, number, &p))
			break;
	}
	return error_set(err, -EINVAL,
			 "line %u of the contract is not one that Stint writes",
			 number);
}

/* Written in another boot: guests and what they used are gone. */
static void reboot(struct contract *c, const struct paper *p,
		   const struct moment *now)
{
	usec_t left = c->ends;

	c->scene = (struct scene){ .here = false };
	c->used = false;
	c->giving = c->leaving = -1;
	c->leavers = 0;
	c->returned = 0;
	if (!c->unsettled) {
		c->written = p->wall;
		c->left = left;
	}
	c->unsettled = true;
	c->ends = now->steady + left;
	contract_settle(c, now);
}

int contract_read(struct contract *c, const char *text,
		  const struct moment *now, const char *boot, struct error *err)
{
	struct paper p;
	int r = read_paper(text, &p, err);

	contract_lose(c, now);
	if (r < 0)
		return r;
	*c = p.c;
	c->fed = now->steady;
	if (strcmp(p.boot, boot) || p.steady > now->steady) {
		reboot(c, &p, now);
	} else {
		c->ends += p.steady;
		c->giving = c->giving < 0 ? -1 : p.steady - c->giving;
		c->returned = p.steady - c->returned;
		c->leaving = c->leaving < 0 ? -1 : p.steady - c->leaving;
	}
	c->scene.touched = c->calm_since = AGES_AGO;
	return 0;
}
