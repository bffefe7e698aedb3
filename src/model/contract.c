/* contract.c - recruiting, disturbances and giving back, see contract.h */
#include "model/contract.h"

#include <string.h>

#include "model/contract_priv.h"

#define HALF_A_DAY (USEC_PER_DAY / 2)

static const char *const names[] = { "open", "owner", "hours", "disturbed",
				     "slow", "lost",  "quiet", "load",
				     "full", "disk",  "prolog" };
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
	"its run directory is full",
	"its prolog or epilog has failed",
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

void contract_settle(struct contract *c, const struct moment *now)
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

/* Who is stopped by its move is in the owner's way, but takes nothing anew. */
static uint32_t awake(const struct scene *s)
{
	return s->running > s->held ? s->running - s->held : 0;
}

/* The rest is for those who have to be stopped. */
static usec_t time_to_leave(const struct owner_terms *t)
{
	return t->give_back - t->give_back / 4;
}

/*
 * The time to leave is the host's, for all that run when it begins.  Others stand still,
 * and are let go as places come free: when all of the first are gone, theirs begins.
 */
static void note_leavers(struct contract *c, const struct moment *now,
			 const struct scene *scene)
{
	uint32_t gone = scene->guests < c->scene.guests
				? c->scene.guests - scene->guests
				: 0;

	c->leavers -= gone < c->leavers ? gone : c->leavers;
	if (c->leavers > awake(scene))
		c->leavers = awake(scene);
	if (c->leavers)
		return;
	c->leaving = now->steady;
	c->leavers = awake(scene);
}

/*
 * A guest that stands still takes nothing anew.  Nor does one that leaves when no
 * disturbance is left: the return that used up the last one found it.  That may
 * take as long as giving back does.
 */
static void note_use(struct contract *c, const struct owner_terms *t,
		     const struct moment *now, const struct scene *scene)
{
	bool took = took_something(&c->scene, scene);
	bool leaves = !contract_left(c, t) && scene->guests <= c->scene.guests;

	c->used |= took && !leaves;
	c->used |= c->leaving >= 0 && now->steady - c->leaving > t->give_back;
	if (c->leaving >= 0) {
		note_leavers(c, now, scene);
	} else if (took && leaves) {
		c->leaving = now->steady;
		c->leavers = awake(scene);
	}
	if (scene->here || !awake(scene)) {
		c->leaving = -1;
		c->leavers = 0;
	}
}

void contract_feed(struct contract *c, const struct owner_terms *terms,
		   const struct moment *moment, const struct scene *scene)
{
	struct moment m = *moment, *now = &m;
	bool was_here = c->scene.here;

	if (m.steady < c->fed)
		m.steady = c->fed;
	c->fed = m.steady;
	contract_settle(c, now);
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

static bool same_scene(const struct scene *a, const struct scene *b)
{
	return a->here == b->here && a->touched == b->touched &&
	       a->load == b->load && a->guests == b->guests &&
	       a->running == b->running && a->held == b->held;
}

bool contract_is_still(const struct contract *c, const struct owner_terms *t,
		       const struct scene *scene)
{
	return c->leaving < 0 && !c->unsettled &&
	       same_scene(&c->scene, scene) &&
	       (scene->here || !scene->running || contract_left(c, t));
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
	else if (l.leave && c->leaving >= 0)
		l.leave_by = c->leaving + time_to_leave(t);
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
	if (c->leaving >= 0)
		at = sooner(at, c->leaving + time_to_leave(t), now->steady);
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

bool lending_differs(const struct lending *a, const struct lending *b)
{
	return a->closed != b->closed || a->leave != b->leave ||
	       a->leave_by != b->leave_by ||
	       a->freeze_until != b->freeze_until ||
	       a->freeze_most != b->freeze_most;
}
