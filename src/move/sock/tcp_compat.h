/*
 * tcp_compat.h - the kernel's <linux/tcp.h>, which knows more of TCP_INFO than
 * glibc's <netinet/tcp.h>, cannot be included beside it, and lacks the states
 */
#ifndef MOVE_SOCK_TCP_COMPAT_H
#define MOVE_SOCK_TCP_COMPAT_H

#include <linux/tcp.h>

#ifndef SOL_TCP
#define SOL_TCP 6
#endif

enum {
	TCP_ESTABLISHED = 1,
	TCP_SYN_SENT,
	TCP_SYN_RECV,
	TCP_FIN_WAIT1,
	TCP_FIN_WAIT2,
	TCP_TIME_WAIT,
	TCP_CLOSE,
	TCP_CLOSE_WAIT,
	TCP_LAST_ACK,
	TCP_LISTEN,
	TCP_CLOSING,
};

/* Option kinds, as TCP_REPAIR_OPTIONS wants them too. */
enum {
	TCPOPT_NOOP = 1,
	TCPOPT_MSS = 2,
	TCPOPT_WSCALE = 3,
	TCPOPT_SACK = 4,
	TCPOPT_TS = 8,
};

/* Sets of states. */
#define TCP_STATE(s) (1u << (s))
#define TCP_STATES_FIN_QUEUED                                \
	(TCP_STATE(TCP_FIN_WAIT1) | TCP_STATE(TCP_CLOSING) | \
	 TCP_STATE(TCP_LAST_ACK))
#define TCP_STATES_FIN_RECEIVED                               \
	(TCP_STATE(TCP_CLOSE_WAIT) | TCP_STATE(TCP_CLOSING) | \
	 TCP_STATE(TCP_LAST_ACK))
#define TCP_STATES_CONNECTED                                      \
	(TCP_STATE(TCP_ESTABLISHED) | TCP_STATE(TCP_CLOSE_WAIT) | \
	 TCP_STATE(TCP_FIN_WAIT2) | TCP_STATES_FIN_QUEUED)

#endif
