/*
 * many.c - as many descriptors of one kind as asked for
 *
 *	many files|churn|pipes|sockets|eventfds|epoll N
 *
 * Each is known by what it holds, which is looked at again and again and once
 * more in the end.  With "churn" they are files that all the time are closed
 *and opened again, otherwise than before, duplicated, renamed, replaced, cut
 *off, deleted: what was open a moment ago is often something else.
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "check.h"

/* What a descriptor should be. */
struct one {
	int fd, far;	/* the other end; for "churn" a duplicate, or -1 */
	uint64_t seed;	/* of its content */
	off_t pos, len; /* of a file */
	unsigned name;
	int flags;
	bool cloexec, deleted;
};

static struct one *all;
static unsigned nr, names;
static int set = -1;
static uint64_t dice = 1;

static unsigned roll(unsigned n)
{
	return (unsigned)(check_rand(&dice) % n);
}

static const char *name_of(unsigned name)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", name);
	return check_path(text);
}

/* ---- files ---- */

static void file_open(struct one *o, int flags)
{
	o->flags = flags;
	o->cloexec = flags & O_CLOEXEC;
	o->fd = open(name_of(o->name), flags);
	CHECK(o->fd >= 0, "%u", o->name);
	o->pos = 0;
}

static void file_make(struct one *o)
{
	unsigned char buf[300];
	int fd;

	o->name = names++;
	o->seed = o->name + 1;
	o->len = (off_t)(1 + roll(sizeof(buf)));
	o->deleted = false;
	check_fill(buf, (size_t)o->len, o->seed);
	fd = open(name_of(o->name), O_CREAT | O_EXCL | O_WRONLY, 0600);
	CHECK(fd >= 0);
	check_write(fd, buf, (size_t)o->len);
	close(fd);
}

static void file_check(struct one *o)
{
	unsigned char buf[512], want[512];
	struct stat st;
	int fd = o->fd;

	CHECK(lseek(fd, 0, SEEK_CUR) == o->pos, "%u is at %lld, not %lld",
	      o->name, (long long)lseek(fd, 0, SEEK_CUR), (long long)o->pos);
	CHECK(fstat(fd, &st) == 0 && st.st_size == o->len, "%u", o->name);
	CHECK(!st.st_nlink == o->deleted, "%u", o->name);
	CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) == o->cloexec, "%u", o->name);
	CHECK((fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND)) ==
		      (o->flags & (O_ACCMODE | O_APPEND)),
	      "%u", o->name);
	if ((o->flags & O_ACCMODE) == O_WRONLY)
		return;
	check_fill(want, sizeof(want), o->seed);
	CHECK(pread(fd, buf, sizeof(buf), 0) == o->len &&
		      !memcmp(buf, want, (size_t)o->len),
	      "%u has other content", o->name);
	if (o->far >= 0) { /* one description */
		CHECK(lseek(o->far, 1, SEEK_CUR) == o->pos + 1, "%u", o->name);
		CHECK(lseek(fd, -1, SEEK_CUR) == o->pos, "%u", o->name);
	}
}

static void file_move(struct one *o)
{
	o->pos = (off_t)roll(1000);
	CHECK(lseek(o->fd, o->pos, SEEK_SET) == o->pos);
}

static void file_rename(struct one *o)
{
	char from[512];

	if (o->deleted)
		return;
	snprintf(from, sizeof(from), "%s", name_of(o->name));
	o->name = names++;
	CHECK(rename(from, name_of(o->name)) == 0);
}

/* Put another file under the same name, at the same number. */
static void file_replace(struct one *o)
{
	unsigned name = o->name;
	char from[512];

	if (o->deleted)
		return;
	file_make(o);
	snprintf(from, sizeof(from), "%s", name_of(o->name));
	CHECK(rename(from, name_of(name)) == 0);
	o->name = name;
}

static void file_cut(struct one *o)
{
	if (o->deleted)
		return;
	o->len = (off_t)roll((unsigned)o->len + 1);
	CHECK(truncate(name_of(o->name), o->len) == 0);
}

static void file_dup(struct one *o)
{
	if (o->far >= 0) {
		close(o->far);
		o->far = -1;
	} else {
		o->far = dup(o->fd);
		CHECK(o->far >= 0);
	}
}

