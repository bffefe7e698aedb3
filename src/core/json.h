/*
 * json.h - what --json prints: one object a line
 *
 * Each thing that a command lists or reports is an object on a line of its own,
 * so that a program can read them one by one; an empty list prints no line.
 * json_pack() returns NULL for a string that is not UTF-8 or a number that is
 * not finite: pack values that may be such with json_text() and json_number()
 * ("o").
 *
 * Where there may be a hundred thousand of them, a value is written as it comes
 * (json_out_*): to make trees of them took four times as long.  The bytes are those of
 * json_line().
 */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_t;

/* A string of any bytes: what is not UTF-8 becomes U+FFFD.  NULL: null. */
struct json_t *json_text(const char *s);

/* A number; null where JSON has none (infinite, or not a number). */
struct json_t *json_number(double v);

/* Print j on one line and drop the reference to it. */
void json_line(struct json_t *j, FILE *to);

struct json_out {
	FILE *to;
	bool more; /* the next value follows another */
};

/*
 * Begin and end an object or an array: '{' '}', '[' ']'.  Keys are plain words of ours;
 * NULL in an array and for the outermost value, whose line the caller ends.
 */
void json_out_open(struct json_out *o, const char *key, char bracket);
void json_out_close(struct json_out *o, char bracket);
/* As json_text() and json_number() have them. */
void json_out_text(struct json_out *o, const char *key, const char *s);
void json_out_number(struct json_out *o, const char *key, double v);
void json_out_int(struct json_out *o, const char *key, int64_t v);
void json_out_bool(struct json_out *o, const char *key, bool v);
/* Drops the reference to it. */
void json_out_tree(struct json_out *o, const char *key, struct json_t *j);

#endif
