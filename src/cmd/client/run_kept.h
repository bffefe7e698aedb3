/* run_kept.h - output that the controller keeps, a page at a time */
#ifndef CMD_CLIENT_RUN_KEPT_H
#define CMD_CLIENT_RUN_KEPT_H

#include "cluster/conn/message.h"
#include "cmd/client/run_print.h"

struct run_kept {
	uint64_t from;
	bool asked; /* over the connection that there is */
	bool over;  /* there is no more */
};

/* Ask for what comes next, unless that is done or nothing will come. */
int run_kept_ask(struct run_kept *k, struct conn *conn, uint64_t job);
void run_kept_print(struct run_kept *k, const Control__KeptOutput *o,
		    struct run_print *print);

#endif
