/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/getnext.c - posix_trace_getnext_event(), _timedgetnext_event() and _trygetnext_event().
 *
 * A reader has the stream's lock while it looks for an event, and waits without it. To miss no
 * wake-up, the reader first stores that it sleeps, then makes a barrier on all writers, and then
 * looks once more; see (M) and (N) in ring/ring.h. A thread that waits can be cancelled in one
 * place only, where it holds no lock and has only entered the stream (SIGCAN-03, GETNEXT-11).
 */
#include <string.h>

#include "base/barrier.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/libc.h"
#include "cursor/stored.h"
#include "drain/drain.h"
#include "arena/process_block.h"
#include "point/view.h"
#include "posix/call.h"

/*
 * Nanoseconds that a reader sleeps while a suspended writer may hold back an event. A suspended
 * writer wakes no reader, so the reader wakes by itself.
 */
#define HELD_BACK_NAP_NS 1000000
/*
 * Data of at most this number of bytes are copied word by word, which is faster than a call of
 * memcpy().
 */
#define WORDS_BYTES      32
/*
 * how often a call tries to get an event from a LOOP stream if writers overwrite the events
 * meanwhile
 */
#define LOOKS_AT_ONCE    64

/* The result parameters of one call. */
struct delivery {
	struct posix_trace_event_info *event;
	void *data;
	size_t num_bytes;
	size_t *data_len;
	int *unavailable;
};

/* `data` may be NULL only if num_bytes is 0 (GEN-05, TRUNC-04). */
static bool is_valid(const struct delivery *to)
{
	return to->event && to->data_len && to->unavailable && (to->data || to->num_bytes == 0);
}

/*
 * Stores the facts of an event for the program. If the program does not get all data, the status
 * is TRUNCATED_READ, even if the record itself was truncated (TRUNC-02, TRUNC-03).
 */
ptx_inline void set_info(struct posix_trace_event_info *event, const struct ptx_drain_event *from,
			 bool is_cut)
{
	event->posix_event_id = from->type;
	event->posix_pid = (pid_t)from->ident.pid;
	event->posix_prog_address = (void *)(uintptr_t)from->address;
	event->posix_thread_id = (pthread_t)from->ident.thread;
	event->posix_timestamp = ptx_timespec(from->time_ns);
	event->posix_truncation_status =
		is_cut ? POSIX_TRACE_TRUNCATED_READ :
		from->len_flags & PTX_RECORD_TRUNCATED ? POSIX_TRACE_TRUNCATED_RECORD
						       : POSIX_TRACE_NOT_TRUNCATED;
}

/* Stores an event for the program. Data behind *data_len are not written (TRUNC-07). */
ptx_inline void deliver_event(const struct delivery *to, const struct ptx_drain_event *from)
{
	size_t len = ptx_record_len(from->len_flags);
	bool is_cut = len > to->num_bytes;

	set_info(to->event, from, is_cut);
	if (is_cut)
		len = to->num_bytes;
	if (len)
		memcpy(to->data, from->data, len);
	*to->data_len = len;
	*to->unavailable = 0;
}

/*
 * Delivers the event that the drain has shown, and consumes it. The memory of the event becomes
 * free (GETNEXT-03, TRUNC-05).
 */
static void consume_event(struct ptx_stream *stream, const struct ptx_drain_event *event,
			  const struct delivery *to)
{
	deliver_event(to, event);
	ptx_drain_consume(stream->drain, PTX_LOST_CAUSES);
}

/*
 * Delivers the next event in the order of time. Returns false if there is no event, or if a
 * suspended writer may still publish an older event.
 */
static bool deliver_active(struct ptx_stream *stream, const struct delivery *to)
{
	struct ptx_drain_event event;

	if (!ptx_drain_peek(stream->drain, &event))
		return false;
	consume_event(stream, &event, to);
	return true;
}

/* Returns whether events may exist that the drain does not deliver yet. */
static bool may_be_held_back(const struct ptx_drain *drain)
{
	return drain->held_back || drain->outrun || drain->watermark < drain->now;
}

/*
 * Called for a reader that must not wait, after deliver_active() has found nothing twice. Delivers
 * the oldest complete event, although a suspended writer may still publish an older event. If
 * writers fill a LOOP stream faster than the reader reads it, the stream always has an event, but
 * an attempt to get the event may fail. The number of attempts is bounded.
 */
