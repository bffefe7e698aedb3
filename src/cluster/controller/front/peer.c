/*
 * peer.c - agents and clients of the controller, and who may ask
 * what
 *
 * The table at the end of this file has all that a peer can ask for, and which roles
 * may ask.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/front/priv.h"
#include "cluster/controller/hear/hear.h"
#include "cluster/controller/hosts/hosts.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/account.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "cluster/controller/users/users.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/xalloc.h"

/* The host of a request, or NULL after telling the peer why not. */
static struct ctl_host *host_for(struct ctl_peer *p, uint64_t re,
				 const char *name)
{
	struct ctl_host *h = ctl_host_find(p->ctl, name);

	if (!h)
		ctl_send_failed(p, re, -ENOENT,
				"no host %s; `stint hosts` lists them", name);
	return h;
}

/* ---- what can be asked ---- */

static void on_host_report(struct ctl_peer *p, Control__Message *m)
{
	ctl_host_report(p->host, m->host_report);
}

static void on_keeper_packet(struct ctl_peer *p, Control__Message *m)
{
	if (m->keeper_packet->name)
		klink_packet(p->host, m->keeper_packet->name,
			     &m->keeper_packet->data);
}

static void on_keeper_gone(struct ctl_peer *p, Control__Message *m)
{
	const Control__KeeperName *n = m->keeper_gone->name;

	if (!n)
		return;
	if (m->keeper_gone->committed_epoch)
		ctl_move_looked(p->host, m->keeper_gone);
	else
		ctl_host_lacks(p->host, n);
}

static void on_submit(struct ctl_peer *p, Control__Message *m)
{
	ctl_job_submit(p, m->id, m->submit);
}

static void on_attach(struct ctl_peer *p, Control__Message *m)
{
	const struct ctl_job *job =
		front_job_for(p, m->id, m->attach->job, "attach");

	if (!job)
		return;
	if (front_is_others(p, job))
		front_audit_job(p, &(struct ctl_audited){ .what = "attach" },
				job->id, job->spec->user, NULL, 0, 0, "");
	ctl_job_attach(p, m->id, m->attach);
}

static void on_stdin(struct ctl_peer *p, Control__Message *m)
{
	if (p->job && p->job->id == m->stdin_data->job)
		ctl_stdin_send(p->job, m->stdin_data);
}

static void on_output_ack(struct ctl_peer *p, Control__Message *m)
{
	const Control__OutputAck *a = m->output_ack;
	struct klink *k = klink_find(p->ctl, a->job, a->rank, a->epoch);

	if (k && k->job && k->job->client == p)
		klink_acked(k, a->seq);
}

static void on_signal(struct ctl_peer *p, Control__Message *m)
{
	const Control__Signal *s = m->signal;
	char *detail =
		s->one	   ? xasprintf("signal %u, rank %u", s->signo, s->rank)
		: s->signo ? xasprintf("signal %u", s->signo)
			   : NULL;

	front_each_job(p, m->id, s->job, s->tasks, s->n_tasks, ctl_job_signal,
		       s, s->signo ? "kill" : "cancel", detail);
	free(detail);
}

static void on_list_jobs(struct ctl_peer *p, Control__Message *m)
{
	ctl_list_jobs(p, m->id, m->list_jobs);
}

static void on_list_hosts(struct ctl_peer *p, Control__Message *m)
{
	ctl_list_hosts(p, m->id);
}

static void audit_migrate(const struct ctl_peer *p, const struct ctl_job *job,
			  const Control__Migrate *g, int code, const char *why)
{
	char *detail;

	if (!front_is_others(p, job))
		return;
	detail = xasprintf("rank %u to %s", g->rank, g->host);
	front_audit_job(
		p, &(struct ctl_audited){ .what = "migrate", .detail = detail },
		job->id, job->spec->user, NULL, 0, code, why);
	free(detail);
}

