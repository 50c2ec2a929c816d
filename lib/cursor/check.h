/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check.h - proves a log, or says where and why it is not what FORMAT demands.
 *
 * Every byte that FORMAT gives a meaning is read and compared: checksums, lengths, counts, times,
 * the index against the blocks, the ledger against the events.
 *
 * Errors    0 when the whole file was read, whatever was found; EINVAL no log; ENOMEM.
 */
#ifndef PTX_CURSOR_CHECK_H
#define PTX_CURSOR_CHECK_H

#include <trace_np.h>

int ptx_check_log(int fd, void (*report)(void *arg, const struct posix_trace_fault_np *fault),
		  void *arg, struct posix_trace_check_np *result);

#endif
