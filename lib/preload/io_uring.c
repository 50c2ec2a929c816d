/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io_uring.c - family io: requests that a program gives to the kernel through liburing.
 *
 * A program prepares requests by inline functions, in memory that it shares with the kernel. The
 * wrapper of a function that submits requests reads the requests before the call and records
 * io.uring_submit for each. After the call, each wrapper reads the answers that have arrived since
 * the last call of a wrapper, and records io.uring_complete for each. The program may already have
 * consumed some of the answers by inline functions. Such answers remain in the ring until the
 * kernel overwrites them. The event io.uring has the number of overwritten answers as `unseen`.
 * A wrapper reads an answer at the next call of liburing. So the event of an answer has the time of
 * that call, and not the time of the completion.
 *
 * After some calls another thread may already have ended the ring: DESIGN, section 6.
 *
 * The shim does not see rings that a program uses by its own system calls.
 *
 * A module may load liburing into a scope of its own (RTLD_LOCAL), where the shim does not find it
 * by name. The shim then looks up the real function in all objects. If several objects define the
 * function, the shim looks it up through the object that contains the caller.
 *
 * Threads   a program uses a ring in one thread at a time, or under a lock. If two threads read the
 *           same answers at the same time, only one of the two threads records them.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <time.h>

#include "preload/io.h"
#include "preload/scope.h"
#include "preload/shim.h"
#include "preload/text.h"

/* The requests and answers as the kernel defines them in <linux/io_uring.h>. */
struct request {
	uint8_t opcode, flags;
	uint16_t priority;
	int32_t fd;
	uint64_t offset, address;
	uint32_t size, operation;
	uint64_t user_data;
	uint64_t rest[3];
};

struct answer {
	uint64_t user_data;
	int32_t result;
	uint32_t flags;
};

/* Pointers into the memory that the program shares with the kernel. */
struct queue {
	unsigned *head, *tail, *mask, *entries, *flags, *dropped;
};

/* The beginning of struct io_uring, the same since liburing 2.0. */
struct io_uring {
	struct {
		struct queue kernel;
		unsigned *array;
		struct request *requests;
		unsigned head, tail; /* requests that are prepared and not submitted */
		size_t ring_size;
		void *ring;
		unsigned mask, entries, pad[2];
	} submissions;
	struct {
		struct queue kernel;
		struct answer *answers;
		size_t ring_size;
		void *ring;
		unsigned mask, entries, pad[2];
	} completions;
	unsigned flags;
	int fd;
};

/* Setup flags of rings whose requests have 128 bytes, or whose answers have 32 bytes. */
#define LARGE_REQUESTS (1u << 10)
#define LARGE_ANSWERS  (1u << 11)

/* The greatest number of rings whose answers are read. Further rings have no events of answers. */
#define RINGS 64

/* For each ring, the next answer without an event. The address of its tail identifies a ring. */
static struct {
	_Atomic(const unsigned *) ring; /* NULL: the place is free */
	/*
	 * The upper half is odd while the wrappers count the answers of the ring. It grows by 1
	 * when they begin to count, and when such a ring leaves this place. The lower half is the
	 * next answer; it only grows, modulo 2^32, as the tail does. Another ring may later have
	 * the same address and the same place, but no two rings have the same odd upper half there.
	 */
	_Atomic uint64_t next;
	/* true if a copy from the memory of this ring has failed (DESIGN 6) */
	atomic_bool is_refused;
} rings[RINGS];

/* True if the answers of any ring are counted. */
static atomic_bool counts_any;

#define COUNT_ONE        (UINT64_C(1) << 32)
#define WITHOUT_NEXT(at) ((at) & ~(COUNT_ONE - 1))

/* The numbers of io.uring. */
struct counts {
	uint32_t submitted; /* requests recorded before the call */
	uint32_t completed; /* answers recorded before and after the call */
	/* answers without an event: they were overwritten, or the ring ended before the copy */
	uint32_t unseen;
};

