/*
 * creds.c - give each thread of the landing process the process's credentials
 *
 * Nothing is done if nothing differs: a capsule's init usually has the user of its
 * rank. Otherwise the order is the kernel's: the bounding set while there is
 * CAP_SETPCAP, groups before users, capabilities after both, and what forbids all of it
 * last.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "move/proc/proc.h"
#include "move/restore/restore.h"

enum { INHERITABLE, PERMITTED, EFFECTIVE, BOUNDING, AMBIENT };

static void read_limits(const struct landing *l, struct restore_ids *ids)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit here = { .rlim_max = RLIM_INFINITY };

		(void)!prlimit(l->pid, i, NULL, &here);
		ids->most[i] = here.rlim_max;
	}
}

int restore_read_ids(struct landing *l, struct restore_ids *ids,
		     struct error *err)
{
	struct restore_ids zero = { .nr_groups = 0 };
	struct proc_status st;
	uint64_t at;
	size_t last;
	int r = proc_read_status(l->pid, &st, err);

	if (!r)
		r = landing_flush(l, err);
	if (!r)
		r = landing_data(l, &zero, sizeof(zero), &at, err);
	if (!r)
		r = landing_call(l, "getresuid", SYS_getresuid, at, at + 4,
				 at + 8, 0, 0, 0, err);
	if (!r)
		r = landing_call(l, "getresgid", SYS_getresgid, at + 12,
				 at + 16, at + 20, 0, 0, 0, err);
	if (!r)
		r = landing_call(l, "getgroups", SYS_getgroups, 256,
				 at + offsetof(struct restore_ids, group), 0, 0,
				 0, 0, err);
	last = l->list.nr_calls - 1;
	if (!r)
		r = landing_flush(l, err);
	if (r < 0)
		return r;
	memcpy(ids, landing_here(l, at), sizeof(*ids));
	ids->nr_groups = (int32_t)l->box->call[last].ret;
	ids->caps[INHERITABLE] = st.cap_inh;
	ids->caps[PERMITTED] = st.cap_prm;
	ids->caps[EFFECTIVE] = st.cap_eff;
	ids->caps[BOUNDING] = st.cap_bnd;
	ids->caps[AMBIENT] = st.cap_amb;
	read_limits(l, ids);
	return 0;
}

/* A call whose failure restore_thread_check() reports. */
static void add_call(struct stub_call *call, size_t *nr, long what, uint64_t a,
		     uint64_t b, uint64_t c, uint64_t d)
{
	call[(*nr)++] = (struct stub_call){
		.nr = what,
		.arg = { a, b, c, d },
		.must = 1,
	};
}

static bool same_ids(const Move__Creds *c, const struct restore_ids *ids)
{
	return c->uid == ids->uid[0] && c->euid == ids->uid[1] &&
	       c->suid == ids->uid[2] && c->gid == ids->gid[0] &&
	       c->egid == ids->gid[1] && c->sgid == ids->gid[2] &&
	       c->n_groups == (size_t)ids->nr_groups &&
	       (!c->n_groups || /* then there is no array either */
		!memcmp(c->groups, ids->group,
			c->n_groups * sizeof(*c->groups)));
}

static bool same_caps(const Move__Creds *c, const struct restore_ids *ids)
{
	return c->inheritable == ids->caps[INHERITABLE] &&
	       c->permitted == ids->caps[PERMITTED] &&
	       c->effective == ids->caps[EFFECTIVE] &&
	       c->ambient == ids->caps[AMBIENT];
}

static int put_ids(struct landing *l, const Move__Creds *c,
		   struct stub_call *call, size_t *nr, struct error *err)
{
	uint64_t at = 0;
	int r = 0;

	add_call(call, nr, SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0);
	if (c->n_groups)
		r = landing_keep_data(l, c->groups,
				      c->n_groups * sizeof(*c->groups), &at,
				      err);
	add_call(call, nr, SYS_setgroups, c->n_groups, at, 0, 0);
	add_call(call, nr, SYS_setresgid, c->gid, c->egid, c->sgid, 0);
	add_call(call, nr, SYS_setresuid, c->uid, c->euid, c->suid, 0);
	return r;
}

static int put_caps(struct landing *l, const Move__Creds *c,
		    struct stub_call *call, size_t *nr, struct error *err)
{
	struct {
		struct __user_cap_header_struct head;
		struct __user_cap_data_struct data[2];
	} a = { .head = { .version = _LINUX_CAPABILITY_VERSION_3 } };
	uint64_t at;
	int r;

	for (int i = 0; i < 2; i++) {
		a.data[i].effective = (uint32_t)(c->effective >> 32 * i);
		a.data[i].permitted = (uint32_t)(c->permitted >> 32 * i);
		a.data[i].inheritable = (uint32_t)(c->inheritable >> 32 * i);
	}
	r = landing_keep_data(l, &a, sizeof(a), &at, err);
	if (r < 0)
		return r;
	add_call(call, nr, SYS_capset, at, at + sizeof(a.head), 0, 0);
	for (int cap = 0; cap < 64; cap++)
		if (c->ambient >> cap & 1)
			add_call(call, nr, SYS_prctl, PR_CAP_AMBIENT,
				 PR_CAP_AMBIENT_RAISE, (uint64_t)cap, 0);
	return 0;
}

int restore_creds(struct landing *l, const Move__Creds *c,
		  const struct restore_ids *ids, struct stub_call *call,
		  size_t *nr, struct error *err)
{
	uint64_t drop = ids->caps[BOUNDING] & ~c->bounding;
	bool ids_same = same_ids(c, ids);
	int r = 0;

	if (c->n_groups > 256)
		return error_set(err, -EPROTO, "%zu groups", c->n_groups);
	for (int cap = 0; cap < 64; cap++)
		if (drop >> cap & 1)
			add_call(call, nr, SYS_prctl, PR_CAPBSET_DROP,
				 (uint64_t)cap, 0, 0);
	if (!ids_same)
		r = put_ids(l, c, call, nr, err);
	if (!r && (!ids_same || !same_caps(c, ids)))
		r = put_caps(l, c, call, nr, err);
	if (!ids_same || c->keep_caps)
		add_call(call, nr, SYS_prctl, PR_SET_KEEPCAPS, c->keep_caps, 0,
			 0);
	if (c->secbits & ~(1u << SECURE_KEEP_CAPS))
		add_call(call, nr, SYS_prctl, PR_SET_SECUREBITS, c->secbits, 0,
			 0);
	if (c->no_new_privs)
		add_call(call, nr, SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0);
	return r;
}
