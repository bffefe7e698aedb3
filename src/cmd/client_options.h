/*
 * client_options.h - the options of every command that asks the controller
 */
#ifndef CMD_CLIENT_OPTIONS_H
#define CMD_CLIENT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "cluster/client.h"
#include "cmd/command.h"

struct client_options {
	struct client_conf conf;
	bool json;
};

/*
 * As an argp child; its input is a struct client_options.  The second has
 * --json too, for commands that list or report.
 */
extern const struct argp client_argp;
extern const struct argp client_json_argp;

/* "JOB" and "JOB.RANK". */
int parse_job(const char *text, uint64_t *job, struct error *err) must_check;
int parse_job_rank(const char *text, uint64_t *job, uint32_t *rank,
		   struct error *err) must_check;

/* Words for people and JSON. */
const char *state_name(int state);
/* "1.50 GB", "830 us": 3 digits and a unit, in a ring of static buffers. */
const char *show_bytes(uint64_t bytes);
const char *show_usec(uint64_t usec);

struct json_t;
/* Print on one line and drop the reference. */
void print_json(struct json_t *j);

#endif
