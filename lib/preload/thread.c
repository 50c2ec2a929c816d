/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/thread.c - family thread: threads from their creation to their end.
 *
 * A thread that is created while somebody traces starts in run(), which tells of its beginning and,
 * however it ends, of its end: destructors of thread-local data come after that. thrd_create()
 * creates threads inside the C library, unseen; what they do is traced.
 */
#include <pthread.h>
#include <stdlib.h>

#include "preload/shim.h"
#include "preload/start.h"
#include "preload/text.h"

struct start {
	void *(*function)(void *);
	void *argument;
	uint64_t creator;
	bool is_blind;
};

/*
 * What a thread needs to start, without malloc(): that would give a new thread a heap of its own,
 * which the program did not ask for. Where all are in use malloc() has the next.
 */
#define STARTS 256
static struct start starts[STARTS];
static atomic_bool in_use[STARTS];
static _Atomic unsigned next_start;

static struct start *take_start(void)
{
	unsigned from = atomic_fetch_add_explicit(&next_start, 1, memory_order_relaxed);
	struct start *start;
	int saved = errno;

	for (unsigned i = 0; i < STARTS; i++)
		if (!atomic_exchange_explicit(&in_use[(from + i) % STARTS], true,
					      memory_order_acquire))
			return &starts[(from + i) % STARTS];
	start = malloc(sizeof *start);
	errno = saved;
	return start;
}

static void give_start(struct start *start)
{
	if (start >= starts && start < starts + STARTS)
		atomic_store_explicit(&in_use[start - starts], false, memory_order_release);
	else
		free(start);
}

/* Of threads that were to start in the parent. */
void shim_threads_in_child(void)
{
	for (unsigned i = 0; i < STARTS; i++)
		atomic_store_explicit(&in_use[i], false, memory_order_relaxed);
}

struct end {
	uint64_t function;
};

static uint64_t number_of(pthread_t thread)
{
	return (uint64_t)thread;
}

/* This thread has given itself a name, which the next one at its address must not have. */
static _Thread_local bool has_name __attribute__((tls_model("initial-exec")));

static void name_thread(pthread_t thread, const char *name)
{
	posix_trace_object_np(POSIX_TRACE_OBJECT_THREAD_NP, (const void *)(uintptr_t)thread, name);
}

static void thread_ends(void *arg)
{
	const struct end *end = arg;

	if (*shim_switch[THREAD_END])
		shim_put(THREAD_END, end, sizeof *end, (const void *)(uintptr_t)end->function);
	if (has_name && !shim_is_blind)
		name_thread(pthread_self(), NULL);
}

static void *run(void *arg)
{
	struct start start = *(struct start *)arg;
	struct {
		uint64_t function, creator;
	} data = { (uint64_t)(uintptr_t)start.function, start.creator };
	struct end end = { data.function };
	void *result;

	give_start(arg);
	if (start.is_blind)
		shim_blind(true);
	if (*shim_switch[THREAD_BEGIN])
		shim_put(THREAD_BEGIN, &data, sizeof data, (const void *)start.function);
	pthread_cleanup_push(thread_ends, &end);
	result = start.function(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

SHIM_NEXT(pthread_create, shim_no_error);

SHIM_WRAPPER int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
				void *(*function)(void *), void *argument)
{
	struct {
		uint64_t time;
		uint64_t thread, function;
		int32_t error, detached;
	} data = { .function = (uint64_t)(uintptr_t)function };
	struct start *start;
	int detached = PTHREAD_CREATE_JOINABLE;

	/* Threads of a thread that must not read the clock must not either. */
	if (!shim_on(THREAD_CREATE) && !shim_is_blind)
		return next(pthread_create)(thread, attr, function, argument);
	start = take_start();
	if (!start)
		return next(pthread_create)(thread, attr, function, argument);
	*start = (struct start){ function, argument, number_of(pthread_self()), shim_is_blind };
	if (shim_is_blind) {
		data.error = next(pthread_create)(thread, attr, run, start);
		if (data.error)
			give_start(start);
		return data.error;
	}
	if (attr)
		pthread_attr_getdetachstate(attr, &detached);
	SHIM_CALL(THREAD_CREATE, data);
	data.detached = detached == PTHREAD_CREATE_DETACHED;
	data.error = next(pthread_create)(thread, attr, run, start);
	/*
	 * Where its identifier was stored belongs to the thread as well, which may have given it
	 * back.
	 */
	if (!data.error)
		shim_copy(&data.thread, thread, sizeof *thread);
	else
		give_start(start);
	return data.error;
}

SHIM_NEXT(pthread_exit, shim_no_return);

SHIM_WRAPPER void pthread_exit(void *value)
{
	uint64_t data = (uint64_t)(uintptr_t)value;

	if (shim_on(THREAD_EXIT))
		shim_put(THREAD_EXIT, &data, sizeof data, shim_caller());
	next(pthread_exit)(value);
	__builtin_unreachable();
}

struct join_data {
	uint64_t time;
	uint64_t thread;
	int32_t error;
};

#define JOIN(name, params, args) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(THREAD_JOIN)) \
			return next(name) args; \
		struct join_data data = { .thread = number_of(thread), .error = ECANCELED }; \
		SHIM_CALL(THREAD_JOIN, data); \
		call.len = offsetof(struct join_data, error) + sizeof data.error; \
		data.error = next(name) args; \
		return data.error; \
	}

JOIN(pthread_join, (pthread_t thread, void **value), (thread, value))
JOIN(pthread_tryjoin_np, (pthread_t thread, void **value), (thread, value))
JOIN(pthread_timedjoin_np, (pthread_t thread, void **value, const struct timespec *until),
     (thread, value, until))

SHIM_NEXT(pthread_detach, shim_no_error);

SHIM_WRAPPER int pthread_detach(pthread_t thread)
{
	struct {
		uint64_t thread;
		int32_t error;
	} data = { .thread = number_of(thread) };
	int error = next(pthread_detach)(thread);

	if (shim_on(THREAD_DETACH)) {
		data.error = error;
		shim_put(THREAD_DETACH, &data, 12, shim_caller());
	}
	return error;
}

SHIM_NEXT(pthread_setname_np, shim_no_error);

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
