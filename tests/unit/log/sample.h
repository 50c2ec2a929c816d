/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/log/sample.h - logs for the suites of log/ and cursor/: every event is a function of its
 * number, so that a reader can verify it.
 */
#ifndef PTX_TESTS_SAMPLE_H
#define PTX_TESTS_SAMPLE_H

#include <check.h>
#include <errno.h>
#include <trace.h>

#include "cursor/check.h"
#include "cursor/stored.h"
#include "log/writer.h"
#include "support/support.h"

#define SAMPLE_TYPES   7
#define SAMPLE_THREADS 5
#define SAMPLE_TIME(i) (INT64_C(1700000000000000000) + (int64_t)(i) * 1000)

struct sample {
	struct ptx_log *log;
	struct ptx_ledger ledger;
	struct ptx_log_status status;
	uint64_t events; /* number of events put so far, and of the next one */
	uint64_t bytes;  /* bytes of their records */
	uint32_t data_max;
};

/* Makes event number i, with up to data_max bytes of data, which it stores in data. */
void sample_event(uint64_t i, uint32_t data_max, struct ptx_log_event *event, uint8_t *data);

/* A new file in memory that can be read, written and opened again. */
int sample_file(void);

/*
 * The attributes and facts of the logs. They have the level of compression PTX_LEVEL of the
 * environment, so that a suite can be run with compressed logs, too; none without it.
 */
void sample_facts(struct ptx_log_facts *facts, uint32_t policy, uint64_t log_size,
		  uint32_t data_max);
void sample_origin(struct ptx_log_origin *origin);

/* Begins a log on a duplicate of fd. Returns 0 or the result of ptx_log_create(). */
int sample_begin(struct sample *sample, int fd, uint32_t policy, uint64_t log_size,
		 uint32_t data_max);
/* The same with given facts and the frozen origin: the log has the same bytes each time. */
void sample_begin_frozen(struct sample *sample, int fd, const struct ptx_log_facts *facts);

/*
 * Puts up to count events, and writes when the caller requests it. Returns PUT_DONE or PUT_FULL;
 * *err is the error of a write.
 */
enum ptx_log_append sample_put(struct sample *sample, uint64_t count, int *err);
/* The same in tests where no call may fail. */
void sample_add(struct sample *sample, uint64_t count);
void sample_write(struct sample *sample);

/* Completes and destroys the log, with a ledger in which every event put is reported. */
int sample_end(struct sample *sample);
/* Discards it as a killed process would. */
void sample_die(struct sample *sample);

/* A complete log of count events, flushed after every flush events. */
void sample_make(int fd, uint32_t policy, uint64_t log_size, uint32_t data_max, uint64_t count,
		 uint64_t flush);
/*
 * The same with the frozen origin, for tests that damage it at places that are the same in each
 * run.
 */
void sample_make_frozen(int fd, uint32_t policy, uint64_t log_size, uint32_t data_max,
			uint64_t count, uint64_t flush);

/* Reads to the end: events first, first + 1, ...; returns their number. */
uint64_t sample_read(struct ptx_stored *stored, uint64_t first, uint32_t data_max);
struct ptx_stored *sample_open(int fd, bool salvage);

/* Opens the file, reads events from number first on, closes; returns their number. */
uint64_t sample_read_file(int fd, uint64_t first, uint32_t data_max);

/*
 * Asserts that the log has no fault. Returns the number of faults, and prints them if show is set.
 */
void sample_prove(int fd);
uint64_t sample_faults(int fd, bool show);

/* The file's bytes, malloc'ed; a file with these bytes. */
uint8_t *sample_bytes(int fd, size_t *size);
int sample_file_of(const void *bytes, size_t size);

#endif
