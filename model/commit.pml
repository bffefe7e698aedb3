/*
 * commit.pml - the commit protocol of a move, for spin
 *
 * A rank runs on host A and is moved to host B: epoch 0, and epoch 1 if that
 * came to nothing.  The parties are those of doc/design/02 and
 * src/cluster/conn/keeper.proto:
 *
 *	source(e)	the engine at A: freezes by ptrace, sends, decides
 *	keeper_a	holds A's copy by the freezer, knows the record, sees
 *			the engine end; its death ends A's copy at once and
 *			the engine some time later
 *	dest(e)		the engine at B: lands the copy, releases it
 *	keeper_b(e)	with the capsule's init the shepherd of the landed
 *			copy: it waits on a futex until it is released
 *	controller	relays questions, keeps what it heard on disk
 *	watch(e)	kills an engine that hangs while a copy stands still
 *	chaos		kills each of them, crashes a host, cuts the link, or
 *			(HANGS) hangs an engine, anywhere; at most FAULTS times
 *			in all
 *
 * The link of an epoch is one TCP connection.  When it is cut, or an end dies,
 * what was under way may still arrive or not.  Questions and answers go on
 * other connections that are made again after a failure.  Every answer is a
 * fact that never changes, which is asserted; so an answer under way is as good
 * as one given at its arrival, and none needs a message of its own here.
 *
 * What is verified, by assertions and because every run ends:
 *	- never two copies run, and none runs whose state is from before a time
 *	  at which another one ran on
 *	- in the end one copy runs, unless its own holder crashed, and no frozen
 *	  copy is left anywhere: everything was decided
 *	- a source that gave up refuses a READY that comes later
 *
 * Moving on from B is the same protocol again with the hosts' parts exchanged.
 * Each BREAK_x below makes one mistake; tools/model verifies that each of them
 * is found, so a model that proves nothing would be noticed.
 */
#ifndef FAULTS
#define FAULTS 3
#endif
#ifndef HANGS
#define HANGS 1
#endif
#define EPOCHS 2

/* Copies.  TRACED: stopped by ptrace alone, runs on if the tracer dies. */
mtype = { NONE, RUN, TRACED, HELD, LANDING, WAITING, GONE };
mtype = { STATE, READY, COMMIT, RUNNING }; /* frames */
mtype = { UNKNOWN, COMMITTED };

mtype src = RUN;
mtype dst[EPOCHS] = NONE;
bool captured[EPOCHS]; /* the state of that epoch is what dst[e] has */
bool stale[EPOCHS];    /* and A ran on since */

bool given[EPOCHS];    /* the record was written: B's copy is the one */
/* Whichever of these two is there first stays, in A's run directory. */
bool record[EPOCHS];   /* "given"; survives all but a crash */
bool kept[EPOCHS];     /* "kept": A's agent has said no for a dead keeper */
mtype db[EPOCHS] = UNKNOWN; /* the controller's, on disk */
bool controller_up = true;
bool said_yes[EPOCHS], said_no[EPOCHS];

bool keeper_a = true, a_crashed, b_crashed;
bool source_up[EPOCHS], source_ended[EPOCHS];
bool dest_up[EPOCHS], dest_ended[EPOCHS], keeper_b[EPOCHS];

/* It does nothing any more, and is there. */
bool source_hung[EPOCHS], dest_hung[EPOCHS];

bool link[EPOCHS];
chan to_b[EPOCHS] = [2] of { mtype };
chan to_a[EPOCHS] = [2] of { mtype };

bool b_ended[EPOCHS]; /* the keeper at B was killed, and its copy with it */
bool lost; /* the copy died with its rightful holder: none may be left */
byte faults;

inline send(ch, e, frame)
{
	if
	:: link[e] -> ch!frame
	:: else
	fi
}

/* A's copy runs (again): what was captured of it is worth nothing now. */
inline run_a()
{
	assert(dst[0] != RUN && dst[1] != RUN);
	src = RUN;
	stale[0] = captured[0];
	stale[1] = captured[1]
}