static void file_again(struct one *o)
{
	static const int flags[] = { O_RDONLY, O_RDWR, O_WRONLY | O_APPEND,
				     O_RDWR | O_CLOEXEC };
	int at = o->fd;

	if (o->deleted || roll(20) == 0)
		file_make(o);
	close(o->fd);
	if (o->far >= 0)
		close(o->far);
	o->far = -1;
	file_open(o, flags[roll(4)]);
	if (o->fd == at && roll(2)) { /* elsewhere */
		o->fd = fcntl(at, o->cloexec ? F_DUPFD_CLOEXEC : F_DUPFD,
			      nr + (int)roll(nr));
		close(at);
	}
	CHECK(o->fd >= 0);
}

/* Seldom: make the name lead elsewhere, so that a move has to catch up. */
static void file_rename_or_so(struct one *o)
{
	switch (roll(3)) {
	case 0:
		file_rename(o);
		break;
	case 1:
		file_replace(o);
		file_again(o);
		break;
	default:
		if (!o->deleted)
			CHECK(unlink(name_of(o->name)) == 0);
		o->deleted = true;
	}
}

static void file_churn(struct one *o)
{
	switch (roll(100)) {
	case 0:
		file_rename_or_so(o);
		break;
	case 1 ... 20:
		file_cut(o);
		break;
	case 21 ... 40:
		file_dup(o);
		break;
	case 41 ... 70:
		file_again(o);
		break;
	default:
		file_move(o);
	}
}

static void files_make(struct one *o)
{
	file_make(o);
	file_open(o, O_RDWR);
	file_move(o);
}

/* ---- the others ---- */

static void pipes_make(struct one *o)
{
	int fd[2];

	CHECK(pipe(fd) == 0);
	o->fd = fd[0];
	o->far = fd[1];
	check_write(o->far, &o->seed, sizeof(o->seed));
}

static void sockets_make(struct one *o)
{
	int fd[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	o->fd = fd[0];
	o->far = fd[1];
	check_write(o->far, &o->seed, sizeof(o->seed));
}

/* The content comes out of the near end, and goes in at the far end. */
static void ends_check(struct one *o)
{
	uint64_t got;

	CHECK(check_read(o->fd, &got, sizeof(got)) && got == o->seed);
	o->seed++;
	check_write(o->far, &o->seed, sizeof(o->seed));
}

static void eventfds_make(struct one *o)
{
	o->fd = o->far = eventfd(0, EFD_NONBLOCK);
	CHECK(o->fd >= 0);
	check_write(o->far, &o->seed, sizeof(o->seed));
}

static void epoll_make(struct one *o)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (set < 0)
		set = epoll_create1(0);
	eventfds_make(o);
	ev.data.ptr = o;
	CHECK(epoll_ctl(set, EPOLL_CTL_ADD, o->fd, &ev) == 0);
}

/* The set reports each descriptor, in turn. */
static void epoll_check(struct one *unused)
{
	struct epoll_event ev;

	CHECK(epoll_wait(set, &ev, 1, 0) == 1 && ev.events == EPOLLIN);
	ends_check(ev.data.ptr);
}

static const struct kind {
	const char *name;
	void (*make)(struct one *o), (*check)(struct one *o);
	void (*change)(struct one *o); /* all the time */
} kinds[] = {
	{ "files", files_make, file_check, file_move },
	{ "churn", files_make, file_check, file_churn },
	{ "pipes", pipes_make, ends_check, ends_check },
	{ "sockets", sockets_make, ends_check, ends_check },
	{ "eventfds", eventfds_make, ends_check, ends_check },
	{ "epoll", epoll_make, epoll_check, epoll_check },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	CHECK(false, "no such kind: %s", name);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct kind *k = find_kind(argc > 2 ? argv[1] : "");
	struct rlimit lim;

	nr = (unsigned)atoi(argv[2]);
	CHECK(nr > 0 && getrlimit(RLIMIT_NOFILE, &lim) == 0);
	lim.rlim_cur = lim.rlim_max;
	CHECK(setrlimit(RLIMIT_NOFILE, &lim) == 0);
	all = calloc(nr, sizeof(*all));
	for (unsigned i = 0; i < nr; i++) {
		all[i].far = -1;
		all[i].seed = i + 1;
		k->make(&all[i]);
	}
	check_ready();
	while (check_running()) {
		struct one *o = &all[roll(nr)];

		k->check(o);
		k->change(o);
		check_nap();
	}
	if (check_sabotaged() && k->check == file_check)
		CHECK(lseek(all[nr / 2].fd, 1, SEEK_CUR) >= 0);
	else if (check_sabotaged())
		all[nr / 2].seed ^= 1;
	for (unsigned i = 0; i < nr; i++)
		k->check(&all[i]);
	return check_pass();
}
