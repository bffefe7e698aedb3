/* owned.c - see owned.h */
#include "sim/report/owned.h"

#include <inttypes.h>

#include "core/json.h"

/* Means of the jobs that count, in seconds. */
struct means {
	double queue, run, still, frozen, lost, cpu, page;
};

static struct means average(const struct sim_result *r)
{
	struct sim_split s = { 0 };
	double n = 0;

	for (size_t i = r->nr_warmup; i < r->nr; i++) {
		if (r->record[i].end < 0)
			continue;
		n += USEC_PER_SEC;
		s.queue += r->split[i].queue;
		s.run += r->split[i].run;
		s.still += r->split[i].still;
		s.frozen += r->split[i].frozen;
		s.lost += r->split[i].lost;
		s.cpu += r->split[i].cpu;
		s.page += r->split[i].page;
	}
	if (!(n > 0))
		n = 1;
	return (struct means){ (double)s.queue / n, (double)s.run / n,
			       (double)s.still / n, (double)s.frozen / n,
			       (double)s.lost / n,  (double)s.cpu / n,
			       (double)s.page / n };
}

static void print_owners(const struct sim_owners *o, FILE *to)
{
	fprintf(to,
		"owners: %" PRIu64 " returns, %" PRIu64 " disturbed (most in a "
		"day: %" PRIu32 "), guests gone after %.2f s on average, "
		"%.2f s at most\n"
		"        %.0f s beside running guests, their programs waited "
		"%.0f s for them,\n"
		"        and their memory comes back in %.2f s a return\n",
		o->returns, o->disturbed, o->disturbed_most,
		o->given_back ? o->give_back / (double)o->given_back : 0,
		usec_to_seconds(o->give_back_most), o->beside, o->waited,
		o->returns ? o->refill / (double)o->returns : 0);
}

void owned_print(const struct sim_result *r, FILE *to)
{
	struct means m;

	if (!r->split)
		return;
	m = average(r);
	fprintf(to,
		"\na job waits %.2f s, runs %.2f s, stands still %.2f s, is "
		"frozen %.2f s, loses %.2f s\n",
		m.queue, m.run, m.still, m.frozen, m.lost);
	if (r->memory) {
		fprintf(to,
			"while it runs, it computes %.2f s, pages %.2f s and "
			"waits for others %.2f s\n",
			m.cpu, m.page, m.run - m.cpu - m.page);
		fprintf(to,
			"memory: %.0f MB idle on average, hosts' jobs differ by "
			"%.2f (standard deviation)\n",
			r->averages.idle_memory / 1e6, r->averages.skew);
	}
	if (!r->memory || r->owners.returns)
		print_owners(&r->owners, to);
}

static json_t *owners_json(const struct sim_owners *o)
{
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "returns",
		(json_int_t)o->returns, "disturbed", (json_int_t)o->disturbed,
		"disturbed_most", (json_int_t)o->disturbed_most, "given_back",
		(json_int_t)o->given_back, "give_back",
		json_number(o->give_back), "give_back_most",
		json_number(usec_to_seconds(o->give_back_most)), "beside",
		json_number(o->beside), "waited", json_number(o->waited),
		"refill", json_number(o->refill));
}

void owned_json(const struct sim_result *r, json_t *to)
{
	struct means m;

	if (!r->split)
		return;
	m = average(r);
	json_object_set_new(
		to, "split",
		json_pack("{s:o, s:o, s:o, s:o, s:o}", "queue",
			  json_number(m.queue), "run", json_number(m.run),
			  "still", json_number(m.still), "frozen",
			  json_number(m.frozen), "lost", json_number(m.lost)));
	if (r->memory)
		json_object_set_new(
			to, "memory",
			json_pack("{s:o, s:o, s:o, s:o}", "cpu",
				  json_number(m.cpu), "page",
				  json_number(m.page), "idle",
				  json_number(r->averages.idle_memory), "skew",
				  json_number(r->averages.skew)));
	json_object_set_new(to, "owners", owners_json(&r->owners));
}

/* A line of one owner. */
static void put_owner(const struct sim_owner *w, int64_t seed, FILE *to)
{
	const struct sim_owners *o = &w->bore;

	fprintf(to,
		"%s,%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64
		",%.6f,%.6f,%.6f,%.6f,%.6f,%" PRId64 "," STINT_VERSION "\n",
		w->name, o->returns, o->disturbed, o->disturbed_most,
		o->given_back, o->give_back, usec_to_seconds(o->give_back_most),
		o->beside, o->waited, o->refill, seed);
}

void owned_csv(const struct sim_result *r, FILE *to)
{
	fputs("host,returns,disturbed,disturbed_most,given_back,give_back,"
	      "give_back_most,beside,waited,refill,seed,version\n",
	      to);
	for (uint32_t i = 0; i < r->nr_owners; i++)
		put_owner(&r->owner[i], r->seed, to);
}
