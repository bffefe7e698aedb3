/* play_contract.c - see play_contract.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/play_contract.h"

struct owner_terms terms;
struct contract c;
struct scene scene;
usec_t now, step;
char *paper;

struct moment moment(void)
{
	struct moment m = moment_plain(now + step);

	m.steady = now;
	return m;
}

void feed(void)
{
	struct moment m = moment();

	contract_feed(&c, &terms, &m, &scene);
}

enum closed closed(void)
{
	struct moment m = moment();

	return contract_closed(&c, &terms, &m);
}

usec_t next(void)
{
	struct moment m = moment();

	return contract_next(&c, &terms, &m);
}

int fresh(void **state)
{
	struct moment m;

	(void)state;
	owner_terms_init(&terms);
	now = 8 * HOUR;
	step = 0;
	scene = (struct scene){ .touched = -DAY };
	m = moment();
	contract_begin(&c, &m);
	feed();
	return 0;
}

void guests(uint32_t n)
{
	scene.guests = scene.running = n;
	feed();
}

void owner(bool here)
{
	scene.here = here;
	scene.touched = now;
	feed();
}

void visit(void)
{
	owner(true);
	guests(0);
	now += MIN;
	owner(false);
	now += terms.quiet;
	feed();
}

void on_paper(const char *boot)
{
	struct moment m = moment();
	size_t n;
	FILE *f = open_memstream(&paper, &n);

	contract_write(&c, &m, boot, f);
	fclose(f);
}

int from_paper(const char *boot)
{
	struct moment m = moment();
	struct error err = ERROR_INIT;
	int r = contract_read(&c, paper, &m, boot, &err);

	assert_true(!r || *err.text);
	free(paper);
	return r;
}
