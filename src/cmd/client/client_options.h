/*
 * client_options.h - what every command that asks the controller shares: its
 * options, the conversation, and words for the answers
 *
 * Such a command has a struct whose first member is a struct client_options,
 * an argp of its own options, whose parser gets that struct, and one function
 * that asks.  client_main() does the rest.  migrate.c is an example.
 */
#ifndef CMD_CLIENT_CLIENT_OPTIONS_H
#define CMD_CLIENT_CLIENT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "cluster/client/client.h"
#include "cmd/kit/command.h"

struct client_options {
	struct client_conf conf;
	bool json;
};

/* --controller and --key, for commands that do not use client_main(). */
extern const struct argp client_argp;

/* Does it take --json?  Commands that list or report do. */
enum client_form { CLIENT_PLAIN, CLIENT_JSON };

/* Ask, print the answer: an exit code, or a negative errno and err. */
typedef int (*client_main_fn)(struct client *c, void *args, struct error *err);

/*
 * The whole of such a command, for its run(): read the command line into args
 * (which begins with a struct client_options; argp has no children), connect,
 * call ask, disconnect, print what went wrong as "stint NAME: ...".  Returns
 * the exit code.
 */
int client_main(const char *name, const struct argp *argp,
		enum client_form form, int argc, char **argv,
		client_main_fn ask, void *args);

/*
 * Call ask() for each of n things: a failure is printed as client_main() does,
 * and the others are still asked.  The exit code, or a negative errno where the
 * connection was lost.
 */
int client_each(const char *name, struct client *c, size_t n,
		int (*ask)(struct client *c, void *args, size_t i,
			   struct error *err),
		void *args, struct error *err);

/* For client_ask()'s other(), where an answer may take any time. */
void client_unhurried(void *ctx, const Control__Message *m);

/* "JOB" and "JOB.RANK". */
int parse_job(const char *text, uint64_t *job, struct error *err) must_check;
int parse_job_rank(const char *text, uint64_t *job, uint32_t *rank,
		   struct error *err) must_check;

/* Numbers of an array's tasks: "3", "1-5", "1-9:2", with commas between them. */
struct task_words {
	Control__TaskRange **range;
	size_t nr, cap;
};
void task_words_clear(struct task_words *w);
/* Is it one of these; of no words: of any. */
bool task_words_have(const struct task_words *w, uint32_t task);

/* "JOB", or "JOB[TASKS]" where JOB is the number of an array: tasks.nr 0 is all of it. */
struct job_word {
	uint64_t job;
	struct task_words tasks;
};
int parse_job_word(const char *text, struct job_word *to,
		   struct error *err) must_check;
/*
 * What the controller lists under it, which must be one job: the answer, for the
 * caller to free.
 */
int client_one_job(struct client *c, const struct job_word *w,
		   Control__Message **ret, struct error *err) must_check;

/* The JOBs of a command line, in its order. */
struct job_words {
	struct job_word *at;
	size_t nr, cap;
};
void job_words_clear(struct job_words *w);
/* For ARGP_KEY_ARG of a command that takes one JOB. */
error_t command_one_job(struct argp_state *state, const char *text,
			struct job_word *ret);
/* Likewise of one that takes several: adds one. */
error_t command_next_job(struct argp_state *state, const char *text,
			 struct job_words *to);
/* As lists show it: "12", or "7[5]" where it is task 5 of array 7; for printf's %s,
 * valid until the next call. */
const char *job_number(uint64_t job, uint64_t array, uint32_t task);

/* "TERM", "SIGTERM", "15". */
int parse_signal(const char *text, uint32_t *ret, struct error *err) must_check;

/* Words for people and JSON. */
const char *state_name(int state);
const char *after_kind(int kind); /* "ok", "any", "failed" */
/* "1.50 GB", "830 us": 3 digits and a unit, in a ring of static buffers. */
const char *show_bytes(uint64_t bytes);
const char *show_usec(uint64_t usec);

#endif
