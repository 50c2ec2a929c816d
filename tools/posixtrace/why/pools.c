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
#include "why/stuck.h"

#define PLACES_MOST  65536 /* the most places, of which each needs memory */
#define LOOK_AT      512   /* the most calls of a thread that a search examines */
#define REQUESTS     64    /* the most waits of a thread for one result */
#define POSTERS      64    /* the most threads of one queue that are kept in place.poster */
/*
 * A worker that wakes two threads within this time has finished one piece of work, not two. An idle
 * worker needs at most this time to take work.
 */
#define BATCH_NS     INT64_C(50000)
/*
 * A worker that waits for work for at most 1 / IDLE_PART of a time counts as busy: it may have been
 * woken for work that another worker then took.
 */
#define IDLE_PART    20

/*
 * The queue from which a thread takes work, by the call that waits for work or takes it. A queue of
 * the kind QUEUE_MEMORY is in the memory of the program, and a condition variable, semaphore or
 * futex wakes the workers. So the log has no events of such a queue. The work in the other queues
 * is in the kernel, so each call that takes work has an event, also if it did not wait.
 *
 * Workers of a queue in memory that always have work never wait for the variable. A place of the
 * kind QUEUE_UNSEEN has the threads that finish work at one place in the program and never wait. It
 * is no pool: its threads join the pool whose workers finish work there.
 */
struct queue {
	enum { QUEUE_NONE, QUEUE_MEMORY, QUEUE_BYTES, QUEUE_CLIENTS, QUEUE_UNSEEN } kind;
	/*
	 * the address of the variable; QUEUE_BYTES: the object of a pipe, a pair of sockets, an
	 * eventfd or a message queue; QUEUE_CLIENTS: the address of the socket that listens, or,
	 * with is_own, its descriptor; QUEUE_UNSEEN: the place at which workers finish work
	 */
	uint64_t key;
	uint32_t thread;  /* the one that made the call */
	bool is_own;      /* the queue belongs to the process of the thread */
	bool is_second;   /* of a pair of sockets: work is taken from the second end */
};

struct worker {
	uint32_t thread;
	const struct call *poll; /* a poll after which it took work; NULL: there is none */
};

/*
 * Threads that take work from one queue. Queues in memory are separated by the places in the
 * program at which threads wait for them. Only some of these places are pools.
 */
struct place {
	const struct call *idle; /* the first of the calls that wait for work or take it */
	struct queue queue;
	struct worker *worker;
	size_t workers;
	uint32_t *poster;        /* the threads that put work into a queue of the kernel */
	size_t posters;
	uint64_t waits;
	bool is_posted;          /* another thread has put work into the queue, or woken a worker */
	bool is_cut;             /* more than POOLS_WORKERS threads take work here */
	/*
	 * The group of the place (group_places()): 'group' is the index of the first place of the
	 * group, and 'next' is 1 + the index of the place behind this one; 0: this is the last one.
	 */
	uint32_t group, next;
	/*
	 * QUEUE_UNSEEN: 1 + the index of the pool whose workers finish work at this place, too;
	 * 0: none
	 */
	uint32_t pool;
};

struct pools {
	struct place *place;
	size_t places;
	struct table of_place;
	uint32_t *of_thread;     /* for each thread: the index of its pool + 1; 0: none */
	size_t threads;
	uint32_t *open;          /* the threads that may wait in a call after their last event */
	size_t opens;
	struct table of_key;     /* has the first place of each queue */
};

/* Returns whether a call waits for a variable that may belong to a queue in memory. */
static bool waits_for_variable(const struct call *call)
{
	return (call->cause == CAUSE_COND || call->cause == CAUSE_SEM) && !call->has_id &&
	       call->key;
}

/* Returns whether a descriptor transfers bytes that one of several readers takes. */
static bool is_shared_kind(uint8_t fd_kind)
{
	return fd_kind == FD_PIPE || fd_kind == FD_PAIR || fd_kind == FD_EVENT ||
	       fd_kind == FD_QUEUE;
}

/* Returns whether a call is an accept() that did not return. The recorder made its event. */
static bool is_stuck_accept(const struct history *history, const struct call *call)
{
	return call->is_stuck && call->cause == CAUSE_PEER &&
	       !strncmp(history_text_at(history, history->stuck[call->thread].call), "accept", 6);
}

/* Returns the queue for which a call waits, or from which it takes work, or QUEUE_NONE. */
static struct queue queue_of(const struct history *history, const struct call *call)
{
	if (waits_for_variable(call))
		return (struct queue){ QUEUE_MEMORY, call->key, call->thread, .is_own = true };
	/* The end of a pipe is no work. */
	if (call->cause == CAUSE_READ && !call->has_id && !call->error && !call->is_empty &&
	    call->object && is_shared_kind(call->fd_kind))
		return (struct queue){ QUEUE_BYTES, call->object, call->thread,
				       .is_second = call->fd_kind == FD_PAIR && call->is_second };
	if (!history_has_accepted(call) && !is_stuck_accept(history, call))
		return (struct queue){ .kind = QUEUE_NONE };
	/* A socket of unknown address is identified by its descriptor, in one process. */
	return (struct queue){ QUEUE_CLIENTS, call->own ? call->own : call->key, call->thread,
			       .is_own = !call->own };
}

