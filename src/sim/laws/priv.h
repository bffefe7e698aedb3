/* priv.h - what the laws share */
#ifndef SIM_LAWS_PRIV_H
#define SIM_LAWS_PRIV_H

#include "sim/engine/sim.h"
#include "sim/laws/laws.h"

#define LAW_PROCS 16
#define LAW_JOBS  300

int64_t law_counts(const char *policy, struct error *err);
int64_t law_failures(const char *policy, struct error *err);
int64_t law_repeats(const char *policy, struct error *err);
int64_t law_saved(const char *policy, struct error *err);
int64_t law_reserved(const char *policy, struct error *err);

/* What an observer, who cannot end a run, has found first. */
struct finding {
	char text[200]; /* "" : nothing */
};

void finding_note(struct finding *f, const struct view *view, const char *fmt,
		  ...) __attribute__((format(printf, 3, 4)));

/* Jobs of a generator, with a speedup model or NULL. */
int law_workload(const char *spec, double load, const char *speedup,
		 struct workload **ret, struct error *err) must_check;

/* The flags of a policy that is there (enum policy_flags). */
unsigned law_flags(const char *policy);

/* One who recounts jobs and processors; of a policy with these flags. */
struct law_watch {
	struct finding wrong;
	int64_t checks;
	unsigned flags;
};

/* As an observer's `event`: no processor twice, none lost; data is a watch. */
void law_recount(void *data, const struct view *view,
		 const struct event *event);

/* What does not hold of the whole run is -EPROTO: each of LAW_JOBS jobs started, and ended
 * by itself; had the work that there was, or more where cores are shared; L = lambda W. */
int law_check_ended(const struct sim_result *r, struct error *err) must_check;
int law_check_work(const struct sim_result *r, bool shared,
		   struct error *err) must_check;
int law_check_little(const struct sim_result *r, struct error *err) must_check;

/* Each job that was submitted has ended, whatever befell it. */
int law_check_times(const struct sim_result *r, struct error *err) must_check;

/* So many of LAW_PROCS processors are somebody's from..to, which is known since told. */
struct law_booking {
	usec_t told, from, to;
	int64_t procs;
};

/* One who watches a run, and knows what was booked. */
struct law_booked {
	const struct law_booking *booking;
	int nr;
	unsigned flags;	 /* the policy's */
	usec_t at;	 /* the instant looked at */
	char wrong[200]; /* as of at; it may be put right within the instant */
	struct finding found;
	int64_t checks, refused, begun;
};

/* Is what holds between instants so now?  w->wrong says what is not. */
void law_check_instant(struct law_booked *w, const struct view *view);

/* Each job started and ended at the same time, on as many processors; says of which two
 * runs that is not so. */
int law_compare(const struct sim_result *a, const struct sim_result *b,
		const char *which, struct error *err) must_check;

#endif
