/* pause.c - see pause.h */
#include "model/pause.h"

/* For so long it is not tried again; to no host once so many have failed in a row. */
#define PAUSE	    (10 * USEC_PER_SEC)
#define FAILED_MOST 4

void move_pause_failed(struct move_pause *p, uint32_t to, usec_t now)
{
	*p = (struct move_pause){
		.until = usec_add(now, PAUSE),
		.to = to,
		.failed = now < p->until ? p->failed + 1 : 1,
	};
}

bool move_pauses(const struct move_pause *p, uint32_t to, usec_t now)
{
	return now < p->until && (p->failed >= FAILED_MOST || p->to == to);
}

bool move_pause_tells(struct move_pause *p, uint32_t to)
{
	bool tell = p->told != to + 1;

	p->told = to + 1;
	return tell;
}
