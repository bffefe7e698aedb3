/*
 * fuzz_controller.c - whatever agents and clients say to a controller, also
 * when it is killed and started again in between
 *
 * The whole daemon runs, but for sockets and TLS (fake_conn.h), with its store
 * on a tmpfs.  The input is a flag byte (odd: nothing is waited for) and moves
 * of its peers, each a byte, two bits for what and the rest for who:
 *
 *	0 connect	as identities[next byte]
 *	1 say		two bytes of length, and as much of a packed Message
 *	2 hang up
 *	3 kill the controller, and start it again
 *
 * What it answers must be messages, and its lists must agree with each other.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/controller.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/user_jobs.h"
#include "core/log.h"
#include "core/scratch.h"
#include "core/xalloc.h"
#include "fake_conn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PEERS = 16 };

static const char *const identities[] = { "host/h1",	 "host/h2",
					  "host/h3",	 "admin/root",
					  "user/daemon", "odd" };
#define NR_IDENTITIES (sizeof(identities) / sizeof(*identities))
static const char *const late = "host/h3";

static char dir[SCRATCH_MAX], keys[128];
static struct conn *peers[PEERS];
static const uint8_t *at, *end;
static bool again;

static void clean(void)
{
	static const char *const names[] = { "state.db", "state.db-wal",
					     "state.db-shm", "sock" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
}

static void on_sent(struct conn *c, const uint8_t *p, size_t n)
{
	Control__Message *m = message_parse(p, n, NULL);

	assert(m && m->body_case);
	message_free(m);
}

static void check_klinks(const struct ctl_host *h)
{
	const struct klink *k, *kin;
	unsigned strangers = 0;

	assert(ctl_host_find(h->ctl, h->name) == h);
	TAILQ_FOREACH (k, &h->klinks, link) {
		const struct klinks *all =
			k->job ? &klink_rank(k)->klinks : &h->strangers;

		assert(!k->job || ctl_job_find(h->ctl, k->job_id) == k->job);
		strangers += !k->job;
		TAILQ_FOREACH (kin, all, kin)
			if (kin == k)
				break;
		assert(kin);
	}
	assert(strangers == h->nr_strangers);
}

static void check_users(const struct ctl *ctl)
{
	const struct ctl_user_jobs *u;
	const struct ctl_job *job;
	int64_t jobs = 0, bytes = 0, over = 0;

	for (u = ctl->jobs.by_user; u; u = u->hh.next) {
		assert(u->jobs || u->over);
		jobs += u->jobs;
		bytes += u->bytes;
		over += u->over;
	}
	TAILQ_FOREACH (job, &ctl->jobs.list, link) {
		jobs -= job->state != STATE(DONE);
		over -= job->state == STATE(DONE);
		bytes -= job->state != STATE(DONE) ? (int64_t)job->size : 0;
	}
	assert(!jobs && !bytes && !over);
}

static void check_lists(const struct ctl *ctl)
{
	const struct ctl_job *job;
	unsigned ended = 0;

	TAILQ_FOREACH (job, &ctl->jobs.list, link) {
		ended += job->state == STATE(DONE);
		assert(job->state != STATE(DONE) || !job->model);
		/* It is held, or waits for the hosts that were named. */
		assert(job->model || job->state == STATE(DONE) ||
		       (job->state == STATE(WAITING) &&
			(job->spec->n_hosts || job->spec->held)));
		assert(!job->client || job->client->job == job);
		for (uint32_t i = 0; i < job->nr; i++)
			assert(job->state != STATE(DONE) ||
			       job->ranks[i].state == STATE(DONE));
	}
	assert(ended == ctl->jobs.nr_ended);
	check_users(ctl);
	for (size_t i = 0; i < ctl->hosts.nr; i++)
		check_klinks(ctl->hosts.at[i]);
}

static size_t take(size_t most)
{
	return (size_t)(end - at) < most ? (size_t)(end - at) : most;
}

static void say(struct conn *c)
{
	size_t n = 0;
	uint8_t *copy;

	if (take(2) == 2)
		n = at[0] << 8 | at[1];
	at += take(2);
	n = take(n);
	if (n && fake_alive(c)) {
		/* exactly as large, so that a sanitizer sees more */
		copy = xmalloc(n);
		memcpy(copy, at, n);
		fake_receive(c, copy, n);
		free(copy);
	}
	at += n;
}

/* A host that nobody knew when the controller began is enrolled as it comes. */
static struct conn *meet(const char *identity)
{
	struct tls_key key;

	if (!strcmp(identity, late))
		assert(!keys_enrol(keys, late, &key, NULL));
	return fake_accept(identity);
}

/* One move of the peers; false when this controller has run long enough. */
static bool play(void *ctx)
{
	uint8_t what, who;

	check_lists(ctx);
	if (at == end)
		return false;
	what = *at & 3;
	who = *at++ >> 2 & (PEERS - 1);
	if (what == 0 && at < end) {
		peers[who] = meet(identities[*at++ % NR_IDENTITIES]);
	} else if (what == 1) {
		say(peers[who]);
	} else if (what == 2 && fake_alive(peers[who])) {
		fake_hang_up(peers[who]);
	}
	again = what == 3;
	return !again;
}

static void set(struct controller_conf *conf, const char *name,
		const char *value)
{
	assert(!controller_conf_set(conf, name, value, NULL));
}

static void prepare(void)
{
	struct tls_key key;

	scratch_dir(dir, "/dev/shm");
	snprintf(keys, sizeof(keys), "%s/keys", dir);
	for (size_t i = 0; i < NR_IDENTITIES; i++)
		if (strcmp(identities[i], late) && strcmp(identities[i], "odd"))
			assert(!keys_enrol(keys, identities[i], &key, NULL));
	log_init("fuzz", LOG_L_ERROR);
	fake_play = play;
	fake_sent = on_sent;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const waits[] = { "lost-after", "kill-grace",
					     "client-grace" };
	static const char *const soon[] = { "1us", "0", "0" };
	struct controller_conf conf;
	char listen[96];
	struct error err;

	if (!size)
		return 0;
	if (!*dir)
		prepare();
	clean();
	(void)!keys_revoke(keys, late, NULL);
	controller_conf_init(&conf);
	conf.started_waits = 0;
	snprintf(listen, sizeof(listen), "unix:%s/sock", dir);
	set(&conf, "state-dir", dir);
	set(&conf, "listen", listen);
	set(&conf, "record", "4");
	set(&conf, "min-uid", "0");
	set(&conf, "admin-submits", "others");
	for (size_t i = 0; i < 3; i++)
		set(&conf, waits[i], data[0] & 1 ? soon[i] : "1h");
	at = data + 1;
	end = data + size;
	do {
		memset(peers, 0, sizeof(peers));
		again = false;
		if (controller_run(&conf, -1, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			abort();
		}
	} while (again);
	controller_conf_clear(&conf);
	return 0;
}
