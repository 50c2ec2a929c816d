/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_mapping_np.h - the files that traced processes had mapped executable. With these mappings a
 * reader converts the program address of an event to an address in a file. Included by
 * <trace_np.h>.
 *
 * Threads  every function may be called from any thread at the same time.
 * Signals  no function is async-signal-safe.
 * Errors   a function returns 0 or the error number, and leaves errno as it was. Functions that
 *          read return EINVAL if trid is not an opened log of this process, or if a pointer is
 *          null.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: posix_trace_mapping_getnext_np(3).
 */
#ifndef _TRACE_MAPPING_NP_H
#define _TRACE_MAPPING_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIX_TRACE_BUILD_ID_MAX_NP 32

/* A mapping that the log has. */
struct posix_trace_mapping_np {
	int64_t from_ns;       /* the mapping is known from this time, CLOCK_REALTIME */
	int64_t until_ns;      /* the mapping is known up to this time; INT64_MAX: the log's end */
	uint64_t start, end;   /* the first address, and the address behind the last byte */
	uint64_t offset;       /* the offset in the file that is mapped at the address start */
	uint64_t base;         /* an address minus `base` is the address in the file's symbols */
	pid_t pid;             /* the process */
	pid_t parent;          /* not 0: no file; pid is a child and has the mappings of parent */
	uint32_t build_id_len; /* bytes; 0: not known */
	unsigned char build_id[POSIX_TRACE_BUILD_ID_MAX_NP];
	const char *path;      /* the file's path at from_ns; valid until posix_trace_close() */
};

/*
 * Stores the next mapping of an opened log, in the order of processes and times. At the end, stores
 * a non-zero value in *unavailable and returns 0. EINVAL.
 */
int posix_trace_mapping_getnext_sized_np(trace_id_t trid, struct posix_trace_mapping_np *mapping,
					 size_t size, int *unavailable);
static __inline int posix_trace_mapping_getnext_np(trace_id_t trid,
						   struct posix_trace_mapping_np *mapping,
						   int *unavailable)
{
	return posix_trace_mapping_getnext_sized_np(trid, mapping, sizeof(*mapping), unavailable);
}

/* Begins again with the first mapping. EINVAL. */
int posix_trace_mapping_rewind_np(trace_id_t trid);

/*
 * Stores the mapping that the process `pid` had at `address` at the time `time_ns`, the time of an
 * event. A child has the mappings of its parent. ENOENT: the mapping is not known. EINVAL.
 */
int posix_trace_mapping_find_sized_np(trace_id_t trid, pid_t pid, uint64_t address,
				      int64_t time_ns, struct posix_trace_mapping_np *mapping,
				      size_t size);
static __inline int posix_trace_mapping_find_np(trace_id_t trid, pid_t pid, uint64_t address,
						int64_t time_ns,
						struct posix_trace_mapping_np *mapping)
{
	return posix_trace_mapping_find_sized_np(trid, pid, address, time_ns, mapping,
						 sizeof(*mapping));
}

/*
 * Publishes the mappings of this process to other processes that trace it. Call this function
 * before dlclose() and after dlopen(). The library itself publishes the mappings when a program
 * starts and ends. A controller also examines the process a few times a second. The function does
 * nothing while no other process traces this process.
 *
 * ENOSPC: there was no room for all mappings.
 */
int posix_trace_mapping_publish_np(void);

#ifdef __cplusplus
}
#endif

#endif
