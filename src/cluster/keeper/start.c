/*
 * start.c - a rank's beginning and its end
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cluster/host/identity.h"
#include "cluster/keeper/priv.h"
#include "core/installed.h"
#include "core/xalloc.h"
#include "model/terms.h"

enum { PMI_FD_IN_RANK = 3 };

/* ---- the capsule */

static int capsule_what(const Keeper__Capsule *cap, struct capsule_spec *spec,
			struct error *err)
{
	unsigned m[6];

	spec->prefix = cap->prefix;
	spec->mtu = cap->mtu;
	spec->cpu_weight = cap->cpu_share;
	spec->uplink = *cap->uplink ? cap->uplink : NULL;
	if (!*cap->address || !strcmp(cap->mode, "none")) {
		spec->net = CAPSULE_NET_NONE;
	} else if (!*cap->mode || !strcmp(cap->mode, "routed")) {
		spec->net = CAPSULE_NET_ROUTED;
	} else if (!strcmp(cap->mode, "bridge")) {
		spec->net = CAPSULE_NET_BRIDGE;
		spec->uplink = cap->bridge;
	} else {
		return error_set(err, -EINVAL,
				 "network mode '%s': say routed, "
				 "bridge or none",
				 cap->mode);
	}
	if (*cap->address &&
	    inet_pton(AF_INET, cap->address, &spec->address) != 1)
		return error_set(err, -EINVAL, "'%s' is not an IPv4 address",
				 cap->address);
	if (!*cap->mac)
		return 0;
	if (sscanf(cap->mac, "%2x:%2x:%2x:%2x:%2x:%2x", &m[0], &m[1], &m[2],
		   &m[3], &m[4], &m[5]) != 6)
		return error_set(err, -EINVAL, "'%s' is not a MAC address",
				 cap->mac);
	for (int i = 0; i < 6; i++)
		spec->mac[i] = (uint8_t)m[i];
	return 0;
}

static char *hosts_text(const Keeper__Capsule *cap)
{
	char *text = NULL;
	size_t size;
	FILE *to = xmemstream(&text, &size);

	for (size_t i = 0; i < cap->n_hosts; i++)
		fprintf(to, "%s\t%s\n", cap->hosts[i]->address,
			cap->hosts[i]->name);
	if (fclose(to))
		abort(); /* out of memory */
	return text;
}

static int on_capsule(sd_event_source *src, int fd, uint32_t events, void *ctx);

/* What our host lets a rank be, whatever its controller says. */
static int check_identity(const struct keeper_rank *rank,
			  const struct capsule_spec *spec, struct error *err)
{
	const struct owner_terms terms = { .guests_of =
						   (char *)rank->k->guests_of };
	struct identity id = { .name = NULL };
	int r = identity_check_uid(spec->uid, rank->k->min_uid, "[agent]", err);

	if (!r && terms.guests_of) {
		r = identity_by_uid(spec->uid, &id, err);
		if (!r && !rank->owners && !owner_terms_admit(&terms, id.name))
			r = error_set(err, -EPERM,
				      "the owner of this host lets in no "
				      "guests of %s (guests-of in [owner])",
				      id.name);
		identity_clear(&id);
	}
	return r < 0 ? r
		     : identity_check_groups(spec->uid, spec->gid, spec->groups,
					     spec->nr_groups, rank->k->min_gid,
					     err);
}

/* Whose own host this is. */
static bool is_owners(const struct keeper_rank *rank, uint32_t uid)
{
	const struct owner_terms named = { .guests_of =
						   (char *)rank->k->owners };
	struct identity id = { .name = NULL };
	bool own = named.guests_of && identity_by_uid(uid, &id, NULL) >= 0 &&
		   owner_terms_admit(&named, id.name);

	identity_clear(&id);
	return own;
}

/*
 * Each life of the rank has a capsule name of its own: the capsule of the one
 * before may still be going.
 */
static char *capsule_name(const struct keeper_rank *rank)
{
	return rank->k->first_epoch
		       ? xasprintf("%s.%u.%" PRIu64, rank->id.job,
				   rank->id.rank, rank->k->first_epoch)
		       : xasprintf("%s.%u", rank->id.job, rank->id.rank);
}

