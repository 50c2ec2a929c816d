/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pools.c - finds the threads that wait for work at one place, and for how long work has waited for
 * one of them.
 */
#include "why/pools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "why/ender.h"
#include "why/gil.h"
#include "why/lives.h"

#define PLACES_MOST  65536 /* the most places, of which each needs memory */
#define LOOK_AT      512   /* the most calls of a thread that a search examines */
#define REQUESTS     64    /* the most waits of a thread for one result */
/* A worker that wakes two threads within this time has finished one piece of work, not two. */
#define BATCH_NS     INT64_C(50000)
/*
 * A worker that waits for work for at most 1 / IDLE_PART of a time counts as busy: it may have been
 * woken for work that another worker then took.
 */
#define IDLE_PART    20

/* Threads that wait at one place for one object. Only some of these places are pools. */
struct place {
	const struct call *idle; /* the first of these waits */
	uint32_t *worker;
	size_t workers;
	uint64_t waits;
	bool is_posted;          /* a thread that does not wait here has woken one that does */
	bool is_cut;             /* more than POOLS_WORKERS threads wait here */
};

struct pools {
	struct place *place;
	size_t places;
	struct table of_place;
	uint32_t *of_thread;     /* for each thread: the index of its pool + 1; 0: none */
	size_t threads;
	struct table of_key;     /* has the first place of each object */
};

/* Returns whether a worker can wait for work by a call. */
static bool may_be_idle(const struct call *call)
{
	return (call->cause == CAUSE_COND || call->cause == CAUSE_SEM) && !call->has_id &&
	       call->key;
}

/* A search for the place of a call. */
struct place_key {
	const struct history *history;
	const struct call *call;
};

static bool is_same_object(const struct history *history, const struct call *call,
			   const struct call *other)
{
	return call->key == other->key && lives_same(history, call->thread, other->thread);
}

static bool is_same_place(const struct call *call, const struct call *other)
{
	return call->type == other->type && call->address == other->address;
}

/*
 * Returns whether a call of a worker is a wait for work. A worker may wait for the same object at
 * another place, for example with a time limit.
 */
static bool is_idle_call(const struct place *place, const struct call *call)
{
	return may_be_idle(call) && call->key == place->idle->key;
}

/* Compares the place of a wait with the wanted one, for table_find(). */
static bool is_place(const void *array, uint32_t index, const void *key)
{
	const struct place *place = (const struct place *)array + index;
	const struct place_key *wanted = key;

	return is_same_place(place->idle, wanted->call) &&
	       is_same_object(wanted->history, place->idle, wanted->call);
}

/* Compares only the object. */
static bool is_object(const void *array, uint32_t index, const void *key)
{
	const struct place *place = (const struct place *)array + index;
	const struct place_key *wanted = key;

	return is_same_object(wanted->history, place->idle, wanted->call);
}

static uint64_t hash_object(const struct history *history, const struct call *call)
{
	return hash_number(hash_number(HASH_BEGIN, (unsigned)history->thread[call->thread].pid),
			   call->key);
}

static bool has_worker(const struct place *place, uint32_t thread)
{
	for (size_t i = 0; i < place->workers; i++)
		if (place->worker[i] == thread)
			return true;
	return false;
}

/*
 * Adds a wait to its place. After PLACES_MOST places, further places are not added. Returns false
 * if memory is lacking.
 */
static bool add_wait(struct history *history, struct pools *pools, const struct call *call)
{
	const struct place_key key = { history, call };
	const uint64_t object = hash_object(history, call);
	const uint64_t hash = hash_number(object, call->address);
	uint32_t index = table_find(&pools->of_place, hash, is_place, pools->place, &key);
	struct place *place;

	if (index == TABLE_NONE) {
		if (pools->places == PLACES_MOST)
			return true;
		if (!vec_grow(&pools->place, pools->places, 1))
			return false;
		index = (uint32_t)pools->places++;
		pools->place[index] = (struct place){ .idle = call };
		if (!table_add(&pools->of_place, hash, index))
			return false;
		/* Only the first place of an object has an entry in of_key: see add_post(). */
		if (table_find(&pools->of_key, object, is_object, pools->place, &key) ==
		    TABLE_NONE && !table_add(&pools->of_key, object, index))
			return false;
	}
	place = &pools->place[index];
	place->waits++;
	if (place->is_cut || has_worker(place, call->thread))
		return true;
	if (place->workers == POOLS_WORKERS) {
		place->is_cut = true;
		return true;
	}
	if (!vec_grow(&place->worker, place->workers, 1))
		return false;
	place->worker[place->workers++] = call->thread;
	return true;
}

