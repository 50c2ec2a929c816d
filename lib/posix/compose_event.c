/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/compose_event.c - the events of a log that is composed, and those that its makers lost.
 */
#include <trace_np.h>

#include "base/shield.h"
#include "log/write_append.h"
#include "posix/call.h"
#include "posix/compose.h"
#include "posix/first.h"

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

void ptx_composer_settle(struct posix_trace_composer_np *composer)
{
	struct ptx_ledger_line *line;

	if (!composer->run)
		return;
	line = ptx_ledger_thread(&composer->ledger, composer->who.pid, composer->who.tid,
				 composer->who.thread);
	line->called += composer->run;
	line->reported += composer->run;
	composer->run = 0;
}

static void count(struct posix_trace_composer_np *composer, const struct ptx_log_event *event)
{
	struct ptx_ident *who = &composer->who;

	composer->ledger.total.called++;
	composer->ledger.total.reported++;
	composer->ledger.type[event->type].called++;
	composer->ledger.type[event->type].reported++;
	if (who->tid != event->tid || who->pid != event->pid || who->thread != event->thread) {
		ptx_composer_settle(composer);
		who->pid = event->pid;
		who->tid = event->tid;
		who->thread = event->thread;
	}
	composer->run++;
}

/* The closing STOP of an UNTIL_FULL log has room of its own. */
static enum ptx_log_append put(struct posix_trace_composer_np *composer,
			       const struct ptx_log_event *event)
{
	enum ptx_log_append answer;

	/* No process has that number, and the fast way means nobody by it; a foreign trace may. */
	if (ptx_unlikely(event->pid == UINT32_MAX))
		answer = ptx_log_append_slow(composer->log, event);
	else
		answer = ptx_log_append_inline(composer->log, event);
	if (answer == PTX_LOG_APPEND_FULL && event->type == POSIX_TRACE_STOP)
		answer = ptx_log_append_last(composer->log, event);
	return answer;
}

static int check_event(const struct posix_trace_composer_np *composer,
		       const struct posix_trace_event_np *event)
{
	if (!composer || !event || (event->data_len && !event->data) ||
	    event->info.posix_event_id >= PTX_TYPE_MAX ||
	    !composer->name[event->info.posix_event_id])
		return EINVAL;
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED &&
	    event->info.posix_truncation_status != POSIX_TRACE_TRUNCATED_RECORD &&
	    event->info.posix_truncation_status != POSIX_TRACE_TRUNCATED_READ)
		return EINVAL;
	return event->data_len > composer->data_max ? EMSGSIZE : 0;
}

static int put_event(struct posix_trace_composer_np *composer, const struct ptx_log_event *event)
{
	enum ptx_log_append answer = put(composer, event);

	if (ptx_unlikely(answer == PTX_LOG_APPEND_WRITE_FIRST)) {
		int err = write_log(composer);

		if (err)
			return err;
		answer = put(composer, event);
	}
	if (answer != PTX_LOG_APPEND_DONE)
		return ENOSPC;
	count(composer, event);
	return 0;
}

static int compose_event(struct posix_trace_composer_np *composer,
			 const struct posix_trace_event_np *from)
{
	int err = check_event(composer, from);
	struct ptx_log_event event;

	if (err)
		return err;
	event.len_flags = (uint32_t)from->data_len;
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

PTX_EXPORT int posix_trace_compose_event_sized_np(struct posix_trace_composer_np *composer,
						  const struct posix_trace_event_np *event,
						  size_t size)
{
	struct posix_trace_event_np known;

	if (ptx_likely(size == sizeof(*event)))
		return compose_event(composer, event);
	if (!event || size < PTX_FIRST_EVENT)
		return EINVAL;
	if (!ptx_sized_load(&known, sizeof(known), event, size))
		return ENOTSUP;
	return compose_event(composer, &known);
}

static int count_lost(struct posix_trace_composer_np *composer, int cause, uint64_t events,
		      trace_event_id_t event_id, const struct posix_trace_thread_np *thread)
{
	struct ptx_ledger_line *line[3];
	struct ptx_ident who = { .pid = 0 };

	if (!event_id)
		event_id = PTX_TYPE_UNNAMED;
	if (!composer || cause < 0 || cause >= PTX_LOST_CAUSES || event_id >= PTX_TYPE_MAX)
		return EINVAL;
	if (!events)
		return 0;
	if (thread) {
		who.pid = (uint32_t)thread->pid;
		who.tid = (uint32_t)thread->tid;
		who.thread = (uint64_t)thread->thread;
	}
	line[0] = &composer->ledger.total;
	line[1] = &composer->ledger.type[event_id];
	line[2] = ptx_ledger_thread(&composer->ledger, who.pid, who.tid, who.thread);
	for (int i = 0; i < 3; i++) {
		line[i]->called += events;
		line[i]->lost[cause] += events;
	}
	composer->lost |= cause != PTX_LOST_CLEARED;
	return 0;
}

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
