/* record_priv.h - what the readers of a record's lines share */
#ifndef MODEL_RECORD_PRIV_H
#define MODEL_RECORD_PRIV_H

#include "model/record.h"

/* Bytes, or segments, a second. */
#define RECORD_RATE_MAX 1e15

/* "%20" and the like, in place. */
int record_unescape(char *text, struct error *err) must_check;
int record_bytes(const char *text, uint64_t *ret, struct error *err) must_check;
/* One field, which key names, into l->fresh. */
int record_host_field(const char *key, char *value, struct record_line *l,
		      struct error *err) must_check;

#endif
