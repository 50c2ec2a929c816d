/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_slot.h - the active calls of patched functions, for patch_hook.c, where most calls
 * begin, and for patch_call.c.
 *
 * Threads   the thread that acquired a slot uses it. If a coroutine acquired the slot and moves to
 *           another thread, that thread uses the slot.
 * Signals   everything here is async-signal-safe.
 */
#ifndef PTX_PRELOAD_PATCH_SLOT_H
#define PTX_PRELOAD_PATCH_SLOT_H

#include "preload/patch.h"
#include "preload/patch_value.h"
#include "preload/shim.h"

#if defined __x86_64__

/* The first fields of a call's event behind the duration, as SHIM_CALL_FIELDS describes them. */
struct shim_call_data {
	uint64_t function;
	uint32_t depth;
} __attribute__((packed));

/*
 * A slot in use. The member `function` is 0 after the end of the function was recorded, and in a
 * free slot.
 */
struct shim_slot {
	_Alignas(64) _Atomic uint64_t function;
	const void *place;     /* where on the stack the return address is */
	uint64_t begin;        /* a stamp */
	/* The thread in which the function began: the address of its shim_spare. */
	const void *thread;
	/* The thread whose exception may leave the frame, or NULL. */
	_Atomic(const void *) mark;
	_Atomic uint32_t next; /* of a free slot: the next free slot in the list; 0: none */
	uint32_t depth;
	/* Describes the arguments, which are in shim_slot_values; NULL: they are not recorded. */
	const struct shim_probe *probe;
};
/*
 * SHIM_SLOTS slots, or NULL until the first plan. They are mapped only if a plan has functions,
 * because writable memory of the library counts for the program's limit RLIMIT_DATA.
 */
extern struct shim_slot *shim_slot;

/*
 * Returns the next slot behind `slot` that was used at any time, or 0 if there is none. A caller
 * that begins with 0 visits all such slots.
 */
uint32_t shim_slot_after(uint32_t slot);

#define SHIM_SLOT_TEXTS  256 /* bytes for all text arguments; a text result has as many more */
#define SHIM_SLOT_VALUES SHIM_VALUE_BYTES(SHIM_SLOT_TEXTS)

/*
 * The values that a function's arguments had when the function began. The pointer is NULL if no
 * plan has functions with arguments.
 */
struct shim_slot_values {
	uint32_t bytes;
	unsigned char data[SHIM_SLOT_VALUES];
};
extern struct shim_slot_values *shim_slot_values;

/*
 * A slot that the thread has given back and will use for its next call; 0: none. The address of
 * this variable identifies the thread.
 */
extern _Thread_local uint32_t shim_spare __attribute__((tls_model("initial-exec")));

/* The number of traced functions that are active in the thread. */
extern _Thread_local uint32_t shim_depth __attribute__((tls_model("initial-exec")));

/* The kernel's number of the thread; 0: not known yet. */
extern _Thread_local uint32_t shim_tid __attribute__((tls_model("initial-exec")));

/* True if the clock that stamps events is the processor's counter. */
extern bool shim_has_counter;

/*
 * Two readings of the counter differ by less than this number of ticks, even if the thread is
 * interrupted between them. A stamp of another clock differs by more.
 */
#define SHIM_COUNTER_NEAR UINT64_C(100000000000)

/* Returns whether a stamp, which was just read, is from the processor's counter. */
shim_inline bool shim_is_counter(uint64_t stamp)
{
	return stamp && stamp - __builtin_ia32_rdtsc() + SHIM_COUNTER_NEAR < 2 * SHIM_COUNTER_NEAR;
}

/*
 * Points to the address of this process's active calls in the memory file. The address is NULL if
 * there is no memory file, and in a child of fork() until shim_open_in_child() is called.
 */
extern struct shim_open **shim_open_own;

/* Notes in the memory file that a call is active. shim_open_clear() removes this note. */
shim_inline void shim_open_note(uint32_t slot, uint64_t function)
{
	struct shim_open *open = *shim_open_own;

	if (!open)
		return;
	open += slot;
	open->begin = shim_slot[slot].begin;
	open->tid = shim_tid;
	open->depth = shim_slot[slot].depth;
	/* The function is stored last: if it is not 0, posixtrace reads the other members. */
	__atomic_store_n(&open->function, function, __ATOMIC_RELEASE);
}

shim_inline void shim_open_clear(uint32_t slot)
{
	struct shim_open *open = *shim_open_own;

	if (open)
		__atomic_store_n(&open[slot].function, 0, __ATOMIC_RELAXED);
}

/* Maps the memory file that a plan names. `path` is the path of the plan, /proc/PID/fd/N. */
void shim_open_begin(const char *path, int fd);
/* In a child of fork(): the calls of the thread that forked are active here, too. */
void shim_open_in_child(void);
/* At the end of the process: records the calls of this thread that are still active. */
void shim_open_end(void);

/*
 * If the word has the value `from`, stores the value `to`. Returns whether it was stored. Only this
 * thread and its signal handlers change the word. A signal handler runs before or after the
 * instruction, never inside it. So the instruction needs no lock prefix, which would cost four
 * times as much.
 */
shim_inline bool shim_exchange_own(uint32_t *word, uint32_t from, uint32_t to)
{
	bool is_done;

	__asm__ volatile("cmpxchgl %3, %1"
			 : "=@ccz"(is_done), "+m"(*word), "+a"(from)
			 : "r"(to)
			 : "memory");
	return is_done;
}

/*
 * Begins a call: after this, the function returns to the slot. `caller` is the function's return
 * address, which is at `place`. If the arguments are recorded, shim_slot_values already has them.
 */
shim_inline void shim_slot_begin(uint32_t number, uint64_t function, const void **place,
				 const void *caller, const struct shim_probe *probe,
				 uint64_t begin)
{
	struct shim_slot *slot = &shim_slot[number];

	/*
	 * Until *place changes, the function returns as if it were not patched. If a signal handler
	 * leaves here by siglongjmp(), the slot stays in use.
	 */
	*(const void **)(void *)(shim_slot_returns + SHIM_SLOT_BYTES * (size_t)number) = caller;
	slot->place = place;
	slot->thread = &shim_spare;
	slot->begin = begin;
	slot->depth = shim_depth;
	slot->probe = probe;
	atomic_store_explicit(&slot->mark, NULL, memory_order_relaxed);
	atomic_store_explicit(&slot->function, function, memory_order_relaxed);
	/*
	 * A signal handler of this thread may unwind the stack after *place has changed. So the
	 * slot must be complete before that.
	 */
	atomic_signal_fence(memory_order_seq_cst);
	*place = shim_slots + SHIM_SLOT_BYTES * (size_t)number;
	shim_depth = slot->depth + 1;
	shim_open_note(number, function);
}

#endif
#endif
