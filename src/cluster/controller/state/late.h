/*
 * late.h - why a guest was still on its host when the time to give that back was over
 */
#ifndef CLUSTER_CONTROLLER_STATE_LATE_H
#define CLUSTER_CONTROLLER_STATE_LATE_H

/* Stored by number, so that none changes. */
enum late {
	LATE_NOT,
	LATE_STILL,	/* it stood still */
	LATE_STAYED,	/* no move of it was under way */
	LATE_KEEPER,	/* its destination started a keeper */
	LATE_RECEIVING, /* ... or got ready */
	LATE_OUT,	/* it was being sent */
	LATE_UNKNOWN,	/* how far its move was was not known */
	/* Where no rank was there any more: */
	LATE_COMING,  /* one was just arriving there */
	LATE_REMOVED, /* what was left of one was being removed */
	LATE_NOBODY,  /* none was known to be there */
	LATE_UNHEARD, /* the controller heard of it when it was over */
};

/* For people; "" for LATE_NOT and for what is none of these. */
const char *late_text(unsigned why);

#endif
