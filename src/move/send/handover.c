/*
 * handover.c - the source's side of handing fcntl(F_SETLK) locks over; see handover.h
 */
#include "move/send/handover.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "core/xalloc.h"
#include "move/wire/fault.h"

#define BACK_LIMIT USEC_PER_SEC
#define RETRY_NSEC 5000000

/* The arguments in the process's memory that the lists of calls point at. */
struct ranges {
	struct flock first[2], rest[3]; /* index: shared, unlocked, exclusive */
	struct flock whole;
};

struct handover {
	struct tracee *tracee;
	struct channel *ch;
	struct frame frame; /* the last frame received */
	struct fds_lock *lock;
	size_t nr;
	struct tracee_list *list; /* one for each thread; [0] is the leader's */
	size_t nr_lists;
	/* index of the call with which each turn's pause begins */
	size_t pause[HANDOVER_TURNS];
	struct {
		/* once it is not zero, the other threads may go on */
		uint64_t back;
		struct timespec retry;
		struct ranges range[];
	} * data;
	uint64_t at; /* where these lie in the process */
	bool lasts;  /* the leader is still waiting to get its locks back */
};

void handover_free(struct handover *h)
{
	if (!h)
		return;
	for (size_t i = 0; h->list && i < h->nr_lists; i++)
		free(h->list[i].call);
	free(h->list);
	free(h->data);
	free(h->lock);
	frame_clear(&h->frame);
	free(h);
}

static size_t data_size(const struct handover *h)
{
	return sizeof(*h->data) + h->nr * sizeof(struct ranges);
}

static void fill_ranges(struct handover *h)
{
	h->data = xcalloc(1, data_size(h));
	h->data->retry = (struct timespec){ .tv_nsec = RETRY_NSEC };
	for (size_t i = 0; i < h->nr; i++) {
		struct ranges *r = &h->data->range[i];

		r->whole = h->lock[i].range;
		r->first[0] = r->first[1] = fds_lock_first(&h->lock[i]);
		if (!fds_lock_rest(&h->lock[i], &r->rest[0]))
			r->rest[0] = r->first[0];
		r->rest[2] = r->rest[1] = r->rest[0];
		r->first[0].l_type = r->rest[0].l_type = F_RDLCK;
		r->first[1].l_type = r->rest[1].l_type = F_UNLCK;
	}
}

static void list_add(struct tracee_list *l, const struct stub_call *c)
{
	l->call[l->n++] = *c;
}

/* what: the offset of its range in struct ranges. */
static void add_call(struct handover *h, size_t i, int cmd, size_t what)
{
	list_add(&h->list[0],
		 &(struct stub_call){
			 .nr = SYS_fcntl,
			 .arg = { (uint64_t)h->lock[i].fd, (uint64_t)cmd,
				  h->at + sizeof(*h->data) +
					  i * sizeof(struct ranges) + what },
		 });
}

/* One call for each lock; none of them waits. */
static void add_calls(struct handover *h, size_t what)
{
	for (size_t i = 0; i < h->nr; i++)
		add_call(h, i, F_SETLK, what);
}

static void add_rest(struct handover *h, size_t what)
{
	struct flock rest;
	size_t from = h->list[0].n, n = from;

	add_calls(h, what);
	for (size_t i = 0; i < h->nr; i++)
		if (fds_lock_rest(&h->lock[i], &rest))
			h->list[0].call[n++] = h->list[0].call[from + i];
	h->list[0].n = n;
}

static void add_pause(struct handover *h, int turn)
{
	h->pause[turn] = h->list[0].n;
	tracee_pause(h->list[0].call + h->list[0].n);
	h->list[0].n += TRACEE_PAUSE;
	list_add(&h->list[0], &(struct stub_call){ .nr = STUB_JUMP });
}

/* Add a wait whose call must succeed, see enum stub_verb. */
static void add_wait(struct handover *h, size_t i, size_t what)
{
	add_call(h, i, F_SETLKW, what);
	list_add(&h->list[0],
		 &(struct stub_call){
			 .nr = STUB_INSIST,
			 .arg = { h->at + offsetof(typeof(*h->data), retry) },
		 });
}

/*
 * Calls that wait to get the locks back, however long that takes. The kernel refuses a
 * wait as a deadlock if another process has the first byte and waits for the rest,
 * which is ours. So the rest is taken first: that is possible while the landing process
 * still has the first byte.
 */
