/* fake_capsule.c - nothing runs in it, see fake_capsule.h */
#include "fake_capsule.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cluster/capsule/capsule.h"
#include "core/xalloc.h"

enum { FDS = 8 };

struct capsule {
	int event;
	int fd[FDS]; /* of the program, by its numbers */
	bool runs, ended;
	int status;
};

static struct capsule *last; /* there is one at a time */
static bool end_called, mortal = true;

void fake_program_writes(int as, const void *p, size_t n)
{
	if (last && last->runs && as < FDS && last->fd[as] >= 0)
		(void)!write(last->fd[as], p, n);
}

static void close_all(struct capsule *c)
{
	for (int i = 0; i < FDS; i++)
		if (c->fd[i] >= 0)
			close(c->fd[i]);
	for (int i = 0; i < FDS; i++)
		c->fd[i] = -1;
}

void fake_program_ends(int status)
{
	uint64_t one = 1;

	if (!last || !last->runs)
		return;
	close_all(last);
	last->runs = false;
	last->ended = true;
	last->status = status;
	assert(write(last->event, &one, sizeof(one)) == sizeof(one));
}

int capsule_create(const struct capsule_spec *spec, struct capsule **ret,
		   struct error *err)
{
	struct capsule *c = xcalloc(1, sizeof(*c));

	assert(spec->name && spec->run_dir && spec->hostname && spec->hosts);
	c->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (int i = 0; i < FDS; i++)
		c->fd[i] = -1;
	*ret = last = c;
	end_called = false;
	return 0;
}

bool capsule_end(struct capsule *c)
{
	close_all(c);
	end_called = true;
	return mortal;
}

bool fake_capsule_ended(void)
{
	return end_called;
}

bool fake_capsule_there(void)
{
	return last;
}

void fake_capsule_dies(bool dies)
{
	mortal = dies;
}

void capsule_destroy(struct capsule *c)
{
	if (!c)
		return;
	close_all(c);
	close(c->event);
	free(c);
	last = NULL;
}

int capsule_sweep(const char *run_dir, struct error *err)
{
	return 0;
}

int capsule_exec(struct capsule *c, const struct capsule_program *prog,
		 pid_t *ret, struct error *err)
{
	assert(prog->argv[0] && prog->env);
	if (!*prog->argv[0])
		return error_set(err, -ENOENT, "no program");
	for (size_t i = 0; i < prog->nr_fds; i++) {
		int fd = fcntl(prog->fds[i].fd, F_DUPFD_CLOEXEC, 0);

		assert(fd >= 0 && prog->fds[i].as < FDS);
		fcntl(fd, F_SETFL, O_NONBLOCK | fcntl(fd, F_GETFL));
		c->fd[prog->fds[i].as] = fd;
	}
	c->runs = true;
	*ret = getpid();
	return 0;
}

bool capsule_not_begun(const struct capsule *c)
{
	return !c->runs;
}

int capsule_spawn(struct capsule *c, capsule_entry *entry, const void *arg,
		  size_t n, const int *fds, size_t nr_fds, pid_t *ret,
		  struct error *err)
{
	return error_set(err, -ENOSYS, "nothing lands here");
}

int capsule_kill(struct capsule *c, pid_t ns_pid, int sig, struct error *err)
{
	assert(c && sig > 0 && sig <= 64);
	if (sig == 9)
		fake_program_ends(sig);
	return 0;
}

int capsule_event_fd(const struct capsule *c)
{
	return c->event;
}

int capsule_next_event(struct capsule *c, struct capsule_event *ret)
{
	uint64_t n;

	(void)!read(c->event, &n, sizeof(n));
	if (!c->ended)
		return 0;
	c->ended = false;
	*ret = (struct capsule_event){ .what = CAPSULE_EXIT,
				       .ns_pid = CAPSULE_RANK_PID,
				       .status = c->status };
	return 1;
}

int capsule_plug(struct capsule *c, struct error *err)
{
	assert(c);
	return 0;
}

int capsule_unplug(struct capsule *c, struct error *err)
{
	assert(c);
	return 0;
}

int capsule_yield(struct capsule *c, struct error *err)
{
	assert(c);
	return 0;
}

int capsule_fast_path(struct capsule *c, const struct net_hooks *seen,
		      struct error *why)
{
	assert(c);
	return error_set(why, -EOPNOTSUPP, "there is no network");
}

int capsule_ease(struct capsule *c, bool move, struct error *err)
{
	assert(c);
	return 0;
}

void capsule_met(const struct capsule *c, struct limits_met *ret)
{
	assert(c);
	*ret = (struct limits_met){ 0 };
}

int capsule_freeze(struct capsule *c, struct error *err)
{
	assert(c);
	return 0;
}

void capsule_stir(struct capsule *c, bool on)
{
}

void capsule_hasten(struct capsule *c)
{
}

int capsule_thaw(struct capsule *c, struct error *err)
{
	assert(c);
	return 0;
}

pid_t capsule_init_pid(const struct capsule *c)
{
	return getpid();
}
