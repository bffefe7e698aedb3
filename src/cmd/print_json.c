/* print_json.c - JSON on standard output */
#include "cmd/print_json.h"

#include <jansson.h>
#include <stdio.h>

void print_json(json_t *j)
{
	json_dumpf(j, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(j);
}
