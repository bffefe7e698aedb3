/*
 * pipe.h - pipes, also those that are externals
 */
#ifndef MOVE_KIND_PIPE_H
#define MOVE_KIND_PIPE_H

#include "move/kind/kind.h"

/* What fd_kind.size is. */
size_t fdpipe_size(const struct fdscan_file *f);

/*
 * All that can be read from the end fd of a pipe, not consuming it; a message a
 * packet, appended to the list.
 */
int fdpipe_peek(int fd, Fds__Message ***ret, size_t *ret_n,
		struct error *err) must_check;

/* Write that into it, without waiting. */
int fdpipe_fill(int fd, Fds__Message *const *m, size_t n,
		struct error *err) must_check;

/*
 * A user of many pipes gets small ones, which only a privilege enlarges: then
 * it stays as it is, and only what does not go in is in the way.
 */
int fdpipe_resize(int fd, uint32_t size) must_check;

#endif
