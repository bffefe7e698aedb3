/*
 * swf_words.h - what people are told of a trace that is read, and the option that says
 * how: the same words in stint sim and stint trace
 */
#ifndef CMD_SIM_SWF_WORDS_H
#define CMD_SIM_SWF_WORDS_H

#include "core/error.h"
#include "sim/workload/swf.h"

/* The value of --extra-columns. */
int swf_words_extra(const char *text, enum swf_extra *ret,
		    struct error *err) must_check;

/* What was left out of a trace, on stderr: it is never silent. */
void swf_words_dropped(const char *path, const struct swf_trace *t);

/* And what a simulation makes of it otherwise. */
void swf_words_changed(const char *path, const struct swf_trace *t);

#endif
