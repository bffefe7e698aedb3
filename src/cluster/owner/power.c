/*
 * power.c - does the host run on its battery?  Then its owner needs all of it.
 *
 * sysfs tells no changes of it, so it is looked at.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/priv.h"
#include "cluster/owner/source.h"
#include "core/io.h"
#include "core/xalloc.h"

#define POWER_OFTEN  (5 * USEC_PER_SEC)
#define POWER_SELDOM (60 * USEC_PER_SEC) /* there is no battery */

struct power {
	struct owner *owner;
	sd_event_source *again;
};

/* What all supplies come to. */
struct supplies {
	bool battery, drains, mains, unreadable;
};

static bool word_is(int dir, const char *file, const char *word)
{
	char *text;
	bool is;

	if (io_read_file(dir, file, 64, &text) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	is = !strcmp(text, word);
	free(text);
	return is;
}

static void look_at_one(int dir, struct supplies *s)
{
	if (faccessat(dir, "type", R_OK, 0) < 0) {
		s->unreadable = true;
	} else if (!word_is(dir, "type", "Battery")) {
		s->mains |= word_is(dir, "online", "1");
	} else if (!word_is(dir, "scope", "Device")) { /* as a mouse's */
		s->battery = true;
		s->drains |= word_is(dir, "status", "Discharging");
	}
}

static void look_at_all(const char *path, struct supplies *ret)
{
	DIR *dir = opendir(path);
	const struct dirent *e;

	*ret = (struct supplies){ .unreadable = !dir && errno != ENOENT };
	while (dir && (e = readdir(dir))) {
		fd_auto one =
			*e->d_name == '.'
				? -1
				: openat(dirfd(dir), e->d_name,
					 O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (one >= 0)
			look_at_one(one, ret);
	}
	if (dir)
		closedir(dir);
}

static int on_again(sd_event_source *src, uint64_t usec, void *arg)
{
	struct power *p = arg;
	struct supplies s;

	look_at_all(p->owner->conf.power, &s);
	owner_lost(p->owner, OWNER_POWER, PRESENCE_POWER, s.unreadable,
		   "its power supplies cannot be read");
	owner_hold(p->owner, PRESENCE_POWER, s.drains && !s.mains, NULL);
	sd_event_source_set_time_relative(src, s.battery ? POWER_OFTEN
							 : POWER_SELDOM);
	sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
	return 0;
}

static void *power_begin(struct owner *o)
{
	struct power *p = xcalloc(1, sizeof(*p));

	p->owner = o;
	loop_after(o->event, &p->again, 1, on_again, p);
	return p;
}

static void power_end(void *source)
{
	struct power *p = source;

	sd_event_source_disable_unref(p->again);
	free(p);
}

static bool power_reread(void *source)
{
	struct power *p = source;

	on_again(p->again, 0, p);
	return true;
}

const struct owner_source owner_source_power = {
	.name = "power",
	.voices = 1u << OWNER_POWER,
	.begin = power_begin,
	.end = power_end,
	.reread = power_reread,
};
