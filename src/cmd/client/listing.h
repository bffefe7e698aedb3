/*
 * listing.h - hosts and jobs as several commands list them
 */
#ifndef CMD_CLIENT_LISTING_H
#define CMD_CLIENT_LISTING_H

#include <stdio.h>

#include "cluster/client/client.h"

struct json_t;

/* "up", "draining", ... */
const char *host_state(const Control__HostInfo *h);
struct json_t *host_json(const Control__HostInfo *h);
struct json_t *job_json(const Control__JobInfo *i);

/* The table of `stint hosts`. */
void hosts_table(const Control__Hosts *hosts, FILE *to);

#endif