inline run_b(e)
{
	assert(dst[e] == WAITING);
	assert(src != RUN && src != TRACED);
	assert(dst[1 - e] != RUN);
	assert(!stale[e]);
	dst[e] = RUN
}

/* ---- the engine at the source */

proctype source(byte e)
{
	{
		/* Pre-copy; the process runs, anything may end this. */
		if
		:: goto out
		:: atomic { src == RUN -> src = TRACED }
		fi;
		atomic { captured[e] = true; send(to_b[e], e, STATE) };

		/* Wait for READY, not for ever. */
		if
		:: to_a[e]?READY
		:: !link[e] -> goto giveup
		:: goto giveup
		fi;
		/* From here on the copy stands without us. */
#ifndef BREAK_NO_HOLD
		atomic {
			if
			:: src == TRACED -> src = HELD
			:: else /* it ended with its keeper */
			fi
		}
#endif
		if
		:: goto giveup /* the record could not be written */
		:: skip
		fi;
#ifdef BREAK_COMMIT_FIRST
		send(to_b[e], e, COMMIT);
#endif
		atomic { /* link() */
			if
			:: kept[e] -> goto giveup
			:: else -> record[e] = true; given[e] = true
			fi
		};
#ifndef BREAK_COMMIT_FIRST
		send(to_b[e], e, COMMIT);
#endif
		if
		:: to_a[e]?RUNNING -> src = GONE
		:: !link[e] /* undecided: the keeper goes on */
		fi;
		goto out;
giveup:		/* Abort: the copy runs on, this epoch is over. */
		atomic {
			link[e] = false;
			if
			:: src != GONE -> run_a()
			:: else
			fi
		};
#ifdef BREAK_LATE_READY
		if
		:: to_a[e]?READY ->
			src = HELD;
			record[e] = true;
			given[e] = true
		:: skip
		fi;
#endif
out:		atomic { link[e] = false; source_up[e] = false }
	} unless { !source_up[e] || source_hung[e] };
	!source_up[e];
	source_ended[e] = true
}

/* ---- the keeper at the source: what it does when its engine has ended */

proctype keeper_a_main()
{
	byte e = 0;

	do
	:: keeper_a && e < EPOCHS && src == RUN && !b_crashed ->
		/* A move begins: the capsule at B first, then both engines. */
		atomic {
			link[e] = true;
			keeper_b[e] = true;
			dest_up[e] = true;
			source_up[e] = true;
			run dest(e);
			run keeper_b_main(e);
			run source(e)
		}
		if
		:: source_ended[e]
#ifdef BREAK_IMPATIENT_KEEPER
		:: src == HELD
#endif
		:: !keeper_a -> break
		fi;
		if
		:: atomic { !keeper_a -> break }
#ifdef BREAK_BLIND_THAW
		:: atomic { keeper_a && src == HELD -> run_a() }
#else
		:: atomic { keeper_a && !record[e] && src == HELD -> run_a() }
#endif
		:: atomic { keeper_a && !record[e] && src == RUN }
#ifndef BREAK_BLIND_THAW
		/* Given away.  Held until it is known what became of it. */
		:: atomic { keeper_a && record[e] && src == HELD &&
			    controller_up &&
			    (dst[e] == RUN || dst[e] == GONE) -> src = GONE }
#endif
		:: atomic { keeper_a && src == GONE }
		fi;
		e++
	:: else -> break
	od
}

/* ---- the engine at the destination */

