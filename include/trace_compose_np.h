/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_compose_np.h - composes a log of events that this library did not trace: events of another
 * tracer or of another log. The result is a complete log with a ledger. Included by <trace_np.h>.
 *
 * The log has the events in the order of the calls. Any times are allowed, and they may decrease.
 *
 * Threads  one thread at a time uses a composer; different composers do not depend on each other.
 * Signals  no function is async-signal-safe. Functions write to the file and wait for it.
 * Errors   a function of type int returns 0 or the error number, and leaves errno as it was. Every
 *          function returns EINVAL also if a pointer is null.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: posix_trace_compose_np(3).
 */
#ifndef _TRACE_COMPOSE_NP_H
#define _TRACE_COMPOSE_NP_H

#include <stdint.h>
#include <trace.h>
#include <trace_ledger_np.h>
#include <trace_mapping_np.h>
#include <trace_object_np.h>
#include <trace_read_np.h>

#ifdef __cplusplus
extern "C" {
#endif

struct posix_trace_composer_np;

/* The origin of the events. */
struct posix_trace_origin_np {
	pid_t pid;             /* the traced process, 0 = none */
	char host[64];         /* its machine; empty: this one */
	char clock[32];        /* any name for the clock of the events; empty: "unknown" */
	uint64_t clock_hz;     /* nominal frequency of the clock, 0 = not known */
	int64_t creation_ns;   /* of the stream; ignored if attr is that of a stream or a log */
	int64_t resolution_ns; /* of the clock; 0: that of attr */
	char generation[TRACE_NAME_MAX + 1]; /* name of the tracer; empty: the one in attr */
};

/*
 * Begins a log at the beginning of a file, as posix_trace_create_withlog() does.
 *
 * file_desc  open for reading and writing; the caller keeps it and closes it after the last call
 * attr       name, sizes and policies; null: the defaults, and a log that grows (APPEND). In an
 *            APPEND log, the maximum data size limits the data of an event. In other logs, the
 *            maximum log size limits the file
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
 * Names an event type. If *id is 0, finds the type of that name or makes one with the next number
 * from 64 on, and stores its number in *id. Otherwise gives the name to the number *id, 1 to 1023.
 * The log has the standard's names and numbers from the beginning.
 *
 * ENAMETOOLONG: the name has more than TRACE_EVENT_NAME_MAX bytes. ENOSPC: *id is 0, and the log
 * has TRACE_USER_EVENT_MAX names. EEXIST: the number has another name. EINVAL: the number is
 * greater than 1023.
 */
int posix_trace_compose_name_np(struct posix_trace_composer_np *composer, const char *name,
				trace_event_id_t *id);

/*
 * Appends an event. posix_timestamp of event->info is not used: time_ns has the time. Among the
 * flags, only POSIX_TRACE_EVENT_LATE_NP is used.
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
 * cause     POSIX_TRACE_LOST_*_NP; or POSIX_TRACE_UNATTRIBUTED_NP for events that were called and
 *           are in no other column; event_id and thread are then not used
 * event_id  their type; 0: not known
 * thread    their thread; null: not known
 *
 * EINVAL: the cause or the event type is not valid. ENOMEM.
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
 * log find functions. The order of the calls has no meaning.
 *
 * EINVAL: the range has no addresses, the build-id is too long, or the path is null or too long.
 * ENOMEM. ENOSPC: the log has the greatest possible number of mappings. Readers then find no
 * mapping for times after from_ns.
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
 * status  the last status of the stream; null: suspended, with an overrun if an event was lost
 */
int posix_trace_compose_finish_np(struct posix_trace_composer_np *composer,
				  const struct posix_trace_status_info *status);

/* Frees the composer without completing the log, as if the log's writer had been killed. */
void posix_trace_compose_abandon_np(struct posix_trace_composer_np *composer);

#ifdef __cplusplus
}
#endif

#endif
