/* keys.c - key files, see keys.h */
#include "cluster/conn/keys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

enum { KEYS_MAX = 4 << 20 };

enum role role_of(const char *identity, const char **name)
{
	static const struct {
		const char *head;
		enum role role;
	} roles[] = {
		{ "host/", ROLE_HOST },
		{ "user/", ROLE_USER },
		{ "admin/", ROLE_ADMIN },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		size_t n = strlen(roles[i].head);

		if (strncmp(identity, roles[i].head, n) || !identity[n])
			continue;
		if (name)
			*name = identity + n;
		return roles[i].role;
	}
	return ROLE_NONE;
}

int keys_check(const char *path, struct error *err)
{
	fd_auto fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, -errno, "%s", path);
	return io_check_private(fd, path, err);
}

int keys_each(const char *path,
	      void (*each)(void *ctx, const struct tls_key *key), void *ctx,
	      struct error *err)
{
	struct tls_key key;
	char *text, *line, *next;
	ssize_t n = io_read_file(AT_FDCWD, path, KEYS_MAX, &text);
	int r = 0, nr = 0;

	if (n == -ENOENT)
		return 0;
	if (n < 0)
		return error_sys(err, n, "%s", path);
	for (line = text; *line && !r; line = next) {
		next = strchrnul(line, '\n');
		next += *next == '\n';
		nr++;
		r = tls_key_parse(line, &key, err);
		if (r < 0)
			r = error_prefix(err, r, "%s:%d", path, nr);
		else
			each(ctx, &key);
	}
	explicit_bzero(text, n);
	explicit_bzero(&key, sizeof(key));
	free(text);
	return r;
}

struct wanted {
	const char *identity;
	struct tls_key *ret;
	bool found;
};

static void match(void *ctx, const struct tls_key *key)
{
	struct wanted *w = ctx;

	if (strcmp(key->identity, w->identity))
		return;
	*w->ret = *key;
	w->found = true;
}

int keys_find(const char *path, const char *identity, struct tls_key *ret,
	      struct error *err)
{
	struct wanted w = { .identity = identity, .ret = ret };
	int r = keys_each(path, match, &w, err);

	if (r < 0)
		return r;
	return w.found ? 0
		       : error_set(err, -ENOENT, "%s is not enrolled",
				   identity);
}

static int append_key(int fd, const struct tls_key *key, const char *path,
		      struct error *err)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char line[TLS_KEY_LINE];
	int r;

	tls_key_format(key, line, sizeof(line));
	r = end < 0 ? -errno : io_write_full(fd, line, strlen(line));
	explicit_bzero(line, sizeof(line));
	if (!r && fsync(fd) < 0)
		r = -errno;
	/* A piece of a line would make the whole file unreadable. */
	if (r < 0 && end >= 0)
		(void)!ftruncate(fd, end);
	return r < 0 ? error_sys(err, r, "%s", path) : 0;
}

/*
 * Open and lock the file at path; it may have been replaced while we waited for
 * the lock.
 */
static int open_locked(const char *path, int flags, struct error *err)
{
	struct stat ours, theirs;
	int fd;

	for (;;) {
		fd = open(path, flags | O_CLOEXEC, 0600);
		if (fd < 0)
			return error_sys(err, -errno, "%s", path);
		if (flock(fd, LOCK_EX) < 0 || fstat(fd, &ours) < 0) {
			error_sys(err, -errno, "%s", path);
			close(fd);
			return -EIO;
		}
		if (!stat(path, &theirs) && ours.st_ino == theirs.st_ino &&
		    ours.st_dev == theirs.st_dev)
			return fd;
		close(fd);
	}
}

int keys_check_identity(const char *identity, struct error *err)
{
	if (role_of(identity, NULL) != ROLE_NONE)
		return 0;
	return error_set(err, -EINVAL,
			 "'%s': an identity is host/NAME, user/NAME or "
			 "admin/NAME",
			 identity);
}

int keys_enrol(const char *path, const char *identity, struct tls_key *ret,
	       struct error *err)
{
	fd_auto fd = open_locked(path, O_WRONLY | O_CREAT | O_APPEND, err);
	struct tls_key key;
	const char *name;
	int r;

	if (fd < 0)
		return fd;
	r = keys_check_identity(identity, err);
	if (r < 0)
		return r;
	role_of(identity, &name);
	/* A name is an argument of commands, and the end of paths. */
	if (!isalnum((unsigned char)*name) || strchr(name, '/'))
		return error_set(err, -EINVAL,
				 "'%s': a name begins with a letter or digit, "
				 "and has no /",
				 identity);
	r = io_check_private(fd, path, err);
	if (r < 0)
		return r;
	r = keys_find(path, identity, &key, err);
	if (r == -ENOENT) {
		r = tls_key_generate(&key, identity, err);
		if (!r)
			r = append_key(fd, &key, path, err);
	}
	if (!r)
		*ret = key;
	explicit_bzero(&key, sizeof(key));
	return r;
}

struct remaining {
	const char *without;
	char *text;
	size_t n;
};

static void keep(void *ctx, const struct tls_key *key)
{
	struct remaining *r = ctx;

	if (!strcmp(key->identity, r->without))
		return;
	tls_key_format(key, r->text + r->n, TLS_KEY_LINE);
	r->n += strlen(r->text + r->n);
}

static int sync_dir_of(const char *path)
{
	char *copy = xstrdup(path);
	fd_auto dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 || fsync(dir) < 0 ? -errno : 0;

	free(copy);
	return r;
}

/* Replace the file whole or not at all, and on the disk; its owner stays. */
static int replace(const char *path, const char *text, const struct stat *was,
		   struct error *err)
{
	char *beside = xasprintf("%s.new", path);
	fd_auto fd =
		open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : io_write_full(fd, text, strlen(text));

	if (!r && (fchown(fd, was->st_uid, was->st_gid) < 0 || fsync(fd) < 0 ||
		   rename(beside, path) < 0))
		r = -errno;
	if (!r)
		r = sync_dir_of(path);
	else if (fd >= 0)
		unlink(beside); /* it holds secrets */
	free(beside);
	return r < 0 ? error_sys(err, r, "%s", path) : 0;
}

int keys_revoke(const char *path, const char *identity, struct error *err)
{
	fd_auto fd = open_locked(path, O_RDONLY, err);
	struct remaining left = { .without = identity };
	struct tls_key key;
	struct stat st;
	size_t room;
	int r;

	if (fd < 0)
		return fd;
	r = keys_check_identity(identity, err);
	if (!r)
		r = io_check_private(fd, path, err);
	if (!r)
		r = keys_find(path, identity, &key, err);
	if (r < 0)
		return r;
	explicit_bzero(&key, sizeof(key));
	if (fstat(fd, &st) < 0)
		return error_sys(err, -errno, "%s", path);
	/* No line may be written that is too long to be read. */
	room = st.st_size + TLS_KEY_LINE;
	left.text = xcalloc(1, room);
	r = keys_each(path, keep, &left, err);
	if (!r)
		r = replace(path, left.text, &st, err);
	explicit_bzero(left.text, room);
	free(left.text);
	return r;
}
