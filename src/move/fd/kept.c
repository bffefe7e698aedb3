/*
 * kept.c - fdinfo files of the process's numbers, kept open between looks
 *
 * Each time such a file is read it tells of what has the number then; it keeps nothing
 * open of that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/fd/scan.h"

#define SHORT 2048 /* only an epoll set, or a file with many locks, has more */

static int open_info(const struct fds_source *s, int number)
{
	char path[32];

	snprintf(path, sizeof(path), "fdinfo/%d", number);
	return openat(s->proc, path, O_RDONLY | O_CLOEXEC);
}

void fdkept_numbers(struct fds_source *s, const int *list, size_t n)
{
	struct fds_kept *now = xcalloc(n + 1, sizeof(*now));
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		while (at < s->nr_kept && s->kept[at].number < list[i])
			io_close(&s->kept[at++].fd);
		now[i] = at < s->nr_kept && s->kept[at].number == list[i]
				 ? s->kept[at++]
				 : (struct fds_kept){ list[i], -1 };
		if (now[i].fd < 0)
			now[i].fd = open_info(s, list[i]);
	}
	while (at < s->nr_kept)
		io_close(&s->kept[at++].fd);
	free(s->kept);
	s->kept = now;
	s->nr_kept = n;
}

static int compare_kept(const void *key, const void *e)
{
	int number = *(const int *)key;
	const struct fds_kept *k = e;

	return (number > k->number) - (number < k->number);
}

int fdkept_read(struct fds_source *s, int number, struct fdinfo *ret,
		struct error *err)
{
	const struct fds_kept *k =
		s->nr_kept ? bsearch(&number, s->kept, s->nr_kept, sizeof(*k),
				     compare_kept)
			   : NULL;
	char text[SHORT];
	ssize_t n =
		k && k->fd >= 0 ? pread(k->fd, text, sizeof(text) - 1, 0) : -1;

	if (n <= 0 || n == sizeof(text) - 1)
		return fdinfo_read(s->proc, number, ret, err);
	text[n] = '\0';
	return fdinfo_parse(xstrdup(text), number, ret, err);
}

void fdkept_clear(struct fds_source *s)
{
	fdkept_numbers(s, NULL, 0);
	free(s->kept);
}
