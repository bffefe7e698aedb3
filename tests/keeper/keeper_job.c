/*
 * keeper_job.c - a job through keepers alone, for the system tests
 *
 * Plays agent and controller at once: starts a keeper for each rank,
 * carries fences between them, prints output in the order of its offsets,
 * and follows a script:
 *
 *	sleep SECONDS
 *	await BYTES		until rank 0 has put out so many
 *	move RANK		to the next run directory ("host"), and back
 *	begin RANK		the same, but the script does not wait for it
 *	settle			until that move is over
 *	stopped			until an engine of that move stands still
 *	murder RANK old|new	SIGKILL to the keeper at that end of its move
 *	reconnect		drop all connections and come again
 *	signal RANK SIGNO, suspend RANK, resume RANK, kill RANK
 *
 *	keeper-job [-n RANKS] [-r RUN_DIR]... [-s SCRIPT] [-i] [-a ADDRESS]
 *		PROGRAM ARG...
 *
 * -i: stdin goes to rank 0.  -a: routed capsules from this address on,
 * otherwise there is loopback only and no PMI.  Exits with the first failing
 * rank's status, 128 + signal, or 125 when something here fails; moves are
 * told on stderr.
 *
 * Doubt is settled as the controller does it: the copy at the destination
 * counts if the old keeper doubts as well, or, where that is dead, if its
 * record is there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cluster/keeper.pb-c.h"
#include "cluster/keeper_queue.h"
#include "cluster/keeper_record.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "pmi/gather.h"

enum { KEEPERS_MAX = 4096, HOSTS_MAX = 8 };

struct keeper {
	unsigned rank, host;
	uint64_t epoch, seq;
	int fd;
	pid_t pid;
	bool over, doubts;
};

/* Output that came before what belongs in front of it. */
struct chunk {
	struct chunk *next;
	uint64_t offset;
	size_t n;
	char *p;
};

struct rank {
	struct keeper *at;	  /* where it runs */
	struct keeper *from, *to; /* the ends of its last move */
	Keeper__Outcome old, new; /* what they said of it */
	uint64_t next[2], end[2]; /* of output; end once it has exited */
	struct chunk *early[2];
	bool exited;
};

static struct keeper keepers[KEEPERS_MAX];
static struct rank *ranks;
static struct pmi_gather *gather;
static const char *hosts[HOSTS_MAX], *stint;
static char *job;
static unsigned nr_keepers, nr_ranks = 1, nr_hosts, nr_exited;
static struct in_addr base;
static int status;
static uint64_t last_epoch, last_id, in_sent;
static uint64_t asked = UINT64_MAX; /* stdin offset that was sent last */
static bool want_stdin, in_eof;
static FILE *script;
static double wake;	 /* when the script goes on */
static uint64_t awaited; /* bytes of rank 0's output it waits for */
static bool moving, settling, stopping; /* it waits for this, in a move */
static struct rank *unsettled;		/* its last move is not over yet */
static uint8_t key[32];

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *fmt,
								...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("keeper-job: ", stderr);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	for (unsigned i = 0; i < nr_keepers; i++)
		if (keepers[i].pid > 0)
			kill(keepers[i].pid, SIGKILL);
	exit(125);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- keepers */

