/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/site.h - event types of trace points that are one line of source, registered at their first
 * use.
 *
 * Threads   all functions may run concurrently, also for the same line. Signals: async-signal-safe,
 *           except for the lock of a backing file.
 */
#ifndef PTX_POSIX_SITE_H
#define PTX_POSIX_SITE_H

#include <trace.h>

/*
 * Returns the event type with the name `base` + `suffix` and this schema; `base` is truncated if
 * the name is too long. POSIX_TRACE_UNNAMED_USEREVENT: the process has no more names, or all nine
 * types of this name have other schemas.
 */
trace_event_id_t ptx_site_type(const char *base, const char *suffix, const char *schema);

#endif