proctype dest(byte e)
{
	{
		if
		:: to_b[e]?STATE -> dst[e] = LANDING
		:: !link[e] -> goto out
		fi;
		if
		:: goto out /* no memory, a missing file */
		:: skip
		fi;
		/* All threads wait on the futex, and init knows it. */
		dst[e] = WAITING;
#ifdef BREAK_RELEASE_AT_READY
		atomic { run_b(e) };
#endif
		send(to_a[e], e, READY);
		if
		:: atomic { to_b[e]?COMMIT ->
			if
			:: dst[e] == WAITING -> run_b(e)
			:: else
			fi }
		:: !link[e] -> goto out
		fi;
		send(to_a[e], e, RUNNING);
		/* The source closes when it has heard. */
		!link[e];
out:		atomic { link[e] = false; dest_up[e] = false }
	} unless { !dest_up[e] || dest_hung[e] };
	!dest_up[e];
	dest_ended[e] = true
}

/*
 * The only ways to an answer.  A keeper says no only once its engine has ended;
 * for a dead keeper A's agent does, and sees to it that the engine, which may
 * outlive the keeper by a moment, cannot write the record after that.  A host
 * that was booted since has no copy; what the controller has heard counts
 * before that.
 */
#define ENDED(e) (source_ended[e] || a_crashed || !keeper_a)

inline say_no(e)
{
	assert(!said_yes[e]);
	said_no[e] = true;
#ifndef BREAK_OPEN_NO
	kept[e] = kept[e] || !keeper_a;
#endif
	dst[e] = GONE
}

#define CAN_SAY_YES(e) \
	(controller_up && (db[e] == COMMITTED || (record[e] && !a_crashed)))
#ifdef BREAK_EARLY_NO
#define CAN_SAY_NO(e) \
	(controller_up && db[e] != COMMITTED && !record[e])
#else
#define CAN_SAY_NO(e) \
	(controller_up && db[e] != COMMITTED && !record[e] && ENDED(e))
#endif

/* ---- the keeper at the destination, when its engine has ended */

proctype keeper_b_main(byte e)
{
	{
		dest_ended[e];
		if
		:: atomic { dst[e] == NONE || dst[e] == LANDING ->
			dst[e] = GONE } /* never ready: discard */
		:: dst[e] == RUN
		:: dst[e] == WAITING ->
#ifdef BREAK_DISCARD
			dst[e] = GONE
#else
#ifdef BREAK_GUESS
			atomic { run_b(e) }
#else
			if
			:: atomic { CAN_SAY_YES(e) ->
				assert(!said_no[e]);
				said_yes[e] = true;
#ifndef BREAK_FORGETFUL
				db[e] = COMMITTED; /* before it is passed on */
#endif
			   }
				if
				:: atomic { dst[e] == WAITING -> run_b(e) }
				/* The answer is lost with its connection. */
				:: atomic { CAN_SAY_YES(e) -> run_b(e) }
#ifdef BREAK_FORGETFUL
				:: atomic { CAN_SAY_NO(e) -> say_no(e) }
#endif
				fi
			:: atomic { CAN_SAY_NO(e) -> say_no(e) }
			fi
#endif
#endif
		fi
	} unless { !keeper_b[e] }
}

/* ---- the controller hears of the record, sooner or later */

#define NEWS(e) (record[e] && !a_crashed && db[e] == UNKNOWN)

proctype controller()
{
	do
	:: atomic { controller_up && NEWS(0) ->
		assert(!said_no[0]);
		db[0] = COMMITTED }
	:: atomic { controller_up && NEWS(1) ->
		assert(!said_no[1]);
		db[1] = COMMITTED }
	od
}

/* ---- what goes wrong */

inline kill_source(e)
{
	source_up[e] = false;
	link[e] = false;
	if
	:: src == TRACED -> run_a()
	:: else
	fi
}

/* An engine's death lets the capsule's init and keeper go on. */
inline kill_dest(e)
{
	dest_up[e] = false;
	link[e] = false;
#ifdef BREAK_TRACER_HOLDS
	if
	:: dst[e] == WAITING -> run_b(e)
	:: else
	fi
#endif
}

/* The capsule ends with its keeper: frozen or not, the copy runs no more. */
inline kill_keeper_b(e)
{
	keeper_b[e] = false;
	dest_up[e] = false;
	link[e] = false;
	b_ended[e] = true;
	dst[e] = GONE
}

