/*
 * moved.h - showing how a move went
 */
#ifndef CMD_CLIENT_MOVED_H
#define CMD_CLIENT_MOVED_H

#include <stdbool.h>

#include "cluster/conn/control.pb-c.h"

/* The timeline of one move, for people or as one line of JSON. */
void moved_print(const Control__Moved *m, bool json);

#endif
