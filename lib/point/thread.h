/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/thread.h - what a thread keeps between its events: its place in each stream's rings.
 *
 * frame[] tells which nesting levels are in use. A level is claimed by one store and is free again
 * by one store; a handler that finds the level of the frame it interrupted takes the next one.
 * Objects come from a pool and from slabs that are zeroed in a child (MADV_WIPEONFORK) and are
 * never unmapped.
 *
 * Signals   everything here is async-signal-safe but ptx_threads_prepare().
 */
#ifndef PTX_POINT_THREAD_H
#define PTX_POINT_THREAD_H

#include "arena/process_block.h"
#include "point/view.h"

/* The thread's place in one stream at one level; it counts only while serial is the view's. */
struct ptx_cell {
	uint64_t serial;
	struct ptx_chunk *chunk;
	uint64_t held; /* the ring's word since the thread claimed it */
	uint32_t ring;
	uint32_t room; /* bytes for records of the chunk that are memory; 0: not known */
};

/*
 * One stream as the thread last found it, at level 0: what a trace point needs and nothing else.
 * It holds while ptx_own_control.word is the one that it was made under.
 */
struct ptx_lane {
	_Atomic(struct ptx_chunk *) chunk; /* also taken away by who frees a view */
	struct ptx_region *region;
	uint64_t serial;   /* of the view */
	uint64_t room;     /* of the cell */
	uint32_t max_data;
	uint16_t bit;
	uint16_t is_full;  /* the stream counts what it refuses */
	uint8_t enabled[PTX_TYPE_MAX]; /* running, admitted, and opened by this process */
};

#define PTX_LANES 8
#define PTX_SHORT 32 /* what is not longer is copied in line; lane[0] alone takes as much */

struct ptx_thread {
	_Atomic(const void *) frame[PTX_LEVELS];
	uint64_t word_one;  /* lane[0] is all there is */
	uint64_t word_many; /* lane[0 .. lanes - 1] are all there are */
	uint32_t lanes;
	uint32_t turns; /* to another chunk, to look after creators now and then */
	struct ptx_lane lane[PTX_LANES];
	struct ptx_thread *next; /* in ptx_private.threads */
	_Atomic(struct ptx_thread *) next_free; /* in ptx_private.free_threads */
	_Atomic uint32_t is_listed; /* in ptx_private.threads */
	_Atomic uint32_t is_stacked;
	_Atomic uint32_t taken;
	_Atomic uint32_t pid; /* written last; 0: wiped, the process has forked, or nobody's */
	uint32_t tid;
	uint64_t self; /* pthread_self() */
	uint32_t slot[PTX_STREAMS];
	uint64_t slot_serial[PTX_STREAMS];
	struct ptx_cell cell[PTX_LEVELS][PTX_STREAMS];
};

/* The key whose destructor gives a thread's rings back; from the library's constructor. */
void ptx_threads_init(void);

/*
 * Makes sure that the next count threads find an object without asking the kernel for memory, as
 * far as it has some.
 */
void ptx_threads_prepare(unsigned count);

/* The same for many threads, before the process becomes quiet: address space, and no memory yet. */
void ptx_threads_reserve(void);

/* The calling thread's object, made if need be; NULL without memory. self may be nobody. */
extern _Thread_local _Atomic(struct ptx_thread *) ptx_thread_self
	__attribute__((tls_model("initial-exec")));

/* A thread's object before it has one: its level 0 is always in use. */
extern struct ptx_thread ptx_thread_nobody;
struct ptx_thread *ptx_thread_make(void);

/*
 * In a child, whose only thread's object was wiped by the fork: it gets another with its next
 * event. The old one stays as it is, for a frame that the fork interrupted may go on with it; it
 * finds no stream there.
 */
void ptx_thread_leave(void);

/* Of the calling thread in a child that knows nothing of itself yet: the id of its process. */
uint32_t ptx_thread_child_pid(void);

/* Lets the child of the fork that follows learn its id without a system call. */
void ptx_thread_before_fork(void);

/* The object is such an old one, or nobody. */
ptx_inline bool ptx_thread_is_left(const struct ptx_thread *thread)
{
	return thread->pid == 0;
}

/*
 * A thread that must not read the clock: it makes no events, and they are counted as lost. It leads
 * to the long way since it has no object; its former one, or NULL, says whose losses they are.
 */
extern _Thread_local bool ptx_thread_is_blind __attribute__((tls_model("initial-exec")));
void ptx_thread_blind(bool is_blind);
struct ptx_thread *ptx_thread_blind_object(void);

/* A level for a trace point at frame, PTX_LEVELS if all are in use. */
unsigned ptx_thread_nest(struct ptx_thread *thread, const void *frame);

/* Fills in who the thread is for a stream. */
void ptx_thread_identify(struct ptx_thread *thread, struct ptx_view *view,
			 struct ptx_ident *ident);

/* A ring for the thread at level; false: the event is lost by *loss. */
bool ptx_thread_join(struct ptx_thread *thread, unsigned level, struct ptx_view *view,
		     enum ptx_writer_loss *loss);

/*
 * The thread still holds its ring at level. If not, the cell is given up, and the thread must join
 * again.
 */
bool ptx_thread_holds(struct ptx_cell *cell, const struct ptx_view *view);

/* The last trace point at level did not return: makes its rings whole again. */
void ptx_thread_mend(struct ptx_thread *thread, unsigned level);

/* Ends threads that died without telling: no key for a destructor, or tracing after the last one.
 * True if there was one. */
bool ptx_threads_sweep(void);

/* A chunk that has no room, which leads to the long way. */
extern struct ptx_chunk ptx_thread_nowhere;

/*
 * What threads keep of streams counts no more, whatever the control word says, which others can
 * write: before ptx_barrier(), by who frees views.
 */
void ptx_threads_drop_lanes(void);

/* True if some thread but self is inside a trace point; call after ptx_barrier(). */
bool ptx_threads_busy(const struct ptx_thread *self);

#endif
