/* test_net.c - addresses as text, and frames and requests as bytes */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "net/request.h"

static void cidr_good(void **state)
{
	struct in_addr a;
	unsigned prefix;
	char text[NET_TEXT];

	assert_int_equal(net_parse_cidr("10.77.0.9/16", &a, &prefix, NULL), 0);
	assert_int_equal(prefix, 16);
	assert_string_equal(net_addr_text(a, text), "10.77.0.9");
	assert_int_equal(net_parse_cidr("0.0.0.0/0", &a, &prefix, NULL), 0);
	assert_int_equal(prefix, 0);
	assert_int_equal(net_parse_cidr("255.255.255.255", &a, &prefix, NULL),
			 0);
	assert_int_equal(prefix, 32);
}

static void cidr_bad(void **state)
{
	static const char *const bad[] = {
		"",
		"/",
		"10.77.0",
		"10.77.0.1/",
		"10.0.0.1/33",
		"10.0.0.1/-1",
		"10.0.0.1/8x",
		"10.0.0.256",
		"::1",
		"10.0.0.1 ",
		"1111.1111.1111.1111/8",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	struct in_addr a = { .s_addr = 77 };
	unsigned prefix = 77;
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(net_parse_cidr(bad[i], &a, &prefix, &err),
				 -EINVAL);
		assert_true(err.text[0]);
	}
	assert_int_equal(a.s_addr, 77);
	assert_int_equal(prefix, 77);
}

static void mac(void **state)
{
	struct in_addr a = { .s_addr = htonl(0x0a4d0001) };
	uint8_t m[6];

	net_mac_of(a, m);
	assert_memory_equal(m, "\x02\x53\x0a\x4d\x00\x01", 6);
}

/* Byte for byte what RFC 826 draws. */
static void arp_frames(void **state)
{
	static const uint8_t request[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0x53, 10, 77, 0,
		1,    0x08, 0x06, 0,	1,    0x08, 0,	  6,	4,  0,	1,
		0x02, 0x53, 10,	  77,	0,    1,    10,	  77,	0,  1,	0,
		0,    0,    0,	  0,	0,    10,   77,	  0,	1,
	};
	struct in_addr a = { .s_addr = htonl(0x0a4d0001) };
	uint8_t m[6], frame[NET_ARP_FRAME];

	net_mac_of(a, m);
	net_arp_build(frame, 1, a, m);
	assert_int_equal(sizeof(request), sizeof(frame));
	assert_memory_equal(frame, request, sizeof(frame));
	net_arp_build(frame, 2, a, m);
	assert_int_equal(frame[21], 2);
	assert_memory_equal(frame + 32, m, 6);
}

static void request_is_well_formed(void **state)
{
	struct net_request req;
	struct ndmsg *ndm = net_request_init(&req, RTM_NEWNEIGH, NLM_F_CREATE,
					     sizeof(*ndm));

	assert_int_equal(req.nlh->nlmsg_type, RTM_NEWNEIGH);
	assert_int_equal(req.nlh->nlmsg_flags,
			 NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE);
	mnl_attr_put_u32(req.nlh, NDA_DST, 1);
	assert_true(mnl_nlmsg_ok(req.nlh, sizeof(req.buf)));
	assert_int_equal(req.nlh->nlmsg_len,
			 NLMSG_LENGTH(NLMSG_ALIGN(sizeof(*ndm))) + 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cidr_good),
		cmocka_unit_test(cidr_bad),
		cmocka_unit_test(mac),
		cmocka_unit_test(arp_frames),
		cmocka_unit_test(request_is_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
