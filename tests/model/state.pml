/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state.pml - a stream starts, stops, stops by itself when it is full, goes on when there is room, and is
 * cleared, while writers trace and nobody waits for them (lib/ring/DESIGN 6).
 *
 * A step is one access to what writers and the controller share: the region's state (kind and time
 * are one word), the control word by which writers know that it has changed, the pool, the clock.
 * What is done with the stream's lock held is one process, Control: calls and readers. That a record
 * is taken only when nothing older can come is order.pml's; that chunks change hands well, ring.pml's.
 *
 * Claims, of an event as its call saw the stream: begun when a start had returned and ended before
 * anything else was called, it is delivered or counted; begun when a stop had returned and ended
 * before a start was called, it is neither. What finds the stream full, the reader is told of. A stream
 * that was stopped does not run until it is started. One that is full and read empty goes on.
 *
 * Sizes: WRITERS, EVENTS of each, CALLS (start, stop, clear in any order), ROOM (records; the last of
 * each writer stays in its open chunk).
 */
#define SUSPENDED 0
#define RUNNING   1
#define FULL      2
#define HELD      3

#define M_START   0
#define M_STOP    1
#define M_FULL    2
#define M_RESTART 3

#define ALL   (WRITERS * EVENTS)
#define NONE  255
#define MARKS 12

/* Shared: struct ptx_region.state, ptx_own_control.word, the pool, the clock. */
byte state, since, word, clock, free = ROOM;

/* The records: stamped, published, taken from the ring; closed: the chunk is no longer the open one. */
byte stamp[ALL];
bit published[ALL], taken[ALL], closed[ALL];
byte counted, found_full; /* by writers, as lost to FULL; of these, who saw the state FULL */

/* The drain's. */
byte mark_kind[MARKS], mark_at[MARKS], marks, first_mark, last;
bit running, is_full, full_marked;
byte fulls_told;

/* What is true, for the assertions: how the calls around an event were. */
#define UNKNOWN 0
#define ON      1
#define OFF     2
byte phase = OFF;
byte view_of[ALL];
bit under_way[ALL], was_counted[ALL];
byte writers;

#define EVENT(w, n) ((w) * EVENTS + (n))

inline call_begins()
{
	atomic {
		phase = UNKNOWN;
		for (e : 0 .. ALL - 1) {
			if
			:: under_way[e] -> view_of[e] = UNKNOWN
			:: else
			fi
		}
		e = 0
	}
}

proctype Writer(byte w)
{
	byte n, seen, at, kind, lane, before = NONE;

	do
	:: n < EVENTS ->
		atomic { view_of[EVENT(w, n)] = phase; under_way[EVENT(w, n)] = 1 }
		/* point/event.c: what the lane says holds while the word is the same; make_lanes() */
		if
		:: word == lane
		:: else ->
#ifdef FAULT_STATE_BEFORE_WORD
			kind = state;
			lane = word
#else
			lane = word;
			kind = state
#endif
		fi;
		if
		:: kind == FULL -> /* record.c, prepare(): asks the region again */
			atomic { kind = state; found_full = found_full + (kind == FULL) }
			if
			:: kind == FULL ->
				atomic { counted++; was_counted[EVENT(w, n)] = 1 }
				goto done
			:: else
			fi
		:: else
		fi;
		if
		:: kind != RUNNING -> goto done
		:: else
		fi;
		atomic {
			if
			:: before != NONE && !closed[before] && free > 0 ->
				closed[before] = 1;
				free = free + taken[before]
			:: else
			fi;
			if
			:: free > 0 -> free--; seen = RUNNING
			:: else -> seen = FULL
			fi
		}
		if
		:: seen == FULL -> /* fill_up() */
			atomic { seen = state; at = since }
			if
			:: seen == RUNNING ->
				clock++;
				atomic {
					if
					:: state == RUNNING && since == at ->
						state = FULL;
						since = clock;
						word++
					:: else
					fi
				}
			:: else
			fi;
			atomic { counted++; was_counted[EVENT(w, n)] = 1 }
			goto done
		:: else
		fi;
		atomic { clock++; stamp[EVENT(w, n)] = clock }
		atomic { published[EVENT(w, n)] = 1; before = EVENT(w, n) }
done:
		atomic { under_way[EVENT(w, n)] = 0; n++; seen = 0; at = 0 }
	:: else -> break
	od;
	writers--
}

/* ptx_drain_moment() */
#define MOMENT clock++; t = (clock > last -> clock : last + 1); clock = t

inline add_mark(what, when)
{
	mark_kind[marks] = what;
	mark_at[marks] = when;
	marks++;
	last = when
}

/* The oldest record that may be taken: nobody is about to publish an older one. */
inline find()
{
	found = NONE;
	for (e : 0 .. ALL - 1) {
		if
		:: stamp[e] && !taken[e] && (found == NONE || stamp[e] < stamp[found]) -> found = e
		:: else
		fi
	}
	e = 0;
	if
	:: found != NONE && !published[found] -> found = NONE; held_back = 1
	:: else -> held_back = 0
	fi
}

#ifdef FAULT_ONLY_HALF
#define HAS_ROOM (free >= ROOM)
#else
#define HAS_ROOM (free >= ROOM || (found == NONE && !held_back && is_full))
#endif

#ifdef FAULT_WORD_FIRST
#define SET_STATE(kind, when) word++; atomic { state = kind; since = when }
#else
#ifdef FAULT_WORD_UNCHANGED
#define SET_STATE(kind, when) atomic { state = kind; since = when }
#else
#define SET_STATE(kind, when) atomic { state = kind; since = when }; word++
#endif
#endif