inline kill_keeper_a()
{
	keeper_a = false;
	lost = lost || (!given[0] && !given[1]);
	src = GONE
}

/*
 * An engine that hangs and holds no copy still goes on some day, or is ended when
 * the move is over.  One that does must not depend on that: its watch kills it.
 */
proctype watch(byte e)
{
	do
	:: atomic { source_up[e] && source_hung[e] &&
		    src != TRACED && src != HELD -> kill_source(e) }
	:: atomic { dest_up[e] && dest_hung[e] &&
		    dst[e] != WAITING -> kill_dest(e) }
#ifndef BREAK_NO_WATCH_AT_A
	:: atomic { source_up[e] && source_hung[e] &&
		    (src == TRACED || src == HELD) -> kill_source(e) }
#endif
#ifndef BREAK_NO_WATCH_AT_B
	:: atomic { dest_up[e] && dest_hung[e] &&
		    dst[e] == WAITING -> kill_dest(e) }
#endif
	od
}

/* The engine dies with its keeper, but not at the same instant. */
proctype pdeathsig()
{
	!keeper_a;
	atomic { source_up[0] = false; link[0] = false };
	atomic { source_up[1] = false; link[1] = false }
}

/*
 * A record that nobody else knows of is lost with the host, and what it gave
 * away is discarded: the one case in which a copy that could run is given up.
 */
inline crash_a()
{
	kill_keeper_a();
	lost = lost || (given[0] && db[0] == UNKNOWN && dst[0] != RUN) ||
	       (given[1] && db[1] == UNKNOWN && dst[1] != RUN);
	a_crashed = true;
	source_up[0] = false;
	source_up[1] = false;
	link[0] = false;
	link[1] = false;
	record[0] = false;
	record[1] = false
}

inline crash_b()
{
	b_crashed = true;
	kill_keeper_b(0);
	if
	:: keeper_b[1] -> kill_keeper_b(1)
	:: else
	fi
}

proctype chaos()
{
	do
	:: atomic { faults < FAULTS -> faults++ };
		if
		:: atomic { source_up[0] -> kill_source(0) }
		:: atomic { source_up[1] -> kill_source(1) }
		:: atomic { dest_up[0] -> kill_dest(0) }
		:: atomic { dest_up[1] -> kill_dest(1) }
#if HANGS
		:: atomic { source_up[0] -> source_hung[0] = true }
		:: atomic { source_up[1] -> source_hung[1] = true }
		:: atomic { dest_up[0] -> dest_hung[0] = true }
		:: atomic { dest_up[1] -> dest_hung[1] = true }
#endif
		:: atomic { link[0] -> link[0] = false }
		:: atomic { link[1] -> link[1] = false }
		:: atomic { keeper_b[0] -> kill_keeper_b(0) }
		:: atomic { keeper_b[1] -> kill_keeper_b(1) }
		:: atomic { keeper_a -> kill_keeper_a() }
		:: atomic { !a_crashed -> crash_a() }
		:: atomic { !b_crashed && keeper_b[0] -> crash_b() }
		:: atomic { controller_up -> controller_up = false };
			controller_up = true /* it is started again */
		fi
	:: break
	od
}

/* When nothing can happen any more, all is decided. */
active proctype judge()
{
	timeout;
	assert(!source_up[0] && !source_up[1] && !dest_up[0] && !dest_up[1]);
	assert(src == RUN || src == GONE);
	assert(dst[0] == NONE || dst[0] == RUN || dst[0] == GONE);
	assert(dst[1] == NONE || dst[1] == RUN || dst[1] == GONE);
	assert(src == RUN || dst[0] == RUN || dst[1] == RUN || lost ||
	       (given[0] && b_ended[0]) || (given[1] && b_ended[1]))
}

init
{
	atomic {
		run keeper_a_main();
		run controller();
		run pdeathsig();
#if HANGS
		run watch(0);
		run watch(1);
#endif
		run chaos()
	}
}
