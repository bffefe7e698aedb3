/*
 * record.c - commit records as small files in the run directory
 */
#include "cluster/keeper/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

static char *record_path(const struct keeper_id *id, uint64_t epoch,
			 const char *suffix)
{
	return xasprintf("%s/keepers/%s.%u.%" PRIu64 ".record%s", id->run_dir,
			 id->job, id->rank, epoch, suffix);
}

/* Write text beside the record, then link it there: -EEXIST if one is. */
static int record_decision(const struct keeper_id *id, uint64_t epoch,
			   const char *suffix, const char *text)
{
	char *path = record_path(id, epoch, "");
	char *new = record_path(id, epoch, suffix);
	fd_auto fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : io_write_full(fd, text, strlen(text));

	if (!r && link(new, path) < 0)
		r = -errno;
	if (fd >= 0)
		unlink(new);
	free(new);
	free(path);
	return r;
}

int keeper_record_write(const struct keeper_id *id, uint64_t epoch,
			const char *to, struct error *err)
{
	char *text = xasprintf("given to=%s\n", to);
	int r = record_decision(id, epoch, ".given", text);

	free(text);
	if (r == -EEXIST)
		return error_set(
			err, -ECANCELED,
			"this host has already decided that the rank stays");
	return r < 0 ? error_sys(err, r, "%s/keepers: cannot record the move",
				 id->run_dir)
		     : 0;
}

int keeper_record_read(const struct keeper_id *id, uint64_t epoch,
		       struct error *err)
{
	char *path = record_path(id, epoch, ""), *text;
	ssize_t n = io_read_file(AT_FDCWD, path, 4096, &text);
	int r;

	if (n >= 0) {
		r = strncmp(text, "kept", 4) != 0;
		free(text);
	} else {
		r = n == -ENOENT ? 0 : error_sys(err, (int)n, "%s", path);
	}
	free(path);
	return r;
}

int keeper_record_settle(const struct keeper_id *id, uint64_t epoch,
			 struct error *err)
{
	int r = record_decision(id, epoch, ".kept", "kept\n");

	if (r < 0 && r != -EEXIST)
		return error_sys(err, r, "%s/keepers: cannot record an answer",
				 id->run_dir);
	return keeper_record_read(id, epoch, err);
}

void keeper_record_remove(const struct keeper_id *id, uint64_t epoch)
{
	static const char *const suffixes[] = { "", ".given", ".kept" };

	/*
	 * A process killed while writing the record may have left a temporary
	 * file beside it.
	 */
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		char *path = record_path(id, epoch, suffixes[i]);

		unlink(path);
		free(path);
	}
}
