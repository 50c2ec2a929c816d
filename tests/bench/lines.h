/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lines.h - what lines_probe writes for lines_simulate into the trace of its memory accesses.
 *
 * The trace has addresses only. So lines_probe stores into bytes of a page at a fixed address: byte
 * I begins a turn of thread I.
 */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#define LINES_AT       0x60000000ul
#define LINES_THREADS  256
#define LINES_TURN_END LINES_THREADS       /* no thread has a turn */
#define LINES_MEASURE  (LINES_THREADS + 1) /* begins the measured part */
#define LINES_EVENT    (LINES_THREADS + 2) /* begins an event */
#define LINES_BYTES    (LINES_THREADS + 3)

#endif
