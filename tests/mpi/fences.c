/*
 * fences.c - what a rank that speaks PMIx itself is told at fences that cannot be,
 * at what joins jobs, and of groups: an error, at once
 *
 * Prints a line for each, and then one for a fence of all ranks.  With a word, the
 * last rank ends before or in a fence that the others wait in:
 *
 *	fences finish	after PMIx_Finalize()
 *	fences leave	while its own fence is under way
 */
#include <pmix.h>
#include <pmix_tool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;

static const char *word(pmix_status_t status)
{
	switch (status) {
	case PMIX_SUCCESS:
		return "done";
	case PMIX_ERR_BAD_PARAM:
		return "bad parameter";
	case PMIX_ERR_NOT_SUPPORTED:
		return "not supported";
	default:
		return PMIx_Error_string(status);
	}
}

static void say(const char *what, pmix_status_t status)
{
	printf("%s: %s\n", what, word(status));
	fflush(stdout);
}

/* A fence of two ranks; an empty name stands for the own job. */
static void fence(const char *what, const char *job, uint32_t a, uint32_t b,
		  size_t n)
{
	pmix_proc_t procs[2] = { me, me };

	if (*job)
		snprintf(procs[n - 1].nspace, sizeof(procs[0].nspace), "%s",
			 job);
	procs[0].rank = a;
	procs[1].rank = b;
	say(what, PMIx_Fence(procs, n, NULL, 0));
}

static void on_done(pmix_status_t status, void *ctx)
{
}

static void on_results(pmix_status_t status, pmix_info_t *info, size_t n,
		       void *ctx, pmix_release_cbfunc_t release, void *of)
{
}

/* No results are asked for: libpmix 4 would write them to NULL. */
static void groups(const pmix_proc_t *all)
{
	say("construct",
	    PMIx_Group_construct("g", all, 1, NULL, 0, NULL, NULL));
	say("construct, later",
	    PMIx_Group_construct_nb("g", all, 1, NULL, 0, on_results, NULL));
	say("invite", PMIx_Group_invite("g", all, 1, NULL, 0, NULL, NULL));
	say("invite, later",
	    PMIx_Group_invite_nb("g", all, 1, NULL, 0, on_results, NULL));
	say("join",
	    PMIx_Group_join("g", &me, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL));
	say("join, later", PMIx_Group_join_nb("g", &me, PMIX_GROUP_ACCEPT, NULL,
					      0, on_results, NULL));
	say("leave", PMIx_Group_leave("g", NULL, 0));
	say("leave, later", PMIx_Group_leave_nb("g", NULL, 0, on_done, NULL));
	say("destruct", PMIx_Group_destruct("g", NULL, 0));
	say("destruct, later",
	    PMIx_Group_destruct_nb("g", NULL, 0, on_done, NULL));
}

/* A watch for heartbeats is begun by it and fed by PMIx_Heartbeat(). */
static void others_streams(const pmix_proc_t *all)
{
	pmix_info_t what, *results = NULL;
	pmix_byte_object_t bytes = { NULL, 0 };
	uint32_t second = 1;
	pmix_info_t every;
	size_t n = 0;

	PMIX_INFO_LOAD(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_POINTER);
	PMIX_INFO_LOAD(&every, PMIX_MONITOR_HEARTBEAT_TIME, &second,
		       PMIX_UINT32);
	say("monitor", PMIx_Process_monitor(&what, PMIX_MONITOR_HEARTBEAT_ALERT,
					    &every, 1, &results, &n));
	say("monitor, later",
	    PMIx_Process_monitor_nb(&what, PMIX_MONITOR_HEARTBEAT_ALERT, &every,
				    1, on_results, NULL));
	PMIx_Heartbeat();
	say("pull", PMIx_IOF_pull(all, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL,
				  NULL, NULL, NULL));
	say("push", PMIx_IOF_push(all, 1, &bytes, NULL, 0, NULL, NULL));
}

/* The first one is told the outcome of its fence, if it is told anything. */
static int leave(const char *how, const pmix_proc_t *all)
{
	if (!me.rank) {
		fence("deserted", "", PMIX_RANK_WILDCARD, 0, 1);
		return 0;
	}
	if (strcmp(how, "finish") != 0) {
		PMIx_Fence_nb(all, 1, NULL, 0, on_done, NULL);
		_exit(0);
	}
	return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}

int main(int argc, char **argv)
{
	pmix_proc_t all;

	if (PMIx_Init(&me, NULL, 0))
		return 1;
	all = me;
	all.rank = PMIX_RANK_WILDCARD;
	if (argc > 1)
		return leave(argv[1], &all);
	fence("foreign", "another", PMIX_RANK_WILDCARD, 0, 1);
	fence("in part foreign", "another", 0, 1, 2);
	fence("twice", "", me.rank, me.rank, 2);
	fence("others", "", !me.rank, 0, 1);
	fence("nobody", "", 7, 0, 1);
	fence("alone", "", me.rank, 0, 1);
	say("twice, later", PMIx_Fence_nb((pmix_proc_t[]){ me, me }, 2, NULL, 0,
					  on_done, NULL));
	say("connect", PMIx_Connect(&all, 1, NULL, 0));
	say("connect, later", PMIx_Connect_nb(&all, 1, NULL, 0, on_done, NULL));
	say("disconnect", PMIx_Disconnect(&all, 1, NULL, 0));
	say("disconnect, later",
	    PMIx_Disconnect_nb(&all, 1, NULL, 0, on_done, NULL));
	groups(&all);
	others_streams(&all);
	fence("both", "", 0, 1, 2);
	fence("all", "", PMIX_RANK_WILDCARD, 0, 1);
	say("end", PMIx_Finalize(NULL, 0));
	return 0;
}