static bool deliver_at_once(struct ptx_stream *stream, const struct delivery *to)
{
	struct ptx_drain_event event;

	/*
	 * ptx_drain_peek_beyond() returns the oldest complete event, although the order is not
	 * certain.
	 */
	for (unsigned i = 0; !ptx_drain_peek_beyond(stream->drain, &event); i++) {
		if (i == LOOKS_AT_ONCE || !ptx_drain_is_outrun(stream->drain))
			return false;
		if (ptx_drain_peek(stream->drain, &event))
			break;
	}
	consume_event(stream, &event, to);
	return true;
}

/*
 * Called for a reader that must not wait, after deliver_active() has found nothing twice. Delivers
 * an event that is held back only because the kernel refuses the barrier. The event is complete,
 * but an older event may still appear.
 */
static void deliver_unordered(struct ptx_stream *stream, const struct delivery *to)
{
	struct ptx_drain_event event;

	if (ptx_drain_peek_unordered(stream->drain, &event))
		consume_event(stream, &event, to);
}

/*
 * Returns whether the stream was stopped by a call. An event that is stamped from then on does not
 * belong to the stream, but a suspended writer may still publish an older event.
 */
static bool is_stopped(const struct ptx_stream *stream)
{
	enum ptx_state kind = ptx_state_kind(atomic_load_explicit(
		&stream->view->rings.region->state, memory_order_acquire));

	return kind == PTX_SUSPENDED || kind == PTX_HELD;
}

/* Converts an event of a log into the form of an event of the drain. */
ptx_inline struct ptx_drain_event drained(const struct ptx_stored_event *event)
{
	const struct ptx_record *record = event->record;

	return (struct ptx_drain_event){ .len_flags = record->len_flags, .type = record->type,
					 .ident.pid = event->pid, .ident.thread = event->thread,
					 .address = record->address,
					 .time_ns = (int64_t)record->time, .data = record + 1 };
}

/* Delivers the next event of a log. At its end *unavailable remains set (GETNEXT-06). */
static int deliver_stored(struct ptx_stream *stream, const struct delivery *to)
{
	struct ptx_stored_event event;

	if (ptx_stored_next(stream->stored, &event)) {
		const struct ptx_drain_event from = drained(&event);

		deliver_event(to, &from);
	}
	return 0; /* if there is no event, *unavailable is set already */
}

/* Called when a sleeping reader is cancelled. */
static void leave_stream(void *stream)
{
	ptx_registry_leave(stream);
}

/*
 * Sleeps until a writer wakes the readers. The thread obeys a cancellation request only here, where
 * it holds no lock and has only entered the stream.
 */
static int sleep_cancellable(struct ptx_stream *stream, int cancel_state,
			     const struct timespec *until, uint32_t ticket, bool held_back)
{
	_Atomic uint32_t *waiters = &stream->view->rings.region->waiters;
	int type, none, err;

	pthread_cleanup_push(leave_stream, stream);
	/*
	 * The type is set last, because pthread_setcanceltype() immediately acts on a request that
	 * is pending already.
	 */
	pthread_setcancelstate(cancel_state, &none);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	/* While an event may be held back, the reader wakes by itself. */
	err = held_back ? ptx_futex_nap(waiters, ticket, HELD_BACK_NAP_NS)
			: ptx_futex_wait(waiters, ticket, until);
	pthread_setcanceltype(type, &none);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &none);
	pthread_cleanup_pop(0);
	return err;
}

/* Returns whether the moment has passed, by CLOCK_REALTIME (TIMED-01). */
static bool is_past(const struct timespec *until)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return until->tv_sec < now.tv_sec ||
	       (until->tv_sec == now.tv_sec && until->tv_nsec <= now.tv_nsec);
}

/* Called if there is no event. Returns 0 if the caller may sleep, else the error. */
static int check_deadline(const struct timespec *until)
{
	if (!until)
		return 0;
	if (until->tv_nsec < 0 || until->tv_nsec >= PTX_NS_PER_S)
		return EINVAL;
	/*
	 * A time with a negative tv_sec is in the past (TIMED-05), although the kernel refuses such
	 * a time.
	 */
	return is_past(until) ? ETIMEDOUT : 0;
}

/*
 * Returns the value of `waiters` to sleep on. Sleeping readers share one value. An odd value means
 * that a writer is about to wake them, so a new value is needed. 0 means that no reader sleeps.
 */
