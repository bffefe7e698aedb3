/*
 * talk.h - which ranks of a job talk to each other, and what that costs them
 *
 * A driver tells it from time to time (EVENT_TALK): what each pair sends a second,
 * both ways together, while the job runs as it does.  Pairs that say little may be
 * left out.  Of each second a rank waits for the messages of its partners on other
 * hosts: so long for each segment as the network takes longer than memory does, and for
 * their bytes at the rate of its host's link.  That is an upper bound: who computes
 * meanwhile waits less.
 */
#ifndef MODEL_TALK_H
#define MODEL_TALK_H

#include "model/view.h"

/* Seconds: a segment to another host takes so much longer than one within a host. */
#define TALK_LATENCY 25e-6
/* Bytes a second of a link of which nothing is known. */
#define TALK_LINK    125e6
/* However much they say, so much of a second is left for work. */
#define TALK_MOST    0.9

/*
 * By what factor each rank of a job takes longer for its pairs that are on different
 * hosts, with rank i at place[i]; into ret[0..n).  1 where none is known.
 */
void talk_delays(const struct view *view, const struct job *job,
		 const uint32_t *place, double *ret);

/* The factor of one rank if it were on that host, with all others where they are. */
double talk_delay_at(const struct view *view, const struct job *job,
		     const uint32_t *place, uint32_t rank, uint32_t host);

/* Bytes a second between a rank and those of its partners that are on that host. */
double talk_bytes(const struct job *job, uint32_t rank, uint32_t host);
/* And to all of its partners. */
double talk_bytes_all(const struct job *job, uint32_t rank);

/* Bytes a second that leave or reach each host for its jobs, by ix, into ret. */
void talk_hosts(const struct view *view, double *ret);

/* The largest factor of talk_delays() of a job where it runs. */
double talk_delay(const struct view *view, const struct job *job);

#endif
