/*
 * lend.c - the agent keeps its host's contract with the owner
 *
 * The rules are model/contract.h's; here is what feeds them: whether the owner
 * is there (cluster/owner), which guests there are (inotify on the capsules), the
 * load, the clocks.  And what follows at once, with no controller asked: guests
 * have the lowest claim while an owner is there, and none comes to a host that
 * is closed.  That guests leave is the controller's to see to; it is told
 * whenever anything changes.
 *
 * What must survive the agent and a boot is STATE_DIR/contract, written when it
 * changes (paper.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/agent/bind.h"
#include "cluster/agent/guests.h"
#include "cluster/agent/movers.h"
#include "cluster/agent/newcomers.h"
#include "cluster/agent/paper.h"
#include "cluster/agent/priv.h"
#include "cluster/conn/loop.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/log.h"
#include "core/param.h"
#include "core/xalloc.h"

/* A capsule that was just seen coming has no record yet. */
#define LOOK_AGAIN (50 * USEC_PER_MSEC)
/* A keeper may have refused. */
#define STOP_AGAIN USEC_PER_SEC
/* Processors come and go, and guests give memory back. */
#define BIND_AGAIN (10 * USEC_PER_SEC)

struct lend {
	struct agent *agent;
	lend_changed_fn changed;
	struct owner_terms terms;
	struct contract contract;
	struct lending now;  /* as it was told last */
	uint32_t guests;     /* likewise */
	char *path;	     /* of the contract, */
	struct paper *paper; /* which is kept there */
	sd_event_source *timer, *again, *capsules;
	struct newcomers newcomers;
	bool low; /* guests may have the lowest claim */
	struct large claims;
	usec_t claim_at; /* of guests_reclaim() */
	struct movers *movers;
	struct bind *bind; /* all guests, to what is not the owner's */
	usec_t bound;	   /* when they were last */
	usec_t stopped;	   /* guests_stop() was called last */
};

/* ---- on paper ---- */

static char *write_paper(const struct lend *l, const struct moment *now)
{
	char *text = NULL;
	size_t size;
	FILE *f = xmemstream(&text, &size);

	contract_write(&l->contract, now, l->agent->boot_id, f);
	fclose(f);
	return text;
}

static void keep_paper(struct lend *l, const struct moment *now)
{
	char *text = write_paper(l, now);

	paper_put(l->paper, text);
	free(text);
}

static void read_contract(struct lend *l, const struct moment *now)
{
	struct error err = ERROR_INIT;
	char *text;
	ssize_t n = io_read_file(AT_FDCWD, l->path, 1 << 16, &text);
	int r = n < 0 ? (int)n : 0;

	if (r == -ENOENT) {
		contract_begin(&l->contract, now);
		return;
	}
	if (!r) {
		r = contract_read(&l->contract, text, now, l->agent->boot_id,
				  &err);
		free(text);
	} else {
		contract_lose(&l->contract, now);
		error_sys(&err, r, "it cannot be read");
	}
	if (r < 0)
		log_warnx("contract=%s closed=day why=\"%s\"", l->path,
			  err.text);
}

/* ---- what follows ---- */

static const char *owners(const struct lend *l)
{
	return owner_named(l->agent->owner);
}

static int on_again(sd_event_source *src, uint64_t usec, void *arg);

static void look_again(struct lend *l)
{
	if (!l->again)
		loop_after(l->agent->event, &l->again, LOOK_AGAIN, on_again, l);
}