/*
 * The functions of liburing that were found before. A wrapper runs at each submission, so most
 * calls must find the real function in this table without a search. The key, called the caller, is
 * the return address of the call, because another caller may use another copy of liburing.
 *
 * An entry is valid as long as the object of its caller is loaded. shim_uring_unloaded() removes
 * all entries. A thread reads only the entry of its own caller. The caller's object is then loaded,
 * because the thread will return to it.
 */
#define CALLERS 64 /* entries for each function; a power of two */
#define PROBED  4  /* entries where a caller may be */

/* Values in place of a caller: the entry is free, or a thread is writing it. */
#define FREE    ((uintptr_t)0)
#define WRITTEN ((uintptr_t)1)

struct known {
	/* the function if its object was loaded at the start and is never unloaded; else NULL */
	_Atomic(void *) always;
	struct {
		_Atomic(uintptr_t) caller;
		_Atomic(void *) function;
	} by[CALLERS];
};

/* All struct known that were used, one for each wrapper. shim_uring_unloaded() needs them. */
static _Atomic(struct known *) used[32];

/*
 * Returns the entry at which the search for a caller begins. The low bits of the return address are
 * enough for a good distribution.
 */
static unsigned first_of(uintptr_t caller)
{
	return (unsigned)(caller ^ caller >> 6);
}

/*
 * Returns the function of the caller, or NULL. The member `caller` is read twice: if another thread
 * has written the entry for another caller meanwhile, the function may belong to the other caller.
 */
static void *io_uring_recall(struct known *known, uintptr_t caller)
{
	for (unsigned i = first_of(caller), end = i + PROBED; i != end; i++) {
		__typeof__(known->by[0]) *entry = &known->by[i % CALLERS];
		void *function;

		if (atomic_load_explicit(&entry->caller, memory_order_acquire) != caller)
			continue;
		/*
		 * The acquire pairs with the release in io_uring_keep(): if this load sees a newer
		 * function, the next load sees WRITTEN or a later caller.
		 */
		function = atomic_load_explicit(&entry->function, memory_order_acquire);
		if (atomic_load_explicit(&entry->caller, memory_order_relaxed) == caller)
			return function;
	}
	return NULL;
}

/*
 * Stores the function of the caller. If no entry is free, the function replaces the entry of
 * another caller.
 */
static void io_uring_keep(struct known *known, uintptr_t caller, void *function)
{
	unsigned first = first_of(caller), i = first;
	__typeof__(known->by[0]) *entry;
	uintptr_t before;

	for (unsigned k = 0; k < sizeof used / sizeof *used; k++) {
		struct known *there = NULL;

		if (atomic_compare_exchange_strong(&used[k], &there, known) || there == known)
			break;
	}
	/* A program has few callers of one function, so an entry is free nearly always. */
	while (i != first + PROBED && atomic_load(&known->by[i % CALLERS].caller) != FREE)
		i++;
	entry = &known->by[(i == first + PROBED ? first : i) % CALLERS];
	before = atomic_load(&entry->caller);
	if (before == WRITTEN || !atomic_compare_exchange_strong(&entry->caller, &before, WRITTEN))
		return; /* another thread writes this entry; a later call stores the function */
	atomic_store_explicit(&entry->function, function, memory_order_release);
	atomic_store_explicit(&entry->caller, caller, memory_order_release);
}

/*
 * An entry that another thread is just writing is not removed. That thread is in a call from the
 * entry's caller, so the caller's object stays loaded.
 */
void shim_uring_unloaded(void)
{
	for (unsigned k = 0; k < sizeof used / sizeof *used; k++) {
		struct known *known = atomic_load(&used[k]);

		for (unsigned i = 0; known && i < CALLERS; i++) {
			uintptr_t caller = atomic_load(&known->by[i].caller);

			if (caller != FREE && caller != WRITTEN)
				atomic_compare_exchange_strong(&known->by[i].caller, &caller, FREE);
		}
	}
}