static void on_migrate(struct ctl_peer *p, Control__Message *m)
{
	const Control__Migrate *g = m->migrate;
	struct ctl_job *job = front_job_for(p, m->id, g->job, "migrate");
	struct ctl_host *to;
	struct ctl_move_asker asker = { .peer = p, .re = m->id };
	const struct ctl_move_bounds bounds = { .budget = g->budget_usec };
	struct error err;
	int r;

	if (!job)
		return;
	if (g->rank >= job->nr) {
		ctl_send_failed(p, m->id, -ESRCH,
				"job %llu has ranks 0 to %u and no %u",
				(unsigned long long)job->id, job->nr - 1,
				g->rank);
		return;
	}
	to = host_for(p, m->id, g->host);
	if (!to)
		return;
	if (ctl_move_again(&job->ranks[g->rank], g, p, m->id))
		return;
	asker.key = g->key;
	r = ctl_move_begin(&job->ranks[g->rank], to, bounds, &asker, &err);
	if (r >= 0)
		ctl_job_act(job, p->name, "rank %u sent to %s", g->rank,
			    to->name);
	audit_migrate(p, job, g, r, r < 0 ? err.text : "");
	if (r < 0)
		ctl_send_failed(p, m->id, r, "%s", err.text);
}

static void on_drain(struct ctl_peer *p, Control__Message *m)
{
	ctl_host_drain(p, m->id, m->drain);
}

static void on_owner_ask(struct ctl_peer *p, Control__Message *m)
{
	struct ctl_host *h = host_for(p, m->id, m->owner_ask->host);

	if (h)
		ctl_ask_agent(h, p, m->id, MESSAGE_BODY(OWNER_ASK),
			      m->owner_ask, MESSAGE_BODY(OWNER_HOST));
}

static void on_get_record(struct ctl_peer *p, Control__Message *m)
{
	ctl_record_read(p, m->id, m->get_record);
}

static void on_get_why(struct ctl_peer *p, Control__Message *m)
{
	ctl_record_why(p, m->id, m->get_why->job);
}

static void on_change_job(struct ctl_peer *p, Control__Message *m)
{
	Control__ChangeJob *c = m->change_job;
	struct ctl_change change = { .ask = c };
	char *detail = NULL;
	const char *what = front_change_words(c, &detail);

	ctl_after_prepare(p, &change);
	front_each_job(p, m->id, c->job, c->tasks, c->n_tasks, ctl_job_change,
		       &change, what, detail);
	free(detail);
}

static void on_wait_job(struct ctl_peer *p, Control__Message *m)
{
	struct ctl_job *job = front_job_for(p, m->id, m->wait_job->job, "wait");

	if (job)
		ctl_job_wait(p, m->id, job);
}

static void on_get_history(struct ctl_peer *p, Control__Message *m)
{
	ctl_history_read(p, m->id, m->get_history);
}

static void on_get_audit(struct ctl_peer *p, Control__Message *m)
{
	ctl_audit_read(p, m->id, m->get_audit);
}

static void on_get_store(struct ctl_peer *p, Control__Message *m)
{
	front_copy_store(p, m->id, m->get_store->from);
}

static void on_get_output(struct ctl_peer *p, Control__Message *m)
{
	struct ctl_job *job =
		front_job_for(p, m->id, m->get_output->job, "output");

	if (job)
		ctl_output_read(p, m->id, job, m->get_output);
}

/* An answer for which no peer waits any more. */
static void on_late_answer(struct ctl_peer *p, Control__Message *m)
{
}

enum { HOST = 1 << ROLE_HOST, CLIENT = 1 << ROLE_USER | 1 << ROLE_ADMIN };

