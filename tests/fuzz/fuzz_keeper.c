/*
 * fuzz_keeper.c - whatever an agent and a rank say to a keeper
 *
 * The whole keeper runs, but for its capsule (fake_capsule.h) and its engines,
 * which cannot be forked.  Its event loop is ours (--wrap, see meson.build).
 * The input is a flag byte (its number of a move that it waits for) and steps,
 * each a byte, two bits for what and the rest for more:
 *
 *	0 the agent connects anew
 *	1 the agent says a packet: two bytes of length, and a Request; or, if the
 *	  rest is odd, one that is made of the bytes that follow (lie.h)
 *	2 the rank writes to its descriptor 1 ... 4: a byte of length, and bytes
 *	3 the rank ends with the next byte as its wait status
 *
 * All that the keeper says must be Events.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cluster/keeper/keeper.h"
#include "cluster/keeper/priv.h"
#include "core/log.h"
#include "core/scratch.h"
#include "fake_capsule.h"
#include "lie.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_sd_event_loop(sd_event *event);
int __wrap_keeper_engine_fork(struct keeper *k,
			      void (*run)(struct keeper *k, int sock),
			      void (*ended)(struct keeper *k),
			      struct error *err);

static char dir[SCRATCH_MAX];
static int agent = -1;
static uint64_t epoch;
static const uint8_t *at, *end;

int __wrap_keeper_engine_fork(struct keeper *k,
			      void (*run)(struct keeper *k, int sock),
			      void (*ended)(struct keeper *k),
			      struct error *err)
{
	return error_set(err, -EAGAIN, "no engine here");
}

static void hang_up(void)
{
	if (agent >= 0)
		close(agent);
	agent = -1;
}

static void dial(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	hang_up();
	agent = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/keepers/7.1.%u.sock",
		 dir, (unsigned)epoch);
	if (connect(agent, (void *)&sa, sizeof(sa)) < 0)
		hang_up();
}

static void hear(void)
{
	static uint8_t buf[KEEPER_MSG_MAX + 1];
	Keeper__Event *e;
	ssize_t n;

	while (agent >= 0 && (n = recv(agent, buf, sizeof(buf), 0)) > 0) {
		assert(n <= KEEPER_MSG_MAX);
		e = keeper__event__unpack(NULL, n, buf);
		assert(e && e->body_case);
		keeper__event__free_unpacked(e, NULL);
	}
}

static size_t take(size_t most)
{
	return (size_t)(end - at) < most ? (size_t)(end - at) : most;
}

static void say_lie(void)
{
	struct lie_bytes b = { at, end };
	size_t n;
	uint8_t *p = lie_packed(&b, &keeper__request__descriptor, &n);

	at = b.at;
	if (agent >= 0)
		(void)!send(agent, p, n, MSG_NOSIGNAL);
	free(p);
}

static void step(void)
{
	uint8_t what = *at & 3, more = *at >> 2;
	size_t n = 0;

	at++;
	if (what == 0) {
		dial();
	} else if (what == 1 && more & 1) {
		say_lie();
	} else if (what == 1) {
		if (take(2) == 2)
			n = at[0] << 8 | at[1];
		at += take(2);
		n = take(n);
		if (agent >= 0)
			(void)!send(agent, at, n, MSG_NOSIGNAL);
		at += n;
	} else if (what == 2) {
		n = take(1) ? *at++ : 0;
		n = take(n);
		fake_program_writes(1 + more % 4, at, n);
		at += n;
	} else {
		fake_program_ends(take(1) ? *at++ << 8 | (more & 15) : 0);
	}
}

int __wrap_sd_event_loop(sd_event *event)
{
	int r = 1;

	dial();
	for (;;) {
		for (int i = 0; i < 64 && (r = sd_event_run(event, 0)) > 0; i++)
			hear();
		if (r < 0 || sd_event_get_state(event) == SD_EVENT_FINISHED ||
		    at == end)
			break;
		step();
	}
	hang_up();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct keeper_config conf = { .job = "7", .rank = 1, .ready_fd = -1 };
	struct error err;

	if (!size)
		return 0;
	if (!*dir) {
		scratch_dir(dir, "/dev/shm");
		log_init("fuzz", LOG_L_ERROR);
	}
	conf.run_dir = dir;
	conf.epoch = epoch = data[0] & 3;
	at = data + 1;
	end = data + size;
	if (keeper_run(&conf, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	return 0;
}
