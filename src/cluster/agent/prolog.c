/*
 * prolog.c - what the administrator has run before a job's first rank here, and after
 * its last one is gone
 *
 * A job that has or will have a rank here has a place: made with the order for its first
 * keeper, which waits until the prolog has ended well, and removed when its last keeper
 * is gone and the epilog has ended.  RUN_DIR/jobs/JOB tells of it, so that the agent
 * after this one owes the same epilog.  A prolog that failed or was cut off is followed
 * by the epilog, too: it may have done half of its work.
 *
 * A host on which one of them fails takes no ranks until its agent is told to look
 * again: it would else make one job after the other fail.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/agent/priv.h"
#include "cluster/agent/script.h"
#include "cluster/conn/loop.h"
#include "cluster/host/process.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

enum { MARK_MOST = 512 };

enum stage {
	PROLOG, /* runs */
	READY,	/* it has ended well, or there is none */
	CUT,	/* it has not: the epilog comes, and no keeper was ordered */
	EPILOG, /* runs */
};

/* A keeper that is to be ordered. */
struct waiting {
	STAILQ_ENTRY(waiting) link;
	struct relay *relay;
	int ready; /* for it to say so */
};

struct place {
	struct prologs *of;
	char *job, *user;
	uint32_t rank, uid;
	enum stage stage;
	pid_t pid; /* of what runs; 0: nothing */
	sd_event_source *patience;
	STAILQ_HEAD(, waiting) waiting;
	UT_hash_handle hh;
};

struct prologs {
	struct agent *agent;
	const struct prolog_ops *ops;
	struct place *places; /* by job */
	sd_event_source *look;
	char *failed; /* why no rank may come; NULL: nothing has failed */
};

static const char *path_of(const struct place *p)
{
	const struct agent_conf *conf = p->of->agent->conf;

	return p->stage == EPILOG ? conf->epilog : conf->prolog;
}

static const char *name_of(const struct place *p)
{
	return p->stage == EPILOG ? "epilog" : "prolog";
}

/* ---- what is written of it */

static char *mark_path(const struct place *p)
{
	return xasprintf("%s/jobs/%s", p->of->agent->conf->run_dir, p->job);
}

/* The process that may be cut off with this agent; ready: none. */
static int write_mark(const struct place *p, struct error *err)
{
	struct process_id id = { 0 };
	char *path = mark_path(p);
	char *text;
	int r;

	if (p->pid)
		(void)!process_identify(p->pid, &id);
	text = xasprintf("%d %d %" PRIu64 " %" PRIu32 " %" PRIu32 " %s\n",
			 p->stage == READY, (int)id.pid, id.start, p->rank,
			 p->uid, p->user);
	r = io_replace_file(path, text, err);
	free(text);
	free(path);
	return r;
}

static void remove_mark(const struct place *p)
{
	char *path = mark_path(p);

	unlink(path);
	free(path);
}

/* ---- places */

static struct place *make_place(struct prologs *of, const char *job)
{
	struct place *p = xcalloc(1, sizeof(*p));

	p->of = of;
	p->job = xstrdup(job);
	STAILQ_INIT(&p->waiting);
	HASH_ADD_KEYPTR(hh, of->places, p->job, strlen(p->job), p);
	return p;
}

static struct place *find_place(struct prologs *of, const char *job)
{
	struct place *p;

	HASH_FIND_STR(of->places, job, p);
	return p;
}

static struct waiting *next_waiting(struct place *p)
{
	struct waiting *w = STAILQ_FIRST(&p->waiting);

	if (w)
		STAILQ_REMOVE_HEAD(&p->waiting, link);
	return w;
}

/* What it ran is over, or is not heard of again. */
static void end_run(struct place *p)
{
	p->patience = sd_event_source_disable_unref(p->patience);
	if (p->pid)
		kill(-p->pid, SIGKILL);
	p->pid = 0;
}

static void free_place(struct place *p)
{
	struct waiting *w;

	end_run(p);
	while ((w = next_waiting(p))) {
		close(w->ready);
		free(w);
	}
	HASH_DEL(p->of->places, p);
	free(p->job);
	free(p->user);
	free(p);
}

/* ---- those that wait for a prolog */

