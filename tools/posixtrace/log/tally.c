/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tally.c - counts the events of a log in one thread, adds the counts of parts, and adds the lines
 * of the ledger.
 */
#include "log/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/meter.h"
#include "base/vec.h"
#include "log/equation.h"
#include "log/tally_parts.h"

/*
 * Counts one event. first_ns and last_ns become the least and the greatest time, because events may
 * be out of order in a damaged log or if some are late.
 */
static void add_event(struct tally_count *count, const struct posix_trace_event_np *event)
{
	if (!count->events++) {
		count->first_ns = event->time_ns;
		count->last_ns = event->time_ns;
	}
	if (event->time_ns < count->first_ns)
		count->first_ns = event->time_ns;
	if (event->time_ns > count->last_ns)
		count->last_ns = event->time_ns;
	count->bytes += event->data_len;
	count->truncated += event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
	count->late += (event->flags & POSIX_TRACE_EVENT_LATE_NP) != 0;
}

static bool is_thread(const struct posix_trace_thread_np *a, const struct posix_trace_thread_np *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->thread == b->thread;
}

/* Returns true if the thread at index has the identity *key. table_find() calls this function. */
static bool is_at(const void *array, uint32_t index, const void *key)
{
	const struct tally_thread *thread = array;

	return is_thread(&thread[index].id, key);
}

static uint64_t hash_thread(const struct posix_trace_thread_np *id)
{
	return hash_number((uint64_t)id->thread,
			   (uint64_t)(uint32_t)id->pid << 32 | (uint32_t)id->tid);
}

/* Returns the entry of a thread and creates it if necessary; NULL if memory is lacking. */
static struct tally_thread *find_thread(struct tally *tally,
					const struct posix_trace_thread_np *id)
{
	const uint64_t hash = hash_thread(id);
	uint32_t index = table_find(&tally->of_thread, hash, is_at, tally->thread, id);

	if (index != TABLE_NONE)
		return &tally->thread[index];
	tally->last = NULL; /* the array may move */
	if (!vec_grow(&tally->thread, tally->threads, 1) ||
	    !table_add(&tally->of_thread, hash, (uint32_t)tally->threads))
		return NULL;
	tally->thread[tally->threads].id = *id;
	return &tally->thread[tally->threads++];
}

/*
 * Returns the entry of a type. A type that the log lists is found by its index. Only a damaged log
 * has events of other types. There are only few such types, so a linear search is enough. A new one
 * is appended. Returns NULL if memory is lacking.
 */
static struct tally_type *find_type(struct tally *tally, struct logfile *log,
				    const struct posix_trace_event_np *event)
{
	const struct log_type *type = logfile_type(log, event->info.posix_event_id);
	struct tally_type *more;

	if (type->listed && type->index < tally->types && tally->type[type->index].type == type)
		return &tally->type[type->index];
	for (size_t i = 0; i < tally->types; i++)
		if (tally->type[i].type == type)
			return &tally->type[i];
	if (!vec_grow(&tally->type, tally->types, 1))
		return NULL;
	more = &tally->type[tally->types++];
	more->type = type;
	return more;
}

static int count_event(struct tally *tally, struct logfile *log,
		       const struct posix_trace_event_np *event)
{
	struct posix_trace_thread_np id = {
		event->info.posix_pid, event->tid, event->info.posix_thread_id,
	};
	/*
	 * Consecutive events are often from the same thread, so tally->last saves the search for
	 * the thread. If this function returns ENOMEM, the counts are incomplete, and the caller
	 * discards them.
	 */
	struct tally_type *type = find_type(tally, log, event);
	struct tally_thread *thread = tally->last;

	if (!thread || !is_thread(&thread->id, &id))
		thread = tally->last = find_thread(tally, &id);
	if (!type || !thread)
		return ENOMEM;
	add_event(&tally->total, event);
	add_event(&type->count, event);
	add_event(&thread->count, event);
	thread_life_event(&thread->life, type->type->name, event->time_ns);
	counters_event(&type->counters, type->type, event);
	tally->gaps += (event->flags & POSIX_TRACE_EVENT_GAP_NP) != 0;
	return 0;
}

int tally_event(struct tally *tally, struct logfile *log, const struct posix_trace_event_np *event)
{
	if (!tally->groups)
		return count_event(tally, log, event);
	tally->total.events++;
	return groups_event(tally->groups, event);
}