/*
 * Notes that a thread has woken a thread that waits for an object. If threads wait for an object at
 * several places, the first place counts.
 */
static void add_post(const struct history *history, struct pools *pools, const struct call *call)
{
	const struct place_key key = { history, call };
	const uint32_t index = table_find(&pools->of_key, hash_object(history, call), is_object,
					  pools->place, &key);

	if (index != TABLE_NONE && !has_worker(&pools->place[index], call->thread))
		pools->place[index].is_posted = true;
}

/*
 * Chooses the pool of each worker. A worker may also wait at other places, for example for a part
 * of its work. Its pool is that of these places at which most threads wait.
 */
static void choose_places(struct pools *pools)
{
	for (size_t i = 0; i < pools->places; i++) {
		const struct place *place = &pools->place[i];

		for (size_t k = 0; place->is_posted && k < place->workers; k++) {
			uint32_t *of = &pools->of_thread[place->worker[k]];
			const struct place *best = *of ? &pools->place[*of - 1] : NULL;

			if (!best || place->workers > best->workers ||
			    (place->workers == best->workers && place->waits > best->waits))
				*of = (uint32_t)i + 1;
		}
	}
}

int pools_collect(struct history *history)
{
	struct pools *pools = calloc(1, sizeof(*pools));
	bool good = pools != NULL;

	history->pools = pools;
	if (good) {
		pools->threads = history->threads;
		pools->of_thread = calloc(history->threads + 1, sizeof(*pools->of_thread));
		good = pools->of_thread != NULL;
	}
	for (size_t i = 0; good && i < history->calls; i++)
		/* Threads that wait for the lock of an interpreter do not wait for work. */
		if (may_be_idle(&history->call[i]) && !gil_concerns(history, &history->call[i]))
			good = add_wait(history, pools, &history->call[i]);
	for (size_t i = 0; good && i < history->calls; i++)
		if (history->call[i].cause == CAUSE_POST && !history->call[i].has_id)
			add_post(history, pools, &history->call[i]);
	if (good)
		choose_places(pools);
	return good ? 0 : ENOMEM;
}

void pools_fini(struct history *history)
{
	struct pools *pools = history->pools;

	if (!pools)
		return;
	for (size_t i = 0; i < pools->places; i++)
		free(pools->place[i].worker);
	free(pools->place);
	free(pools->of_thread);
	table_fini(&pools->of_place);
	table_fini(&pools->of_key);
	free(pools);
	history->pools = NULL;
}

/* Returns the pool of a thread; NULL: there is none, or not all of its workers are known. */
static const struct place *pool_of(const struct history *history, uint32_t thread)
{
	const struct pools *pools = history->pools;
	const struct place *place = pools && thread < pools->threads && pools->of_thread[thread] ?
				    &pools->place[pools->of_thread[thread] - 1] : NULL;

	return place && !place->is_cut ? place : NULL;
}

/* Returns the index of the first piece of a thread that ends at or after a time. */
static size_t pieces_until(const struct history *history, uint32_t thread, int64_t time_ns)
{
	return history_piece_at(history, &history->thread[thread],
				time_ns > INT64_MIN ? time_ns - 1 : time_ns);
}

/*
 * Returns whether a thread waited again for the same condition without releasing the mutex between
 * both waits. The log then has one hold of the mutex between them. A thread that waits for another
 * result has released and acquired the mutex, so that there are two holds.
 */
