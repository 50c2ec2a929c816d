/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "point/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/quiet.h"
#include "meet/process.h"
#include "point/object.h"
#include "ring/ring_write.h"

struct ptx_thread ptx_thread_nobody = { .frame = { &ptx_thread_nobody } };

_Thread_local _Atomic(struct ptx_thread *) ptx_thread_self
	__attribute__((tls_model("initial-exec"))) = &ptx_thread_nobody;

static pthread_key_t end_of_thread;
static bool have_key;

static uint32_t this_process(void)
{
	return atomic_load_explicit(&ptx_private.pid, memory_order_relaxed);
}

/*
 * The thread's id as the C library knew it last, and as the kernel does where the C library's is
 * wrong: in a child of a raw clone(), which finds its parent's id there. The two are one word, so
 * that a handler that forks in between leaves no mixture of two processes.
 */
static _Thread_local _Atomic uint64_t known_tids __attribute__((tls_model("initial-exec")));
static bool has_ids; /* the C library has them */

static uint32_t known_tid(uint64_t tids)
{
	return (uint32_t)(tids >> 32);
}

static void know_tids(uint32_t known, uint32_t true_tid)
{
	atomic_store_explicit(&known_tids, (uint64_t)known << 32 | true_tid, memory_order_relaxed);
}

/* What a child knows is its parent's, until it is set up. */
static uint32_t own_tid(void)
{
	uint32_t tid = has_ids && ptx_is_quiet() ? ptx_ids_thread() : 0;
	uint64_t tids = atomic_load_explicit(&known_tids, memory_order_relaxed);

	if (!tid)
		return (uint32_t)syscall(SYS_gettid);
	if ((uint32_t)tids && tid == known_tid(tids))
		return (uint32_t)tids;
	know_tids(tid, 0);
	return tid;
}

/*
 * A handler may fork between any two instructions; then this returns the parent's id in the child,
 * and ptx_process_child() calls it again. One fault remains in a quiet process: if a child of
 * _Fork() has made no event when it calls raw clone(), the new process takes that child's id.
 */
uint32_t ptx_thread_child_pid(void)
{
	uint32_t tid = has_ids && ptx_is_quiet() ? ptx_ids_thread() : 0;
	uint64_t tids = atomic_load_explicit(&known_tids, memory_order_relaxed);

	if (tid && tids && tid != known_tid(tids)) {
		know_tids(tid, 0);
		return tid; /* its first thread, and glibc has noticed */
	}
	if (tid)
		know_tids(tid, (uint32_t)syscall(SYS_gettid));
	return (uint32_t)getpid();
}

void ptx_thread_before_fork(void)
{
	if (ptx_is_quiet() && !ptx_process_is_child())
		own_tid();
}

/*
 * pid is the process in which the object was taken. False: a handler has forked since, this is the
 * child, and the object has been wiped on the way. Before the first look, another thread of the
 * child may have found and taken the object; after it, only this thread can reach the object in a
 * child.
 */
static bool name_thread(struct ptx_thread *thread, uint32_t pid)
{
	if (this_process() != pid)
		return false;
	thread->tid = own_tid();
	thread->self = (uint64_t)pthread_self();
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->pid, pid, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	if (this_process() == pid)
		return true;
	atomic_store_explicit(&thread->pid, 0, memory_order_relaxed);
	return false;
}

static struct ptx_thread *find_or_make(void)
{
	struct ptx_thread *thread = ptx_object_take();

	if (!thread && !have_key && ptx_threads_sweep())
		thread = ptx_object_take();
	return thread ? thread : ptx_object_make();
}

/* Unless a handler has interrupted this very function and been here already. */
static struct ptx_thread *become(struct ptx_thread *thread)
{
	struct ptx_thread *old = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);

	if (!ptx_thread_is_left(old) ||
	    !atomic_compare_exchange_strong_explicit(&ptx_thread_self, &old, thread,
						     memory_order_relaxed, memory_order_relaxed)) {
		atomic_store_explicit(&thread->pid, 0, memory_order_relaxed);
		ptx_object_free(thread);
		return old;
	}
	if (have_key)
		pthread_setspecific(end_of_thread, thread);
	return thread;
}

struct ptx_thread *ptx_thread_make(void)
{
	struct ptx_thread *thread;
	int saved = errno;
	uint32_t pid;

	do {
		if (ptx_process_is_child())
			ptx_process_child();
		pid = this_process();
		thread = find_or_make();
	} while (thread && !name_thread(thread, pid));
	if (thread)
		thread = become(thread);
	ptx_object_is_made();
	errno = saved;
	return thread;
}

void ptx_thread_leave(void)
{
	ptx_objects_leave(atomic_load_explicit(&ptx_thread_self, memory_order_relaxed));
	atomic_store_explicit(&ptx_thread_self, &ptx_thread_nobody, memory_order_relaxed);
}