/* Returns the queue into which a call puts work, or QUEUE_NONE. */
static struct queue queue_of_put(const struct call *call)
{
	if (call->cause == CAUSE_POST && !call->has_id)
		return (struct queue){ QUEUE_MEMORY, call->key, call->thread, .is_own = true };
	if (call->cause == CAUSE_WRITE && !call->has_id && !call->error && call->object &&
	    is_shared_kind(call->fd_kind))
		return (struct queue){ QUEUE_BYTES, call->object, call->thread,
				       .is_second = call->fd_kind == FD_PAIR && !call->is_second };
	return (struct queue){ .kind = QUEUE_NONE };
}

static bool is_same_queue(const struct history *history, const struct queue *one,
			  const struct queue *other)
{
	return one->kind == other->kind && one->key == other->key &&
	       one->is_own == other->is_own && one->is_second == other->is_second &&
	       (!one->is_own || lives_same(history, one->thread, other->thread));
}

/* A search for the place of a call. */
struct place_key {
	const struct history *history;
	const struct call *call; /* NULL: only the queue is compared */
	struct queue queue;
};

static bool is_same_place(const struct call *call, const struct call *other)
{
	return call->type == other->type && call->address == other->address;
}

/* Compares the place of a call with the wanted one, for table_find(). */
static bool is_place(const void *array, uint32_t index, const void *key)
{
	const struct place *place = (const struct place *)array + index;
	const struct place_key *wanted = key;

	return is_same_queue(wanted->history, &place->queue, &wanted->queue) &&
	       (!wanted->call || wanted->queue.kind != QUEUE_MEMORY ||
		is_same_place(place->idle, wanted->call));
}

static uint64_t hash_queue(const struct history *history, const struct queue *queue)
{
	const uint64_t hash = hash_number(HASH_BEGIN, queue->key * 4 + queue->kind);

	return queue->is_own ? hash_number(hash, (unsigned)history->thread[queue->thread].pid) :
			       hash;
}

/* Returns the first place of a queue, or NULL. */
static struct place *place_of_queue(const struct history *history, const struct pools *pools,
				    const struct queue *queue)
{
	const struct place_key key = { history, NULL, *queue };
	const uint32_t index = queue->kind == QUEUE_NONE ? TABLE_NONE :
			       table_find(&pools->of_key, hash_queue(history, queue), is_place,
					  pools->place, &key);

	return index == TABLE_NONE ? NULL : &pools->place[index];
}

/* Returns the entry for a thread among the workers of a place, or NULL. */
static struct worker *find_worker(const struct place *place, uint32_t thread)
{
	for (size_t i = 0; i < place->workers; i++)
		if (place->worker[i].thread == thread)
			return &place->worker[i];
	return NULL;
}

/*
 * Returns the place of a call, and adds it if there is none. A call that did not return has no
 * place in the program: it belongs to the first place of its queue. Returns NULL if there are
 * PLACES_MOST places already. If memory is lacking, returns NULL and sets *good to false.
 */
static struct place *place_of(const struct history *history, struct pools *pools,
			      const struct call *call, const struct queue *queue, bool *good)
{
	const struct place_key key = { history, call, *queue };
	const uint64_t hash_key = hash_queue(history, queue);
	const uint64_t hash = queue->kind == QUEUE_MEMORY ?
			      hash_number(hash_key, call->address) : hash_key;
	struct place *first = place_of_queue(history, pools, queue);
	uint32_t index;

	if (first && call->is_stuck)
		return first;
	index = table_find(&pools->of_place, hash, is_place, pools->place, &key);
	if (index != TABLE_NONE)
		return &pools->place[index];
	if (pools->places == PLACES_MOST)
		return NULL;
	*good = vec_grow(&pools->place, pools->places, 1);
	if (!*good)
		return NULL;
	index = (uint32_t)pools->places++;
	pools->place[index] = (struct place){ .idle = call, .queue = *queue };
	/* Only the first place of a queue has an entry in of_key: see add_post(). */
	*good = table_add(&pools->of_place, hash, index) &&
		(first || table_add(&pools->of_key, hash_key, index));
	return *good ? &pools->place[index] : NULL;
}

/*
 * Adds a call that waits for work, or that takes it after the poll 'poll', to its place. 'poll' may
 * be NULL. Returns false if memory is lacking.
 */
static bool add_wait(const struct history *history, struct pools *pools, const struct call *call,
		     const struct queue *queue, const struct call *poll)
{
	bool good = true;
	struct place *place = place_of(history, pools, call, queue, &good);
	struct worker *worker = place ? find_worker(place, call->thread) : NULL;

	if (!place || place->is_cut)
		return good;
	place->waits += !poll;
	if (!worker) {
		if (place->workers == POOLS_WORKERS) {
			place->is_cut = true;
			return true;
		}
		if (!vec_grow(&place->worker, place->workers, 1))
			return false;
		worker = &place->worker[place->workers++];
		*worker = (struct worker){ .thread = call->thread };
	}
	if (poll && !worker->poll)
		worker->poll = poll;
	return true;
}

/*
 * Notes that a thread has put work into a queue, or has woken a thread that waits for it. If
 * threads wait for a variable at several places, the first place counts. Returns false if memory is
 * lacking.
 */
