/*
 * refuse.c - what a job of Stint's cannot do through PMIx, or MPI, is an error at
 * once
 *
 * libpmix 4 would wait for ever: for a fence that cannot be, for PMIx_Connect(),
 * for an answer to PMIx_Group_invite(), and at times in PMIx_IOF_push() and when its
 * server watches for heartbeats.  PMIx_Group_construct() without
 * results ends the process by SIGSEGV when the server refuses it.  In a process
 * that has no server of ours (pmi/preload/served.h) all of PMIx goes to the next
 * library.
 */
#include <pmix.h>
#include <pmix_tool.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pmi/preload/preload.h"
#include "pmi/preload/served.h"

/* ---- fences ---- */

/* Each one once, and this rank is among them. */
static pmix_status_t check_ranks(const pmix_proc_t procs[], size_t n,
				 uint32_t me, uint32_t nr_ranks)
{
	bool *named = calloc(nr_ranks, sizeof(*named));
	pmix_status_t status = named ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

	for (size_t i = 0; i < n && !status; i++) {
		if (procs[i].rank >= nr_ranks || named[procs[i].rank])
			status = PMIX_ERR_BAD_PARAM;
		else
			named[procs[i].rank] = true;
	}
	if (!status && !named[me])
		status = PMIX_ERR_BAD_PARAM;
	free(named);
	return status;
}

/* All ranks of this job, or this one alone. */
static pmix_status_t check_fence(const pmix_proc_t procs[], size_t n)
{
	uint32_t nr_ranks;
	const pmix_proc_t *me = pmix_served(&nr_ranks);
	pmix_status_t status;

	if (!me || !procs || !n)
		return PMIX_SUCCESS;
	for (size_t i = 0; i < n; i++)
		if (strncmp(procs[i].nspace, me->nspace, PMIX_MAX_NSLEN) != 0)
			return PMIX_ERR_NOT_SUPPORTED;
	if (n == 1 && procs[0].rank == PMIX_RANK_WILDCARD)
		return PMIX_SUCCESS;
	status = check_ranks(procs, n, me->rank, nr_ranks);
	return status || n == 1 || n == nr_ranks ? status
						 : PMIX_ERR_NOT_SUPPORTED;
}

PRELOAD_EXPORT pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t n,
					const pmix_info_t info[],
					size_t nr_info)
{
	pmix_status_t (*real)(const pmix_proc_t[], size_t, const pmix_info_t[],
			      size_t) = preload_next("PMIx_Fence");
	pmix_status_t status = check_fence(procs, n);

	if (status)
		return status;
	return real ? real(procs, n, info, nr_info) : PMIX_ERR_NOT_SUPPORTED;
}

PRELOAD_EXPORT pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t n,
					   const pmix_info_t info[],
					   size_t nr_info,
					   pmix_op_cbfunc_t done, void *ctx)
{
	pmix_status_t (*real)(const pmix_proc_t[], size_t, const pmix_info_t[],
			      size_t, pmix_op_cbfunc_t, void *) =
		preload_next("PMIx_Fence_nb");
	pmix_status_t status = check_fence(procs, n);

	if (status)
		return status;
	return real ? real(procs, n, info, nr_info, done, ctx)
		    : PMIX_ERR_NOT_SUPPORTED;
}

/* ---- joining other jobs, and groups ---- */

static bool is_served(void)
{
	uint32_t nr_ranks;

	return pmix_served(&nr_ranks) != NULL;
}

