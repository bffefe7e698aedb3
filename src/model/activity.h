/*
 * activity.h - what the owners of hosts did: activity scripts
 *
 * CSV: the first line names the columns, and each other line is a change at one
 * host; "#" begins a comment line:
 *	time,host,what,value
 *	0,h1,load,0.05
 *	32400,h1,owner,here
 *	32400,h1,keyboard,busy
 *	32460.5,h1,keyboard,idle
 *	32520,h1,memory,1.5G
 *	61200,h1,owner,away
 * Times never decrease.  0 is midnight of the hosts' own day, so that what is
 * counted a day can be (model/contract.h); they are as parse_usec() reads them.
 * What was said of a host holds until something else is.  Before, its owner is
 * away and its keyboard idle, both for ages, and the numbers are 0:
 *	owner		here or away, as the host's owner means it: a session
 *			at the console, say (model/presence.h)
 *	keyboard	busy from then on, or idle from then on; mouse, too
 *	load		runnable processes that are not guests
 *	memory		bytes that is theirs
 *	users		interactive users
 *	own		the number of the user whose own host it is, or nobody:
 *			jobs of theirs are no guests there
 *
 * What live hosts were seen to do becomes such a script (sim/workload/activity_import.h);
 * simulations and test beds play them.
 */
#ifndef MODEL_ACTIVITY_H
#define MODEL_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "core/names.h"
#include "core/units.h"

enum activity_what {
	ACTIVITY_OWNER,	   /* 1: here */
	ACTIVITY_KEYBOARD, /* 1: busy */
	ACTIVITY_LOAD,
	ACTIVITY_MEMORY,
	ACTIVITY_USERS,
	ACTIVITY_OWN, /* the user's number + 1; 0: nobody */
	ACTIVITY_WHATS,
};

struct activity_change {
	usec_t at;
	uint32_t host; /* index into activity->host */
	uint32_t what; /* enum activity_what */
	double value;
};

/* Of a host: how it is when all changes so far are made. */
struct activity_host {
	char *name;
	double value[ACTIVITY_WHATS];
	usec_t keyboard; /* idle since; USEC_MAX while it is busy */
};

struct activity {
	struct activity_change *change; /* by time, then as they were added */
	size_t nr, cap;
	struct activity_host *host; /* by their first mention */
	uint32_t nr_hosts;
	size_t cap_hosts;
	struct names names; /* of the hosts; their numbers are indices */
};

#define ACTIVITY_INIT          \
	{                      \
		.change = NULL \
	}

/* What is limited in a script. */
enum activity_limits {
	ACTIVITY_HOSTS_MAX = 16384,
	ACTIVITY_USERS_MAX = 1000000,
	ACTIVITY_NAME_MAX = 64,
};
#define ACTIVITY_LOAD_MAX 1e9
#define ACTIVITY_AGES_AGO (-USEC_MAX / 4)

/*
 * Read a script; activity_clear() frees *ret.  name stands for the file in
 * errors, which say the line: a wrong script is never read half.  What does not
 * change anything is left out.  text, of size bytes and a NUL, is changed.
 */
int activity_parse(char *text, size_t size, const char *name,
		   struct activity *ret, struct error *err) must_check;
void activity_clear(struct activity *activity);

/* How a host is before the script says anything of it. */
void activity_host_init(struct activity_host *host);

/* The index of the host called name; UINT32_MAX if none is. */
uint32_t activity_find(const struct activity *activity, const char *name);

/* The same, which is there from now on.  name is fit to be written. */
uint32_t activity_add_host(struct activity *activity, const char *name);

/*
 * Append that what of host is value from at on, which is not before the last
 * change.  False if it was so already, and nothing is appended.
 */
bool activity_add(struct activity *activity, usec_t at, uint32_t host,
		  enum activity_what what, double value);

/* Make the change to host, which is as the changes before it have left it. */
void activity_apply(const struct activity_change *change,
		    struct activity_host *host);

/*
 * May it be the name of a host in a script: 1 to 64 letters, digits, and ".-_"?
 */
bool activity_name_good(const char *name);

/*
 * Write it as activity_parse() reads it, all hosts, also those that never change.
 * anonymous: hosts are called h1, h2, ... in the order of their first mention, whose they are
 * is left out, and the days are the same.
 */
void activity_write(const struct activity *activity, bool anonymous, FILE *to);

#endif
