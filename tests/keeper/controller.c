/*
 * controller.c - what a job's controller does, in short, see job.h
 *
 * Doubt is settled as the real one does it: the copy at the destination counts
 * if the old keeper doubts as well, or, where that is dead, if its record is
 * there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cluster/keeper/record.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "job.h"
#include "pmi/gather.h"

struct chunk {
	struct chunk *next;
	uint64_t offset;
	size_t n;
	char *p;
};

static struct pmi_gather *gather;
static uint64_t last_epoch, in_sent;
static uint64_t asked = UINT64_MAX; /* stdin offset that was sent last */
static bool in_eof;
static uint8_t key[32];

/* ---- the beginning */

static void fill_capsule(Keeper__Capsule *cap, unsigned rank, char *address,
			 size_t n)
{
	struct in_addr a = { htonl(ntohl(job.base.s_addr) + rank) };

	cap->memory_max = job.memory;
	if (!job.base.s_addr)
		return;
	inet_ntop(AF_INET, &a, address, (socklen_t)n);
	cap->address = address;
}

static void start(struct keeper *k, char **argv)
{
	Keeper__Start st = KEEPER__START__INIT;
	Keeper__Capsule cap = KEEPER__CAPSULE__INIT;
	Keeper__Pmi pmi = KEEPER__PMI__INIT;
	char address[INET_ADDRSTRLEN], cwd[4096];
	REQUEST(START, start, &st);

	while (argv[st.n_argv])
		st.n_argv++;
	st.argv = argv;
	while (environ[st.n_env])
		st.n_env++;
	st.env = environ;
	st.cwd = getcwd(cwd, sizeof(cwd));
	st.uid = getuid();
	st.gid = getgid();
	st.stdin_open = job.want_stdin && !k->rank;
	fill_capsule(&cap, k->rank, address, sizeof(address));
	st.capsule = &cap;
	pmi.size = job.nr_ranks;
	pmi.kvsname = job.name;
	if (job.base.s_addr)
		st.pmi = &pmi;
	agent_say(k, &req);
}

/* The first piece of a START, from an agent that dies before the rest. */
static void start_in_vain(struct keeper *k)
{
	char program[] = "in-vain", *argv[] = { program };
	Keeper__Start st = KEEPER__START__INIT;
	REQUEST(START, start, &st);

	st.argv = argv;
	st.n_argv = 1;
	st.more = true;
	agent_say(k, &req);
	agent_drain(k);
	agent_redial(k);
}

void controller_start(char **argv)
{
	job.ranks = xcalloc(job.nr_ranks, sizeof(*job.ranks));
	gather = pmi_gather_create(job.nr_ranks);
	for (unsigned i = 0; i < job.nr_ranks; i++)
		job.ranks[i].at = agent_launch(i, i % job.nr_hosts, 0);
	for (unsigned i = 0; i < job.nr_ranks; i++) {
		start_in_vain(job.ranks[i].at);
		start(job.ranks[i].at, argv);
	}
}

/* ---- what keepers say */

static void print(unsigned stream, const void *p, size_t n)
{
	if (n && io_write_full((int)stream, p, n) < 0)
		die("cannot write");
}

static void output(struct rank *r, const Keeper__Output *o)
{
	unsigned s = o->stream - 1;
	struct chunk *c, **at;

	if (o->offset > r->next[s]) {
		c = xcalloc(1, sizeof(*c));
		c->offset = o->offset;
		c->n = o->data.len;
		c->p = xmalloc(c->n);
		memcpy(c->p, o->data.data, c->n);
		for (at = &r->early[s]; *at && (*at)->offset < c->offset;)
			at = &(*at)->next;
		c->next = *at;
		*at = c;
		return;
	}
	if (o->offset != r->next[s])
		die("output came twice");
	print(o->stream, o->data.data, o->data.len);
	r->next[s] += o->data.len;
	while ((c = r->early[s]) && c->offset == r->next[s]) {
		print(o->stream, c->p, c->n);
		r->next[s] += c->n;
		r->early[s] = c->next;
		free(c->p);
		free(c);
	}
}

static void end_others(void)
{
	Keeper__Kill kl = KEEPER__KILL__INIT;

	for (unsigned i = 0; i < job.nr_keepers; i++) {
		REQUEST(KILL, kill, &kl);
		agent_say(&job.keepers[i], &req);
	}
}

static void exited(struct keeper *k, const Keeper__Exited *ex)
{
	struct rank *r = &job.ranks[k->rank];
	int code = ex->signaled ? 128 + ex->code : ex->code;

	r->end[0] = ex->stdout_end;
	r->end[1] = ex->stderr_end;
	r->exited = true;
	job.nr_exited++;
	if (!code && ex->pmi == KEEPER__PHASE__PMI_BEGUN)
		code = 1;
	if (code && !job.status) {
		job.status = code;
		if (job.nr_exited < job.nr_ranks)
			end_others();
	}
}