static void add_back(struct handover *h, const struct tracee *t)
{
	const struct stub_call go_on = { .nr = STUB_ARRIVE,
					 .arg = { h->at, 1 } };
	size_t begin = h->list[0].n;
	struct flock rest;

	for (size_t i = 0; i < h->nr; i++)
		if (fds_lock_rest(&h->lock[i], &rest))
			add_wait(h, i, offsetof(struct ranges, rest[2]));
	for (size_t i = 0; i < h->nr; i++)
		add_wait(h, i, offsetof(struct ranges, whole));
	list_add(&h->list[0], &go_on);
	for (int turn = 0; turn < HANDOVER_TURNS; turn++)
		h->list[0].call[h->pause[turn] + TRACEE_PAUSE].arg[0] =
			tracee_call_at(t, begin);
}

/* The leader's part, see handover.h. */
static void fill_leader(struct handover *h, const struct tracee *t)
{
	h->list[0].call =
		xcalloc(8 * h->nr + HANDOVER_TURNS * (TRACEE_PAUSE + 1) + 1,
			sizeof(struct stub_call));
	add_calls(h, offsetof(struct ranges, first[0]));
	add_pause(h, 0);
	add_calls(h, offsetof(struct ranges, first[1]));
	add_pause(h, 1);
	add_rest(h, offsetof(struct ranges, rest[0]));
	add_pause(h, 2);
	add_rest(h, offsetof(struct ranges, rest[1]));
	add_pause(h, 3);
	add_back(h, t);
}

static void fill_lists(struct handover *h)
{
	const struct tracee *t = h->tracee;

	h->nr_lists = t->nr;
	h->list = xcalloc(t->nr, sizeof(*h->list));
	h->at = tracee_box_data(t);
	fill_ranges(h);
	fill_leader(h, t);
	for (size_t i = 1; i < t->nr; i++) {
		h->list[i].call = xcalloc(1, sizeof(struct stub_call));
		list_add(&h->list[i], &(struct stub_call){ .nr = STUB_WAIT,
							   .arg = { h->at } });
	}
}

static int check_turn(struct handover *h, int turn, struct error *err)
{
	size_t from = turn ? h->pause[turn - 1] + TRACEE_PAUSE + 1 : 0;
	struct stub_call *call = h->list[0].call;
	int r = tracee_look_at(h->tracee, call, h->pause[turn], err);

	for (size_t i = from; !r && i < h->pause[turn]; i++)
		if (call[i].ret < 0)
			r = error_sys(
				err, (int)call[i].ret,
				"fd %d: handing over its lock by fcntl(F_SETLK)",
				(int)call[i].arg[0]);
	return r;
}

static int begin(struct handover *h, struct error *err)
{
	fill_lists(h);
	return tracee_begin(h->tracee, h->list, h->data, data_size(h), err);
}

/*
 * Fault points, at which a test can kill an engine: the turn is done, but its answer is
 * not sent yet.
 */
static const enum move_fault at_turn[HANDOVER_TURNS] = {
	MF_SOURCE_LOCKS_FIRST_SHARED,
	MF_SOURCE_LOCKS_FIRST_GONE,
	MF_SOURCE_LOCKS_REST_SHARED,
	MF_SOURCE_LOCKS_REST_GONE,
};

static int take_turn(struct handover *h, int turn, struct error *err)
{
	int r = frame_expect_u64(h->ch, &h->frame, FRAME_LOCKS, (uint64_t)turn,
				 err);

	if (!r && turn == 0)
		r = begin(h, err);
	else if (!r)
		r = tracee_go_past(h->tracee, err);
	if (!r)
		r = tracee_reach(h->tracee, h->pause[turn], err);
	if (!r)
		r = check_turn(h, turn, err);
	if (!r)
		r = move_fault(at_turn[turn], err);
	return r < 0 ? r
		     : frame_send_u64(h->ch, FRAME_LOCKS, (uint64_t)turn, err);
}

struct handover *handover_create(struct tracee *t, struct channel *ch,
				 const struct frame_beats *beats,
				 const struct fds_source *fds)
{
	struct fds_lock *lock;
	size_t nr = fds_handed(fds, &lock);
	struct handover *h;

	if (!nr) {
		free(lock);
		return NULL;
	}
	/* fd/lock.c refuses more than that */
	assert(nr <= FDS_HANDED_MOST);
	h = xcalloc(1, sizeof(*h));
	h->tracee = t;
	h->ch = ch;
	h->frame.beats = *beats;
	h->lock = lock;
	h->nr = nr;
	return h;
}

int handover_run(struct handover *h, struct error *err)
{
	int r = 0;

	for (int turn = 0; h && turn < HANDOVER_TURNS && !r; turn++)
		r = take_turn(h, turn, err);
	return r;
}

bool handover_undo(struct handover *h, const char *why)
{
	struct error err;

	if (!h || !h->list)
		return true;
	frame_send_abort(h->ch, why);
	h->lasts = tracee_end(h->tracee, h->list, BACK_LIMIT, &err) < 0;
	return !h->lasts;
}

bool handover_lasts(const struct handover *h)
{
	return h && h->lasts;
}
