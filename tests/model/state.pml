/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state.pml - a stream starts, stops, stops automatically when it is full, restarts when it has
 * space, and is cleared, while writers trace without locks (lib/ring/DESIGN 6).
 *
 * A step is one access to the memory that writers and the controller share: the region's state
 * (kind and time are one word), the control word that shows writers a change, the pool, the clock.
 * All code under the stream's lock, calls and readers, is one process, Control. order.pml models
 * that a record is delivered only when no older one can follow; ring.pml models the chunks.
 *
 * Claims about an event. If its call began after a start had returned and ended before another
 * call, it is delivered or counted. If its call began after a stop had returned and ended before a
 * start was called, it is neither. No event is lost to FULL that was stamped while the stream ran,
 * that was called when the stream was not full, or before a clear. Claims about the stream.
 * Reported STOPs and STARTs alternate. Each time that the stream was full is reported once or
 * cleared, and no event follows until the restart is reported. A stopped stream does not run until
 * it is started; a running stream that is cleared runs. A full stream that is read empty restarts.
 * At the end each called event is accounted for once, the pool has all chunks but the open ones,
 * and the stream runs if a call started it.
 *
 * With BEYOND, a reader that must not wait skips records that are stamped and not published. They
 * are then delivered late, behind marks with younger times, and are counted by the state of the
 * stream at their time.
 *
 * Not here: a START that the clock dates early, a log that is full (flush/transfer.c), several
 * processes, each with a control word of its own.
 *
 * Sizes: WRITERS, EVENTS of the first and one of each other, CALLS (start, stop, clear in any order),
 * ROOM (records; the last of each writer stays in its open chunk).
 */
#define SUSPENDED 0
#define RUNNING   1
#define FULL      2
#define HELD      3

#define M_START   0
#define M_STOP    1
#define M_FULL    2
#define M_RESTART 3
#define M_RESUMED 4 /* by a clear, which no record reports to the reader */

#define ALL   (WRITERS * EVENTS)
#define NONE  255
#define MARKS 5

/* Shared: struct ptx_region.state, ptx_own_control.word, the pool, the clock. */
byte state, since, word = 1, clock, free = ROOM;

/* The records: stamped, published, taken from the ring; closed: the chunk is no longer the open one. */
byte stamp[ALL];
bit published[ALL], taken[ALL], closed[ALL];

/*
 * The drain's state: unreported marks, the oldest first; hand: records were available at the last
 * look.
 */
byte mark_kind[MARKS], mark_at[MARKS], marks, last, cleared;
bit running, is_full, full_marked, hand;

#ifdef BEYOND
/* The phases that the delivery has passed: ptx_phases_begin(). */
#define PASTS 8
byte past_at[PASTS], past[PASTS], pasts;
#endif

/*
 * The true state, for the assertions: the calls around an event; whether it was stamped while the
 * stream ran.
 */
#define UNKNOWN 0
#define ON      1
#define OFF     2
byte phase = OFF;
byte view_of[ALL];
bit under_way[ALL], ran[ALL];
bit is_really_full; /* and that was not cleared */
byte untold;        /* number of times that it was full and the reader does not know */
byte told = OFF;    /* the last report to the reader; UNKNOWN: none since a clear */
byte told_at, writers;
byte accounted;     /* events: read, lost to FULL, cleared or no members */
byte changing;      /* number of writers that have read the clock for the time of their stop */

#define EVENT(w, n) ((w) * EVENTS + (n))
#define ME          EVENT(w, n)

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
	byte n, at, now, seen, kind, lane, before = NONE;
	bit counted, slow;

	do
	:: n < (w == 0 -> EVENTS : 1) ->
		/* point/event.c: the lane is valid while the word is the same. */
		atomic {
			view_of[ME] = phase;
			under_way[ME] = 1;
			if
			:: word == lane && kind == RUNNING -> goto reserve
			:: word == lane && kind != RUNNING && kind != FULL -> goto done
			:: else -> slow = 1
			fi
		}
ask:		/* record.c, prepare_record(): reads the region */
		atomic {
			seen = state;
			if
			:: seen == FULL -> assert(is_really_full); counted = 1; goto mend
			:: seen != FULL && seen != RUNNING -> goto mend
			:: else
			fi
		}
