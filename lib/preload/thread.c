/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/thread.c - family thread: threads from their creation to their end.
 *
 * A thread that is created while the process is traced starts in run_thread(). run_thread() records
 * the thread's beginning and, however the thread ends, its end. Destructors of thread-local data
 * run after that. The functions of <threads.h> have the same events as those of <pthread.h>.
 */
#include <pthread.h>
#include <stdlib.h>

#include "preload/c11.h"
#include "preload/patch.h"
#include "preload/shim.h"
#include "preload/start.h"
#include "preload/text.h"

/* The function with which a thread begins. Its kind is also that of the creating function. */
struct entry {
	union {
		void *(*posix)(void *);
		thrd_start_t c11;
		const void *address;
	};
	bool is_c11;
};

/* The arguments of run_thread(). */
struct start {
	struct entry entry;
	void *argument;
	uint64_t creator;
	bool is_blind;
};

/*
 * Memory for the arguments of threads that are about to start. The memory is not from malloc(): if
 * the new thread called free(), the C library would give it a heap of its own, which the program
 * did not request. If all entries are in use, malloc() in the creator provides one. 256 threads can
 * be about to start at the same time without malloc().
 */
#define STARTS 256
static struct start starts[STARTS];
static atomic_bool in_use[STARTS];
static _Atomic unsigned next_start;

/*
 * Returns a free entry, or NULL if there is no memory. Threads that search at the same time begin
 * at different entries, so that they seldom collide.
 */
static struct start *claim_start(void)
{
	unsigned from = atomic_fetch_add_explicit(&next_start, 1, memory_order_relaxed);
	struct start *start;
	int saved = errno;

	/*
	 * The exchange is an acquire, because the former user of the entry must have finished
	 * copying it.
	 */
	for (unsigned i = 0; i < STARTS; i++)
		if (!atomic_exchange_explicit(&in_use[(from + i) % STARTS], true,
					      memory_order_acquire))
			return &starts[(from + i) % STARTS];
	start = malloc(sizeof *start);
	errno = saved;
	return start;
}

/*
 * Releases an entry, usually in the new thread. If the creator allocated the entry by malloc(), it
 * is freed here.
 */
static void release_start(struct start *start)
{
	/* The release pairs with the exchange in claim_start(). */
	if (start >= starts && start < starts + STARTS)
		atomic_store_explicit(&in_use[start - starts], false, memory_order_release);
	else
		free(start);
}

/*
 * Called in a child of fork(). The threads that were about to start exist only in the parent, so
 * all entries are free.
 */
void shim_threads_in_child(void)
{
	for (unsigned i = 0; i < STARTS; i++)
		atomic_store_explicit(&in_use[i], false, memory_order_relaxed);
}

/* The field of thread.end: the function by which the thread began, as in thread.begin. */
struct end {
	uint64_t function;
};

/*
 * Returns the number that events have for the thread. In glibc this is the address of the thread's
 * descriptor.
 */
static uint64_t number_of(pthread_t thread)
{
	return (uint64_t)thread;
}

/*
 * True if this thread has given itself a name. The name is removed when the thread ends, because a
 * later thread may have the same address.
 */
static _Thread_local bool has_name __attribute__((tls_model("initial-exec")));

/* Gives a thread a name, which viewers show instead of the address. */
static void name_thread(pthread_t thread, const char *name)
{
	posix_trace_object_np(POSIX_TRACE_OBJECT_THREAD_NP, (const void *)(uintptr_t)thread, name);
}

/* Cleanup handler: runs at the end of the thread, by return, pthread_exit() or cancellation. */
static void thread_ends(void *arg)
{
	const struct end *end = arg;

	shim_patch_thread_ends();
	if (*shim_switch[THREAD_END])
		shim_put(THREAD_END, end, sizeof *end, (const void *)(uintptr_t)end->function);
	if (has_name && !shim_is_blind)
		name_thread(pthread_self(), NULL);
}

/*
 * The first function of a traced thread. It copies its arguments and releases them before it calls
 * the program's function, whose result it returns.
 */