static void say(struct keeper *k, Keeper__Request *req)
{
	size_t n = keeper__request__get_packed_size(req);
	uint8_t *buf;

	if (k->fd < 0)
		return;
	req->id = req->id ? req->id : ++last_id;
	n = keeper__request__get_packed_size(req);
	buf = xmalloc(n);
	keeper__request__pack(req, buf);
	if (send(k->fd, buf, n, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		die("send: %s", strerror(errno));
	free(buf);
}

#define REQUEST(body_, field_, msg_)                   \
	Keeper__Request req = KEEPER__REQUEST__INIT;   \
	req.body_case = KEEPER__REQUEST__BODY_##body_; \
	req.field_ = (msg_)

static void dial(struct keeper *k)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	Keeper__AgentHello hello = KEEPER__AGENT_HELLO__INIT;
	int size = 2 * KEEPER_MSG_MAX;
	REQUEST(HELLO, hello, &hello);

	snprintf(sa.sun_path, sizeof(sa.sun_path),
		 "%s/keepers/%s.%u.%" PRIu64 ".sock", hosts[k->host], job,
		 k->rank, k->epoch);
	k->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	setsockopt(k->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (connect(k->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		die("%s: %s", sa.sun_path, strerror(errno));
	hello.version = KEEPER__VERSION__MAJOR;
	hello.acked = k->seq;
	say(k, &req);
}

static struct keeper *launch(unsigned rank, unsigned host, uint64_t epoch)
{
	struct keeper *k = &keepers[nr_keepers];
	char *dir = xasprintf("--run-dir=%s", hosts[host]);
	char *j = xasprintf("--job=%s", job);
	char *r = xasprintf("--rank=%u", rank);
	char *e = xasprintf("--epoch=%" PRIu64, epoch);
	char *f, c;
	int p[2];

	if (nr_keepers++ == KEEPERS_MAX || pipe(p) < 0)
		die("too many keepers");
	f = xasprintf("--ready-fd=%d", p[1]);
	*k = (struct keeper){ .rank = rank, .host = host, .epoch = epoch };
	k->pid = fork();
	if (!k->pid) {
		close(p[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(stint, stint, "keeper", dir, j, r, e, f, NULL);
		_exit(127);
	}
	close(p[1]);
	if (read(p[0], &c, 1) != 1)
		die("the keeper of rank %u did not start", rank);
	close(p[0]);
	dial(k);
	free(dir);
	free(j);
	free(r);
	free(e);
	free(f);
	return k;
}

static void fill_capsule(Keeper__Capsule *cap, unsigned rank, char *address,
			 size_t n)
{
	struct in_addr a = { htonl(ntohl(base.s_addr) + rank) };

	if (!base.s_addr)
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
	st.stdin_open = want_stdin && !k->rank;
	fill_capsule(&cap, k->rank, address, sizeof(address));
	st.capsule = &cap;
	pmi.size = nr_ranks;
	pmi.kvsname = job;
	if (base.s_addr)
		st.pmi = &pmi;
	say(k, &req);
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

	for (unsigned i = 0; i < nr_keepers; i++) {
		REQUEST(KILL, kill, &kl);
		say(&keepers[i], &req);
	}
}

static void exited(struct keeper *k, const Keeper__Exited *ex)
{
	struct rank *r = &ranks[k->rank];
	int code = ex->signaled ? 128 + ex->code : ex->code;

	r->end[0] = ex->stdout_end;
	r->end[1] = ex->stderr_end;
	r->exited = true;
	nr_exited++;
	if (!code && ex->pmi == KEEPER__PHASE__PMI_BEGUN)
		code = 1;
	if (code && !status) {
		status = code;
		if (nr_exited < nr_ranks)
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
	say(k, &req);
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
	for (unsigned i = 0; r == PMI_GATHER_ALL && i < nr_ranks; i++)
		release(ranks[i].at, f->generation);
}

static void receiving(struct keeper *to, uint32_t port)
{
	Keeper__MigrateOut mo = KEEPER__MIGRATE_OUT__INIT;
	REQUEST(MIGRATE_OUT, migrate_out, &mo);

	mo.epoch = to->epoch;
	mo.address = (char *)"127.0.0.1";
	mo.port = port;
	mo.key.data = key;
	mo.key.len = sizeof(key);
	say(ranks[to->rank].at, &req);
}

/* Say to the keepers that doubt where the rank is, once that is known. */
static void settle(struct rank *r)
{
	Keeper__Verdict v = KEEPER__VERDICT__INIT;
	struct keeper_id id;
	struct keeper *ends[] = { r->from, r->to };
	REQUEST(VERDICT, verdict, &v);

	id = (struct keeper_id){ hosts[r->from->host], job, r->from->rank };
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
		say(ends[i], &req);
	}
}

static void over_with(struct rank *r)
{
	bool old = r->old || r->from->over, new = r->new || r->to->over;

	if (r->from->doubts || r->to->doubts)
		settle(r);
	if (old && new) {
		moving = false;
		unsettled = NULL;
	}
}

static void move_done(struct keeper *k, const Keeper__MoveDone *d)
{
	static const char *const names[] = { "?",      "gone",	    "stayed",
					     "landed", "discarded", "lost" };
	struct rank *r = &ranks[k->rank];
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
	if (!k->epoch && !ranks[k->rank].next[0] && !ranks[k->rank].exited &&
	    f->code != -EAGAIN && f->code != -EINVAL)
		die("cannot go on");
}

static void event(struct keeper *k, const Keeper__Event *ev)
{
	switch (ev->body_case) {
	case KEEPER__EVENT__BODY_OUTPUT:
		output(&ranks[k->rank], ev->output);
		break;
	case KEEPER__EVENT__BODY_EXITED:
		exited(k, ev->exited);
		break;
	case KEEPER__EVENT__BODY_PMI_FENCE:
		fence(k, ev->pmi_fence);
		break;
	case KEEPER__EVENT__BODY_PMI_ABORT:
		status = status ? status : ev->pmi_abort->code;
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
		over_with(&ranks[k->rank]);
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

static void lost_keeper(struct keeper *k)
{
	struct rank *r = &ranks[k->rank];

	io_close(&k->fd);
	k->over = true;
	k->doubts = false;
	if (unsettled == r)
		over_with(r);
}

/* The keeper of a rank is dead and no other is going to have it. */
static void mourn(struct rank *r)
{
	if (r->exited || !r->at->over || unsettled == r)
		return;
	fprintf(stderr, "the keeper of rank %u is dead\n", r->at->rank);
	r->exited = true;
	nr_exited++;
	status = status ? status : 137;
	end_others();
}

static void hear(struct keeper *k)
{
	static uint8_t buf[KEEPER_MSG_MAX];
	Keeper__Ack ack = KEEPER__ACK__INIT;
	Keeper__Event *ev;
	ssize_t n = recv(k->fd, buf, sizeof(buf), MSG_DONTWAIT);
	REQUEST(ACK, ack, &ack);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		lost_keeper(k);
		return;
	}
	ev = keeper__event__unpack(NULL, (size_t)n, buf);
	if (!ev)
		die("what a keeper said is not readable");
	if (ev->seq && ev->seq != k->seq + 1)
		die("event %" PRIu64 " after %" PRIu64, ev->seq, k->seq);
	k->seq = ev->seq ? ev->seq : k->seq;
	event(k, ev);
	ack.seq = k->seq;
	if (ev->seq)
		say(k, &req);
	keeper__event__free_unpacked(ev, NULL);
}

/* ---- stdin and the script */

static void feed_stdin(void)
{
	static char buf[32768];
	static uint64_t base_at;
	static size_t nr;
	Keeper__Stdin in = KEEPER__STDIN__INIT;
	ssize_t n;

	if (!want_stdin || ranks[0].exited || moving || in_eof)
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
	say(ranks[0].at, &req);
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
	say(r->to, &req);
}

static void begin_move(unsigned rank, bool wait)
{
	struct rank *r = &ranks[rank];

	if (r->exited)
		return;
	r->from = r->at;
	r->to = launch(rank, (r->at->host + 1) % nr_hosts, ++last_epoch);
	r->old = r->new = KEEPER__OUTCOME__OUTCOME_NONE;
	unsettled = r;
	moving = wait;
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		die("getrandom");
	say_receive(r);
}

static void reconnect(void)
{
	for (unsigned i = 0; i < nr_keepers; i++)
		if (keepers[i].fd >= 0) {
			close(keepers[i].fd);
			dial(&keepers[i]);
		}
	/* The answer may have been lost with the connection. */
	if (unsettled && !unsettled->new && !unsettled->old)
		say_receive(unsettled);
}

static void command(const char *verb, unsigned rank, double x)
{
	Keeper__Signal sig = KEEPER__SIGNAL__INIT;
	Keeper__Suspend sus = KEEPER__SUSPEND__INIT;
	Keeper__Kill kl = KEEPER__KILL__INIT;
	Keeper__Request req = KEEPER__REQUEST__INIT;

	if (!strcmp(verb, "signal")) {
		req.body_case = KEEPER__REQUEST__BODY_SIGNAL;
		req.signal = &sig;
		sig.signo = (uint32_t)x;
	} else if (!strcmp(verb, "suspend") || !strcmp(verb, "resume")) {
		req.body_case = KEEPER__REQUEST__BODY_SUSPEND;
		req.suspend = &sus;
		sus.on = !strcmp(verb, "suspend");
	} else if (!strcmp(verb, "kill")) {
		req.body_case = KEEPER__REQUEST__BODY_KILL;
		req.kill = &kl;
	} else {
		die("'%s' in the script", verb);
	}
	say(ranks[rank].at, &req);
}

/* Has a keeper forked an engine that stands still (STINT_FAULT=POINT:stop)? */
static bool engine_stopped(const struct keeper *k)
{
	char path[64], stat[512], *p;
	FILE *f, *s;
	int pid;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", k->pid,
		 k->pid);
	f = fopen(path, "re");
	while (f && !found && fscanf(f, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		s = fopen(path, "re");
		p = s && fgets(stat, sizeof(stat), s) ? strrchr(stat, ')')
						      : NULL;
		found = p && !strncmp(p, ") T", 3);
		if (s)
			fclose(s);
	}
	if (f)
		fclose(f);
	return found;
}

/* Does the script wait for what has not come yet? */
static bool waiting(void)
{
	if (moving || now() < wake)
		return true;
	if (awaited && ranks[0].next[0] < awaited && !ranks[0].exited)
		return true;
	if (settling && unsettled)
		return true;
	if (stopping && unsettled && !engine_stopped(unsettled->from) &&
	    !engine_stopped(unsettled->to))
		return true;
	awaited = 0;
	settling = stopping = false;
	return false;
}

static void follow_script(void)
{
	char line[256], verb[32];
	unsigned rank;
	double x;

	while (script && !waiting()) {
		if (!fgets(line, sizeof(line), script)) {
			script = NULL;
			return;
		}
		rank = 0;
		x = 0;
		if (sscanf(line, "%31s", verb) != 1)
			continue;
		if (!strcmp(verb, "sleep")) {
			sscanf(line, "%*s %lf", &x);
			wake = now() + x;
			continue;
		}
		if (!strcmp(verb, "await")) {
			sscanf(line, "%*s %" SCNu64, &awaited);
			continue;
		}
		if (!strcmp(verb, "settle") || !strcmp(verb, "stopped")) {
			settling = *(verb + 1) == 'e';
			stopping = !settling;
			continue;
		}
		sscanf(line, "%*s %u %lf", &rank, &x);
		if (rank >= nr_ranks)
			die("no rank %u", rank);
		if (!strcmp(verb, "reconnect"))
			reconnect();
		else if (!strcmp(verb, "move") || !strcmp(verb, "begin"))
			begin_move(rank, *verb == 'm');
		else if (!strcmp(verb, "murder"))
			kill((strstr(line, "old") ? ranks[rank].from
						  : ranks[rank].to)
				     ->pid,
			     SIGKILL);
		else
			command(verb, rank, x);
	}
}

static bool all_over(void)
{
	for (unsigned i = 0; i < nr_keepers; i++)
		if (!keepers[i].over)
			return false;
	return nr_exited == nr_ranks;
}

static void loop(void)
{
	static struct pollfd p[KEEPERS_MAX];

	while (!all_over()) {
		follow_script();
		feed_stdin();
		for (unsigned i = 0; i < nr_keepers; i++)
			p[i] = (struct pollfd){ keepers[i].fd, POLLIN, 0 };
		poll(p, nr_keepers, 20);
		for (unsigned i = 0, n = nr_keepers; i < n; i++)
			if (p[i].revents && keepers[i].fd >= 0)
				hear(&keepers[i]);
		for (unsigned i = 0; i < nr_ranks; i++)
			mourn(&ranks[i]);
	}
}

static void options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+n:r:s:ia:")) != -1) {
		if (c == 'n')
			nr_ranks = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'r' && nr_hosts < HOSTS_MAX)
			hosts[nr_hosts++] = optarg;
		else if (c == 's')
			script = fopen(optarg, "re");
		else if (c == 'i')
			want_stdin = true;
		else if (c != 'a' || inet_pton(AF_INET, optarg, &base) != 1)
			die("bad option");
	}
	if (optind == argc || !nr_hosts || !nr_ranks)
		die("a program and a run directory are needed");
}

int main(int argc, char **argv)
{
	const char *build = getenv("STINT_BUILD");

	options(argc, argv);
	stint = xasprintf("%s/src/cmd/stint", build ? build : "build");
	job = xasprintf("j%d", getpid());
	ranks = xcalloc(nr_ranks, sizeof(*ranks));
	gather = pmi_gather_create(nr_ranks);
	for (unsigned i = 0; i < nr_ranks; i++)
		ranks[i].at = launch(i, i % nr_hosts, 0);
	for (unsigned i = 0; i < nr_ranks; i++)
		start(ranks[i].at, argv + optind);
	loop();
	for (unsigned i = 0; i < nr_keepers; i++)
		waitpid(keepers[i].pid, NULL, 0);
	for (unsigned i = 0; i < nr_ranks && !status; i++)
		for (int s = 0; s < 2; s++)
			if (ranks[i].next[s] != ranks[i].end[s])
				die("rank %u: output ends at %" PRIu64
				    ", not %" PRIu64,
				    i, ranks[i].next[s], ranks[i].end[s]);
	return status;
}