static const struct {
	Control__Message__BodyCase what;
	unsigned roles;
	void (*handle)(struct ctl_peer *p, Control__Message *m);
} table[] = {
	{ MESSAGE_BODY(OK), HOST | CLIENT, on_late_answer },
	{ MESSAGE_BODY(FAILED), HOST, on_late_answer },
	{ MESSAGE_BODY(HOST_REPORT), HOST, on_host_report },
	{ MESSAGE_BODY(KEEPER_PACKET), HOST, on_keeper_packet },
	{ MESSAGE_BODY(KEEPER_GONE), HOST, on_keeper_gone },
	{ MESSAGE_BODY(SUBMIT), CLIENT, on_submit },
	{ MESSAGE_BODY(ATTACH), CLIENT, on_attach },
	{ MESSAGE_BODY(STDIN_DATA), CLIENT, on_stdin },
	{ MESSAGE_BODY(OUTPUT_ACK), CLIENT, on_output_ack },
	{ MESSAGE_BODY(SIGNAL), CLIENT, on_signal },
	{ MESSAGE_BODY(LIST_JOBS), CLIENT, on_list_jobs },
	{ MESSAGE_BODY(LIST_HOSTS), CLIENT, on_list_hosts },
	{ MESSAGE_BODY(MIGRATE), CLIENT, on_migrate },
	{ MESSAGE_BODY(OWNER_ASK), CLIENT, on_owner_ask },
	{ MESSAGE_BODY(DRAIN), 1 << ROLE_ADMIN, on_drain },
	{ MESSAGE_BODY(GET_WHY), CLIENT, on_get_why },
	{ MESSAGE_BODY(CHANGE_JOB), CLIENT, on_change_job },
	{ MESSAGE_BODY(WAIT_JOB), CLIENT, on_wait_job },
	{ MESSAGE_BODY(GET_OUTPUT), CLIENT, on_get_output },
	{ MESSAGE_BODY(GET_HISTORY), CLIENT, on_get_history },
	{ MESSAGE_BODY(GET_AUDIT), 1 << ROLE_ADMIN, on_get_audit },
	{ MESSAGE_BODY(GET_STORE), 1 << ROLE_ADMIN, on_get_store },
	{ MESSAGE_BODY(GET_RECORD), 1 << ROLE_ADMIN, on_get_record },
};

static int answer_hello(struct ctl_peer *p, Control__Message *m,
			struct error *err)
{
	Control__ControllerInfo info = CONTROL__CONTROLLER_INFO__INIT;
	int r;

	if (m->body_case != MESSAGE_BODY(HELLO))
		return error_set(err, -EPROTO,
				 "its first message is not HELLO");
	if (m->hello->version != CONTROL__VERSION__MAJOR) {
		ctl_send_failed(p, m->id, -EPROTO,
				"the controller speaks version %d of the "
				"control protocol and you %u: install the "
				"same Stint on both sides",
				CONTROL__VERSION__MAJOR, m->hello->version);
		return 0;
	}
	p->greeted = true;
	if (p->role == ROLE_HOST) {
		if (!m->hello->agent)
			return error_set(err, -EPROTO, "it is not an agent");
		r = ctl_host_hello(p, m->hello->agent, err);
		if (r < 0)
			return r;
	}
	info.pool = p->ctl->conf->pool;
	info.refuses_unknown = true;
	r = message_send_hello(p->conn, 0, m->id, NULL, &info);
	if (!r && p->host)
		ctl_host_compare(p->host, m->hello->agent);
	else
		conn_tells_nothing(p->conn);
	return r;
}

/*
 * Hand an agent's answer on to the peer that waits for it; false if it is not an
 * answer.
 */
static bool take_answer(struct ctl_peer *p, Control__Message *m)
{
	struct klink *start;

	if (!p->host || !m->re || !ctl_agent_answers(p->host, m, &start))
		return false;
	if (start && m->body_case == MESSAGE_BODY(FAILED))
		klink_start_failed(start, m->failed);
	return true;
}

static void dispatch(struct ctl_peer *p, Control__Message *m)
{
	if (take_answer(p, m))
		return;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (table[i].what != m->body_case)
			continue;
		if (!(table[i].roles & 1u << p->role)) {
			front_audit_refused(p, m, "not an administrator");
			ctl_send_failed(p, m->id, -EPERM,
					"%s may not ask for this%s",
					conn_peer(p->conn),
					table[i].roles & 1u << ROLE_ADMIN
						? ": it takes the key of an "
						  "administrator (admin/NAME)"
						: "");
			return;
		}
		if (p->role == ROLE_HOST || front_knows(p, m))
			table[i].handle(p, m);
		return;
	}
	/*
	 * An agent's answer to a client who has gone meanwhile: to say that we do not know
	 * it would be taken for the end of their connection.
	 */
	if (m->re)
		return;
	ctl_send_failed(p, m->id, -ENOSYS,
			"the controller does not know this request: it may be "
			"older than you");
}

/* ---- connections ---- */

/*
 * So many connections beyond the limit stay open until the peer has read that it is
 * refused.
 */
