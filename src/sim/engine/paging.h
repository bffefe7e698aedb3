/*
 * paging.h - how processes get on whose host has too little memory
 *
 * The one place of the model (doc/design/54-memory.md says what it is taken
 * from, and what else there was).  On a host of U bytes for processes, whose
 * processes need D together:
 *
 *	the share o = max(0, D - U) / D of what is needed is not there; in a
 *	second of processor time a process touches demand / page / sweep pages,
 *	and each that is not there is a fault that the disk serves in `fault`
 *	seconds.  So a second of processor time costs a process p seconds of
 *	disk,	p = o * demand / page / sweep * fault
 *
 * While one waits for the disk, others use the processor (round robin: equal
 * shares).  Shares grow together until the disk or the processors are used up,
 * or a process has no time left that it does not compute or page: that of a
 * process is at most 1 / (1 + p).  With more processes than processors each
 * quantum costs a context switch.  What is left of a process's time it waits
 * for others: it is queued.
 */
#ifndef SIM_ENGINE_PAGING_H
#define SIM_ENGINE_PAGING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/param.h"
#include "core/units.h"
#include "model/host.h"

struct paging {
	double fault;	 /* seconds of the disk a fault takes */
	double sweep;	 /* processor seconds in which all is touched once */
	double quantum;	 /* seconds */
	double swap;	 /* seconds a context switch takes */
	uint64_t page;	 /* bytes */
	uint64_t system; /* bytes of a host that no process can have */
	bool overlap;	 /* others compute while one waits for the disk */
	double link;   /* bits a second, of a migration; 0: it takes no time */
	usec_t remote; /* what a start away from home, or a move, takes */
};

/* Of a process: what it needs, and what it gets. */
struct paging_share {
	uint64_t demand;
	bool still; /* it does not run (is on its way): it needs memory alone */
	double cpu; /* processor seconds a second */
	double page; /* seconds of the disk a second */
};

/* The parameters, for --paging and for lists. */
extern const struct param paging_params[];

/* From "key=value,..."; "" is the paper's.  -EINVAL with a reason. */
int paging_parse(const char *text, struct paging *ret,
		 struct error *err) must_check;

/* What processes may have of the host's memory. */
uint64_t paging_room(const struct paging *p, const struct host *h);

/*
 * Fill in cpu and page of all n processes of h.  Who is not ours (h->load)
 * computes beside them and needs no memory.
 */
void paging_shares(const struct paging *p, const struct host *h,
		   struct paging_share *share, uint32_t n);

/* What a process of so many bytes stands still for, to another host. */
usec_t paging_transfer(const struct paging *p, uint64_t bytes);

#endif
