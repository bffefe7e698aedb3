/* capsule.c - describe the capsule that a rank needs at a host */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/state.h"
#include "core/xalloc.h"
#include "net/net.h"

enum { HOST_LINES_MAX = 256 }; /* jobs with more ranks get no /etc/hosts */

void klink_capsule(const struct ctl_rank *r, const struct ctl_host *h,
		   Keeper__Capsule *ret)
{
	const struct ctl_job *job = r->job;
	char text[NET_TEXT];

	keeper__capsule__init(ret);
	ret->address = xstrdup(net_addr_text(r->address, text));
	ret->mode = h->net;
	ret->memory_max = job->spec->memory;
	ret->pids_max = job->spec->pids;
	ret->milli_cpus = job->spec->milli_cpus;
	if (!strcmp(h->net, "bridge")) {
		ret->bridge = h->uplink;
		ret->prefix = h->prefix;
	} else {
		ret->uplink = h->uplink;
	}
	if (job->nr > HOST_LINES_MAX)
		return;
	ret->hosts = xcalloc(job->nr, sizeof(*ret->hosts));
	for (uint32_t i = 0; i < job->nr; i++) {
		Keeper__HostName *n = xcalloc(1, sizeof(*n));

		keeper__host_name__init(n);
		n->name = xasprintf("%" PRIu64 "-%u", job->id, i);
		n->address =
			xstrdup(net_addr_text(job->ranks[i].address, text));
		ret->hosts[ret->n_hosts++] = n;
	}
}

void klink_capsule_clear(Keeper__Capsule *c)
{
	for (size_t i = 0; i < c->n_hosts; i++) {
		free(c->hosts[i]->name);
		free(c->hosts[i]->address);
		free(c->hosts[i]);
	}
	free(c->hosts);
	free(c->address);
}
