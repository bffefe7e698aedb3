/*
 * owner_all.h - stint owner status --all: what all hosts owe their owners
 */
#ifndef CMD_CLIENT_OWNER_ALL_H
#define CMD_CLIENT_OWNER_ALL_H

#include "cluster/client/client.h"

/* Ask the controller, and print: 0, or -errno. */
int owner_all(struct client_conf *conf, bool as_json,
	      struct error *err) must_check;

#endif