/* Keepers and engines are lowered, too, but not kept from their work (movers.h). */
static void set_claims(struct lend *l)
{
	const struct contract *c = &l->contract;
	/* Who must leave a host that goes is to be quick. */
	bool low = c->scene.here &&
		   !presence_goes(owner_presence(l->agent->owner)->cause);
	unsigned n;

	if (!low && !l->low && !l->claims.more)
		return;
	if (low != l->low)
		l->claim_at = 0;
	bounds_claim(bind_group(l->bind), low);
	n = guests_reclaim(l->agent->conf->run_dir, owners(l), low, &l->claims,
			   &l->claim_at);
	l->low = low;
	if (l->claims.more)
		look_again(l);
	if (n)
		log_info("guests=%s threads=%u", low ? "lowered" : "raised", n);
	if (low)
		movers_watch(l->movers, owners(l), c->giving >= 0);
	else
		movers_rest(l->movers);
}

static struct lending lending_at(const struct lend *l, const struct moment *now)
{
	const struct agent *a = l->agent;
	struct lending is = contract_lending(&l->contract, &l->terms, now,
					     owner_presence(a->owner)->evict);

	is.closed = prolog_closed(a, room_closed(a, is.closed));
	return is;
}

static bool tell_differs(struct lend *l, const struct moment *now,
			 const struct contract *before)
{
	struct lending fresh = lending_at(l, now);
	bool differs = lending_differs(&fresh, &l->now) ||
		       l->guests != l->contract.scene.guests ||
		       contract_differs(before, &l->contract);

	if (fresh.closed != l->now.closed)
		log_info("host=%s", closed_name(fresh.closed));
	l->now = fresh;
	l->guests = l->contract.scene.guests;
	return differs;
}

static int on_timer(sd_event_source *src, uint64_t usec, void *arg);

static void wait_for_next(struct lend *l, const struct moment *now)
{
	usec_t at = contract_next(&l->contract, &l->terms, now);

	l->timer = sd_event_source_disable_unref(l->timer);
	if (at != USEC_MAX)
		loop_after(l->agent->event, &l->timer, at - now->steady,
			   on_timer, l);
}

/* No disturbance is left, and the time to leave is over: who still runs stops. */
static void end_leaving(struct lend *l, const struct moment *now)
{
	struct lending is = lending_at(l, now);

	if (l->contract.scene.here || !is.leave_by || now->steady < is.leave_by)
		return;
	if (now->steady - l->stopped >= STOP_AGAIN) {
		l->stopped = now->steady;
		guests_stop(l->agent, owners(l));
	}
	look_again(l);
}

static double load_of_a_core(const struct agent *a)
{
	return host_load_now(a->load) / (a->cores ? a->cores : 1);
}

static void bind_guests(struct lend *l, usec_t now, bool told)
{
	bind_put(l->bind, &l->terms, told);
	l->bound = now;
}

void lend_expect_guest(struct agent *a)
{
	bind_mend(a->lend->bind);
}

/* The claims come first: nothing that takes time is before them. */
static bool look_at_terms(struct lend *l)
{
	const struct presence *p = owner_presence(l->agent->owner);
	struct contract before = l->contract;
	struct moment now = agent_moment();
	struct scene scene = before.scene;
	struct guests g;

	if (p->here != before.scene.here) {
		l->contract.scene.here = p->here;
		set_claims(l);
		l->contract.scene.here = before.scene.here;
	}
	guests_count(l->agent->conf->run_dir, owners(l), &g);
	scene.here = p->here;
	scene.touched = p->here ? now.steady : p->idle_since;
	scene.load = load_of_a_core(l->agent);
	scene.guests = g.nr;
	/* A host that goes is not given back to anybody who waits for it. */
	scene.running = presence_goes(p->cause) ? 0 : g.running;
	scene.held = g.held;
	contract_feed(&l->contract, &l->terms, &now, &scene);
	set_claims(l);
	if (now.steady - l->bound >= BIND_AGAIN)
		bind_guests(l, now.steady, false);
	if (contract_differs(&before, &l->contract))
		keep_paper(l, &now);
	end_leaving(l, &now);
	wait_for_next(l, &now);
	return tell_differs(l, &now, &before);
}

bool lend_look(struct agent *a)
{
	bool differs = a->lend && look_at_terms(a->lend);

	if (differs)
		a->lend->changed(a);
	return differs;
}

