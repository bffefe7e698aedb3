/* resolve.c - names of hosts, see address.h; a file of its own, as it says there */
#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "cluster/conn/address.h"

int address_resolve(const char *text, const char *host, const char *port,
		    struct address *ret, struct error *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_ADDRCONFIG };
	struct addrinfo *found;
	int r = getaddrinfo(host, port, &hints, &found);

	if (r)
		return error_set(err, -EHOSTUNREACH, "%s: %s", text,
				 gai_strerror(r));
	memcpy(&ret->sa, found->ai_addr, found->ai_addrlen);
	ret->len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}
