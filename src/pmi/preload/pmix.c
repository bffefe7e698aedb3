/*
 * pmix.c - a PMIx server inside the rank, where Open MPI finds its job
 *
 * Open MPI asks a PMIx server who its peers are and exchanges addresses through
 * it.  That server runs here, in the rank itself: a second copy of libpmix in a
 * link namespace of its own (dlmopen), since one copy cannot be client and
 * server at once.  So the connection between them never leaves the process and
 * moves with it, and the keeper sees only lines of PMI-1 that it checks
 * (pmi/preload/wire.h).  doc/design/30-pmi.md has the other ways that were tried.
 *
 * It begins where a program initializes Open MPI or calls PMIx_Init(), so that
 * neither a shell before it nor a program of MPICH beside it is touched; and
 * libpmix is looked for only then.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmi/preload/preload.h"
#include "pmi/preload/served.h"
#include "pmi/preload/wire.h"

/* Of the second libpmix and the second C library. */
static struct {
	pmix_status_t (*server_init)(pmix_server_module_t *, pmix_info_t[],
				     size_t);
	pmix_status_t (*generate_regex)(const char *, char **);
	pmix_status_t (*generate_ppn)(const char *, char **);
	pmix_status_t (*register_nspace)(const pmix_nspace_t, int,
					 pmix_info_t[], size_t,
					 pmix_op_cbfunc_t, void *);
	pmix_status_t (*register_client)(const pmix_proc_t *, uid_t, gid_t,
					 void *, pmix_op_cbfunc_t, void *);
	pmix_status_t (*setup_fork)(const pmix_proc_t *, char ***);
	pmix_status_t (*info_load)(pmix_info_t *, const char *, const void *,
				   pmix_data_type_t);
	int (*setenv)(const char *, const char *, int);
	void (*free)(void *);
} there;

static uint32_t nr_ranks;
static pmix_proc_t me;
static bool served;

__attribute__((noreturn, format(printf, 1, 2))) static void give_up(
	const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	n = n < (int)sizeof(text) - 1 ? n : (int)sizeof(text) - 2;
	text[n] = '\n';
	(void)!write(STDERR_FILENO, text, (size_t)n + 1);
	_exit(1);
}

/* ---- what the server asks of us, in its own thread ---- */

struct fence {
	pmix_modex_cbfunc_t done;
	void *ctx;
	char *data;
	size_t n;
};

static void *run_fence(void *arg)
{
	struct fence *f = arg;
	void *all = NULL;
	size_t n = 0;
	int r = pmi_wire_fence(f->data, f->n, &all, &n);

	f->done(r ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS, all, n, f->ctx,
		free, all);
	there.free(f->data);
	free(f);
	return NULL;
}

/* Barriers here are of all ranks; others are refused in pmi/preload/refuse.c. */
static bool means_all(const pmix_proc_t procs[], size_t n)
{
	return n == nr_ranks || (n == 1 && procs[0].rank == PMIX_RANK_WILDCARD);
}

/*
 * A thread of its own waits: the server's must hear an abort meanwhile.  data
 * is ours to free, by the C library that it comes from: the program's own free()
 * may be that of another allocator, and even the same one knows its heap only.
 */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n,
			      const pmix_info_t info[], size_t nr_info,
			      char *data, size_t nr_data,
			      pmix_modex_cbfunc_t done, void *ctx)
{
	struct fence *f;
	pthread_t thread;

	if (!means_all(procs, n))
		return PMIX_ERR_NOT_SUPPORTED;
	f = malloc(sizeof(*f));
	if (!f)
		return PMIX_ERR_NOMEM;
	*f = (struct fence){ done, ctx, data, nr_data };
	if (pthread_create(&thread, NULL, run_fence, f)) {
		free(f);
		return PMIX_ERR_NOMEM;
	}
	pthread_detach(thread);
	return PMIX_SUCCESS;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status,
			      const char text[], pmix_proc_t procs[], size_t n,
			      pmix_op_cbfunc_t done, void *ctx)
{
	pmi_wire_abort(status);
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object,
				  pmix_info_t info[], size_t n,
				  pmix_op_cbfunc_t done, void *ctx)
{
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object,
				  pmix_op_cbfunc_t done, void *ctx)
{
	return pmi_wire_finalize() ? PMIX_ERR_LOST_CONNECTION
				   : PMIX_OPERATION_SUCCEEDED;
}