static int watch_capsule(struct keeper_rank *rank, struct error *err)
{
	int r = sd_event_add_io(rank->k->event, &rank->capsule_source,
				capsule_event_fd(rank->capsule), EPOLLIN,
				on_capsule, rank);

	return r < 0 ? error_sys(err, r, "sd-event") : 0;
}

int keeper_make_capsule(struct keeper_rank *rank, const Keeper__Capsule *cap,
			uint32_t uid, uint32_t gid, const uint32_t *groups,
			size_t nr_groups, struct error *err)
{
	Keeper__Capsule none = KEEPER__CAPSULE__INIT;
	char *name = capsule_name(rank);
	char *hosts;
	struct capsule_spec spec = {
		.name = name,
		.run_dir = rank->id.run_dir,
		.uid = uid,
		.gid = gid,
		.groups = groups,
		.nr_groups = nr_groups,
		.keep_tmp = (const char *const *)rank->keep_tmp,
		.lands = rank->state == KEEPER__STATE__RECEIVING,
		.plugs = rank->state != KEEPER__STATE__RECEIVING,
		.limits = rank->limits,
	};
	int r;

	rank->owners = is_owners(rank, uid);
	spec.bound = !rank->owners;
	cap = cap ? cap : &none;
	hosts = hosts_text(cap);
	spec.hosts = hosts;
	if (!rank->hostname)
		rank->hostname = *cap->hostname
					 ? xstrdup(cap->hostname)
					 : xasprintf("%s-%u", rank->id.job,
						     rank->id.rank);
	spec.hostname = rank->hostname;
	r = check_identity(rank, &spec, err);
	if (!r)
		r = capsule_what(cap, &spec, err);
	if (!r)
		r = capsule_create(&spec, &rank->capsule, err);
	if (!r)
		r = watch_capsule(rank, err);
	free(hosts);
	free(name);
	return r < 0 ? r : 0;
}

/* ---- START */

/* Add p[0..n) to a NULL-terminated array, as copies. */
static void append_texts(char ***list, size_t *nr, char **p, size_t n)
{
	*list = xreallocarray(*list, *nr + n + 1, sizeof(**list));
	for (size_t i = 0; i < n; i++)
		(*list)[(*nr)++] = xstrdup(p[i]);
	(*list)[*nr] = NULL;
}

static void free_list(char ***list, size_t *nr)
{
	for (size_t i = 0; *list && i < *nr; i++)
		free((*list)[i]);
	free(*list);
	*list = NULL;
	*nr = 0;
}

/* The capsule has its own /tmp; what a START names there is shown in it. */
static void keep_tmp(struct keeper_rank *rank, const char *path, size_t *nr)
{
	if (!strncmp(path, "/tmp/", 5) && !access(path, F_OK))
		append_texts(&rank->keep_tmp, nr, (char *[]){ (char *)path },
			     1);
}

/* The library against MPI_Finalize's deadlock, for this process and its forks. */
static char *preload;

void keeper_prepare(void)
{
	if (!preload)
		preload = installed_find("../pmi/libstint-pmi.so",
					 STINT_PMI_PRELOAD);
}

static int begin_pmi(struct keeper_rank *rank, const Keeper__Pmi *pmi,
		     size_t *nr_tmp, struct error *err)
{
	keeper_prepare();
	if (!preload)
		return error_set(err, -ELIBACC,
				 "%s is not there; it comes with Stint, and "
				 "ranks need it",
				 STINT_PMI_PRELOAD);
	keep_tmp(rank, preload, nr_tmp);
	pmi_env_add(&rank->env, PMI_FD_IN_RANK, rank->id.rank, pmi->size,
		    *pmi->device ? pmi->device : "eth0", preload);
	pmi_env_name(&rank->env, rank->id.job, rank->id.rank, pmi->size);
	return pmi_server_create(rank->id.rank, pmi->size, pmi->kvsname,
				 &keeper_pmi_exchange, rank, &rank->pmi, err);
}

/* What it prints to, by descriptor. */
static size_t list_files(const Keeper__Start *start, struct capsule_file to[2])
{
	const Keeper__OutputFile *of[2] = { start->output,
					    start->error ? start->error
							 : start->output };
	size_t n = 0;

	for (int i = 0; i < 2; i++)
		if (of[i])
			to[n++] = (struct capsule_file){
				.as = STDOUT_FILENO + i,
				.folder = of[i]->folder,
				.path = of[i]->path,
			};
	return n;
}

