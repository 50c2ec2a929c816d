/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/thread.c - the life of a thread object. The object is made at a thread's first event.
 * Handlers use its nesting levels. A child leaves its parent's object after a fork. An object is
 * given back at the thread's end.
 *
 * Any function may be interrupted by a handler that traces, forks or leaves by siglongjmp(). Stores
 * that such a handler must see are ordered by signal fences. In a child the kernel has zeroed
 * ptx_private and the objects (MADV_WIPEONFORK); ptx_process_is_child() tests this.
 */
#include "point/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/ids.h"
#include "base/libc.h"
#include "base/life.h"
#include "base/proc.h"
#include "base/quiet.h"
#include "meet/process.h"
#include "point/object.h"
#include "ring/ring_write.h"

/*
 * Every thread has this object until the thread gets an object of its own. Its frame[0] is never
 * NULL, so level 0 is always in use, and each trace point goes to record.c. Most of the object is
 * never used.
 */
ptx_rare_data struct ptx_thread ptx_thread_nobody = { .frame = { &ptx_thread_nobody } };

_Thread_local _Atomic(struct ptx_thread *) ptx_thread_self
	__attribute__((tls_model("initial-exec"))) = &ptx_thread_nobody;

/* The key's destructor runs at the end of a thread that has an object. */
static ptx_start_data pthread_key_t end_of_thread;
static ptx_start_data bool have_key;

static uint32_t this_process(void)
{
	return atomic_load_explicit(&ptx_private.pid, memory_order_relaxed);
}

/*
 * Upper half: the thread's id as the C library showed it last. Lower half: the id that the kernel
 * has for the thread if the C library's id is wrong, else 0. In a child of a raw clone(), the C
 * library is wrong: it shows the parent's id. The two halves are one word, so that a fork in a
 * handler never leaves one half of the parent and one half of the child.
 */
static _Thread_local _Atomic uint64_t known_tids __attribute__((tls_model("initial-exec")));
static ptx_start_data bool has_ids; /* the C library shows the ids of threads */

static uint32_t known_tid(uint64_t tids)
{
	return (uint32_t)(tids >> 32);
}

static void know_tids(uint32_t known, uint32_t true_tid)
{
	atomic_store_explicit(&known_tids, (uint64_t)known << 32 | true_tid, memory_order_relaxed);
}

/*
 * Asks the kernel for the id of the calling thread of this process. A child of vfork() records its
 * events as its parent's thread, whose memory it uses. In such a child the result is the id of that
 * thread, which the C library still shows.
 */
static uint32_t ask_tid(uint32_t process)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid), shown = has_ids ? ptx_ids_thread() : 0;

	return shown && shown != tid && (uint32_t)syscall(SYS_getpid) != process ? shown : tid;
}

/*
 * Returns the id of the calling thread of this process. In a quiet process it makes no system call
 * if the C library shows the id.
 */
static uint32_t own_tid(uint32_t process)
{
	uint32_t tid = has_ids && ptx_is_quiet() ? ptx_ids_thread() : 0;
	uint64_t tids = atomic_load_explicit(&known_tids, memory_order_relaxed);

	if (!tid)
		return ask_tid(process);
	if ((uint32_t)tids && tid == known_tid(tids))
		return (uint32_t)tids;
	know_tids(tid, 0);
	return tid;
}

/*
 * Returns the id of this process, in a child for which ptx_process_child() has not run yet.
 *
 * If a handler forks between two instructions here, the function returns the parent's id in the
 * child of that fork. ptx_process_child() recognizes this and calls the function again. One fault
 * remains in a quiet process. If a child of _Fork() calls raw clone() before it has recorded an
 * event, the new process uses the id of that child.
 */
