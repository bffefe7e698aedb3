/* ends.c - the ends of the rank's pipes and its PMI socket */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/keeper/priv.h"
#include "core/io.h"

static int make_pipe(struct keeper_end *e, bool rank_reads, struct error *err)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return error_sys(err, -errno, "pipe");
	e->near = p[rank_reads ? 0 : 1];
	e->far = p[rank_reads ? 1 : 0];
	fcntl(e->far, F_SETFL, O_NONBLOCK | (rank_reads ? O_WRONLY : O_RDONLY));
	return 0;
}

static int make_socket(struct keeper_end *e, struct error *err)
{
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0)
		return error_sys(err, -errno, "socketpair");
	e->near = sv[0];
	e->far = sv[1];
	return 0;
}

const char *const keeper_end_name[EXT_MAX] = { "stdin", "stdout", "stderr",
					       "pmi" };

int keeper_make_ends(struct keeper_rank *rank, bool pmi, const bool files[2],
		     struct error *err)
{
	struct stat st;
	int r = make_pipe(&rank->end[EXT_STDIN], true, err);

	for (int ext = EXT_STDOUT; !r && ext <= EXT_STDERR; ext++)
		if (!files[ext - EXT_STDOUT])
			r = make_pipe(&rank->end[ext], false, err);
	if (!r && pmi)
		r = make_socket(&rank->end[EXT_PMI], err);
	for (int ext = 0; !r && ext < EXT_MAX; ext++) {
		struct keeper_end *e = &rank->end[ext];

		if (e->near < 0)
			continue;
		if (fstat(e->near, &st) < 0)
			return error_sys(err, -errno, "fstat");
		e->dev = st.st_dev;
		e->ino = st.st_ino;
	}
	return r;
}

void keeper_close_near(struct keeper_rank *rank)
{
	for (int ext = 0; ext < EXT_MAX; ext++)
		io_close(&rank->end[ext].near);
}

void keeper_end_close(struct keeper_end *e)
{
	sd_event_source_disable_unref(e->source);
	e->source = NULL;
	io_close(&e->far);
}

bool keeper_end_is_open(const struct keeper_rank *rank, int ext)
{
	return rank->end[ext].far >= 0;
}

uint64_t keeper_io_unread(const struct keeper_rank *rank, int ext)
{
	int n = 0;

	if (!keeper_end_is_open(rank, ext) ||
	    ioctl(rank->end[ext].far, FIONREAD, &n) < 0)
		return 0;
	return (uint64_t)n;
}

void keeper_io_last(struct keeper_rank *rank)
{
	for (int ext = EXT_STDOUT; ext <= EXT_STDERR; ext++) {
		uint64_t n = keeper_io_unread(rank, ext);

		rank->io.out_last[ext - EXT_STDOUT] = n;
		if (!n)
			keeper_end_close(&rank->end[ext]);
	}
}

bool keeper_io_drained(const struct keeper_rank *rank)
{
	return !keeper_end_is_open(rank, EXT_STDOUT) &&
	       !keeper_end_is_open(rank, EXT_STDERR);
}
