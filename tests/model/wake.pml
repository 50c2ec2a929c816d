/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wake.pml - no lost wake-up: a reader that sleeps while there is an event never happens (lib/ring/
 * DESIGN 5, lib/posix/getnext.c, lib/point/record.c).
 *
 * Stores reach memory late, as in order.pml. An exchange lets all earlier stores of its processor
 * through first. A sleep is refused when the word is no longer what the sleeper believes. Whether
 * anybody sleeps for ever is seen as an end of everything that is not an end.
 *
 * Sizes: WRITERS, EVENTS of each, READERS.
 */
byte head[WRITERS], waiting[WRITERS]; /* published; on the way to memory */
byte got;
bit waiters;
byte sleeping;

proctype Memory(byte w)
{
end:
	do
	:: atomic { waiting[w] > 0 -> waiting[w]--; head[w]++ }
	od
}

#define SETTLE(w) head[w] = head[w] + waiting[w]; waiting[w] = 0

inline wake()
{
#ifdef FAULT_WAKE_BEFORE_CLEAR
	sleeping = 0;
	atomic { SETTLE(w); waiters = 0 }
#else
	atomic { SETTLE(w); seen = waiters; waiters = 0 }
	if
	:: seen -> sleeping = 0
	:: else
	fi
#endif
}

proctype Writer(byte w)
{
	byte n;
	bit seen;

	do
	:: n < EVENTS ->
#ifdef FAULT_LOAD_FIRST
		seen = waiters;
		atomic { waiting[w]++; n++ }
#else
		atomic { waiting[w]++; n++ } /* (A), (M) */
		seen = waiters;
#endif
		if
		:: seen -> wake()
		:: else
		fi
	:: else -> break
	od
}

inline take(there)
{
	atomic {
		there = 0;
		w = 0;
		do
		:: w < WRITERS -> there = there + head[w]; w++
		:: else -> break
		od;
		w = 0;
		if
		:: there > got -> got++; there = 1
		:: else -> there = 0
		fi
	}
}

proctype Reader()
{
	byte w, there, mine;

	do
	:: got == WRITERS * EVENTS -> break
	:: else ->
		take(there);
		if
		:: there
		:: else ->
			waiters = 1; /* (N) */
#ifndef FAULT_NO_BARRIER
			do
			:: w < WRITERS -> atomic { SETTLE(w); w++ }
			:: else -> break
			od;
			w = 0;
#endif
#ifndef FAULT_NO_SECOND_LOOK
			take(there);
#endif
			if
			:: there
			:: else ->
				if
				:: got == WRITERS * EVENTS -> break
				:: else
				fi;
				atomic {
					if
#ifdef FAULT_SLEEP_BLINDLY
					:: true -> sleeping++
#else
					:: waiters -> sleeping++
					:: else -> goto again
#endif
					fi
				}
				sleeping == 0;
again:
				skip
			fi
		fi
	od;
	/* The last one: whoever waits for more is told that there will be none (shutdown). */
	atomic { waiters = 0; sleeping = 0 }
}

init {
	byte w;

	atomic {
		for (w : 0 .. WRITERS - 1) { run Memory(w); run Writer(w) }
		for (w : 1 .. READERS) { run Reader() }
		w = 0
	}
}
