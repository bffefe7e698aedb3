/*
 * multicast.c - the multicast groups that a UDP socket is a member of
 *
 * No system call lists them.  But the one that reads the source filter of a group on an
 * interface (MCAST_MSFILTER) fails unless the socket is a member.  All groups that any
 * socket has joined are in /proc/net/igmp and igmp6; as these are few, each is asked
 * for.
 */
#include "move/sock/multicast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/xalloc.h"
#include "move/fdkit/source.h"
#include "move/proc/proc.h"
#include "move/sock/options.h"
#include "move/wire/append.h"

#define SOURCES_MOST 512 /* net.ipv4.igmp_max_msf is 10, mld_max_msf 64 */

static size_t length_of(int level)
{
	return level == IPPROTO_IP ? sizeof(struct sockaddr_in)
				   : sizeof(struct sockaddr_in6);
}

static int add_group(Fds__Inet *inet, int fd, int level,
		     const struct group_filter *f, struct error *err)
{
	Fds__Membership *m = append_new(&fds__membership__descriptor);
	char name[IF_NAMESIZE];
	int r;

	inet->membership = xreallocarray(inet->membership,
					 inet->n_membership + 1, sizeof(m));
	inet->membership[inet->n_membership++] = m;
	r = sockopt_interface_name(fd, f->gf_interface, name);
	if (r < 0)
		return error_sys(err, r, "interface %u", f->gf_interface);
	m->interface = xstrdup(name);
	m->include = f->gf_fmode == MCAST_INCLUDE;
	m->group = append_bytes(&f->gf_group, length_of(level));
	m->source = xcalloc(f->gf_numsrc + 1, sizeof(*m->source));
	for (uint32_t i = 0; i < f->gf_numsrc; i++)
		m->source[m->n_source++] =
			append_bytes(&f->gf_slist[i], length_of(level));
	return 0;
}

/* If the socket is a member of that group, append it, and which sources it wants. */
static int ask_group(Fds__Inet *inet, int fd, int level, uint32_t interface,
		     const void *group, struct error *err)
{
	socklen_t n = GROUP_FILTER_SIZE(SOURCES_MOST);
	struct group_filter *f = xcalloc(1, n);
	int r = 0;

	f->gf_interface = interface;
	memcpy(&f->gf_group, group, length_of(level));
	f->gf_numsrc = SOURCES_MOST;
	if (getsockopt(fd, level, MCAST_MSFILTER, f, &n) < 0)
		r = errno == EADDRNOTAVAIL
			    ? 0
			    : error_sys(err, -errno, "multicast membership");
	else if (f->gf_numsrc > SOURCES_MOST)
		r = error_set(err, -ENOTSUP,
			      "a multicast group with a filter of %u sources",
			      f->gf_numsrc);
	else
		r = add_group(inet, fd, level, f, err);
	free(f);
	return r;
}

/*
 * "1  lo : 1 V3" tells the interface of the lines that follow, each of which
 * begins with a tab and a group, as the kernel holds its four bytes.
 */
static int ask_igmp(Fds__Inet *inet, int fd, const char *text,
		    struct error *err)
{
	struct sockaddr_in group = { .sin_family = AF_INET };
	uint32_t interface = 0;
	int r = 0;

	for (const char *p = strchr(text, '\n'); p && *++p && !r;
	     p = strchr(p, '\n')) {
		if (*p != '\t') {
			interface = (uint32_t)strtoul(p, NULL, 10);
			continue;
		}
		group.sin_addr.s_addr = (uint32_t)strtoul(p, NULL, 16);
		r = ask_group(inet, fd, IPPROTO_IP, interface, &group, err);
	}
	return r;
}

/* "1 lo ff020000000000000000000000000001 1 0000000C 0" */
static int ask_igmp6(Fds__Inet *inet, int fd, const char *text,
		     struct error *err)
{
	struct sockaddr_in6 group = { .sin6_family = AF_INET6 };
	int r = 0;

	for (const char *p = text; p && *p && !r;
	     p = strchr(p, '\n'), p = p ? p + 1 : p) {
		unsigned char *byte = group.sin6_addr.s6_addr;
		unsigned interface;
		char hex[33];
		int i = 0;

		if (sscanf(p, "%u %*s %32[0-9a-f]", &interface, hex) != 2)
			continue;
		while (i < 16 && sscanf(hex + 2 * i, "%2hhx", &byte[i]) == 1)
			i++;
		if (i == 16)
			r = ask_group(inet, fd, IPPROTO_IPV6, interface, &group,
				      err);
	}
	return r;
}

int multicast_get(pid_t pid, int fd, Fds__Socket *m, struct error *err)
{
	static const struct {
		const char *file;
		int family;
		int (*ask)(Fds__Inet *inet, int fd, const char *text,
			   struct error *err);
	} kind[] = {
		/* IPv6 sockets may join groups of IPv4, too */
		{ "net/igmp", AF_INET, ask_igmp },
		{ "net/igmp6", AF_INET6, ask_igmp6 },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(kind) / sizeof(*kind) && !r; i++) {
		char *text;

		/* a kernel without that family or without multicast */
		if (kind[i].family > m->family ||
		    proc_read(pid, kind[i].file, &text, NULL) < 0)
			continue;
		r = kind[i].ask(m->inet, fd, text, err);
		free(text);
	}
	return r;
}

/* Set the filter: all sources but those listed, or those alone. */
static int filter(int fd, int level, const Fds__Membership *m,
		  uint32_t interface, struct error *err)
{
	size_t size = GROUP_FILTER_SIZE(m->n_source);
	struct group_filter *f = xcalloc(1, size);
	int r = 0;

	f->gf_interface = interface;
	memcpy(&f->gf_group, m->group.data, m->group.len);
	f->gf_fmode = m->include ? MCAST_INCLUDE : MCAST_EXCLUDE;
	f->gf_numsrc = (uint32_t)m->n_source;
	for (size_t i = 0; i < m->n_source; i++)
		memcpy(&f->gf_slist[i], m->source[i].data, m->source[i].len);
	if (setsockopt(fd, level, MCAST_MSFILTER, f, (socklen_t)size) < 0)
		r = error_sys(err, -errno, "sources of a multicast group");
	free(f);
	return r;
}

static int join_group(int fd, const Fds__Membership *m, struct error *err)
{
	struct group_req req = { .gr_interface = 0 };
	int level, r;

	r = sockopt_interface_index(fd, m->interface, &req.gr_interface, err);
	if (r < 0)
		return r;
	memcpy(&req.gr_group, m->group.data, m->group.len);
	level = req.gr_group.ss_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
	if (setsockopt(fd, level, MCAST_JOIN_GROUP, &req, sizeof(req)) < 0)
		return error_sys(err, -errno, "joining a multicast group");
	return m->include || m->n_source
		       ? filter(fd, level, m, req.gr_interface, err)
		       : 0;
}

int multicast_join(int fd, const Fds__Socket *m, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < m->inet->n_membership && !r; i++)
		r = join_group(fd, m->inet->membership[i], err);
	return r;
}
