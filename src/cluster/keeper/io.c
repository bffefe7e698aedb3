/*
 * io.c - stdin into the rank, stdout and stderr out of it
 *
 * Output is read only while little of it waits for the agent, so a slow reader
 * far away slows the rank down like any full pipe, and nothing is dropped.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cluster/keeper/priv.h"

static void watch_end(struct keeper_end *e, uint32_t events)
{
	if (!e->source)
		return;
	sd_event_source_set_io_events(e->source, events);
	/* With no events epoll would still report a hang-up, endlessly. */
	sd_event_source_set_enabled(e->source,
				    events ? SD_EVENT_ON : SD_EVENT_OFF);
}

void keeper_io_update(struct keeper_rank *rank)
{
	bool room =
		keeper_queue_bytes(rank->k->agent.queue) < KEEPER_OUTPUT_MAX;

	watch_end(&rank->end[EXT_STDOUT], room ? EPOLLIN : 0);
	watch_end(&rank->end[EXT_STDERR], room ? EPOLLIN : 0);
	watch_end(&rank->end[EXT_STDIN],
		  rank->io.nr_in && !rank->quiet ? EPOLLOUT : 0);
	if (keeper_end_is_open(rank, EXT_STDIN) && rank->io.in_eof &&
	    !rank->io.nr_in && !rank->quiet)
		keeper_end_close(&rank->end[EXT_STDIN]);
	keeper_pmi_update(rank);
}

/* ---- out */

static void tell_output(struct keeper_rank *rank, unsigned stream, uint8_t *p,
			size_t n)
{
	Keeper__Output out = KEEPER__OUTPUT__INIT;

	out.stream = stream;
	out.offset = rank->io.out_offset[stream - 1];
	out.data.data = p;
	out.data.len = n;
	rank->io.out_offset[stream - 1] += n;
	keeper_tell(rank->k, 0, KEEPER__EVENT__BODY_OUTPUT, &out, true);
}

static int on_output(sd_event_source *src, int fd, uint32_t events, void *ctx)
{
	struct keeper_rank *rank = ctx;
	int ext = fd == rank->end[EXT_STDOUT].far ? EXT_STDOUT : EXT_STDERR;
	unsigned stream = ext == EXT_STDOUT ? 1 : 2;
	uint64_t *last = &rank->io.out_last[stream - 1];
	uint8_t buf[32 * 1024];
	size_t most = rank->capsule || *last > sizeof(buf) ? sizeof(buf)
							   : (size_t)*last;
	ssize_t n = read(fd, buf, most);

	if (n > 0)
		tell_output(rank, stream, buf, (size_t)n);
	if (n > 0 && !rank->capsule)
		*last -= (uint64_t)n;
	if (n == 0 || (n < 0 && errno != EAGAIN) || (!rank->capsule && !*last))
		keeper_end_close(&rank->end[ext]);
	keeper_io_update(rank);
	keeper_maybe_exited(rank);
	keeper_maybe_end(rank->k);
	return 0;
}

/* ---- in */

static int on_room(sd_event_source *src, int fd, uint32_t events, void *ctx)
{
	struct keeper_rank *rank = ctx;
	struct keeper_io *io = &rank->io;
	Keeper__StdinTaken taken = KEEPER__STDIN_TAKEN__INIT;
	bool was_full = io->nr_in == sizeof(io->in);
	ssize_t n = rank->quiet ? 0 : write(fd, io->in, io->nr_in);

	if (n > 0) {
		io->nr_in -= (size_t)n;
		memmove(io->in, io->in + n, io->nr_in);
	} else if (n < 0 && errno != EAGAIN) {
		/* The rank closed its stdin: the rest is of no use. */
		keeper_end_close(&rank->end[EXT_STDIN]);
		io->nr_in = 0;
	}
	if (was_full && io->nr_in < sizeof(io->in)) {
		taken.offset = io->in_offset;
		keeper_tell(rank->k, 0, KEEPER__EVENT__BODY_STDIN_TAKEN, &taken,
			    false);
	}
	keeper_io_update(rank);
	return 0;
}

/* Keep what is new in data and fits; a closed stdin swallows all. */
static void take_stdin(struct keeper_rank *rank, const Keeper__Stdin *in)
{
	struct keeper_io *io = &rank->io;
	uint64_t skip = io->in_offset - in->offset;
	size_t n, room = sizeof(io->in) - io->nr_in;

	if (skip > in->data.len)
		return;
	n = in->data.len - (size_t)skip;
	if (n && keeper_end_is_open(rank, EXT_STDIN)) {
		n = n < room ? n : room;
		memcpy(io->in + io->nr_in, in->data.data + skip, n);
		io->nr_in += n;
	}
	io->in_offset += n;
	if (in->eof && skip + n == in->data.len)
		io->in_eof = true;
}

void keeper_on_stdin(struct keeper *k, const Keeper__Request *req)
{
	struct keeper_rank *rank = &k->rank;
	const Keeper__Stdin *in = req->stdin_data;
	Keeper__StdinTaken taken = KEEPER__STDIN_TAKEN__INIT;
	struct error err;

	if (!rank->pid || rank->quiet) {
		keeper_answer_failed(k, req->id,
				     error_set(&err, -EAGAIN,
					       "no rank takes input here now"),
				     &err);
		return;
	}
	if (in->offset > rank->io.in_offset) {
		keeper_answer_failed(
			k, req->id,
			error_set(&err, -EINVAL, "stdin: bytes are missing"),
			&err);
		return;
	}
	if (!rank->io.in_eof)
		take_stdin(rank, in);
	taken.offset = rank->io.in_offset;
	taken.eof = rank->io.in_eof;
	keeper_tell(k, req->id, KEEPER__EVENT__BODY_STDIN_TAKEN, &taken, false);
	keeper_io_update(rank);
}

int keeper_io_begin(struct keeper_rank *rank, struct error *err)
{
	struct keeper_end *e = rank->end;
	int r;

	r = sd_event_add_io(rank->k->event, &e[EXT_STDIN].source,
			    e[EXT_STDIN].far, 0, on_room, rank);
	for (int ext = EXT_STDOUT; ext <= EXT_STDERR && r >= 0; ext++)
		if (e[ext].far >= 0) /* else it prints to a file */
			r = sd_event_add_io(rank->k->event, &e[ext].source,
					    e[ext].far, EPOLLIN, on_output,
					    rank);
	if (r < 0)
		return error_sys(err, r, "sd-event");
	keeper_io_update(rank);
	return 0;
}
