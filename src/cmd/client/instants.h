/*
 * instants.h - the instants in a policy's sentence, as people read them
 *
 * A policy knows no calendar: in its sentences an instant is seconds since 1970,
 * "1795813883.741022 s".  Which local time that is, is known where somebody reads it.
 */
#ifndef CMD_CLIENT_INSTANTS_H
#define CMD_CLIENT_INSTANTS_H

#include <stdint.h>

/* "2026-11-27 21:11:23", into ret. */
const char *show_time(uint64_t usec, char ret[32]);

/* The sentence, with such a time for each number of seconds that is one: from 2001 on,
 * for no policy's duration is 30 years.  The caller frees it. */
char *instants_told(const char *text);

#endif
