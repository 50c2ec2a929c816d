/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_check_np.h - verifies a log. Included by <trace_np.h>.
 *
 * Threads  several threads may call the functions at the same time, with different descriptors.
 * Signals  the functions are not async-signal-safe.
 * Errors   posix_trace_check_np() returns 0 or the error number. No function changes errno.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: trace_np(3).
 */
#ifndef _TRACE_CHECK_NP_H
#define _TRACE_CHECK_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"
#include "trace_ledger_np.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns the reason, in English, why a file cannot be opened as a log, a constant such as "this is
 * not a trace log". Returns null if posix_trace_open_np() with POSIX_TRACE_OPEN_SALVAGE_NP does not
 * return EINVAL or ENOTSUP for the file. The message of these errors says nothing about the file.
 *
 * file_desc  the file
 */
const char *posix_trace_open_fault_np(int file_desc);

/* A fault of a log or of a backing file. */
struct posix_trace_fault_np {
	uint64_t offset;    /* in the file, bytes */
	uint64_t bytes;     /* number of affected bytes, 0 = not known */
	const char *reason; /* an English sentence; valid until report() returns */
};

/* The result of a verification. */
struct posix_trace_check_np {
	int complete;         /* not 0: the log's writer completed the log */
	uint64_t faults;      /* number of faults */
	uint64_t blocks;      /* number of blocks of events */
	uint64_t events;      /* number of events in whole blocks */
	uint64_t bytes;       /* size of the file */
	uint64_t reserved[8]; /* 0; for later versions */
	struct posix_trace_ledger_np ledger; /* the line of the total; remains the last member */
};

/*
 * Verifies every checksum, every length, and the counts of every block against its events. Also
 * verifies the ledger's equation (<trace_ledger_np.h>) in total, for each type and for each thread.
 *
 * file_desc  the log, open for reading; its position does not matter
 * report     called for each fault, with `arg` as its first argument; may be null
 * result     receives the summary
 *
 * Returns 0 if the whole file was read, with or without faults. EINVAL: the file is not a log, or
 * `result` is null. Other errors: ENOMEM, and errors of reading the file.
 */
int posix_trace_check_sized_np(int file_desc,
			       void (*report)(void *arg, const struct posix_trace_fault_np *fault),
			       void *arg, size_t fault_size, struct posix_trace_check_np *result,
			       size_t result_size);
static __inline int posix_trace_check_np(int file_desc,
					 void (*report)(void *arg,
							const struct posix_trace_fault_np *fault),
					 void *arg, struct posix_trace_check_np *result)
{
	return posix_trace_check_sized_np(file_desc, report, arg,
					  sizeof(struct posix_trace_fault_np), result,
					  sizeof(*result));
}

#ifdef __cplusplus
}
#endif

#endif
