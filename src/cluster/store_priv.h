/* store_priv.h - what store.c and store_schema.c share */
#ifndef CLUSTER_STORE_PRIV_H
#define CLUSTER_STORE_PRIV_H

#include <sqlite3.h>

#include "cluster/store.h"

struct store {
	sqlite3 *db;
	sqlite3_stmt **stmt;
	bool in_transaction;
	char **put; /* what this transaction has written, to be said again */
	size_t nr_put, cap_put;
	/* For room alone; closed after db, whose locks would go with it. */
	int fd, wal_fd;
	enum store_room room;
};

/*
 * Have the database to ourselves and in today's layout: make it, or bring one
 * of an earlier version up to date, after a copy of it as it is was kept as
 * PATH.vN.  A result of SQLite; where *err has a text, it says why.
 */
int store_schema(sqlite3 *db, const char *path, struct error *err) must_check;

/* ---- store_room.c: writing, also where there is no room */

void store_begin(struct store *s); /* a transaction, if there is none */
/* The statement that is about to be run is part of it. */
void store_note(struct store *s, sqlite3_stmt *st);
/* It failed so: write all of it again until that works, or end here. */
void store_again(struct store *s, int code);
__attribute__((noreturn)) void store_give_up(struct store *s);
void store_room_init(struct store *s, const char *path);
void store_room_clear(struct store *s);

#endif
