/*
 * arp.c - gratuitous ARP (RFC 826; announcements as in RFC 5227 §3)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

#include "net/request.h"

void net_arp_build(uint8_t frame[NET_ARP_FRAME], unsigned op,
		   struct in_addr addr, const uint8_t *mac)
{
	static const uint8_t head[] = {
		0x08,	     0x06,	   /* EtherType ARP */
		0x00,	     ARPHRD_ETHER, /* hardware */
		0x08,	     0x00,	   /* protocol IPv4 */
		NET_MAC_LEN, 4,
		0x00, /* lengths, high byte of op */
	};
	uint8_t *p = frame;

	memset(p, 0xff, NET_MAC_LEN); /* to everybody */
	memcpy(p + 6, mac, NET_MAC_LEN);
	memcpy(p + 12, head, sizeof(head));
	p[21] = op;
	memcpy(p + 22, mac, NET_MAC_LEN); /* sender */
	memcpy(p + 28, &addr, 4);
	/* A request has no target MAC address; a reply repeats its own. */
	if (op == ARPOP_REPLY)
		memcpy(p + 32, mac, NET_MAC_LEN);
	else
		memset(p + 32, 0, NET_MAC_LEN);
	memcpy(p + 38, &addr, 4);
}

int net_packet_open(struct error *err)
{
	/* Protocol 0: sends only, nothing is ever queued for reading. */
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	return fd < 0 ? error_sys(err, -errno, "cannot open a packet socket")
		      : fd;
}

static int open_here(void *arg, struct error *err)
{
	return net_packet_open(err);
}

int net_packet_open_at(int netns, struct error *err)
{
	return net_visit(netns, open_here, NULL, err);
}

int net_arp_announce(int fd, int index, struct in_addr addr, const uint8_t *mac,
		     struct error *err)
{
	static const unsigned ops[] = { ARPOP_REQUEST, ARPOP_REPLY };
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ARP),
		.sll_ifindex = index,
		.sll_halen = NET_MAC_LEN,
		.sll_addr = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	};
	uint8_t frame[NET_ARP_FRAME];
	char text[NET_TEXT];

	for (unsigned i = 0; i < 2; i++) {
		net_arp_build(frame, ops[i], addr, mac);
		if (sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to,
			   sizeof(to)) < 0)
			return error_sys(err, -errno,
					 "cannot announce %s on link %d",
					 net_addr_text(addr, text), index);
	}
	return 0;
}
