/*
 * server.h - the inside of a PMI server, for server.c and save.c alone
 */
#ifndef PMI_SERVER_H
#define PMI_SERVER_H

#include <uthash.h>

#include "pmi/pmi.h"

struct pmi_entry {
	char key[PMI_KEY_MAX];
	char value[PMI_VALUE_MAX];
	uint64_t put; /* 1 + the generation in which the own rank put it; 0: not
		       */
	UT_hash_handle hh;
};

struct pmi_server {
	uint32_t rank, size;
	char kvsname[PMI_KVSNAME_MAX];
	const struct pmi_exchange *exchange;
	void *ctx;

	enum pmi_phase phase;
	uint64_t generation; /* of the next barrier, or the one waited in
			      */
	bool waits;
	bool wants_blobs; /* ... and then all ranks' blobs: fence_in */
	bool in_mcmd;	  /* between "mcmd=spawn" and "endcmd" */
	bool broken;	  /* did not follow the protocol */

	struct pmi_entry *kvs; /* hash; iterates in order of first put */
	size_t nr_puts;	       /* entries with put == 1 + generation */
	size_t nr_own;	       /* with any put */

	char in[PMI_LINE_MAX]; /* a line not yet whole */
	size_t nr_in;
	char *out; /* answers not yet sent */
	size_t nr_out, cap_out;
};

/*
 * put: as in struct pmi_entry; 0 leaves it unchanged.  Checks all limits, and that
 * no other rank's blob is put.
 */
int pmi_kvs_set(struct pmi_server *s, const char *key, const char *value,
		uint64_t put, struct error *err) must_check;

void pmi_out_append(struct pmi_server *s, const void *p, size_t n);

#endif
