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

static void watch(struct keeper_end *e, uint32_t events)
{
	if (!e->source)
		return;
	sd_event_source_set_io_events(e->source, events);
	/* With no events epoll would still report a hang-up, endlessly. */
	sd_event_source_set_enabled(e->source,
				    events ? SD_EVENT_ON : SD_EVENT_OFF);
}

void keeper_io_update(struct keeper *k)
{
	bool room = keeper_queue_bytes(k->queue) < KEEPER_OUTPUT_MAX;

	watch(&k->end[EXT_STDOUT], room ? EPOLLIN : 0);
	watch(&k->end[EXT_STDERR], room ? EPOLLIN : 0);
	watch(&k->end[EXT_STDIN], k->io.nr_in && !k->quiet ? EPOLLOUT : 0);
	if (keeper_end_is_open(k, EXT_STDIN) && k->io.in_eof && !k->io.nr_in &&
	    !k->quiet)
		keeper_end_close(&k->end[EXT_STDIN]);
	keeper_pmi_update(k);
}

/* ---- out */

static void tell_output(struct keeper *k, unsigned stream, uint8_t *p, size_t n)
{
	Keeper__Event ev = KEEPER__EVENT__INIT;
	Keeper__Output out = KEEPER__OUTPUT__INIT;

	out.stream = stream;
	out.offset = k->io.out_offset[stream - 1];
	out.data.data = p;
	out.data.len = n;
	ev.body_case = KEEPER__EVENT__BODY_OUTPUT;
	ev.output = &out;
	k->io.out_offset[stream - 1] += n;
	keeper_tell(k, &ev, true);
}

static int on_output(sd_event_source *src, int fd, uint32_t events, void *ctx)
{
	struct keeper *k = ctx;
	int ext = fd == k->end[EXT_STDOUT].far ? EXT_STDOUT : EXT_STDERR;
	unsigned stream = ext == EXT_STDOUT ? 1 : 2;
	uint8_t buf[32 * 1024];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n > 0) {
		tell_output(k, stream, buf, (size_t)n);
	} else if (n == 0 || errno != EAGAIN) {
		k->io.out_eof[stream - 1] = true;
		keeper_end_close(&k->end[ext]);
	}
	keeper_io_update(k);
	keeper_maybe_exited(k);
	keeper_maybe_end(k);
	return 0;
}

/* ---- in */

static int on_room(sd_event_source *src, int fd, uint32_t events, void *ctx)
{
	struct keeper *k = ctx;
	struct keeper_io *io = &k->io;
	Keeper__Event ev = KEEPER__EVENT__INIT;
	Keeper__StdinTaken taken = KEEPER__STDIN_TAKEN__INIT;
	bool was_full = io->nr_in == sizeof(io->in);
	ssize_t n = k->quiet ? 0 : write(fd, io->in, io->nr_in);

	if (n > 0) {
		io->nr_in -= (size_t)n;
		memmove(io->in, io->in + n, io->nr_in);
	} else if (n < 0 && errno != EAGAIN) {
		/* The rank closed its stdin: the rest is of no use. */
		keeper_end_close(&k->end[EXT_STDIN]);
		io->nr_in = 0;
	}
	if (was_full && io->nr_in < sizeof(io->in)) {
		taken.offset = io->in_offset;
		ev.body_case = KEEPER__EVENT__BODY_STDIN_TAKEN;
		ev.stdin_taken = &taken;
		keeper_tell(k, &ev, false);
	}
	keeper_io_update(k);
	return 0;
}

/* Keep what is new in data and fits; a closed stdin swallows all. */
static void take(struct keeper *k, const Keeper__Stdin *in)
{
	struct keeper_io *io = &k->io;
	uint64_t skip = io->in_offset - in->offset;
	size_t n, room = sizeof(io->in) - io->nr_in;

	if (skip > in->data.len)
		return;
	n = in->data.len - (size_t)skip;
	if (n && keeper_end_is_open(k, EXT_STDIN)) {
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
	const Keeper__Stdin *in = req->stdin_data;
	Keeper__Event ev = KEEPER__EVENT__INIT;
	Keeper__StdinTaken taken = KEEPER__STDIN_TAKEN__INIT;
	struct error err;

	if (!k->rank_pid || k->quiet) {
		keeper_answer_failed(k, req->id,
				     error_set(&err, -EAGAIN,
					       "no rank takes input here now"),
				     &err);
		return;
	}
	if (in->offset > k->io.in_offset) {
		keeper_answer_failed(
			k, req->id,
			error_set(&err, -EINVAL, "stdin: bytes are missing"),
			&err);
		return;
	}
	if (!k->io.in_eof)
		take(k, in);
	taken.offset = k->io.in_offset;
	taken.eof = k->io.in_eof;
	ev.re = req->id;
	ev.body_case = KEEPER__EVENT__BODY_STDIN_TAKEN;
	ev.stdin_taken = &taken;
	keeper_tell(k, &ev, false);
	keeper_io_update(k);
}

int keeper_io_begin(struct keeper *k, struct error *err)
{
	struct keeper_end *e = k->end;
	int r;

	r = sd_event_add_io(k->event, &e[EXT_STDIN].source, e[EXT_STDIN].far, 0,
			    on_room, k);
	if (r >= 0)
		r = sd_event_add_io(k->event, &e[EXT_STDOUT].source,
				    e[EXT_STDOUT].far, EPOLLIN, on_output, k);
	if (r >= 0)
		r = sd_event_add_io(k->event, &e[EXT_STDERR].source,
				    e[EXT_STDERR].far, EPOLLIN, on_output, k);
	if (r < 0)
		return error_sys(err, r, "sd-event");
	keeper_io_update(k);
	return 0;
}