static bool is_again(const struct history *history, const struct call *before, int64_t begin_ns,
		     uint64_t mutex, uint64_t *steps)
{
	const struct holds *holds = &history->holds;
	const pid_t pid = history->thread[before->thread].pid;
	size_t at = holds_first(holds, pid, mutex, before->end_ns);
	unsigned count = 0;

	for (unsigned n = 0; at < holds->count && n < REQUESTS; at++, n++, ++*steps) {
		const struct hold *hold = &holds->hold[at];

		if (hold->lock != mutex || hold->pid != pid || hold->begin_ns >= begin_ns)
			break;
		count += hold->thread == before->thread;
	}
	return count == 1;
}

/*
 * Returns the last of the waits for the result for which a call waited. A thread waits several
 * times for a result if other results wake it.
 */
static const struct call *last_wait(const struct history *history, const struct call *call,
				    uint64_t *steps)
{
	const struct history_thread *thread = &history->thread[call->thread];
	const size_t end = thread->piece + thread->pieces;
	size_t i = history_piece_at(history, thread, call->end_ns);

	for (unsigned n = 0; call->cause == CAUSE_COND && i < end && n < REQUESTS; i++, n++) {
		const struct call *next = &history->call[history->piece[i].call];

		if (next->begin_ns < call->end_ns)
			continue;
		if (next->cause != CAUSE_COND || next->key != call->key || next->error ||
		    !is_same_place(next, call) ||
		    !is_again(history, call, next->begin_ns, call->mutex, steps))
			break;
		call = next;
	}
	return call;
}

/* Returns the begin of the first of the waits for a result. The call is the last of them. */
static int64_t first_begin(const struct history *history, const struct call *call, uint64_t *steps)
{
	const struct history_thread *thread = &history->thread[call->thread];
	int64_t from_ns = call->begin_ns;
	size_t i = pieces_until(history, call->thread, call->begin_ns);

	for (unsigned n = 0;
	     call->cause == CAUSE_COND && i-- > thread->piece && n < REQUESTS; n++) {
		const struct call *before = &history->call[history->piece[i].call];

		if (before->end_ns > from_ns)
			continue;
		if (before->cause != CAUSE_COND || before->key != call->key || before->error ||
		    !is_same_place(before, call) ||
		    !is_again(history, before, from_ns, call->mutex, steps))
			break;
		from_ns = before->begin_ns;
	}
	return from_ns;
}

/* Returns whether a thread has held a lock before a time. It then uses the queue of this lock. */
static bool has_held(const struct history *history, uint32_t index, uint64_t lock, int64_t time_ns,
		     uint64_t *steps)
{
	const struct holds *holds = &history->holds;
	const pid_t pid = history->thread[index].pid;
	size_t at = holds_first(holds, pid, lock, time_ns);

	for (unsigned n = 0; at-- > 0 && n < LOOK_AT; n++, ++*steps) {
		if (holds->hold[at].lock != lock || holds->hold[at].pid != pid)
			return false;
		if (holds->hold[at].thread == index)
			return true;
	}
	return false;
}

/* The first hold and the last one of the mutex of a queue by a worker in a time; NULL: none. */
struct taken {
	const struct hold *first, *last;
};

/*
 * Finds the holds of the queue's mutex by a worker since from_ns that ended before the end of its
 * work. In one of them it took the work. If the search is cut, an earlier hold may be the first.
 */
static struct taken find_taken(const struct history *history, uint64_t mutex,
			       const struct call *end, int64_t from_ns, uint64_t *steps)
{
	const struct holds *holds = &history->holds;
	const pid_t pid = history->thread[end->thread].pid;
	size_t at = holds_first(holds, pid, mutex, end->begin_ns);
	struct taken taken = { .first = NULL };

	for (unsigned n = 0; at-- > 0 && n < LOOK_AT; n++, ++*steps) {
		const struct hold *hold = &holds->hold[at];

		if (hold->lock != mutex || hold->pid != pid || hold->end_ns <= from_ns)
			break;
		if (hold->thread != end->thread || hold->begin_ns <= from_ns)
			continue;
		taken.first = hold;
		if (!taken.last)
			taken.last = hold;
	}
	return taken;
}

