/*
 * replay.h - the acceptance test of "one decision library, two drivers": the
 * events of a live run, given to the same policy code, make the same plans
 *
 * Compared are the words of the plans (record_planned()), byte for byte: what is
 * planned, for whom, where, and the reason with its numbers; of records of
 * before these had names, all but the reason.
 */
#ifndef SIM_ENGINE_REPLAY_H
#define SIM_ENGINE_REPLAY_H

#include "core/error.h"
#include "sim/engine/sim.h"

struct replay_result {
	uint64_t begins, events, plans, entries;
	char *differs; /* where and how they first differ, in lines; or NULL */
};

/*
 * Replay a record: text of size bytes with a NUL after them, which is changed;
 * name stands for the file in errors.  0 with *ret, whose differs is for the
 * caller to free; -EINVAL if the record is wrong.
 */
int replay_run(char *text, size_t size, const char *name,
	       struct replay_result *ret, struct error *err) must_check;

#endif
