/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/segment.h - words of the memory that a process shares with its first stream, to be written by anybody.
 */
#ifndef PTX_TESTS_FUZZ_SEGMENT_H
#define PTX_TESTS_FUZZ_SEGMENT_H

/* Maps the arena and the stream's region once more. */
void segment_see(void);

/* Part and kind as fuzz_words[] of segment.c has them; any number is one. */
void segment_write(unsigned part, unsigned place, unsigned kind, unsigned value);

#endif
