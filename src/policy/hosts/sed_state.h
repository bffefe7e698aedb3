/*
 * sed_state.h - Shortest Expected Delay on heterogeneous hosts: the rules
 *
 * A parallel job is spread over "virtually homogeneous" nodes: hosts, or
 * shares of hosts, that all delay it about equally (Schnor 1997 §4.1).
 *
 *   delay of host i      d_i = alpha_i * (1 + load_i)
 *   delay class k        delays in [k - 0.5, k + 0.5), the first [1, 1.5);
 *                        k = 1 .. the class of alpha_max
 *   slow-down threshold  s_i = least expected delay class of the jobs that
 *                        have a process on host i, alpha_max where none has
 *   availability a_k     nodes that a job may get when it accepts delay k:
 *     SED1  host i counts once in every class k >= d_i, if d_i <= s_i
 *     SED2  host i counts max{ n : alpha_i (n + load_i) <= min(k + 0.5, s_i) }
 *           times: one host can be several virtual nodes
 *   mapping              the class k that minimizes k / min(a_k, maxsize)
 *                        with a_k >= minsize; ties go to the faster class
 *
 * Speed factors that are no whole numbers: §4.1 numbers the classes up to
 * alpha_max, whatever that is, and calls alpha_max itself, not its whole part,
 * the threshold of an idle host.  So an idle host of 1.2, the slowest there is,
 * is in class 1.  For a fraction of .5 and more the text leaves a gap: with
 * alpha_max 1.5 the classes end before 1.5, and no host of 1.5 is in any.  Here
 * there is one class more then, the one whose interval holds alpha_max; and
 * since §4.1 wants no process delayed by more than alpha_max, no threshold is
 * above that, though the last class's number (2) is.  So an idle machine offers
 * every host (test_sed_laws.c draws machines), and one of whole factors has the
 * classes and thresholds of the text.
 *
 * Choices where the text is silent: a delay that is no whole number belongs to
 * the class whose interval holds it, and is not above a threshold if its class's
 * number is not (SED1); within a class
 * the least delayed nodes are taken first ("fast hosts first", §4.2.2), ties
 * by host number; a job moves only as a whole and to the fastest class that has
 * room for all of it, counted as if the job itself were gone.
 *
 * Everything here is state and arithmetic: sed.c makes plans of it and
 * mapstates.c enumerates it.
 */
#ifndef POLICY_HOSTS_SED_STATE_H
#define POLICY_HOSTS_SED_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sed_kind { SED1 = 1, SED2 = 2 };

struct sed_host {
	double alpha;	  /* speed factor: 1 is the fastest, larger is slower */
	double external;  /* runnable processes of others */
	int load;	  /* processes of jobs */
	double threshold; /* s_i */
};

struct sed_job {
	uint64_t id;
	int class; /* EDC, the expected delay class it was promised */
	int size;
	int *hosts; /* by rank, size of them */
};

/* Jobs are kept in the order in which they were started. */
struct sed {
	enum sed_kind kind;
	double slowest; /* alpha_max */
	int nr_classes;
	int nr_hosts;
	struct sed_host *hosts;
	struct sed_job *jobs;
	size_t nr_jobs, cap_jobs;
};

/* alpha[nr_hosts], each >= 1; makes an idle system. */
void sed_init(struct sed *sed, enum sed_kind kind, const double *alpha,
	      int nr_hosts);
void sed_copy(struct sed *to, const struct sed *from);
void sed_clear(struct sed *sed);

/* The class whose interval holds that delay, at least 1. */
int sed_class(double delay);

/* avail[1 .. nr_classes] is filled; avail[0] is 0. */
void sed_availability(const struct sed *sed, int *avail);

/*
 * Which class would such a job get?  Returns the class, and its size in *ret_size, or 0
 * if it has to wait.  1 <= minsize <= maxsize.
 */
int sed_map(const struct sed *sed, int minsize, int maxsize, int *ret_size);

/* Start a job as sed_map() chose; the result is valid until the next change. */
const struct sed_job *sed_start(struct sed *sed, uint64_t id, int class,
				int size);

/*
 * Add a job that was started before.  What class it was promised is not known, so it
 * counts as one of the slowest class until it is upgraded.
 */
void sed_adopt(struct sed *sed, uint64_t id, const int *hosts, int size);

/*
 * The class that an adopted job was promised.  If called for jobs in the order of their
 * starts, they are kept in that order.
 */
void sed_promise(struct sed *sed, uint64_t id, int class);

/* The job's end; unknown ids are ignored. */
void sed_end(struct sed *sed, uint64_t id);

/*
 * Upgrading: the class in which the job runs now that others have left its
 * hosts, max alpha_i * load_i, if that is better than its EDC; else 0.
 */
int sed_upgrade_class(const struct sed *sed, size_t job);
void sed_upgrade(struct sed *sed, size_t job, int class);

/*
 * Migration: the fastest class that is better than the job's EDC and has room for all
 * its processes; else 0. sed is as before.  sed_migrate() carries it out and returns
 * how many processes change hosts; of equally good hosts those are taken that the job
 * has already.
 */
int sed_better_class(struct sed *sed, size_t job);
int sed_migrate(struct sed *sed, size_t job, int class);

/* What is done when a job has ended; without both it is the paper's -NU and -NM. */
struct sed_rules {
	bool upgrade; /* upgrade jobs that are left alone on their hosts */
	bool migrate; /* move whole jobs to a faster class */
	bool eager;   /* also upgrade before jobs are started */
};

enum sed_done { SED_UPGRADED = 1, SED_MIGRATED = 2 };

/*
 * One pass, for the policy and for the enumeration of mapping states.  start() starts
 * waiting jobs in order, and returns whether none waits any more.  Then, if a job has
 * ended, running jobs are upgraded and moved.  migrated() (or NULL) is told of each job
 * that has other hosts now, and the class it had.  Returns enum sed_done, ored.
 */
unsigned sed_pass(struct sed *sed, const struct sed_rules *rules, bool ended,
		  bool (*start)(void *arg),
		  void (*migrated)(void *arg, size_t job, int from), void *arg);

/*
 * The job's speed, relative to having the fastest hosts to itself: with strong
 * synchronization, the least 1 / (alpha_i * (load_i + external_i)).
 */
double sed_rate(const struct sed *sed, size_t job);

#endif
