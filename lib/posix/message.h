/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/message.h - the message of an event whose type has a format.
 *
 * Threads   no state; all functions may run concurrently.
 */
#ifndef PTX_POSIX_MESSAGE_H
#define PTX_POSIX_MESSAGE_H

#include <stddef.h>

#include <trace_np.h>

/*
 * Passes the message to put(), part by part. The parts are not escaped and have no NUL. `schema`
 * has a format. The data are hostile.
 */
void ptx_message_parts(const struct posix_trace_schema_np *schema, const void *data, size_t len,
		       unsigned flags, void (*put)(void *arg, const char *part, size_t len),
		       void *arg);

#endif
