/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/load.h - puts one stream under load, and keeps an account of the events that were made.
 * The stream's ledger and the events that were read must agree with this account.
 *
 * Threads trace as fast as they can. Each thread has a timer that interrupts it with a signal, and
 * the signal's handler traces into the same stream. A maker is a thread or a handler. The data of
 * an event has the maker, the number of the event and a checksum. Each event that is read must be
 * complete, and the events of a maker must be in order. The numbers may have a gap only where the
 * stream reports a gap (OVERFLOW, or STOP and START). For every type and thread, the ledger must
 * have the exact numbers of events made, read and lost, and the causes of the losses.
 */
#ifndef PTX_TESTS_LOAD_H
#define PTX_TESTS_LOAD_H

#include <stddef.h>
#include <stdint.h>

enum load_reader {
	READ_FAST, /* reads all the time */
	READ_SLOW, /* reads a few events, then pauses */
	READ_LATE, /* reads only when all threads have ended */
};

#define LOAD_THREADS 16

struct load {
	int policy;     /* of the stream; with FLUSH the stream has a log, read at the end */
	size_t size;
	int threads;    /* at most LOAD_THREADS */
	uint64_t events; /* the number of events that each thread traces */
	long timer_ns;  /* period of each thread's timer; 0: there is no timer */
	enum load_reader reader;
};

/* The resulting numbers of events, for tests that check that the load was large enough. */
struct load_sum {
	uint64_t made;
	uint64_t made_by_handlers;
	uint64_t read;
};

/* Runs the load and asserts what the comment at the top of this file requires. */
struct load_sum load_run(const struct load *load);

#endif
