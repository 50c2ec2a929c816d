/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/segment.h - words of the memory that a process shares with its first stream, to be written
 * by anybody.
 */
#ifndef PTX_TESTS_FUZZ_SEGMENT_H
#define PTX_TESTS_FUZZ_SEGMENT_H

#include <stdbool.h>
#include <trace.h>

/* Maps the arena and the stream's region once more. */
void segment_see(void);

/* Part and kind as fuzz_words[] of segment.c has them; any number is one. */
void segment_write(unsigned part, unsigned place, unsigned kind, unsigned value);

/*
 * As the first stream's guardian is told when it is made, and when its process died; the events of
 * the type are in the log then, if nothing was written here. Of a LOOP log the oldest may be gone.
 */
void segment_live(void);
void segment_die(trace_id_t trid, int log_fd, trace_event_id_t type, bool loop, bool log_loop,
		 bool hostile);

#endif
