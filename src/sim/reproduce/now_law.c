/*
 * now_law.c - do the generators have what Arpaci 1995 says of its lost traces?
 * (Figures 1, 6 and 8)
 */
#include <math.h>

#include "sim/report/trace_stats.h"
#include "sim/reproduce/now.h"

enum { RUNS = 20, HOSTS = 60 };

/* ---- N-6: owners ---- */

enum { BRIEF, LONG, AFTER_1, AFTER_15, SHARES };

static void measure_law(const struct activity *a, double *ret)
{
	struct activity_stats s;

	activity_stats_make(a, &s);
	ret[BRIEF] = s.brief;
	ret[LONG] = s.long_share;
	ret[AFTER_1] = s.idle_1;
	ret[AFTER_15] = s.idle_15;
}

/* By day: as if it were always.  Two days each, so that long absences are seen. */
static int draw_days(const struct reproduce *r, const char *owners,
		     struct estimate *ret, struct error *err)
{
	unsigned n = r->quick ? 5 : RUNS;
	double share[SHARES][RUNS], one[SHARES];
	struct owners_law law;
	int rc = owners_law_parse(owners, &law, err);

	law.night = 1;
	for (unsigned i = 0; !rc && i < n; i++) {
		struct activity a;

		owners_law_draw(&law, HOSTS, 2, r->seed, i, &a);
		measure_law(&a, one);
		activity_clear(&a);
		for (int k = 0; k < SHARES; k++)
			share[k][i] = one[k];
	}
	for (int k = 0; !rc && k < SHARES; k++)
		ret[k] = runs_mean_of(r, share[k], n);
	return rc;
}

static void add_law(struct reproduce *r, const struct estimate *e)
{
	reproduce_number(r, reproduce_text("idle periods of up to 3 min"), 0.53,
			 0.02, e[BRIEF], NULL);
	reproduce_number(
		r, reproduce_text("idle time in periods of 10 min or more"),
		0.95, 0.01, e[LONG], NULL);
	reproduce_range(r, reproduce_text("hosts idle for 1 min, by day"), 0.7,
			INFINITY, e[AFTER_1], NULL);
	reproduce_range(r, reproduce_text("hosts idle for 15 min, by day"), 0.6,
			INFINITY, e[AFTER_15], NULL);
}

int now_n6(struct reproduce *r, struct error *err)
{
	struct estimate e[SHARES];
	int rc = draw_days(r, NULL, e, err);

	if (!rc)
		add_law(r, e);
	for (size_t k = 1; !rc && !r->quick && now_reading(k); k++) {
		const struct now_reading *o = now_reading(k);

		if (!o->owners)
			continue; /* that is no other law */
		rc = draw_days(r, o->owners, e, err);
		if (!rc)
			reproduce_note(
				r,
				reproduce_text(
					"the law of notes \"%s\": %.2f of "
					"periods, %.2f of the time, %.2f "
					"and %.2f of hosts",
					o->text, e[BRIEF].value, e[LONG].value,
					e[AFTER_1].value, e[AFTER_15].value));
	}
	return rc;
}

/* ---- N-11: jobs ---- */

enum { JOBS_SHORT, WORK_LONG, SUBMITTED_BY_DAY, USED, JOB_SHARES };

static int count_jobs(struct workload *w, double *ret, struct error *err)
{
	double jobs = 0, brief = 0, by_day = 0, work = 0, lengthy = 0;
	struct workload_job job;
	int rc;

	while ((rc = workload_next(w, &job, err)) > 0) {
		double run = usec_to_seconds(job.run);
		double hour = fmod(usec_to_seconds(job.submit), 86400) / 3600;

		jobs++;
		brief += run <= 180;
		by_day += hour >= 9 && hour < 17;
		work += run;
		lengthy += run >= 5400 ? run : 0;
	}
	ret[JOBS_SHORT] = brief / jobs;
	ret[WORK_LONG] = lengthy / work;
	ret[SUBMITTED_BY_DAY] = by_day / jobs;
	ret[USED] = work / 86400;
	return rc;
}

static int draw_jobs(const struct reproduce *r, struct estimate *ret,
		     struct error *err)
{
	unsigned n = r->quick ? 5 : RUNS;
	double share[JOB_SHARES][RUNS], one[JOB_SHARES];
	int rc = 0;

	for (unsigned i = 0; !rc && i < n; i++) {
		const struct workload_setup setup = { .seed = r->seed,
						      .replication = i };
		struct workload *w;

		rc = workload_create("lanl", &setup, &w, err);
		if (rc < 0)
			return rc;
		rc = count_jobs(w, one, err);
		workload_destroy(w);
		for (int k = 0; !rc && k < JOB_SHARES; k++)
			share[k][i] = one[k];
	}
	for (int k = 0; !rc && k < JOB_SHARES; k++)
		ret[k] = runs_mean_of(r, share[k], n);
	return rc;
}

int now_n11(struct reproduce *r, struct error *err)
{
	struct estimate e[JOB_SHARES];
	int rc = draw_jobs(r, e, err);

	if (rc < 0)
		return rc;
	reproduce_number(r, reproduce_text("jobs of up to 3 min"), 0.8, 0.02,
			 e[JOBS_SHORT], NULL);
	reproduce_range(r, reproduce_text("work in jobs of 90 min or more"),
			0.5, INFINITY, e[WORK_LONG], NULL);
	reproduce_number(r,
			 reproduce_text("jobs submitted in working hours, "
					"9 to 17 h"),
			 0.5, 0.05, e[SUBMITTED_BY_DAY], NULL);
	reproduce_number(r, reproduce_text("use of the 32 nodes that day"),
			 0.75, 0.005, e[USED], NULL);
	return 0;
}
