/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/log/sample.h - logs for the suites of log/ and cursor/. Every event is a function of its
 * number, so that a reader can verify the event.
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
	uint64_t events; /* number of events put so far, which is the number of the next event */
	uint64_t bytes;  /* bytes of the records of these events */
	uint32_t data_max;
};

/* Makes event number i, with up to data_max bytes of data, which it stores in data. */
void sample_event(uint64_t i, uint32_t data_max, struct ptx_log_event *event, uint8_t *data);

/* Makes a new file in memory that can be read, written and opened again. */
int sample_file(void);

/*
 * Stores the attributes and facts of the logs. The level of their compression is PTX_LEVEL of the
 * environment, so that a suite can also run with compressed logs. Without PTX_LEVEL there is no
 * compression.
 */
void sample_facts(struct ptx_log_facts *facts, uint32_t policy, uint64_t log_size,
		  uint32_t data_max);
void sample_origin(struct ptx_log_origin *origin);

/* Begins a log on a duplicate of fd. Returns 0 or the result of ptx_log_create(). */
int sample_begin(struct sample *sample, int fd, uint32_t policy, uint64_t log_size,
		 uint32_t data_max);
/*
 * Does the same with the given facts and the frozen origin, so that the log has the same bytes each
 * time.
 */
void sample_begin_frozen(struct sample *sample, int fd, const struct ptx_log_facts *facts);

/*
 * Puts up to `count` events, and writes blocks when the log requests it. Returns PUT_DONE or
 * PUT_FULL. *err is the error of a write.
 */
enum ptx_log_append sample_put(struct sample *sample, uint64_t count, int *err);
/* Does the same and asserts that no call fails. */
void sample_add(struct sample *sample, uint64_t count);
void sample_write(struct sample *sample);

/* Completes and destroys the log. In its ledger, every event that was put is reported. */
int sample_end(struct sample *sample);
/* Discards the log as the kernel would discard the memory of a killed process. */
void sample_die(struct sample *sample);

/* Makes a complete log of `count` events, with a flush after every `flush` events. */
void sample_make(int fd, uint32_t policy, uint64_t log_size, uint32_t data_max, uint64_t count,
		 uint64_t flush);
/*
 * Does the same with the frozen origin, for tests that damage the log at places that are the same
 * in each run.
 */
void sample_make_frozen(int fd, uint32_t policy, uint64_t log_size, uint32_t data_max,
			uint64_t count, uint64_t flush);

/* Reads events to the end, which must be `first`, `first` + 1 and so on. Returns their number. */
uint64_t sample_read(struct ptx_stored *stored, uint64_t first, uint32_t data_max);
struct ptx_stored *sample_open(int fd, bool salvage);

/*
 * Opens the file, reads its events from number `first` on, and closes it. Returns the number of
 * events.
 */
uint64_t sample_read_file(int fd, uint64_t first, uint32_t data_max);

/*
 * Asserts that the log has no fault. Returns the number of faults, and prints them if show is set.
 */
void sample_prove(int fd);
uint64_t sample_faults(int fd, bool show);

/*
 * sample_bytes() returns the bytes of the file, malloc'ed. sample_file_of() makes a file with these
 * bytes.
 */
uint8_t *sample_bytes(int fd, size_t *size);
int sample_file_of(const void *bytes, size_t size);

#endif
