/*
 * owners_law.h - people who come to their hosts and go: activity from a generator
 *
 * Each host has somebody who alternates between idle periods, in which nobody
 * touches the host and it computes nothing, and busy ones.  A busy period is one
 * of typing, with bursts of computing now and then, or one of computing alone.
 * Lengths are lognormal.  People differ by how long their idle periods are; by
 * night and on Saturdays and Sundays, for all of them, these are longer.
 *
 * The traces of Arpaci 1995 are lost.  The defaults give what it says of them
 * (sections 4.1 to 4.3): by day 60 % of hosts have been idle for 15 minutes at any
 * time and 70 % for one (the two lines of Figure 6), half of the idle periods last up
 * to 3 minutes, and 95 % of the idle time is in those of 10 on.  By how much people
 * differ is free, and so is the tail of long absences; how often a burst interrupts who types is free, and matters for who minds the
 * processor alone.
 *
 * Host n is the same whatever the number of hosts.
 */
#ifndef SIM_WORKLOAD_OWNERS_LAW_H
#define SIM_WORKLOAD_OWNERS_LAW_H

#include "core/error.h"
#include "core/param.h"
#include "model/activity.h"

/* Seconds, and sigmas: of logarithms. */
struct owners_law {
	double idle, idle_sigma; /* median; of one person */
	double people; /* sigma of the factor by which people differ in it */
	double busy, busy_sigma;
	double compute;	   /* share of busy periods without typing */
	double burst, gap; /* means: of computing while somebody types, and of
			      the time between */
	/* So many times as long are idle periods from 19 to 9 h; on other hours of
	 * Saturdays and Sundays, time 0 being a Monday's beginning. */
	double night, weekend;
};

/* From "key=value,..."; NULL or "": the defaults. */
int owners_law_parse(const char *text, struct owners_law *ret,
		     struct error *err) must_check;

/* From midnight on, for so many days, as agents would have recorded it; hosts are called
 * h1, h2, ...; activity_clear() frees *ret. */
void owners_law_draw(const struct owners_law *law, uint32_t hosts,
		     uint32_t days, uint64_t seed, uint64_t replication,
		     struct activity *ret);

/*
 * The same of recorded ones: each of so many hosts is one of the script's, drawn at
 * random with replacement, from the beginning of a day of it drawn at random, and from its
 * first day on after its last (Arpaci 1995 section 2.2).  The script is not empty.
 */
void owners_resample(const struct activity *recorded, uint32_t hosts,
		     uint32_t days, uint64_t seed, uint64_t replication,
		     struct activity *ret);

/* When is a host taken to be in use? (Arpaci 1995 sections 4.1 and 5.1) */
enum owners_sign {
	OWNERS_CPU,	     /* its own processes have 0.2 of a processor */
	OWNERS_CPU_KEYBOARD, /* or somebody touches it */
};

/*
 * The script in which a host's owner is here while it is in use, and nothing else is
 * said: what of the same people another rule sees.
 */
void owners_as_seen(const struct activity *activity, enum owners_sign sign,
		    struct activity *ret);

#endif
