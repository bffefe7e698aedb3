/*
 * command.c - what all subcommands share, in whichever program they are
 */
#include "cmd/kit/command.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/units.h"
#include "core/xalloc.h"

static bool told; /* what went wrong */
static const char *
	at_work; /* "stint NAME": its options have been read, it has not returned */

int command_fail(const char *name, int code, const struct error *err)
{
	told = true;
	fprintf(stderr, "stint %s: %s\n", name, err->text);
	return code;
}

int command_code(int rc)
{
	return rc == -EINVAL || rc == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
}

/* ---- command lines ---- */

/* What the C library has to say of one, and where it would say it. */
static struct {
	FILE *to, *stderr;
	char *text;
	size_t size;
} said;

static void hush(void)
{
	said.stderr = stderr;
	said.to = open_memstream(&said.text, &said.size);
	if (!said.to)
		abort(); /* out of memory */
	stderr = said.to;
}

static void unhush(void)
{
	if (!said.to)
		return;
	stderr = said.stderr;
	fclose(said.to);
	said.to = NULL;
}

static _Noreturn void misuse(const char *name, const char *text)
{
	struct error err;

	told = true;
	error_set(&err, -EINVAL, "%s", text);
	fprintf(stderr, "%s: %s (%s --help tells more)\n", name, err.text,
		name);
	exit(EXIT_USAGE);
}

void command_misuse(const struct argp_state *state, const char *fmt, ...)
{
	struct error err;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err.text, sizeof(err.text), fmt, ap);
	va_end(ap);
	unhush();
	misuse(state->name, err.text);
}

int command_parsed(const struct argp_state *state, int rc,
		   const struct error *err)
{
	if (rc >= 0)
		return 0;
	told = true;
	unhush();
	fprintf(stderr, "%s: %s\n", state->name, err->text);
	exit(command_code(rc));
}

int command_span(const char *text, const char *option, uint64_t *ret,
		 struct error *err)
{
	usec_t t;
	int r = parse_usec(text, &t, err);

	if (!r && !t)
		r = error_set(err, -EINVAL,
			      "'%s' is not a time: it must be longer than 0",
			      text);
	if (r < 0)
		return error_prefix(err, r, "%s", option);
	*ret = (uint64_t)t;
	return 0;
}

/* The instant that text names, as of now; false: it names none. */
static bool read_clock(const char *text, time_t now, time_t *ret)
{
	static const char *const dates[] = { "%Y-%m-%d %H:%M",
					     "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M",
					     "%Y-%m-%dT%H:%M:%S" };
	static const char *const times[] = { "%H:%M", "%H:%M:%S" };
	const char *end;
	struct tm tm;
	int day;

	for (size_t i = 0; i < sizeof(dates) / sizeof(*dates); i++) {
		tm = (struct tm){ .tm_isdst = -1 };
		end = strptime(text, dates[i], &tm);
		if (!end || *end)
			continue;
		day = tm.tm_mday;
		*ret = mktime(&tm);
		return *ret != -1 && tm.tm_mday == day; /* no 31st of June */
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		localtime_r(&now, &tm);
		tm.tm_sec = 0;
		end = strptime(text, times[i], &tm);
		if (!end || *end)
			continue;
		tm.tm_isdst = -1;
		*ret = mktime(&tm);
		if (*ret > now)
			return true;
		tm.tm_mday++; /* tomorrow's; that day may have 23 hours */
		tm.tm_isdst = -1;
		*ret = mktime(&tm);
		return true;
	}
	return false;
}

int command_until(const char *text, const char *option, uint64_t *ret,
		  struct error *err)
{
	time_t now = time(NULL), at;

	if (!strchr(text, ':') && !command_span(text, option, ret, err))
		return 0;
	if (!read_clock(text, now, &at))
		return error_set(
			err, -EINVAL,
			"%s: '%s' is not a time: write 10min, 18:30, or "
			"2026-12-24 18:30",
			option, text);
	if (at <= now)
		return error_set(err, -EINVAL, "%s: '%s' is in the past",
				 option, text);
	*ret = (uint64_t)((usec_t)(at - now) * USEC_PER_SEC);
	return 0;
}

