/* names.c - see names.h */
#include "core/names.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "core/xalloc.h"

struct numbered_name {
	UT_hash_handle hh;
	char *name;
	uint32_t number;
};

uint32_t names_find(const struct names *names, const char *name)
{
	struct numbered_name *n;

	HASH_FIND_STR(names->table, name, n);
	return n ? n->number : UINT32_MAX;
}

uint32_t names_count(const struct names *names)
{
	return (uint32_t)HASH_COUNT(names->table);
}

uint32_t names_add(struct names *names, const char *name)
{
	uint32_t number = names_find(names, name);
	struct numbered_name *n;

	if (number != UINT32_MAX)
		return number;
	n = xmalloc(sizeof(*n));
	n->name = xstrdup(name);
	n->number = names_count(names);
	number = n->number;
	HASH_ADD_KEYPTR(hh, names->table, n->name, strlen(n->name), n);
	return number;
}

void names_clear(struct names *names)
{
	struct numbered_name *n, *next;

	HASH_ITER (hh, names->table, n, next) {
		HASH_DEL(names->table, n);
		free(n->name);
		free(n);
	}
}