_Thread_local bool ptx_thread_is_blind __attribute__((tls_model("initial-exec")));
static _Thread_local struct ptx_thread *blind_object __attribute__((tls_model("initial-exec")));

void ptx_thread_blind(bool is_blind)
{
	struct ptx_thread *self = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);

	if (ptx_thread_is_blind == is_blind)
		return;
	if (is_blind) {
		blind_object = ptx_thread_is_left(self) ? NULL : self;
		ptx_thread_is_blind = true;
		atomic_signal_fence(memory_order_seq_cst);
		atomic_store_explicit(&ptx_thread_self, &ptx_thread_nobody, memory_order_relaxed);
	} else {
		if (blind_object && !ptx_thread_is_left(blind_object))
			atomic_store_explicit(&ptx_thread_self, blind_object, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		ptx_thread_is_blind = false;
	}
	ptx_clock_is_forbidden = is_blind;
}

struct ptx_thread *ptx_thread_blind_object(void)
{
	return blind_object && !ptx_thread_is_left(blind_object) ? blind_object : NULL;
}

extern void *__libc_stack_end;

/*
 * Above all frames of the thread's own stack. Who is above it runs on another stack, even where
 * sigaltstack() does not say so (SS_AUTODISARM): glibc keeps a thread's descriptor at the top of
 * its stack.
 */
static uintptr_t stack_top(const struct ptx_thread *thread)
{
	return thread->tid == thread->pid ? (uintptr_t)__libc_stack_end : (uintptr_t)thread->self;
}

/*
 * An alternate stack may lie within the thread's own. Only who finds a frame that looks abandoned
 * asks the kernel; where that is forbidden the level stays in use.
 */
static bool may_be_alternate(void)
{
	int saved = errno;
	stack_t stack;
	bool alternate = ptx_is_quiet() || sigaltstack(NULL, &stack) != 0 ||
			 (stack.ss_flags & SS_ONSTACK);

	errno = saved;
	return alternate;
}

unsigned ptx_thread_nest(struct ptx_thread *thread, const void *frame)
{
	for (unsigned level = 0; level < PTX_LEVELS; level++) {
		const void *used = atomic_load_explicit(&thread->frame[level],
							memory_order_relaxed);

		if (!used)
			return level;
		/* A frame below ours on the same stack is gone: a handler left by siglongjmp(). */
		if ((uintptr_t)frame >= (uintptr_t)used && (uintptr_t)frame < stack_top(thread) &&
		    !may_be_alternate())
			return level;
	}
	return PTX_LEVELS;
}

void ptx_thread_identify(struct ptx_thread *thread, struct ptx_view *view, struct ptx_ident *ident)
{
	unsigned bit = view->bit;

	if (thread->slot_serial[bit] != view->serial ||
	    ptx_unlikely(!ptx_slot_is_held(&view->rings, thread->slot[bit]))) {
		thread->slot[bit] = ptx_slot_claim(&view->rings, thread->pid, thread->tid,
						   thread->self);
		thread->slot_serial[bit] = view->serial;
	}
	ident->pid = thread->pid;
	ident->tid = thread->tid;
	ident->thread = thread->self;
	ident->slot = thread->slot[bit];
	ident->spare = 0;
}

bool ptx_thread_join(struct ptx_thread *thread, unsigned level, struct ptx_view *view,
		     enum ptx_writer_loss *loss)
{
	struct ptx_cell *cell = &thread->cell[level][view->bit];
	struct ptx_ident ident;
	struct ptx_chunk *chunk;

	ptx_thread_identify(thread, view, &ident);
	chunk = ptx_ring_claim(&view->rings, &ident, &cell->ring, loss);
	if (!chunk)
		return false;
	cell->chunk = chunk;
	cell->room = ptx_ring_room(&view->rings, chunk);
	cell->held = ptx_ring_held(&view->rings, cell->ring);
	atomic_signal_fence(memory_order_seq_cst);
	cell->serial = view->serial;
	return true;
}

bool ptx_thread_holds(struct ptx_cell *cell, const struct ptx_view *view)
{
	if (ptx_likely(ptx_ring_held(&view->rings, cell->ring) == cell->held))
		return true;
	cell->serial = 0;
	return false;
}

void ptx_thread_mend(struct ptx_thread *thread, unsigned level)
{
	if (level == 0)
		thread->word_one = thread->word_many = 0;
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit],
							     memory_order_acquire);
		struct ptx_cell *cell = &thread->cell[level][bit];

		if (!view || cell->serial != view->serial || !ptx_thread_holds(cell, view))
			continue;
		cell->room = 0;
		cell->chunk = ptx_ring_mend(&view->rings, cell->ring);
		if (!cell->chunk)
			cell->serial = 0; /* somebody wrote over the ring: another one */
	}
}

struct ptx_chunk ptx_thread_nowhere = { .head = UINT32_MAX };

