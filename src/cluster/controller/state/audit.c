/* audit.c - what administrators did and what was refused, see audit.h */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/conn.h"
#include "cluster/controller/state/audit.h"
#include "cluster/controller/state/find.h"
#include "core/xalloc.h"

enum { TEXT_MAX = 1000 }; /* bytes of each text of a row */

static const char *cut(const char *text, char *room)
{
	if (!text || strlen(text) <= TEXT_MAX)
		return text;
	snprintf(room, TEXT_MAX + 4, "%.*s...", TEXT_MAX, text);
	return room;
}

static void put(struct ctl *ctl, const char *who, const struct ctl_audited *act,
		int code, const char *why)
{
	char target[TEXT_MAX + 4], detail[TEXT_MAX + 4];
	const struct store_audit row = { .at = ctl_now(),
					 .who = who,
					 .what = act->what,
					 .target = cut(act->target, target),
					 .detail = cut(act->detail, detail),
					 .code = code,
					 .why = why };

	store_put_audit(ctl->store, &row);
}

void ctl_audit(const struct ctl_peer *p, const struct ctl_audited *act,
	       int code, const char *why)
{
	put(p->ctl, conn_peer(p->conn), act, code < 0 ? code : 0,
	    code < 0 ? why : "");
}

void ctl_audit_of(struct ctl *ctl, const char *who,
		  const struct ctl_audited *act)
{
	put(ctl, who, act, 0, "");
}

bool ctl_audit_prune(struct ctl *ctl, usec_t before, unsigned rows)
{
	return store_prune_audit(ctl->store, (uint64_t)ctl->conf->accounts,
				 before, rows);
}

char *ctl_audit_list(char *const *text, size_t n)
{
	char *list = xstrdup(""), *more;

	for (size_t i = 0; i < n && strlen(list) <= TEXT_MAX; i++) {
		more = xasprintf("%s%s%.*s", list, i ? " " : "", TEXT_MAX,
				 text[i]);
		free(list);
		list = more;
	}
	return list;
}