reserve:
		atomic {
			if
			:: before != NONE && !closed[before] && free > 0 ->
				closed[before] = 1;
				free = free + taken[before]
			:: else
			fi;
			if
			:: free > 0 -> free--; goto window
			:: free == 0 && !slow -> slow = 1; goto ask
			:: else
			fi
		}
		atomic { seen = state; at = since } /* fill_up() */
		if
		:: seen == RUNNING ->
			atomic { clock++; now = clock; changing++ }
			atomic {
				changing--;
				if
				:: state == RUNNING && since == at ->
					state = FULL;
					since = now;
					is_really_full = 1;
					untold++
				:: else -> seen = NONE
				fi
			}
			if
			:: seen == RUNNING -> word++
			:: else
			fi
		:: else
		fi;
		atomic { counted = 1; goto mend }
window:
		atomic {
			clock++;
			stamp[ME] = clock;
			ran[ME] = state == RUNNING && !changing
		}
		atomic {
			published[ME] = 1;
			before = ME;
			if
			:: !slow -> goto done
			:: else
			fi
		}
mend:		/* ptx_lanes_mend() */
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
done:
		atomic {
			/*
			 * An event that had to be a member is there; the others are not missing
			 * either.
			 */
			assert(view_of[ME] != ON || published[ME] || counted);
			assert(view_of[ME] != OFF || !counted);
			assert(!published[ME] || !counted);
			if
			:: !published[ME] -> view_of[ME] = UNKNOWN; accounted++
			:: else
			fi;
			under_way[ME] = 0;
			n++;
			seen = 0; at = 0; now = 0; counted = 0; slow = 0
		}
	:: else -> break
	od;
	atomic { writers--; before = NONE; lane = 0; kind = 0 }
}

/* ptx_drain_moment() */
#define MOMENT clock++; t = (clock > last -> clock : last + 1); clock = t

inline add_mark(what, when)
{
	assert(marks < MARKS);
	mark_kind[marks] = what;
	mark_at[marks] = when;
	marks++;
	last = when
}

/* The oldest record that may still be published; hand: whether any is published. */
inline find()
{
	found = NONE;
	hand = 0;
	for (e : 0 .. ALL - 1) {
		if
		:: stamp[e] && !taken[e] ->
			hand = hand || published[e];
			if
			:: found == NONE || stamp[e] < stamp[found] -> found = e
			:: else
			fi
		:: else
		fi
	}
	e = 0
}

#ifdef BEYOND
/* ptx_drain_peek_beyond(): does not wait for unpublished records. */
inline find_beyond()
{
	found = NONE;
	hand = 0;
	for (e : 0 .. ALL - 1) {
		if
		:: published[e] && !taken[e] ->
			hand = 1;
			if
			:: found == NONE || stamp[e] < stamp[found] -> found = e
			:: else
			fi
		:: else
		fi
	}
	e = 0
}

/* ptx_step_phase(): the state of the stream at a time. */
inline phase_of(when)
{
#ifdef FAULT_LATE_AS_NOW
	late = 0;
#else
	late = pasts > 0 && when < past_at[pasts - 1];
#endif
	now_on = running;
	now_full = is_full;
	if
	:: late ->
		now_on = 0;
		now_full = 0;
		for (e : 0 .. pasts - 1) {
			if
			:: past_at[e] <= when ->
				now_on = past[e] == RUNNING;
				now_full = past[e] == FULL
			:: else
			fi
		}
		e = 0
	:: else
	fi
}
#else
#define phase_of(when) now_on = running; now_full = is_full
#endif

#ifdef FAULT_ONLY_HALF
#define HAS_ROOM (free >= (ROOM + 1) / 2)
#else
#define HAS_ROOM (free >= (ROOM + 1) / 2 || (!hand && is_full))
#endif

#define STORE_STATE(kind, when) \
	atomic { \
		state = kind; \
		since = when; \
		is_really_full = is_really_full && (kind == FULL || kind == HELD) \
	}
#ifdef FAULT_WORD_FIRST
#define SET_STATE(kind, when) word++; STORE_STATE(kind, when)
#else
#ifdef FAULT_WORD_UNCHANGED
#define SET_STATE(kind, when) STORE_STATE(kind, when)
#else
#define SET_STATE(kind, when) STORE_STATE(kind, when); word++
#endif
#endif

#ifdef FAULT_MARK_BEFORE_LAST
#define FULL_AT at
#else
#define FULL_AT (at > last -> at : last + 1)
#endif

