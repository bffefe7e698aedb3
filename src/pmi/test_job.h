/*
 * test_job.h - a job for tests, in one process, and a talk with its servers
 */
#ifndef PMI_TEST_JOB_H
#define PMI_TEST_JOB_H

#include <stdbool.h>

#include "pmi/gather.h"
#include "pmi/pmi.h"

enum { RANKS = 3 };

/* Servers whose fences meet in one gather. */
struct job {
	struct pmi_gather *gather;
	struct pmi_server *rank[RANKS];
	int aborted;
	unsigned fences;
	bool lose; /* the releases do not arrive */
};

struct end {
	struct job *job;
	uint32_t rank;
};

extern const struct pmi_exchange exchange; /* its ctx is a struct end */
extern struct end ends[RANKS];

void job_open(struct job *job);
void job_close(struct job *job);

/* Let a rank out of that barrier, unless releases are lost. */
void job_release(struct job *job, uint32_t rank, uint64_t generation);

/* The rank says text, which the server must accept. */
void say(struct pmi_server *s, const char *text);

/* All that the server has to say now is want. */
void hear(struct pmi_server *s, const char *want);

/* What the rank puts before its barrier of that round. */
void put_card(struct pmi_server *s, unsigned rank, unsigned round);

#endif
