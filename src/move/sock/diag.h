/* diag.h - what can be learnt about sockets only by sock_diag(7) */
#ifndef MOVE_SOCK_DIAG_H
#define MOVE_SOCK_DIAG_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "core/error.h"

struct nlmsghdr;

/*
 * Open a socket for sock_diag and one for rtnetlink in the network namespace of process
 * pid.  That may belong to another user namespace, so a forked child enters both
 * namespaces and passes the sockets back.
 */
int sock_diag_open(pid_t pid, int pidfd, int *ret, int *ret_route,
		   struct error *err) must_check;

/* Send that request, and call fn for each message of the answer (libmnl). */
int sock_diag_ask(int diag, struct nlmsghdr *nlh,
		  int (*fn)(const struct nlmsghdr *nlh, void *arg),
		  void *arg) must_check;

/*
 * foreign.c: *ret: does no interface of that network have this address?  Then a socket
 * was bound to it with IP_FREEBIND or the like, or the address was removed since.
 */
int sock_diag_foreign(int route, const void *address, bool *ret,
		      struct error *err) must_check;

struct sock_diag_unix {
	uint64_t ino;
	/*
	 * inode number of the other end; 0: it is closed; -1: never connected
	 */
	int64_t peer;
	uint32_t shutdown; /* 1: receive, 2: send */
	uint32_t waiting;  /* of a listener: connections to be accepted */
	uint32_t backlog;  /* of a listener */
	int state;	   /* TCP_LISTEN ... */
};

int sock_diag_unix_get(int diag, uint64_t ino, struct sock_diag_unix *ret,
		       struct error *err) must_check;

struct sock_diag_tcp {
	uint64_t ino;	  /* inode number; 0: no process has it open */
	int state;	  /* TCP_SYN_SENT, TCP_SYN_RECV ... */
	uint32_t rqueue;  /* bytes unread; of a listener, connections */
	uint32_t wqueue;  /* bytes not acknowledged */
	uint32_t flying;  /* segments sent and not acknowledged */
	uint32_t min_rtt; /* us, or UINT32_MAX */
	struct sockaddr_storage local, peer;
	socklen_t len;
};

/* The connection between these two addresses of len bytes; -ENOENT: none. */
int sock_diag_tcp_get(int diag, const void *local, const void *peer,
		      socklen_t len, struct sock_diag_tcp *ret,
		      struct error *err) must_check;

/*
 * How the bound UDP socket of that inode number was shut down: 1 for receiving, 2 for
 * sending, or both.  port: as in a sockaddr.
 */
int sock_diag_udp_shutdown(int diag, int family, uint16_t port, uint64_t ino,
			   uint32_t *ret, struct error *err) must_check;

/* Call fn for each TCP socket whose state is in the mask (1 << TCP_...). */
int sock_diag_tcp_each(int diag, uint32_t states,
		       void (*fn)(const struct sock_diag_tcp *t, void *arg),
		       void *arg, struct error *err) must_check;

/*
 * 1: another socket (of another inode number) listens, or receives datagrams, at that
 * very address and port.
 */
int sock_diag_shared(int diag, bool stream,
		     const struct sockaddr_storage *local, socklen_t len,
		     bool (*ours)(uint64_t ino, void *arg), void *arg,
		     struct error *err) must_check;

#endif
