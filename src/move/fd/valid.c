/*
 * valid.c - is what came over the wire a set of descriptors?
 *
 * Whatever passes can at worst make a wrong program, never reach outside its
 * arrays or do more than the program's own system calls could.
 */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/xalloc.h"
#include "move/fd/restore.h"
#include "move/kind/kinds.h"
#include "move/sock/tcp_compat.h"

#define SIZE_MAX_MEMFD ((uint64_t)64 << 20)
#define SIZE_MAX_PIPE  (1u << 30)

static int check_numbers(const Fds__Set *set, bool *used, struct error *err)
{
	for (size_t i = 0; i < set->n_number; i++) {
		const Fds__Number *n = set->number[i];

		if (n->number >= FD_NUMBER_MAX || n->file >= set->n_file)
			return fdkind_bad(err, "number out of range");
		if (i && n->number <= set->number[i - 1]->number)
			return fdkind_bad(err, "numbers not ascending");
		used[n->file] = true;
	}
	for (size_t i = 0; i < set->n_file; i++) {
		if (!used[i])
			return fdkind_bad(err, "file without a number");
	}
	return 0;
}

static int check_pipes(const Fds__Set *set, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < set->n_pipe && !r; i++) {
		const Fds__Pipe *p = set->pipe[i];

		if (p->size > SIZE_MAX_PIPE)
			return fdkind_bad(err, "pipe too large");
		if (p->fifo &&
		    (p->fifo->path[0] != '/' || !S_ISFIFO(p->fifo->mode)))
			return fdkind_bad(err, "odd named pipe");
		r = fdkind_check_messages(p->content, p->n_content, p->size,
					  err);
	}
	return r;
}

static int check_memfds(const Fds__Set *set, struct error *err)
{
	for (size_t i = 0; i < set->n_memfd; i++) {
		const Fds__Memfd *m = set->memfd[i];

		if (m->size > SIZE_MAX_MEMFD || (m->mode & ~07777u) ||
		    strlen(m->name) > NAME_MAX)
			return fdkind_bad(err, "memfd out of range");
		if (m->dir[0] && (m->dir[0] != '/' || m->seals))
			return fdkind_bad(err, "deleted file out of range");
		for (size_t k = 0; k < m->n_extent; k++) {
			const Fds__Extent *e = m->extent[k];

			if (e->offset > m->size ||
			    e->data.len > m->size - e->offset)
				return fdkind_bad(err,
						  "memfd extent out of range");
		}
	}
	return 0;
}

static int check_unix(const Fds__Set *set, size_t i, const Fds__Socket *s,
		      struct error *err)
{
	const Fds__Unix *u = s->un;
	const Fds__File *peer;

	if (s->family != AF_UNIX)
		return fdkind_bad(err, "socket of two families");
	if (s->type != SOCK_STREAM && s->type != SOCK_DGRAM &&
	    s->type != SOCK_SEQPACKET)
		return fdkind_bad(err, "socket type");
	if (u->local.len > sizeof(struct sockaddr_storage) || u->peer < -2 ||
	    u->peer >= (int64_t)set->n_file)
		return fdkind_bad(err, "unix socket out of range");
	if (u->peer >= 0) {
		peer = set->file[u->peer];
		if (peer->kind_case != FDS__FILE__KIND_SOCKET ||
		    !peer->socket || !peer->socket->un ||
		    peer->socket->kind_case != FDS__SOCKET__KIND_UN ||
		    peer->socket->un->peer != (int64_t)i ||
		    peer->socket->type != s->type || u->peer == (int64_t)i)
			return fdkind_bad(err, "unix sockets do not match");
	}
	return fdkind_check_messages(u->queue, u->n_queue, UINT32_MAX, err);
}

static int check_address(const Fds__Socket *s, const ProtobufCBinaryData *a,
			 struct error *err)
{
	sa_family_t family;

	if (!a->len)
		return 0;
	if (a->len != (s->family == AF_INET ? sizeof(struct sockaddr_in)
					    : sizeof(struct sockaddr_in6)))
		return fdkind_bad(err, "address of odd length");
	memcpy(&family, a->data, sizeof(family));
	if (family != s->family)
		return fdkind_bad(err, "address of another family");
	return 0;
}

static int check_tcp(const Fds__Inet *m, struct error *err)
{
	const Fds__Tcp *t = m->tcp;
	uint32_t known = TCP_STATES_CONNECTED | TCP_STATE(TCP_LISTEN) |
			 TCP_STATE(TCP_CLOSE) | TCP_STATE(TCP_SYN_SENT);

	if (t->state > TCP_CLOSING || !(TCP_STATE(t->state) & known))
		return fdkind_bad(err, "TCP state");
	if (t->state != TCP_CLOSE && !m->local.len)
		return fdkind_bad(err, "TCP socket without an address");
	if (t->state != TCP_CLOSE && t->state != TCP_LISTEN && !m->peer.len)
		return fdkind_bad(err, "TCP connection without a peer");
	if (t->snd_wscale < -1 || t->snd_wscale > 14 || t->rcv_wscale < -1 ||
	    t->rcv_wscale > 14 || t->backlog > INT32_MAX ||
	    t->mss_clamp > UINT16_MAX || t->window_clamp > INT32_MAX)
		return fdkind_bad(err, "TCP parameters");
	return 0;
}