/* Reads the log to its end in this thread. */
static int count_events(struct tally *tally, struct logfile *log)
{
	struct posix_trace_event_np event;
	struct meter meter;
	int err, unavailable;

	meter_begin(&meter, logfile_events(log), true);
	while (!(err = posix_trace_getnext_np(log->trid, &event, &unavailable)) && !unavailable) {
		/* The progress line counts every event that was read. */
		err = tally_event(tally, log, &event);
		if (err)
			break;
		meter_step(&meter);
	}
	meter_end(&meter);
	return err;
}

static void add_count(struct tally_count *to, const struct tally_count *from)
{
	if (!from->events)
		return;
	if (!to->events || from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (!to->events || from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	to->events += from->events;
	to->bytes += from->bytes;
	to->truncated += from->truncated;
	to->late += from->late;
}

/*
 * "part" has the same listed types in the same order as "tally", since tally_init() made both for
 * the same log.
 */
int tally_add(struct tally *tally, const struct tally *part)
{
	if (tally->groups)
		return groups_add(tally->groups, part->groups);
	for (size_t i = 0; i < part->types; i++) {
		add_count(&tally->type[i].count, &part->type[i].count);
		counters_add(&tally->type[i].counters, &part->type[i].counters);
	}
	for (size_t i = 0; i < part->threads; i++) {
		struct tally_thread *thread = find_thread(tally, &part->thread[i].id);

		if (!thread)
			return ENOMEM;
		add_count(&thread->count, &part->thread[i].count);
		thread_life_add(&thread->life, &part->thread[i].life);
	}
	add_count(&tally->total, &part->total);
	return 0;
}

/*
 * Adds the ledger of each type and thread. A thread whose events were all lost is only in the
 * ledger, so it gets its entry here.
 */
static int read_ledger(struct tally *tally, const struct logfile *log)
{
	int err = posix_trace_get_ledger_np(log->trid, &tally->ledger);

	for (size_t i = 0; !err && i < tally->types; i++)
		if (tally->type[i].type->listed)
			err = posix_trace_get_ledger_type_np(log->trid, tally->type[i].type->id,
							     &tally->type[i].ledger);
	for (size_t i = 0; !err; i++) {
		struct posix_trace_thread_np id;
		struct posix_trace_ledger_np ledger;
		struct tally_thread *thread;
		int unavailable;

		memset(&id, 0, sizeof(id));
		/* The ledger numbers threads from 0 without gaps. */
		err = posix_trace_get_ledger_thread_np(log->trid, i, &id, &ledger, &unavailable);
		if (err || unavailable)
			break;
		thread = find_thread(tally, &id);
		if (!thread)
			return ENOMEM;
		thread->ledger = ledger;
	}
	return err;
}

static int by_count(const struct tally_count *a, const struct tally_count *b)
{
	return (a->events < b->events) - (a->events > b->events);
}

/*
 * Compares types for qsort(). Types with equal counts are in the order of their ids, so that the
 * output does not depend on the algorithm of qsort().
 */
static int by_type(const void *a, const void *b)
{
	const struct tally_type *x = a, *y = b;
	int order = by_count(&x->count, &y->count);

	return order ? order : (x->type->id > y->type->id) - (x->type->id < y->type->id);
}

static int by_thread(const void *a, const void *b)
{
	const struct tally_thread *x = a, *y = b;
	int order = by_count(&x->count, &y->count);

	if (!order)
		order = (x->id.pid > y->id.pid) - (x->id.pid < y->id.pid);
	if (!order)
		order = (x->id.tid > y->id.tid) - (x->id.tid < y->id.tid);
	/*
	 * No two threads are equal in this order, so the output does not depend on the number of
	 * worker threads.
	 */
	return order ? order : (x->id.thread > y->id.thread) - (x->id.thread < y->id.thread);
}

static void sort_tally(struct tally *tally)
{
	/*
	 * The numbers of elements are tested because qsort() must not be called with a null
	 * pointer.
	 */
	table_fini(&tally->of_thread); /* the sort below makes the indices in this table wrong */
	if (tally->threads)
		qsort(tally->thread, tally->threads, sizeof(*tally->thread), by_thread);
	if (tally->types)
		qsort(tally->type, tally->types, sizeof(*tally->type), by_type);
}

int tally_init(struct tally *tally, const struct logfile *log)
{
	memset(tally, 0, sizeof(*tally));
	if (!vec_grow(&tally->type, 0, log->types))
		return ENOMEM;
	tally->types = log->types;
	for (size_t i = 0; i < log->types; i++) {
		/*
		 * The result also has types without events, because the ledger may have losses for
		 * them.
		 */
		tally->type[i].type = log->list[i];
		if (!counters_init(&tally->type[i].counters, log->list[i]->schema)) {
			tally_fini(tally);
			return ENOMEM;
		}
	}
	return 0;
}

int tally_count(struct tally *tally, struct logfile *log, unsigned threads)
{
	int err = tally_init(tally, log);

	if (err)
		return err;
	/* EAGAIN means that one thread must read the log from beginning to end. */
	err = threads > 1 ? tally_count_parts(tally, log, threads) : EAGAIN;
	if (err == EAGAIN)
		err = count_events(tally, log);
	if (!err)
		err = read_ledger(tally, log);
	if (err)
		tally_fini(tally);
	else
		sort_tally(tally);
	return err;
}

/* Returns the entry of the same type in the tally of another log, or NULL. */
static struct tally_type *same_type(const struct tally *tally, const struct log_type *type)
{
	for (size_t i = 0; i < tally->types; i++)
		if (tally->type[i].type->id == type->id)
			return strcmp(tally->type[i].type->name, type->name) ? NULL :
			       &tally->type[i];
	return NULL;
}

/*
 * Makes the values of the counters point to the fields of this type, because they may have come
 * from the other log.
 */
static void bind_counters(struct tally_type *to)
{
	for (unsigned i = 0; i < to->counters.count; i++) {
		struct counter *counter = &to->counters.counter[i];
		const struct posix_trace_field_np *field =
			&to->type->schema->field[counter->field];

		counter->min.field = counter->max.field = counter->last.field = field;
	}
}

/* Adds the counts of a type. Returns EINVAL if the two logs describe the counters differently. */
static int join_type(struct tally_type *to, const struct tally_type *from)
{
	equation_add(&to->ledger, &from->ledger);
	add_count(&to->count, &from->count);
	if (!from->counters.count)
		return 0;
	if (!to->type->schema_text || !from->type->schema_text ||
	    strcmp(to->type->schema_text, from->type->schema_text) != 0)
		return EINVAL;
	counters_add(&to->counters, &from->counters);
	bind_counters(to);
	return 0;
}

int tally_join(struct tally *to, const struct tally *from)
{
	int err = 0;

	/*
	 * sort_tally() has freed this table, because the sort changes the indexes of the threads.
	 */
	for (size_t i = 0; !err && i < to->threads; i++)
		if (!table_add(&to->of_thread, hash_thread(&to->thread[i].id), (uint32_t)i))
			err = ENOMEM;
	for (size_t i = 0; !err && i < from->types; i++) {
		struct tally_type *type = same_type(to, from->type[i].type);

		/* A type without events and losses may be missing in the other log. */
		if (type)
			err = join_type(type, &from->type[i]);
		else if (from->type[i].count.events || from->type[i].ledger.called)
			err = EINVAL;
	}
	for (size_t i = 0; !err && i < from->threads; i++) {
		struct tally_thread *thread = find_thread(to, &from->thread[i].id);

		if (!thread) {
			err = ENOMEM;
			break;
		}
		add_count(&thread->count, &from->thread[i].count);
		thread_life_add(&thread->life, &from->thread[i].life);
		equation_add(&thread->ledger, &from->thread[i].ledger);
	}
	if (!err) {
		add_count(&to->total, &from->total);
		equation_add(&to->ledger, &from->ledger);
		to->gaps += from->gaps;
	}
	to->last = NULL;
	sort_tally(to);
	return err;
}

int tally_groups(struct groups *groups, struct logfile *log, unsigned threads)
{
	struct tally tally;
	int err = tally_init(&tally, log);

	if (err)
		return err;
	tally.groups = groups;
	err = tally_count_parts(&tally, log, threads);
	tally_fini(&tally);
	return err;
}

void tally_fini(struct tally *tally)
{
	for (size_t i = 0; i < tally->types; i++)
		counters_fini(&tally->type[i].counters);
	free(tally->type);
	free(tally->thread);
	table_fini(&tally->of_thread);
	memset(tally, 0, sizeof(*tally));
}