uint32_t ptx_thread_child_pid(void)
{
	uint32_t tid = has_ids && ptx_is_quiet() ? ptx_ids_thread() : 0;
	uint64_t tids = atomic_load_explicit(&known_tids, memory_order_relaxed);

	if (tid && tids && tid != known_tid(tids)) {
		know_tids(tid, 0);
		/*
		 * The C library shows another id than before, so the new id is right. This is the
		 * child's first thread, whose id is also the id of the process.
		 */
		return tid;
	}
	/*
	 * Either the C library still shows the parent's id, because this is a child of a raw
	 * clone(), or no id was stored before. The true id is stored for own_tid().
	 */
	if (tid)
		know_tids(tid, (uint32_t)syscall(SYS_gettid));
	return ptx_proc_own();
}

/*
 * own_tid() stores the present id. Without the stored id, a child of a quiet process could not see
 * whether the C library shows the child's id or its parent's.
 */
void ptx_thread_before_fork(void)
{
	if (ptx_is_quiet() && !ptx_process_is_child())
		own_tid(this_process());
}

/*
 * Writes the thread's identity into its new object. pid is the process in which the object was
 * taken. Returns false in a child if a handler has forked since then, which wiped the object.
 *
 * The first check is necessary because another thread of the child may have found and claimed the
 * wiped object. If a handler forks after this check, no other thread of the child can find the
 * object.
 */
static bool name_thread(struct ptx_thread *thread, uint32_t pid)
{
	if (this_process() != pid)
		return false;
	thread->tid = own_tid(pid);
	thread->self = (uint64_t)pthread_self();
	/*
	 * No cell of a free object belongs to a stream, so the store changes nothing. If the first
	 * access to this page were a load, the kernel would map a page of zeros first and replace
	 * the page at the first store.
	 */
	*(volatile uint64_t *)&thread->cell[0][0].serial = 0;
	/* pid is stored last: an object whose pid is not 0 has a valid identity. */
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->pid, pid, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	/*
	 * If the fork happened after the first check, the object was wiped, and the store above has
	 * undone the wipe.
	 */
	if (this_process() == pid)
		return true;
	atomic_store_explicit(&thread->pid, 0, memory_order_relaxed);
	return false;
}

/*
 * Returns an object. If no object is free and there is no key, asks the kernel which threads have
 * ended and uses their objects.
 */
static struct ptx_thread *find_or_make(void)
{
	struct ptx_thread *thread = ptx_object_take();

	if (!thread && !have_key && ptx_threads_sweep())
		thread = ptx_object_take();
	return thread ? thread : ptx_object_make();
}

/*
 * Gives the object to the calling thread. If a handler has interrupted this function and has
 * already made an object for the thread, the handler's object remains, and `thread` is released.
 */
static struct ptx_thread *adopt_object(struct ptx_thread *thread)
{
	struct ptx_thread *old = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);

	if (!ptx_thread_is_left(old) ||
	    !atomic_compare_exchange_strong_explicit(&ptx_thread_self, &old, thread,
						     memory_order_relaxed, memory_order_relaxed)) {
		atomic_store_explicit(&thread->pid, 0, memory_order_relaxed);
		ptx_object_free(thread);
		return old;
	}
	/*
	 * pthread_setspecific() is async-signal-safe for the first 32 keys, see
	 * ptx_threads_init().
	 */
	if (have_key)
		pthread_setspecific(end_of_thread, thread);
	return thread;
}

struct ptx_thread *ptx_thread_make(void)
{
	struct ptx_thread *thread;
	int saved = errno;
	uint32_t pid;

	/*
	 * If a handler forks in this loop, the object is wiped in the child, and the child starts
	 * again.
	 */
	do {
		if (ptx_process_is_child())
			ptx_process_child();
		pid = this_process();
		thread = find_or_make();
	} while (thread && !name_thread(thread, pid));
	if (thread)
		thread = adopt_object(thread);
	ptx_object_end_making();
	errno = saved;
	return thread;
}

/*
 * ptx_thread_is_blind is true if PR_TSC_SIGSEGV or the strict mode of seccomp(2) is set for the
 * thread. Each thread has its own modes, so also its own flag.
 */
