/*
 * script.h - what happens to hosts and jobs besides: the event file
 *
 * A line an event, in any order; "#" begins a comment:
 *	TIME down HOST		the host fails; what runs there is lost
 *	TIME up HOST		and is back
 *	TIME drain HOST [BY]	it takes nothing new; what runs may end, or is to
 *				have left by BY
 *	TIME undrain HOST
 *	TIME cancel JOB		the user cancels (by the trace's job number)
 *	TIME reserve N FROM TO	N processors are booked; known from TIME on
 * HOST counts from 0; times are as parse_usec() reads them ("90", "2h"), in
 * the time of the workload.
 *
 * When a reservation begins, N cores are held until its end, idle ones first.
 * No policy starts a job that would have one of them then (model/plan.h), so
 * that only jobs which were there when it was announced, or outran their
 * estimates, can be in the way.  Those keep running.  Policies that put more
 * ranks on a host than it has cores cannot foretell ends.  For them whole
 * hosts, together of at least N cores, are held from the announcement on, the
 * same ones for reservations that do not overlap.
 *
 * The event_trace table of the Failure Trace Archive is read as well: it is
 * known by its header, which names the columns.  Its nodes are the hosts, in
 * the order of their first lines; its first instant is that of the first
 * arrival.
 *
 * Jobs that lose a host wait again, from the beginning, at their old place.
 */
#ifndef SIM_WORKLOAD_SCRIPT_H
#define SIM_WORKLOAD_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/units.h"
#include "model/host.h"

enum script_type {
	SCRIPT_UP, /* at one instant ups come first, bookings' ends too */
	SCRIPT_UNBOOK,
	SCRIPT_UNDRAIN,
	SCRIPT_DOWN,
	SCRIPT_DRAIN,
	SCRIPT_CANCEL,
	SCRIPT_RESERVE,
	SCRIPT_BOOK, /* a reservation begins */
	SCRIPT_HOST, /* it is as *fresh says; not in files (sim/workload/recorded.h) */
};

struct script_event {
	usec_t at;
	enum script_type type;
	int64_t target;	 /* host, job; RESERVE, BOOK, UNBOOK: reservation */
	usec_t from, to; /* DRAIN: to, 0 for none */
	uint32_t procs;
	const struct host *fresh; /* HOST */
};

struct sim_script {
	struct script_event *event; /* by time, type, target */
	size_t nr;
	bool relative;	   /* times count from the first arrival */
	uint32_t nr_hosts; /* one more than the largest named */
};

/* Errors name file and line.  script_clear() frees *ret. */
int script_read(const char *path, struct sim_script *ret,
		struct error *err) must_check;
/* The same of nothing but an event_trace table of the Failure Trace Archive. */
int script_read_fta(const char *path, struct sim_script *ret,
		    struct error *err) must_check;
/* The same as script_read() for text of size bytes and a NUL. */
int script_parse(char *text, size_t size, const char *name,
		 struct sim_script *ret, struct error *err) must_check;
void script_clear(struct sim_script *script);

#endif