/*
 * Returns whether any thread other than the caller has waited for the object of a call that wakes
 * threads. The preload library also records such calls if they probably woke no thread.
 */
static bool has_waiter(const struct history *history, const struct call *call)
{
	const struct pools *pools = history->pools;
	const struct place_key key = { history, call };
	const uint32_t index = table_find(&pools->of_key, hash_object(history, call), is_object,
					  pools->place, &key);

	return index != TABLE_NONE && (pools->place[index].workers > 1 ||
				       !has_worker(&pools->place[index], call->thread));
}

/*
 * Returns when a worker began the work that it finished by the call 'end'. 'waiter' is the thread
 * that waits for the work. The worker has finished other work before if it has woken a thread at
 * the same place in the program. This is certain if it has taken the mutex of the queue afterwards:
 * otherwise one piece of work may wake several threads. Without such a call, the work was in the
 * queue at least until the worker first took the mutex, because it was not idle before. Returns
 * INT64_MIN if it has done no other work since from_ns, or if it was idle since then.
 */
static int64_t begin_of_work(const struct history *history, const struct place *place,
			     const struct call *end, uint32_t waiter, int64_t from_ns,
			     bool *is_certain, uint64_t *steps)
{
	const struct history_thread *thread = &history->thread[end->thread];
	const uint64_t mutex = place->idle->cause == CAUSE_COND ? place->idle->mutex : 0;
	const struct taken taken = mutex && has_held(history, waiter, mutex, from_ns, steps) ?
				   find_taken(history, mutex, end, from_ns, steps) :
				   (struct taken){ .first = NULL };
	size_t i = pieces_until(history, end->thread, end->begin_ns);
	int64_t begin_ns = INT64_MIN;

	*is_certain = false;
	for (unsigned n = 0; i-- > thread->piece && n < LOOK_AT; n++, ++*steps) {
		const struct call *before = &history->call[history->piece[i].call];
		const bool is_taken = taken.last && taken.last->begin_ns >= before->end_ns;

		if (before->end_ns <= from_ns)
			break;
		/* The worker was idle: it began its work immediately. */
		if (is_idle_call(place, before))
			return INT64_MIN;
		if (begin_ns == INT64_MIN && before->cause == CAUSE_POST &&
		    is_same_place(before, end) && !before->error && has_waiter(history, before) &&
		    ((before->end_ns <= INT64_MAX - BATCH_NS &&
		      end->begin_ns >= before->end_ns + BATCH_NS) || is_taken)) {
			begin_ns = before->end_ns;
			*is_certain = is_taken;
		}
	}
	return begin_ns == INT64_MIN && taken.first ? taken.first->end_ns : begin_ns;
}

/* Returns for how long a thread waited for work between two times. */
static uint64_t idle_ns(const struct history *history, const struct place *place, uint32_t index,
		       int64_t from_ns, int64_t to_ns, uint64_t *steps)
{
	const struct history_thread *thread = &history->thread[index];
	const size_t end = thread->piece + thread->pieces;
	uint64_t idle = 0;

	for (size_t i = history_piece_at(history, thread, from_ns);
	     i < end && history->piece[i].begin_ns < to_ns; i++, ++*steps) {
		const struct piece *piece = &history->piece[i];

		if (is_idle_call(place, &history->call[piece->call]))
			idle += (uint64_t)(piece->end_ns < to_ns ? piece->end_ns : to_ns) -
				(uint64_t)(piece->begin_ns > from_ns ? piece->begin_ns : from_ns);
	}
	return idle;
}

/*
 * Returns the number of workers that lived in the whole time between two times, or 0 if one of them
 * waited for work for more than a small part of it.
 */
static unsigned busy_workers(const struct history *history, const struct place *place,
			     int64_t from_ns, int64_t to_ns, uint64_t *steps)
{
	unsigned count = 0;

	for (size_t i = 0; i < place->workers; i++) {
		const struct history_thread *thread = &history->thread[place->worker[i]];

		if (thread->first_ns > from_ns || thread->last_ns < to_ns)
			continue;
		if (idle_ns(history, place, place->worker[i], from_ns, to_ns, steps) >
		    ((uint64_t)to_ns - (uint64_t)from_ns) / IDLE_PART)
			return 0;
		count++;
	}
	return count;
}