_Thread_local bool ptx_thread_is_blind __attribute__((tls_model("initial-exec")));
_Thread_local bool ptx_thread_is_shared __attribute__((tls_model("initial-exec")));
/* The thread's object while ptx_thread_self is ptx_thread_nobody, or NULL. */
static _Thread_local struct ptx_thread *hidden_object __attribute__((tls_model("initial-exec")));
/* The task that records events in the memory of a shared thread; 0: none. */
static _Thread_local uint32_t owner __attribute__((tls_model("initial-exec")));

/*
 * The caller has already stored the flag of the thread's state, blind or shared. So a handler that
 * uses record.c finds the flag and makes no object.
 */
static void hide_object(void)
{
	struct ptx_thread *self = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);

	if (!ptx_thread_is_left(self))
		hidden_object = self;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&ptx_thread_self, &ptx_thread_nobody, memory_order_relaxed);
}

/*
 * Makes the thread use its object again, with its rings and its slot, unless a fork has wiped the
 * object.
 */
static void show_object(void)
{
	if (hidden_object && !ptx_thread_is_left(hidden_object))
		atomic_store_explicit(&ptx_thread_self, hidden_object, memory_order_relaxed);
	hidden_object = NULL;
	atomic_signal_fence(memory_order_seq_cst);
}

void ptx_thread_blind(bool is_blind)
{
	if (ptx_thread_is_blind == is_blind)
		return;
	if (is_blind) {
		ptx_thread_is_blind = true;
		hide_object();
	} else {
		if (!ptx_thread_is_shared)
			show_object();
		ptx_thread_is_blind = false;
	}
	ptx_clock_is_forbidden = is_blind;
}

/* The object is made now: while the thread is shared, two tasks might make one at the same time. */
void ptx_thread_share(void)
{
	int saved = errno;

	if (!ptx_thread_is_shared && !ptx_thread_object() && !ptx_thread_is_blind)
		ptx_thread_make();
	owner = ptx_is_quiet() ? 0 : (uint32_t)syscall(SYS_gettid);
	ptx_thread_is_shared = true;
	hide_object();
	errno = saved;
}

bool ptx_thread_is_owner(void)
{
	return !ptx_is_quiet() && owner && owner == (uint32_t)syscall(SYS_gettid);
}

struct ptx_thread *ptx_thread_object(void)
{
	struct ptx_thread *thread =
		hidden_object ? hidden_object
			      : atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);

	return ptx_thread_is_left(thread) ? NULL : thread;
}

/*
 * The kernel has wiped the object. Frames that the fork interrupted may still use it, so the thread
 * gets another object with its next event.
 */
void ptx_thread_leave(void)
{
	ptx_objects_leave(hidden_object ? hidden_object
					: atomic_load_explicit(&ptx_thread_self,
							       memory_order_relaxed));
	hidden_object = NULL;
	ptx_thread_is_shared = false;
	atomic_store_explicit(&ptx_thread_self, &ptx_thread_nobody, memory_order_relaxed);
}

/*
 * Returns the end of the thread's own stack: an address above all its frames. A frame above this
 * address is on another stack, even if sigaltstack() does not report that (SS_AUTODISARM). glibc
 * and musl keep a thread's descriptor at the top of its stack.
 */
static uintptr_t stack_top(const struct ptx_thread *thread)
{
	return thread->tid == thread->pid ? ptx_libc_main_stack_end() : (uintptr_t)thread->self;
}

/*
 * Returns whether the caller may run on an alternate signal stack, which may be within the
 * thread's own stack. The function asks the kernel, so it is called only if a frame seems to be
 * abandoned. If the system call is forbidden, the result is true, and the level remains in use.
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
		/*
		 * Stacks grow downwards. So if the used frame is on this stack, at the present
		 * frame's address or a lower one, its function has returned, or a handler left it
		 * by siglongjmp().
		 */
		if ((uintptr_t)frame >= (uintptr_t)used && (uintptr_t)frame < stack_top(thread) &&
		    !may_be_alternate())
			return level;
	}
	return PTX_LEVELS;
}