/* Returns the definition that dlsym() finds by a handle, or NULL if this is the wrapper. */
static void *io_uring_behind(void *handle, const char *name)
{
	void *function = dlsym(handle, name);

	return function && !shim_is_own(function) ? function : NULL;
}

/*
 * Like io_uring_behind(), for the object that contains an address. The object remains loaded,
 * because it contains the caller.
 */
static void *behind_object(const void *address, const char *name)
{
	Dl_info info;
	void *handle = address && dladdr(address, &info) && info.dli_fname ?
			       dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *function = handle ? io_uring_behind(handle, name) : NULL;

	if (handle)
		dlclose(handle);
	return function;
}

/*
 * A function of a liburing that is not visible to the shim. A function of liburing may end by a
 * jump to a second function. The caller of the second function then seems to be the wrapper of the
 * first function. The shim therefore looks up the second function through the object of the
 * function that is stored here.
 */
static _Atomic(void *) hidden;

/*
 * Finds the function if several objects define it. Returns NULL if none is found. If the program
 * has a message for dlerror(), the message may get lost here, once for each caller.
 */
static void *find_of_several(const char *name, const void *caller)
{
	/*
	 * RTLD_NEXT finds a library that the program was linked with; RTLD_DEFAULT is for a shim
	 * that was loaded into a running program.
	 */
	void *function = io_uring_behind(RTLD_NEXT, name);

	if (!function)
		function = io_uring_behind(RTLD_DEFAULT, name);
	if (!function && shim_is_own(caller)) {
		function = behind_object(atomic_load(&hidden), name);
	} else if (!function) {
		function = behind_object(caller, name);
		if (function)
			atomic_store(&hidden, function);
	}
	dlerror(); /* the program must not see a message of the searches */
	return function;
}

/* Finds the function behind the wrapper. Returns NULL if there is none. */
static void *io_uring_find(struct known *known, const char *name, const void *caller)
{
	void *function = atomic_load_explicit(&known->always, memory_order_acquire);
	bool is_unsure = false;
	int saved;

	/*
	 * Neither this load nor io_uring_recall() acquires a lock. All calls but the first calls
	 * find the function in this way.
	 */
	if (!function)
		function = io_uring_recall(known, (uintptr_t)caller);
	if (function)
		return function;
	saved = errno;
	function = shim_scope_find(name, false);
	if (function) {
		atomic_store_explicit(&known->always, function, memory_order_release);
	} else {
		function = shim_scope_find_only(name, &is_unsure);
		if (is_unsure)
			function = find_of_several(name, caller);
		/*
		 * Several objects may define the function, and the caller may seem to be the shim.
		 * Then the function is not stored, because the next call with the same return
		 * address may need another copy.
		 */
		if (function && !(is_unsure && shim_is_own(caller)))
			io_uring_keep(known, (uintptr_t)caller, function);
	}
	errno = saved;
	return function;
}

/* Returns whether liburing itself makes the call. The call is then a part of another call. */
static bool is_inner(const void *function, const void *caller)
{
	Dl_info of, by;

	return dladdr(function, &of) && dladdr(caller, &by) && of.dli_fbase == by.dli_fbase;
}

/* Returns the place that the ring has in `rings`, or -1. */
static int find_place(const unsigned *ring)
{
	/* The acquire pairs with the exchange by which a thread stored the ring there. */
	for (int i = 0; i < RINGS; i++)
		if (atomic_load_explicit(&rings[i].ring, memory_order_acquire) == ring)
			return i;
	return -1;
}

/*
 * Gives the ring a free place. Returns -1 if there is none. If two threads call this function with
 * the same ring, they get the same place, unless a place before it becomes free meanwhile. The
 * wrappers of functions that make a ring call it before another thread has the ring, also if
 * nothing is traced. So two threads can call it only with a ring that was made before the shim was
 * loaded, or while no place was free. The wrappers begin to count the answers of a ring at its
 * first traced call.
 */
