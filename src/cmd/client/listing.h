/*
 * listing.h - hosts and jobs as several commands list them
 */
#ifndef CMD_CLIENT_LISTING_H
#define CMD_CLIENT_LISTING_H

#include <stdio.h>

#include "cluster/client/client.h"

struct json_out;
struct json_t;

/* "up", "draining", ... */
const char *host_state(const Control__HostInfo *h);
struct json_t *host_json(const Control__HostInfo *h);
void job_json(const Control__JobInfo *i, struct json_out *to);
/* What was asked for each rank, NULL: nothing; as "limits", and as people read it. */
void limits_json(const Control__Limits *l, struct json_out *to);
void limits_print(const Control__Limits *l, FILE *to);

/*
 * Ask for jobs from list->from on, as many as an answer holds; list->from is then the one to
 * go on with, or 0.  *ret is for message_free().
 */
int list_jobs_on(struct client *c, Control__ListJobs *list,
		 Control__Message **ret, struct error *err) must_check;

/*
 * A text of a table of comma-separated values, on stdout: in quotes, one line, a quote doubled.  What a spreadsheet would take for a formula
 * gets an apostrophe, which it takes for text.
 */
void csv_text(char *text);

/* The table of `stint hosts`. */
void hosts_table(const Control__Hosts *hosts, FILE *to);

/* Bytes of its memory that a rank writes a second, as seen when it moved; -1: not known. */
double rank_writes_told(const Control__RankInfo *r);

#endif
