/* laws.c - which laws there are, see laws.h */
#include "sim/laws/laws.h"

#include <assert.h>
#include <string.h>

#include "sim/laws/priv.h"

static const struct law laws[] = {
	{ "counts",
	  "no processor is lost or given twice, jobs have what they may, all "
	  "end, and the work done is the work there was",
	  law_counts },
	{ "failures", "hosts that fail or drain and users who cancel are borne",
	  law_failures },
	{ "repeats", "the same seed gives the same schedule", law_repeats },
	{ "saved", "made anew from what it saved, it goes on as before",
	  law_saved },
	{ "reserved", "no job runs on what is reserved", law_reserved },
};

const struct law *law_nth(size_t n)
{
	return n < sizeof(laws) / sizeof(*laws) ? &laws[n] : NULL;
}

const struct law *law_find(const char *name)
{
	const struct law *law;

	for (size_t i = 0; (law = law_nth(i)); i++)
		if (!strcmp(law->name, name))
			return law;
	assert(!"no such law");
	return NULL;
}
