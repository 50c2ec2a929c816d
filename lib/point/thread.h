/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/thread.h - what a thread keeps between its events: its place in each stream's rings.
 *
 * The member frame[] of struct ptx_thread shows which nesting levels are in use. A trace point
 * claims a level by one store and releases it by one store. A handler that interrupted a trace
 * point finds that level in use and claims the next level. Objects are allocated from pools and
 * slabs that are zeroed in a child (MADV_WIPEONFORK) and are never unmapped.
 *
 * Threads   the thread itself stores into its object. Other threads read frame[], pid and tid, and
 *           overwrite the chunks of its lanes.
 * Signals   everything here except ptx_threads_prepare() is async-signal-safe.
 */
#ifndef PTX_POINT_THREAD_H
#define PTX_POINT_THREAD_H

#include "arena/process_block.h"
#include "base/compiler.h"
#include "point/view.h"

/*
 * The thread's place in one stream at one level. It is valid if its serial is equal to that of the
 * view.
 */
struct ptx_cell {
	uint64_t serial;
	struct ptx_chunk *chunk;
	uint64_t held; /* the ring's word after the thread claimed it */
	uint32_t ring;
	uint32_t room; /* bytes of the chunk's records that are present; 0: unknown */
};

/*
 * The state of one stream as the thread last found the stream, for level 0. A lane has exactly the
 * values that a trace point needs. The lane is valid while ptx_own_control.word has the value that
 * it had when the lane was made.
 */
struct ptx_lane {
	/* A thread that frees a view replaces this pointer by ptx_thread_nowhere. */
	_Atomic(struct ptx_chunk *) chunk;
	struct ptx_region *region;
	uint64_t serial;   /* of the view */
	uint64_t room;     /* of the cell */
	uint32_t max_data;
	uint16_t bit;
	uint16_t refuses;  /* PTX_LANE_*: why an event of a type that is not enabled is counted */
	_Atomic uint64_t *skip_row; /* the thread's row of counts; NULL: it has none */
	uint64_t skip[PTX_WORDS];   /* types that the stream counts as skipped */
	/* 1: the stream runs, admits the type and does not skip it; this process opened the type */
	uint8_t enabled[PTX_TYPE_MAX];
};

#define PTX_LANE_FULL  1 /* the stream is full: all events are lost */
#define PTX_LANE_SKIPS 2 /* the stream counts the events of some types as skipped */

#define PTX_LANES 8
/*
 * word_one needs a max_data of at least this number, so only longer data is compared with max_data
 */
#define PTX_SHORT 32

/*
 * Most processes have one stream. Its lane and all other members that it needs are in the first
 * page of the object, and its cells are in one further page.
 */
struct ptx_thread {
	_Atomic(const void *) frame[PTX_LEVELS];
	/* lane[0] is the only lane while the control page's word has this value; 0: it never is */
	uint64_t word_one;
	/*
	 * lane[0 .. lanes - 1] are all lanes while the control page's word has this value; 0: never
	 */
	uint64_t word_many;
	uint32_t lanes;
	/* counts changes of chunks and losses in full streams, to check creators now and then */
	uint32_t turns;
	struct ptx_thread *next; /* in ptx_private.threads */
	_Atomic(struct ptx_thread *) next_free; /* in ptx_private.free_threads */
	_Atomic uint32_t is_listed; /* in ptx_private.threads */
	_Atomic uint32_t is_stacked;
	_Atomic uint32_t taken;
	/* Stored last. 0: a fork has wiped the object, or the object has no owner. */
	_Atomic uint32_t pid;
	uint32_t tid;
	uint64_t self; /* pthread_self() */
	uint32_t slot[PTX_STREAMS];
	uint64_t slot_serial[PTX_STREAMS];
	struct ptx_lane lane[PTX_LANES];
	struct ptx_cell cell[PTX_STREAMS][PTX_LEVELS];
};

/*
 * Makes the key whose destructor gives back a thread's rings. The library's constructor calls this
 * function.
 */
void ptx_threads_init(void);

/*
 * Makes sure that the next `count` threads find an object without a system call, if there is memory
 * for it.
 */
void ptx_threads_prepare(unsigned count);

/*
 * Reserves address space for many threads before the process becomes quiet. The address space is
 * not memory yet.
 */
void ptx_threads_reserve(void);

