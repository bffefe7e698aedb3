/* print_json.h - JSON on standard output */
#ifndef CMD_PRINT_JSON_H
#define CMD_PRINT_JSON_H

struct json_t;

/* A string of any bytes: what is not UTF-8 becomes U+FFFD. */
struct json_t *json_text(const char *s);

/* Print on one line and drop the reference. */
void print_json(struct json_t *j);

#endif