void ptx_threads_drop_lanes(void)
{
	for (struct ptx_thread *thread = atomic_load_explicit(&ptx_private.threads,
							      memory_order_acquire);
	     thread; thread = thread->next)
		for (int i = 0; i < PTX_LANES; i++)
			atomic_store_explicit(&thread->lane[i].chunk, &ptx_thread_nowhere,
					      memory_order_relaxed);
}

bool ptx_threads_busy(const struct ptx_thread *self)
{
	for (struct ptx_thread *thread = atomic_load_explicit(&ptx_private.threads,
							      memory_order_acquire);
	     thread; thread = thread->next)
		for (int level = 0; thread != self && level < PTX_LEVELS; level++)
			if (atomic_load_explicit(&thread->frame[level], memory_order_acquire))
				return true;
	return false;
}

/* in_use: the levels whose last trace point did not return, bit by bit. */
static void leave_stream(struct ptx_thread *thread, unsigned bit, unsigned in_use)
{
	struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit],
						     memory_order_acquire);

	if (!view)
		return;
	for (int level = 0; level < PTX_LEVELS; level++) {
		struct ptx_cell *cell = &thread->cell[level][bit];

		if (cell->serial == view->serial && ptx_thread_holds(cell, view)) {
			cell->serial = 0;
			/* Whoever takes it over must not find what a jump or a kill left undone. */
			if (in_use >> level & 1)
				ptx_ring_mend(&view->rings, cell->ring);
			ptx_ring_release(&view->rings, cell->ring);
		}
	}
	if (thread->slot_serial[bit] == view->serial) {
		thread->slot_serial[bit] = 0;
		ptx_slot_release(&view->rings, thread->slot[bit]);
	}
}

/* Gives back all that the thread has; nobody else uses the object. */
static void end_object(struct ptx_thread *thread)
{
	unsigned in_use = 0;

	for (int level = 0; level < PTX_LEVELS; level++)
		if (atomic_load_explicit(&thread->frame[level], memory_order_relaxed))
			in_use |= 1u << level;
	/* Busy, so that no view goes away meanwhile. */
	atomic_store_explicit(&thread->frame[0], (const void *)thread, memory_order_seq_cst);
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
		leave_stream(thread, bit, in_use);
	for (int level = 0; level < PTX_LEVELS; level++)
		atomic_store_explicit(&thread->frame[level], NULL, memory_order_release);
	thread->word_one = thread->word_many = 0;
	/* Nobody's, until its next owner has written its own: a sweep passes over it. */
	atomic_store_explicit(&thread->pid, 0, memory_order_relaxed);
	ptx_object_free(thread);
}

/* Dead, as far as the object says whose it is. */
static bool is_gone(const struct ptx_thread *thread)
{
	const uint32_t pid = atomic_load_explicit(&thread->pid, memory_order_acquire);

	return pid != 0 && syscall(SYS_tgkill, pid, thread->tid, 0) != 0 && errno == ESRCH;
}

bool ptx_threads_sweep(void)
{
	/* neither free nor taken, nor another's */
	const uint32_t mine = (uint32_t)syscall(SYS_gettid) + 2;
	struct ptx_thread *thread = atomic_load_explicit(&ptx_private.threads,
							 memory_order_acquire);
	int saved = errno;
	bool found = false;

	for (; thread; thread = thread->next) {
		uint32_t one = 1, swept = mine;

		if (atomic_load_explicit(&thread->taken, memory_order_acquire) != 1 ||
		    !is_gone(thread) ||
		    !atomic_compare_exchange_strong_explicit(
			    &thread->taken, &one, mine, memory_order_acq_rel, memory_order_relaxed))
			continue;
		/*
		 * Another sweep may have ended it since we asked, and one that lives have taken it.
		 */
		if (!is_gone(thread)) {
			atomic_compare_exchange_strong_explicit(&thread->taken, &swept, 1,
								memory_order_release,
								memory_order_relaxed);
			continue;
		}
		end_object(thread);
		found = true;
	}
	errno = saved;
	return found;
}

/* Handlers that trace from here on find no object and make another. */
static void end_thread(void *object)
{
	struct ptx_thread *thread = object;

	atomic_store_explicit(&ptx_thread_self, &ptx_thread_nobody, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (thread->pid == 0)
		return; /* the parent's, wiped */
	end_object(thread);
}

void ptx_threads_init(void)
{
	ptx_process_before_child = ptx_view_child;
	ptx_process_pid_of_child = ptx_thread_child_pid;
	ptx_objects_init();
	has_ids = ptx_ids_thread() == (uint32_t)syscall(SYS_gettid);
	/* Of the first 32 keys a value is set without memory from malloc(): safe in a handler. */
	have_key = pthread_key_create(&end_of_thread, end_thread) == 0;
	if (have_key && end_of_thread >= 32) {
		pthread_key_delete(end_of_thread);
		have_key = false;
	}
}