static int on_timer(sd_event_source *src, uint64_t usec, void *arg)
{
	lend_look(((struct lend *)arg)->agent);
	return 0;
}

/* ---- guests come and go ---- */

/* However short it was: it took memory, and its owner's cache. */
static void somebody_came(struct lend *l, uint32_t n)
{
	struct moment now = agent_moment();
	struct scene scene = l->contract.scene;

	scene.guests += n;
	scene.running += n;
	contract_feed(&l->contract, &l->terms, &now, &scene);
}

static void know_newcomers(struct lend *l)
{
	uint32_t n = newcomers_know(&l->newcomers, l->agent->conf->run_dir,
				    owners(l));

	if (n)
		somebody_came(l, n);
	l->claim_at = 0;
}

static int on_again(sd_event_source *src, uint64_t usec, void *arg)
{
	struct lend *l = arg;

	l->again = sd_event_source_disable_unref(l->again);
	know_newcomers(l);
	if (l->newcomers.nr)
		look_again(l);
	lend_look(l->agent);
	return 0;
}

static int on_capsules(sd_event_source *src, const struct inotify_event *e,
		       void *arg)
{
	struct lend *l = arg;
	struct relay *r = relay_of_capsule(l->agent, e->name);

	if (*e->name == '.') /* the lock of all of them */
		return 0;
	if (!(e->mask & IN_CREATE) && r)
		r->coming = false; /* whose capsule has gone came, too */
	else if (e->mask & IN_CREATE && !(r && r->home))
		newcomers_add(&l->newcomers, e->name);
	know_newcomers(l);
	look_again(l);
	return 0;
}

static void watch_capsules(struct lend *l)
{
	char *dir = xasprintf("%s/capsules", l->agent->conf->run_dir);
	int r;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		log_warnx("capsules=%s cannot be made", dir);
	r = sd_event_add_inotify(l->agent->event, &l->capsules, dir,
				 IN_CREATE | IN_DELETE | IN_ONLYDIR,
				 on_capsules, l);
	/* Then they are seen with the next report. */
	if (r < 0)
		log_warnx("capsules=%s cannot be watched: %s", dir,
			  strerror(-r));
	free(dir);
}

/* ---- its terms, read again ---- */

static int on_hup(sd_event_source *src, const struct signalfd_siginfo *si,
		  void *arg)
{
	struct lend *l = arg;
	struct agent_conf fresh;
	struct error err;

	prolog_reread(l->agent);
	if (!l->agent->conf->config) {
		log_warnx("terms=kept why=\"there is no --config to read\"");
		return 0;
	}
	if (agent_owner_read(l->agent->conf->config, &fresh, &err) < 0) {
		log_warnx("terms=kept error=\"%s\"", err.text);
	} else {
		struct owner_terms old = l->terms;

		l->terms = fresh.owner_terms;
		fresh.owner_terms = old;
		owner_reread(l->agent->owner, &fresh.owner);
		bind_guests(l, owner_now(), true);
		log_info("terms=read file=%s", l->agent->conf->config);
		lend_look(l->agent);
	}
	agent_conf_clear(&fresh);
	return 0;
}

/* ---- asked and told ---- */

static bool is_full(const struct lend *l)
{
	struct guests g;

	if (l->terms.guests == GUESTS_ANY)
		return false;
	guests_count(l->agent->conf->run_dir, owners(l), &g);
	return g.nr + relays_coming(l->agent) >= l->terms.guests;
}

bool lend_is_home(const struct agent *a, const char *user)
{
	const char *named = owner_named(a->owner);

	return named && *user && list_has(named, user);
}

