/*
 * recorded.h - the jobs of a live run (model/record.h) as a workload
 *
 * For asking what another policy would have done.  A job's demand is what it
 * got: the time it ran, at the speed that its slowest host let it have at each
 * instant (host_delay(), as the simulator reckons), without standstills; of
 * one that began anew, in its longest try.  So
 * a job that was killed is a job that was as short as that; one that runs at
 * the end of the record has had all it needs; one that never ran is left out.
 *
 * The machine is that of the record: all its hosts, by name, with what was
 * reported of them as events (load, users, drains).  A host whose agent did not
 * answer takes nothing new; what runs there goes on, as it does live.  After
 * the record's end all hosts are usable, so that nobody waits for ever.  Time 0
 * is the first instant of the record.
 */
#ifndef SIM_WORKLOAD_RECORDED_H
#define SIM_WORKLOAD_RECORDED_H

#include "sim/workload/script.h"
#include "sim/workload/workload.h"

struct recorded {
	struct workload *workload;
	struct sim_script script;
	struct host *hosts; /* names belong to it */
	uint32_t nr_hosts;
	size_t never_ran, still_ran; /* jobs left out; cut short */
	struct host **fresh;	     /* what the script's events point to */
	size_t nr_fresh;
};

/* text is changed; recorded_clear() frees *ret. */
int recorded_parse(char *text, size_t size, const char *name,
		   struct recorded *ret, struct error *err) must_check;
void recorded_clear(struct recorded *r);

#endif
