/* three.c - three hosts and an administrator, see three.h */
#include "three.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/controller/state/find.h"

#define PATIENCE (60 * USEC_PER_SEC) /* of a test, on a busy machine */

const char *const soon[] = { "lost-after", "1ms", NULL };

int step;
struct conn *h1, *h2, *h3, *admin;
struct heard heard;

static usec_t begun;

static void on_asked(struct conn *c, const Keeper__Request *q)
{
	assert_in_range(q->body_case, 0, 31);
	heard.asked[q->body_case]++;
	if (q->body_case == KEEPER__REQUEST__BODY_VERDICT)
		heard.verdict = q->verdict->at_destination;
}

static void on_said(struct conn *c, const Control__Message *m)
{
	heard.refused += m->body_case == MESSAGE_BODY(FAILED);
	heard.forgotten += m->body_case == MESSAGE_BODY(KEEPER_FORGET);
	heard.drained += m->body_case == MESSAGE_BODY(DRAINED);
	heard.granted += m->body_case == MESSAGE_BODY(OK);
	if (m->body_case == MESSAGE_BODY(MOVED)) {
		heard.moved++;
		snprintf(heard.moved_why, sizeof(heard.moved_why), "%s",
			 m->moved->why);
	}
	if (m->body_case != MESSAGE_BODY(KEEPER_START))
		return;
	heard.started_at = c;
	heard.started_id = m->id;
	heard.started_epoch = m->keeper_start->name->epoch;
}

int set_up(void **state)
{
	step = 0;
	begun = ctl_now();
	memset(&heard, 0, sizeof(heard));
	actors_asked = on_asked;
	actors_said = on_said;
	actors_begin();
	actors_cores = 2;
	return 0;
}

int tear_down(void **state)
{
	actors_asked = NULL;
	actors_said = NULL;
	return 0;
}

bool not_yet(bool so)
{
	if (!so && ctl_now() - begun > PATIENCE)
		fail_msg("it does not come to that");
	return !so;
}

struct ctl_job *job_of(struct ctl *ctl, uint64_t id)
{
	struct ctl_job *job = ctl_job_find(ctl, id);

	assert_non_null(job);
	return job;
}

struct ctl_rank *rank_of(struct ctl *ctl)
{
	return &job_of(ctl, 1)->ranks[0];
}

void all_come(int64_t epoch1, int64_t epoch2)
{
	h1 = actor_greet("host/h1", epoch1);
	h2 = actor_greet("host/h2", epoch2);
	h3 = actor_greet("host/h3", -1);
	admin = actor_greet("admin/root", -1);
}

void submit(uint32_t ranks, const char *first, const char *second)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" };
	char *hosts[] = { (char *)first, (char *)second };

	s.argv = argv;
	s.n_argv = 1;
	s.ranks = ranks;
	s.hosts = hosts;
	s.n_hosts = second ? 2 : first ? 1 : 0;
	s.uid = getuid();
	s.started_ranks = 77; /* that is not for a client to say */
	s.stopping = true;
	actor_say(admin, MESSAGE_BODY(SUBMIT), &s);
}

void submit_one(const char *host, usec_t limit, usec_t warn)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *argv[] = { (char *)"true" }, *hosts[] = { (char *)host };

	s.argv = argv;
	s.n_argv = s.ranks = 1;
	s.hosts = hosts;
	s.n_hosts = host != NULL;
	s.uid = getuid();
	s.detached = s.requeue = true;
	s.limit_usec = (uint64_t)limit;
	s.warn_usec = (uint64_t)warn;
	s.warn_signal = warn ? SIGUSR1 : 0;
	actor_say(admin, MESSAGE_BODY(SUBMIT), &s);
}

void migrate(const char *to, const char *key)
{
	Control__Migrate m = CONTROL__MIGRATE__INIT;

	m.job = 1;
	m.host = (char *)to;
	m.key.data = (uint8_t *)key;
	m.key.len = strlen(key);
	actor_say(admin, MESSAGE_BODY(MIGRATE), &m);
}

void lacks(struct conn *agent, uint64_t epoch, uint64_t record, bool committed)
{
	Control__KeeperGone g = CONTROL__KEEPER_GONE__INIT;
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;

	name.job = (char *)"1";
	name.epoch = epoch;
	g.name = &name;
	g.committed = committed;
	g.committed_epoch = record;
	actor_say(agent, MESSAGE_BODY(KEEPER_GONE), &g);
}
