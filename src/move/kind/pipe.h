/*
 * pipe.h - pipes, also those that are externals
 */
#ifndef MOVE_KIND_PIPE_H
#define MOVE_KIND_PIPE_H

#include "move/kind/kind.h"

/* As fd_kind.size. */
size_t fdpipe_size(const struct fdscan_file *f);

/*
 * Append all that can be read from the end fd of a pipe to the list, one
 * message for each packet, without consuming it.
 */
int fdpipe_peek(int fd, Fds__Message ***ret, size_t *ret_n,
		struct error *err) must_check;

/* Write that into the pipe, without waiting. */
int fdpipe_fill(int fd, Fds__Message *const *m, size_t n,
		struct error *err) must_check;

/*
 * A user with many pipes gets small ones, which only a privileged process
 * enlarges. Then the pipe stays as it is, and only content that does not fit is
 * an obstacle.
 */
int fdpipe_resize(int fd, uint32_t size) must_check;

#endif