static void release(struct keeper *k, uint64_t generation)
{
	size_t n;
	const struct pmi_put *puts = pmi_gather_union(gather, &n);
	Keeper__PmiRelease rel = KEEPER__PMI_RELEASE__INIT;
	Keeper__PmiPut *put = xcalloc(n + 1, sizeof(*put));
	Keeper__PmiPut **ptr = xcalloc(n + 1, sizeof(*ptr));
	REQUEST(PMI_RELEASE, pmi_release, &rel);

	for (size_t i = 0; i < n; i++) {
		keeper__pmi_put__init(&put[i]);
		put[i].key = (char *)puts[i].key;
		put[i].value = (char *)puts[i].value;
		ptr[i] = &put[i];
	}
	rel.generation = generation;
	rel.n_puts = n;
	rel.puts = ptr;
	agent_say(k, &req);
	free(put);
	free(ptr);
}

static void fence(struct keeper *k, const Keeper__PmiFence *f)
{
	struct pmi_put *puts = xcalloc(f->n_puts + 1, sizeof(*puts));
	struct error err = ERROR_INIT;
	int r;

	for (size_t i = 0; i < f->n_puts; i++) {
		puts[i].key = f->puts[i]->key;
		puts[i].value = f->puts[i]->value;
	}
	r = pmi_gather_add(gather, k->rank, f->generation, puts, f->n_puts,
			   f->more, &err);
	free(puts);
	if (r < 0)
		die("%s", err.text);
	if (r == PMI_GATHER_AGAIN)
		release(k, f->generation);
	for (unsigned i = 0; r == PMI_GATHER_ALL && i < job.nr_ranks; i++)
		release(job.ranks[i].at, f->generation);
}

/* They are connected, and say nothing, or what is no handshake. */
static void strangers_come(uint32_t port)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	for (unsigned i = 0; i < job.strangers; i++) {
		int fd = socket(AF_INET,
				SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0 ||
		    (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 &&
		     errno != EINPROGRESS))
			die("a stranger cannot connect");
		if (i % 4 == 3)
			(void)!send(fd, "who is there?", 13, MSG_NOSIGNAL);
	}
}

static void receiving(struct keeper *to, uint32_t port)
{
	Keeper__MigrateOut mo = KEEPER__MIGRATE_OUT__INIT;
	REQUEST(MIGRATE_OUT, migrate_out, &mo);

	strangers_come(port);
	mo.epoch = to->epoch;
	mo.address = (char *)"127.0.0.1";
	mo.port = port;
	mo.key.data = key;
	mo.key.len = sizeof(key);
	agent_say(job.ranks[to->rank].at, &req);
}

/* Say to the keepers that doubt where the rank is, once that is known. */
static void settle(struct rank *r)
{
	Keeper__Verdict v = KEEPER__VERDICT__INIT;
	struct keeper_id id;
	struct keeper *ends[] = { r->from, r->to };
	REQUEST(VERDICT, verdict, &v);

	id = (struct keeper_id){ job.hosts[r->from->host], job.name,
				 r->from->rank };
	v.epoch = r->to->epoch;
	if (r->to->over || r->new == KEEPER__OUTCOME__DISCARDED)
		v.at_destination = false;
	else if (r->new == KEEPER__OUTCOME__LANDED || r->from->doubts ||
		 r->old == KEEPER__OUTCOME__GONE)
		v.at_destination = true;
	else if (r->old == KEEPER__OUTCOME__STAYED)
		v.at_destination = false;
	else if (r->from->over)
		v.at_destination = keeper_record_read(&id, v.epoch, NULL) > 0;
	else
		return; /* the other end has not spoken yet */
	/* The old one's copy must not end before the new one is there. */
	if (r->from->doubts && !r->to->doubts && !r->to->over && !r->new)
		return;
	for (int i = 0; i < 2; i++) {
		if (!ends[i]->doubts)
			continue;
		ends[i]->doubts = false;
		req.id = 0;
		agent_say(ends[i], &req);
	}
}

static void over_with(struct rank *r)
{
	bool old = r->old || r->from->over, new = r->new || r->to->over;

	if (r->from->doubts || r->to->doubts)
		settle(r);
	if (old && new) {
		job.moving = false;
		job.unsettled = NULL;
	}
}

static void move_done(struct keeper *k, const Keeper__MoveDone *d)
{
	static const char *const names[] = { "?",      "gone",	    "stayed",
					     "landed", "discarded", "lost" };
	struct rank *r = &job.ranks[k->rank];
	const Keeper__MoveReport *m = d->report;

	fprintf(stderr,
		"move rank=%u epoch=%" PRIu64 " host=%u outcome=%s why='%s' "
		"rounds=%u pages=%" PRIu64 " downtime=%" PRIu64
		" total=%" PRIu64 "\n",
		k->rank, d->epoch, k->host, names[d->outcome], d->why,
		m->rounds, m->pages, m->downtime_usec, m->total_usec);
	if (d->outcome == KEEPER__OUTCOME__LANDED) {
		r->at = k;
		if (!k->rank) {
			in_sent = d->stdin_offset;
			asked = UINT64_MAX;
		}
	}
	if (k == r->from)
		r->old = d->outcome;
	else
		r->new = d->outcome;
	over_with(r);
}

