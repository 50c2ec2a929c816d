/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring.pml - chunks change hands: writers, a reader, overwriting, jumps and kills (lib/ring/DESIGN
 * 2 to 4 and 8).
 *
 * A step is one access to shared memory of ring_write.c, overwrite.c or ring_read.c, or several to
 * memory that no other thread reads then. A writer may end before any step, by a handler's
 * siglongjmp() or a kill; its ring's next writer mends (ptx_ring_mend) and continues. The model has
 * no hints: a writer may choose any chunk, which is more than the queues allow.
 *
 * Not here: a jump inside the counting of an overwritten chunk, which may count twice (DESIGN 8).
 *
 * Sizes: CHUNKS of CAP records, RINGS, EVENTS of each, JUMPS in all; LOOP.
 */
#define NONE    15
#define FREE    0
#define OPENING 1
#define OPEN    2
#define CLOSED  3

#define REC(c, i)   ((c) * CAP + (i))
#define EVENT(r, s) ((r) * EVENTS + (s))

/* A chunk's word is one word: state, generation and owner change together. */
byte state[CHUNKS], gen[CHUNKS], owner[CHUNKS];
byte claimed_gen[CHUNKS], claimed_at[CHUNKS];
bit uncounted[CHUNKS];
byte head[CHUNKS], next[CHUNKS], next_gen[CHUNKS], last[CHUNKS], before[CHUNKS];
byte rec[CHUNKS * CAP], stamp[CHUNKS * CAP];

byte first[RINGS] = NONE, first_gen[RINGS], current[RINGS] = NONE, current_gen[RINGS];
byte cut, lost;
byte clock;
byte jumps;
byte writers;

/* The true state, for the assertions; the program does not have it. */
byte time_of[RINGS * EVENTS];
bit published[RINGS * EVENTS], delivered[RINGS * EVENTS];
byte dropped, gone_time;

