/* test_rounds.c - see test_rounds.h */
#include "move/send/test_rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "move/fd/fds.h"
#include "move/send/ahead.h"
#include "move/send/precopy.h"
#include "move/send/recheck.h"
#include "move/send/track.h"

struct world world;

#define WRAP(name) __wrap_##name
int WRAP(recheck_running)(const struct send_process *p, struct error *err);
int WRAP(track_layout)(struct track *t, bool stopped, struct error *err);
int WRAP(track_send)(struct track *t, bool stopped, struct error *err);
usec_t WRAP(track_paused)(const struct track *t);
void WRAP(track_ask_advice)(struct track *t);
int WRAP(fds_look)(struct fds_source *s, bool early, uint8_t **ret,
		   size_t *ret_n, struct error *err);
void WRAP(fds_confirm)(struct fds_source *s, bool opened);
uint64_t WRAP(fds_content)(const struct fds_source *s);
uint64_t WRAP(page_sender_count)(const struct page_sender *p);
uint64_t WRAP(tree_bytes_sent)(const struct tree_set *t);
int WRAP(proc_read_status)(pid_t pid, struct proc_status *ret,
			   struct error *err);
usec_t WRAP(send_now)(void);
bool WRAP(claim_is_marked)(pid_t tid);
int WRAP(frame_send_u64)(struct channel *ch, enum frame_type type, uint64_t x,
			 struct error *err);
int WRAP(frame_recv)(struct channel *ch, struct frame *f, struct error *err);
int WRAP(send_hurry_both)(struct sending *s, bool on, struct error *err);

int WRAP(recheck_running)(const struct send_process *p, struct error *err)
{
	return 0;
}

int WRAP(track_layout)(struct track *t, bool stopped, struct error *err)
{
	return 0;
}

int WRAP(track_send)(struct track *t, bool stopped, struct error *err)
{
	unsigned n = world.written[world.round];

	assert_true(world.round < ROUNDS);
	world.ahead[world.round++] = world.ahead_now;
	world.now += world.start;
	for (unsigned part; n; n -= part) {
		part = world.step && world.step < n ? world.step : n;
		world.sent += part;
		world.now += PAGE_USEC * part;
		if (world.step)
			world.look(world.look_arg);
	}
	return 0;
}

int WRAP(fds_look)(struct fds_source *s, bool early, uint8_t **ret,
		   size_t *ret_n, struct error *err)
{
	world.looked[world.round - 1] = true;
	return 0;
}

usec_t WRAP(track_paused)(const struct track *t)
{
	return 0;
}

void WRAP(track_ask_advice)(struct track *t)
{
}

void WRAP(fds_confirm)(struct fds_source *s, bool opened)
{
}

uint64_t WRAP(fds_content)(const struct fds_source *s)
{
	return world.content;
}

uint64_t WRAP(page_sender_count)(const struct page_sender *p)
{
	return world.sent;
}

uint64_t WRAP(tree_bytes_sent)(const struct tree_set *t)
{
	return 0;
}

int WRAP(proc_read_status)(pid_t pid, struct proc_status *ret,
			   struct error *err)
{
	*ret = (struct proc_status){ .threads = world.threads };
	return 0;
}

usec_t WRAP(send_now)(void)
{
	return world.now;
}

bool WRAP(claim_is_marked)(pid_t tid)
{
	return world.owner;
}

int WRAP(frame_send_u64)(struct channel *ch, enum frame_type type, uint64_t x,
			 struct error *err)
{
	assert_int_equal(type, FRAME_SYNC);
	world.synced = x;
	return 0;
}

int WRAP(frame_recv)(struct channel *ch, struct frame *f, struct error *err)
{
	f->type = FRAME_SYNC;
	f->size = sizeof(world.synced);
	f->data = (unsigned char *)&world.synced;
	return 0;
}

int WRAP(send_hurry_both)(struct sending *s, bool on, struct error *err)
{
	world.ahead_now = on;
	return 0;
}