/* A v6 socket may be a member of groups of either family. */
static int check_membership(const Fds__Socket *s, const Fds__Membership *m,
			    struct error *err)
{
	Fds__Socket as = *s;
	int r;

	if (m->group.len == sizeof(struct sockaddr_in))
		as.family = AF_INET;
	r = m->group.len ? check_address(&as, &m->group, err)
			 : fdkind_bad(err, "membership of no group");
	if (!r && m->n_source > UINT16_MAX)
		r = fdkind_bad(err, "too many sources");
	for (size_t i = 0; i < m->n_source && !r; i++)
		r = m->source[i].len
			    ? check_address(&as, &m->source[i], err)
			    : fdkind_bad(err, "source without address");
	return r;
}

static int check_inet(const Fds__Socket *s, struct error *err)
{
	int r;

	if (s->family != AF_INET && s->family != AF_INET6)
		return fdkind_bad(err, "socket of two families");
	if (s->inet->tcp ? s->type != SOCK_STREAM : s->type != SOCK_DGRAM)
		return fdkind_bad(err, "socket type");
	r = check_address(s, &s->inet->local, err);
	if (!r)
		r = check_address(s, &s->inet->peer, err);
	if (!r && s->inet->tcp)
		r = check_tcp(s->inet, err);
	if (!r)
		r = fdkind_check_messages(s->inet->queue, s->inet->n_queue,
					  UINT32_MAX, err);
	for (size_t i = 0; i < s->inet->n_queue && !r; i++)
		r = check_address(s, &s->inet->queue[i]->from, err);
	for (size_t i = 0; i < s->inet->n_membership && !r; i++)
		r = check_membership(s, s->inet->membership[i], err);
	return r;
}

static int check_socket(const Fds__Set *set, size_t i, struct error *err)
{
	const Fds__Socket *s = set->file[i]->socket;

	if (s->kind_case == FDS__SOCKET__KIND_UN && s->un)
		return check_unix(set, i, s, err);
	if (s->kind_case == FDS__SOCKET__KIND_INET && s->inet)
		return check_inet(s, err);
	return fdkind_bad(err, "socket of no kind");
}

static int check_file(const Fds__Set *set, size_t i, struct error *err)
{
	const Fds__File *f = set->file[i];
	const struct fd_kind *k;

	/* All members of the union are pointers to messages. */
	if (!f->path)
		return fdkind_bad(err, "file of no kind");
	switch (f->kind_case) {
	case FDS__FILE__KIND_PATH:
		return f->path->path[0] == '/'
			       ? 0
			       : fdkind_bad(err, "relative path");
	case FDS__FILE__KIND_EXTERNAL:
		return fdkind_check_messages(f->external->unread,
					     f->external->n_unread, UINT32_MAX,
					     err);
	case FDS__FILE__KIND_PIPE:
		return f->pipe->pipe < set->n_pipe ? 0
						   : fdkind_bad(err, "no pipe");
	case FDS__FILE__KIND_MEMFD:
		return f->memfd->memfd < set->n_memfd
			       ? 0
			       : fdkind_bad(err, "no memfd");
	case FDS__FILE__KIND_SOCKET:
		return check_socket(set, i, err);
	default:
		k = fdkinds_find(f->kind_case);
		if (!k)
			return fdkind_bad(err, "file of no kind");
		return k->check ? k->check(set, i, err) : 0;
	}
}

/* Is the message one that fdscan could have made?  Nothing is trusted. */
static int check_set(const Fds__Set *set, struct error *err)
{
	bool *used;
	int r;

	if (set->version != 1)
		return error_set(err, -EPROTO,
				 "descriptor set of version %u, this end "
				 "knows 1",
				 set->version);
	used = xcalloc(set->n_file + 1, sizeof(*used));
	r = check_numbers(set, used, err);
	free(used);
	if (!r)
		r = check_pipes(set, err);
	if (!r)
		r = check_memfds(set, err);
	for (size_t i = 0; i < set->n_file && !r; i++)
		r = check_file(set, i, err);
	return r;
}

int fdvalid_unpack(const void *blob, size_t n, Fds__Set **ret,
		   struct error *err)
{
	Fds__Set *set = fds__set__unpack(NULL, n, blob);
	int r;

	if (!set)
		return fdkind_bad(err, "cannot be parsed");
	r = check_set(set, err);
	if (r < 0) {
		fds__set__free_unpacked(set, NULL);
		return r;
	}
	*ret = set;
	return 0;
}

int fdvalid_base(const Fds__Set *set)
{
	return set->n_number ? (int)set->number[set->n_number - 1]->number + 1
			     : 0;
}
