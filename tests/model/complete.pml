/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * complete.pml - another process completes a log when its writer is killed: no event appears twice,
 * and none is missing (lib/flush/checkpoint.[ch], lib/log/write_resume.c).
 *
 * The ring is the sequence of its events; freed events may be overwritten at once. The flusher
 * reads the available events, writes a checkpoint of its next position, writes the block, and
 * frees the events of the block. It is killed before any step; a partly written block does not
 * count. The guardian counts the events in the file and looks for the checkpoint of that number. It
 * may be killed itself, and another guardian follows.
 *
 * Sizes: EVENTS, BLOCK, KILLS.
 */
byte published, freed;
byte file[EVENTS + 1];
byte in_file;
byte checkpoint_events[2], checkpoint_place[2]; /* events + 1; 0: half written or none */
byte kills;
bit dead;

#define STEP \
	atomic { \
		if \
		:: kills < KILLS -> kills++; goto killed \
		:: true \
		fi;
#define END }

proctype Writer()
{
	do
	:: published < EVENTS -> published++
	:: else -> break
	od
}

inline write_checkpoint(events, to)
{
	STEP
		if
#ifdef FAULT_ONE_CHECKPOINT
		:: true -> slot = 0
#else
		:: checkpoint_events[0] == events + 1 -> slot = 0
		:: checkpoint_events[1] == events + 1 -> slot = 1
		:: else -> slot = 1 - slot
#endif
		fi
	END;
	STEP checkpoint_events[slot] = 0 END;
	STEP checkpoint_place[slot] = to END;
	STEP checkpoint_events[slot] = events + 1 END
}

inline write_block()
{
	STEP
		do
		:: at < place ->
			assert(at >= freed); /* not freed: the event is unchanged */
			file[in_file] = at + 1;
			in_file++;
			at++
		:: else -> break
		od
	END
}

inline give_up()
{
	STEP
		if
		:: place > freed -> freed = place
		:: else
		fi
	END
}

proctype Flusher()
{
	byte at, place, slot = 1, i;

begin:
	/* The first guardian finds an empty file and an empty ring. */
	atomic {
		place = freed; /* move_to_claim */
		if
		:: checkpoint_events[0] == in_file + 1 -> place = checkpoint_place[0]; slot = 0
		:: checkpoint_events[1] == in_file + 1 -> place = checkpoint_place[1]; slot = 1
		:: else
		fi
	}
	do
	:: place < published ->
		atomic {
			at = place;
			place = (published - at > BLOCK -> at + BLOCK : published)
		}
#ifdef FAULT_GIVE_UP_FIRST
		give_up();
#endif
#ifdef FAULT_CHECKPOINT_LATE
		write_block();
		write_checkpoint(in_file, place);
#else
		write_checkpoint(in_file + place - at, place);
		write_block();
#endif
#ifndef FAULT_GIVE_UP_FIRST
		give_up()
#endif
	:: place == EVENTS -> break
	od;
	atomic {
		assert(in_file == EVENTS);
		for (i : 0 .. EVENTS - 1) { assert(file[i] == i + 1) }
	}
	goto done;
killed:
	atomic { at = 0; place = 0; slot = 1 }
	goto begin;
done:
	skip
}

init { atomic { run Writer(); run Flusher() } }