enum { DAY = 86400 };

int command_since(const char *text, const char *option, uint64_t *ret,
		  struct error *err)
{
	uint64_t now = (uint64_t)clock_usec(CLOCK_REALTIME);
	time_t at;

	if (!strchr(text, ':') && !command_span(text, option, ret, err)) {
		*ret = *ret < now ? now - *ret : 1;
		return 0;
	}
	/* "18:30" is the last one: that which follows the instant a day ago */
	if (!read_clock(text, (time_t)(now / USEC_PER_SEC) - DAY, &at) ||
	    at <= 0)
		return error_set(err, -EINVAL,
				 "%s: '%s' is not a time: write 2h, 18:30, or "
				 "2026-12-24 18:30",
				 option, text);
	*ret = (uint64_t)at * USEC_PER_SEC;
	return 0;
}

/* Without a stream for errors argp returns instead of ending the process. */
static error_t parse_quietly(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->err_stream = NULL;
	state->child_inputs[0] = state->input;
	return 0;
}

/*
 * getopt writes "NAME: what" to stderr, which the C library lets us set, and
 * argp would write another line that says to try --help.
 */
void command_parse(const struct argp *argp, int argc, char **argv,
		   unsigned flags, void *input)
{
	const struct argp_child children[] = { { argp, 0, NULL, 0 }, { 0 } };
	const struct argp all = { .parser = parse_quietly,
				  .children = children };
	size_t name = strlen(argv[0]);
	int next, r;

	hush();
	r = argp_parse(&all, argc, argv, flags, &next, input);
	unhush();
	if (!r && next == argc) {
		free(said.text);
		at_work = argv[0];
		return;
	}
	said.text[strcspn(said.text, "\n")] = 0;
	if (r && !strncmp(said.text, argv[0], name))
		misuse(argv[0], said.text + name + strlen(": "));
	free(said.text);
	misuse(argv[0],
	       said.text = xasprintf("'%s' is one word too many", argv[next]));
}

/*
 * A descriptor that was closed before we came must not become a file of
 * ours: reading it finds the end, writing it fails.
 */
static void fill_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd)
			abort(); /* no /dev/null: nothing will work */
}

/* Whatever was printed has arrived, or the exit code says that it has not. */
static void check_stdout(void)
{
	int rc = fflush(stdout) ? -errno : ferror(stdout) ? -EIO : 0;

	unhush(); /* --help ends us */
	if (!rc || told)
		return;
	if (rc == -EPIPE) /* the reader has closed the pipe on purpose */
		_exit(128 + SIGPIPE);
	fprintf(stderr, "stint: standard output: %s\n", strerror(-rc));
	_exit(EXIT_FAILED);
}

void command_begin(void)
{
	fill_standard();
	atexit(check_stdout);
}

static const struct command *find_command(const struct command *table,
					  const char *name)
{
	for (const struct command *c = table; c->name; c++)
		if (!strcmp(name, c->name))
			return c;
	return NULL;
}

int command_main(const struct command *table, int argc, char **argv)
{
	const struct command *c =
		argc < 2 ? NULL : find_command(table, argv[1]);
	char name[16]; /* the name that the kernel and `ps` show */
	int code;

	command_begin();
	if (!c) {
		fputs("stint: this is a part of stint; call stint\n", stderr);
		return EXIT_USAGE;
	}
	snprintf(name, sizeof(name), "stint-%s", c->name);
	prctl(PR_SET_NAME, name);
	argv[1] = xasprintf("stint %s", c->name);
	code = c->run(argc - 1, argv + 1);
	at_work = NULL;
	return code;
}

const char *command_at_work(void)
{
	return at_work;
}
