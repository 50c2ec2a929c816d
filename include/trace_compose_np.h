/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_compose_np.h - composes a log of events that this library did not trace: events of another
 * tracer or of another log. The result is a complete log with a ledger. Included by <trace_np.h>.
 *
 * The log has the events in the order of the calls. Any times are allowed, and they may decrease.
 *
 * Threads  one thread at a time uses a composer; different composers do not depend on each other.
 * Signals  no function is async-signal-safe. Functions write to the file and wait for it.
 * Errors   a function of type int returns 0 or the error number, and leaves errno as it was. Each
 *          such function returns EINVAL also if a pointer is null, unless its comment permits null.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: posix_trace_compose_np(3).
 */
#ifndef _TRACE_COMPOSE_NP_H
#define _TRACE_COMPOSE_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"
#include "trace_ledger_np.h"
#include "trace_mapping_np.h"
#include "trace_object_np.h"
#include "trace_read_np.h"

#ifdef __cplusplus
extern "C" {
#endif

struct posix_trace_composer_np;

/* The origin of the events. */
struct posix_trace_origin_np {
	pid_t pid;             /* the traced process, 0 = none */
	char host[64];         /* the machine of the process; empty: this machine */
	char clock[32];        /* any name for the clock of the events; empty: "unknown" */
	uint64_t clock_hz;     /* nominal frequency of the clock, 0 = not known */
	int64_t creation_ns;   /* of the stream; ignored if attr is from a stream or a log */
	int64_t resolution_ns; /* of the clock; 0: the resolution in attr */
	char generation[TRACE_NAME_MAX + 1]; /* name of the tracer; empty: the name in attr */
	int64_t begin_ns;      /* the time at which the log began; 0: now */
};

/*
 * Begins a log at the beginning of a file, as posix_trace_create_withlog() does.
 *
 * file_desc  as for posix_trace_create_withlog(); the caller closes the descriptor
 * attr       name, sizes and policies; null: the defaults, and a log without a limit (APPEND).
 *            max-data-size limits the data of an event. log-max-size limits the events of the log,
 *            unless the policy is APPEND
 * origin     may be null
 *
 * EBADF: file_desc is not open for writing. EINVAL: attr is not valid, or the file does not suit
 * the log's full policy. Other errors: ENOMEM, and errors of writing the file.
 */
int posix_trace_compose_sized_np(int file_desc, const trace_attr_t *attr,
				 const struct posix_trace_origin_np *origin, size_t size,
				 struct posix_trace_composer_np **composer);
static __inline int posix_trace_compose_np(int file_desc, const trace_attr_t *attr,
					   const struct posix_trace_origin_np *origin,
					   struct posix_trace_composer_np **composer)
{
	return posix_trace_compose_sized_np(file_desc, attr, origin, sizeof(*origin), composer);
}

/*
 * Names an event type. If *id is 0, the function finds the type with this name, or makes a type
 * with the next number from 64 on. It stores the number of the type in *id. If *id is 1 to 1023,
 * the function gives the name to the type with this number. The log has the standard's names and
 * numbers from the beginning.
 *
 * ENAMETOOLONG: the name has more than TRACE_EVENT_NAME_MAX bytes. ENOSPC: *id is 0, and the log
 * has TRACE_USER_EVENT_MAX names. EEXIST: the number has another name. EINVAL: the number is
 * greater than 1023. ENOMEM.
 */
int posix_trace_compose_name_np(struct posix_trace_composer_np *composer, const char *name,
				trace_event_id_t *id);

/*
 * Appends an event. The function uses event->time_ns as the time, and ignores
 * event->info.posix_timestamp. The only flag that it uses is POSIX_TRACE_EVENT_LATE_NP.
 *
 * EINVAL: the event type has no name, or the truncation status is not valid. EMSGSIZE: the data
 * exceed the maximum data size. ENOSPC: an UNTIL_FULL log is full. After an error of writing, the
 * log does not have the event, and the call may be repeated.
 */
int posix_trace_compose_event_sized_np(struct posix_trace_composer_np *composer,
				       const struct posix_trace_event_np *event, size_t size);
static __inline int posix_trace_compose_event_np(struct posix_trace_composer_np *composer,
						 const struct posix_trace_event_np *event)
{
	return posix_trace_compose_event_sized_np(composer, event, sizeof(*event));
}

/*
 * Adds lost events to the ledger of the log.
 *
 * cause     POSIX_TRACE_LOST_*_NP; or POSIX_TRACE_UNATTRIBUTED_NP for called events that are in no
 *           other column: the function then ignores `event_id` and `thread`
 * event_id  the type of the lost events; 0: not known
 * thread    the thread that called them; null: not known
 *
 * EINVAL: the cause or the event type is not valid.
 */
int posix_trace_compose_lost_sized_np(struct posix_trace_composer_np *composer, int cause,
				      uint64_t count, trace_event_id_t event_id,
				      const struct posix_trace_thread_np *thread, size_t size);
static __inline int posix_trace_compose_lost_np(struct posix_trace_composer_np *composer,
						int cause, uint64_t count,
						trace_event_id_t event_id,
						const struct posix_trace_thread_np *thread)
{
	return posix_trace_compose_lost_sized_np(composer, cause, count, event_id, thread,
						 sizeof(*thread));
}

/*
 * Gives an event type a schema, see <trace_schema_np.h>. EEXIST: the type has another schema.
 * EINVAL: the event type has no name, or the text is not a schema. ENOMEM.
 */
int posix_trace_compose_schema_np(struct posix_trace_composer_np *composer,
				  trace_event_id_t event_id, const char *schema);

/* Adds the name of an object. EINVAL. ENOMEM. */
int posix_trace_compose_object_sized_np(struct posix_trace_composer_np *composer,
					const struct posix_trace_object_np *object, size_t size);
static __inline int posix_trace_compose_object_np(struct posix_trace_composer_np *composer,
						  const struct posix_trace_object_np *object)
{
	return posix_trace_compose_object_sized_np(composer, object, sizeof(*object));
}

/*
 * Adds a mapping of a file, as posix_trace_mapping_getnext_np() stores it, so that readers of the
 * log find the functions of addresses. The order of the calls has no meaning.
 *
 * EINVAL: `pid` is 0, the range has no addresses, the build-id is too long, or the path is null or
 * too long. ENOMEM. ENOSPC: the log has the greatest possible number of mappings. Readers then find
 * no mapping for times after `from_ns` of this mapping.
 */
int posix_trace_compose_mapping_sized_np(struct posix_trace_composer_np *composer,
					 const struct posix_trace_mapping_np *mapping,
					 size_t size);
static __inline int posix_trace_compose_mapping_np(struct posix_trace_composer_np *composer,
						   const struct posix_trace_mapping_np *mapping)
{
	return posix_trace_compose_mapping_sized_np(composer, mapping, sizeof(*mapping));
}

/*
 * Completes the log and frees the composer, also after an error.
 *
 * status  the last status of the stream; null: the stream is suspended, and has the overrun status
 *         if an event was lost
 */
int posix_trace_compose_finish_np(struct posix_trace_composer_np *composer,
				  const struct posix_trace_status_info *status);

/* Frees the composer without completing the log, as if the log's writer had been killed. */
void posix_trace_compose_abandon_np(struct posix_trace_composer_np *composer);

#ifdef __cplusplus
}
#endif

#endif