enum { REFUSED_MAX = 8 };

/* How many connections users have; with a name, how many that user has. */
static unsigned count_users(const struct ctl *ctl, const char *name)
{
	const struct ctl_peer *p;
	unsigned n = 0;

	LIST_FOREACH (p, &ctl->front->peers, link)
		n += p->role == ROLE_USER && (!name || !strcmp(p->name, name));
	return n;
}

/*
 * Refuse a user's connection beyond the limits, so that one user's flood keeps no other
 * peer out.
 */
static void limit_user(struct ctl_peer *p)
{
	const struct ctl *ctl = p->ctl;
	unsigned own = count_users(ctl, p->name);

	p->refused = own > ctl->front->user_max;
	if (own > ctl->front->user_max + REFUSED_MAX)
		conn_fail(p->conn, -EUSERS,
			  "the user has too many connections");
	else if (count_users(ctl, NULL) > ctl->front->users_max)
		conn_fail(p->conn, -EUSERS, "users have too many connections");
}

/* Answer the HELLO with the reason, and close the connection. */
static void refuse_user(struct ctl_peer *p, const Control__Message *m)
{
	ctl_send_failed(p, m->id, -EUSERS,
			"%s has %u connections already, as many as one user "
			"may have (user-connections of the controller): end "
			"some, or ask its administrator for more",
			p->name, p->ctl->front->user_max);
	log_warnx("peer=%s error=\"too many connections\"", conn_peer(p->conn));
	LIST_REMOVE(p, link);
	conn_finish(p->conn);
	free(p);
}

static void peer_ready(struct conn *c, void *arg)
{
	struct ctl *ctl = arg;
	struct ctl_peer *p = xcalloc(1, sizeof(*p));

	p->ctl = ctl;
	p->conn = c;
	p->role = role_of(conn_peer(c), &p->name);
	LIST_INSERT_HEAD(&ctl->front->peers, p, link);
	conn_set_ctx(c, p);
	front_keys_check(p);
	if (p->role != ROLE_HOST)
		conn_hold_unread(c);
	if (p->role == ROLE_USER) {
		limit_user(p);
		front_turn_begins(ctl->front, c);
	}
}

static int hear_message(struct ctl_peer *p, const uint8_t *data, size_t n,
			struct error *err)
{
	Control__Message *m;
	int r = 0;

	if (p->role == ROLE_NONE)
		return error_set(err, -EPERM,
				 "this key's identity names no role");
	m = message_parse(data, n, err);
	if (!m)
		return -EPROTO;
	if (p->refused)
		refuse_user(p, m);
	else if (p->greeted)
		dispatch(p, m);
	else
		r = answer_hello(p, m, err);
	message_free(m);
	return r;
}

/* Nobody may be at the other end any more by the end of it. */
static int peer_message(struct conn *c, const uint8_t *data, size_t n,
			void *arg, struct error *err)
{
	struct ctl_peer *p = arg;
	struct ctl_front *f = p->ctl->front;
	bool counts = p->role == ROLE_USER;
	usec_t start = clock_usec(CLOCK_MONOTONIC);
	int r = hear_message(p, data, n, err);

	if (counts)
		front_turn_took(f, c, clock_usec(CLOCK_MONOTONIC) - start);
	return r;
}

static void peer_closed(struct conn *c, int code, const struct error *why,
			void *arg)
{
	struct ctl_peer *p = arg;

	if (code < 0 && code != -EPIPE)
		log_warnx("peer=%s error=\"%s\"", conn_peer(c), why->text);
	LIST_REMOVE(p, link);
	conn_destroy(c);
	p->conn = NULL;
	ctl_waiters_gone(p);
	front_copy_gone(p->ctl->front, p);
	if (p->job)
		ctl_job_detach(p);
	if (p->host && p->host->agent == p)
		ctl_host_gone(p->host);
	free(p);
}

static void peer_drained(struct conn *c, void *arg)
{
	struct ctl_peer *p = arg;

	if (p->host && p->host->agent == p)
		klinks_drained(p->host);
}

const struct conn_ops front_peer_ops = {
	.ready = peer_ready,
	.message = peer_message,
	.closed = peer_closed,
	.drained = peer_drained,
};
