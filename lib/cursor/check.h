/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check.h - checks a whole log against FORMAT, and reports each fault with its place.
 *
 * The check reads every part of the file that belongs to the log. It verifies checksums, lengths,
 * counts and times, and compares the index with the blocks and the ledger with the events.
 * posix_trace_check_np() calls ptx_check_log().
 *
 * Threads   any thread may call; calls share nothing but the descriptor, whose offset is not used.
 * Errors    0 if the whole file was read, with or without faults; EINVAL if the file is no log;
 *           EMFILE; ENOMEM.
 */
#ifndef PTX_CURSOR_CHECK_H
#define PTX_CURSOR_CHECK_H

#include <trace_np.h>

/*
 * Calls report() for each fault, in the order in which the check finds the faults. If `report` is
 * NULL, the faults are only counted. *result gets the counts, also after an error. The descriptor
 * `fd` stays open.
 */
int ptx_check_log(int fd, void (*report)(void *arg, const struct posix_trace_fault_np *fault),
		  void *arg, struct posix_trace_check_np *result);

/*
 * Returns the reason, a constant text, why ptx_stored_open() with salvage returns EINVAL or ENOTSUP
 * for a file. Returns NULL if it does not, or if there is no memory. May change errno.
 */
const char *ptx_check_open_fault(int fd);

#endif