static void go_on(struct place *p)
{
	struct waiting *w;

	while ((w = next_waiting(p))) {
		p->of->ops->order(w->relay, p->user, w->ready);
		free(w);
	}
}

static void refuse(struct place *p, const char *why)
{
	struct waiting *w;

	while ((w = next_waiting(p))) {
		close(w->ready);
		p->of->ops->refuse(w->relay, PROLOG_FAILED, why);
		free(w);
	}
}

/* ---- one runs, and ends */

static void look(struct prologs *of);
static void begin(struct place *p, enum stage stage);

static int on_look(sd_event_source *src, void *arg)
{
	struct prologs *of = arg;

	of->look = sd_event_source_disable_unref(of->look);
	look(of);
	return 0;
}

static void look_soon(struct prologs *of)
{
	if (!of->look)
		loop_defer(of->agent->event, &of->look, on_look, of);
}

static void fail(struct place *p, const char *why)
{
	struct prologs *of = p->of;

	log_warnx("job=%s rank=%" PRIu32 " %s=failed why=\"%s\"", p->job,
		  p->rank, name_of(p), why);
	free(of->failed);
	of->failed = xasprintf("%s: the %s of job %s failed: %s",
			       of->agent->name, name_of(p), p->job, why);
	refuse(p, of->failed);
	of->ops->closed(of->agent);
}

/* The epilog has ended: who has come meanwhile begins with a prolog. */
static void leave(struct place *p)
{
	remove_mark(p);
	if (STAILQ_EMPTY(&p->waiting))
		free_place(p);
	else
		begin(p, PROLOG);
}

/* why: what went wrong, or NULL. */
static void over(struct place *p, const char *why)
{
	struct error err;

	end_run(p);
	if (why)
		fail(p, why);
	else
		log_debug("job=%s %s=done", p->job, name_of(p));
	if (p->stage == EPILOG) {
		leave(p);
		return;
	}
	p->stage = why ? CUT : READY;
	if (!why && write_mark(p, &err) < 0) {
		p->stage = PROLOG;
		fail(p, err.text);
		p->stage = CUT;
	}
	go_on(p);
	look_soon(p->of);
}

static int on_patience(sd_event_source *src, uint64_t usec, void *arg)
{
	struct place *p = arg;
	char *why = xasprintf("%s was killed: it took too long", path_of(p));

	over(p, why);
	free(why);
	return 0;
}

static void begin(struct place *p, enum stage stage)
{
	const struct agent *a = p->of->agent;
	const struct script_job job = { .host = a->name,
					.id = p->job,
					.user = p->user,
					.rank = p->rank,
					.uid = p->uid };
	struct error err;
	int r = 0;

	p->stage = stage;
	/* Before it runs, so that its epilog is owed whatever happens. */
	if (stage == PROLOG)
		r = write_mark(p, &err);
	if (!r && path_of(p)) {
		p->pid = script_spawn(path_of(p), &job, &err);
		r = p->pid < 0 ? p->pid : write_mark(p, &err);
		p->pid = p->pid < 0 ? 0 : p->pid;
	}
	if (r < 0 || !path_of(p))
		over(p, r < 0 ? err.text : NULL);
	else
		loop_after(a->event, &p->patience, a->conf->prolog_limit,
			   on_patience, p);
}

bool prolog_child(struct agent *a, const siginfo_t *info)
{
	struct place *p, *next;
	char *why = NULL;

	if (!a->prologs)
		return false;
	HASH_ITER (hh, a->prologs->places, p, next)
		if (p->pid == info->si_pid)
			break;
	if (!p)
		return false;
	if (info->si_code != CLD_EXITED)
		why = xasprintf("%s was killed by signal %d", path_of(p),
				info->si_status);
	else if (info->si_status)
		why = xasprintf("%s exited with %d", path_of(p),
				info->si_status);
	over(p, why);
	free(why);
	return true;
}

/* ---- when */

/* No keeper was ordered of one that was cut, whoever waits. */
static bool owes_epilog(const struct place *p)
{
	const struct relay *r;

	if (p->stage != READY)
		return p->stage == CUT;
	TAILQ_FOREACH (r, &p->of->agent->relays, link)
		if (!strcmp(r->job, p->job))
			return false;
	return true;
}

static void look(struct prologs *of)
{
	struct place *p, *next;

	HASH_ITER (hh, of->places, p, next)
		if (owes_epilog(p))
			begin(p, EPILOG);
}