bool pools_find(const struct history *history, const struct call *call,
		struct pools_queued *queued, uint64_t *steps)
{
	const struct place *place;
	struct ender found;

	if (!may_be_idle(call) || call->error || gil_concerns(history, call))
		return false;
	call = last_wait(history, call, steps);
	found = ender_find(history, call, NULL);
	if (!found.call || found.call->cause != CAUSE_POST || found.has_rivals ||
	    !lives_same(history, found.call->thread, call->thread))
		return false;
	place = pool_of(history, found.call->thread);
	if (!place || has_worker(place, call->thread) || place->idle->key == call->key)
		return false;
	*queued = (struct pools_queued){
		.from_ns = first_begin(history, call, steps), .worker = found.call->thread,
		.idle = place->idle,
	};
	queued->to_ns = begin_of_work(history, place, found.call, call->thread, queued->from_ns,
				      &queued->is_certain, steps);
	if (queued->to_ns <= queued->from_ns)
		return false;
	queued->workers = busy_workers(history, place, queued->from_ns, queued->to_ns, steps);
	return queued->workers > 0;
}

/* A time in which a worker was idle. */
struct idle {
	int64_t from_ns, to_ns;
};

static int by_begin(const void *a, const void *b)
{
	const struct idle *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

int pools_busy(const struct history *history, uint32_t worker, int64_t from_ns, int64_t to_ns,
	       struct pools_busy *busy)
{
	const struct place *place = pool_of(history, worker);
	struct idle *idle = NULL;
	size_t count = 0;
	int64_t until_ns;
	bool good = true;

	*busy = (struct pools_busy){ .idle = place ? place->idle : NULL };
	for (size_t k = 0; place && k < place->workers; k++) {
		const struct history_thread *thread = &history->thread[place->worker[k]];

		from_ns = thread->first_ns > from_ns ? thread->first_ns : from_ns;
		to_ns = thread->last_ns < to_ns ? thread->last_ns : to_ns;
	}
	if (!place || from_ns >= to_ns)
		return 0;
	busy->workers = (unsigned)place->workers;
	busy->all_ns = (uint64_t)to_ns - (uint64_t)from_ns;
	until_ns = from_ns;
	for (size_t k = 0; good && k < place->workers; k++) {
		const struct history_thread *thread = &history->thread[place->worker[k]];
		const size_t end = thread->piece + thread->pieces;

		for (size_t i = history_piece_at(history, thread, from_ns);
		     good && i < end && history->piece[i].begin_ns < to_ns; i++) {
			const struct piece *piece = &history->piece[i];

			if (!is_idle_call(place, &history->call[piece->call]))
				continue;
			good = vec_grow(&idle, count, 1);
			if (good)
				idle[count++] = (struct idle){ piece->begin_ns, piece->end_ns };
		}
	}
	if (count)
		qsort(idle, count, sizeof(*idle), by_begin);
	for (size_t i = 0; i < count; i++) {
		const int64_t begin_ns = idle[i].from_ns > until_ns ? idle[i].from_ns : until_ns;
		const int64_t end_ns = idle[i].to_ns < to_ns ? idle[i].to_ns : to_ns;

		if (end_ns > begin_ns) {
			busy->idle_ns += (uint64_t)end_ns - (uint64_t)begin_ns;
			until_ns = end_ns;
		}
	}
	free(idle);
	return good ? 0 : ENOMEM;
}

const struct call *pools_idle(const struct history *history, uint32_t worker)
{
	const struct place *place = pool_of(history, worker);

	return place ? place->idle : NULL;
}

size_t pools_workers(const struct history *history, uint32_t worker, uint32_t *thread, size_t size)
{
	const struct place *place = pool_of(history, worker);

	for (size_t i = 0; place && i < size && i < place->workers; i++)
		thread[i] = place->worker[i];
	return place ? place->workers : 0;
}
