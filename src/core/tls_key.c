/* tls_key.c - shared keys and their lines in key files, see tls.h */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/io.h"
#include "core/tls.h"

bool tls_identity_valid(const char *s, size_t n)
{
	if (!n || n >= TLS_IDENTITY_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) &&
		    (!s[i] || !strchr("._/:@-", s[i])))
			return false;
	return true;
}

int tls_key_generate(struct tls_key *ret, const char *identity,
		     struct error *err)
{
	struct tls_key key = { .identity = "" };

	if (!tls_identity_valid(identity, strlen(identity)))
		return error_set(
			err, -EINVAL,
			"'%s' is not an identity: use letters, digits and "
			"._/:@-, at most %d of them",
			identity, TLS_IDENTITY_MAX - 1);
	if (getrandom(key.secret, sizeof(key.secret), 0) != sizeof(key.secret))
		return error_set(err, -EIO, "getrandom failed");
	memcpy(key.identity, identity, strlen(identity) + 1);
	*ret = key;
	return 0;
}

static int unhex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int tls_key_parse(const char *line, struct tls_key *ret, struct error *err)
{
	struct tls_key key = { .identity = "" };
	size_t n = strcspn(line, " \n");
	const char *hex = line + n + 1;

	if (!tls_identity_valid(line, n) || line[n] != ' ' ||
	    strcspn(hex, "\n") != 2 * TLS_SECRET_SIZE)
		goto bad;
	memcpy(key.identity, line, n);
	for (size_t i = 0; i < TLS_SECRET_SIZE; i++) {
		int hi = unhex(hex[2 * i]), lo = unhex(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			goto bad;
		key.secret[i] = hi << 4 | lo;
	}
	*ret = key;
	return 0;
bad:
	return error_set(err, -EINVAL,
			 "not a key: a line must be an identity, one space "
			 "and %d hexadecimal digits",
			 2 * TLS_SECRET_SIZE);
}

int tls_key_read(const char *path, struct tls_key *ret, struct error *err)
{
	fd_auto fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;
	ssize_t n;
	int r;

	if (fd < 0)
		return error_sys(err, -errno, "key file %s", path);
	r = io_check_private(fd, path, err);
	if (r < 0)
		return error_prefix(err, r, "key file");
	n = io_read_fd(fd, 4096, &text);
	if (n < 0)
		return error_sys(err, (int)n, "key file %s", path);
	r = tls_key_parse(text, ret, err);
	explicit_bzero(text, (size_t)n);
	free(text);
	return r < 0 ? error_prefix(err, r, "%s:1", path) : 0;
}

void tls_key_format(const struct tls_key *key, char *buf, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	char hex[2 * TLS_SECRET_SIZE + 2];

	for (size_t i = 0; i < TLS_SECRET_SIZE; i++) {
		hex[2 * i] = digit[key->secret[i] >> 4];
		hex[2 * i + 1] = digit[key->secret[i] & 15];
	}
	hex[2 * TLS_SECRET_SIZE] = '\n';
	hex[2 * TLS_SECRET_SIZE + 1] = 0;
	snprintf(buf, n, "%s %s", key->identity, hex);
}
