/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_store.h - keeps the kernel's records, and returns them in order of time.
 *
 * The memory that this needs does not depend on the number of records. New records are collected in
 * a chunk of KERNEL_STORE_CHUNK bytes. A full chunk is sorted and appended to a temporary file as a
 * run. A reader merges the runs. Records come nearly in order of time, so few runs overlap. The
 * reader opens a run when it needs the run's first record, and has a buffer for each open run. The
 * file is made when the first chunk is full.
 *
 * Threads  one thread uses a store and its readers.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_STORE_H
#define POSIXTRACE_LIVE_KERNEL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KERNEL_STORE_CHUNK (UINT32_C(1) << 20)
#define KERNEL_STORE_MAX   (UINT64_C(1) << 36) /* bytes of the file */

struct kernel_record {
	int64_t time_ns;   /* CLOCK_REALTIME */
	pid_t pid, tid;    /* pid: 0 if only kernel.task knows it */
	uint32_t other;
	uint16_t cpu;
	uint8_t kind, detail;
};

/* The further part of a record of kind KERNEL_EVENT. */
struct kernel_event {
	uint64_t address;      /* of the program's code; 0: unknown */
	uint32_t type, bytes;  /* type: index in kernel.type, or KERNEL_TYPE_... */
};

/* A record as readers return it. data has event.bytes bytes. */
struct kernel_item {
	struct kernel_record record;
	struct kernel_event event; /* zeros, unless the record's kind is KERNEL_EVENT */
	const unsigned char *data;
};

/* A store of all zeros is empty. */
struct kernel_store {
	unsigned char *chunk;  /* records in order of their arrival */
	size_t used;           /* bytes */
	struct kernel_place {
		int64_t time_ns;
		uint32_t at, kind; /* at: offset in chunk */
	} *place;
	size_t places;
	unsigned char *sorted; /* the bytes of the last chunk in order of time */
	struct kernel_run {
		int64_t first_ns;  /* the time of its first record */
		uint64_t at, bytes;
		uint32_t number;   /* in order of arrival */
	} *run;
	size_t runs;
	uint64_t bytes;        /* of the file */
	uint64_t kept;         /* records */
	int fd;                /* only valid if has_file */
	bool has_file, has_failed;
};

/*
 * Keeps a record. event and data are read only if the record's kind is KERNEL_EVENT. Returns false
 * if there is no room for it. The function prints the reason why the file cannot be written, once.
 */
bool kernel_store_keep(struct kernel_store *store, const struct kernel_record *record,
		       const struct kernel_event *event, const void *data);

/* Frees the memory and removes the file. The store is then empty. */
void kernel_store_fini(struct kernel_store *store);

struct kernel_input;
struct kernel_reader {
	const struct kernel_store *store;
	struct kernel_input *input; /* the open runs, as a heap: the first has the next record */
	size_t inputs;
	size_t next;                /* index of the first run that was not opened */
	uint64_t taken;             /* records that were skipped; kernel_reader_end() keeps it */
	int err;
};

/*
 * Begins to read all records in order of time. Records with the same time are in the order of their
 * kinds, and then in the order of their arrival. No record may be kept until kernel_reader_end(),
 * which must be called in any case. Returns 0 or an error number.
 */
int kernel_reader_begin(struct kernel_reader *reader, struct kernel_store *store);

/*
 * Returns the next record, which remains the next one until kernel_reader_skip(). Returns NULL
 * behind the last one, and after an error, which reader->err then has.
 */
const struct kernel_item *kernel_reader_look(const struct kernel_reader *reader);
void kernel_reader_skip(struct kernel_reader *reader);
void kernel_reader_end(struct kernel_reader *reader);

#endif