static void *run_thread(void *arg)
{
	struct start start = *(struct start *)arg;
	struct {
		uint64_t function, creator;
	} data = { (uint64_t)(uintptr_t)start.entry.address, start.creator };
	struct end end = { data.function };
	void *result;

	/*
	 * The memory is released now, because the program's function may run as long as the
	 * process.
	 */
	release_start(arg);
	if (start.is_blind)
		shim_blind(true);
	if (*shim_switch[THREAD_BEGIN])
		shim_put(THREAD_BEGIN, &data, sizeof data, start.entry.address);
	/* Runs the cleanup also if the thread is cancelled or calls pthread_exit(). */
	pthread_cleanup_push(thread_ends, &end);
	if (start.entry.is_c11)
		result = (void *)(intptr_t)start.entry.c11(start.argument);
	else
		result = start.entry.posix(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

/* The first function of a traced thread that thrd_create() has created. */
static int run_c11_thread(void *arg)
{
	return (int)(intptr_t)run_thread(arg);
}

SHIM_NEXT(pthread_create, shim_no_error);
SHIM_NEXT(thrd_create, shim_no_error);

/* Calls the real function. Returns its result. */
static int create_real(pthread_t *thread, const pthread_attr_t *attr, struct entry entry,
		       void *argument)
{
	return entry.is_c11 ? next(thrd_create)(thread, entry.c11, argument) :
			      next(pthread_create)(thread, attr, entry.posix, argument);
}

/*
 * Creates a thread that begins in run_thread(). If that fails, releases the arguments. Returns the
 * result of the real function.
 */
static int create_noted(pthread_t *thread, const pthread_attr_t *attr, struct start *start)
{
	struct entry entry = { .is_c11 = start->entry.is_c11 };
	int result;

	if (entry.is_c11)
		entry.c11 = run_c11_thread;
	else
		entry.posix = run_thread;
	result = create_real(thread, attr, entry, start);
	/* Both thrd_success and the result of a successful pthread_create() are 0. */
	if (result)
		release_start(start);
	return result;
}

/*
 * pthread_create(3) and thrd_create(3). If the process is not traced, the thread starts as the
 * program requested, without run_thread(). If tracing begins later, the thread has all other
 * events, but not thread.begin and thread.end. The function is inlined into the two wrappers, so
 * that its return address is that of the wrapper.
 */
shim_inline int trace_create(pthread_t *thread, const pthread_attr_t *attr, struct entry entry,
			     void *argument)
{
	struct {
		uint64_t time;
		uint64_t thread, function;
		int32_t error, detached;
	} data = { .function = (uint64_t)(uintptr_t)entry.address };
	struct start *start;
	pthread_t id;
	int detached = PTHREAD_CREATE_JOINABLE, result;

	shim_patch_before_thread();
	/*
	 * A thread that must not read the clock is blind. The kernel copies this restriction to the
	 * threads that it creates, so they must be blind, too.
	 */
	if (!shim_on(THREAD_CREATE) && !shim_is_blind)
		return create_real(thread, attr, entry, argument);
	start = claim_start();
	/*
	 * If there is no memory, the thread is started without tracing, because it must be started
	 * in any case.
	 */
	if (!start)
		return create_real(thread, attr, entry, argument);
	*start = (struct start){ entry, argument, number_of(pthread_self()), shim_is_blind };
	/*
	 * A blind thread records no event. The new thread starts in run_thread(), which makes it
	 * blind, too.
	 */
	if (shim_is_blind)
		return create_noted(thread, attr, start);
	/*
	 * The attribute is read before the call, because the program may destroy it from the new
	 * thread.
	 */
	if (attr)
		pthread_attr_getdetachstate(attr, &detached);
	SHIM_CALL(THREAD_CREATE, data);
	data.detached = detached == PTHREAD_CREATE_DETACHED;
	result = create_noted(thread, attr, start);
	data.error = entry.is_c11 ? shim_c11_error(result) : result;
	/*
	 * `thread` may point into memory that the new thread unmaps now: a detached thread may free
	 * the struct in which its identifier is stored. If the identifier cannot be copied safely,
	 * the event has 0.
	 */
	if (!result && shim_copy_shared(&id, thread, sizeof id))
		data.thread = number_of(id);
	return result;
}

SHIM_WRAPPER int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
				void *(*function)(void *), void *argument)
{
	return trace_create(thread, attr, (struct entry){ .posix = function }, argument);
}

SHIM_WRAPPER int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	return trace_create(thread, NULL, (struct entry){ .c11 = function, .is_c11 = true },
			    argument);
}

