/* test_ahead.h - which threads have raised priority (hurry.h), for tests */
#ifndef CORE_TEST_AHEAD_H
#define CORE_TEST_AHEAD_H

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

/* cmocka's skip() is a failure in TAP. */
static inline bool may_hurry(void)
{
	struct sched_param none = { 0 };

	/* The tests may run with a raised nice value. */
	if (setpriority(PRIO_PROCESS, 0, -1) == 0 &&
	    setpriority(PRIO_PROCESS, 0, 0) == 0 &&
	    sched_setscheduler(0, SCHED_OTHER, &none) == 0)
		return true;
	print_message("# not tested: no right to go ahead of others\n");
	return false;
}

/* pid 0: the caller. */
static inline bool is_ahead(pid_t pid)
{
	return sched_getscheduler(pid) != SCHED_OTHER ||
	       getpriority(PRIO_PROCESS, (id_t)pid) != 0;
}

#endif