static int take_place(const unsigned *ring)
{
	for (int i = 0; i < RINGS; i++) {
		const unsigned *there = NULL;

		if (atomic_compare_exchange_strong_explicit(&rings[i].ring, &there, ring,
							    memory_order_acq_rel,
							    memory_order_acquire) ||
		    there == ring)
			return i;
	}
	return -1;
}

/*
 * Returns the first answer to count: the first one that the program has not consumed, and that was
 * not counted before. `counted` is the next answer of an earlier counting, or 0.
 */
static unsigned first_answer(const struct io_uring *of, unsigned counted)
{
	const unsigned head = *of->completions.kernel.head;
	const unsigned tail = __atomic_load_n(of->completions.kernel.tail, __ATOMIC_RELAXED);

	/* The numbers are modulo 2^32, and the tail is never far from the head. */
	return counted - head <= tail - head ? counted : head;
}

/*
 * Returns the place of the ring in `rings`, or -1 if there is no room. Answers that the program has
 * consumed before the first traced call get no event, because they are older than the recording.
 */
static int place_of(const struct io_uring *of)
{
	const unsigned *ring = of->completions.kernel.tail;
	int place = find_place(ring);
	uint64_t next;

	if (place < 0)
		place = take_place(ring);
	if (place < 0)
		return -1;
	/*
	 * If two threads make the first traced call of a ring, one of them begins to count. The
	 * ring does not leave its place meanwhile, because the program does not end a ring that a
	 * call uses.
	 */
	next = atomic_load_explicit(&rings[place].next, memory_order_relaxed);
	if (!(next & COUNT_ONE)) {
		atomic_compare_exchange_strong_explicit(
			&rings[place].next, &next,
			(WITHOUT_NEXT(next) + COUNT_ONE) | first_answer(of, (unsigned)next),
			memory_order_relaxed, memory_order_relaxed);
		atomic_store_explicit(&counts_any, true, memory_order_relaxed);
	}
	return place;
}

/*
 * Ends the counting of the answers at a place. Other threads may end it at the same time, or count
 * another answer before.
 */
