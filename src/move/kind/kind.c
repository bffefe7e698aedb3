/* kind.c - functions that several kinds need; see kind.h */
#include "move/kind/kind.h"

#include <errno.h>
#include <sys/socket.h>

int fdkind_odd(const struct fdscan_file *f, struct error *err)
{
	return error_set(err, -EPROTO, "fd %d: odd fdinfo", f->number);
}

int fdkind_bad(struct error *err, const char *what)
{
	return error_set(err, -EPROTO, "descriptor set: %s", what);
}

int fdkind_check_messages(Fds__Message *const *m, size_t n, uint64_t max,
			  struct error *err)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += m[i]->data.len;
		if (m[i]->from.len > sizeof(struct sockaddr_storage))
			return fdkind_bad(err, "address too long");
	}
	return sum > max ? fdkind_bad(err, "more content than fits") : 0;
}