int lend_admits(const struct agent *a, struct error *err)
{
	const struct lend *l = a->lend;
	struct moment now = agent_moment();
	enum closed why = contract_closed(&l->contract, &l->terms, &now);

	if (why)
		return error_set(err, -EAGAIN, "%s takes no guests: %s",
				 a->name, closed_text(why));
	if (is_full(l))
		return error_set(err, -EBUSY,
				 "%s takes no more guests: its owner allows "
				 "%" PRIu32,
				 a->name, l->terms.guests);
	return 0;
}

uint64_t lend_memory(const struct agent *a, uint64_t available)
{
	uint64_t own = a->lend->terms.memory;

	return available > own ? available - own : 0;
}

const char *lend_guests_of(const struct agent *a)
{
	return a->lend->terms.guests_of;
}

static void fill_return(const struct owner_return *r, Control__OwnerReturn *ret)
{
	control__owner_return__init(ret);
	ret->at_usec = (uint64_t)r->wall;
	ret->done = r->took >= 0;
	ret->took_usec = ret->done ? (uint64_t)r->took : 0;
	ret->guests = r->guests;
	ret->disturbed = r->disturbed;
}

void lend_fill(const struct agent *a, struct lend_report *ret)
{
	const struct lend *l = a->lend;
	const struct contract *c = &l->contract;
	struct moment now = agent_moment();
	struct lending is = lending_at(l, &now);
	Control__Lending *m = &ret->lending;

	control__lending__init(m);
	m->closed = is.closed;
	m->leave = is.leave;
	m->give_back_usec = (uint64_t)l->terms.give_back;
	m->leave_usec = c->scene.here ? 0 : lending_left(&is, now.steady);
	m->freeze_usec = (uint64_t)is.freeze_most;
	m->freeze = is.freeze_until != 0;
	m->guests = c->scene.guests;
	m->guests_most = l->terms.guests;
	m->cores = l->terms.cores;
	m->disturbed = c->disturbed;
	m->returns = c->returns;
	m->left = contract_left(c, &l->terms);
	m->giving = c->giving >= 0;
	m->owners = (char *)(owners(l) ? owners(l) : "");
	for (uint32_t i = 0; i < c->nr_last; i++) {
		fill_return(&c->last[i], &ret->last[i]);
		ret->list[i] = &ret->last[i];
	}
	m->last = ret->list;
	m->n_last = c->nr_last;
}

/* ---- its life ---- */

int lend_begin(struct agent *a, lend_changed_fn changed, struct error *err)
{
	const struct agent_conf *conf = a->conf;
	struct lend *l = xcalloc(1, sizeof(*l));
	const char *dir = conf->state_dir ? conf->state_dir : conf->run_dir;
	struct moment now = agent_moment();

	a->lend = l;
	l->agent = a;
	l->changed = changed;
	l->path = xasprintf("%s/contract", dir);
	owner_terms_copy(&l->terms, &conf->owner_terms);
	if (conf->state_dir && mkdir(dir, 0755) < 0 && errno != EEXIST)
		return error_sys(err, -errno, "state directory %s", dir);
	l->movers = movers_create(a->event, conf->run_dir);
	l->bind = bind_create(a->event, conf, a->net);
	bind_guests(l, now.steady, true);
	l->paper = paper_create(a->event, "contract", l->path);
	read_contract(l, &now);
	l->low = true; /* an agent before this one may have done it */
	watch_capsules(l);
	look_at_terms(l);
	return loop_signals(a->event, (int[]){ SIGHUP, 0 }, on_hup, l, err);
}

void lend_end(struct agent *a)
{
	struct lend *l = a->lend;

	if (!l)
		return;
	sd_event_source_disable_unref(l->timer);
	sd_event_source_disable_unref(l->again);
	sd_event_source_disable_unref(l->capsules);
	owner_terms_clear(&l->terms);
	newcomers_clear(&l->newcomers);
	large_clear(&l->claims);
	paper_destroy(l->paper);
	movers_destroy(l->movers);
	bind_destroy(l->bind, !l->contract.scene.guests);
	free(l->path);
	free(l);
	a->lend = NULL;
}