/* Defines NAME, whose arguments PARAMS are passed on as ARGS. */
#define REFUSES_PMIX(NAME, PARAMS, ARGS)                          \
	PRELOAD_EXPORT pmix_status_t NAME PARAMS                  \
	{                                                         \
		pmix_status_t(*real) PARAMS =                     \
			is_served() ? NULL : preload_next(#NAME); \
                                                                  \
		return real ? real ARGS : PMIX_ERR_NOT_SUPPORTED; \
	}

#define NAMED	      const char group[]
#define RANKS	      const pmix_proc_t procs[], size_t n
#define INFO	      const pmix_info_t info[], size_t nr_info
#define RESULTS	      pmix_info_t **results, size_t *nr_results
#define LATER	      pmix_op_cbfunc_t done, void *ctx
#define RESULTS_LATER pmix_info_cbfunc_t done, void *ctx
#define LEADER	      const pmix_proc_t *leader, pmix_group_opt_t answer

REFUSES_PMIX(PMIx_Connect, (RANKS, INFO), (procs, n, info, nr_info))
REFUSES_PMIX(PMIx_Connect_nb, (RANKS, INFO, LATER),
	     (procs, n, info, nr_info, done, ctx))
REFUSES_PMIX(PMIx_Disconnect, (RANKS, INFO), (procs, n, info, nr_info))
REFUSES_PMIX(PMIx_Disconnect_nb, (RANKS, INFO, LATER),
	     (procs, n, info, nr_info, done, ctx))
REFUSES_PMIX(PMIx_Group_construct, (NAMED, RANKS, INFO, RESULTS),
	     (group, procs, n, info, nr_info, results, nr_results))
REFUSES_PMIX(PMIx_Group_construct_nb, (NAMED, RANKS, INFO, RESULTS_LATER),
	     (group, procs, n, info, nr_info, done, ctx))
REFUSES_PMIX(PMIx_Group_invite, (NAMED, RANKS, INFO, RESULTS),
	     (group, procs, n, info, nr_info, results, nr_results))
REFUSES_PMIX(PMIx_Group_invite_nb, (NAMED, RANKS, INFO, RESULTS_LATER),
	     (group, procs, n, info, nr_info, done, ctx))
REFUSES_PMIX(PMIx_Group_join, (NAMED, LEADER, INFO, RESULTS),
	     (group, leader, answer, info, nr_info, results, nr_results))
REFUSES_PMIX(PMIx_Group_join_nb, (NAMED, LEADER, INFO, RESULTS_LATER),
	     (group, leader, answer, info, nr_info, done, ctx))
REFUSES_PMIX(PMIx_Group_leave, (NAMED, INFO), (group, info, nr_info))
REFUSES_PMIX(PMIx_Group_leave_nb, (NAMED, INFO, LATER),
	     (group, info, nr_info, done, ctx))
REFUSES_PMIX(PMIx_Group_destruct, (NAMED, INFO), (group, info, nr_info))
REFUSES_PMIX(PMIx_Group_destruct_nb, (NAMED, INFO, LATER),
	     (group, info, nr_info, done, ctx))

/* ---- watching, and others' standard streams ---- */

#define WATCHED	 const pmix_info_t *what, pmix_status_t alert
#define RECEIVER pmix_iof_cbfunc_t got
#define HANDLER	 pmix_hdlr_reg_cbfunc_t done, void *ctx
#define BYTES	 pmix_byte_object_t *bytes

REFUSES_PMIX(PMIx_Process_monitor, (WATCHED, INFO, RESULTS),
	     (what, alert, info, nr_info, results, nr_results))
REFUSES_PMIX(PMIx_Process_monitor_nb, (WATCHED, INFO, RESULTS_LATER),
	     (what, alert, info, nr_info, done, ctx))
REFUSES_PMIX(PMIx_IOF_pull,
	     (RANKS, INFO, pmix_iof_channel_t channel, RECEIVER, HANDLER),
	     (procs, n, info, nr_info, channel, got, done, ctx))
REFUSES_PMIX(PMIx_IOF_push, (RANKS, BYTES, INFO, LATER),
	     (procs, n, bytes, info, nr_info, done, ctx))

/* ---- new ranks, and those of other jobs ---- */

/*
 * The number of ranks is fixed. Open MPI itself would hang: PMIx refuses the
 * root's request, and the other ranks wait for the root.  MPICH over UCX fails
 * before it asks anybody, and has no better word for that than "other error".
 */
static int refuse(void *comm, int error)
{
	int (*call)(void *, int) = preload_next("PMPI_Comm_call_errhandler");

	if (call)
		call(comm, error);
	return error;
}

/* Of Open MPI and of MPICH; 0: MPICH is asked itself. */
struct codes {
	int open_mpi, mpich;
};

#define ERR_SPAWN	((struct codes){ 50, 42 })
#define ERR_UNSUPPORTED ((struct codes){ 52, 0 })

/*
 * Does MPICH, or an MPI that is binary compatible to it, find its job here by
 * PMI-1?  A launcher of its own below a rank says so by MPI_LOCALRANKID, which no
 * rank is started with (pmi/env.c).
 */
static bool is_mpich(void)
{
	return getenv("PMI_FD") && !getenv("MPI_LOCALRANKID") &&
	       !preload_next("ompi_mpi_init");
}

/* The error that the call is to be, or 0. */
static int refused_as(struct codes c)
{
	if (is_served())
		return c.open_mpi;
	return c.mpich && is_mpich() ? c.mpich : 0;
}

/* Arguments of any MPI: handles are as wide as pointers at most. */
#define FIVE	     void *a, void *b, void *c, void *d, void *e
#define EIGHT	     FIVE, void *f, void *g, void *h
#define NINE	     EIGHT, void *i
#define PASSED_FIVE  a, b, c, d, e
#define PASSED_EIGHT PASSED_FIVE, f, g, h
#define PASSED_NINE  PASSED_EIGHT, i

#define REFUSES(NAME, MANY, COMM, CODES)                 \
	PRELOAD_EXPORT int NAME(MANY);                   \
	int NAME(MANY)                                   \
	{                                                \
		int (*real)(MANY) = preload_next(#NAME); \
		int error = refused_as(CODES);           \
                                                         \
		if (error)                               \
			return refuse(COMM, error);      \
		return real ? real(PASSED_##MANY) : -1;  \
	}

REFUSES(MPI_Comm_spawn, EIGHT, f, ERR_SPAWN)
REFUSES(PMPI_Comm_spawn, EIGHT, f, ERR_SPAWN)
REFUSES(MPI_Comm_spawn_multiple, NINE, g, ERR_SPAWN)
REFUSES(PMPI_Comm_spawn_multiple, NINE, g, ERR_SPAWN)
REFUSES(MPI_Comm_accept, FIVE, d, ERR_UNSUPPORTED)
REFUSES(PMPI_Comm_accept, FIVE, d, ERR_UNSUPPORTED)
REFUSES(MPI_Comm_connect, FIVE, d, ERR_UNSUPPORTED)
REFUSES(PMPI_Comm_connect, FIVE, d, ERR_UNSUPPORTED)
