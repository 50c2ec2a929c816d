/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order.pml - the watermark: what is delivered is never undercut by what comes later (lib/ring/DESIGN
 * 5, lib/drain/pass.c).
 *
 * Processors that store late, as x86's do (TSO): a writer's stores wait in a buffer, in order, and
 * reach memory at any moment; the barrier makes one writer's reach it at one point of its
 * instructions. Reading the clock is no store, and may happen before earlier stores are seen.
 *
 * Sizes: WRITERS, EVENTS of the first and one of each other, PASSES of the reader.
 */
#define NEVER 99 /* no window yet */

byte window[WRITERS] = NEVER, head[WRITERS], stamp[WRITERS * EVENTS];
byte clock;

/* A store on its way: of the window (what it will be), or of the head with its record (the time). */
mtype = { WINDOW, HEAD };
chan buffer[WRITERS] = [3] of { mtype, byte };

inline arrive(w)
{
	buffer[w]?kind, value;
	if
	:: kind == WINDOW -> window[w] = value
	:: else -> stamp[w * EVENTS + head[w]] = value; head[w]++
	fi;
	kind = 0;
	value = 0
}

proctype Memory(byte w)
{
	mtype kind;
	byte value;
end:
	do
	:: atomic { nempty(buffer[w]) -> arrive(w) }
	od
}

proctype Writer(byte w)
{
	byte h, time;

	do
	:: h < (w == 0 -> EVENTS : 1) ->
#ifdef FAULT_CLOCK_BEFORE_WINDOW
		atomic { clock++; time = clock }
		buffer[w]!WINDOW, h; /* (K) */
#else
		buffer[w]!WINDOW, h; /* (K) */
		atomic { clock++; time = clock }
#endif
		buffer[w]!HEAD, time; /* (A) */
		atomic { h++; time = 0 }
	:: else -> break
	od
}

inline barrier(w)
{
	atomic {
		do
		:: nempty(buffer[w]) -> arrive(w)
		:: else -> break
		od
	}
}

inline everywhere()
{
	w = 0;
	do
	:: w < WRITERS -> barrier(w); w++
	:: else -> break
	od;
	w = 0
}

proctype Reader()
{
	byte w, pass, now, watermark, win, hd, i, least, from, delivered;
	byte taken[WRITERS], given[WRITERS], last[WRITERS];
	byte idle_head[WRITERS] = NEVER, idle_at[WRITERS], inside_head[WRITERS] = NEVER, bound[WRITERS];
	mtype kind;
	byte value;

	do
	:: pass < PASSES ->
#ifdef FAULT_BARRIER_BEFORE_CLOCK
		everywhere();
		now = clock;
#else
		now = clock;
#ifndef FAULT_NO_BARRIER
		everywhere();
#endif
#endif
		watermark = now;
		do
		:: w < WRITERS ->
			win = window[w]; /* (L) */
			hd = head[w];
			atomic {
				if
				:: win != hd ->
					idle_head[w] = hd;
#ifdef FAULT_SEEN_LATER
					idle_at[w] = clock;
#else
					idle_at[w] = now;
#endif
					i = now
				:: else ->
					if
					:: hd != inside_head[w] ->
						inside_head[w] = hd;
						bound[w] = (hd == idle_head[w] -> idle_at[w] : last[w])
					:: else
					fi;
#ifdef FAULT_INSIDE_IGNORED
					bound[w] = now;
#endif
					i = bound[w]
				fi;
				if
				:: i < watermark -> watermark = i
				:: else
				fi;
				i = 0;
				win = 0
			}
			/* What was seen published is at hand, and what has come since. */
			atomic {
				taken[w] = head[w];
				if
				:: taken[w] > 0 -> last[w] = stamp[w * EVENTS + taken[w] - 1]
				:: else
				fi;
				hd = 0;
				w++
			}
		:: else -> break
		od;
		atomic {
			/* The merge: all that is at hand and not younger, the oldest first. */
			do
			:: true ->
				least = NEVER;
				for (i : 0 .. WRITERS - 1) {
					if
					:: given[i] < taken[i] && stamp[i * EVENTS + given[i]] < least ->
						least = stamp[i * EVENTS + given[i]];
						from = i
					:: else
					fi
				}
				if
				:: least > watermark -> break
				:: else ->
					assert(least > delivered);
					delivered = least;
					given[from]++
				fi
			od;
			i = 0; w = 0; least = 0; from = 0; watermark = 0; now = 0;
			pass++
		}
	:: else -> break
	od
}

init {
	byte w;

	atomic {
		for (w : 0 .. WRITERS - 1) { run Memory(w); run Writer(w) }
		run Reader();
		w = 0
	}
}