static size_t list_limits(const Keeper__Start *start,
			  struct capsule_rlimit to[CAPSULE_RLIMITS])
{
	size_t n = 0;

	for (; n < start->n_limits && n < CAPSULE_RLIMITS; n++)
		to[n] = (struct capsule_rlimit){
			.resource = (int)start->limits[n]->resource,
			.limit = { .rlim_cur = start->limits[n]->soft,
				   .rlim_max = start->limits[n]->hard },
		};
	return n;
}

static size_t list_ends(const struct keeper_rank *rank,
			struct capsule_fd to[EXT_MAX])
{
	const int as[EXT_MAX] = { [EXT_STDIN] = STDIN_FILENO,
				  [EXT_STDOUT] = STDOUT_FILENO,
				  [EXT_STDERR] = STDERR_FILENO,
				  [EXT_PMI] = PMI_FD_IN_RANK };
	size_t n = 0;

	for (int ext = 0; ext < EXT_MAX; ext++)
		if (rank->end[ext].near >= 0)
			to[n++] = (struct capsule_fd){ rank->end[ext].near,
						       as[ext] };
	return n;
}

static int exec_rank(struct keeper_rank *rank, const Keeper__Start *start,
		     struct error *err)
{
	struct capsule_fd fds[EXT_MAX];
	struct capsule_file files[2];
	struct capsule_rlimit limits[CAPSULE_RLIMITS];
	struct capsule_program prog = {
		.argv = (const char *const *)rank->argv,
		.env = (const char *const *)rank->env,
		.cwd = *start->cwd ? start->cwd : NULL,
		.fds = fds,
		.nr_fds = list_ends(rank, fds),
		.files = files,
		.nr_files = list_files(start, files),
		.limits = limits,
		.nr_limits = list_limits(start, limits),
		.umask = start->umask,
		.ns_pid = CAPSULE_RANK_PID,
		.own_group = true,
	};

	return capsule_exec(rank->capsule, &prog, &rank->pid, err);
}

static int settle_limits(struct keeper_rank *rank, const Keeper__Capsule *cap,
			 struct error *err)
{
	const struct limits asked = { .memory = cap->memory_max,
				      .pids = cap->pids_max,
				      .cpus = cap->milli_cpus };

	return limits_settle(&asked, &rank->k->terms, &rank->limits, err);
}

static int begin_rank(struct keeper_rank *rank, const Keeper__Start *start,
		      Keeper__Begun *begun, struct error *err)
{
	/* Error goes where output does, unless it has a file of its own. */
	const bool files[2] = { start->output, start->output || start->error };
	size_t nr_tmp = 0;
	int r;

	if (!rank->nr_argv)
		return error_set(err, -EINVAL, "START without a program");
	append_texts(&rank->env, &rank->nr_env, NULL,
		     0); /* at least the NULL */
	append_texts(&rank->keep_tmp, &nr_tmp, NULL, 0);
	keep_tmp(rank, start->cwd, &nr_tmp);
	for (size_t i = 0; i < rank->nr_argv; i++)
		keep_tmp(rank, rank->argv[i], &nr_tmp);
	if (start->output)
		keep_tmp(rank, start->output->folder, &nr_tmp);
	if (start->error)
		keep_tmp(rank, start->error->folder, &nr_tmp);
	r = start->pmi ? begin_pmi(rank, start->pmi, &nr_tmp, err) : 0;
	if (!r)
		r = keeper_make_ends(rank, start->pmi, files, err);
	if (!r)
		r = settle_limits(rank, start->capsule, err);
	if (!r)
		r = keeper_make_capsule(rank, start->capsule, start->uid,
					start->gid, start->groups,
					start->n_groups, err);
	if (!r)
		r = capsule_plug(rank->capsule, err);
	/* A file server that does not answer is the user's, wherever the rank is. */
	if (r < 0)
		*begun = r == -ETIMEDOUT ? KEEPER__BEGUN__NOT_BEGUN
					 : KEEPER__BEGUN__NOT_BEGUN_HERE;
	if (!r) {
		r = exec_rank(rank, start, err);
		*begun = capsule_not_begun(rank->capsule)
				 ? KEEPER__BEGUN__NOT_BEGUN
				 : KEEPER__BEGUN__BEGUN_UNKNOWN;
	}
	keeper_close_near(rank);
	if (r < 0)
		return r;
	rank->io.in_eof = !start->stdin_open;
	r = keeper_io_begin(rank, err);
	return r < 0 ? r : keeper_pmi_begin(rank, err);
}

