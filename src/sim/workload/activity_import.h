/*
 * activity_import.h - what owners did, from traces that others have published, and from
 * what live hosts were seen to do
 *
 * Errors say file and line, and leave *ret alone, which is for activity_clear().
 */
#ifndef SIM_WORKLOAD_ACTIVITY_IMPORT_H
#define SIM_WORKLOAD_ACTIVITY_IMPORT_H

#include <stddef.h>

#include "core/error.h"
#include "model/activity.h"

/*
 * The event_trace table of the Failure Trace Archive (script.h): where a node was not
 * available its owner is taken to be here, also after its last line says that it was.  Nodes
 * are h1, h2, ... in the order of their first lines, and 0 is the first instant.
 */
int activity_import_fta(const char *path, struct activity *ret,
			struct error *err) must_check;

/*
 * CPU samples as PlanetLab's CoMon took them: a file a host, a number from 0 to 100 a line,
 * the percentage of the processor in use; one line every `every`.  It becomes the load.  Hosts
 * are called as the files, without folders, "_" for what may not be in a name.
 */
int activity_import_samples(char *const *path, size_t nr, usec_t every,
			    struct activity *ret, struct error *err) must_check;

/*
 * A record of a live run (model/record.h): its hosts by their names, whether somebody is
 * there (or the host does not answer), load, sessions, whose own it is (one user), and memory
 * that is neither free nor what guests were last seen to need.  Times are microseconds since
 * 1970.  A record does not tell who types, so somebody who is there does.
 */
int activity_import_record(const char *path, struct activity *ret,
			   struct error *err) must_check;

#endif