/* ptx_drain_sync() in drain/mark.c */
inline sync()
{
	atomic {
		s = state;
		at = since;
		if
		:: (s == FULL || s == HELD) && !full_marked ->
			t = FULL_AT;
			add_mark(M_FULL, t);
			full_marked = 1;
			t = 0;
			s = NONE
		:: (s == FULL || s == HELD) && full_marked && HAS_ROOM ->
			full_marked = 0
		:: else -> s = NONE
		fi
	}
	if
	:: s == HELD ->
#ifdef FAULT_HELD_RUNS
		atomic { MOMENT; add_mark(M_RESTART, t) }
		SET_STATE(RUNNING, t)
#else
		SET_STATE(SUSPENDED, at)
#endif
	:: s == FULL ->
		atomic { MOMENT; add_mark(M_RESTART, t) }
		SET_STATE(RUNNING, t)
	:: else
	fi;
	atomic { s = 0; at = 0; t = 0 }
}

/* ptx_synthetic_mark() in drain/synthetic.c; a clear reports nothing to the reader. */
inline tell_mark(silent)
{
	if
	:: mark_kind[0] == M_START -> assert(!running)
	:: mark_kind[0] == M_STOP -> assert(running || is_full)
	:: mark_kind[0] == M_FULL -> assert(running)
	:: mark_kind[0] == M_RESTART -> assert(is_full)
	:: mark_kind[0] == M_RESUMED
	fi;
	running = mark_kind[0] == M_START || mark_kind[0] == M_RESTART || mark_kind[0] == M_RESUMED;
	is_full = mark_kind[0] == M_FULL;
#ifdef BEYOND
	assert(pasts < PASTS);
	past_at[pasts] = mark_at[0];
	past[pasts] = (running -> RUNNING : (is_full -> FULL : SUSPENDED));
	pasts++;
#endif
	if
	:: !silent ->
		assert(mark_at[0] >= told_at);
		told_at = mark_at[0];
		if
		:: mark_kind[0] == M_RESUMED -> assert(told != OFF)
		:: mark_kind[0] != M_RESUMED && running -> assert(told != ON); told = ON
		:: !running -> assert(told != OFF); told = OFF
		fi;
		if
		:: is_full -> assert(untold > 0); untold--
		:: else
		fi
	:: else
	fi;
	for (e : 1 .. MARKS - 1) {
		mark_kind[e - 1] = mark_kind[e];
		mark_at[e - 1] = mark_at[e]
	}
	mark_kind[MARKS - 1] = 0;
	mark_at[MARKS - 1] = 0;
	e = 0;
	marks--
}

inline take(e2)
{
	assert(!taken[e2]);
	taken[e2] = 1;
	accounted++;
#ifndef FAULT_KEEP_ROOM
	free = free + closed[e2];
#endif
	stamp[e2] = 0;
	view_of[e2] = UNKNOWN;
	ran[e2] = 0
}

inline book(e2)
{
	phase_of(stamp[e2]);
	if
	:: stamp[e2] <= cleared -> /* it was in progress when all was cleared */
		assert(view_of[e2] == UNKNOWN)
	:: stamp[e2] > cleared && now_on -> /* delivered */
		assert(view_of[e2] != OFF);
		assert(late || told != OFF);
		last = (stamp[e2] > last -> stamp[e2] : last);
		told_at = (stamp[e2] > told_at -> stamp[e2] : told_at)
	:: stamp[e2] > cleared && !now_on && now_full -> /* lost to FULL */
		assert(view_of[e2] != OFF);
		assert(!ran[e2])
	:: else -> /* no member */
		assert(view_of[e2] != ON);
		assert(!ran[e2])
	fi;
	late = 0;
	now_on = 0;
	now_full = 0;
	take(e2)
}

/*
 * One step of drain.c's find_next() and ptx_drain_consume(). A restart is reported when an event
 * follows.
 */
inline read_one()
{
	atomic {
#ifdef BEYOND
		if
		:: true -> find()
		:: true -> find_beyond()
		fi;
#else
		find();
#endif
		more = 1;
		if
		:: marks > 0 && (found == NONE || mark_at[0] <= stamp[found]) ->
			if
			:: mark_kind[0] == M_RESTART && marks == 1 &&
			   (found == NONE || !published[found]) -> more = 0
			:: else -> tell_mark(0)
			fi
		:: else ->
			if
			:: found != NONE && published[found] -> book(found)
			:: else -> more = 0
			fi
		fi;
		find();
		found = 0
	}
}

inline start()
{
	sync();
	atomic { s = state; at = since }
	if
#ifdef FAULT_HELD_STAYS
	:: s == HELD
#else
#ifdef FAULT_HELD_RUNS_NOW
	:: s == HELD -> SET_STATE(RUNNING, at)
#else
	:: s == HELD -> SET_STATE(FULL, at)
#endif
#endif
	:: s == SUSPENDED ->
		atomic { MOMENT; add_mark(M_START, t) }
		SET_STATE(RUNNING, t)
	:: else
	fi;
	atomic { s = 0; at = 0; t = 0 }
}

