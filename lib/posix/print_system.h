/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/print_system.h - the data of system events as text.
 *
 * Threads   all functions may run concurrently, each with a text of its own.
 */
#ifndef PTX_POSIX_PRINT_SYSTEM_H
#define PTX_POSIX_PRINT_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

#include <trace.h>

#include "posix/text.h"

/*
 * Appends the data of a system event of the active stream or opened log, after a blank, as
 * posixtrace dump prints them. The data are hostile. Returns false, and appends nothing, if the
 * type is no system event with data, or if its data are not valid.
 *
 * The function calls functions that lock the stream, so the caller must not hold this lock.
 */
bool ptx_print_system(struct ptx_text *text, trace_id_t trid, trace_event_id_t type,
		      const void *data, size_t len);

#endif
