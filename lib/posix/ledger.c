/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/ledger.c - the ledger of a stream or a log: in total, by type, by thread.
 *
 * The ledger of an active stream is computed for each call, by a census of the stream. The ledger
 * of a log is stored in the log.
 */
#include <stdlib.h>
#include <string.h>

#include <trace_np.h>

#include "arena/names.h"
#include "cursor/stored.h"
#include "flush/flush.h"
#include "posix/call.h"
#include "posix/first.h"

/* The public constants are the columns of the ledger. */
_Static_assert(PTX_LOST_CAUSES == POSIX_TRACE_LOST_CAUSES_NP, "the causes are those of trace_np.h");

/*
 * Calls `look` with the ledger of a locked stream of any kind. Returns the result of `look`, or an
 * error number such as ENOMEM. An active stream is locked during the census. Writers continue to
 * record meanwhile, and the ledger is exact for one moment. `init` makes the ledger: a summary if
 * `look` needs no line of a thread, because a stream may have had millions of threads.
 */
static int with_ledger(trace_id_t trid, void (*init)(struct ptx_ledger *ledger),
		       int (*look)(const struct ptx_stream *stream, const struct ptx_ledger *ledger,
				   void *argument),
		       void *argument)
{
	struct ptx_call call = ptx_call_begin();
	/* The stream may be of any kind: an active stream or a log. */
	struct ptx_stream *stream = ptx_stream_enter(trid, PTX_ANY);
	struct ptx_ledger *ledger;
	struct ptx_flush *flush;
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	/*
	 * A log that was opened has no flush. The turn is acquired before the lock, as for a clear.
	 */
	flush = stream->kind == PTX_STREAM_STORED ? NULL : stream->flush;
	if (flush)
		ptx_flush_account_begin(flush);
	pthread_mutex_lock(&stream->lock);
	/*
	 * The ledger of a log exists already; it belongs to the log and is valid under the lock.
	 */
	if (stream->kind == PTX_STREAM_STORED) {
		err = look(stream, ptx_stored_ledger(stream->stored), argument);
	} else {
		/* A ledger is too large for the stack. */
		ledger = malloc(sizeof *ledger);
		err = ENOMEM;
		if (ledger) {
			init(ledger);
			/*
			 * The census consumes no event, so that the call does not disturb the
			 * reader.
			 */
			err = ptx_drain_ledger(stream->drain, ledger);
			/*
			 * Adds the log's part of the account: the events that a LOOP log has
			 * overwritten.
			 */
			if (!err && flush)
				ptx_flush_account(flush, ledger);
			if (!err)
				err = look(stream, ledger, argument);
			/* The ledger is freed in each case, also after an error. */
			ptx_ledger_fini(ledger);
			free(ledger);
		}
	}
	pthread_mutex_unlock(&stream->lock);
	if (flush)
		ptx_flush_account_end(flush);
	ptx_registry_leave(stream);
	return ptx_call_end(call, err);
}

/*
 * Each of the three look functions copies one line for the program, under the stream's lock. This
 * function copies the line of all events.
 */
static int look_total(const struct ptx_stream *stream, const struct ptx_ledger *ledger,
		      void *argument)
{
	(void)stream;
	/* If the public struct has more columns, they become 0. */
	ptx_ledger_export(&ledger->total, argument);
	return 0;
}

/* EINVAL: no such stream, a null pointer, or a size less than that of the first version. */
PTX_EXPORT int posix_trace_get_ledger_sized_np(trace_id_t trid,
					       struct posix_trace_ledger_np *ledger, size_t size)
{
	struct posix_trace_ledger_np line;
	int err;

	if (!ledger || size < PTX_FIRST_LEDGER)
		return EINVAL;
	/*
	 * The line is complete before it is stored, so that *ledger is unchanged after an error
	 * (GEN-09).
	 */
	err = with_ledger(trid, ptx_ledger_init_summary, look_total, &line);
	if (!err)
		ptx_sized_store(ledger, size, &line, sizeof(line));
	return err;
}

