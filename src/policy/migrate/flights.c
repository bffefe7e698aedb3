/* flights.c - see flights.h */
#include "policy/migrate/flights.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

/* A move is forgotten after PATIENCE times what it should take, and this time. */
#define PATIENCE       10
#define PATIENCE_LEAST (30 * USEC_PER_SEC)
/* The weight of the newest move in what was learnt. */
#define NEWEST	       0.3
/*
 * For so long the driver does not try a failed move again, and a bit longer
 * (MOVE_PAUSE).
 */
#define FAILED_LAST    (11 * USEC_PER_SEC)
/* All that is sent of a rank, at most so many times its memory. */
#define SENT_MOST      6
/* The size assumed for a rank whose memory is not known. */
#define MEMORY_GUESS   (64 << 20)

void flights_init(struct flights *f, const struct params *params)
{
	*f = (struct flights){
		.rate = params_real(params, "rate"),
		.fixed = usec_to_seconds(params_usec(params, "fixed")),
		.still = usec_to_seconds(params_usec(params, "still")),
	};
}

void flights_clear(struct flights *f)
{
	free(f->flight);
	free(f->pace);
	free(f->took);
}

static double bytes_of(const struct job *job)
{
	return (double)(job->memory ? job->memory : MEMORY_GUESS);
}

/* Of its ranks: what the one writes a second that writes most; 0: it is not known. */
static double writes_of(const struct job *job)
{
	double most = 0;

	for (uint32_t i = 0; job->ranks->seen && i < job->n; i++)
		if (rank_writes(&job->ranks->seen[i]) > most)
			most = rank_writes(&job->ranks->seen[i]);
	return most;
}

/*
 * What is written while a rank is sent is sent again, and so on; but at most so many times
 * as much as at first (move/send/precopy.c).
 */
static double sent_times(const struct flights *f, const struct job *job)
{
	double part = writes_of(job) / f->rate;

	return part < 1 - 1. / SENT_MOST ? 1 / (1 - part) : SENT_MOST;
}

static double bytes_time(const struct flights *f, const struct job *job)
{
	return bytes_of(job) / f->rate * sent_times(f, job);
}

/* How long a rank stood still: as it was, or as its engine had expected it. */
static usec_t stood(const struct rank_seen *s)
{
	return s->stood ? s->stood : s->predicted;
}

double flights_still(const struct flights *f, const struct job *job)
{
	usec_t most = 0;

	for (uint32_t i = 0; job->ranks->seen && i < job->n; i++)
		if (stood(&job->ranks->seen[i]) > most)
			most = stood(&job->ranks->seen[i]);
	return most ? usec_to_seconds(most) : f->still;
}

/* NULL: none of its ranks has moved. */
static struct took *took_of(const struct flights *f, const struct job *job)
{
	struct took *t = job->ix < f->nr_tooks ? &f->took[job->ix] : NULL;

	return t && t->job == job->id ? t : NULL;
}

/* A rank that has grown takes longer; one that has shrunk may still write as much. */
double flights_last(const struct flights *f, const struct job *job)
{
	const struct took *t = took_of(f, job);

	if (!t)
		return f->fixed + bytes_time(f, job);
	return t->seconds * fmax(1, bytes_of(job) / t->bytes);
}

double flights_last_from(const struct flights *f, const struct job *job,
			 uint32_t host, bool *ret_seen)
{
	*ret_seen = host < f->nr_paces && f->pace[host] > 0;
	return *ret_seen ? bytes_of(job) / f->pace[host] : flights_last(f, job);
}

static void add_flight(struct flights *f, const struct flight *one)
{
	array_room(f->flight, f->nr, &f->cap);
	f->flight[f->nr++] = *one;
}

void flights_note(struct flights *f, const struct plan *plan, size_t first)
{
	usec_t now = plan->view->now;

	for (; first < plan->nr; first++) {
		const struct plan_entry *e = &plan->entry[first];
		usec_t last;

		if (e->type != PLAN_MIGRATE)
			continue;
		last = (usec_t)(flights_last(f, e->job) * e->n * USEC_PER_SEC);
		for (uint32_t i = 0; i < e->n; i++)
			add_flight(f,
				   &(struct flight){
					   .job = e->job->id,
					   .ix = e->job->ix,
					   .rank = e->ranks[i],
					   .from = e->job->hosts[e->ranks[i]],
					   .to = e->hosts[i],
					   .began = now,
					   .until = now + PATIENCE * last +
						    PATIENCE_LEAST,
				   });
	}
}

static double blend(double was, double is)
{
	return was + NEWEST * (is - was);
}

static double *pace_of(struct flights *f, uint32_t host)
{
	if (host >= f->nr_paces) {
		f->pace = xreallocarray(f->pace, host + 1, sizeof(*f->pace));
		while (f->nr_paces <= host)
			f->pace[f->nr_paces++] = 0;
	}
	return &f->pace[host];
}

