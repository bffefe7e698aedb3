/*
 * keeper_record.c - commit records as small files in the run directory
 */
#include "cluster/keeper_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

static char *record_path(const struct keeper_id *id, uint64_t epoch,
			 const char *suffix)
{
	return xasprintf("%s/keepers/%s.%u.%" PRIu64 ".committed%s",
			 id->run_dir, id->job, id->rank, epoch, suffix);
}

int keeper_record_write(const struct keeper_id *id, uint64_t epoch,
			const char *to, struct error *err)
{
	char *path = record_path(id, epoch, "");
	char *new = record_path(id, epoch, ".new");
	char *text = xasprintf("epoch=%" PRIu64 " to=%s\n", epoch, to);
	fd_auto fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : io_write_full(fd, text, strlen(text));

	if (!r && rename(new, path) < 0)
		r = -errno;
	if (r < 0) {
		error_sys(err, r, "%s: cannot record the move", path);
		unlink(new);
	}
	free(text);
	free(new);
	free(path);
	return r;
}

int keeper_record_read(const struct keeper_id *id, uint64_t epoch,
		       struct error *err)
{
	char *path = record_path(id, epoch, "");
	int r = access(path, F_OK) ? -errno : 1;

	if (r == -ENOENT)
		r = 0;
	else if (r < 0)
		error_sys(err, r, "%s", path);
	free(path);
	return r;
}

void keeper_record_remove(const struct keeper_id *id, uint64_t epoch)
{
	char *path = record_path(id, epoch, "");

	unlink(path);
	free(path);
}
