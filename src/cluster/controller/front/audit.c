/*
 * audit.c - what is asked for others' jobs, or by those who may not, and the answer to
 * GET_AUDIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/front/priv.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "core/xalloc.h"

enum {
	PAGE = 512 << 10, /* bytes of one answer, about */
	/* rows that are read for one answer, whosever they are */
	ROWS = 2000,
	RANGES = 20, /* of tasks that are told */
};

/* ---- writing */

bool front_is_others(const struct ctl_peer *p, const struct ctl_job *job)
{
	return p->role == ROLE_ADMIN && strcmp(p->name, job->spec->user);
}

/* "job 7[1-3,8] of ada" */
static char *job_target(uint64_t id, const char *user,
			Control__TaskRange **range, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *to = xmemstream(&text, &size);

	fprintf(to, "job %" PRIu64, id);
	for (size_t i = 0; i < n && i < RANGES; i++)
		fprintf(to,
			range[i]->first == range[i]->last ? "%c%u" : "%c%u-%u",
			i ? ',' : '[', range[i]->first, range[i]->last);
	fprintf(to, "%s of %s", n > RANGES ? ",...]" : n ? "]" : "", user);
	fclose(to);
	return text;
}

void front_audit_job(const struct ctl_peer *p,
		     const struct ctl_audited *of_what, uint64_t id,
		     const char *user, Control__TaskRange **range, size_t n,
		     int code, const char *why)
{
	struct ctl_audited act = *of_what;
	char *target = job_target(id, user, range, n);

	act.target = target;
	ctl_audit(p, &act, code, why);
	free(target);
}

void front_audit_refused(const struct ctl_peer *p, const Control__Message *m,
			 const char *why)
{
	const ProtobufCFieldDescriptor *f =
		protobuf_c_message_descriptor_get_field(
			&control__message__descriptor, m->body_case);

	ctl_audit(p, &(struct ctl_audited){ .what = f ? f->name : "" }, -EPERM,
		  why);
}

static void put_change(FILE *to, const char *name, uint64_t value)
{
	if (value == UINT64_MAX)
		fprintf(to, " %s=none", name);
	else if (value)
		fprintf(to, " %s=%" PRIu64, name, value);
}

static char *update_words(const Control__ChangeJob *c)
{
	char *text = NULL, *hosts;
	size_t size;
	FILE *to = xmemstream(&text, &size);

	put_change(to, "estimate_us", c->estimate_usec);
	put_change(to, "limit_us", c->limit_usec);
	if (c->limits) {
		put_change(to, "memory", c->limits->memory);
		put_change(to, "pids", c->limits->pids);
		put_change(to, "milli_cpus", c->limits->milli_cpus);
		put_change(to, "output", c->limits->output_max);
	}
	if (*c->name)
		fprintf(to, " name=%s", c->name);
	hosts = ctl_audit_list(c->hosts, c->n_hosts);
	if (c->n_hosts || c->any_host)
		fprintf(to, " hosts=%s", c->any_host ? "any" : hosts);
	free(hosts);
	if (c->no_after)
		fputs(" after=none", to);
	else if (c->n_after)
		fprintf(to, " after=%zu jobs", c->n_after);
	fclose(to);
	if (*text)
		memmove(text, text + 1, strlen(text));
	return text;
}

const char *front_change_words(const Control__ChangeJob *c, char **detail)
{
	switch (c->change) {
	case CONTROL__CHANGE__HOLD:
		return "hold";
	case CONTROL__CHANGE__RELEASE:
		return "release";
	case CONTROL__CHANGE__REQUEUE:
		return "requeue";
	default:
		*detail = update_words(c);
		return "update";
	}
}

/* ---- reading */

struct page {
	const Control__GetAudit *ask;
	Control__Audit to;
	size_t cap, bytes, rows;
};

static bool is_asked_for(const struct page *l, const struct store_audit *row)
{
	const char *who = l->ask->who, *name;

	if (row->at < (usec_t)l->ask->since_usec)
		return false;
	if (!*who || !strcmp(who, row->who))
		return true;
	name = strchr(row->who, '/');
	return name && !strcmp(who, name + 1);
}

static Control__AuditAct *new_act(const struct store_audit *row)
{
	Control__AuditAct *a = xmalloc(sizeof(*a));

	control__audit_act__init(a);
	a->seq = row->seq;
	a->at_usec = (uint64_t)row->at;
	a->who = xstrdup(row->who);
	a->what = xstrdup(row->what);
	a->target = xstrdup(row->target);
	a->detail = xstrdup(row->detail);
	a->code = row->code;
	a->why = xstrdup(row->why);
	return a;
}

static bool add_act(void *arg, const struct store_audit *row)
{
	struct page *l = arg;
	Control__AuditAct *a;

	if (l->bytes > PAGE || l->rows++ == ROWS) {
		l->to.next = row->seq;
		return false;
	}
	if (!is_asked_for(l, row))
		return true;
	a = new_act(row);
	l->bytes += control__audit_act__get_packed_size(a);
	array_room(l->to.acts, l->to.n_acts, &l->cap);
	l->to.acts[l->to.n_acts++] = a;
	return true;
}

void ctl_audit_read(struct ctl_peer *p, uint64_t re, const Control__GetAudit *g)
{
	struct page l = { .ask = g, .to = CONTROL__AUDIT__INIT };

	store_each_audit(p->ctl->store, g->from, add_act, &l);
	ctl_send(p, 0, re, MESSAGE_BODY(AUDIT), &l.to);
	for (size_t i = 0; i < l.to.n_acts; i++)
		control__audit_act__free_unpacked(l.to.acts[i], NULL);
	free(l.to.acts);
}
