/* play.c - an owner of a host of its own, see play.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/play.h"
#include "core/xalloc.h"

char play_dir[SCRATCH_MAX];
struct owner_conf play_conf;
sd_event *play_event;
struct owner *play_owner;
bool play_guests;
unsigned play_changes;

static void on_change(void *ctx)
{
	play_changes++;
}

static bool is_empty(void *ctx)
{
	return !play_guests;
}

static void set_path(char **path, const char *name)
{
	free(*path);
	*path = below(name);
}

int play_setup(void **state)
{
	scratch_dir(play_dir, "/tmp");
	owner_conf_init(&play_conf);
	set_path(&play_conf.utmp, "utmp");
	set_path(&play_conf.input, "input");
	set_path(&play_conf.power, "power");
	play_conf.sources = 0;
	play_changes = 0;
	play_guests = false;
	return loop_create(&play_event, NULL);
}

int play_setup_lingering(void **state)
{
	int r = play_setup(state);

	play_conf.linger = PLAY_LINGER;
	return r;
}

const struct presence *is(void)
{
	return owner_presence(play_owner);
}

void set(const char *name, const char *value)
{
	assert_int_equal(owner_conf_set(&play_conf, name, value, NULL), 0);
}

void play_begin(const char *sources)
{
	static const struct owner_ops ops = { on_change, is_empty };
	struct error err;

	if (sources)
		assert_int_equal(
			owner_conf_set(&play_conf, "sources", sources, &err),
			0);
	assert_int_equal(owner_create(play_event, "h1", play_dir, &play_conf,
				      &ops, NULL, &play_owner, &err),
			 0);
}

void play_end(void)
{
	owner_destroy(play_owner);
	play_owner = NULL;
}

int play_teardown(void **state)
{
	play_end();
	play_event = sd_event_unref(play_event);
	owner_conf_clear(&play_conf);
	return 0;
}

void play_settle(void)
{
	while (sd_event_run(play_event, 0) > 0)
		continue;
}

bool play_wait(usec_t until)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);

	return now < until &&
	       sd_event_run(play_event, (uint64_t)(until - now)) > 0;
}

char *below(const char *name)
{
	return xasprintf("%s/%s", play_dir, name);
}

void put(const char *name, const char *text)
{
	char *path = below(name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	free(path);
}