static pmix_server_module_t module = {
	.client_connected2 = on_connected,
	.client_finalized = on_finalized,
	.abort = on_abort,
	.fence_nb = on_fence,
};

/* ---- its start ---- */

/* The libpmix that the program has, or would load. */
static void open_library(void)
{
	void *client = preload_next("PMIx_Init"), *library;
	const char *path = "libpmix.so.2";
	Dl_info info;

	if (client && dladdr(client, &info) && info.dli_fname)
		path = info.dli_fname;
	library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	if (!library)
		give_up("stint: Open MPI finds its job by libpmix, which cannot "
			"be loaded: %s",
			dlerror());
	there.server_init = dlsym(library, "PMIx_server_init");
	there.generate_regex = dlsym(library, "PMIx_generate_regex");
	there.generate_ppn = dlsym(library, "PMIx_generate_ppn");
	there.register_nspace = dlsym(library, "PMIx_server_register_nspace");
	there.register_client = dlsym(library, "PMIx_server_register_client");
	there.setup_fork = dlsym(library, "PMIx_server_setup_fork");
	there.info_load = dlsym(library, "PMIx_Info_load");
	there.setenv = dlsym(library, "setenv");
	there.free = dlsym(library, "free");
	if (!there.server_init || !there.generate_regex ||
	    !there.generate_ppn || !there.register_nspace ||
	    !there.register_client || !there.setup_fork || !there.info_load ||
	    !there.setenv || !there.free)
		give_up("stint: %s is no libpmix of a version that can serve",
			path);
}

static void check_status(const char *what, pmix_status_t status)
{
	if (status && status != PMIX_OPERATION_SUCCEEDED)
		give_up("stint: PMIx for Open MPI: %s failed: %d", what,
			status);
}

