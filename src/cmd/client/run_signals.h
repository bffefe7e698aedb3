/*
 * run_signals.h - the signals that `stint run` takes for its job
 */
#ifndef CMD_CLIENT_RUN_SIGNALS_H
#define CMD_CLIENT_RUN_SIGNALS_H

#include <stdbool.h>

#include <systemd/sd-event.h>

/*
 * Have them handled by the event loop: INT, TERM, HUP, QUIT, USR1, USR2, ALRM;
 * PIPE is ignored.  0 or -errno.
 */
int run_signals_take(sd_event *event, sd_event_signal_handler_t handler,
		     void *ctx);

/*
 * Is it a signal that a person sends to end a program, and that ends one
 * without a handler?
 */
bool run_signal_ends(int signo);

#endif
