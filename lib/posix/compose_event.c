/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/compose_event.c - adds events to a composed log, and counts events that were lost when the
 * foreign trace was made.
 *
 * This code runs once for each event of a conversion, many millions of times. It therefore acquires
 * no lock, does not touch the cancellation state, and counts consecutive events of one thread
 * together.
 */
#include <trace_np.h>

#include "base/shield.h"
#include "log/write_append.h"
#include "posix/call.h"
#include "posix/compose.h"
#include "posix/first.h"

/*
 * Writes the full buffer to the log's file. Signals and cancellation are blocked only here, because
 * appending an event makes system calls only here.
 */
static int write_log(struct posix_trace_composer_np *composer)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_shield shield;
	int err;

	ptx_shield_raise(&shield);
	err = ptx_log_write(composer->log);
	ptx_shield_lower(&shield);
	return ptx_call_end(call, err);
}

/*
 * The line of a thread is found by a search. So the line is changed once for a run of events of
 * this thread, and not for each event.
 */
void ptx_composer_count_run(struct posix_trace_composer_np *composer)
{
	struct ptx_ledger_line *line;

	if (!composer->run)
		return;
	line = ptx_ledger_thread(&composer->ledger, composer->writer.pid, composer->writer.tid,
				 composer->writer.thread);
	line->called += composer->run;
	line->reported += composer->run;
	composer->run = 0;
}

/* Counts the event in the total and in its type, and extends or begins the run of its thread. */
static void count_event(struct posix_trace_composer_np *composer, const struct ptx_log_event *event)
{
	/* The total and the type are found without a search. */
	struct ptx_ident *writer = &composer->writer;

	composer->ledger.total.called++;
	composer->ledger.total.reported++;
	composer->ledger.type[event->type].called++;
	composer->ledger.type[event->type].reported++;
	/*
	 * In a foreign trace the member `thread` may be 0, so all three members identify a thread.
	 */
	if (writer->tid != event->tid || writer->pid != event->pid ||
	    writer->thread != event->thread) {
		ptx_composer_count_run(composer);
		writer->pid = event->pid;
		writer->tid = event->tid;
		writer->thread = event->thread;
	}
	composer->run++;
}

/*
 * Encodes an event into the log's buffer. An UNTIL_FULL log keeps room for the STOP that ends the
 * log.
 */
static enum ptx_log_append encode_event(struct posix_trace_composer_np *composer,
					const struct ptx_log_event *event)
{
	enum ptx_log_append answer;

	/*
	 * ptx_log_append_inline() treats UINT32_MAX as "no process". No process has this number,
	 * but a foreign trace may contain it.
	 */
	if (ptx_unlikely(event->pid == UINT32_MAX))
		answer = ptx_log_append_slow(composer->log, event);
	else
		answer = ptx_log_append_inline(composer->log, event);
	/* A STOP in a full log is its last event, for which an UNTIL_FULL log keeps room. */
	if (answer == PTX_LOG_APPEND_FULL && event->type == POSIX_TRACE_STOP)
		answer = ptx_log_append_last(composer->log, event);
	return answer;
}

/* Returns an error number for an event that a log cannot contain. */
static int check_event(const struct posix_trace_composer_np *composer,
		       const struct posix_trace_event_np *event)
{
	if (!composer || !event || (event->data_len && !event->data) ||
	    event->info.posix_event_id >= PTX_TYPE_MAX ||
	    !composer->name[event->info.posix_event_id])
		return EINVAL;
	/*
	 * Only the three values of the standard are valid. Others would become wrong flags in the
	 * log.
	 */
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED &&
	    event->info.posix_truncation_status != POSIX_TRACE_TRUNCATED_RECORD &&
	    event->info.posix_truncation_status != POSIX_TRACE_TRUNCATED_READ)
		return EINVAL;
	return event->data_len > composer->data_max ? EMSGSIZE : 0;
}

/*
 * Appends an event that has been checked, and writes the buffer if it is full. ENOSPC: the log is
 * full by its policy. Other errors are those of writing the file.
 */
static int put_event(struct posix_trace_composer_np *composer, const struct ptx_log_event *event)
{
	enum ptx_log_append answer = encode_event(composer, event);

	if (ptx_unlikely(answer == PTX_LOG_APPEND_WRITE_FIRST)) {
		int err = write_log(composer);

		if (err)
			return err;
		/*
		 * After the buffer was written there is room for every event that check_event()
		 * accepts.
		 */
		answer = encode_event(composer, event);
	}
	if (answer != PTX_LOG_APPEND_DONE)
		return ENOSPC;
	count_event(composer, event);
	return 0;
}

/*
 * Appends an event. errno is preserved: only write_log() makes system calls, and it restores errno.
 */
