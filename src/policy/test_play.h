/*
 * test_play.h - a policy on counted processors, played step by step
 *
 * A driver for tests that carries plans out as they are and knows no time but a
 * second a step.
 */
#ifndef POLICY_TEST_PLAY_H
#define POLICY_TEST_PLAY_H

#include "policy/policies.h"

struct machine {
	struct view view;
	struct plan plan;
	struct policy *policy;
};

void machine_init(struct machine *m, const char *policy, uint32_t procs);
void machine_clear(struct machine *m);

/* Apply an event and tell the policy. */
void tell(struct machine *m, enum event_type type, struct job *job);

/* One pass, carried out: never more processors at once than there are. */
void pass(struct machine *m);

/* "ID:SIZE[:SECONDS]" arrives, malleable; "!ID:SIZE" a rigid one; "-ID" ends.
 */
void obey(struct machine *m, const char *word);

/* The jobs that run, by id, as "ID=N ...". */
void show(const struct machine *m, char *to, size_t size);

/*
 * The words of a step end in ';', after which there is a pass (";;": a step
 * without an event). wanted: what show() says after each step, each followed by
 * a ';'.
 */
void play(const char *policy, uint32_t procs, const char *steps,
	  const char *wanted);

#endif