void ptx_thread_identify(struct ptx_thread *thread, struct ptx_view *view, struct ptx_ident *ident)
{
	unsigned bit = view->bit;

	/*
	 * The thread needs a slot if it has none in this stream, or if some process mistook this
	 * process for dead and the slot belongs to another thread now.
	 */
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
	ident->before = 0;
}

bool ptx_thread_join(struct ptx_thread *thread, unsigned level, struct ptx_view *view,
		     enum ptx_writer_loss *loss)
{
	struct ptx_cell *cell = &thread->cell[view->bit][level];
	struct ptx_ident ident;
	struct ptx_chunk *chunk;

	ptx_thread_identify(thread, view, &ident);
	chunk = ptx_ring_claim(&view->rings, &ident, &cell->ring, loss);
	if (!chunk)
		return false;
	/*
	 * The serial is stored last. So if a handler interrupts this function or leaves it by
	 * siglongjmp(), the cell does not belong to the stream.
	 */
	cell->chunk = chunk;
	cell->room = ptx_ring_room(&view->rings, chunk);
	cell->held = ptx_ring_held(&view->rings, cell->ring);
	atomic_signal_fence(memory_order_seq_cst);
	cell->serial = view->serial;
	return true;
}

/* The ring's word changes when another process takes the ring from this thread. */
bool ptx_thread_holds(struct ptx_cell *cell, const struct ptx_view *view)
{
	if (ptx_likely(ptx_ring_held(&view->rings, cell->ring) == cell->held))
		return true;
	cell->serial = 0;
	return false;
}

/*
 * A handler has left a trace point of this level. So the rings of this level may have an open
 * window or a chunk that is being opened. Without this call, readers would wait for an event that
 * is never published.
 */
void ptx_thread_mend(struct ptx_thread *thread, unsigned level)
{
	if (level == 0)
		thread->word_one = thread->word_many = 0;
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit],
							     memory_order_acquire);
		struct ptx_cell *cell = &thread->cell[bit][level];

		/*
		 * The thread has no ring of that stream at this level, or another process took the
		 * ring.
		 */
		if (!view || cell->serial != view->serial || !ptx_thread_holds(cell, view))
			continue;
		cell->room = 0;
		cell->chunk = ptx_ring_mend(&view->rings, cell->ring);
		if (!cell->chunk)
			/*
			 * the ring has no chunk that this process can map: the next event claims
			 * another ring
			 */
			cell->serial = 0;
	}
}

/*
 * A chunk whose head leaves no room for any record. Lanes point to it instead of NULL, so that
 * event.c needs no test.
 */
struct ptx_chunk ptx_thread_nowhere = { .head = UINT32_MAX };

/*
 * Lanes are the only pointers to chunks that a trace point uses without loading the view. After
 * this call and a barrier, no trace point begins to use the former chunks.
 */
void ptx_threads_drop_lanes(void)
{
	for (struct ptx_thread *thread = atomic_load_explicit(&ptx_private.threads,
							      memory_order_acquire);
	     thread; thread = thread->next)
		for (int i = 0; i < PTX_LANES; i++)
			atomic_store_explicit(&thread->lane[i].chunk, &ptx_thread_nowhere,
					      memory_order_relaxed);
}

/*
 * The load acquires. It pairs with the release of the level, so that all stores of the trace point
 * are visible.
 */
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

/*
 * Gives back the thread's rings and slot in one stream. in_use: bit n is set if the last trace
 * point at level n did not return.
 */