static int compose_event(struct posix_trace_composer_np *composer,
			 const struct posix_trace_event_np *from)
{
	int err = check_event(composer, from);
	struct ptx_log_event event;

	if (err)
		return err;
	/* The length fits into 28 bits, because it is at most data_max. */
	event.len_flags = (uint32_t)from->data_len;
	/*
	 * Both kinds of truncation mean that the event has lost data, so the log has one flag for
	 * both.
	 */
	if (from->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		event.len_flags |= PTX_RECORD_TRUNCATED;
	if (from->flags & POSIX_TRACE_EVENT_LATE_NP)
		event.len_flags |= PTX_RECORD_LATE;
	event.type = (uint16_t)from->info.posix_event_id;
	event.pid = (uint32_t)from->info.posix_pid;
	event.tid = (uint32_t)from->tid;
	event.thread = (uint64_t)from->info.posix_thread_id;
	event.address = (uintptr_t)from->info.posix_prog_address;
	event.time_ns = from->time_ns;
	event.data = from->data;
	return put_event(composer, &event);
}

/*
 * Handles a program with another version of the structure. This is a separate function, so that the
 * usual path needs no stack frame.
 */
static ptx_cold int compose_resized(struct posix_trace_composer_np *composer,
				    const struct posix_trace_event_np *event, size_t size)
{
	struct posix_trace_event_np known;

	if (!event || size < PTX_FIRST_EVENT)
		return EINVAL;
	if (!ptx_sized_load(&known, sizeof(known), event, size))
		return ENOTSUP;
	return compose_event(composer, &known);
}

/*
 * ENOTSUP: the event has members of a later version that are not 0, and the log cannot store them.
 * The event of a program of this version is not copied, because the function runs for every event
 * of a conversion.
 */
PTX_EXPORT int posix_trace_compose_event_sized_np(struct posix_trace_composer_np *composer,
						  const struct posix_trace_event_np *event,
						  size_t size)
{
	if (ptx_unlikely(size != sizeof(*event)))
		return compose_resized(composer, event, size);
	return compose_event(composer, event);
}

/*
 * Counts events that were lost when the trace was made. If event_id is 0, their type is unknown; if
 * `thread` is NULL, their thread is unknown. The ledger is in memory, so the call writes nothing.
 */
static int count_lost(struct posix_trace_composer_np *composer, int cause, uint64_t events,
		      trace_event_id_t event_id, const struct posix_trace_thread_np *thread)
{
	struct ptx_ledger_line *line[3];
	struct ptx_ident writer = { .pid = 0 };

	/*
	 * The causes CLEARED and DAMAGED are valid, too, because foreign traces have such losses.
	 */
	if (!composer || cause < POSIX_TRACE_UNATTRIBUTED_NP || cause >= PTX_LOST_CAUSES ||
	    event_id >= PTX_TYPE_MAX)
		return EINVAL;
	if (!events)
		return 0;
	/* All losses of unknown threads are in one line, the line of process 0. */
	if (thread) {
		writer.pid = (uint32_t)thread->pid;
		writer.tid = (uint32_t)thread->tid;
		writer.thread = (uint64_t)thread->thread;
	}
	/*
	 * Each loss is counted in three lines: the total, the line of the type and the line of the
	 * thread. So the equation of each line holds.
	 */
	line[0] = &composer->ledger.total;
	if (cause == POSIX_TRACE_UNATTRIBUTED_NP) {
		event_id = 0;
		writer.pid = 0;
	}
	line[1] = &composer->ledger.type[event_id];
	line[2] = ptx_ledger_thread(&composer->ledger, writer.pid, writer.tid, writer.thread);
	for (int i = 0; i < 3; i++) {
		line[i]->called += events;
		if (cause != POSIX_TRACE_UNATTRIBUTED_NP)
			line[i]->lost[cause] += events;
	}
	/* Events that were cleared on purpose are no overrun. */
	composer->lost |= cause != PTX_LOST_CLEARED;
	return 0;
}

/* `size` is the size of *thread in the program, and has no meaning if `thread` is NULL. */
PTX_EXPORT int posix_trace_compose_lost_sized_np(struct posix_trace_composer_np *composer,
						 int cause, uint64_t events,
						 trace_event_id_t event_id,
						 const struct posix_trace_thread_np *thread,
						 size_t size)
{
	struct posix_trace_thread_np known;

	if (!thread)
		return count_lost(composer, cause, events, event_id, NULL);
	if (size < PTX_FIRST_THREAD)
		return EINVAL;
	if (!ptx_sized_load(&known, sizeof(known), thread, size))
		return ENOTSUP;
	return count_lost(composer, cause, events, event_id, &known);
}