/* The argument of look_type(): the type, and where its line is copied. */
struct type_query {
	trace_event_id_t type;
	struct posix_trace_ledger_np *line;
};

/* Copies the line of one type. EINVAL: the type has no name, as for other functions with ids. */
static int look_type(const struct ptx_stream *stream, const struct ptx_ledger *ledger,
		     void *argument)
{
	struct type_query *query = argument;
	char name[PTX_TYPE_NAME_BYTES];
	bool named;

	if (query->type >= PTX_TYPE_MAX)
		return EINVAL;
	/* Type 0 has the events of no known type. The names of a log are in its own table. */
	if (query->type == 0)
		named = true;
	else if (stream->kind == PTX_STREAM_STORED)
		named = ptx_stored_name(stream->stored, query->type);
	else
		named = ptx_names_get(stream->drain->arena->names, query->type, name);
	if (!named)
		return EINVAL;
	/* A type without events has a line with zeros. */
	ptx_ledger_export(&ledger->type[query->type], query->line);
	return 0;
}

/* EINVAL also for a type without a name, as in other functions with ids. */
PTX_EXPORT int posix_trace_get_ledger_type_sized_np(trace_id_t trid, trace_event_id_t event_id,
						    struct posix_trace_ledger_np *ledger,
						    size_t size)
{
	struct posix_trace_ledger_np line;
	struct type_query query = { event_id, &line };
	int err;

	if (!ledger || size < PTX_FIRST_LEDGER)
		return EINVAL;
	err = with_ledger(trid, ptx_ledger_init_summary, look_type, &query);
	/* As above: *ledger is stored only on success. */
	if (!err)
		ptx_sized_store(ledger, size, &line, sizeof(line));
	return err;
}

/* The argument of look_thread(): the thread's number, and where the results are copied. */
struct thread_query {
	size_t index;
	struct posix_trace_thread_np *thread;
	struct posix_trace_ledger_np *line;
	int *unavailable;
};

/* Copies the line of the thread that has this index in the ledger. */
static int look_thread(const struct ptx_stream *stream, const struct ptx_ledger *ledger,
		       void *argument)
{
	struct thread_query *query = argument;
	const struct ptx_ledger_thread *thread;

	(void)stream;
	/* Behind the last thread, the other results remain unchanged. */
	*query->unavailable = query->index >= ledger->threads;
	if (*query->unavailable)
		return 0;
	thread = &ledger->thread[query->index];
	/* The ids are those in the namespace of the recorded process. */
	query->thread->pid = (pid_t)thread->pid;
	query->thread->tid = (pid_t)thread->tid;
	query->thread->thread = (pthread_t)thread->thread;
	ptx_ledger_export(&thread->line, query->line);
	return 0;
}

/*
 * Threads are numbered from 0 in the order of their first event. Behind the last thread,
 * *unavailable is not 0, and the other results are unchanged.
 */
PTX_EXPORT int posix_trace_get_ledger_thread_sized_np(trace_id_t trid, size_t index,
						      struct posix_trace_thread_np *thread,
						      size_t thread_size,
						      struct posix_trace_ledger_np *ledger,
						      size_t ledger_size, int *unavailable)
{
	struct posix_trace_thread_np found;
	struct posix_trace_ledger_np line;
	struct thread_query query = { index, &found, &line, unavailable };
	int err;

	if (!thread || thread_size < PTX_FIRST_THREAD || !ledger ||
	    ledger_size < PTX_FIRST_LEDGER || !unavailable)
		return EINVAL;
	/* Padding and members of later versions are 0. */
	memset(&found, 0, sizeof(found));
	err = with_ledger(trid, ptx_ledger_init, look_thread, &query);
	/* Both results are stored only if there is such a thread. */
	if (err || *unavailable)
		return err;
	ptx_sized_store(thread, thread_size, &found, sizeof(found));
	ptx_sized_store(ledger, ledger_size, &line, sizeof(line));
	return 0;
}
