/* print_json.h - JSON on standard output */
#ifndef CMD_PRINT_JSON_H
#define CMD_PRINT_JSON_H

struct json_t;

/* Print on one line and drop the reference. */
void print_json(struct json_t *j);

#endif