static void failed(struct keeper *k, const Keeper__Failed *f)
{
	fprintf(stderr, "failed rank=%u host=%u code=%d %s\n", k->rank, k->host,
		f->code, f->why);
	if (!k->epoch && !job.ranks[k->rank].next[0] &&
	    !job.ranks[k->rank].exited && f->code != -EAGAIN &&
	    f->code != -EINVAL)
		die("cannot go on");
}

void controller_event(struct keeper *k, const Keeper__Event *ev)
{
	switch (ev->body_case) {
	case KEEPER__EVENT__BODY_OUTPUT:
		output(&job.ranks[k->rank], ev->output);
		break;
	case KEEPER__EVENT__BODY_EXITED:
		exited(k, ev->exited);
		break;
	case KEEPER__EVENT__BODY_PMI_FENCE:
		fence(k, ev->pmi_fence);
		break;
	case KEEPER__EVENT__BODY_PMI_ABORT:
		job.status = job.status ? job.status : ev->pmi_abort->code;
		end_others();
		break;
	case KEEPER__EVENT__BODY_RECEIVING:
		receiving(k, ev->receiving->port);
		break;
	case KEEPER__EVENT__BODY_MOVE_DONE:
		move_done(k, ev->move_done);
		break;
	case KEEPER__EVENT__BODY_MOVE_DOUBT:
		fprintf(stderr, "doubt rank=%u host=%u\n", k->rank, k->host);
		k->doubts = true;
		over_with(&job.ranks[k->rank]);
		break;
	case KEEPER__EVENT__BODY_STDIN_TAKEN:
		in_sent = ev->stdin_taken->offset;
		if (!ev->re) /* there is room again */
			asked = UINT64_MAX;
		break;
	case KEEPER__EVENT__BODY_FAILED:
		failed(k, ev->failed);
		break;
	default:
		break;
	}
}

void controller_lost(struct keeper *k)
{
	struct rank *r = &job.ranks[k->rank];

	k->over = true;
	k->doubts = false;
	if (job.unsettled == r)
		over_with(r);
}

static void mourn_one(struct rank *r)
{
	if (r->exited || !r->at->over || job.unsettled == r)
		return;
	fprintf(stderr, "the keeper of rank %u is dead\n", r->at->rank);
	r->exited = true;
	job.nr_exited++;
	job.status = job.status ? job.status : 137;
	end_others();
}

void controller_mourn(void)
{
	for (unsigned i = 0; i < job.nr_ranks; i++)
		mourn_one(&job.ranks[i]);
}

/* ---- stdin and moves */

void controller_feed(void)
{
	static char buf[32768];
	static uint64_t base_at;
	static size_t nr;
	Keeper__Stdin in = KEEPER__STDIN__INIT;
	ssize_t n;

	if (!job.want_stdin || job.ranks[0].exited || job.moving || in_eof)
		return;
	if (in_sent == base_at + nr) { /* all taken: read on */
		base_at += nr;
		n = read(0, buf, sizeof(buf));
		nr = n > 0 ? (size_t)n : 0;
		in_eof = n <= 0;
	} else if (asked == in_sent) {
		return;
	}
	REQUEST(STDIN_DATA, stdin_data, &in);
	in.offset = in_sent;
	in.data.data = (uint8_t *)buf + (in_sent - base_at);
	in.data.len = nr - (size_t)(in_sent - base_at);
	in.eof = in_eof;
	asked = in_sent;
	agent_say(job.ranks[0].at, &req);
}

static void say_receive(struct rank *r)
{
	Keeper__Receive rc = KEEPER__RECEIVE__INIT;
	Keeper__Capsule cap = KEEPER__CAPSULE__INIT;
	char address[INET_ADDRSTRLEN];
	REQUEST(RECEIVE, receive, &rc);

	fill_capsule(&cap, r->to->rank, address, sizeof(address));
	rc.epoch = r->to->epoch;
	rc.listen = (char *)"127.0.0.1";
	rc.key.data = key;
	rc.key.len = sizeof(key);
	rc.capsule = &cap;
	rc.uid = getuid();
	rc.gid = getgid();
	agent_say(r->to, &req);
}

void controller_move(unsigned rank, bool wait)
{
	struct rank *r = &job.ranks[rank];

	if (r->exited)
		return;
	r->from = r->at;
	r->to = agent_launch(rank, (r->at->host + 1) % job.nr_hosts,
			     ++last_epoch);
	r->old = r->new = KEEPER__OUTCOME__OUTCOME_NONE;
	job.unsettled = r;
	job.moving = wait;
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		die("getrandom");
	say_receive(r);
}

void controller_again(void)
{
	if (job.unsettled && !job.unsettled->new && !job.unsettled->old)
		say_receive(job.unsettled);
}

void controller_check_output(void)
{
	for (unsigned i = 0; i < job.nr_ranks; i++)
		for (int s = 0; s < 2; s++)
			if (job.ranks[i].next[s] != job.ranks[i].end[s])
				die("rank %u: output ends at %" PRIu64
				    ", not %" PRIu64,
				    i, job.ranks[i].next[s],
				    job.ranks[i].end[s]);
}