static void leave_stream(struct ptx_thread *thread, unsigned bit, unsigned in_use)
{
	struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit],
						     memory_order_acquire);

	if (!view)
		return;
	for (int level = 0; level < PTX_LEVELS; level++) {
		struct ptx_cell *cell = &thread->cell[bit][level];

		if (cell->serial == view->serial && ptx_thread_holds(cell, view)) {
			cell->serial = 0;
			/*
			 * The next owner must not find steps that a siglongjmp() or a kill has left
			 * unfinished.
			 */
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

/*
 * Gives back everything that the thread has. The caller is the thread itself, or a sweep that has
 * claimed the object of a dead thread.
 */
static void end_object(struct ptx_thread *thread)
{
	unsigned in_use = 0;

	for (int level = 0; level < PTX_LEVELS; level++)
		if (atomic_load_explicit(&thread->frame[level], memory_order_relaxed))
			in_use |= 1u << level;
	/*
	 * The object counts as inside a trace point, so that no view is unmapped while the rings
	 * are released.
	 */
	atomic_store_explicit(&thread->frame[0], (const void *)thread, memory_order_seq_cst);
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
		leave_stream(thread, bit, in_use);
	for (int level = 0; level < PTX_LEVELS; level++)
		atomic_store_explicit(&thread->frame[level], NULL, memory_order_release);
	thread->word_one = thread->word_many = 0;
	/*
	 * With pid 0 the object has no owner, until the next owner has stored its own pid. A sweep
	 * ignores such an object.
	 */
	atomic_store_explicit(&thread->pid, 0, memory_order_relaxed);
	ptx_object_free(thread);
}

/*
 * Returns whether the object's thread has certainly ended. For an object without owner the result
 * is false. It is also false if that cannot be determined: the rings of a living thread must not be
 * given to another thread.
 */
static bool is_gone(const struct ptx_thread *thread)
{
	const uint32_t pid = atomic_load_explicit(&thread->pid, memory_order_acquire);

	return ptx_life_of_thread(pid, thread->tid) == PTX_DEAD;
}

/*
 * Two sweeps may run at the same time. So a sweep claims an object before it gives the object's
 * rings back.
 */
bool ptx_threads_sweep(void)
{
	/*
	 * a value for `taken` that is neither 0 (free) nor 1 (taken), and that no other sweep uses
	 */
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
		 * Since the first check, another sweep may have ended the object, and a living
		 * thread may have taken it. After the claim above, the object's owner cannot
		 * change.
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

/*
 * Destructor of the key: the thread ends. Handlers that trace from here on find no object and make
 * another object, whose rings a sweep gives back.
 */
static void end_thread(void *object)
{
	struct ptx_thread *thread = object;

	atomic_store_explicit(&ptx_thread_self, &ptx_thread_nobody, memory_order_relaxed);
	/* Another thread may get the object while destructors of this thread still run. */
	hidden_object = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	if (thread->pid == 0)
		return; /* the object was the parent's and is wiped */
	end_object(thread);
}

/*
 * The C library calls no destructors of keys at the end of a process. The object is removed from
 * the key, so that it is not ended twice.
 */
void ptx_thread_exit(void)
{
	struct ptx_thread *thread = ptx_thread_object();

	if (!thread)
		return;
	if (have_key)
		pthread_setspecific(end_of_thread, NULL);
	end_thread(thread);
}

/* Runs in the library's constructor, before other threads exist. */
void ptx_threads_init(void)
{
	ptx_process_before_child = ptx_view_child;
	ptx_process_pid_of_child = ptx_thread_child_pid;
	ptx_objects_init();
	/* If both ids agree, the C library shows the ids of threads (base/ids.h). */
	has_ids = ptx_ids_thread() == (uint32_t)syscall(SYS_gettid);
	/*
	 * glibc stores the values of the first 32 keys in the thread's descriptor, without
	 * malloc(), so that pthread_setspecific() is safe in a handler. The library does not use a
	 * later key.
	 */
	have_key = pthread_key_create(&end_of_thread, end_thread) == 0;
	if (have_key && end_of_thread >= 32) {
		pthread_key_delete(end_of_thread);
		have_key = false;
	}
}
