/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wake.pml - no lost wake-up: a reader never sleeps while there is an event (lib/ring/DESIGN 5,
 * lib/ring/wake.c, lib/posix/getnext.c, lib/point/record.c).
 *
 * Stores reach memory late, as in order.pml. An exchange and a system call let all earlier stores of
 * their processor through first. A sleep is refused when the word is no longer the sleeper's ticket. A
 * writer may leave before any step of its waking, by a jump or a kill; then there is one more event
 * at the end, a STOP, whose writer does not. A reader that sleeps for ever shows as an invalid end
 * state.
 *
 * Sizes: WRITERS, EVENTS of each, READERS, JUMPS.
 */
#define WAKING 1
#define STOPS  (JUMPS > 0)
#define ALL    (WRITERS * EVENTS + STOPS)

byte head[WRITERS + 1], waiting[WRITERS + 1]; /* published; on the way to memory */
byte got;
byte word; /* waiters: 0, a ticket, or a ticket and WAKING */
byte tickets;
bit asleep[READERS];
bit lock; /* of the stream, for its readers */
byte jumps, writers = WRITERS;

proctype Memory(byte w)
{
end:
	do
	:: atomic { waiting[w] > 0 -> waiting[w]--; head[w]++ }
	od
}

#define SETTLE(w) head[w] = head[w] + waiting[w]; waiting[w] = 0

/* A step of waking, before which its writer may be killed. */
#define STEP \
	atomic { \
		if \
		:: may_jump && jumps < JUMPS -> jumps++; goto gone \
		:: true \
		fi;
#define END }

#define WAKE_ALL for (r : 0 .. READERS - 1) { asleep[r] = 0 } r = 0

inline wake()
{
#ifdef FAULT_CLEAR_FIRST
	STEP SETTLE(w); seen = word; word = 0 END;
	STEP
		if
		:: seen -> WAKE_ALL
		:: else
		fi
	END
#else
#ifndef FAULT_WAKE_BEFORE_CLEAR
	STEP
		SETTLE(w);
		if
		:: !(seen & WAKING) && word == seen ->
#ifdef FAULT_ONE_MARK
			word = WAKING
#else
			word = seen | WAKING
#endif
			;
			seen = word
		:: !(seen & WAKING) && word != seen -> seen = word
		:: else
		fi;
		if
		:: !(seen & WAKING) -> goto gone
		:: else
		fi
	END;
#endif
	STEP SETTLE(w); WAKE_ALL END;
	STEP
		if
		:: word == seen -> word = 0
		:: else
		fi
	END
#endif
}

inline event()
{
#ifdef FAULT_LOAD_FIRST
	seen = word;
	atomic { waiting[w]++; n++ }
#else
	atomic { waiting[w]++; n++ } /* (A), (M) */
	seen = word;
#endif
	if
	:: seen -> wake()
	:: else
	fi
}

proctype Writer(byte w)
{
	byte n, seen, r;
	bit may_jump = 1;

again:
	do
	:: n < EVENTS -> event()
	:: else -> goto end
	od;
gone:
	atomic { r = 0; goto again }
end:
	writers--
}

/* posix_trace_stop(): a fence is between its event and its reading of the word. */
proctype Stop()
{
	byte w = WRITERS, n, seen, r;
	bit may_jump;

	writers == 0 && STOPS;
	atomic { head[w]++; seen = word }
	if
	:: seen -> wake()
	:: else
	fi;
gone:
	skip
}

inline take(there)
{
	atomic {
		there = 0;
		w = 0;
		do
		:: w <= WRITERS -> there = there + head[w]; w++
		:: else -> break
		od;
		w = 0;
		if
		:: there > got -> got++; there = 1
		:: else -> there = 0
		fi
	}
}

proctype Reader(byte me)
{
	byte w, there, ticket;

	do
	:: got == ALL -> break
	:: else ->
		atomic { lock == 0 || got == ALL -> lock = 1 }
		take(there);
		if
		:: there -> lock = 0
		:: else ->
			ticket = word;
			if
#ifdef FAULT_JOIN_WAKING
			:: ticket != 0
#else
			:: ticket != 0 && !(ticket & WAKING)
#endif
			:: else ->
				atomic { /* (N) */
#ifdef FAULT_SAME_TICKET
					tickets = 2;
#else
					tickets = tickets + 2;
#endif
					word = tickets;
					ticket = tickets
				}
			fi;
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
			lock = 0;
			if
			:: there
			:: else ->
				if
				:: got == ALL -> break
				:: else
				fi;
				atomic {
					if
#ifdef FAULT_SLEEP_BLINDLY
					:: true -> asleep[me] = 1
#else
					:: word == ticket -> asleep[me] = 1
					:: else
#endif
					fi
				}
				asleep[me] == 0
			fi
		fi
	od;
	/* The last one: shutdown reports to the waiting readers that no more events follow. */
	atomic {
		lock = 0;
		word = 0;
		for (w : 0 .. READERS - 1) { asleep[w] = 0 }
	}
}

init {
	byte w;

	atomic {
		for (w : 0 .. WRITERS - 1) { run Memory(w); run Writer(w) }
		for (w : 0 .. READERS - 1) { run Reader(w) }
		if
		:: STOPS -> run Stop()
		:: else
		fi;
		w = 0
	}
}
