/* channel.c - plain channels, see channel.h */
#include "core/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

struct channel {
	int fd;
};

struct channel *channel_from_fd(int fd)
{
	struct channel *ch = xcalloc(1, sizeof(*ch));

	ch->fd = fd;
	return ch;
}

int channel_read(struct channel *ch, void *p, size_t n)
{
	return io_read_full(ch->fd, p, n);
}

int channel_write(struct channel *ch, const void *p, size_t n)
{
	return io_write_full(ch->fd, p, n);
}

int channel_writev(struct channel *ch, const struct iovec *iov, int n)
{
	int r = 0;

	for (int i = 0; i < n && !r; i++)
		r = io_write_full(ch->fd, iov[i].iov_base, iov[i].iov_len);
	return r;
}

int channel_fd(const struct channel *ch)
{
	return ch->fd;
}

bool channel_pending(const struct channel *ch)
{
	(void)ch;
	return false;
}

void channel_close(struct channel *ch)
{
	if (!ch)
		return;
	close(ch->fd);
	free(ch);
}
