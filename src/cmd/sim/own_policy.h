/*
 * own_policy.h - policies from shared objects (policy/kit/own.h)
 *
 * For the simulator alone.  The controller takes none: it is root's, what is in the file
 * would be too, and a bug of it would be one of the cluster; a policy that is to decide
 * there becomes a file of Stint.
 */
#ifndef CMD_SIM_OWN_POLICY_H
#define CMD_SIM_OWN_POLICY_H

#include "core/error.h"

/*
 * Load the file that "FILE.so:key=value,..." names, once, so that policies.h finds it.
 * Nothing to do where spec names one of Stint's.  -EINVAL with the reason if it is none,
 * or was built for another version.  It is never unloaded.  If it calls exit(), that is
 * told in one line, and the program ends with EXIT_FAILED.
 */
int own_policy_load(const char *spec, struct error *err) must_check;

#endif
