/*
 * test_ls.c - policies that only count processors, rule by rule: LS, SNPF and
 * FIFO-V (Schnor 1997 section 2.1), and FCFS
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/test_play.h"

/*
 * '!' marks rigid jobs, which all of these are. Every ';' is an activation of
 * the scheduler.
 */

static void largest_first_and_scan(void **state)
{
	(void)state;
	/* Job 4 does not fit beside job 3, but does not block: job 2 starts. */
	play("ls", 8, "!1:8;!2:3 !3:5 !4:4;-1;", "1=8;1=8;2=3 3=5;");
	/*
	 * Of equal priorities the earlier job goes first: 2 came with priority
	 * 4 and has gained 1.
	 */
	play("ls", 8, "!1:8;!2:4;!3:5;-1;", "1=8;1=8;1=8;2=4;");
}

static void waiting_jobs_gain_one_an_activation(void **state)
{
	(void)state;
	/* Job 2 of size 4 has gained 2 when job 3 of size 5 comes. */
	play("ls", 8, "!1:8;!2:4;;!3:5;-1;", "1=8;1=8;1=8;1=8;2=4;");
	/* From then on both gain alike: job 3 of size 7 stays ahead. */
	play("ls", 8, "!1:8;!2:4;;!3:7;;;-1;", "1=8;1=8;1=8;1=8;1=8;1=8;3=7;");
}

static void at_maxprio_served_in_order_and_blocking(void **state)
{
	(void)state;
	/*
	 * Jobs 2 and 3 are both at maxprio: first come, first served, and 3
	 * blocks 4.
	 */
	play("ls:maxprio=4", 8, "!1:8;!2:4 !3:5;!4:1;-1;", "1=8;1=8;1=8;2=4;");
	/*
	 * The same jobs below maxprio: the largest starts, and another one
	 * fills the rest.
	 */
	play("ls:maxprio=100", 8, "!1:8;!2:4 !3:5;!4:1;-1;",
	     "1=8;1=8;1=8;3=5 4=1;");
	/* A job at maxprio blocks newcomers that would fit. */
	play("ls:maxprio=7", 8, "!1:6;!2:7;!3:2;", "1=6;1=6;1=6;");
	play("ls:maxprio=100", 8, "!1:6;!2:7;!3:2;", "1=6;1=6;1=6 3=2;");
	/* By default maxprio is twice the processors: job 2 has it after six
	 * more activations, not after five. */
	play("ls", 4, "!1:3;!2:2;;;;;;!3:1;",
	     "1=3;1=3;1=3;1=3;1=3;1=3;1=3;1=3;");
	play("ls", 4, "!1:3;!2:2;;;;;!3:1;",
	     "1=3;1=3;1=3;1=3;1=3;1=3;1=3 3=1;");
}

static void smallest_first(void **state)
{
	(void)state;
	play("ffis", 8, "!1:8;!2:5 !3:2 !4:3;-1;", "1=8;1=8;3=2 4=3;");
}

static void on_what_is_idle(void **state)
{
	(void)state;
	/*
	 * A job gets min(maxsize, idle processors); the queue is first come,
	 * first served.
	 */
	play("fifo-v", 8, "1:6 2:5 3:1;-1;", "1=6 2=2;2=2 3=1;");
	/* A rigid job waits for all its processors, and blocks. */
	play("fifo-v", 8, "1:6 !2:5 3:1;-1;", "1=6;2=5 3=1;");
}

static void first_come_first_served(void **state)
{
	(void)state;
	play("fcfs", 8, "1:5 2:4 3:1;-1;", "1=5;2=4 3=1;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(largest_first_and_scan),
		cmocka_unit_test(waiting_jobs_gain_one_an_activation),
		cmocka_unit_test(at_maxprio_served_in_order_and_blocking),
		cmocka_unit_test(smallest_first),
		cmocka_unit_test(on_what_is_idle),
		cmocka_unit_test(first_come_first_served),
	};
	return cmocka_run_group_tests_name("ls", tests, NULL, NULL);
}
