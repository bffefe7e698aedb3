/* late.c - see late.h */
#include "cluster/controller/state/late.h"

#include <stddef.h>

const char *late_text(unsigned why)
{
	static const char *const texts[] = {
		[LATE_NOT] = "",
		[LATE_STILL] = "it stands still",
		[LATE_STAYED] = "no move of it is under way",
		[LATE_KEEPER] = "its destination starts a keeper",
		[LATE_RECEIVING] = "its destination gets ready",
		[LATE_OUT] = "it is being sent",
		[LATE_UNKNOWN] = "how far its move is is not known",
		[LATE_COMING] = "it is arriving there",
		[LATE_REMOVED] = "what is left of it is being removed",
		[LATE_NOBODY] = "no rank is known to be there",
		[LATE_UNHEARD] = "the controller heard of it when it was over",
	};

	return why < sizeof(texts) / sizeof(*texts) ? texts[why] : "";
}
