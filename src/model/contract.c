/* contract.c - recruiting, disturbances and giving back, see contract.h */
#include "model/contract.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define HALF_A_DAY (USEC_PER_DAY / 2)
#define AGES_AGO   (-USEC_MAX / 4)

static const char *const names[] = { "open",	  "owner", "hours",
				     "disturbed", "slow",  "lost",
				     "quiet",	  "load",  "full" };
static const char *const texts[] = {
	"open to guests",
	"its owner is there",
	"its owner's terms let no guests in at this hour",
	"its owner was disturbed as often as the terms allow in a day",
	"it was given back too slowly today",
	"what it owes its owner today could not be read",
	"its owner has not been away for long enough",
	"its owner's programs compute",
	"as many guests as its owner allows are there",
};

/* When the day that begins now ends. */
static usec_t end_of_day(const struct moment *now, usec_t least)
{
	usec_t left = now->midnight - now->wall;

	if (left <= 0 || left > USEC_PER_DAY + USEC_PER_DAY / 12)
		left = USEC_PER_DAY; /* no midnight of this world */
	return now->steady + (left < least ? left + USEC_PER_DAY : left);
}

void contract_begin(struct contract *c, const struct moment *now)
{
	*c = (struct contract){ .fed = now->steady,
				.ends = end_of_day(now, 0),
				.scene.touched = AGES_AGO,
				.calm_since = AGES_AGO,
				.giving = -1,
				.leaving = -1 };
}

void contract_lose(struct contract *c, const struct moment *now)
{
	contract_begin(c, now);
	c->closed = CLOSED_LOST;
}

/* The clock is where it was when this was written: that long it has been. */
static void settle(struct contract *c, const struct moment *now)
{
	usec_t ends;

	if (!c->unsettled || now->wall < c->written)
		return;
	c->unsettled = false;
	ends = now->steady + c->left - (now->wall - c->written);
	if (ends < c->ends)
		c->ends = ends;
}

static void turn_day(struct contract *c, const struct moment *now)
{
	usec_t gone = now->steady - c->ends;

	if (gone < 0)
		return;
	/* The day that ended began its successor then, and not only now. */
	c->ends = end_of_day(now, gone < HALF_A_DAY ? HALF_A_DAY - gone : 0);
	c->disturbed = c->returns = 0;
	c->closed = CLOSED_NOT;
	c->unsettled = false;
}

static struct owner_return *note_return(struct contract *c)
{
	if (c->nr_last == CONTRACT_RETURNS)
		memmove(c->last, c->last + 1,
			--c->nr_last * sizeof(c->last[0]));
	return &c->last[c->nr_last++];
}

/*
 * Whom the owner waits for.  Not for who stands still, as guests do that find no
 * place elsewhere: it takes nothing but memory, which it took before, too.
 */
static uint32_t in_the_way(const struct contract *c,
			   const struct owner_terms *t)
{
	return t->on_return == RETURN_SHARE ? 0 : c->scene.running;
}

static void owner_returns(struct contract *c, const struct owner_terms *t,
			  const struct moment *now)
{
	c->returns++;
	*note_return(c) = (struct owner_return){ .wall = now->wall,
						 .took = -1,
						 .guests = c->scene.guests,
						 .disturbed = c->used };
	if (c->used)
		c->disturbed++;
	c->used = false;
	c->giving = c->returned = now->steady;
}

static void give_back(struct contract *c, const struct owner_terms *t,
		      const struct moment *now)
{
	usec_t took = now->steady - c->giving;

	if (took > t->give_back)
		c->closed = CLOSED_SLOW;
	if (in_the_way(c, t))
		return;
	if (c->nr_last)
		c->last[c->nr_last - 1].took = took;
	c->giving = -1;
}

/*
 * A guest runs again, as one that stood still does when it moves, or one has come
 * at the last moment: that time is added, the one in between is not.
 */
static void give_back_on(struct contract *c, const struct owner_terms *t,
			 const struct moment *now)
{
	usec_t took = c->nr_last ? c->last[c->nr_last - 1].took : 0;

	if (!in_the_way(c, t))
		return;
	c->giving = now->steady - (took > 0 ? took : 0);
	if (c->nr_last)
		c->last[c->nr_last - 1].took = -1;
}

static void feel_load(struct contract *c, const struct owner_terms *t,
		      const struct moment *now)
{
	if (!(c->scene.load <= t->load))
		c->calm_since = USEC_MAX;
	else if (c->calm_since == USEC_MAX)
		c->calm_since = now->steady;
}

static usec_t clamp(usec_t v, usec_t least, usec_t most)
{
	return v < least ? least : v > most ? most : v;
}

/* Has a guest come, run or gone while the owner was away?  Who goes runs for it. */
static bool took_something(const struct scene *before, const struct scene *now)
{
	if (before->here && now->here)
		return false;
	return now->running || now->guests > before->guests ||
	       (!before->here && now->guests < before->guests);
}

