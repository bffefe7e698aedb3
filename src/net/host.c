/* host.c - what a host must have set before capsules can be reached on it */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/io.h"
#include "net/request.h"

int net_sysctl(const char *key, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", key);
	return io_write_file(AT_FDCWD, path, value);
}

int net_sysctl_link(const char *table, const char *link, const char *key,
		    const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/%s", table, link, key);
	return net_sysctl(path, value);
}

int net_host_prepare(struct net *net, const char *uplink, struct in_addr pool,
		     unsigned prefix, struct error *err)
{
	/*
	 * Redirects would teach peers a detour by the old host, which they
	 * keep for minutes: wrong after the next move.  Sending is the "or"
	 * of all and the link, hence both.
	 */
	static const struct {
		const char *table, *link, *key, *value;
	} set[] = {
		{ "conf", NULL, "forwarding", "1" },
		{ "conf", NULL, "send_redirects", "0" },
		{ "conf", "all", "send_redirects", "0" },
		{ "conf", NULL, "accept_redirects", "0" },
		{ "neigh", NULL, "proxy_delay", "0" },
	};
	struct net_route route = { .dst = pool, .prefix = prefix };
	struct net_link link;
	int r = net_link_find(net, uplink, &link, err);

	for (unsigned i = 0; !r && i < sizeof(set) / sizeof(set[0]); i++) {
		r = net_sysctl_link(set[i].table,
				    set[i].link ? set[i].link : uplink,
				    set[i].key, set[i].value);
		if (r < 0)
			return error_sys(err, r, "cannot set %s of %s",
					 set[i].key, uplink);
	}
	if (r < 0)
		return r;
	if (prefix < 32)
		route.dst.s_addr &= htonl(prefix ? ~0u << (32 - prefix) : 0);
	route.index = link.index;
	return net_route_put(net, &route, err);
}
