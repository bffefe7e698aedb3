/*
 * steps.c - a second copy would show: every step is a line of one file
 *
 * Two threads take turns and append the next number to the file STEPS (in
 * CHECK_DIR), one a millisecond.  Whatever happens to the process, the file
 * must hold 0, 1, 2, ... at the end: a copy that runs beside the right one,
 * or from an older state, writes numbers that are there already, and one that
 * lost something leaves a gap.  At the end it tells the longest time between
 * two steps, by CLOCK_REALTIME, which no time namespace hides.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int fd, turn;
static uint64_t steps;
static int64_t last, longest;
static bool over;

static void step(void)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "%llu\n",
			 (unsigned long long)steps++);

	int64_t now = check_clock(CLOCK_REALTIME);

	CHECK(write(fd, line, (size_t)n) == n);
	if (last && now - last > longest)
		longest = now - last;
	last = now;
}

static void *run(void *arg)
{
	int me = *(int *)arg;

	pthread_mutex_lock(&lock);
	while (!over) {
		while (turn != me && !over)
			pthread_cond_wait(&turned, &lock);
		if (!over)
			step();
		over |= !check_running();
		turn = !me;
		pthread_cond_signal(&turned);
		check_nap();
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void verify(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned long long n;
	uint64_t want = 0;

	CHECK(f);
	while (fscanf(f, "%llu\n", &n) == 1) {
		CHECK(n == want, "step %llu follows %llu", n,
		      (unsigned long long)want - 1);
		want++;
	}
	CHECK(feof(f) && want == steps, "%llu steps of %llu are there",
	      (unsigned long long)want, (unsigned long long)steps);
	fclose(f);
}

/*
 * At the place where whoever moves us looks for it, or in a directory of our
 * own.
 */
static const char *steps_path(void)
{
	static char path[4096];
	const char *dir = getenv("CHECK_DIR");

	if (!dir)
		return check_path("STEPS");
	snprintf(path, sizeof(path), "%.4000s/STEPS", dir);
	return path;
}

int main(void)
{
	const char *path = steps_path();
	int ids[2] = { 0, 1 };
	pthread_t thread;

	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0600);
	CHECK(fd >= 0, "%s", path);
	check_ready();
	if (check_sabotaged())
		steps += 7;
	thread = check_thread(run, &ids[1]);
	run(&ids[0]);
	check_join(thread);
	verify(path);
	dprintf(STDOUT_FILENO, "longest pause %lld ms\n",
		(long long)longest / 1000000);
	return check_pass();
}