/* Learn the rate of a host's link, which moves that leave it at the same time share. */
static void learn_pace(struct flights *f, uint32_t host, double rate)
{
	double *pace = pace_of(f, host);

	rate *= flights_from(f, host);
	*pace = *pace > 0 ? blend(*pace, rate) : rate;
}

static void set_took(struct flights *f, const struct job *job, double seconds,
		     double bytes)
{
	if (job->ix >= f->nr_tooks) {
		uint32_t n = 2 * job->ix + 64;

		f->took = xreallocarray(f->took, n, sizeof(*f->took));
		memset(f->took + f->nr_tooks, 0,
		       (n - f->nr_tooks) * sizeof(*f->took));
		f->nr_tooks = n;
	}
	f->took[job->ix] = (struct took){ job->id, seconds, bytes };
}

/* Of those that left the host together each took as long as all. */
static void learn_took(struct flights *f, const struct job *job, double took)
{
	if (took_of(f, job))
		took = blend(flights_last(f, job), took);
	set_took(f, job, took, bytes_of(job));
}

static void learn(struct flights *f, const struct event *e,
		  const struct flight *was)
{
	double took = usec_to_seconds(e->at - was->began);
	double fixed = took - bytes_time(f, e->job);

	learn_took(f, e->job, took / flights_from(f, was->from));
	f->fixed = blend(f->fixed, fixed > 0 ? fixed : 0);
	if (took > 0)
		learn_pace(f, was->from, bytes_of(e->job) / took);
	/*
	 * In the live cluster the cost is not known if the source died before
	 * it could report it.
	 */
	if (e->cost)
		f->still = blend(f->still, usec_to_seconds(e->cost));
}

static void drop(struct flights *f, size_t i)
{
	f->nr--;
	for (; i < f->nr; i++)
		f->flight[i] = f->flight[i + 1];
}

/* Of ranks that cannot move at all the view says so (job_rank_stuck()). */
static void has_ended(struct flights *f, const struct event *e, size_t i)
{
	struct flight *was = &f->flight[i];

	if (e->host != was->to && !e->refused && !e->untried) {
		was->failed = true;
		was->until = e->at + FAILED_LAST;
		return;
	}
	if (e->host == was->to)
		learn(f, e, was);
	drop(f, i);
}

static bool is_of(const struct flight *f, const struct job *job, uint32_t rank)
{
	return f->job == job->id && f->rank == rank;
}

static void drop_job(struct flights *f, const struct job *job)
{
	struct took *t = took_of(f, job);

	for (size_t i = f->nr; i-- > 0;)
		if (f->flight[i].job == job->id)
			drop(f, i);
	if (t)
		t->job = 0;
}

void flights_event(struct flights *f, const struct view *view,
		   const struct event *e)
{
	(void)view;
	switch (e->type) {
	case EVENT_MIGRATE:
		for (size_t i = f->nr; i-- > 0;)
			if (is_of(&f->flight[i], e->job, e->rank) &&
			    !f->flight[i].failed)
				has_ended(f, e, i);
		break;
	case EVENT_END:
	case EVENT_REQUEUE:
	case EVENT_RESIZE:
		drop_job(f, e->job);
		break;
	default:
		break;
	}
}

static bool has_landed(const struct flight *f, const struct view *view)
{
	const struct job *job = view_job(view, f->ix);

	return job->id != f->job || !job->hosts || f->rank >= job->n ||
	       job->hosts[f->rank] == f->to;
}

const struct flight *flights_next(const struct flights *f, size_t *i)
{
	while (*i < f->nr && f->flight[*i].failed)
		++*i;
	return *i < f->nr ? &f->flight[(*i)++] : NULL;
}

void flights_begin_pass(struct flights *f, const struct view *view,
			struct plan *plan)
{
	const struct flight *one;

	for (size_t i = f->nr; i-- > 0;)
		if (f->flight[i].until <= view->now ||
		    has_landed(&f->flight[i], view))
			drop(f, i);
	for_each_flight (one, f)
		plan_expect(plan, one->to);
}

const struct flight *flights_find(const struct flights *f,
				  const struct job *job, uint32_t rank)
{
	const struct flight *one;

	for_each_flight (one, f)
		if (is_of(one, job, rank))
			return one;
	return NULL;
}

bool flights_failed(const struct flights *f, const struct job *job,
		    uint32_t rank, uint32_t host, usec_t *ret_until)
{
	for (size_t i = 0; i < f->nr; i++)
		if (is_of(&f->flight[i], job, rank) && f->flight[i].failed &&
		    f->flight[i].to == host) {
			*ret_until = f->flight[i].until;
			return true;
		}
	return false;
}

