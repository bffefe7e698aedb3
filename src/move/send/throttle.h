/*
 * throttle.h - slow a process down that writes faster than the link carries
 *
 * While on, every throttle_tick() lets the process run for a moment or stop
 * for one, never longer than the downtime that was asked for.
 */
#ifndef MOVE_SEND_THROTTLE_H
#define MOVE_SEND_THROTTLE_H

#include "move/send/send.h"

void throttle_start(struct sending *s);
/* For page_sender_on_flush(): between two frames. */
void throttle_tick(void *sending);
/* The process runs at full speed again. */
void throttle_stop(struct sending *s);

#endif