static void end_count(int place)
{
	uint64_t next = atomic_load_explicit(&rings[place].next, memory_order_relaxed);

	while ((next & COUNT_ONE) &&
	       !atomic_compare_exchange_weak_explicit(&rings[place].next, &next, next + COUNT_ONE,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/*
 * Called before an untraced call. Answers that the program gets from now on have no event. The next
 * trace counts from its first call on.
 */
static void end_counts(void)
{
	if (!atomic_load_explicit(&counts_any, memory_order_relaxed))
		return;
	atomic_store_explicit(&counts_any, false, memory_order_relaxed);
	for (int i = 0; i < RINGS; i++)
		end_count(i);
}

/*
 * Frees the place of a ring in `rings`. Another ring may later be at the same address, and the
 * answers of that ring are counted from 0 again. If the wrappers have counted answers of this ring,
 * the upper half of `next` grows before the place is free. So a thread that has counted answers of
 * this ring, and sees another ring at this place, also sees another upper half.
 */
static void io_uring_forget(const struct io_uring *ring)
{
	int place;

	while ((place = find_place(ring->completions.kernel.tail)) >= 0) {
		end_count(place);
		atomic_fetch_and_explicit(&rings[place].next, WITHOUT_NEXT(UINT64_MAX),
					  memory_order_relaxed);
		atomic_store_explicit(&rings[place].is_refused, false, memory_order_relaxed);
		atomic_store_explicit(&rings[place].ring, NULL, memory_order_release);
	}
}

/*
 * Records the requests that are prepared. The program has written them, and liburing reads them in
 * the call that follows, so the memory is readable. Requests that an earlier call could not submit
 * are still prepared, and are recorded again.
 */
static void put_requests(const struct io_uring *ring, struct counts *counts, const void *caller)
{
	const unsigned shift = ring->flags & LARGE_REQUESTS ? 1 : 0;
	const unsigned mask = *ring->submissions.kernel.mask;

	/*
	 * The indices count up without end; their low bits are the position in the ring. The
	 * comparison with `mask` bounds the loop also if the program has damaged its ring.
	 */
	for (unsigned i = ring->submissions.head; i != ring->submissions.tail &&
						  counts->submitted <= mask; i++) {
		const struct request *from = &ring->submissions.requests[(i & mask) << shift];
		/* The fields of io.uring_submit. */
		struct {
			int32_t ring;
			uint32_t opcode;
			int32_t fd;
			uint32_t flags;
			int64_t offset;
			uint32_t size, priority;
			uint64_t user_data;
		} data = { ring->fd, from->opcode, from->fd, from->flags, (int64_t)from->offset,
			   from->size, from->priority, from->user_data };

		/*
		 * The call may submit fewer requests. The result of the call is the number of
		 * submitted requests.
		 */
		counts->submitted++;
		if (*shim_switch[IO_URING_SUBMIT])
			shim_put(IO_URING_SUBMIT, &data, sizeof data, caller);
	}
}

/*
 * Facts of a ring that are needed to read its answers. A wrapper copies them from struct io_uring
 * before its call, because this structure may not exist any more after the call.
 */
struct answers {
	int fd, place; /* place: index into `rings`; -1: there are too many rings */
	uint64_t left; /* the upper half of rings[place].next, for this ring */
	unsigned shift, mask;
	const unsigned *tail;
	const struct answer *answers;
};

static struct answers answers_of(const struct io_uring *ring)
{
	const int place = place_of(ring);
	const uint64_t next = place < 0 ? 0 : atomic_load_explicit(&rings[place].next,
								  memory_order_relaxed);

	return (struct answers){ .fd = ring->fd, .place = place, .left = WITHOUT_NEXT(next),
				 .shift = ring->flags & LARGE_ANSWERS ? 1 : 0,
				 .mask = *ring->completions.kernel.mask,
				 .tail = ring->completions.kernel.tail,
				 .answers = ring->completions.answers };
}

static void put_answer(int ring, const struct answer *from, const void *caller)
{
	/* The fields of io.uring_complete. */
	struct {
		int32_t ring, result, error;
		uint32_t flags, user_data[2];
	} data = { .ring = ring, .result = from->result,
		   .error = from->result < 0 ? -from->result : 0, .flags = from->flags };

	/* user_data has 64 bits. As two halves, it needs no gap in the struct. */
	memcpy(data.user_data, &from->user_data, sizeof data.user_data);
	if (*shim_switch[IO_URING_DONE])
		shim_put(IO_URING_DONE, &data, sizeof data, caller);
}

/*
 * Copies memory of a ring that another thread may have ended. Returns false if the copy is not
 * possible, or if the ring has ended: its memory and its place may belong to something else now,
 * also to another ring. The thread that ends a ring frees its place before the memory is unmapped.
 * So if the ring still has the place after the copy, the copy was made from the ring. If the copy
 * has failed although the ring exists, the kernel refuses such copies, and the function tries no
 * further copy from this ring.
 */
static bool copy_of_ring(void *to, const void *from, size_t bytes, const struct answers *of)
{
	__typeof__(rings[0]) *place = &rings[of->place];
	bool is_copied;

	if (atomic_load_explicit(&place->is_refused, memory_order_relaxed))
		return false;
	is_copied = shim_copy_shared(to, from, bytes);
	atomic_thread_fence(memory_order_acquire);
	/* The acquire pairs with the exchange in take_place() that has stored the ring there. */
	if (atomic_load_explicit(&place->ring, memory_order_acquire) != of->tail ||
	    WITHOUT_NEXT(atomic_load_explicit(&place->next, memory_order_relaxed)) != of->left)
		return false;
	if (!is_copied)
		atomic_store_explicit(&place->is_refused, true, memory_order_relaxed);
	return is_copied;
}

/*
 * The greatest number of answers in one copy, if each answer has 16 bytes; half of it if each has
 * 32. A copy of more answers would need much of the thread's stack.
 */
#define COPIED 32u

/*
 * Records the answers since the last call. The kernel may store further answers meanwhile; they
 * belong to the next call. If `may_be_gone` is true, another thread may have unmapped the ring, and
 * the function reads it by copy_of_ring(). If the tail cannot be read, the function changes
 * nothing, so that a later call records the answers. If answers cannot be read after that, they
 * count as unseen.
 */
static void put_answers(const struct answers *of, bool may_be_gone, struct counts *counts,
			const void *caller)
{
	struct answer copy[COPIED];
	unsigned tail, next;
	uint64_t before;

	/*
	 * There are too many rings. There are no events for the answers of this ring, but there are
	 * events for its requests and calls.
	 */
	if (of->place < 0)
		return;
	before = atomic_load_explicit(&rings[of->place].next, memory_order_relaxed);
	next = (unsigned)before;
	/* If the counts differ, the ring has ended since. Another ring may have its place. */
	if (WITHOUT_NEXT(before) != of->left)
		return;
	/*
	 * The kernel writes the answers before it stores the tail, so the tail is loaded first: by
	 * an acquire, or before the fence of copy_of_ring().
	 */
	if (!may_be_gone)
		tail = __atomic_load_n(of->tail, __ATOMIC_ACQUIRE);
	else if (!copy_of_ring(&tail, of->tail, sizeof tail, of))
		return;
	/* If another thread has read the same answers since, that thread records them. */
	if (tail == next ||
	    !atomic_compare_exchange_strong_explicit(&rings[of->place].next, &before,
						     of->left | tail, memory_order_relaxed,
						     memory_order_relaxed))
		return;
	/* The ring has mask + 1 places: older answers have been overwritten. */
	if (tail - next > of->mask + 1) {
		counts->unseen += tail - next - (of->mask + 1);
		next = tail - (of->mask + 1);
	}
	while (next != tail) {
		const unsigned first = next & of->mask;
		const struct answer *from = &of->answers[first << of->shift];
		unsigned some = tail - next;

		/* Up to the end of the array; the next answers are at its beginning. */
		if (some > of->mask + 1 - first)
			some = of->mask + 1 - first;
		if (may_be_gone) {
			if (some > COPIED >> of->shift)
				some = COPIED >> of->shift;
			if (!copy_of_ring(copy, from, (some << of->shift) * sizeof *from, of)) {
				counts->unseen += tail - next;
				return;
			}
			from = copy;
		}
		for (unsigned i = 0; i < some; i++)
			put_answer(of->fd, &from[i << of->shift], caller);
		counts->completed += some;
		next += some;
	}
}

/* A call in progress, for the events around it. */
struct uring_call {
	uint64_t began; /* shim_now(), read after the events of the requests were recorded */
	bool may_be_gone; /* the ring may not exist any more when the call returns */
	struct answers answers;
	struct counts counts;
};

/* The effects of a function that its wrapper must know. */
enum uring_effect {
	URING_READS = 0,   /* no thread may end the ring before the function has returned */
	URING_SUBMITS = 1, /* submits the requests that are prepared */
	/*
	 * Ends with a system call. Another thread that consumes the answers may end the ring before
	 * the wrapper continues.
	 */
	URING_LEAVES = 2
};

/* Called before the real call. `effect` is a sum of values of enum uring_effect. */
static void io_uring_begin(struct uring_call *call, const struct io_uring *ring, int effect,
			   const void *caller)
{
	*call = (struct uring_call){
		.may_be_gone = effect & URING_LEAVES && !__libc_single_threaded,
		.answers = answers_of(ring)
	};
	/* The ring still exists now. After the call, its answers may not be readable. */
	if (call->may_be_gone)
		put_answers(&call->answers, false, &call->counts, caller);
	if (effect & URING_SUBMITS)
		put_requests(ring, &call->counts, caller);
	call->began = shim_now();
}

/*
 * Called after the real call. Functions of liburing return an error as a negative number and leave
 * errno as it was. `by` is the name of the function.
 */
static void io_uring_end(struct uring_call *call, int result, const char *by, const void *caller)
{
	/* liburing does not use errno, but the program may. */
	const int saved = errno;
	/* The fields of io.uring; only the bytes of `by` that are in use are recorded. */
	struct {
		uint64_t time;
		int32_t error, ring, result;
		struct counts counts;
		char by[40];
	} data = { .time = shim_now() - call->began, .error = result < 0 ? -result : 0,
		   .ring = call->answers.fd, .result = result };

	put_answers(&call->answers, call->may_be_gone, &call->counts, caller);
	data.counts = call->counts;
	shim_put(IO_URING, &data,
		 offsetof(__typeof__(data), by) + shim_text(data.by, sizeof data.by, by), caller);
	errno = saved;
}

/*
 * The wrapper of a function of liburing whose first argument is the ring. If the function does not
 * exist, the wrapper fails as a kernel without rings does.
 */
#define URING(name, effect, missing, params, args) \
	SHIM_WRAPPER int name params; \
	SHIM_WRAPPER int name params \
	{ \
		static struct known known; \
		int (*function) params = io_uring_find(&known, #name, shim_caller()); \
		struct uring_call call; \
		int result; \
		if (!function) \
			return missing; \
		/* A call that is a part of a traced one is not on, but ends no count. */ \
		if (!*shim_switch[IO_URING]) \
			end_counts(); \
		if (!shim_on(IO_URING)) \
			return function args; \
		io_uring_begin(&call, ring, effect, shim_caller()); \
		result = function args; \
		io_uring_end(&call, result, #name, shim_caller()); \
		return result; \
	}

/*
 * The wrappers use the structs of this file. Programs that call the wrappers use the structs of
 * liburing, which have the same layout.
 */
#define RING struct io_uring *ring

/* The kernel may answer some requests before these functions return. */
URING(io_uring_submit, URING_SUBMITS | URING_LEAVES, -ENOSYS, (RING), (ring))
URING(io_uring_submit_and_wait, URING_SUBMITS | URING_LEAVES, -ENOSYS, (RING, unsigned answers),
      (ring, answers))
/* In the next two functions, the kernel stores answers that it has kept back until now. */
URING(io_uring_submit_and_get_events, URING_SUBMITS | URING_LEAVES, -ENOSYS, (RING), (ring))
URING(io_uring_get_events, URING_LEAVES, -ENOSYS, (RING), (ring))
URING(io_uring_submit_and_wait_timeout, URING_SUBMITS, -ENOSYS,
      (RING, struct answer **answer, unsigned answers, void *timeout, void *mask),
      (ring, answer, answers, timeout, mask))
/*
 * io_uring_wait_cqes() and io_uring_wait_cqe_timeout() submit requests if the kernel has no
 * timeouts of its own. These requests then have no events.
 */
URING(io_uring_wait_cqes, URING_READS, -ENOSYS,
      (RING, struct answer **answer, unsigned answers, void *timeout, void *mask),
      (ring, answer, answers, timeout, mask))
URING(io_uring_wait_cqe_timeout, URING_READS, -ENOSYS,
      (RING, struct answer **answer, void *timeout), (ring, answer, timeout))
/* The inline functions that wait call this function if there is no answer. */
URING(__io_uring_get_cqe, URING_READS, -ENOSYS,
      (RING, struct answer **answer, unsigned submit, unsigned answers, void *mask),
      (ring, answer, submit, answers, mask))
/* The next functions are exported by liburing-ffi only; in liburing they are inline. */
URING(io_uring_wait_cqe, URING_READS, -ENOSYS, (RING, struct answer **answer), (ring, answer))
URING(io_uring_wait_cqe_nr, URING_READS, -ENOSYS, (RING, struct answer **answer, unsigned answers),
      (ring, answer, answers))
URING(io_uring_peek_cqe, URING_READS, -ENOSYS, (RING, struct answer **answer), (ring, answer))
/* The result is a number of answers, and never an error. */
URING(io_uring_peek_batch_cqe, URING_READS, 0, (RING, struct answer **answers, unsigned count),
      (ring, answers, count))

/* Records that a ring was made, or that it ends. */
static void put_ring(enum shim_type type, uint64_t began, int result, int fd, unsigned entries,
		     unsigned flags, const void *caller)
{
	/* The fields of io.uring_init; io.uring_exit has the first fields. */
	struct {
		uint64_t time;
		int32_t error, fd;
		uint32_t entries, flags;
	} data = { shim_now() - began, result < 0 ? -result : 0, fd, entries, flags };

	shim_put(type, &data,
		 type == IO_URING_INIT ? sizeof data : offsetof(__typeof__(data), entries), caller);
}

SHIM_WRAPPER void io_uring_queue_exit(RING);

/* The answers that no call has seen are recorded before the ring ends. */
SHIM_WRAPPER void io_uring_queue_exit(RING)
{
	static struct known known;
	void (*function)(RING) = io_uring_find(&known, "io_uring_queue_exit", shim_caller());
	const bool is_on = shim_on(IO_URING_EXIT);
	const int fd = ring->fd;
	struct counts counts = { 0 };
	struct answers answers;
	uint64_t began;

	if (!function)
		return;
	if (is_on) {
		answers = answers_of(ring);
		put_answers(&answers, false, &counts, shim_caller());
	}
	/* The ring is forgotten before the call, because its memory does not exist afterwards. */
	io_uring_forget(ring);
	began = is_on ? shim_now() : 0;
	function(ring);
	if (is_on)
		put_ring(IO_URING_EXIT, began, 0, fd, 0, 0, shim_caller());
}

/* The wrapper of a function that makes a ring. flags_ is evaluated after the call. */
#define INIT(name, params, args, flags_) \
	SHIM_WRAPPER int name params; \
	SHIM_WRAPPER int name params \
	{ \
		static struct known known; \
		int (*function) params = io_uring_find(&known, #name, shim_caller()); \
		uint64_t began; \
		int result; \
		if (!function) \
			return -ENOSYS; \
		const bool is_on = shim_on(IO_URING_INIT) && !is_inner(function, shim_caller()); \
		began = is_on ? shim_now() : 0; \
		result = function args; \
		/* A ring that ended without queue_exit() may have had the same address. */ \
		if (result >= 0) { \
			io_uring_forget(ring); \
			take_place(ring->completions.kernel.tail); \
		} \
		if (is_on) \
			put_ring(IO_URING_INIT, began, result, result < 0 ? -1 : ring->fd, \
				 entries, flags_, shim_caller()); \
		return result; \
	}

/* The flags are the third 32-bit number of struct io_uring_params. */
#define FLAGS_OF(params) (result < 0 ? 0 : ((const uint32_t *)(params))[2])

INIT(io_uring_queue_init, (unsigned entries, RING, unsigned flags), (entries, ring, flags), flags)
INIT(io_uring_queue_init_params, (unsigned entries, RING, void *params), (entries, ring, params),
     FLAGS_OF(params))
INIT(io_uring_queue_init_mem, (unsigned entries, RING, void *params, void *memory, size_t bytes),
     (entries, ring, params, memory, bytes), FLAGS_OF(params))
