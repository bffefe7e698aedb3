/* keys.c - key files, see keys.h */
#include "cluster/keys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/io.h"

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

int keys_enrol(const char *path, const char *identity, struct tls_key *ret,
	       struct error *err)
{
	fd_auto fd =
		open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct tls_key key;
	const char *name;
	int r;

	if (fd < 0)
		return error_sys(err, -errno, "%s", path);
	if (role_of(identity, &name) == ROLE_NONE)
		return error_set(err, -EINVAL,
				 "'%s': an identity is host/NAME, user/NAME "
				 "or admin/NAME",
				 identity);
	/* It is an argument of commands, and the tail of paths. */
	if (!isalnum((unsigned char)*name) || strchr(name, '/'))
		return error_set(err, -EINVAL,
				 "'%s': a name begins with a letter or digit, "
				 "and has no /",
				 identity);
	r = io_check_private(fd, path, err);
	if (r < 0)
		return r;
	if (flock(fd, LOCK_EX) < 0)
		return error_sys(err, -errno, "%s", path);
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
