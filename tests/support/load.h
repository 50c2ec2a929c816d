/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/load.h - one stream under load, with an account of its own that the stream's ledger and
 * the events read must equal.
 *
 * Threads trace as fast as they can; a timer of each interrupts it with a signal whose handler
 * traces into the same stream. Every event carries its maker, its number and a checksum. The events
 * read must be complete, in each maker's order, without a gap unless the stream reports one
 * (OVERFLOW, or STOP and START). For every type and thread, the ledger must have the exact numbers
 * of events made, read and lost, with the causes.
 */
#ifndef PTX_TESTS_LOAD_H
#define PTX_TESTS_LOAD_H

#include <stddef.h>
#include <stdint.h>

enum load_reader {
	READ_FAST, /* all the time */
	READ_SLOW, /* a few events, then a pause */
	READ_LATE, /* when all is over */
};

#define LOAD_THREADS 16

struct load {
	int policy;     /* of the stream; FLUSH makes one with a log, which is read at the end */
	size_t size;
	int threads;    /* at most LOAD_THREADS */
	uint64_t events; /* number that each thread traces */
	long timer_ns;  /* each thread's timer; 0 for none */
	enum load_reader reader;
};

/* The resulting numbers, for tests that check that enough happened. */
struct load_sum {
	uint64_t made;
	uint64_t made_by_handlers;
	uint64_t read;
};

/* Runs the load and asserts all of the above. */
struct load_sum load_run(const struct load *load);

#endif