/* Back to EMPTY, so that a better START may follow. */
void keeper_clear_rank(struct keeper_rank *rank)
{
	size_t n = 0;

	keeper_drop_capsule(rank);
	keeper_forget_start(rank);
	for (int ext = 0; ext < EXT_MAX; ext++)
		keeper_end_close(&rank->end[ext]);
	keeper_close_near(rank);
	pmi_server_destroy(rank->pmi);
	rank->pmi = NULL;
	for (char **p = rank->keep_tmp; p && *p; p++)
		n++;
	free_list(&rank->keep_tmp, &n);
	free(rank->hostname);
	rank->hostname = NULL;
	rank->state = KEEPER__STATE__EMPTY;
}

void keeper_forget_start(struct keeper_rank *rank)
{
	free_list(&rank->argv, &rank->nr_argv);
	/* pmi_env_add() may have added some: count again. */
	for (rank->nr_env = 0; rank->env && rank->env[rank->nr_env];
	     rank->nr_env++)
		;
	free_list(&rank->env, &rank->nr_env);
	rank->given = (struct arguments){ .bytes = 0 };
	rank->skips = false;
}

/* They come in any number of pieces. */
static int take_piece(struct keeper_rank *rank, const Keeper__Start *start,
		      struct error *err)
{
	int r = arguments_add(&rank->given, start->argv, start->n_argv, err);

	if (!r)
		r = arguments_add(&rank->given, start->env, start->n_env, err);
	if (r < 0)
		return r;
	append_texts(&rank->argv, &rank->nr_argv, start->argv, start->n_argv);
	append_texts(&rank->env, &rank->nr_env, start->env, start->n_env);
	return 0;
}

void keeper_on_start(struct keeper *k, const Keeper__Request *req)
{
	struct keeper_rank *rank = &k->rank;
	const Keeper__Start *start = req->start;
	Keeper__Started started = KEEPER__STARTED__INIT;
	Keeper__Begun begun = KEEPER__BEGUN__NOT_BEGUN;
	struct error err = ERROR_INIT;
	int r;

	if (rank->state != KEEPER__STATE__EMPTY) {
		r = error_set(&err, -EBUSY, "this keeper has a rank already");
		keeper_answer_failed(k, req->id, r, &err);
		return;
	}
	if (rank->skips) {
		rank->skips = start->more;
		return;
	}
	r = take_piece(rank, start, &err);
	if (!r && start->more)
		return;
	if (!r)
		r = start->capsule
			    ? begin_rank(rank, start, &begun, &err)
			    : error_set(&err, -EINVAL, "START without capsule");
	keeper_forget_start(rank);
	if (r < 0) {
		keeper_clear_rank(rank);
		rank->skips = start->more;
		keeper_answer_not_started(k, req->id, r, begun, &err);
		return;
	}
	rank->state = KEEPER__STATE__RUNNING;
	keeper_fast_path_begin(rank, true);
	started.pid = (uint32_t)rank->pid;
	keeper_tell(k, req->id, KEEPER__EVENT__BODY_STARTED, &started, true);
}

/* ---- the end */

static void on_rank_end(struct keeper_rank *rank,
			const struct capsule_event *ev)
{
	if (rank->have_exit)
		return;
	rank->have_exit = true;
	rank->exit = *ev;
	rank->exit_killed = rank->ending && ev->at >= rank->ending_at;
	keeper_maybe_exited(rank);
}

static int on_capsule(sd_event_source *src, int fd, uint32_t events, void *ctx)
{
	struct keeper_rank *rank = ctx;
	struct capsule_event ev;
	int r;

	while (rank->capsule &&
	       (r = capsule_next_event(rank->capsule, &ev)) > 0) {
		if (ev.what == CAPSULE_EXIT && ev.ns_pid != CAPSULE_RANK_PID)
			continue;
		if (ev.what == CAPSULE_GONE) {
			sd_event_source_set_enabled(src, SD_EVENT_OFF);
			/* The rank was killed with its init. */
			ev.status = SIGKILL;
		}
		on_rank_end(rank, &ev);
		break;
	}
	return 0;
}
