/* share.c - a table of nftables that limits guests, see share.h */
#include "net/share.h"

#include <errno.h>
#include <netinet/in.h>

/* After <netinet/in.h>, or both define the same. */
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "net/request.h"

/* Beside the second's worth that the kernel adds: some of the largest packets. */
#define BURST (256 << 10)

#define CHAIN "forward"

/* Messages that the kernel obeys as one. */
struct batch {
	_Alignas(16) char buf[4096];
	struct mnl_nlmsg_batch *b;
	uint8_t family;
	uint32_t seq;
};

static struct nlmsghdr *begin_message(struct batch *b, uint16_t type,
				      uint16_t flags, uint16_t res_id)
{
	struct nlmsghdr *nlh =
		mnl_nlmsg_put_header(mnl_nlmsg_batch_current(b->b));
	struct nfgenmsg *g;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++b->seq;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	g->nfgen_family = b->family;
	g->version = NFNETLINK_V0;
	g->res_id = htons(res_id);
	return nlh;
}

static struct nlmsghdr *begin_change(struct batch *b, uint16_t what,
				     uint16_t flags)
{
	return begin_message(b, NFNL_SUBSYS_NFTABLES << 8 | what,
			     flags | NLM_F_ACK, 0);
}

static void end_message(struct batch *b)
{
	(void)mnl_nlmsg_batch_next(b->b);
}

/* ---- what is in them ---- */

static void put_u32(struct nlmsghdr *nlh, uint16_t type, uint32_t value)
{
	mnl_attr_put_u32(nlh, type, htonl(value));
}

/* One expression of a rule: its name, and the beginning of its data. */
struct expression {
	struct nlattr *element, *data;
};

static struct expression begin_expression(struct nlmsghdr *nlh,
					  const char *name)
{
	struct expression e;

	e.element = mnl_attr_nest_start(nlh, NFTA_LIST_ELEM);
	mnl_attr_put_strz(nlh, NFTA_EXPR_NAME, name);
	e.data = mnl_attr_nest_start(nlh, NFTA_EXPR_DATA);
	return e;
}

static void end_expression(struct nlmsghdr *nlh, struct expression e)
{
	mnl_attr_nest_end(nlh, e.data);
	mnl_attr_nest_end(nlh, e.element);
}

/* The name of the link that a packet came or leaves by is text: n bytes of it. */
static void put_link(struct nlmsghdr *nlh, uint32_t key, const char *text,
		     size_t n)
{
	char name[NET_NAME_LEN] = "";
	struct expression e = begin_expression(nlh, "meta");
	struct nlattr *data;

	put_u32(nlh, NFTA_META_KEY, key);
	put_u32(nlh, NFTA_META_DREG, NFT_REG_1);
	end_expression(nlh, e);
	strncpy(name, text, sizeof(name) - 1);
	e = begin_expression(nlh, "cmp");
	put_u32(nlh, NFTA_CMP_SREG, NFT_REG_1);
	put_u32(nlh, NFTA_CMP_OP, NFT_CMP_EQ);
	data = mnl_attr_nest_start(nlh, NFTA_CMP_DATA);
	mnl_attr_put(nlh, NFTA_DATA_VALUE, n, name);
	mnl_attr_nest_end(nlh, data);
	end_expression(nlh, e);
}

static void put_limit(struct nlmsghdr *nlh, uint64_t rate)
{
	struct expression e = begin_expression(nlh, "limit");

	mnl_attr_put_u64(nlh, NFTA_LIMIT_RATE, htobe64(rate));
	mnl_attr_put_u64(nlh, NFTA_LIMIT_UNIT, htobe64(1));
	put_u32(nlh, NFTA_LIMIT_BURST, BURST);
	put_u32(nlh, NFTA_LIMIT_TYPE, NFT_LIMIT_PKT_BYTES);
	put_u32(nlh, NFTA_LIMIT_FLAGS, NFT_LIMIT_F_INV); /* what is above it */
	end_expression(nlh, e);
}

static void put_drop(struct nlmsghdr *nlh)
{
	struct expression e = begin_expression(nlh, "immediate");
	struct nlattr *data, *verdict;

	put_u32(nlh, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = mnl_attr_nest_start(nlh, NFTA_IMMEDIATE_DATA);
	verdict = mnl_attr_nest_start(nlh, NFTA_DATA_VERDICT);
	put_u32(nlh, NFTA_VERDICT_CODE, NF_DROP);
	mnl_attr_nest_end(nlh, verdict);
	mnl_attr_nest_end(nlh, data);
	end_expression(nlh, e);
}

/* ---- messages ---- */

static void put_table(struct batch *b, const struct net_share *s, uint16_t what,
		      uint16_t flags)
{
	struct nlmsghdr *nlh = begin_change(b, what, flags);

	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, s->table);
	end_message(b);
}

static void put_chain(struct batch *b, const struct net_share *s)
{
	struct nlmsghdr *nlh = begin_change(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	struct nlattr *hook;

	mnl_attr_put_strz(nlh, NFTA_CHAIN_TABLE, s->table);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_NAME, CHAIN);
	hook = mnl_attr_nest_start(nlh, NFTA_CHAIN_HOOK);
	put_u32(nlh, NFTA_HOOK_HOOKNUM, NF_INET_FORWARD); /* a bridge's, too */
	put_u32(nlh, NFTA_HOOK_PRIORITY, 0);
	mnl_attr_nest_end(nlh, hook);
	put_u32(nlh, NFTA_CHAIN_POLICY, NF_ACCEPT);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_TYPE, "filter");
	end_message(b);
}

