/*
 * json.h - what --json prints: one object a line
 *
 * Each thing that a command lists or reports is an object on a line of its own,
 * so that a program can read them one by one; an empty list prints no line.
 * json_pack() returns NULL for a string that is not UTF-8 or a number that is
 * not finite: pack values that may be such with json_text() and json_number()
 * ("o").
 */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include <stdio.h>

struct json_t;

/* A string of any bytes: what is not UTF-8 becomes U+FFFD.  NULL: null. */
struct json_t *json_text(const char *s);

/* A number; null where JSON has none (infinite, or not a number). */
struct json_t *json_number(double v);

/* Print j on one line and drop the reference to it. */
void json_line(struct json_t *j, FILE *to);

#endif
