/*
 * terms.h - what the owner of a host allows guests
 *
 * Section [owner] of a host's stint.conf.  The agent keeps the terms itself,
 * asking nobody; the simulator's hosts keep the same ones.  What they come to
 * over a day is the contract (model/contract.h).
 */
#ifndef MODEL_TERMS_H
#define MODEL_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/units.h"

#define LOAD_ANY   1e9 /* owner_terms.load: no load closes the host */
#define GUESTS_ANY UINT32_MAX

/*
 * An instant, in all the words that terms use.  A driver makes one from its
 * clocks, moment_plain() from a simulated time.
 */
struct moment {
	usec_t steady;	 /* nobody sets it; it goes on while a host sleeps */
	usec_t wall;	 /* since 1970, UTC; people and daemons set it */
	usec_t midnight; /* the next one of the host's local day, as wall */
	uint8_t weekday; /* local; 0 is Sunday */
	uint16_t minute; /* of the local day */
};

/* All days have 24 hours; time 0 is the beginning of a Monday. */
struct moment moment_plain(usec_t now);

/* What becomes of guests when the owner comes. */
enum on_return {
	RETURN_LEAVE,  /* they move, or are frozen where they cannot */
	RETURN_SHARE,  /* they stay, with the lowest claim on everything */
	RETURN_FREEZE, /* they stand still, for freeze_most; then they leave */
};

enum { TERMS_QUARTERS = 96 }; /* of an hour, in a day */

struct owner_terms {
	/* When guests may come. */
	usec_t quiet;	   /* nobody has touched the host for so long */
	double load;	   /* non-guests' per core; LOAD_ANY */
	usec_t load_quiet; /* no more than that for so long */
	/* Quarters of local weekdays in which guests may be here, a bit each. */
	uint8_t hours[7][TERMS_QUARTERS / 8];
	/* How much they may take. */
	uint64_t memory;   /* bytes that always are the owner's */
	uint32_t cores;	   /* so many, too */
	uint64_t disk;	   /* bytes a second, of all guests together; 0: any */
	uint64_t net;	   /* bytes a second of its uplink each way; 0: any */
	uint64_t move_net; /* and for moves */
	uint32_t guests;   /* ranks here at a time; GUESTS_ANY */
	char *guests_of;   /* "ann,bob": whose; NULL: anybody's */
	/* The owner comes back. */
	enum on_return on_return;
	usec_t freeze_most; /* a guest stands still no longer */
	uint32_t disturb;   /* times a day (model/contract.h) */
	usec_t give_back;   /* that takes longer closes the host for the day */
};

/* The defaults; owner_terms_clear() frees what setting them took. */
void owner_terms_init(struct owner_terms *terms);
/* As from, by itself. */
void owner_terms_copy(struct owner_terms *to, const struct owner_terms *from);
void owner_terms_clear(struct owner_terms *terms);

/*
 * One setting.  -ENOENT, and nothing in err, if there is none of that name; a
 * wrong value leaves the terms as they are.
 */
int owner_terms_set(struct owner_terms *terms, const char *name,
		    const char *value, struct error *err) must_check;

/* The names of all settings, for messages: "quiet, load, ...". */
extern const char owner_terms_names[];

/* May guests be here at that hour? */
bool owner_terms_hour(const struct owner_terms *terms,
		      const struct moment *now);

/*
 * The next quarter after now at which owner_terms_hour() changes, as steady;
 * USEC_MAX: never.
 */
usec_t owner_terms_next_hour(const struct owner_terms *terms,
			     const struct moment *now);

/* May a rank of that user be here? */
bool owner_terms_admit(const struct owner_terms *terms, const char *user);

#endif