static bool add_post(const struct history *history, struct pools *pools, const struct call *call)
{
	const struct queue queue = queue_of_put(call);
	struct place *place = place_of_queue(history, pools, &queue);

	if (!place || find_worker(place, call->thread))
		return true;
	place->is_posted = true;
	for (size_t i = 0; i < place->posters; i++)
		if (place->poster[i] == call->thread)
			return true;
	if (place->posters == POSTERS || queue.kind == QUEUE_MEMORY)
		return true;
	if (!vec_grow(&place->poster, place->posters, 1))
		return false;
	place->poster[place->posters++] = call->thread;
	return true;
}

/*
 * Chooses the pool of each worker. A worker may also wait at other places, for example for a part
 * of its work. Its pool is that of these places at which most threads wait.
 */
static void choose_places(struct pools *pools)
{
	for (size_t i = 0; i < pools->places; i++) {
		const struct place *place = &pools->place[i];

		/* Clients, which put work into this queue, need not have been recorded. */
		const bool is_pool = place->is_posted || place->queue.kind == QUEUE_CLIENTS;

		for (size_t k = 0; is_pool && k < place->workers; k++) {
			uint32_t *of = &pools->of_thread[place->worker[k].thread];
			const struct place *best = *of ? &pools->place[*of - 1] : NULL;

			if (!best || place->workers > best->workers ||
			    (place->workers == best->workers && place->waits > best->waits))
				*of = (uint32_t)i + 1;
		}
	}
}

static const struct pools *grouped; /* the pools whose places by_group() compares */

/*
 * Returns whether a place may be in one group with others: it has one worker, choose_places() has
 * chosen it for this worker, and all threads that put work into its queue are known.
 */