bool flights_any(const struct flights *f, const struct job *job)
{
	const struct flight *one;

	for_each_flight (one, f)
		if (one->job == job->id)
			return true;
	return false;
}

bool flights_shun(const struct flights *f, uint32_t host)
{
	for (size_t i = 0; i < f->nr; i++)
		if (f->flight[i].failed && f->flight[i].to == host)
			return true;
	return false;
}

usec_t flights_shun_until(const struct flights *f, uint32_t *ret_host)
{
	usec_t first = USEC_MAX;

	for (size_t i = 0; i < f->nr; i++)
		if (f->flight[i].failed && f->flight[i].until < first) {
			first = f->flight[i].until;
			*ret_host = f->flight[i].to;
		}
	return first;
}

void flights_promise(const struct flights *f, const struct view *view,
		     uint64_t *by_host)
{
	const struct flight *one;

	for_each_flight (one, f)
		by_host[one->to] += view_job(view, one->ix)->memory;
}

uint32_t flights_from(const struct flights *f, uint32_t host)
{
	const struct flight *one;
	uint32_t n = 0;

	for_each_flight (one, f)
		n += one->from == host;
	return n;
}

/* stands in the place of the time at which it began, which is of no use then */
#define FAILED (-1)

void flights_save(const struct flights *f, FILE *to)
{
	fprintf(to, "%zu %.17g %.17g\n", f->nr, f->fixed, f->still);
	for (size_t i = 0; i < f->nr; i++)
		fprintf(to,
			"%" PRId64 " %" PRIu32 " %" PRIu32 " %" PRIu32
			" %" PRId64 " %" PRId64 "\n",
			f->flight[i].job, f->flight[i].rank, f->flight[i].from,
			f->flight[i].to,
			f->flight[i].failed ? FAILED : f->flight[i].began,
			f->flight[i].until);
	for (uint32_t i = 0; i < f->nr_paces; i++)
		if (f->pace[i] > 0)
			fprintf(to, "pace %" PRIu32 " %.17g\n", i, f->pace[i]);
	for (uint32_t i = 0; i < f->nr_tooks; i++)
		if (f->took[i].job)
			fprintf(to, "took %" PRId64 " %.17g %.17g\n",
				f->took[i].job, f->took[i].seconds,
				f->took[i].bytes);
}

/* Moves of a job that has gone meanwhile are not remembered. */
static void add_known(struct flights *f, const struct view *view,
		      struct flight *one)
{
	const struct job *job = view_find_job(view, one->job);

	if (!job || job->state == JOB_WAITING || one->rank >= job->n ||
	    one->from >= view->nr_hosts || one->to >= view->nr_hosts)
		return;
	one->ix = job->ix;
	one->failed = one->began == FAILED;
	add_flight(f, one);
}

/* Hosts have kept their indices; a text written before paces were kept has none. */
static int load_paces(struct flights *f, const struct view *view,
		      const char **text)
{
	uint32_t host;
	double pace;
	int n;

	while (sscanf(*text, "pace %" SCNu32 " %lg\n%n", &host, &pace, &n) ==
	       2) {
		if (host >= view->nr_hosts || !(pace > 0 && isfinite(pace)))
			return -EINVAL;
		*pace_of(f, host) = pace;
		*text += n;
	}
	return 0;
}

/* A text written before these were kept has none. */
static int load_tooks(struct flights *f, const struct view *view,
		      const char **text)
{
	struct took t;
	int n;

	while (sscanf(*text, "took %" SCNd64 " %lg %lg\n%n", &t.job, &t.seconds,
		      &t.bytes, &n) == 3) {
		const struct job *job = view_find_job(view, t.job);

		if (!(t.seconds >= 0 && isfinite(t.seconds) && t.bytes > 0))
			return -EINVAL;
		if (job && job->state != JOB_WAITING)
			set_took(f, job, t.seconds, t.bytes);
		*text += n;
	}
	return 0;
}

int flights_load(struct flights *f, const struct view *view, const char **text)
{
	double fixed, still;
	size_t nr;
	int n;

	if (sscanf(*text, "%zu %lg %lg\n%n", &nr, &fixed, &still, &n) != 3 ||
	    !(fixed >= 0 && still >= 0))
		return -EINVAL;
	for (*text += n; nr; nr--, *text += n) {
		struct flight one;

		if (sscanf(*text,
			   "%" SCNd64 " %" SCNu32 " %" SCNu32 " %" SCNu32
			   " %" SCNd64 " %" SCNd64 "\n%n",
			   &one.job, &one.rank, &one.from, &one.to, &one.began,
			   &one.until, &n) != 6)
			return -EINVAL;
		add_known(f, view, &one);
	}
	f->fixed = fixed;
	f->still = still;
	if (load_paces(f, view, text) < 0)
		return -EINVAL;
	return load_tooks(f, view, text);
}
