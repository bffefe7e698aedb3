/* history.c - accounts of jobs that are over, for those who may see them */
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/front/priv.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "core/log.h"
#include "core/xalloc.h"

enum {
	PAGE = 512 << 10, /* bytes of one answer, about */
	/* rows that are read for one answer, whosever they are */
	ROWS = 2000,
};

struct page {
	const struct ctl_peer *p;
	const Control__GetHistory *ask;
	Control__History to;
	size_t cap, bytes, rows;
};

/* May the peer see that user's, and are they asked for? */
static bool is_users(const struct page *l, const char *user)
{
	bool all = l->p->role == ROLE_ADMIN || l->p->ctl->conf->show_arguments;

	return (all || !strcmp(l->p->name, user)) &&
	       (!*l->ask->user || !strcmp(l->ask->user, user));
}

static bool is_in_time(const Control__GetHistory *ask,
		       const Control__Account *a)
{
	return a->end_usec >= ask->since_usec &&
	       (!ask->until_usec || a->end_usec <= ask->until_usec);
}

static bool add_account(void *arg, const struct store_account *row)
{
	struct page *l = arg;
	Control__Account *a;
	bool more;

	if (l->bytes > PAGE || l->rows++ == ROWS) {
		l->to.next = row->job;
		return false;
	}
	if (!is_users(l, row->user))
		return true;
	a = control__account__unpack(NULL, row->n, row->data);
	if (!a) {
		log_warnx("job=%llu account cannot be read",
			  (unsigned long long)row->job);
		return true;
	}
	/* jobs of an array follow each other */
	more = !l->ask->array || a->array == l->ask->array;
	if (!more || !is_in_time(l->ask, a)) {
		control__account__free_unpacked(a, NULL);
		return more;
	}
	l->bytes += row->n;
	array_room(l->to.accounts, l->to.n_accounts, &l->cap);
	l->to.accounts[l->to.n_accounts++] = a;
	return true;
}

void ctl_history_read(struct ctl_peer *p, uint64_t re,
		      const Control__GetHistory *g)
{
	struct page l = { .p = p, .ask = g, .to = CONTROL__HISTORY__INIT };

	store_each_account(p->ctl->store,
			   g->from > g->array ? g->from : g->array, add_account,
			   &l);
	ctl_send(p, 0, re, MESSAGE_BODY(HISTORY), &l.to);
	for (size_t i = 0; i < l.to.n_accounts; i++)
		control__account__free_unpacked(l.to.accounts[i], NULL);
	free(l.to.accounts);
}
