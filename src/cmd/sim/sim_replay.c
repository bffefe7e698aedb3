/* sim_replay.c - replaying a recorded live run, see sim_replay.h */
#include "cmd/sim/sim_replay.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/kit/command.h"
#include "core/json.h"
#include "sim/engine/replay.h"
#include "sim/workload/inflate.h"

static void show_comparison(const struct replay_result *r, bool json)
{
	if (json)
		json_line(json_pack("{ss sI sI sI sI sb so}", "version",
				    STINT_VERSION, "plans",
				    (json_int_t)r->plans, "entries",
				    (json_int_t)r->entries, "events",
				    (json_int_t)r->events, "begins",
				    (json_int_t)r->begins, "equal", !r->differs,
				    "difference", json_text(r->differs)),
			  stdout);
	else if (r->differs)
		printf("%sstint " STINT_VERSION "\n", r->differs);
	else
		printf("%" PRIu64 " plans, all equal (%" PRIu64
		       " events, %" PRIu64 " entries); stint " STINT_VERSION
		       "\n",
		       r->plans, r->events, r->entries);
}

int sim_replay(const char *path, bool json)
{
	struct replay_result result;
	struct error err;
	char *text;
	size_t size;
	int r = inflate_read(path, &text, &size, &err);

	if (r < 0)
		return command_fail("sim", EXIT_FAILED, &err);
	r = replay_run(text, size, path, &result, &err);
	free(text);
	if (r < 0)
		return command_fail("sim", EXIT_FAILED, &err);
	show_comparison(&result, json);
	r = result.differs ? EXIT_FAILED : EXIT_OK;
	free(result.differs);
	if (fflush(stdout)) {
		error_sys(&err, -errno, "standard output");
		return command_fail("sim", EXIT_FAILED, &err);
	}
	return r;
}

int sim_replay_open(const char *path, struct recorded *ret, struct error *err)
{
	char *text;
	size_t size;
	int r = inflate_read(path, &text, &size, err);

	if (r < 0)
		return r;
	r = recorded_parse(text, size, path, ret, err);
	free(text);
	if (!r && ret->never_ran)
		fprintf(stderr, "%s: left out %zu jobs that never ran\n", path,
			ret->never_ran);
	if (!r && ret->still_ran)
		fprintf(stderr,
			"%s: %zu jobs that ran at its end are taken to end "
			"there\n",
			path, ret->still_ran);
	return r;
}
