/*
 * session.h - being the terminal of a job: stint run, stint attach
 *
 * Prints what its ranks print, feeds rank 0 if it reads input, passes signals
 * on, and ends as the job ends; a controller that goes away is waited for.
 */
#ifndef CMD_CLIENT_SESSION_H
#define CMD_CLIENT_SESSION_H

#include "cluster/client/client.h"

struct session {
	const char *name; /* of the command, for messages */
	const char *controller;
	struct address address;
	struct tls_key key;
	Control__Submit *ask; /* the job to submit, or NULL ... */
	uint64_t job;	      /* ... and the one that there is */
	uint32_t ranks;
	bool label;
	/*
	 * The job goes on without us: what it prints is kept by the controller,
	 * and a signal that ends others only has us leave.
	 */
	bool stays;
};

/* An exit code, for which what went wrong is printed. */
int session_run(const struct session *session);

#endif
