/* store_priv.h - what store.c and store_schema.c share */
#ifndef CLUSTER_STORE_PRIV_H
#define CLUSTER_STORE_PRIV_H

#include <sqlite3.h>

#include "core/error.h"

/*
 * Have the database to ourselves and in today's layout: make it, or bring one
 * of an earlier version up to date, after a copy of it as it is was kept as
 * PATH.vN.  A result of SQLite; where *err has a text, it says why.
 */
int store_schema(sqlite3 *db, const char *path, struct error *err) must_check;

#endif
