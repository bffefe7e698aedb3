/* hooks_word.c - what an agent found at its host's hooks, see hooks_word.h */
#include "cluster/host/hooks_word.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"

/*
 * One line of a fixed length, "WHEN UPLINK FOUND TEXT WHEN": a reader who meets
 * the writer half-way finds two different times.
 */
enum { LINE = 256 };

char *hooks_path(const char *run_dir)
{
	return xasprintf("%s/hooks", run_dir);
}

int hooks_open(const char *run_dir, struct error *err)
{
	char *path = hooks_path(run_dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), r = fd;

	if (fd < 0)
		r = error_sys(err, -errno, "%s", path);
	free(path);
	return r;
}

int hooks_write(int fd, const struct net_hooks *word)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);
	char line[LINE + 1];
	int n = snprintf(line, sizeof(line), "%" PRId64 " %d %d %s", now,
			 word->uplink, word->found, word->text);

	if (n > LINE - 24)
		n = LINE - 24;
	memset(line + n, ' ', LINE - n);
	snprintf(line + LINE - 24, 25, " %22" PRId64 "\n", now);
	return pwrite(fd, line, LINE, 0) == LINE ? 0 : -EIO;
}

/* The text between from and the blanks before to. */
static void cut_text(const char *from, const char *to, char *ret, size_t size)
{
	while (to > from && to[-1] == ' ')
		to--;
	snprintf(ret, size, "%.*s", (int)(to - from), from);
}

static bool parse_word(const char *line, struct net_hooks *ret,
		       usec_t *ret_when)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC), when;
	int at = -1;

	if (strlen(line) != LINE ||
	    sscanf(line, "%" SCNd64 " %d %d%n", &when, &ret->uplink,
		   &ret->found, &at) != 3 ||
	    at < 0 || ++at > LINE - 24 ||
	    strtoll(line + LINE - 24, NULL, 10) != when)
		return false;
	cut_text(line + at, line + LINE - 24, ret->text, sizeof(ret->text));
	*ret_when = when;
	return when <= now && now - when < HOOKS_FRESH;
}

bool hooks_read(const char *run_dir, struct net_hooks *ret, usec_t *ret_when)
{
	char *path = hooks_path(run_dir), *line = NULL;
	ssize_t n = io_read_file(AT_FDCWD, path, 4096, &line);
	struct net_hooks word;
	usec_t when;
	bool fresh = n >= 0 && parse_word(line, &word, &when);

	if (fresh) {
		*ret = word;
		*ret_when = when;
	}
	free(line);
	free(path);
	return fresh;
}