void prolog_left(struct agent *a)
{
	if (a->prologs && a->prologs->places)
		look_soon(a->prologs);
}

bool prolog_wait(struct relay *r, const Control__KeeperStart *start, int ready)
{
	struct agent *a = r->agent;
	struct place *p;
	struct waiting *w;

	if (!a->prologs || !(a->conf->prolog || a->conf->epilog))
		return false;
	p = find_place(a->prologs, r->job);
	if (p && p->stage == READY)
		return false;
	w = xcalloc(1, sizeof(*w));
	w->relay = r;
	w->ready = ready;
	if (p) {
		STAILQ_INSERT_TAIL(&p->waiting, w, link);
		return true;
	}
	p = make_place(a->prologs, r->job);
	p->rank = r->rank;
	p->uid = start->uid;
	p->user = xstrdup(start->user);
	STAILQ_INSERT_TAIL(&p->waiting, w, link);
	begin(p, PROLOG);
	return true;
}

/* ---- is the host open? */

int prolog_admits(const struct agent *a, struct error *err)
{
	const char *failed = a->prologs ? a->prologs->failed : NULL;

	return failed ? error_set(err, PROLOG_FAILED, "%s", failed) : 0;
}

enum closed prolog_closed(const struct agent *a, enum closed why)
{
	return why == CLOSED_NOT && a->prologs && a->prologs->failed
		       ? CLOSED_PROLOG
		       : why;
}

static int check_both(const struct agent_conf *conf, struct error *err)
{
	int r = conf->prolog ? script_check(conf->prolog, err) : 0;

	if (r < 0)
		return error_prefix(err, r, "prolog");
	r = conf->epilog ? script_check(conf->epilog, err) : 0;
	return r < 0 ? error_prefix(err, r, "epilog") : 0;
}

void prolog_reread(struct agent *a)
{
	struct error err;

	if (check_both(a->conf, &err) < 0) {
		log_warnx("prolog=refused error=\"%s\"", err.text);
		return;
	}
	if (a->prologs->failed)
		log_info("prolog=tried again");
	free(a->prologs->failed);
	a->prologs->failed = NULL;
}

/* ---- its life */

/* Of the agent before this one; what it ran ends with it. */
static void read_mark(struct prologs *of, const char *job, const char *text)
{
	char user[MARK_MOST];
	struct process_id id;
	int ready, pid;
	uint32_t rank, uid;
	struct place *p;

	if (sscanf(text, "%d %d %" SCNu64 " %" SCNu32 " %" SCNu32 " %511s",
		   &ready, &pid, &id.start, &rank, &uid, user) != 6)
		return;
	id.pid = pid;
	if (pid > 0 && process_alive(&id))
		kill(-id.pid, SIGKILL);
	p = make_place(of, job);
	p->rank = rank;
	p->uid = uid;
	p->user = xstrdup(user);
	p->stage = ready ? READY : CUT;
}

static void read_marks(struct prologs *of, const char *dir)
{
	char *path;
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char text[MARK_MOST] = "";
		fd_auto fd = -1;

		if (strspn(e->d_name, "0123456789") != strlen(e->d_name))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
			read_mark(of, e->d_name, text);
		free(path);
	}
	if (d)
		closedir(d);
}

int prolog_begin(struct agent *a, const struct prolog_ops *ops,
		 struct error *err)
{
	char *dir = xasprintf("%s/jobs", a->conf->run_dir);
	bool any = a->conf->prolog || a->conf->epilog;
	int r = check_both(a->conf, err);

	if (!r && any && mkdir(dir, 0700) < 0 && errno != EEXIST)
		r = error_sys(err, -errno, "%s", dir);
	if (!r) {
		a->prologs = xcalloc(1, sizeof(*a->prologs));
		a->prologs->agent = a;
		a->prologs->ops = ops;
		read_marks(a->prologs, dir);
	}
	free(dir);
	return r;
}

void prolog_end(struct agent *a)
{
	struct place *p, *next;

	if (!a->prologs)
		return;
	HASH_ITER (hh, a->prologs->places, p, next)
		free_place(p);
	sd_event_source_disable_unref(a->prologs->look);
	free(a->prologs->failed);
	free(a->prologs);
	a->prologs = NULL;
}