static uint32_t sleep_ticket(struct ptx_stream *stream)
{
	_Atomic uint32_t *waiters = &stream->view->rings.region->waiters;
	uint32_t ticket = atomic_load_explicit(waiters, memory_order_relaxed);

	if (ticket != 0 && ticket % 2 == 0)
		return ticket;
	stream->tickets += 2;
	/* 0 means that the counter has wrapped. */
	if (stream->tickets == 0)
		stream->tickets = 2;
	/* (N) with (M) in point/event.c, point/record.c and posix/control.c */
	atomic_store_explicit(waiters, stream->tickets, memory_order_seq_cst);
	return stream->tickets;
}

/*
 * Waits for an event without losing a wake-up. The reader stores that it sleeps, makes a barrier
 * (in the pass of ptx_drain_peek()), and looks once more (N). This look sees an event that was
 * published before the barrier. A writer that publishes after the barrier sees that a reader sleeps
 * (M).
 */
static int wait_live(struct ptx_stream *stream, const struct delivery *to,
		     const struct timespec *until, int cancel_state)
{
	for (;;) {
		bool done, held_back;
		uint32_t ticket = 0;
		int err = 0;

		/* The stream is gone if another thread shuts it down (GETNEXT-10, SHUT-04). */
		if (atomic_load_explicit(&stream->ended, memory_order_acquire))
			return EINVAL;
		pthread_mutex_lock(&stream->lock);
		done = deliver_active(stream, to);
		if (!done) {
			ticket = sleep_ticket(stream);
			done = deliver_active(stream, to);
		}
		/* An event that is complete is delivered whatever the deadline is (TIMED-03). */
		if (!done) {
			err = check_deadline(until);
			done = err && deliver_at_once(stream, to);
		}
		/*
		 * If a writer inside its window holds back another writer's event, there may be no
		 * wake-up at the time when the event can be delivered.
		 */
		held_back = may_be_held_back(stream->drain);
		/* A writer of a quiet process never wakes a reader. */
		held_back |= atomic_load_explicit(&stream->drain->arena->control->quiet,
						  memory_order_relaxed) != 0;
		pthread_mutex_unlock(&stream->lock);
		if (done)
			return 0;
		if (err)
			return err;
		/*
		 * The stream may have been shut down while the lock was released; the shutdown
		 * wakes only those readers that sleep already.
		 */
		if (atomic_load_explicit(&stream->ended, memory_order_acquire))
			return EINVAL;
		err = sleep_cancellable(stream, cancel_state, until, ticket, held_back);
		/*
		 * EINTR is returned only if the handler has no SA_RESTART: otherwise the kernel
		 * continues the sleep (GETNEXT-08, GETNEXT-09).
		 */
		if (err == EINTR)
			return EINTR;
	}
}

/*
 * The common part of the waiting functions. *unavailable is set before any other check
 * (GETNEXT-05).
 */
static int get_waiting(trace_id_t trid, const struct delivery *to, const struct timespec *until,
		       unsigned kinds)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	int err;

	if (to->unavailable)
		*to->unavailable = 1;
	stream = is_valid(to) ? ptx_stream_enter(trid, kinds) : NULL;
	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = wait_live(stream, to, until, call.cancel_state);
	ptx_registry_leave(stream);
	return ptx_call_end(call, err);
}

/*
 * Handles all cases that deliver_words() does not handle. It is a separate function, so that in the
 * case of deliver_words() the arguments stay in registers and no register is saved.
 */
static __attribute__((noinline)) int get_any(trace_id_t trid, struct posix_trace_event_info *event,
					     void *data, size_t num_bytes, size_t *data_len,
					     int *unavailable)
{
	struct delivery to = { event, data, num_bytes, data_len, unavailable };
	const bool alone = ptx_libc_has_one_thread();
	struct ptx_stream *stream;
	int err;

	/* get_waiting() reports the error and sets *unavailable. */
	if (!is_valid(&to))
		return get_waiting(0, &to, NULL, PTX_UNLOGGED);
	/*
	 * Reading an event of a log takes only some nanoseconds, so the function does not spend
	 * time on the cancellation state. No call here is a cancellation point.
	 */
	stream = ptx_registry_find(trid);
	if (!stream || stream->kind != PTX_STREAM_STORED)
		return get_waiting(trid, &to, NULL, PTX_UNLOGGED);
	*unavailable = 1;
	/* A process with one thread needs no lock. Only this thread could start another thread. */
	if (!alone && !ptx_stream_lock(trid, PTX_STORED))
		return EINVAL;
	err = deliver_stored(stream, &to);
	if (!alone)
		ptx_stream_unlock(stream);
	return err;
}

