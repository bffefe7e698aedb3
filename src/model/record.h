/*
 * record.h - what happened and what was planned, as lines of text
 *
 * A driver that writes down each event before it applies it, and each plan
 * before it carries it out, leaves a record from which the same policy code
 * makes the same plans again (sim/engine/replay.h).  It begins with the line
 * RECORD_HEADER, the version in it; "#" begins a comment line.  Times (AT) are
 * microseconds since 1970 and never decrease between two begins:
 *
 *	begin AT HOSTS SEED POLICY	a new view and a new policy; then
 *	define IX name=h1 speed=1 ...	HOSTS of these; then
 *	arrive AT job=7 size=4 min=2 submit=... estimate=... user=1000
 *	start AT job=7 on=0,1,1,2 [planned]
 *	migrate AT job=7 rank=1 to=3 cost=... [refused=1] [untried=1]
 *		[seen=STOOD:PREDICTED:WRITTEN:IN]
 *	freeze AT job=7 rank=1 [planned]	and thaw
 *	requeue AT job=7
 *	demand AT job=7 bytes=...	what a process of it needs now
 *	talk AT job=7 pairs=0-1:BYTES:SEGMENTS,...	what they send a second
 *	end AT job=7 outcome=done
 *	host AT IX load=0.25 drain=1	what has changed of it
 *	reserve AT IX [planned]		and release
 *	timer AT
 *	state TEXT			policy_load() this (escaped)
 *	pass AT N			the policy is asked; N lines are its plan
 *	plan start job 7 with 4 on h1,h2: ...<tab>{"free":8}
 *					as plan_write() says it, and the numbers
 *					of its reason, a JSON object
 *
 * "planned": applied and not told to the policy (model/event.h).  Numbers
 * read back exactly.  Names have spaces, "%" and control characters as %XX.
 *
 * Versions 5 to 1 are read as well.  They do not say what was seen of ranks that moved, nor
 * which moves were not tried; 4 to 1 do not say whose own hosts are (own=), until
 * when hosts are open, what links carry and who talks to whom; 3 to 1 neither say page
 * faults and demand, and 2 and 1 no owners' terms (closed, by, requeue=1, freeze, thaw).
 * Version 1 has no tab and no numbers there, and some reasons were worded otherwise ("1
 * processors").  What a controller noted
 * before it was renewed stands within a record of this version in the same way.
 */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "model/event.h"
#include "model/plan.h"

#define RECORD_HEADER	"stint-record 6"
#define RECORD_HEADER_5 "stint-record 5"
#define RECORD_HEADER_4 "stint-record 4"
#define RECORD_HEADER_3 "stint-record 3"
#define RECORD_HEADER_2 "stint-record 2"
#define RECORD_HEADER_1 "stint-record 1"

enum record_limits { /* of what is read */
		     RECORD_HOSTS_MAX = 16384,
		     RECORD_CORES_MAX = 4096,
		     RECORD_SIZE_MAX = 16384,
		     RECORD_SPEED_MAX = 10000,
};
#define RECORD_TIME_MAX	    (4100000000 * USEC_PER_SEC) /* the year 2099 */
#define RECORD_ESTIMATE_MAX (320000000 * USEC_PER_SEC)	/* ten years */

/* ---- writing: a line each, with its newline, but for begin */

/* The view as it is, without jobs: a line, and one for each host. */
void record_begin(const struct view *view, uint64_t seed, const char *policy,
		  FILE *to);
/* Before it is applied. */
void record_event(const struct view *view, const struct event *e, bool told,
		  FILE *to);
void record_state(const char *text, FILE *to);
/* Of a plan of n entries, each for record_plan(). */
void record_pass(const struct view *view, size_t n, FILE *to);
void record_plan(const struct view *view, const struct plan_entry *entry,
		 FILE *to);
/* What stands in that line behind "plan ". */
void record_planned(const struct view *view, const struct plan_entry *entry,
		    FILE *to);
/* Is live, which was read there, what ours is from record_planned()?  Where it
 * has no numbers, the reason is not compared. */
bool record_same_plan(const char *live, const char *ours);

/* ---- reading */

enum record_kind {
	RECORD_NONE, /* a comment, or nothing */
	RECORD_BEGIN,
	RECORD_DEFINE,
	RECORD_EVENT,
	RECORD_STATE,
	RECORD_PASS,
	RECORD_PLAN,
};

/* Fields of a host that a line gives. */
enum record_host_field {
	RECORD_NAME = 1 << 0,
	RECORD_SPEED = 1 << 1,
	RECORD_CORES = 1 << 2,
	RECORD_SLOTS = 1 << 3,
	RECORD_MEMORY = 1 << 4,
	RECORD_FREE = 1 << 5,
	RECORD_LOAD = 1 << 6,
	RECORD_USERS = 1 << 7,
	RECORD_OWNER = 1 << 8,
	RECORD_IDLE = 1 << 9,
	RECORD_UP = 1 << 10,
	RECORD_DRAIN = 1 << 11,
	RECORD_CLOSED = 1 << 12,
	RECORD_LEAVE = 1 << 13,
	RECORD_UNTIL = 1 << 14,
	RECORD_FREEZE = 1 << 15,
	RECORD_FAULTS = 1 << 16,
	RECORD_OWNERS = 1 << 17,
	RECORD_LINK = 1 << 18,
	RECORD_OPEN = 1 << 19,
	RECORD_ALL = (1 << 20) - 1,
	RECORD_LEAST = (1 << 12) - 1, /* what every version gives */
};

/*
 * A line as it was read.  Numbers are within the limits above; the reader must
 * check that they fit the state.
 */
struct record_line {
	enum record_kind kind;
	usec_t at;
	bool told;
	enum event_type type;
	enum event_outcome outcome;
	int64_t job;
	struct job asked; /* ARRIVE: its upper part */
	uint32_t rank, host;
	usec_t cost;
	bool refused, untried;
	struct rank_seen seen; /* MIGRATE */
	uint64_t bytes;	       /* DEMAND */
	struct job_talk *talk; /* TALK: n of them; kept from line to line */
	size_t cap_talk;
	uint32_t n;   /* START: ranks; BEGIN: hosts; PASS: entries */
	uint32_t *on; /* n host indices; kept from line to line */
	size_t cap_on;
	uint64_t seed;	   /* BEGIN */
	struct host fresh; /* DEFINE, HOST: the fields given */
	unsigned given;	   /* enum record_host_field */
	char *text;	   /* name, policy, state or plan: within the line */
};

/*
 * Read one line, which is changed and has no newline.  *ret is zero at first;
 * record_line_clear() frees what it took.  -EINVAL with a reason.
 */
int record_line_parse(char *line, struct record_line *ret,
		      struct error *err) must_check;
void record_line_clear(struct record_line *line);

/* Put the given fields of line into host (all but its name). */
void record_host(const struct record_line *line, struct host *host);

#endif