inline stop()
{
	sync();
	do
	:: atomic { s = state; at = since }
		if
		:: s == RUNNING ->
			atomic {
#ifdef FAULT_STOP_EARLY
				t = (clock - 1 > last -> clock - 1 : last + 1);
#else
				MOMENT;
#endif
				changing++
			}
			atomic {
				changing--;
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
	od;
	atomic { s = 0; at = 0; t = 0 }
}

/* posix/clear.c and drain/clear.c; was is the state that the call found. */
inline clear()
{
	was = state;
	if
	:: was == FULL || was == HELD ->
#ifdef FAULT_CLEAR_NO_STOP
		clock++; t = clock;
#else
		atomic { MOMENT; add_mark(M_STOP, t) }
#endif
		STORE_STATE(SUSPENDED, t);
		t = 0
	:: else
	fi;
	atomic { clock++; to = clock }
#ifdef FAULT_CLEAR_TELLS_FULL
	sync(); /* the mark of a writer that has found the stream full since then remains */
#endif
	atomic { /* published events are removed, even with late times; there is no watermark
		  * here */
		for (e : 0 .. ALL - 1) {
			if
			:: published[e] && !taken[e] && stamp[e] > to -> to = stamp[e]
			:: else
			fi
		}
		e = 0
	}
	do
	:: atomic {
		found = NONE;
		for (e : 0 .. ALL - 1) {
			if
			:: published[e] && !taken[e] && (found == NONE || stamp[e] < stamp[found]) ->
				found = e
			:: else
			fi
		}
		e = 0;
		if
		:: marks > 0 && (found == NONE || mark_at[0] <= stamp[found]) -> tell_mark(1)
		:: else ->
			if
			:: found != NONE && stamp[found] <= to -> take(found)
			:: else -> break
			fi
		fi
	}
	od;
	atomic {
#ifndef FAULT_CLEAR_KEEPS_MARK
		full_marked = 0;
#endif
		is_full = 0;
		told = UNKNOWN;
		last = (last > to -> last : to);
#ifdef FAULT_CLEARED_LATER
		cleared = clock + 1;
#else
		for (e : 0 .. ALL - 1) { /* later stamps are younger */
			if
			:: stamp[e] && !taken[e] && stamp[e] <= to -> cleared = to
			:: else
			fi
		}
		e = 0;
#endif
		found = 0;
		to = 0
	}
	atomic { /* resume_if_full(): a writer that found it full meanwhile is counted, and not
		  * reported */
#ifndef FAULT_CLEAR_NO_RESUME
		if
		:: state == FULL ->
			MOMENT;
			add_mark(M_RESUMED, t);
			state = RUNNING;
			since = t;
			t = 0
		:: else
		fi;
#endif
		is_really_full = 0;
		untold = 0
	}
	word++
}

proctype Control()
{
	byte calls, s, at, t, e, found, to, was;
	bit more, stopped, late, now_on, now_full;

	do
	:: calls < CALLS ->
		calls++;
		call_begins();
		if
		:: start(); atomic { stopped = 0; phase = ON }
		:: stop(); atomic { stopped = 1; phase = OFF }
		:: clear();
			atomic {
				/*
				 * The state is unchanged; a full stream is suspended by itself and
				 * remains so.
				 */
				stopped = was != RUNNING;
				phase = (stopped -> OFF : ON);
				was = 0
			}
		fi
	:: true -> /* a read: peek, consume */
		sync();
		read_one();
		atomic { more = 0; assert(!stopped || state != RUNNING) }
	:: calls == CALLS && writers == 0 -> break
	od;
	/* No thread traces any more: the rest is read, until a third look finds no event. */
	calls = 0;
	do
	:: calls < 3 ->
		sync();
		read_one();
		calls = (more -> 0 : calls + 1)
	:: else -> break
	od;
	atomic {
		assert(state == (phase == ON -> RUNNING : SUSPENDED));
		assert(untold == 0);
		assert(marks == 0 || (marks == 1 && mark_kind[0] == M_RESTART));
		assert(told == UNKNOWN || (told == ON) == (state == RUNNING && marks == 0));
		assert(accounted == EVENTS + WRITERS - 1);
		for (e : 0 .. ALL - 1) {
			assert(!published[e] || taken[e]);
			free = free + (published[e] && !closed[e])
		}
		assert(free == ROOM)
	}
}

init {
	byte w;

	atomic {
		for (w : 0 .. WRITERS - 1) { writers++; run Writer(w) }
		run Control()
	}
}
