/*
 * notice.c - has the host been told that it goes soon?  A command of the
 * administrator's knows
 *
 * Clouds tell it in a file, by a tool, or at a URL of the host's own ("gone in 120 s"), each
 * in its own words; the command puts them into ours: it prints nothing, or in how long
 * the host will be gone.  It runs again and again, one at a time, in a process group of its
 * own, and is killed where it takes too long.  What fails or prints anything else
 * three times in a row cannot be read: guests are not safe there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/priv.h"
#include "cluster/owner/source.h"
#include "core/io.h"
#include "core/log.h"
#include "core/signals.h"
#include "core/xalloc.h"

enum { NOTICE_TEXT = 200, NOTICE_FAILURES = 3 };

/* An answer of more than a year is none. */
#define NOTICE_MOST (365 * USEC_PER_DAY)

#define SPACE " \t\r\n"

/* Its status is told behind what it prints: children are reaped elsewhere. */
#define WRAPPER "(eval \"$0\") </dev/null; echo \"exit=$?\""

extern char **environ;

struct notice {
	struct owner *owner;
	char *command;
	sd_event_source *timer; /* the next run, or the end of patience */
	sd_event_source *reader;
	bool runs;
	pid_t pid; /* of its group; 0: that is no more */
	int out;
	char text[NOTICE_TEXT];
	size_t nr;
	unsigned failures;
	usec_t told; /* the instant that was told last; 0: none */
};

static int on_timer(sd_event_source *src, uint64_t usec, void *arg);

static void run_after(struct notice *n, usec_t after)
{
	n->timer = sd_event_source_disable_unref(n->timer);
	loop_after(n->owner->event, &n->timer, after, on_timer, n);
}

static void kill_group(struct notice *n)
{
	if (n->pid)
		kill(-n->pid, SIGKILL);
	n->pid = 0;
}

/* The shell has ended, and as long as it is not reaped the group is its own. */
static void notice_child(void *source, pid_t pid)
{
	struct notice *n = source;

	if (n->pid == pid)
		kill_group(n);
}

/* The shell is not reaped here, but with all children (owner_child()). */
static void run_ends(struct notice *n)
{
	if (!n->runs)
		return;
	n->runs = false;
	n->reader = sd_event_source_disable_unref(n->reader);
	kill_group(n);
	io_close(&n->out);
}

/* ---- what it said */

static void cannot_tell(struct notice *n, const char *why)
{
	if (n->failures < NOTICE_FAILURES)
		n->failures++;
	if (n->failures == 1)
		log_warnx("owner: notice: %s", why);
	owner_lost(n->owner, OWNER_NOTICE, PRESENCE_NOTICE,
		   n->failures == NOTICE_FAILURES,
		   "whether the host goes soon cannot be told");
}

static void take(struct notice *n, bool goes, usec_t span)
{
	usec_t by = goes ? owner_now() + span : 0;

	/* A text that stands still, as a file's, does not put it off. */
	if (goes && n->told && n->told < by)
		by = n->told;
	n->failures = 0;
	owner_lost(n->owner, OWNER_NOTICE, PRESENCE_NOTICE, false, NULL);
	if (goes != (n->told != 0))
		log_info("owner: notice: the host %s",
			 goes ? "goes soon" : "does not go any more");
	n->told = by;
	n->owner->signs.sign[PRESENCE_NOTICE].by = by;
	owner_hold(n->owner, PRESENCE_NOTICE, goes, NULL);
}

/* "[TIME]\nexit=0\n" is what can be read. */
static void read_answer(struct notice *n)
{
	char *status = strstr(n->text, "exit="), *word = n->text;
	usec_t span;

	if (!status || strcmp(status, "exit=0\n")) {
		cannot_tell(n, "its command fails");
		return;
	}
	while (status > word && strchr(SPACE, status[-1]))
		status--;
	*status = '\0';
	word += strspn(word, SPACE);
	if (!*word)
		take(n, false, 0);
	else if (parse_usec(word, &span, NULL) < 0 || span > NOTICE_MOST)
		cannot_tell(n, "its command printed no time, such as 120s");
	else
		take(n, true, span);
}

static int on_output(sd_event_source *src, int fd, uint32_t events, void *arg)
{
	struct notice *n = arg;
	ssize_t r = read(fd, n->text + n->nr, sizeof(n->text) - 1 - n->nr);

	if (r < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (r > 0) {
		n->nr += (size_t)r;
		if (n->nr < sizeof(n->text) - 1)
			return 0;
	}
	n->text[n->nr] = '\0';
	run_ends(n);
	read_answer(n);
	run_after(n, n->owner->conf.notice_every);
	return 0;
}

/* ---- it runs */

static int spawn(struct notice *n, int out)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)WRAPPER,
			 n->command, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int r;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawnattr_init(&attr);
	signals_spawn_reset(&attr, POSIX_SPAWN_SETPGROUP);
	r = -posix_spawn(&n->pid, "/bin/sh", &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (r < 0)
		n->pid = 0;
	n->runs = !r;
	return r;
}

static int run(struct notice *n)
{
	int ends[2], r;

	n->nr = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	n->out = ends[0];
	r = fcntl(n->out, F_SETFL, O_NONBLOCK) < 0 ? -errno : spawn(n, ends[1]);
	io_close(&ends[1]);
	if (!r)
		r = sd_event_add_io(n->owner->event, &n->reader, n->out,
				    EPOLLIN, on_output, n);
	if (r < 0)
		io_close(&n->out);
	return r < 0 ? r : 0;
}

static int on_timer(sd_event_source *src, uint64_t usec, void *arg)
{
	struct notice *n = arg;

	if (n->runs) {
		run_ends(n);
		cannot_tell(n, "its command hangs");
		run_after(n, n->owner->conf.notice_every);
	} else if (run(n) < 0) {
		run_ends(n);
		cannot_tell(n, "its command cannot be run");
		run_after(n, n->owner->conf.notice_every);
	} else {
		run_after(n, n->owner->conf.patience);
	}
	return 0;
}

static void *notice_begin(struct owner *o)
{
	struct notice *n;

	if (!o->conf.notice)
		return NULL;
	n = xcalloc(1, sizeof(*n));
	n->owner = o;
	n->command = xstrdup(o->conf.notice);
	n->out = -1;
	run_after(n, 1);
	return n;
}

static void notice_end(void *source)
{
	struct notice *n = source;

	run_ends(n);
	sd_event_source_disable_unref(n->timer);
	n->owner->signs.sign[PRESENCE_NOTICE].by = 0;
	free(n->command);
	free(n);
}

/* What the same command has told stands, and is not put off. */
static bool notice_reread(void *source)
{
	const struct notice *n = source;
	const char *command = n->owner->conf.notice;

	return command && !strcmp(n->command, command);
}

const struct owner_source owner_source_notice = {
	.name = "notice",
	.voices = 1u << OWNER_NOTICE,
	.begin = notice_begin,
	.end = notice_end,
	.reread = notice_reread,
	.child = notice_child,
};
