/* moment.c - an instant, by all of this host's clocks; see model/terms.h */
#include <time.h>

#include "cluster/agent/priv.h"
#include "core/clock.h"

struct moment agent_moment(void)
{
	struct moment m = { .steady = owner_now(),
			    .wall = clock_usec(CLOCK_REALTIME) };
	time_t t = (time_t)(m.wall / USEC_PER_SEC);
	struct tm tm;

	localtime_r(&t, &tm);
	m.weekday = (uint8_t)tm.tm_wday;
	m.minute = (uint16_t)(tm.tm_hour * 60 + tm.tm_min);
	/* mktime() knows of days that have 23 or 25 hours. */
	tm.tm_mday++;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	m.midnight = (usec_t)mktime(&tm) * USEC_PER_SEC;
	return m;
}
