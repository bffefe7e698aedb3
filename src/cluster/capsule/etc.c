/*
 * etc.c - what a capsule is called, in /etc
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "core/io.h"
#include "core/xalloc.h"

/*
 * A file of our own over one of the host's; nothing where the host has none, or it is there
 * and only says something else.
 */
static int cover(const char *path, const char *name, const char *text,
		 bool again, struct error *err)
{
	fd_auto fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int r;

	if (fd < 0)
		return error_sys(err, -errno, "cannot make %s", name);
	r = io_write_full(fd, text, strlen(text));
	if (r < 0)
		return error_sys(err, r, "cannot write %s", name);
	/* When the job before has read it is nobody's business. */
	if (again && futimens(fd, NULL) < 0)
		return error_sys(err, -errno, "cannot set times of %s", name);
	if (again || access(path, F_OK) < 0)
		return 0;
	if (mount(name, path, NULL, MS_BIND, NULL) < 0)
		return error_sys(err, -errno, "cannot cover %s", path);
	return 0;
}

int etc_cover(const struct capsule_spec *spec, bool again, struct error *err)
{
	const char *host = spec->hostname ? spec->hostname : spec->name;
	char addr[NET_TEXT], *text;
	int r;

	text = xasprintf("127.0.0.1 localhost\n::1 localhost\n%s %s\n%s",
			 spec->net == CAPSULE_NET_NONE
				 ? "127.0.0.1"
				 : net_addr_text(spec->address, addr),
			 host, spec->hosts ? spec->hosts : "");
	r = cover("/etc/hosts", "/dev/.hosts", text, again, err);
	free(text);
	if (r < 0)
		return r;
	text = xasprintf("%s\n", host);
	r = cover("/etc/hostname", "/dev/.hostname", text, again, err);
	free(text);
	return r;
}
