/*
 * institute.h - an institute's workstations and who works at them (Schnor 1997
 * section 5.5)
 *
 * The 28 hosts are those of Table 5.1. What was traced on them is lost; who works
 * there is drawn by a law instead. Each host has as many seats as the table has
 * users of it at most (i_max). On each day a seat is taken with some probability:
 * somebody comes in the morning, computes now and then, and goes in the evening,
 * or leaves a session open until the next evening. Beside that there are long
 * computations of theirs, more of them on faster hosts, which begin by day.
 * Figure 5.2 (users from about 10 to 19 h) fixes the hours, and the nodes that
 * were available at the two starts, 26 and 15 of 40, how many seats are taken and
 * how many sessions stay open. How much people compute the text does not say: that
 * is free.
 */
#ifndef SIM_REPRODUCE_INSTITUTE_H
#define SIM_REPRODUCE_INSTITUTE_H

#include <stdint.h>

#include "model/activity.h"
#include "model/host.h"

enum { INSTITUTE_HOSTS = 28 };

/* Times in hours, of the day; standard deviations of coming and going 1 h. */
struct institute_law {
	double taken;	   /* seats, on a day */
	double stay;	   /* of those who go leave a session open */
	double come, go;   /* means */
	double burst, gap; /* seconds, means: who is there computes, or not */
	double tasks;	   /* long computations a day on a host of factor 1 */
	double task;	   /* hours that one lasts, mean */
	double system;	   /* MB of a host that nobody works at */
	double session;	   /* MB of each session, an open one too */
};

/* What the rows are computed with. */
extern const struct institute_law institute_law;

/* Table 5.1, in its order; names outlive everything. */
void institute_hosts(struct host ret[INSTITUTE_HOSTS]);

/*
 * Users, load and memory from the first midnight on, for so many days; the day
 * before is drawn, too, so that there are sessions from it. activity_clear()
 * frees *ret.
 */
void institute_draw(const struct institute_law *law, uint32_t days,
		    uint64_t seed, uint64_t replication, struct activity *ret);

#endif
