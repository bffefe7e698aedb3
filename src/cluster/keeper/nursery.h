/*
 * nursery.h - the process that an agent's keepers are forked from
 *
 * To execute the program, with all libraries that a move may need, takes longer
 * than all else a short job asks of its keeper.  So an agent executes it once,
 * as `stint keeper --nursery`, and orders keepers from it; each is a process
 * and a session of its own, and ends for itself alone.  The nursery ends when its agent
 * does.  An agent whose nursery has died makes another one.
 *
 * A keeper whose rank has ended rests for a while: it has forgotten the rank, and the
 * nursery hands it an order for the same user instead of forking another, if all else
 * on the command line is the same.
 */
#ifndef CLUSTER_KEEPER_NURSERY_H
#define CLUSTER_KEEPER_NURSERY_H

#include <stddef.h>

/*
 * An order is one packet (core/packet.h): a keeper's command line as
 * /proc/PID/cmdline shows it, "stint\0keeper\01.0\0...", and one
 * descriptor, which the keeper has as NURSERY_READY.
 */
enum { NURSERY_READY = 3, NURSERY_ORDER_MAX = 64 << 10 };
enum {
	NURSERY_WORD_RANK = 2
}; /* which may differ, of the words of two orders */

/*
 * Set where a nursery is executed (ld.so(8)): it looks up once what each keeper
 * would look up for itself.
 */
#define NURSERY_BINDS "LD_BIND_NOW"

/* How a resting keeper shows, in the place of its command line. */
#define NURSERY_AT_REST "stint\0keeper\0--at-rest"

/* What a keeper does, with such a command line; its exit status, or NURSERY_RESTS. */
enum { NURSERY_RESTS = 256 };
typedef int nursery_keeper(int argc, char **argv);

/* Fork a keeper for each order that comes by sock, until that is closed. */
void nursery_serve(int sock, nursery_keeper *be);

#endif
