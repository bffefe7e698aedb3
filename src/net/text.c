/* text.c - addresses as people write them, see net.h */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "core/units.h"
#include "net/net.h"

int net_parse_cidr(const char *text, struct in_addr *ret, unsigned *ret_prefix,
		   struct error *err)
{
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	int64_t prefix = 32;
	struct in_addr addr;
	char dotted[INET_ADDRSTRLEN];

	if (n >= sizeof(dotted))
		n = 0;
	memcpy(dotted, text, n);
	dotted[n] = 0;
	if (inet_pton(AF_INET, dotted, &addr) != 1)
		return error_set(
			err, -EINVAL,
			"'%s' is not an IPv4 address such as 10.77.0.1/16",
			text);
	if (slash &&
	    parse_int(slash + 1, 0, 32, "prefix length", &prefix, err) < 0)
		return -EINVAL;
	*ret = addr;
	*ret_prefix = prefix;
	return 0;
}

void net_mac_of(struct in_addr addr, uint8_t *ret)
{
	ret[0] = 0x02;
	ret[1] = 0x53;
	memcpy(ret + 2, &addr, 4);
}

const char *net_addr_text(struct in_addr addr, char *buf)
{
	inet_ntop(AF_INET, &addr, buf, NET_TEXT);
	return buf;
}
