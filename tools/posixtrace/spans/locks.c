/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * locks.c - sums the times of waiting for and holding locks. The arrays have a fixed size, so that
 * a log with many locks cannot use up the memory.
 */
#include "spans/locks.h"

#include <stdlib.h>
#include <string.h>

#include "spans/pairing.h"

bool locks_init(struct locks *locks)
{
	/*
	 * The full size is allocated in one step. This needs little memory at first, because the
	 * kernel provides the pages of a large block from calloc() only when they are used.
	 */
	memset(locks, 0, sizeof(*locks));
	locks->lock = calloc(LOCKS_MAX, sizeof(*locks->lock));
	locks->waiter = calloc(LOCKS_MAX, sizeof(*locks->waiter));
	return locks->lock && locks->waiter;
}

void locks_fini(struct locks *locks)
{
	free(locks->lock);
	free(locks->waiter);
	table_fini(&locks->of_lock);
	table_fini(&locks->of_waiter);
}

/* is_lock() and is_waiter() compare an entry with a key. table_find() calls them. */
static bool is_lock(const void *array, uint32_t index, const void *key)
{
	const struct lock *lock = (const struct lock *)array + index, *wanted = key;

	return lock->pid == wanted->pid && lock->pointer == wanted->pointer;
}

static bool is_waiter(const void *array, uint32_t index, const void *key)
{
	const struct waiter *waiter = (const struct waiter *)array + index, *wanted = key;

	return waiter->pid == wanted->pid && waiter->tid == wanted->tid;
}

/*
 * Returns the entry of a lock and creates it if necessary. Returns NULL if LOCKS_MAX other locks
 * exist, or if memory is lacking. The process is a part of the key, because two processes may have
 * locks at the same address.
 */
static struct lock *find_lock(struct locks *locks, pid_t pid, uint64_t pointer)
{
	struct lock wanted = { .pid = pid, .pointer = pointer };
	uint64_t hash = hash_number(pointer, (uint64_t)pid);
	uint32_t index = table_find(&locks->of_lock, hash, is_lock, locks->lock, &wanted);

	if (index != TABLE_NONE)
		return &locks->lock[index];
	if (locks->count == LOCKS_MAX ||
	    !table_add(&locks->of_lock, hash, (uint32_t)locks->count))
		return NULL;
	locks->lock[locks->count] = wanted;
	return &locks->lock[locks->count++];
}

/*
 * Returns the entry of a waiting thread and creates it if necessary. Returns NULL in the same cases
 * as find_lock().
 */
static struct waiter *find_waiter(struct locks *locks, pid_t pid, pid_t tid)
{
	struct waiter wanted = { .pid = pid, .tid = tid };
	uint64_t hash = hash_number((uint64_t)tid, (uint64_t)pid);
	uint32_t index = table_find(&locks->of_waiter, hash, is_waiter, locks->waiter, &wanted);

	if (index != TABLE_NONE)
		return &locks->waiter[index];
	if (locks->waiters == LOCKS_MAX ||
	    !table_add(&locks->of_waiter, hash, (uint32_t)locks->waiters))
		return NULL;
	locks->waiter[locks->waiters] = wanted;
	return &locks->waiter[locks->waiters++];
}

/*
 * Adds a time to a sum and returns true if it is the longest so far. A log may contain any
 * durations, so a total that overflows becomes UINT64_MAX.
 */
static bool add_time(struct locks_sum *sum, uint64_t ns)
{
	bool is_longest = !sum->count || ns > sum->max_ns;

	sum->count++;
	if (__builtin_add_overflow(sum->total_ns, ns, &sum->total_ns))
		sum->total_ns = UINT64_MAX;
	if (is_longest)
		sum->max_ns = ns;
	return is_longest;
}

/* Returns the index of the field "lock" of type ptr, or -1 if there is none. */
static int lock_field(const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; i < schema->fields; i++)
		if (schema->field[i].type == POSIX_TRACE_TYPE_PTR_NP &&
		    !strcmp(schema->field[i].name, "lock"))
			return (int)i;
	return -1;
}

/* Returns true if the type records how long a lock was held. Its name then ends in "_held". */
static bool says_held(const struct log_type *type)
{
	static const char end[] = "_held";
	size_t len = sizeof(end) - 1;

	return type->name_len >= len && !strcmp(type->name + type->name_len - len, end);
}

/*
 * Adds a time of waiting to the lock and to the thread. lock is NULL if the array of locks is full.
 */
static void add_wait(struct locks *locks, struct lock *lock, const struct log_type *type,
		   const struct posix_trace_event_np *event, uint64_t pointer, uint64_t ns)
{
	struct waiter *waiter = find_waiter(locks, event->info.posix_pid, event->tid);

	if (lock)
		lock->type = type;
	add_time(lock ? &lock->wait : &locks->other_wait, ns);
	/*
	 * The time of the longest wait is kept, because the name of the lock is later looked up for
	 * this time. At another time the address may belong to another lock.
	 */
	if (add_time(waiter ? &waiter->wait : &locks->other_waiters, ns) && waiter) {
		waiter->longest = pointer;
		waiter->last_ns = event->time_ns;
	}
}

void locks_event(struct locks *locks, const struct log_type *type,
		 const struct posix_trace_event_np *event)
{
	/* Most types have no duration or no lock. Their events are ignored. */
	int time_field = pairing_time_field(type->schema);
	int pointer_field = time_field < 0 ? -1 : lock_field(type->schema);
	struct posix_trace_value_np time, pointer;
	struct lock *lock;

	if (pointer_field < 0 ||
	    !posix_trace_field_get_np(type->schema, (unsigned)time_field, 0, event->data,
				      event->data_len, 0, &time) ||
	    !posix_trace_field_get_np(type->schema, (unsigned)pointer_field, 0, event->data,
				      event->data_len, 0, &pointer))
		return;
	lock = find_lock(locks, event->info.posix_pid, pointer.u64);
	if (lock)
		lock->last_ns = event->time_ns;
	else
		/*
		 * These events are counted, because the command prints how many
		 * events belong to locks without an entry.
		 */
		locks->other_events++;
	if (says_held(type))
		add_time(lock ? &lock->held : &locks->other_held, time.u64);
	else
		add_wait(locks, lock, type, event, pointer.u64, time.u64);
}

/* Compares sums for qsort(): a greater total is first, and for equal totals a greater count. */
static int by_sum(const struct locks_sum *a, const struct locks_sum *b)
{
	return a->total_ns == b->total_ns ? (a->count < b->count) - (a->count > b->count) :
	       (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

/*
 * No two locks are equal in this order, so the output does not depend on the algorithm of qsort().
 */
static int by_lock(const void *a, const void *b)
{
	const struct lock *x = a, *y = b;
	int order = by_sum(&x->wait, &y->wait);

	if (!order)
		order = by_sum(&x->held, &y->held);
	if (!order)
		order = (x->pid > y->pid) - (x->pid < y->pid);
	return order ? order : (x->pointer > y->pointer) - (x->pointer < y->pointer);
}

static int by_waiter(const void *a, const void *b)
{
	const struct waiter *x = a, *y = b;
	int order = by_sum(&x->wait, &y->wait);

	if (!order)
		order = (x->pid > y->pid) - (x->pid < y->pid);
	return order ? order : (x->tid > y->tid) - (x->tid < y->tid);
}

void locks_sort(struct locks *locks)
{
	qsort(locks->lock, locks->count, sizeof(*locks->lock), by_lock);
	qsort(locks->waiter, locks->waiters, sizeof(*locks->waiter), by_waiter);
}