/* Files of the conversation between the two copies, in the rank's own /tmp. */
static void start_server(uint32_t rank)
{
	char dir[64], host[32];
	pmix_info_t info[5];

	snprintf(dir, sizeof(dir), "/tmp/stint-pmix.%d", getpid());
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		give_up("stint: PMIx for Open MPI: %s: %s", dir,
			strerror(errno));
	snprintf(host, sizeof(host), "rank%u", rank);
	memset(info, 0, sizeof(info));
	there.info_load(&info[0], PMIX_SERVER_TMPDIR, dir, PMIX_STRING);
	there.info_load(&info[1], PMIX_SYSTEM_TMPDIR, dir, PMIX_STRING);
	there.info_load(&info[2], PMIX_SERVER_NSPACE, "stint", PMIX_STRING);
	there.info_load(&info[3], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
	there.info_load(&info[4], PMIX_HOSTNAME, host, PMIX_STRING);
	/* Its plugins would be loaded into the wrong namespace; what zlib
	 * makes of a fence's data the other side may not have. */
	there.setenv("PMIX_MCA_mca_base_component_disable_dlopen", "1", 1);
	there.setenv("PMIX_MCA_pcompress", "^zlib", 1);
	there.setenv("PMIX_MCA_gds", "hash", 1);
	check_status("PMIx_server_init", there.server_init(&module, info, 5));
}

/* Numbers from 0 to n, each after `before` and parted by c. */
static char *list(uint32_t n, const char *before, char c)
{
	size_t each = strlen(before) + sizeof("4294967295,"), at = 0;
	char *text = malloc(n * each + 1);

	if (!text)
		give_up("stint: PMIx for Open MPI: out of memory");
	for (uint32_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, each + 1, "%s%u%c", before, i,
				       i + 1 < n ? c : '\0');
	return text;
}

/* A node for each rank, so that no two look for memory to share. */
static void tell_job(void)
{
	char *nodes = list(nr_ranks, "rank", ','),
	     *ranks = list(nr_ranks, "", ';');
	char *node_map, *rank_map;
	pmix_info_t info[4];

	memset(info, 0, sizeof(info));
	check_status("PMIx_generate_regex",
		     there.generate_regex(nodes, &node_map));
	check_status("PMIx_generate_ppn", there.generate_ppn(ranks, &rank_map));
	there.info_load(&info[0], PMIX_NODE_MAP, node_map, PMIX_REGEX);
	there.info_load(&info[1], PMIX_PROC_MAP, rank_map, PMIX_REGEX);
	there.info_load(&info[2], PMIX_UNIV_SIZE, &nr_ranks, PMIX_UINT32);
	there.info_load(&info[3], PMIX_JOB_SIZE, &nr_ranks, PMIX_UINT32);
	check_status("PMIx_server_register_nspace",
		     there.register_nspace(me.nspace, 1, info, 4, NULL, NULL));
	check_status("PMIx_server_register_client",
		     there.register_client(&me, getuid(), getgid(), NULL, NULL,
					   NULL));
	free(nodes);
	free(ranks);
}

/* What the client in this process goes by; what the user has set stays. */
static void set_environment(void)
{
	char **env = NULL, *value;

	check_status("PMIx_server_setup_fork", there.setup_fork(&me, &env));
	for (; env && *env; env++) {
		value = strchr(*env, '=');
		if (!value)
			continue;
		*value = '\0';
		setenv(*env, value + 1, 1);
	}
	setenv("PMIX_MCA_gds", "hash", 0); /* no files that it maps */
	/* Open MPI 4 takes itself for a job of one rank unless it believes in
	 * one of the launchers it knows to do without its daemon. */
	setenv("JSM_JSRUN_PORT", "1", 0);
	setenv("OMPI_MCA_btl", "self,tcp", 0);
	/* Debian's configuration of Open MPI 4 takes away pt2pt, too: all that
	 * could do one-sided communication over TCP. */
	setenv("OMPI_MCA_osc", "^ucx", 0);
}

static void begin(void)
{
	char name[PMI_KVSNAME_MAX];
	int r;

	/* Not in a job, or below a launcher in it. */
	if (getenv("PMIX_RANK") || pmi_wire_open(&me.rank, &nr_ranks))
		return;
	r = pmi_wire_begin(name);
	if (r)
		give_up("stint: PMIx for Open MPI: no word from the keeper: %s",
			strerror(-r));
	memset(me.nspace, 0, sizeof(me.nspace));
	memcpy(me.nspace, name,
	       sizeof(name) < sizeof(me.nspace) ? sizeof(name)
						: sizeof(me.nspace) - 1);
	open_library();
	start_server(me.rank);
	tell_job();
	set_environment();
	served = true;
}

/*
 * Serve PMIx to this process, unless it is served already or no rank.  Ends the
 * process with a line that says why where that fails: the alternative is
 * n jobs of one rank each.
 */
static void begin_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
}

const pmix_proc_t *pmix_served(uint32_t *ranks)
{
	*ranks = nr_ranks;
	return served ? &me : NULL;
}

/* All of MPI_Init's forms come to this in Open MPI, which looks at once for the
 * launcher that it is under. */
PRELOAD_EXPORT int ompi_mpi_init(int argc, char **argv, int requested,
				 int *provided, bool again);
int ompi_mpi_init(int argc, char **argv, int requested, int *provided,
		  bool again)
{
	int (*real)(int, char **, int, int *, bool);

	begin_once();
	real = preload_next("ompi_mpi_init");
	return real ? real(argc, argv, requested, provided, again) : -1;
}

/* Sessions, and whoever speaks PMIx without MPI. */
PRELOAD_EXPORT pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[],
				       size_t n)
{
	pmix_status_t (*real)(pmix_proc_t *, pmix_info_t[], size_t);

	begin_once();
	real = preload_next("PMIx_Init");
	return real ? real(proc, info, n) : PMIX_ERR_NOT_SUPPORTED;
}