/* A step of a writer, before which it may be killed. */
#define STEP \
	atomic { \
		if \
		:: jumps < JUMPS -> jumps++; goto gone \
		:: true \
		fi;
#define END }

inline take_free(ring, number)
{
	number = NONE;
	if
	:: state[0] == FREE -> number = 0
	:: state[1] == FREE -> number = 1
#if CHUNKS > 2
	:: state[2] == FREE -> number = 2
#endif
#if CHUNKS > 3
	:: state[3] == FREE -> number = 3
#endif
	:: else
	fi;
	if
	:: number != NONE -> state[number] = OPENING; gen[number]++; owner[number] = ring
	:: else
	fi
}

inline choose_closed(found, found_gen)
{
	found = NONE;
	if
	:: state[0] == CLOSED -> found = 0
	:: state[1] == CLOSED -> found = 1
#if CHUNKS > 2
	:: state[2] == CLOSED -> found = 2
#endif
#if CHUNKS > 3
	:: state[3] == CLOSED -> found = 3
#endif
#ifdef FAULT_OVERWRITE_OPEN
	:: state[0] == OPEN && owner[0] != r -> found = 0
	:: state[1] == OPEN && owner[1] != r -> found = 1
#endif
	:: else
	fi;
	if
	:: found != NONE -> found_gen = gen[found]
	:: else
	fi
}

/* The exchange (E), then the count, which is one step here: see the top. */
inline finish_overwrite(taken)
{
#ifdef FAULT_COUNT_BEFORE_EXCHANGE
	STEP k = claimed_at[taken] END;
	STEP
		if
		:: claimed_gen[taken] == gen[taken] - 1 ->
			claimed_gen[taken] = gen[taken];
			lost = lost + head[taken] - k
		:: else
		fi
	END
#else
	STEP
		if
		:: claimed_gen[taken] == gen[taken] - 1 ->
			claimed_gen[taken] = gen[taken];
			uncounted[taken] = 1;
			if
			:: head[taken] > claimed_at[taken] && last[taken] > gone_time ->
				gone_time = last[taken]
			:: else
			fi
		:: else
		fi
	END;
	STEP
		if
		:: claimed_gen[taken] == gen[taken] && uncounted[taken] ->
			lost = lost + (head[taken] > claimed_at[taken] ->
					head[taken] - claimed_at[taken] : 0);
			uncounted[taken] = 0;
			claimed_at[taken] = 0
		:: else
		fi
	END
#endif
}

inline raise_cut(victim)
{
	STEP
		if
		:: claimed_at[victim] < head[victim] && last[victim] > cut -> cut = last[victim]
		:: else
		fi
	END
}

#ifdef FAULT_TAKE_ANY_GENERATION
#define MAY_TAKE(c, g) (state[c] == CLOSED)
#else
#ifdef FAULT_OVERWRITE_OPEN
#define MAY_TAKE(c, g) ((state[c] == CLOSED || state[c] == OPEN) && gen[c] == (g))
#else
#define MAY_TAKE(c, g) (state[c] == CLOSED && gen[c] == (g))
#endif
#endif

inline overwrite(to, which, seen)
{
#ifndef FAULT_CUT_AFTER
	raise_cut(which);
#endif
	STEP
		if
		:: MAY_TAKE(which, seen) -> state[which] = OPENING; gen[which]++; owner[which] = to
		:: else -> which = NONE
		fi
	END;
	if
	:: which != NONE ->
		finish_overwrite(which)
#ifdef FAULT_CUT_AFTER
		;
		raise_cut(which)
#endif
	:: else
	fi
}

inline open_chunk(fresh, so_far)
{
#ifdef FAULT_OPEN_FIRST
	STEP state[fresh] = OPEN END;
#endif
	STEP
		head[fresh] = 0;
		next[fresh] = NONE;
		before[fresh] = so_far;
	END;
#ifndef FAULT_KEEP_CLAIMED
	STEP
		claimed_gen[fresh] = gen[fresh];
		claimed_at[fresh] = 0;
		uncounted[fresh] = 0
	END;
#endif
	STEP state[fresh] = OPEN END
}

inline close_chunk(filled, follower, follower_gen)
{
#ifdef FAULT_CLOSE_FIRST
	STEP state[filled] = CLOSED END;
#endif
	STEP
		next[filled] = follower;
		next_gen[filled] = follower_gen;
#ifndef FAULT_NO_LAST
		assert(head[filled] > 0);
		last[filled] = stamp[REC(filled, head[filled] - 1)]
#endif
	END
#ifndef FAULT_CLOSE_FIRST
	;
	STEP state[filled] = CLOSED END
#endif
}

/* Changes to another chunk; n is NONE if there is none. */
inline turn(r, c, n)
{
	STEP take_free(r, n) END;
#ifdef LOOP
	do
	:: n == NONE ->
		STEP
			choose_closed(n, g);
			if
			:: n == NONE -> take_free(r, n); break
			:: else
			fi
		END;
		overwrite(r, n, g)
	:: else -> break
	od;
#endif
	if
	:: n == NONE
	:: else ->
		k = (c == NONE -> 0 : before[c] + head[c]);
		open_chunk(n, k);
#ifdef FAULT_CLOSE_BEFORE_CURRENT
		if
		:: c != NONE -> close_chunk(c, n, gen[n])
		:: else
		fi;
#endif
#ifdef FAULT_CURRENT_BEFORE_FIRST
		STEP current[r] = n; current_gen[r] = gen[n] END;
#endif
		STEP
			if
			:: c == NONE -> first[r] = n; first_gen[r] = gen[n]
			:: else
			fi
		END;
#ifndef FAULT_CURRENT_BEFORE_FIRST
		STEP current[r] = n; current_gen[r] = gen[n] END;
#endif
#ifndef FAULT_CLOSE_BEFORE_CURRENT
		if
		:: c != NONE -> close_chunk(c, n, gen[n])
		:: else
		fi
#endif
	fi
}

/* As ptx_ring_mend: completes or undoes the steps of the previous writer. */
inline mend(r, c)
{
	k = 0;
	do
	:: k < CHUNKS ->
		atomic { /* the word is loaded once */
			n = k;
			g = state[n];
			if
#ifdef FAULT_MEND_CURRENT
			:: owner[n] != r -> g = FREE
#else
			:: owner[n] != r || (n == current[r] && gen[n] == current_gen[r]) -> g = FREE
#endif
			:: else
			fi
		}
		if
		:: g == OPENING ->
#ifndef FAULT_MEND_UNFINISHED
			finish_overwrite(n);
#endif
			STEP head[n] = 0 END;
			STEP state[n] = FREE END
		:: g == OPEN && head[n] == 0 ->
			STEP state[n] = FREE END
		:: g == OPEN && head[n] > 0 ->
#ifdef FAULT_MEND_DROPS
			STEP state[n] = FREE END
#else
			close_chunk(n, current[r], current_gen[r])
#endif
		:: else
		fi;
		k = n + 1
	:: else -> break
	od;
	c = current[r]
}

proctype Writer(byte r)
{
	byte c = NONE, n, g, k, seq;

again:
	do
	:: seq < EVENTS ->
		if
		:: c == NONE || head[c] == CAP ->
			turn(r, c, n);
			atomic {
				if
				:: n == NONE -> seq++; goto again
				:: else -> c = n
				fi
			}
		:: else
		fi;
#ifdef FAULT_HEAD_FIRST
		STEP head[c] = head[c] + 1; published[EVENT(r, seq)] = 1 END;
		STEP rec[REC(c, head[c] - 1)] = EVENT(r, seq) + 1 END;
		STEP
			clock++;
			stamp[REC(c, head[c] - 1)] = clock;
			time_of[EVENT(r, seq)] = clock;
			seq++
		END
#else
		STEP rec[REC(c, head[c])] = EVENT(r, seq) + 1 END;
		STEP
			clock++;
			stamp[REC(c, head[c])] = clock;
			time_of[EVENT(r, seq)] = clock
		END;
		STEP head[c] = head[c] + 1; published[EVENT(r, seq)] = 1; seq++ END
#endif
	:: else -> break
	od;
	goto end;
gone:
	/* A record that was not published is no event. */
	atomic {
		if
		:: seq < EVENTS -> seq++
		:: else
		fi;
		c = current[r]
	}
#ifndef FAULT_NO_MEND
	mend(r, c);
#endif
	goto again;
end:
	writers--
}

#define THERE(n, g) (gen[n] == (g) && (state[n] == OPEN || state[n] == CLOSED))

/*
 * ptx_ring_find: the oldest remaining chunk of the ring, among those that were there at the start.
 */
inline find(r)
{
	atomic { n = current[r]; g = current_gen[r] }
	atomic {
		newest = before[n];
		oldest = 255;
		was = NONE;
		i = 0;
		if
		:: !THERE(n, g) -> i = CHUNKS /* it was overwritten since */
		:: else
		fi;
#ifdef FAULT_FIND_YOUNGER
		newest = 254;
#endif
	}
	do
	:: i < CHUNKS ->
		atomic {
			if
#ifdef FAULT_FIND_ANYBODYS
			:: (state[i] == OPEN || state[i] == CLOSED) &&
			   before[i] <= newest && before[i] < oldest ->
#else
#ifdef FAULT_FIND_YOUNGEST
			:: (state[i] == OPEN || state[i] == CLOSED) && owner[i] == r &&
			   before[i] <= newest && (oldest == 255 || before[i] > oldest) ->
#else
			:: (state[i] == OPEN || state[i] == CLOSED) && owner[i] == r &&
			   before[i] <= newest && before[i] < oldest ->
#endif
#endif
				oldest = before[i];
				was = i;
				g = gen[i]
			:: else
			fi;
			i++
		}
	:: else -> break
	od;
	atomic {
		if
		:: was != NONE -> place[r] = was; place_gen[r] = g; at[r] = 0
		:: else
		fi
	}
}

/* One claimed record. Its bytes were copied before. */
inline book(r, what, when)
{
	assert(what > 0 && (what - 1) / EVENTS == r);
	assert(published[what - 1] && time_of[what - 1] == when);
	assert(!delivered[what - 1]);
	if
	:: when <= cut -> dropped++
	:: else ->
		assert(when > must_be_after);
		assert(when > last_of[r]);
		last_of[r] = when;
		delivered[what - 1] = 1
	fi
}

proctype Reader()
{
	byte place[RINGS] = NONE, place_gen[RINGS], at[RINGS], last_of[RINGS];
	byte r, i, g, end, oldest, newest, must_be_after, n, was, astray;
	bit idle, over;
	byte copy[CAP], copied[CAP];

	do
	:: true ->
		atomic {
			if
			:: r == 0 -> over = writers == 0; idle = 1
			:: else
			fi;
			if
			:: place[r] == NONE && current[r] == NONE -> goto next_ring
			:: place[r] == NONE && current[r] != NONE ->
				place[r] = first[r];
				place_gen[r] = first_gen[r];
				at[r] = 0
			:: else
			fi;
			n = place[r];
			g = place_gen[r];
			was = state[n]; /* (D) */
			if
#ifdef FAULT_READ_ANY_GENERATION
			:: !(state[n] == OPEN || state[n] == CLOSED) -> goto lost_it
#else
			:: !THERE(n, g) -> goto lost_it
#endif
			:: else
			fi
		}
		end = (head[n] > CAP -> CAP : head[n]); /* (B) */
#ifdef FAULT_HEAD_BEFORE_STATE
		was = state[n];
#endif
		if
		:: end > at[r] ->
			idle = 0;
			i = at[r];
			do
			:: i < end ->
				copy[i] = rec[REC(n, i)];
				atomic { copied[i] = stamp[REC(n, i)]; i++ }
			:: else -> break
			od;
			atomic { /* (F) */
#ifndef FAULT_NO_CLAIM
				if
				:: claimed_gen[n] == g && claimed_at[n] == at[r] && !uncounted[n] ->
					claimed_at[n] = end
				:: else -> goto lost_it
				fi;
#else
				claimed_at[n] = end;
#endif
				i = at[r];
				at[r] = end
			}
			atomic { /* (J), each time before one is delivered */
				do
				:: i < end -> book(r, copy[i], copied[i]); i++
				:: else -> break
				od
			}
		:: end <= at[r] && was == CLOSED ->
			atomic { i = next[n]; oldest = next_gen[n] }
			atomic {
				if
#ifdef FAULT_NEXT_BELIEVED
				:: i == NONE -> goto lost_it
#else
				:: i == NONE || !(state[n] == CLOSED && gen[n] == g) -> goto lost_it
#endif
				:: else
				fi
			}
			atomic { /* (H) */
#ifdef FAULT_FREE_BLINDLY
				state[n] = FREE;
				owner[n] = NONE;
#else
				if
				:: state[n] == CLOSED && gen[n] == g -> state[n] = FREE; owner[n] = NONE
				:: else
				fi;
#endif
				idle = 0;
				place[r] = i;
				place_gen[r] = oldest;
				at[r] = 0
			}
		:: end <= at[r] && was != CLOSED
		fi;
		goto next_ring;
lost_it:
		atomic {
			idle = 0;
			must_be_after = gone_time;
			astray = astray + (writers == 0);
			assert(astray <= 2 * RINGS) /* no thread writes: the reader finds its place
						     * and keeps it */
		}
		find(r);
next_ring:
		atomic {
			r++;
			n = 0; g = 0; was = 0; end = 0; oldest = 0; newest = 0;
			for (i : 0 .. CAP - 1) { copy[i] = 0; copied[i] = 0 }
			i = 0;
			if
			:: r == RINGS ->
				r = 0;
				if
				:: over && idle -> break
				:: else
				fi
			:: else
			fi
		}
	od;
	/* All is read: the account is right, and no event younger than the cut is missing. */
	atomic {
		end = 0;
		for (i : 0 .. RINGS * EVENTS - 1) {
			end = end + published[i] - delivered[i];
			assert(!published[i] || delivered[i] || time_of[i] <= cut)
		}
		assert(end == lost + dropped)
	}
}

init {
	byte r;

	atomic {
		for (r : 0 .. CHUNKS - 1) { next[r] = NONE; owner[r] = NONE }
		for (r : 0 .. RINGS - 1) { writers++; run Writer(r) }
		run Reader()
	}
}
