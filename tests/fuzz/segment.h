/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/segment.h - writes into words of the memory that a process shares with the controller of its
 * first stream.
 */
#ifndef PTX_TESTS_FUZZ_SEGMENT_H
#define PTX_TESTS_FUZZ_SEGMENT_H

#include <stdbool.h>
#include <trace.h>

/* Maps the arena and the stream's region a second time. */
void segment_see(void);

/*
 * Part and kind are numbers of fuzz_words[] in segment.c; any other number is reduced to one of
 * them.
 */
void segment_write(unsigned part, unsigned place, unsigned kind, unsigned value);

/*
 * The first stream's guardian as it gets its data at its creation, and at the death of its process.
 * If no word was overwritten, the log then has the events of the type. A LOOP log may lack the
 * oldest.
 */
void segment_live(void);
void segment_die(trace_id_t trid, int log_fd, trace_event_id_t type, bool loop, bool log_loop,
		 bool hostile);

#endif