static bool is_single(const struct place *place)
{
	return place->queue.kind == QUEUE_BYTES && place->workers == 1 && place->posters &&
	       place->posters < POSTERS &&
	       &grouped->place[grouped->of_thread[place->worker[0].thread] - 1] == place;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * A thread may distribute work to workers that have one queue each. Compares the places of such
 * queues: by the threads that put work into them, in the order of by_number(), and by the place in
 * the program at which their workers take work. Returns 0 if both belong to one group.
 */
static int compare_single(const struct place *x, const struct place *y)
{
	int differ;

	if (x->posters != y->posters)
		return x->posters < y->posters ? -1 : 1;
	differ = memcmp(x->poster, y->poster, x->posters * sizeof(*x->poster));
	if (differ)
		return differ;
	if (x->idle->address != y->idle->address)
		return x->idle->address < y->idle->address ? -1 : 1;
	return by_number(&x->idle->type->id, &y->idle->type->id);
}

/* Orders places so that those of a group follow each other. Places without a group are the last. */
static int by_group(const void *a, const void *b)
{
	const struct place *x = &grouped->place[*(const uint32_t *)a];
	const struct place *y = &grouped->place[*(const uint32_t *)b];
	const bool is_first = is_single(x);
	const int differ = is_first && is_single(y) ? compare_single(x, y) : 0;

	if (is_first != is_single(y))
		return is_first ? -1 : 1;
	return differ ? differ : (x > y) - (x < y);
}

static bool is_same_group(const struct place *x, const struct place *y)
{
	return is_single(x) && is_single(y) && !compare_single(x, y);
}

/*
 * Puts the queues with one worker each into groups: the same threads put work into all of them, and
 * their workers take it at one place in the program. A group has at most POOLS_WORKERS places. Each
 * other place is a group of its own. Returns false if memory is lacking.
 */
static bool group_places(struct pools *pools)
{
	uint32_t *sorted = calloc(pools->places + 1, sizeof(*sorted));

	if (!sorted)
		return false;
	for (size_t i = 0; i < pools->places; i++)
		pools->place[i].group = sorted[i] = (uint32_t)i;
	for (size_t i = 0; i < pools->places; i++)
		if (pools->place[i].posters)
			qsort(pools->place[i].poster, pools->place[i].posters,
			      sizeof(*pools->place[i].poster), by_number);
	grouped = pools;
	qsort(sorted, pools->places, sizeof(*sorted), by_group);
	for (size_t i = 1, count = 1; i < pools->places; i++) {
		struct place *before = &pools->place[sorted[i - 1]];
		struct place *place = &pools->place[sorted[i]];

		count = count < POOLS_WORKERS && is_same_group(before, place) ? count + 1 : 1;
		if (count == 1)
			continue;
		before->next = sorted[i] + 1;
		place->group = before->group;
	}
	free(sorted);
	return true;
}

/*
 * Collects the threads that did not record their end, for has_unknown(). In a long log most threads
 * have ended, so that function need not examine them for each wait. Returns false if memory is
 * lacking.
 */
static bool collect_open(const struct history *history, struct pools *pools)
{
	for (uint32_t i = 0; i < history->threads; i++) {
		if (!history->thread[i].last_call || history_ended_itself(&history->thread[i]))
			continue;
		if (!vec_grow(&pools->open, pools->opens, 1))
			return false;
		pools->open[pools->opens++] = i;
	}
	return true;
}

/*
 * Returns whether any thread other than the caller has waited for the object of a call that wakes
 * threads. The preload library also records such calls if they probably woke no thread.
 */
static bool has_waiter(const struct history *history, const struct call *call)
{
	const struct queue queue = queue_of_put(call);
	const struct place *place = place_of_queue(history, history->pools, &queue);

	return place && (place->workers > 1 || !find_worker(place, call->thread));
}

/*
 * Returns whether a thread may wait for work in a call. A read from a connection that the program
 * made receives an answer, so it is a part of the work.
 */
static bool may_wait_for_work(const struct call *call)
{
	switch ((enum cause)call->cause) {
	case CAUSE_READ:
		return !call_uses_file(call) && !call->peer;
	case CAUSE_COND:
	case CAUSE_SEM:
	case CAUSE_BARRIER:
	case CAUSE_POLL:
	case CAUSE_PEER:
	case CAUSE_JOIN:
	case CAUSE_CHILD:
	case CAUSE_SIGNAL:
		return true;
	default:
		return false;
	}
}

/*
 * Notes a call by which a thread finished work: it has woken another thread. 'has_waited' has
 * whether each thread may have waited for work. The workers of a known pool finish work at the same
 * place as the workers of this pool that never waited. Returns false if memory is lacking.
 */
static bool add_finish(const struct history *history, struct pools *pools, const struct call *call,
		       const bool *has_waited)
{
	const struct queue queue = { QUEUE_UNSEEN, call->address, call->thread, .is_own = true };
	const uint32_t of = pools->of_thread[call->thread];
	struct place *place;
	bool good = true;

	if (call->cause != CAUSE_POST || call->has_id || call->error || !call->address ||
	    !has_waiter(history, call))
		return true;
	if (!has_waited[call->thread])
		return add_wait(history, pools, call, &queue, NULL);
	if (!of || pools->place[of - 1].queue.kind != QUEUE_MEMORY)
		return true;
	place = place_of(history, pools, call, &queue, &good);
	if (place && (!place->pool ||
		      pools->place[of - 1].workers > pools->place[place->pool - 1].workers))
		place->pool = of;
	return good;
}

/*
 * Adds a worker that never waited to the known pool whose workers finish work at the same place.
 * Returns false if memory is lacking.
 */
static bool join_pool(struct pools *pools, uint32_t pool, uint32_t thread)
{
	struct place *place = &pools->place[pool - 1];

	if (place->workers == POOLS_WORKERS) {
		place->is_cut = true;
		return true;
	}
	if (!vec_grow(&place->worker, place->workers, 1))
		return false;
	place->worker[place->workers++] = (struct worker){ .thread = thread };
	pools->of_thread[thread] = pool;
	return true;
}

/*
 * Finds the workers that never waited for work in the time of the log, because their queue in
 * memory was never empty. Each joins the pool whose workers finish work at the same place. Threads
 * that finish work at a place without such a pool may be no workers: threads that distribute work,
 * or divide it in advance, do the same. Returns false if memory is lacking.
 */
static bool find_saturated(const struct history *history, struct pools *pools)
{
	bool *has_waited = calloc(history->threads + 1, sizeof(*has_waited));
	const size_t first = pools->places;
	bool good = has_waited;

	for (size_t i = 0; good && i < history->calls; i++) {
		const struct call *call = &history->call[i];

		if (!has_waited[call->thread] && may_wait_for_work(call))
			has_waited[call->thread] = history_was_blocked(history, call);
	}
	for (size_t i = 0; good && i < history->calls; i++)
		good = add_finish(history, pools, &history->call[i], has_waited);
	for (size_t i = first; good && i < pools->places; i++) {
		const struct place *place = &pools->place[i];

		if (place->pool && place->is_cut)
			pools->place[place->pool - 1].is_cut = true;
		for (size_t k = 0; good && place->pool && k < place->workers; k++)
			if (!pools->of_thread[place->worker[k].thread])
				good = join_pool(pools, place->pool, place->worker[k].thread);
	}
	free(has_waited);
	return good;
}

int pools_collect(struct history *history)
{
	struct pools *pools = calloc(1, sizeof(*pools));
	bool good = pools != NULL;

	history->pools = pools;
	if (good) {
		pools->threads = history->threads;
		pools->of_thread = calloc(history->threads + 1, sizeof(*pools->of_thread));
		good = pools->of_thread != NULL && collect_open(history, pools);
	}
	for (size_t i = 0; good && i < history->calls; i++) {
		const struct call *call = &history->call[i];
		const struct call *poll = call->cause == CAUSE_POLL ? call : NULL;
		const struct call *taken = poll ? ender_through(history, poll) : call;
		const struct queue queue = taken ? queue_of(history, taken) :
						   (struct queue){ .kind = QUEUE_NONE };

		/* Threads that wait for the lock of an interpreter do not wait for work. */
		if (queue.kind != QUEUE_NONE && !gil_concerns(history, taken))
			good = add_wait(history, pools, taken, &queue, poll);
	}
	for (size_t i = 0; good && i < history->calls; i++)
		good = add_post(history, pools, &history->call[i]);
	if (good)
		choose_places(pools);
	return good && find_saturated(history, pools) && group_places(pools) ? 0 : ENOMEM;
}

void pools_fini(struct history *history)
{
	struct pools *pools = history->pools;

	if (!pools)
		return;
	for (size_t i = 0; i < pools->places; i++) {
		free(pools->place[i].worker);
		free(pools->place[i].poster);
	}
	free(pools->place);
	free(pools->of_thread);
	free(pools->open);
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

/* Returns the first place of the group of a place. */
static const struct place *group_of(const struct history *history, const struct place *place)
{
	return &history->pools->place[place->group];
}

/* Returns the next place of a group, or NULL. */
static const struct place *group_next(const struct history *history, const struct place *place)
{
	return place->next ? &history->pools->place[place->next - 1] : NULL;
}

static bool has_group(const struct history *history, const struct place *place)
{
	return group_of(history, place)->next;
}

/* Returns whether a thread is a worker of a place or of another one of its group. */
static bool is_worker(const struct history *history, const struct place *place, uint32_t thread)
{
	const struct pools *pools = history->pools;

	if (!has_group(history, place))
		return find_worker(place, thread);
	return pools->of_thread[thread] &&
	       pools->place[pools->of_thread[thread] - 1].group == place->group;
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

/* ------------------------------------------------------------------ times without work */

/* A walk over the times in which a worker waited for work, in the order of time. */
struct idle_walk {
	const struct history *history;
	const struct place *place;
	const struct worker *worker;
	size_t at, end;        /* indexes of pieces */
	int64_t from_ns, to_ns;
	bool has_ended;
	uint64_t *steps;
};

static struct idle_walk idle_begin(const struct history *history, const struct place *place,
				   const struct worker *worker, int64_t from_ns, int64_t to_ns,
				   uint64_t *steps)
{
	const struct history_thread *thread = &history->thread[worker->thread];

	return (struct idle_walk){ history, place, worker,
				   history_piece_at(history, thread, from_ns),
				   thread->piece + thread->pieces, from_ns, to_ns, false, steps };
}

/*
 * Returns whether a worker can take work by a call, or waits for work in it. A worker may wait for
 * the same variable at another place, for example with a time limit. A poll counts if the worker
 * took work after another poll at the same place, or if the poll did not return. Such a poll may
 * also wait for other input, but the worker would have taken work that arrived meanwhile.
 */
static bool is_idle_call(const struct history *history, const struct place *place,
			 const struct worker *worker, const struct call *call)
{
	struct queue queue;

	if (call->cause == CAUSE_POLL)
		return worker->poll && (call->is_stuck || is_same_place(call, worker->poll));
	if (place->queue.kind == QUEUE_MEMORY)
		return waits_for_variable(call) && call->key == place->queue.key;
	queue = queue_of(history, call);
	return is_same_queue(history, &queue, &place->queue);
}

/* Returns whether a call waits for a lock by which workers take turns at a queue. */
static bool may_guard(const struct call *call)
{
	return call->cause == CAUSE_LOCK || call->cause == CAUSE_SEM ||
	       call->cause == CAUSE_FILE_LOCK;
}

/*
 * Returns whether a worker takes work from the queue, or waits for it, by the call that follows the
 * call of a piece.
 */
static bool takes_next(const struct idle_walk *walk, size_t piece)
{
	const struct history *history = walk->history;
	const uint32_t call = history->piece[piece].call;

	while (piece < walk->end && history->piece[piece].call == call)
		piece++;
	return piece < walk->end && is_idle_call(history, walk->place, walk->worker,
						 &history->call[history->piece[piece].call]);
}

/*
 * Returns whether a thread may live at a time after its last event. The exit of another thread, or
 * a signal, may have ended its process.
 */
static bool may_live(const struct history *history, const struct history_thread *thread,
		     int64_t time_ns)
{
	return thread->last_call && !history_ended_itself(thread) &&
	       lives_has(history, thread->pid, thread->last_call_ns, time_ns);
}

/*
 * Stores the next time without work, as a part of the time of the walk. Returns false at the end. A
 * wait for a lock directly before the worker takes work from a queue of the kernel counts, because
 * the worker is free during this wait. The time after the last event of a worker that has not ended
 * counts, too: the worker may wait for work in a call that did not return.
 */
static bool idle_next(struct idle_walk *walk, int64_t *begin_ns, int64_t *end_ns)
{
	const struct history *history = walk->history;
	const struct history_thread *thread = &history->thread[walk->worker->thread];
	int64_t last_ns = thread->last_call_ns;

	for (; walk->at < walk->end && history->piece[walk->at].begin_ns < walk->to_ns;
	     ++*walk->steps) {
		const struct piece *piece = &history->piece[walk->at++];
		const struct call *call = &history->call[piece->call];

		if (!is_idle_call(history, walk->place, walk->worker, call) &&
		    !(walk->place->queue.kind != QUEUE_MEMORY && may_guard(call) &&
		      takes_next(walk, walk->at - 1)))
			continue;
		*begin_ns = piece->begin_ns > walk->from_ns ? piece->begin_ns : walk->from_ns;
		*end_ns = piece->end_ns < walk->to_ns ? piece->end_ns : walk->to_ns;
		return true;
	}
	if (walk->has_ended || !may_live(history, thread, walk->to_ns))
		return false;
	walk->has_ended = true;
	if (thread->pieces && history->piece[walk->end - 1].end_ns > last_ns)
		last_ns = history->piece[walk->end - 1].end_ns;
	*begin_ns = last_ns > walk->from_ns ? last_ns : walk->from_ns;
	*end_ns = walk->to_ns;
	return *begin_ns < *end_ns;
}

/* ------------------------------------------------------------------ times in a queue */

/*
 * Returns when a worker began the work that it finished by the call 'end'. 'waiter' is the thread
 * that waits for the work. The worker has finished other work before if it has woken a thread at
 * the same place in the program. This is certain if it has taken the mutex of the queue afterwards:
 * otherwise one piece of work may wake several threads. Without such a call, the work was in the
 * queue at least until the worker first took the mutex, because it was not idle before. Returns
 * INT64_MIN if it has done no other work since from_ns, or if it was idle since then. Sets
 * is_certain and has_finished of *queued.
 */
static int64_t begin_of_work(const struct history *history, const struct place *place,
			     const struct call *end, uint32_t waiter, int64_t from_ns,
			     struct pools_queued *queued, uint64_t *steps)
{
	const struct history_thread *thread = &history->thread[end->thread];
	const struct worker *worker = find_worker(place, end->thread);
	const uint64_t mutex = place->idle->cause == CAUSE_COND ? place->idle->mutex : 0;
	const struct taken taken = mutex && has_held(history, waiter, mutex, from_ns, steps) ?
				   find_taken(history, mutex, end, from_ns, steps) :
				   (struct taken){ .first = NULL };
	size_t i = pieces_until(history, end->thread, end->begin_ns);
	int64_t begin_ns = INT64_MIN;

	queued->is_certain = false;
	for (unsigned n = 0; i-- > thread->piece && n < LOOK_AT; n++, ++*steps) {
		const struct call *before = &history->call[history->piece[i].call];
		const bool is_taken = taken.last && taken.last->begin_ns >= before->end_ns;

		if (before->end_ns <= from_ns)
			break;
		/* The worker was idle: it began its work immediately. */
		if (is_idle_call(history, place, worker, before))
			return INT64_MIN;
		if (begin_ns == INT64_MIN && before->cause == CAUSE_POST &&
		    is_same_place(before, end) && !before->error && has_waiter(history, before) &&
		    ((before->end_ns <= INT64_MAX - BATCH_NS &&
		      end->begin_ns >= before->end_ns + BATCH_NS) || is_taken)) {
			begin_ns = before->end_ns;
			queued->is_certain = is_taken;
		}
	}
	queued->has_finished = begin_ns != INT64_MIN;
	return begin_ns == INT64_MIN && taken.first ? taken.first->end_ns : begin_ns;
}

/*
 * Returns whether the thread 'waiter', or another one of its process, has put work into the queue
 * of a place. *is_itself becomes whether 'waiter' has.
 */
static bool has_put(const struct history *history, const struct place *place, uint32_t waiter,
		    bool *is_itself)
{
	bool found = false;

	*is_itself = false;
	for (size_t i = 0; i < place->posters; i++) {
		*is_itself |= place->poster[i] == waiter;
		found |= lives_same(history, place->poster[i], waiter);
	}
	return found;
}

/*
 * Does the same as begin_of_work(), for a queue of the kernel. Here the call that took the work has
 * an event. For a connection, it is the accept() that returned the connection, and the time in the
 * queue is certain. For other queues, it is the first call that took work after the worker had
 * finished its other work. If the worker has finished no other work since from_ns, the function
 * uses the first call since from_ns: the awaited work was in the queue at least until this call.
 * For other queues, the time is certain if the waiting thread itself has put work into the queue,
 * and the worker has finished other work since from_ns.
 */
static int64_t begin_of_taken(const struct history *history, const struct place *place,
			      const struct call *end, uint32_t waiter, int64_t from_ns,
			      struct pools_queued *queued, uint64_t *steps)
{
	const bool is_client = place->queue.kind == QUEUE_CLIENTS;
	const struct history_thread *thread = &history->thread[end->thread];
	const struct worker *worker = find_worker(place, end->thread);
	size_t i = pieces_until(history, end->thread, end->begin_ns);
	bool has_finished = false, is_itself = false;
	int64_t begin_ns = INT64_MIN, waits_ns;

	queued->is_certain = queued->has_finished = false;
	/* The times of a hostile log may be so far apart that the difference overflows. */
	if (__builtin_sub_overflow(end->begin_ns, from_ns, &waits_ns))
		return INT64_MIN;
	if (!is_client && !has_put(history, place, waiter, &is_itself))
		return INT64_MIN;
	for (unsigned n = 0; i-- > thread->piece; n++, ++*steps) {
		const struct call *before = &history->call[history->piece[i].call];

		if (before->end_ns <= from_ns)
			break;
		if (n == LOOK_AT)
			return INT64_MIN;
		if (is_idle_call(history, place, worker, before)) {
			/*
			 * The worker was idle, so it began the work immediately. If each worker has
			 * a queue of its own, a short wait does not count.
			 */
			if (history_was_blocked(history, before) &&
			    (!has_group(history, place) ||
			     before->end_ns - before->begin_ns > waits_ns / IDLE_PART))
				return INT64_MIN;
			if (before->cause != CAUSE_POLL && !has_finished &&
			    (!is_client || before->object == end->object))
				begin_ns = before->end_ns;
		} else if (begin_ns != INT64_MIN && before->cause == end->cause &&
			   is_same_place(before, end) && !before->error) {
			has_finished = true;
		}
	}
	if (begin_ns == INT64_MIN)
		return INT64_MIN;
	/*
	 * In a group, another thread may have put the awaited work into this queue. This is
	 * impossible only if no thread but the waiting one puts work into it.
	 */
	queued->is_certain = is_client || (is_itself && has_finished &&
					   (!has_group(history, place) || place->posters == 1));
	queued->has_finished = has_finished;
	if (is_client || has_finished)
		return begin_ns;
	/* A worker that takes work immediately also needs some time for that. */
	return from_ns <= INT64_MAX - BATCH_NS && begin_ns >= from_ns + BATCH_NS ? begin_ns :
										   INT64_MIN;
}

/*
 * Returns whether an unknown worker may have waited for work between two times: a thread that has
 * no call since from_ns, and has not ended, may wait in a call that did not return. For a queue in
 * memory, only threads of the workers' process are examined. For a queue of the kernel, threads of
 * processes with the same parent are examined, too.
 */
static bool has_unknown(const struct history *history, const struct place *place, int64_t from_ns,
			int64_t to_ns, uint64_t *steps)
{
	const struct history_thread *one = &history->thread[place->idle->thread];
	const struct pools *pools = history->pools;

	*steps += pools->opens;
	for (size_t k = 0; k < pools->opens; k++) {
		const uint32_t i = pools->open[k];
		const struct history_thread *thread = &history->thread[i];
		const bool is_near = lives_same(history, i, place->idle->thread) ||
				     (place->queue.kind != QUEUE_MEMORY && one->parent > 0 &&
				      thread->parent == one->parent);

		if (is_near && thread->first_ns < to_ns && may_live(history, thread, from_ns) &&
		    history_piece_at(history, thread, from_ns) == thread->piece + thread->pieces &&
		    thread->last_call_ns <= from_ns && !is_worker(history, place, i))
			return true;
	}
	return false;
}

/* Returns for how long a worker waited for work between two times. */
static uint64_t idle_ns(const struct history *history, const struct place *place,
			const struct worker *worker, int64_t from_ns, int64_t to_ns,
			uint64_t *steps)
{
	struct idle_walk walk = idle_begin(history, place, worker, from_ns, to_ns, steps);
	int64_t begin_ns, end_ns;
	uint64_t idle = 0;

	while (idle_next(&walk, &begin_ns, &end_ns))
		idle += (uint64_t)end_ns - (uint64_t)begin_ns;
	return idle;
}

/*
 * Adds the number of workers of a place that lived between two times, except for a small part at
 * the begin: a program may ask for work directly after it has started its workers. Returns false if
 * one of them waited for work for more than a small part of the time.
 */
static bool add_busy(const struct history *history, const struct place *place, int64_t from_ns,
		     int64_t to_ns, unsigned *count, uint64_t *steps)
{
	const uint64_t part_ns = ((uint64_t)to_ns - (uint64_t)from_ns) / IDLE_PART;

	for (size_t i = 0; i < place->workers; i++) {
		const struct worker *worker = &place->worker[i];
		const struct history_thread *thread = &history->thread[worker->thread];

		/* The thread began before to_ns. The times of a hostile log may be far apart. */
		if (thread->first_ns >= to_ns ||
		    (thread->first_ns > from_ns &&
		     (uint64_t)thread->first_ns - (uint64_t)from_ns > part_ns) ||
		    (thread->last_ns < to_ns && !may_live(history, thread, to_ns)))
			continue;
		if (idle_ns(history, place, worker, from_ns, to_ns, steps) > part_ns)
			return false;
		++*count;
	}
	return true;
}

/*
 * Returns the number of workers that lived in the whole time in which work was in a queue, or 0 if
 * one of them waited for work for more than a small part of it, or if this is not known. If each
 * worker has a queue of its own, this is the rule for the worker of the awaited work. The result is
 * 1 if this worker has finished no other work during the wait: the threads may then be no workers,
 * because each may read answers to its own requests. The result is also 1 if another worker of the
 * group waited for work: the awaited work then waited only for the worker of its queue.
 */
static unsigned busy_workers(const struct history *history, const struct place *place,
			     const struct pools_queued *queued, uint64_t *steps)
{
	const int64_t from_ns = queued->from_ns, to_ns = queued->to_ns;
	unsigned count = 0, all = 0;

	if (!add_busy(history, place, from_ns, to_ns, &count, steps) ||
	    has_unknown(history, place, from_ns, to_ns, steps))
		return 0;
	if (!count || !has_group(history, place) || !queued->has_finished)
		return count;
	for (const struct place *of = group_of(history, place); of; of = group_next(history, of))
		if (!add_busy(history, of, from_ns, to_ns, &all, steps))
			return count;
	return all;
}

/*
 * Returns the call of a worker that ended a wait for a result. Returns NULL if there is none, or if
 * the log does not show that this call and the wait used one object. If the wait is for a variable,
 * *call becomes the last of the waits for this result.
 */
static const struct call *ender_of_work(const struct history *history, const struct call **call,
					const struct call *through, uint64_t *steps)
{
	const struct call *used = through ? through : *call;
	struct ender found;

	if (used->error)
		return NULL;
	if (waits_for_variable(*call) && !gil_concerns(history, *call)) {
		*call = last_wait(history, *call, steps);
		found = ender_find(history, *call, NULL);
		return found.call && found.call->cause == CAUSE_POST && !found.has_rivals &&
		       lives_same(history, found.call->thread, (*call)->thread) ? found.call : NULL;
	}
	if (used->cause != CAUSE_READ || !used->object || used->has_id)
		return NULL;
	found = ender_find(history, *call, through);
	return found.call && found.call->cause == CAUSE_WRITE && found.is_certain ? found.call :
										     NULL;
}

bool pools_find(const struct history *history, const struct call *call, const struct call *through,
		struct pools_queued *queued, uint64_t *steps)
{
	const struct call *end = ender_of_work(history, &call, through, steps);
	const struct place *place = end ? pool_of(history, end->thread) : NULL;
	struct queue queue;

	if (!place || find_worker(place, call->thread))
		return false;
	queue = queue_of(history, through ? through : call);
	if (is_same_queue(history, &queue, &place->queue))
		return false;
	*queued = (struct pools_queued){
		.from_ns = first_begin(history, call, steps), .worker = end->thread,
		.idle = place->idle, .has_own = has_group(history, place),
	};
	queued->to_ns = (place->queue.kind == QUEUE_MEMORY ? begin_of_work : begin_of_taken)(
			history, place, end, call->thread, queued->from_ns, queued, steps);
	if (queued->to_ns <= queued->from_ns)
		return false;
	queued->workers = busy_workers(history, place, queued, steps);
	return queued->workers > 0;
}

/* ------------------------------------------------------------------ whole pools */

/* A time in which a worker was idle. */
struct idle {
	int64_t from_ns, to_ns;
};

static int by_begin(const void *a, const void *b)
{
	const struct idle *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Returns for how long at least one worker was idle. Sorts the times. */
static uint64_t sum_idle(struct idle *idle, size_t count)
{
	int64_t until_ns = INT64_MIN;
	uint64_t sum = 0;

	if (count)
		qsort(idle, count, sizeof(*idle), by_begin);
	for (size_t i = 0; i < count; i++) {
		const int64_t begin_ns = idle[i].from_ns > until_ns ? idle[i].from_ns : until_ns;

		if (idle[i].to_ns <= begin_ns)
			continue;
		sum += (uint64_t)idle[i].to_ns - (uint64_t)begin_ns;
		until_ns = idle[i].to_ns;
	}
	return sum;
}

/*
 * Adds the times between two times in which workers of a place were idle. Returns false if memory
 * is lacking.
 */
static bool add_idle(const struct history *history, const struct place *place, int64_t from_ns,
		     int64_t to_ns, struct idle **idle, size_t *count)
{
	uint64_t steps = 0;

	for (size_t k = 0; k < place->workers; k++) {
		struct idle_walk walk = idle_begin(history, place, &place->worker[k], from_ns,
						   to_ns, &steps);
		struct idle one;

		while (idle_next(&walk, &one.from_ns, &one.to_ns)) {
			if (!vec_grow(idle, *count, 1))
				return false;
			(*idle)[(*count)++] = one;
		}
	}
	return true;
}

int pools_busy(const struct history *history, uint32_t worker, int64_t from_ns, int64_t to_ns,
	       struct pools_busy *busy)
{
	const struct place *place = pool_of(history, worker);
	const struct place *first = place ? group_of(history, place) : NULL;
	struct idle *idle = NULL;
	size_t count = 0;
	uint64_t steps = 0;
	bool good = true;

	*busy = (struct pools_busy){ .idle = first ? first->idle : NULL };
	for (const struct place *of = first; of; of = group_next(history, of))
		for (size_t k = 0; k < of->workers; k++) {
			const struct history_thread *thread =
				&history->thread[of->worker[k].thread];

			from_ns = thread->first_ns > from_ns ? thread->first_ns : from_ns;
			to_ns = thread->last_ns < to_ns ? thread->last_ns : to_ns;
			busy->workers++;
		}
	if (!place || from_ns >= to_ns || has_unknown(history, place, from_ns, to_ns, &steps)) {
		busy->workers = 0;
		return 0;
	}
	for (const struct place *of = first; of && good; of = group_next(history, of))
		good = add_idle(history, of, from_ns, to_ns, &idle, &count);
	busy->all_ns = (uint64_t)to_ns - (uint64_t)from_ns;
	busy->idle_ns = sum_idle(idle, count);
	free(idle);
	return good ? 0 : ENOMEM;
}

const struct call *pools_idle(const struct history *history, uint32_t worker)
{
	const struct place *place = pool_of(history, worker);

	return place ? group_of(history, place)->idle : NULL;
}

bool pools_has_own(const struct history *history, uint32_t worker)
{
	const struct place *place = pool_of(history, worker);

	return place && has_group(history, place);
}

const char *pools_members(const struct history *history, uint32_t worker, unsigned workers)
{
	static const char *const members[2][2][2] = {
		{ { "thread that waits for work", "threads that wait for work" },
		  { "process that waits for work", "processes that wait for work" } },
		{ { "thread that accepts connections", "threads that accept connections" },
		  { "process that accepts connections", "processes that accept connections" } },
	};
	const struct place *place = pool_of(history, worker);
	bool has_processes = false;

	for (const struct place *of = place ? group_of(history, place) : NULL; of;
	     of = group_next(history, of))
		for (size_t i = 0; i < of->workers; i++)
			has_processes |= !lives_same(history, worker, of->worker[i].thread);
	return members[place && place->queue.kind == QUEUE_CLIENTS][has_processes][workers != 1];
}

size_t pools_workers(const struct history *history, uint32_t worker, uint32_t *thread, size_t size)
{
	const struct place *place = pool_of(history, worker);
	size_t count = 0;

	for (const struct place *of = place ? group_of(history, place) : NULL; of;
	     of = group_next(history, of))
		for (size_t i = 0; i < of->workers; i++, count++)
			if (count < size)
				thread[count] = of->worker[i].thread;
	return count;
}
