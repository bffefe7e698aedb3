/* refused.c - kinds of descriptors that are known, and cannot move */
#include <errno.h>
#include <string.h>
#include <sys/vfs.h>

#include "move/kind/kind.h"

static const struct {
	const char *link;    /* or else */
	unsigned long magic; /* file systems whose files are none, though most
				look like it; as their kernel sources have it */
	const char *what;
} all[] = {
	{ .magic = 0x5345434d, .what = "secret memory (memfd_secret)" },
	{ .magic = 0x19800202, .what = "POSIX message queue" },
	{ "anon_inode:[io_uring]", 0, "io_uring instance" },
	{ "anon_inode:inotify", 0, "inotify instance" },
	{ "anon_inode:[fanotify]", 0, "fanotify group" },
	{ "anon_inode:[userfaultfd]", 0, "userfaultfd" },
	{ "anon_inode:[perf_event]", 0, "performance counter" },
};

static const char *find_refusal(const struct fdscan_file *f, const char *link)
{
	struct statfs fs = { 0 };

	if (fstatfs(f->copy, &fs) < 0)
		fs.f_type = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].link ? !strcmp(link, all[i].link)
				: (unsigned long)fs.f_type == all[i].magic)
			return all[i].what;
	return NULL;
}

static bool refused_is(const struct fdscan *sc, const struct fdscan_file *f,
		       const char *link)
{
	return link && find_refusal(f, link);
}

static int refused_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			   struct error *err)
{
	return error_set(err, -ENOTSUP, "fd %d: %s", f->number,
			 find_refusal(f, link));
}

const struct fd_kind fd_kind_refused = {
	.is = refused_is,
	.capture = refused_capture,
};
