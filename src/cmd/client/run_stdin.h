/*
 * run_stdin.h - standard input on its way to rank 0
 *
 * The far end says from which offset to send and how much; the same bytes may
 * be asked for again (the rank has moved, a daemon was restarted), so the last
 * ones are kept.  Standard input is read only when there is room for it.
 */
#ifndef CMD_CLIENT_RUN_STDIN_H
#define CMD_CLIENT_RUN_STDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

struct run_stdin;

/* Is there anything to read?  Not on the terminal of a background job. */
bool run_stdin_wanted(void);

typedef int (*run_stdin_send)(void *ctx, uint64_t offset, const void *p,
			      size_t n, bool eof);
struct run_stdin *run_stdin_create(sd_event *event, run_stdin_send send,
				   void *ctx);
void run_stdin_destroy(struct run_stdin *s); /* NULL is allowed */

/* Send from offset `from` on, `room` bytes at most. */
void run_stdin_room(struct run_stdin *s, uint64_t from, uint64_t room);

#endif