static void put_rule(struct batch *b, const struct net_share *s, bool out)
{
	struct nlmsghdr *nlh =
		begin_change(b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
	struct nlattr *all;

	mnl_attr_put_strz(nlh, NFTA_RULE_TABLE, s->table);
	mnl_attr_put_strz(nlh, NFTA_RULE_CHAIN, CHAIN);
	all = mnl_attr_nest_start(nlh, NFTA_RULE_EXPRESSIONS);
	put_link(nlh, out ? NFT_META_IIFNAME : NFT_META_OIFNAME, s->guests,
		 strlen(s->guests));
	if (!s->bridge)
		put_link(nlh, out ? NFT_META_OIFNAME : NFT_META_IIFNAME,
			 s->uplink, NET_NAME_LEN);
	put_limit(nlh, s->rate);
	put_drop(nlh);
	mnl_attr_nest_end(nlh, all);
	end_message(b);
}

/* ---- and what the kernel says ---- */

/* Each change is answered, in any case: the first that failed counts. */
static int hear(struct mnl_socket *nl, unsigned answers)
{
	_Alignas(16) char buf[8192];
	int verdict = 0;

	while (answers) {
		ssize_t n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		const struct nlmsghdr *nlh = (void *)buf;
		int left = (int)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		for (; mnl_nlmsg_ok(nlh, left);
		     nlh = mnl_nlmsg_next(nlh, &left)) {
			const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);

			if (nlh->nlmsg_type != NLMSG_ERROR)
				continue;
			verdict = verdict ? verdict : e->error;
			/* Of the whole batch, as of a kernel without nftables. */
			if (e->msg.nlmsg_type == NFNL_MSG_BATCH_BEGIN)
				return verdict;
			answers -= answers > 0;
		}
	}
	return verdict;
}

static int send_batch(struct batch *b, unsigned answers)
{
	struct mnl_socket *nl =
		mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	int on = 1, r;

	if (!nl)
		return -errno;
	mnl_socket_setsockopt(nl, NETLINK_CAP_ACK, &on, sizeof(on));
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(nl, mnl_nlmsg_batch_head(b->b),
			      mnl_nlmsg_batch_size(b->b)) < 0)
		r = -errno;
	else
		r = hear(nl, answers);
	mnl_socket_close(nl);
	return r;
}

static void batch_begin(struct batch *b, const struct net_share *s)
{
	b->b = mnl_nlmsg_batch_start(b->buf, sizeof(b->buf));
	b->family = AF_UNSPEC;
	b->seq = 0;
	begin_message(b, NFNL_MSG_BATCH_BEGIN, 0, NFNL_SUBSYS_NFTABLES);
	end_message(b);
	b->family = s->bridge ? NFPROTO_BRIDGE : NFPROTO_IPV4;
}

static int batch_send(struct batch *b, unsigned answers)
{
	int r;

	b->family = AF_UNSPEC;
	begin_message(b, NFNL_MSG_BATCH_END, 0, NFNL_SUBSYS_NFTABLES);
	end_message(b);
	r = send_batch(b, answers);
	mnl_nlmsg_batch_stop(b->b);
	return r;
}

/* Made, removed and made, so that the old one is replaced at one instant. */
static int make_table(const struct net_share *s)
{
	struct batch b;

	batch_begin(&b, s);
	put_table(&b, s, NFT_MSG_NEWTABLE, NLM_F_CREATE);
	put_table(&b, s, NFT_MSG_DELTABLE, 0);
	put_table(&b, s, NFT_MSG_NEWTABLE, NLM_F_CREATE);
	put_chain(&b, s);
	put_rule(&b, s, true);
	put_rule(&b, s, false);
	return batch_send(&b, 6);
}

/* No table, and a kernel that knows none, is what is wanted. */
static int remove_table(const struct net_share *s)
{
	struct batch b;
	int r;

	batch_begin(&b, s);
	put_table(&b, s, NFT_MSG_DELTABLE, 0);
	r = batch_send(&b, 1);
	return r == -ENOENT || r == -EOPNOTSUPP || r == -EPROTONOSUPPORT ||
			       r == -EINVAL || r == -EPERM
		       ? 0
		       : r;
}

static bool has_table(const struct net_share *s)
{
	struct net_request req;
	struct nfgenmsg *g;
	struct net *net;
	int r = net_open_family(NETLINK_NETFILTER, &net, NULL);

	if (r < 0)
		return false;
	g = net_request_init(&req, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE,
			     0, sizeof(*g));
	g->nfgen_family = s->bridge ? NFPROTO_BRIDGE : NFPROTO_IPV4;
	mnl_attr_put_strz(req.nlh, NFTA_TABLE_NAME, s->table);
	r = net_request_call(net, &req, NULL, NULL);
	net_close(net);
	return !r;
}

int net_share_set(const struct net_share *share, const struct net_share *before,
		  struct error *err)
{
	bool same = before && before->rate == share->rate;
	int r;

	if (same && (!share->rate || has_table(share)))
		return 0;
	r = share->rate ? make_table(share) : remove_table(share);
	return r < 0 ? error_sys(err, r, "a table of nftables") : 0;
}