/* The calling thread's object, or ptx_thread_nobody. */
extern _Thread_local _Atomic(struct ptx_thread *) ptx_thread_self
	__attribute__((tls_model("initial-exec")));

/* The object of all threads that have no object of their own. Its level 0 is always in use. */
extern struct ptx_thread ptx_thread_nobody;
/*
 * Returns the calling thread's object and makes it if necessary. Returns NULL if memory is lacking.
 * errno is preserved.
 */
struct ptx_thread *ptx_thread_make(void);

/*
 * Called in a child, in which the fork has wiped the only thread's object. The thread gets another
 * object with its next event. The old object is kept, because a frame that the fork interrupted may
 * still use it. That object is empty, so the frame finds no stream.
 */
void ptx_thread_leave(void);

/* Returns the id of this process in a child for which ptx_process_child() has not run yet. */
uint32_t ptx_thread_child_pid(void);

/* Lets the child of the fork that follows determine its id without a system call. */
void ptx_thread_before_fork(void);

/* Returns whether a fork has wiped the object, or the object is ptx_thread_nobody. */
ptx_inline bool ptx_thread_is_left(const struct ptx_thread *thread)
{
	return thread->pid == 0;
}

/*
 * A blind thread must not read the clock. Its events are not recorded, and count as losses of this
 * thread.
 *
 * The memory of a shared thread is also used by a task that clone(2) made with CLONE_VM and
 * without CLONE_SETTLS. Two writers would damage the thread's rings. So only one task records
 * events: the owner, which is the last caller of ptx_thread_share(). The events of all other tasks
 * are counted as lost. ptx_thread_is_owner() makes a system call. A quiet process makes no system
 * call, so its shared threads have no owner. In a child with a copy of the memory, the thread is no
 * longer shared.
 *
 * In both states ptx_thread_self is ptx_thread_nobody, so that each event goes through record.c.
 */
extern _Thread_local bool ptx_thread_is_blind __attribute__((tls_model("initial-exec")));
extern _Thread_local bool ptx_thread_is_shared __attribute__((tls_model("initial-exec")));
void ptx_thread_blind(bool is_blind);
void ptx_thread_share(void);
bool ptx_thread_is_owner(void);

/* Returns the object of the thread in all states, or NULL if it has none. */
struct ptx_thread *ptx_thread_object(void);

/*
 * Returns a level for a trace point whose stack pointer is `frame`; PTX_LEVELS if all levels are in
 * use.
 */
unsigned ptx_thread_nest(struct ptx_thread *thread, const void *frame);

/*
 * Fills in *ident for a stream. Claims a slot of the stream if the thread has none in it. If no
 * slot is free, the slot is 0.
 */
void ptx_thread_identify(struct ptx_thread *thread, struct ptx_view *view,
			 struct ptx_ident *ident);

/*
 * Claims a ring for the thread at the nesting level `level`. Returns false if the event is lost
 * because of *loss.
 */
bool ptx_thread_join(struct ptx_thread *thread, unsigned level, struct ptx_view *view,
		     enum ptx_writer_loss *loss);

/*
 * Returns whether the thread still holds its ring. If not, the cell becomes invalid, and the thread
 * must join the stream again.
 */
bool ptx_thread_holds(struct ptx_cell *cell, const struct ptx_view *view);

/*
 * Called if the last trace point at the nesting level `level` did not return: makes the level's
 * rings consistent again.
 */
void ptx_thread_mend(struct ptx_thread *thread, unsigned level);

/*
 * Gives back the rings of threads that ended without a destructor: the process has no key, or the
 * thread recorded an event after the destructor ran. Returns whether there was such a thread.
 */
bool ptx_threads_sweep(void);

/*
 * Called at the end of the process: gives back what the calling thread has, as at the end of a
 * thread. Otherwise its ring would stay held by a dead process until a search for such rings.
 */
void ptx_thread_exit(void);

/* A chunk without room. A trace point whose lane has this chunk continues in record.c. */
extern struct ptx_chunk ptx_thread_nowhere;

/*
 * Makes the lanes of all threads invalid. Call this function before ptx_barrier() when a view is to
 * be freed. The function is needed because the control word alone cannot be relied on: other
 * processes can write to it.
 */
void ptx_threads_drop_lanes(void);

/*
 * Returns whether a thread other than `self` is inside a trace point. Call this function after
 * ptx_barrier().
 */
bool ptx_threads_busy(const struct ptx_thread *self);

#endif
