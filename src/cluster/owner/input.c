/*
 * input.c - keyboards, mice, the lid: that there was an event, not which
 *
 * What is read is thrown away unread: which keys were pressed is nobody's
 * business.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/priv.h"
#include "cluster/owner/source.h"
#include "core/xalloc.h"

enum { INPUT_DEVICES = 64 };

struct device {
	struct input *input;
	char name[24]; /* "event3"; "": none */
	struct owner_inlet *inlet;
};

struct input {
	struct owner *owner;
	struct owner_inlet *changes; /* inotify of the directory */
	sd_event_source *again;
	struct device device[INPUT_DEVICES];
};

static bool has_bit(const unsigned long *bits, unsigned n)
{
	return bits[n / (8 * sizeof(long))] >> n % (8 * sizeof(long)) & 1;
}

/* Not an accelerometer, which never rests, nor a loudspeaker. */
static bool is_touched_by_people(int fd)
{
	unsigned long types[EV_CNT / 8 / sizeof(long) + 1] = { 0 };

	if (ioctl(fd, EVIOCGBIT(0, sizeof(types)), types) < 0)
		return errno == ENOTTY; /* a test's pipe */
	return has_bit(types, EV_KEY) || has_bit(types, EV_REL) ||
	       has_bit(types, EV_SW);
}

static void close_device(struct device *d)
{
	owner_inlet_close(d->inlet);
	d->inlet = NULL;
	d->name[0] = '\0';
}

static void on_touched(void *ctx, int fd)
{
	struct device *d = ctx;
	char unread[4096];
	bool any = false;
	ssize_t n;

	for (int i = 0; i < 64 && (n = read(fd, unread, sizeof(unread))) > 0;
	     i++)
		any = true;
	explicit_bzero(unread, sizeof(unread));
	if (any)
		owner_sign(d->input->owner, PRESENCE_INPUT, 0, NULL);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_device(d); /* it was pulled out */
}

static struct device *find_device(struct input *w, const char *name)
{
	for (size_t i = 0; i < INPUT_DEVICES; i++)
		if (!strcmp(w->device[i].name, name))
			return &w->device[i];
	return NULL;
}

static void open_device(struct input *w, int dir, const char *name)
{
	struct device *d = find_device(w, "");
	int fd;

	if (!d || strncmp(name, "event", 5) ||
	    strlen(name) >= sizeof(d->name) || find_device(w, name))
		return;
	fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return; /* not for us; its rights may come later */
	if (!is_touched_by_people(fd)) {
		close(fd);
		return;
	}
	d->input = w;
	snprintf(d->name, sizeof(d->name), "%s", name);
	d->inlet = owner_inlet_open(w->owner, fd, on_touched, d);
}

static void open_all(struct input *w)
{
	DIR *dir = opendir(w->owner->conf.input);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		open_device(w, dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
}

static void on_change(void *ctx, int fd)
{
	char buf[4096] __attribute__((aligned(8)));

	while (read(fd, buf, sizeof(buf)) > 0)
		continue;
	open_all(ctx);
}

static void look(struct input *w);

static int on_again(sd_event_source *src, uint64_t usec, void *arg)
{
	struct input *w = arg;

	w->again = sd_event_source_disable_unref(w->again);
	look(w);
	return 0;
}

static void watch_dir(struct input *w)
{
	w->changes = owner_inlet_inotify(w->owner, on_change, w);
	if (w->changes && owner_inlet_add(w->changes, w->owner->conf.input,
					  IN_CREATE | IN_ATTRIB) < 0) {
		owner_inlet_close(w->changes);
		w->changes = NULL;
	}
}

static void look(struct input *w)
{
	watch_dir(w);
	owner_lost(
		w->owner, OWNER_INPUT, PRESENCE_INPUT, !w->changes,
		"keyboard and mouse cannot be watched " OWNER_INOTIFY_LIMITS);
	if (!w->changes)
		loop_after(w->owner->event, &w->again, OWNER_AGAIN, on_again,
			   w);
	open_all(w);
}

static void input_end(void *source)
{
	struct input *w = source;

	for (size_t i = 0; i < INPUT_DEVICES; i++)
		owner_inlet_close(w->device[i].inlet);
	owner_inlet_close(w->changes);
	sd_event_source_disable_unref(w->again);
	free(w);
}

/* Who touches them is not known, so not whether it is one of named users. */
static void *input_begin(struct owner *o)
{
	struct input *w;

	if (!o->conf.console || o->conf.users ||
	    access(o->conf.input, F_OK) < 0)
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->owner = o;
	look(w);
	return w;
}

const struct owner_source owner_source_input = {
	.name = "input",
	.voices = 1u << OWNER_INPUT,
	.begin = input_begin,
	.end = input_end,
};
