/* talks.c - with whom TCP connections talk, see talks.h */
#include "net/talks.h"

#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <string.h>

#include "net/request.h"

/* Connections, half closed ones too, but neither listeners nor what is over. */
#define STATES                                                   \
	(1 << TCP_ESTABLISHED_STATE | 1 << TCP_FIN_WAIT1_STATE | \
	 1 << TCP_FIN_WAIT2_STATE | 1 << TCP_CLOSE_WAIT_STATE |  \
	 1 << TCP_LAST_ACK_STATE | 1 << TCP_CLOSING_STATE)

/* enum tcp_state's, of a header that cannot be had beside <linux/tcp.h>. */
enum {
	TCP_ESTABLISHED_STATE = 1,
	TCP_FIN_WAIT1_STATE = 4,
	TCP_FIN_WAIT2_STATE = 5,
	TCP_CLOSE_WAIT_STATE = 8,
	TCP_LAST_ACK_STATE = 9,
	TCP_CLOSING_STATE = 11,
};

struct listener {
	net_talk_fn *fn;
	void *arg;
};

/* The IPv4 address of the peer; false: it has none. */
static bool peer_of(const struct inet_diag_msg *m, struct in_addr *ret)
{
	const uint32_t mapped[3] = { 0, 0, htonl(0xffff) };
	const uint32_t *dst = m->id.idiag_dst;

	if (m->idiag_family == AF_INET6 && memcmp(dst, mapped, sizeof(mapped)))
		return false;
	ret->s_addr = dst[m->idiag_family == AF_INET6 ? 3 : 0];
	return true;
}

/* An older kernel's struct is shorter, and what it lacks 0. */
static int read_info(const struct nlattr *attr, void *data)
{
	struct net_talk *t = data;
	struct tcp_info info = { 0 };
	size_t n = mnl_attr_get_payload_len(attr);

	if (mnl_attr_get_type(attr) != INET_DIAG_INFO)
		return MNL_CB_OK;
	memcpy(&info, mnl_attr_get_payload(attr),
	       n < sizeof(info) ? n : sizeof(info));
	t->bytes = info.tcpi_bytes_acked;
	t->segments = info.tcpi_data_segs_out;
	return MNL_CB_OK;
}

static void read_talk(const struct nlmsghdr *nlh, void *data)
{
	const struct inet_diag_msg *m = mnl_nlmsg_get_payload(nlh);
	const struct listener *l = data;
	struct net_talk t = { .bytes = 0 };

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*m) || !peer_of(m, &t.peer))
		return;
	t.cookie =
		(uint64_t)m->id.idiag_cookie[1] << 32 | m->id.idiag_cookie[0];
	mnl_attr_parse(nlh, sizeof(*m), read_info, &t);
	l->fn(&t, l->arg);
}

static int open_diag(void *arg, struct error *err)
{
	return net_open_family(NETLINK_SOCK_DIAG, arg, err);
}

static int ask(struct net *net, uint8_t family, struct listener *l)
{
	struct net_request req;
	struct inet_diag_req_v2 *q = net_request_init(&req, SOCK_DIAG_BY_FAMILY,
						      NLM_F_DUMP, sizeof(*q));

	q->sdiag_family = family;
	q->sdiag_protocol = IPPROTO_TCP;
	q->idiag_states = STATES;
	q->idiag_ext = 1 << (INET_DIAG_INFO - 1);
	return net_request_call(net, &req, read_talk, l);
}

int net_talks_each(int netns, net_talk_fn *fn, void *arg, struct error *err)
{
	struct listener l = { fn, arg };
	struct net *net;
	int r = net_visit(netns, open_diag, &net, err);

	if (r < 0)
		return r;
	r = ask(net, AF_INET, &l);
	if (!r)
		r = ask(net, AF_INET6, &l);
	net_close(net);
	return r < 0 ? error_sys(err, r, "sock_diag") : 0;
}