/*
 * A guest that stands still takes nothing anew.  Nor does one that leaves when no
 * disturbance is left: the return that used up the last one found it.  That may
 * take as long as giving back does, for each: where several leave one after the other, as
 * places come free, the next one's time begins when one has gone.
 */
static void note_use(struct contract *c, const struct owner_terms *t,
		     const struct moment *now, const struct scene *scene)
{
	bool took = took_something(&c->scene, scene);
	bool leaves = !contract_left(c, t) && scene->guests <= c->scene.guests;

	if (took && leaves && c->leaving < 0)
		c->leaving = now->steady;
	c->used |= took && !leaves;
	c->used |= c->leaving >= 0 && now->steady - c->leaving > t->give_back;
	if (c->leaving >= 0 && scene->guests < c->scene.guests)
		c->leaving = now->steady;
	if (scene->here || !scene->running)
		c->leaving = -1;
}

void contract_feed(struct contract *c, const struct owner_terms *terms,
		   const struct moment *moment, const struct scene *scene)
{
	struct moment m = *moment, *now = &m;
	bool was_here = c->scene.here;

	if (m.steady < c->fed)
		m.steady = c->fed;
	c->fed = m.steady;
	settle(c, now);
	turn_day(c, now);
	note_use(c, terms, now, scene);
	c->scene = *scene;
	c->scene.touched = clamp(scene->touched, AGES_AGO, m.steady);
	feel_load(c, terms, now);
	if (!was_here && scene->here)
		owner_returns(c, terms, now);
	else if (scene->here && c->giving < 0)
		give_back_on(c, terms, now);
	if (c->giving >= 0)
		give_back(c, terms, now);
	if (!scene->here)
		c->giving = -1;
}

enum closed contract_closed(const struct contract *c,
			    const struct owner_terms *t,
			    const struct moment *now)
{
	if (c->scene.here)
		return CLOSED_OWNER;
	if (!owner_terms_hour(t, now))
		return CLOSED_HOURS;
	if (c->disturbed >= t->disturb)
		return CLOSED_DISTURBED;
	if (c->closed)
		return c->closed;
	if (now->steady - c->scene.touched < t->quiet)
		return CLOSED_QUIET;
	if (t->load < LOAD_ANY && (c->calm_since == USEC_MAX ||
				   now->steady - c->calm_since < t->load_quiet))
		return CLOSED_LOAD;
	return CLOSED_NOT;
}

struct lending contract_lending(const struct contract *c,
				const struct owner_terms *t,
				const struct moment *now, bool evict)
{
	struct lending l = { .closed = contract_closed(c, t, now),
			     .freeze_most = t->freeze_most };
	bool his = l.closed == CLOSED_OWNER && !evict;

	l.leave = closed_for_guests(l.closed) &&
		  !(his && t->on_return == RETURN_SHARE && contract_left(c, t));
	if (l.closed == CLOSED_OWNER)
		l.leave_by = c->returned + t->give_back;
	if (his && t->on_return == RETURN_FREEZE &&
	    now->steady < c->returned + t->freeze_most)
		l.freeze_until = c->returned + t->freeze_most;
	return l;
}

uint32_t contract_left(const struct contract *c, const struct owner_terms *t)
{
	return c->closed || c->disturbed >= t->disturb
		       ? 0
		       : t->disturb - c->disturbed;
}

static usec_t sooner(usec_t a, usec_t b, usec_t now)
{
	return b > now && b < a ? b : a;
}

usec_t contract_next(const struct contract *c, const struct owner_terms *t,
		     const struct moment *now)
{
	usec_t at = sooner(c->ends, owner_terms_next_hour(t, now), now->steady);

	at = sooner(at, c->scene.touched + t->quiet, now->steady);
	if (c->calm_since != USEC_MAX)
		at = sooner(at, c->calm_since + t->load_quiet, now->steady);
	if (c->giving >= 0)
		at = sooner(at, c->giving + t->give_back + 1, now->steady);
	if (c->scene.here && t->on_return == RETURN_FREEZE)
		at = sooner(at, c->returned + t->freeze_most, now->steady);
	return at;
}

const char *closed_name(enum closed why)
{
	return why < sizeof(names) / sizeof(*names) ? names[why] : NULL;
}

const char *closed_text(enum closed why)
{
	return texts[why];
}

/* ---- on paper ---- */

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
		fprintf(to, "leaving %" PRId64 "\n", now->steady - c->leaving);
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
		if (strcmp(why, names[i]) ||
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
		if (number <= 6 && LINE(line, "leaving %" SCNd64, &c->leaving))
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
	c->returned = 0;
	if (!c->unsettled) {
		c->written = p->wall;
		c->left = left;
	}
	c->unsettled = true;
	c->ends = now->steady + left;
	settle(c, now);
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
