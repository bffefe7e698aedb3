/* holder.c - which other process has a file open? See source.h */
#include "core/xalloc.h"
#include "move/fdkit/source.h"

bool fdscan_known_alone(const struct fdscan *sc, const struct stat *st)
{
	const struct fds_source *s = sc->s;

	for (size_t i = 0; i < s->nr_alone; i++)
		if (s->alone[i].dev == st->st_dev &&
		    s->alone[i].ino == st->st_ino)
			return true;
	return false;
}

pid_t fdscan_other_holder(struct fdscan *sc, const struct stat *st)
{
	struct fds_source *s = sc->s;
	pid_t other;

	if (fdscan_known_alone(sc, st))
		return 0;
	other = sc->content ? 0
			    : fdinfo_other_holder(s->pid, st, &s->strangers);
	if (other || sc->content)
		return other;
	array_room(s->alone, s->nr_alone, &s->cap_alone);
	s->alone[s->nr_alone++] = (struct fds_alone){ st->st_dev, st->st_ino };
	return 0;
}