/*
 * Delivers the next event of a log if this needs no call of another function: the process has one
 * thread, the event is in the current block, and its data are a few whole words that the program
 * has room for. All pointers are valid.
 */
ptx_inline bool deliver_words(trace_id_t trid, const struct delivery *to)
{
	struct ptx_stream *stream = ptx_registry_find(trid);
	struct ptx_stored_event event;
	struct ptx_drain_event from;
	size_t len;

	/* Other threads may use the stream: get_any() locks it. */
	if (ptx_unlikely(!ptx_libc_has_one_thread()))
		return false;
	/*
	 * The check excludes active streams, invalid identifiers, and the first event of a block.
	 */
	if (ptx_unlikely(!stream || stream->kind != PTX_STREAM_STORED ||
			 !ptx_stored_has_next(stream->stored)))
		return false;
	/*
	 * Nearly all events have such a length, and a copy in steps of constant size needs no call.
	 */
	len = ptx_stored_len(stream->stored);
	if (ptx_unlikely(len % 8) || ptx_unlikely(len > WORDS_BYTES) ||
	    ptx_unlikely(len > to->num_bytes))
		return false;
	/* The event is in the current block, so no other block is read. */
	if (!ptx_stored_next(stream->stored, &event))
		return false;
	from = drained(&event);
	set_info(to->event, &from, false);
	/* Data behind *data_len are not written (TRUNC-07). */
	if (ptx_likely(len == 8))
		memcpy(to->data, from.data, 8);
	else
		for (size_t word = 0; word < len; word += 8)
			memcpy((char *)to->data + word, (const char *)from.data + word, 8);
	*to->data_len = len;
	*to->unavailable = 0;
	return true;
}

/* GETNEXT-01 to GETNEXT-15, for active streams without log and for opened logs. */
PTX_EXPORT int posix_trace_getnext_event(trace_id_t trid,
					 struct posix_trace_event_info *restrict event,
					 void *restrict data, size_t num_bytes,
					 size_t *restrict data_len, int *restrict unavailable)
{
	const struct delivery to = { event, data, num_bytes, data_len, unavailable };

	/*
	 * These conditions imply is_valid(). They are tested one by one, so that no branch is taken
	 * in the usual case.
	 */
	if (ptx_likely(data) && ptx_likely(event) && ptx_likely(data_len) &&
	    ptx_likely(unavailable) && ptx_likely(deliver_words(trid, &to)))
		return 0;
	return get_any(trid, event, data, num_bytes, data_len, unavailable);
}

/* TIMED-01 to TIMED-09. A null abstime gives EINVAL. */
PTX_EXPORT int posix_trace_timedgetnext_event(trace_id_t trid,
					      struct posix_trace_event_info *restrict event,
					      void *restrict data, size_t num_bytes,
					      size_t *restrict data_len, int *restrict unavailable,
					      const struct timespec *restrict abstime)
{
	struct delivery to = { event, data, num_bytes, data_len, unavailable };

	return get_waiting(abstime ? trid : 0, &to, abstime, PTX_UNLOGGED);
}

/* TRY-01 to TRY-04. */
PTX_EXPORT int posix_trace_trygetnext_event(trace_id_t trid,
					    struct posix_trace_event_info *restrict event,
					    void *restrict data, size_t num_bytes,
					    size_t *restrict data_len, int *restrict unavailable)
{
	struct delivery to = { event, data, num_bytes, data_len, unavailable };
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (unavailable)
		*unavailable = 1;
	stream = is_valid(&to) ? ptx_stream_lock(trid, PTX_UNLOGGED) : NULL;
	if (!stream)
		return ptx_call_end(call, EINVAL);
	/*
	 * If the stream was stopped by a call, the reader gets all complete events. Otherwise it
	 * gets no event that a suspended writer holds back.
	 */
	if (!deliver_active(stream, &to) && may_be_held_back(stream->drain) &&
	    !deliver_active(stream, &to)) {
		if (is_stopped(stream))
			deliver_at_once(stream, &to);
		else
			deliver_unordered(stream, &to);
	}
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