/* Functions that end the thread. The end is recorded by thread_ends(). */
#define EXIT(name, value_type) \
	SHIM_NEXT(name, shim_no_return); \
	SHIM_WRAPPER void name(value_type value) \
	{ \
		uint64_t data = (uint64_t)(uintptr_t)value; \
		if (shim_on(THREAD_EXIT)) \
			shim_put(THREAD_EXIT, &data, sizeof data, shim_caller()); \
		next(name)(value); \
		__builtin_unreachable(); \
	}

EXIT(pthread_exit, void *)
EXIT(thrd_exit, int)

/* The fields of thread.join; the padding at its end is not part of the event. */
struct join_data {
	uint64_t time;
	uint64_t thread;
	int32_t error;
};

/*
 * Functions that wait for the end of a thread. A thread that is cancelled while it waits records
 * ECANCELED.
 */
#define JOIN(name, error_of, params, args) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(THREAD_JOIN)) \
			return next(name) args; \
		struct join_data data = { .thread = number_of(thread), .error = ECANCELED }; \
		SHIM_CALL(THREAD_JOIN, data); \
		call.len = offsetof(struct join_data, error) + sizeof data.error; \
		int result = next(name) args; \
		data.error = error_of(result); \
		return result; \
	}

JOIN(pthread_join, shim_posix_error, (pthread_t thread, void **value), (thread, value))
JOIN(pthread_tryjoin_np, shim_posix_error, (pthread_t thread, void **value), (thread, value))
JOIN(pthread_timedjoin_np, shim_posix_error,
     (pthread_t thread, void **value, const struct timespec *until), (thread, value, until))
JOIN(pthread_clockjoin_np, shim_posix_error,
     (pthread_t thread, void **value, clockid_t clock, const struct timespec *until),
     (thread, value, clock, until))
JOIN(thrd_join, shim_c11_error, (thrd_t thread, int *value), (thread, value))

/*
 * Functions that detach a thread. They do not wait, so their event has no duration. The event is
 * recorded after the call, when the error is known. The thread may have ended by then.
 */
#define DETACH(name, error_of) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name(pthread_t thread) \
	{ \
		struct { \
			uint64_t thread; \
			int32_t error; \
		} data = { .thread = number_of(thread) }; \
		int result = next(name)(thread); \
		if (shim_on(THREAD_DETACH)) { \
			data.error = error_of(result); \
			shim_put(THREAD_DETACH, &data, 12, shim_caller()); \
		} \
		return result; \
	}

DETACH(pthread_detach, shim_posix_error)
DETACH(thrd_detach, shim_c11_error)

SHIM_NEXT(pthread_setname_np, shim_no_error);

/*
 * pthread_setname_np(3). The wrapper also gives this name to the object at the thread's address,
 * because viewers show a thread under the name of that object.
 */
SHIM_WRAPPER int pthread_setname_np(pthread_t thread, const char *name)
{
	struct {
		uint64_t thread;
		int32_t error;
		char name[16];
	} data;
	int error = next(pthread_setname_np)(thread, name);

	if (shim_on(THREAD_NAME)) {
		if (!error)
			name_thread(thread, name);
		has_name |= !error && pthread_equal(thread, pthread_self());
		data.thread = number_of(thread);
		data.error = error;
		shim_put(THREAD_NAME, &data,
			 12 + shim_text_after(data.name, sizeof data.name, name, error),
			 shim_caller());
	}
	return error;
}
