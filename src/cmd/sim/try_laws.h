/* try_laws.h - stint policies --test: does a policy keep what all of Stint's keep? */
#ifndef CMD_SIM_TRY_LAWS_H
#define CMD_SIM_TRY_LAWS_H

#include <stdbool.h>

/*
 * Try each law (sim/laws/laws.h) on the policy "NAME:key=value,...", which is there, and
 * print a line each, or a JSON object.  Each in a process of its own, so that a policy that
 * crashes or never ends is told as one that breaks a law.  True if all were kept.
 */
bool try_laws(const char *policy, bool json);

#endif
