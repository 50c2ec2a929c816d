/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order.pml - the watermark: no event is published that is older than a delivered one
 * (lib/ring/DESIGN 5, lib/drain/pass.c).
 *
 * Processors that store late, as x86's do (TSO): a writer's stores wait in a buffer, in order, and
 * reach memory at any moment; the barrier flushes one writer's buffer at one point of its
 * instructions. A clock reading is no store, and may happen before earlier stores are visible.
 *
 * A writer has its first chunk, and each chunk is opened once; ring.pml models reused chunks. A
 * place is a chunk and a head: the end of one chunk and the start of the next are two places.
 *
 * Sizes: WRITERS, EVENTS of the first and one of each other, CAP of them in a chunk, PASSES of the reader.
 */
#define NEVER  99 /* no window yet */
#define TIMES  (2 * EVENTS + WRITERS + PASSES)
#define CHUNKS ((EVENTS + CAP - 1) / CAP)

#define AT(w, c)        ((w) * CHUNKS + (c))
#define RECORD(w, c, i) (AT(w, c) * CAP + (i))
#define PLACE(c, i)     ((c) * (CAP + 1) + (i))

byte current[WRITERS];
byte window[WRITERS * CHUNKS] = NEVER, head[WRITERS * CHUNKS], opened[WRITERS * CHUNKS];
byte stamp[WRITERS * CHUNKS * CAP];
byte clock;

/* The true state, for the assertion: an event with this time is stamped and not delivered. */
bit missing[TIMES];

/*
 * A store in the buffer: of the ring's next chunk, with the time of its opening, which no reader
 * reads before; of its window (the new value); or of its head with its record (the time).
 */
mtype = { CHUNK, WINDOW, HEAD, OPENED };
chan buffer[WRITERS] = [3] of { mtype, byte };

inline arrive(w)
{
	buffer[w]?kind, value;
	if
	:: kind == CHUNK ->
		current[w]++;
		opened[AT(w, current[w])] = value
	:: kind == WINDOW -> window[AT(w, current[w])] = value
	:: kind == HEAD ->
		stamp[RECORD(w, current[w], head[AT(w, current[w])])] = value;
		head[AT(w, current[w])]++
#ifdef FAULT_OPENED_LATE
	:: kind == OPENED -> opened[AT(w, current[w])] = value
#endif
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

inline read_clock()
{
	clock++;
	time = clock
}

proctype Writer(byte w)
{
	byte h, time, early;

	do
	:: h < (w == 0 -> EVENTS : 1) ->
		if
		:: h > 0 && h % CAP == 0 ->
#ifndef FAULT_OPENED_LATE
			if
			:: early -> atomic { time = early; early = 0 }
			:: atomic { early = 0; read_clock() }
			fi;
#endif
			buffer[w]!CHUNK, time
		:: else
		fi;
		/*
		 * No fence precedes the reading for the next opening, so the processor may read the
		 * clock before this event.
		 */
		if
		:: (h + 1) % CAP == 0 && h + 1 < (w == 0 -> EVENTS : 1) -> early = clock
		:: else
		fi;
#ifdef FAULT_CLOCK_BEFORE_WINDOW
		atomic { read_clock(); missing[time] = 1 }
		buffer[w]!WINDOW, h % CAP; /* (K) */
#else
		buffer[w]!WINDOW, h % CAP; /* (K) */
		atomic { read_clock(); missing[time] = 1 }
#endif
#ifdef FAULT_OPENED_LATE
		if
		:: h > 0 && h % CAP == 0 -> atomic { clock++; buffer[w]!OPENED, clock }
		:: else
		fi;
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

/*
 * ptx_ring_watch() and bound_of(): i is the latest time such that the writer publishes no older
 * event.
 */
inline look(w)
{
	cur = current[w];
	win = window[AT(w, cur)]; /* (L) */
	hd = head[AT(w, cur)];
	atomic {
		place = PLACE(cur, hd);
		if
		:: win == NEVER || win < hd || current[w] != cur ->
			idle_place[w] = place;
#ifdef FAULT_SEEN_LATER
			idle_at[w] = clock;
#else
			idle_at[w] = now;
#endif
			i = now;
			inside_place[w] = NEVER;
			bound[w] = 0
		:: else ->
			if
			:: place != inside_place[w] ->
				inside_place[w] = place;
				if
				:: place == idle_place[w] -> i = idle_at[w]
				:: place != idle_place[w] && hd == 0 && opened[AT(w, cur)] < now ->
					i = opened[AT(w, cur)]
				:: else -> i = last[w]
				fi;
				bound[w] = (looked_at[w] > i -> looked_at[w] : i)
			:: else
#ifdef FAULT_LOOKED_AT_STAYED
				-> bound[w] = looked_at[w]
#endif
			fi;
#ifdef FAULT_INSIDE_IGNORED
			bound[w] = now;
#endif
			i = bound[w];
			idle_place[w] = NEVER;
			idle_at[w] = 0
		fi;
#ifdef FAULT_LOOKED_AT_LATER
		looked_at[w] = clock;
#else
		looked_at[w] = now;
#endif
		if
		:: i < watermark -> watermark = i
		:: else
		fi;
		i = 0; win = 0; hd = 0; cur = 0; place = 0
	}
}

/* The records that were seen published are available, and those published since. */
inline take(w)
{
	atomic {
		taken[w] = current[w] * CAP + head[AT(w, current[w])];
		if
		:: taken[w] > 0 -> last[w] = stamp[w * CHUNKS * CAP + taken[w] - 1]
		:: else
		fi
	}
}

proctype Reader()
{
	byte w, pass, now, watermark, cur, win, hd, place, i, least, from;
	byte taken[WRITERS], given[WRITERS], last[WRITERS];
	byte idle_place[WRITERS] = NEVER, idle_at[WRITERS], inside_place[WRITERS] = NEVER, bound[WRITERS];
	byte looked_at[WRITERS];
	mtype kind;
	byte value;

	do
	:: pass < PASSES ->
#ifdef FAULT_BARRIER_BEFORE_CLOCK
		everywhere();
		atomic { clock++; now = clock }
#else
		atomic { clock++; now = clock }
#ifndef FAULT_NO_BARRIER
		everywhere();
#endif
#endif
		watermark = now;
		do
		:: w < WRITERS -> look(w); take(w); w++
		:: else -> break
		od;
		atomic {
			/*
			 * The merge: all available records that are not younger, the oldest first.
			 */
			do
			:: true ->
				least = NEVER;
				for (i : 0 .. WRITERS - 1) {
					if
					:: given[i] < taken[i] && stamp[i * CHUNKS * CAP + given[i]] < least ->
						least = stamp[i * CHUNKS * CAP + given[i]];
						from = i
					:: else
					fi
				}
				if
				:: least > watermark -> break
				:: else ->
					given[from]++;
					missing[least] = 0;
					for (i : 0 .. least) { assert(!missing[i]) }
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