/* ptx_drain_sync() in drain/mark.c */
inline sync()
{
	atomic { s = state; at = since; find() }
	if
	:: (s == FULL || s == HELD) && !full_marked ->
		atomic {
			t = (at > last -> at : last + 1);
			add_mark(M_FULL, t);
			full_marked = 1
		}
	:: (s == FULL || s == HELD) && full_marked && HAS_ROOM ->
		full_marked = 0;
		if
#ifdef FAULT_HELD_RUNS
		:: false
#else
		:: s == HELD -> SET_STATE(SUSPENDED, at)
#endif
		:: else ->
			atomic { MOMENT; add_mark(M_RESTART, t) }
			SET_STATE(RUNNING, t)
		fi
	:: else
	fi
}

/* ptx_told_mark() in drain/told.c */
inline tell_mark()
{
	running = mark_kind[first_mark] == M_START || mark_kind[first_mark] == M_RESTART;
	is_full = mark_kind[first_mark] == M_FULL;
	fulls_told = fulls_told + is_full;
	first_mark++
}

inline book(e2)
{
	taken[e2] = 1;
	free = free + closed[e2];
	if
	:: stamp[e2] > last -> last = stamp[e2]
	:: else
	fi;
	if
	:: running || is_full -> assert(view_of[e2] != OFF) /* delivered, cleared, or lost to FULL */
	:: else -> assert(view_of[e2] != ON)             /* no member */
	fi
}

/* One step of drain.c's find_next() and ptx_drain_consume(). */
inline read_one()
{
	atomic {
		find();
		more = 1;
		if
		:: first_mark < marks && !held_back &&
		   (found == NONE || mark_at[first_mark] <= stamp[found]) -> tell_mark()
		:: found != NONE && !(first_mark < marks && mark_at[first_mark] <= stamp[found]) ->
			book(found)
		:: else -> more = 0
		fi
	}
}

inline start()
{
	sync();
	s = state;
	if
	:: s == HELD -> at = since; SET_STATE(FULL, at)
	:: s == SUSPENDED ->
		atomic { MOMENT; add_mark(M_START, t) }
		SET_STATE(RUNNING, t)
	:: else
	fi
}

inline stop()
{
	sync();
	do
	:: atomic { s = state; at = since }
		if
		:: s == RUNNING ->
#ifdef FAULT_STOP_EARLY
			atomic { t = (clock - 1 > last -> clock - 1 : last + 1) }
#else
			atomic { MOMENT }
#endif
			atomic {
				if
#ifdef FAULT_STOP_STORES
				:: true ->
#else
				:: state == RUNNING && since == at ->
#endif
					state = SUSPENDED;
					since = t;
					add_mark(M_STOP, t);
					s = NONE
				:: else
				fi
			}
			if
			:: s == NONE -> word++; break
			:: else
			fi
		:: s == FULL -> SET_STATE(HELD, at); break
		:: else -> break
		fi
	od
}

/* posix/clear.c */
inline clear()
{
	atomic { s = state; t = clock }
	if
	:: s == FULL || s == HELD ->
		atomic { MOMENT; add_mark(M_STOP, t) }
		atomic { state = SUSPENDED; since = t }
	:: else
	fi;
	clock++;
	to = clock;
	do
	:: atomic {
		find();
		if
		:: first_mark < marks &&
		   (found == NONE || mark_at[first_mark] <= stamp[found]) -> tell_mark()
		:: found != NONE && stamp[found] <= to &&
		   !(first_mark < marks && mark_at[first_mark] <= stamp[found]) -> book(found)
		:: else -> break
		fi
	}
	od;
	atomic {
		full_marked = 0;
		is_full = 0;
		last = (last > to -> last : to)
	}
	if
	:: state == FULL -> /* resume_if_full(): who found it full meanwhile is counted, and not told */
		atomic { MOMENT; add_mark(M_START, t) }
		atomic { state = RUNNING; since = t; found_full = 0 }
	:: else -> found_full = 0 /* nothing of before the clear is told */
	fi;
	word++
}

proctype Control()
{
	byte calls, s, at, t, e, found, to;
	bit held_back, more, stopped;

	do
	:: calls < CALLS ->
		calls++;
		call_begins();
		if
		:: start(); stopped = 0; phase = ON
		:: stop(); stopped = 1; phase = OFF
		:: clear();
			atomic {
				/* It stays as it was; full is suspended by itself, and stays so. */
				if
				:: s == FULL || s == HELD || s == SUSPENDED -> stopped = 1; phase = OFF
				:: else -> phase = ON
				fi
			}
		fi
	:: true -> /* a reader's look: peek, consume */
		sync();
		read_one();
		assert(!stopped || state != RUNNING);
		if
		:: !more && calls == CALLS && writers == 0 -> break
		:: else
		fi
	od;
	/* Nobody traces any more: what is left is read; twice a look, as a reader that waits has. */
	more = 1;
	do
	:: more || s == FULL || s == HELD ->
		sync();
		read_one();
		if
		:: !more -> sync(); read_one(); break
		:: else
		fi
	:: else -> break
	od;
	do
	:: more -> sync(); read_one()
	:: else -> break
	od;
	sync();
	atomic {
		assert(state != FULL && state != HELD);
		assert(found_full == 0 || fulls_told > 0);
		for (e : 0 .. ALL - 1) {
			assert(!published[e] || taken[e]);
			/* called = reported + unread + lost: an event that had to be a member is there. */
			assert(view_of[e] != ON || taken[e] || was_counted[e]);
			assert(view_of[e] != OFF || !was_counted[e])
		}
	}
}

init {
	byte w;

	atomic {
		for (w : 0 .. WRITERS - 1) { writers++; run Writer(w) }
		run Control()
	}
}
