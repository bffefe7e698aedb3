/*
 * trace_import.h - stint trace import: traces of others in Stint's formats
 */
#ifndef CMD_SIM_TRACE_IMPORT_H
#define CMD_SIM_TRACE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/units.h"

struct trace_import {
	const char *from; /* "sacct", "fta", "planetlab", "record" */
	char **file;	  /* nr of them; - is standard input */
	size_t nr;
	const char *output;
	uint32_t procs; /* sacct: of the machine; 0: not known */
	usec_t every;	/* planetlab: between samples; 0: 5 min */
	bool anonymous; /* record: hosts are h1, h2, ... */
};

/* Do they go together?  Before anything is read. */
int trace_import_check(const struct trace_import *t,
		       struct error *err) must_check;

/* Write output, and say on standard error what was left out. */
int trace_import(const struct trace_import *t, struct error *err) must_check;

#endif
