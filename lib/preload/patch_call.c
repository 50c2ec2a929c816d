/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_call.c - handles the beginning and the end of a patched function: its event and its
 * slot.
 *
 * Each thread keeps the slot that it has used last, so that most calls need no list. All other free
 * slots are in lists. When a thread needs a list for the first time, it gets the next list in a
 * fixed rotation, so that threads seldom share a list. The head of a list has the number of the
 * first slot and a count of the list's changes. If another thread or a signal handler changes the
 * list between the load and the exchange of the head, the exchange fails. No function of this file
 * waits.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "preload/patch_slot.h"

#if defined __x86_64__

/*
 * With more lists, fewer threads would share a list. But each list would have fewer slots, and a
 * deep recursion would need slots of the lists of other threads.
 */
#define LISTS      16
#define LIST_SLOTS (SHIM_SLOTS / LISTS)

struct shim_slot *shim_slot;
struct shim_slot_values *shim_slot_values;

/* `fresh` is the number of slots of this list that were ever used. */
static struct list {
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint32_t fresh;
} lists[LISTS];

static _Atomic unsigned next_list;
/* The index of the thread's list plus 1, or 0 before a list is chosen. */
static _Thread_local unsigned my_list __attribute__((tls_model("initial-exec")));
/* True if the thread has marked slots, because an exception was thrown and not caught yet. */
static _Thread_local bool is_marked __attribute__((tls_model("initial-exec")));

_Thread_local uint32_t shim_spare __attribute__((tls_model("initial-exec")));
_Thread_local uint32_t shim_depth __attribute__((tls_model("initial-exec")));
_Thread_local uint32_t shim_tid __attribute__((tls_model("initial-exec")));
bool shim_has_counter;

/* Removes a free slot from the list and returns it. Returns 0 if the list has no free slot. */
static uint32_t take_from(unsigned index)
{
	struct list *list = &lists[index];
	uint64_t head = atomic_load_explicit(&list->head, memory_order_acquire);
	uint32_t fresh;

	/*
	 * Another thread may acquire the slot while its member `next` is read. Then the count in
	 * the head has changed, and the exchange fails.
	 */
	while ((uint32_t)head) {
		uint32_t first = (uint32_t)head;
		uint64_t next = atomic_load_explicit(&shim_slot[first].next, memory_order_relaxed);

		/*
		 * The acquire pairs with the release in give_to_list(). The stores of the former
		 * user of the slot are then visible.
		 */
		if (atomic_compare_exchange_weak_explicit(
			    &list->head, &head, ((head >> 32) + 1) << 32 | next,
			    memory_order_acq_rel, memory_order_acquire))
			return first;
	}
	fresh = atomic_load_explicit(&list->fresh, memory_order_relaxed);
	while (fresh < LIST_SLOTS)
		if (atomic_compare_exchange_weak_explicit(&list->fresh, &fresh, fresh + 1,
							  memory_order_relaxed,
							  memory_order_relaxed)) {
			/* Slot 0 is never used (see patch_enter.c). */
			if (index * LIST_SLOTS + fresh)
				return index * LIST_SLOTS + fresh;
			fresh++;
		}
	return 0;
}

/* In each list, only the first `fresh` slots were ever used. */
uint32_t shim_slot_after(uint32_t slot)
{
	while (++slot < SHIM_SLOTS) {
		if (slot % LIST_SLOTS < atomic_load_explicit(&lists[slot / LIST_SLOTS].fresh,
							     memory_order_relaxed))
			return slot;
		slot |= LIST_SLOTS - 1;
	}
	return 0;
}

/*
 * Acquires a slot. If the thread's own list is empty, the slot is from another list. Returns 0 if
 * all slots are in use. A thread always uses its own list first. So it gets the slot that it gave
 * back last, which is still in the processor's cache.
 */
static uint32_t take_slot(void)
{
	uint32_t slot = shim_spare;

	if (slot && shim_exchange_own(&shim_spare, slot, 0))
		return slot;
	slot = 0;
	if (shim_unlikely(!my_list))
		my_list = atomic_fetch_add_explicit(&next_list, 1, memory_order_relaxed) % LISTS +
			  1;
	for (unsigned i = 0; i < LISTS && !slot; i++)
		slot = take_from((my_list - 1 + i) % LISTS);
	return slot;
}

/*
 * Puts a slot into the list of this thread, because the thread will soon need a slot again. If a
 * coroutine has moved to this thread, the slot may be one that another thread acquired.
 */
static void give_to_list(uint32_t slot)
{
	struct list *list = &lists[my_list ? my_list - 1 : 0];
	uint64_t head = atomic_load_explicit(&list->head, memory_order_relaxed);

	do
		atomic_store_explicit(&shim_slot[slot].next, (uint32_t)head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&list->head, &head,
						      ((head >> 32) + 1) << 32 | slot,
						      memory_order_release, memory_order_relaxed));
}

/*
 * A thread gives its spare slot back when it ends. The destructor of a thread-specific key does
 * that, because the shim does not see the end of every thread. Only a key below KEYS is used: for
 * these keys pthread_setspecific() allocates no memory, so it may be called in a signal handler.
 */
#define KEYS 32
static pthread_key_t key;
static bool has_key;
/* True if the destructor will be called for this thread. */
static _Thread_local bool has_destructor __attribute__((tls_model("initial-exec")));

/*
 * True if the thread is ending. Functions that the thread calls in later destructors keep no spare
 * slot. Even after the last destructor the C library calls free(), which may be a function of the
 * program.
 */
static _Thread_local bool is_ending __attribute__((tls_model("initial-exec")));

static void give_spare(void *unused)
{
	uint32_t slot = shim_spare;

	(void)unused;
	has_destructor = false;
	is_ending = true;
	if (slot && shim_exchange_own(&shim_spare, slot, 0))
		give_to_list(slot);
}

/* Returns whether the thread may keep a slot. */
static bool may_keep(void)
{
	if (shim_unlikely(!has_destructor))
		has_destructor = has_key && !is_ending && !pthread_setspecific(key, &key);
	return has_destructor;
}

/* Gives a slot back. The thread keeps it as its spare slot if it has no spare slot yet. */
static void give_slot(uint32_t slot)
{
	if (shim_spare || !may_keep() || !shim_exchange_own(&shim_spare, 0, slot))
		give_to_list(slot);
}

/*
 * Returns where the real return address of a slot is. The place is a fixed distance behind the
 * slot, which call frame information can express.
 */
static const void **return_of(uint32_t slot)
{
	return (const void **)(void *)(shim_slot_returns + SHIM_SLOT_BYTES * (size_t)slot);
}

/* Returns the number of the slot that contains an address; 0: no slot contains the address. */
static uint32_t slot_at(const void *address)
{
	uintptr_t offset = (uintptr_t)address - (uintptr_t)shim_slots;

	return offset < sizeof shim_slots ? (uint32_t)(offset / SHIM_SLOT_BYTES) : 0;
}

/*
 * Records the call of a function with arguments. The event has the fields of every call, the
 * arguments as they were at the beginning of the function, and its result. `registers` is NULL if
 * the function was left without a return; the event then has no result.
 */
static void record_values(uint32_t slot, const struct shim_call_data *head,
			  const struct shim_registers *registers)
{
	const struct shim_probe *probe = shim_slot[slot].probe;
	const struct shim_slot_values *values = &shim_slot_values[slot];
	unsigned char data[sizeof *head + SHIM_SLOT_VALUES + SHIM_VALUE_BYTES(SHIM_SLOT_TEXTS)];
	size_t len = sizeof *head;
	int saved = errno;

	memcpy(data, head, len);
	memcpy(data + len, values->data, values->bytes);
	len += values->bytes;
	if (probe->results && registers)
		len += shim_values_put(data + len, SHIM_SLOT_TEXTS,
				       probe->argument + probe->arguments, 1, registers,
				       probe->base, true);
	posix_trace_event_since_np(probe->id, shim_slot[slot].begin, data, len, *return_of(slot));
	errno = saved;
}

/*
 * Records the call of the slot's function, unless it was recorded already. A signal handler may
 * interrupt this function and leave the same frame by longjmp(). The exchange makes sure that
 * either this function or the handler records the call. Both run in one thread, so the instruction
 * needs no lock prefix. `registers` has the function's result; NULL means that the function was
 * left without a return.
 */
static void close_slot(uint32_t slot, const struct shim_registers *registers)
{
	const struct shim_probe *probe = shim_slot[slot].probe;
	const trace_event_id_t id = probe ? probe->id : shim_id[FUNC_CALL];
	uint64_t function = atomic_load_explicit(&shim_slot[slot].function, memory_order_relaxed);
	uint64_t expected = function;
	const struct shim_call_data data = { function, shim_slot[slot].depth };

	__asm__ volatile("cmpxchgq %2, %0"
			 : "+m"(shim_slot[slot].function), "+a"(expected)
			 : "r"(UINT64_C(0))
			 : "memory", "cc");
	shim_depth = data.depth;
	if (!function || expected != function)
		return;
	if (*shim_switch[FUNC_CALL]) {
		if (shim_unlikely(atomic_load_explicit(&shim_unreported, memory_order_relaxed)))
			shim_report_lost();
		if (shim_unlikely(!id))
			shim_lose_unnamed();
		else if (shim_unlikely(probe != NULL))
			record_values(slot, &data, registers);
		else
			posix_trace_event_since_np(id, shim_slot[slot].begin, &data,
						   sizeof data, *return_of(slot));
	}
	shim_open_clear(slot);
}

/*
 * Returns the stamp for the beginning of a call. If the stamp is from the processor's counter,
 * patch_hook.c will read the counter itself for later calls.
 */
static uint64_t stamp_now(void)
{
	uint64_t stamp = shim_is_blind ? 0 : posix_trace_stamp_np();

	if (!shim_has_counter)
		shim_has_counter = shim_is_counter(stamp);
	return stamp;
}

/*
 * Stores the arguments of a function into the memory of its slot, if they are recorded. Returns
 * NULL if they are not recorded.
 */
static const struct shim_probe *keep_values(uint32_t slot, const struct shim_probe *probe,
					    const struct shim_registers *registers)
{
	struct shim_slot_values *values = &shim_slot_values[slot];
	int saved = errno;

	if (!probe || !shim_slot_values)
		return NULL;
	values->bytes = (uint32_t)shim_values_put(values->data, SHIM_SLOT_TEXTS, probe->argument,
						  probe->arguments, registers, probe->base, true);
	errno = saved;
	return probe;
}

/*
 * Returns whether the calls of a function are recorded now. If the event type is skipped, the call
 * is counted. A function with arguments has an event type of its own. A stream may record this type
 * and not FUNC_CALL, or FUNC_CALL and not this type.
 */
static bool is_recorded(const struct shim_probe *probe)
{
	return probe ? shim_records_id(probe->id) : shim_records(FUNC_CALL);
}

/*
 * Called when a function begins and patch_hook.c does not do the work. `place` is where the
 * function's return address is. A function that gets no slot returns as if it were not patched and
 * has no event.
 */
static void enter_function(uint64_t function, const void **place, const struct shim_probe *probe,
			   const struct shim_registers *registers)
{
	const void *caller = *place;
	uint32_t slot = slot_at(caller);

	/*
	 * The return address is already a slot: an earlier function has ended by a jump to this
	 * function. This function will return in place of the earlier function.
	 */
	if (slot && shim_slot[slot].place == place) {
		close_slot(slot, NULL);
		atomic_store_explicit(&shim_slot[slot].mark, NULL, memory_order_relaxed);
		if (!is_recorded(probe))
			return;
		shim_slot[slot].probe = keep_values(slot, probe, registers);
		shim_slot[slot].begin = stamp_now();
		shim_slot[slot].depth = shim_depth++;
		atomic_store_explicit(&shim_slot[slot].function, function, memory_order_relaxed);
		shim_open_note(slot, function);
		return;
	}
	/* Calls that the shim or libposixtrace makes are not traced; they get no slot. */
	if (!shim_is_wanted(FUNC_CALL, caller))
		return;
	/* A call whose event is filtered out or skipped needs no slot: the call is counted here. */
	if (!is_recorded(probe))
		return;
	slot = take_slot();
	if (!slot) {
		shim_lose_unnamed();
		return;
	}
	if (!shim_tid && !shim_is_quiet())
		shim_tid = (uint32_t)syscall(SYS_gettid);
	probe = keep_values(slot, probe, registers);
	shim_slot_begin(slot, function, place, caller, probe, stamp_now());
}

/* Called by shim_patch_return when a function has returned to the slot that contains `at`. */
__attribute__((used)) void shim_function_leaves(const unsigned char *at, const uint64_t *frame,
						 const unsigned char *vectors);
void shim_function_leaves(const unsigned char *at, const uint64_t *frame,
			  const unsigned char *vectors)
{
	const struct shim_registers registers = { .frame = frame, .vectors = vectors };
	uint32_t slot = slot_at(at);

	/*
	 * The slot may have been marked at a throw that did not leave this function. A free slot
	 * must not have a mark, because leave_frames() would free it again.
	 */
	atomic_store_explicit(&shim_slot[slot].mark, NULL, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	/*
	 * The event needs the return address in the slot, so it is recorded before the slot is
	 * given back.
	 */
	close_slot(slot, &registers);
	give_slot(slot);
}

/* ------------------------------------------------------------------ frames that never return */

/*
 * An exception leaves frames that never return. Addresses alone do not show which frames these are:
 * another stack may be at any address, and a library may have copied a part of this stack
 * elsewhere. Only the unwinder can find the frames. So at the throw, the slots of all frames are
 * marked. At the catch, a marked slot is freed if its frame is below the handler's frame. The slot
 * cannot be freed earlier, because the unwinder reads the return addresses until then.
 *
 * The unwinder is in libgcc_s.so.1. If this library cannot be loaded, such slots stay in use.
 */
static _Unwind_Reason_Code (*walk_frames)(_Unwind_Trace_Fn, void *);

/*
 * Callback of _Unwind_Backtrace(): marks the slot to which a frame returns, and stores the address
 * of the frame in *arg.
 */
static _Unwind_Reason_Code mark_frame(struct _Unwind_Context *frame, void *arg)
{
	uint32_t slot = slot_at((const void *)_Unwind_GetIP(frame));
	uintptr_t *last = arg;

	*last = _Unwind_GetCFA(frame);
	if (slot) {
		atomic_store_explicit(&shim_slot[slot].mark, &shim_spare, memory_order_relaxed);
		is_marked = true;
	}
	return _URC_NO_REASON;
}

/*
 * Marks the slots of all frames. Returns the address of the outermost frame, or 0 if there is no
 * unwinder.
 */
static uintptr_t mark_frames(void)
{
	uintptr_t last = 0;

	if (walk_frames)
		walk_frames(mark_frame, &last);
	return last;
}

#define MOST_LEFT 256 /* frames that are sorted in one step */

/*
 * Records the end of the functions whose marked frames are not above `place`, from the innermost
 * one outwards, and frees their slots. Removes all marks of this thread. At a catch, `place` is
 * where the return address of the handler's call of __cxa_begin_catch() is. A slot at `place`
 * itself belongs to an earlier call from the handler's frame, which the exception has left.
 */
static void leave_frames(const void *place)
{
	uint32_t left[MOST_LEFT];
	unsigned count;

	if (!is_marked)
		return;
	is_marked = false;
	do {
		count = 0;
		for (uint32_t i = 0; count < MOST_LEFT && (i = shim_slot_after(i)) != 0;) {
			unsigned at = count;

			if (atomic_load_explicit(&shim_slot[i].mark, memory_order_relaxed) !=
			    &shim_spare)
				continue;
			atomic_store_explicit(&shim_slot[i].mark, NULL, memory_order_relaxed);
			if ((uintptr_t)shim_slot[i].place > (uintptr_t)place)
				continue;
			for (; at && shim_slot[left[at - 1]].place > shim_slot[i].place; at--)
				left[at] = left[at - 1];
			left[at] = i;
			count++;
		}
		for (unsigned i = 0; i < count; i++) {
			close_slot(left[i], NULL);
			give_slot(left[i]);
		}
	} while (count == MOST_LEFT);
}

/*
 * Returns the stack pointer in the buffer of setjmp(). The C library has scrambled the pointer with
 * a word from the thread's descriptor.
 */
static uintptr_t stack_pointer_of(const jmp_buf buffer)
{
	uintptr_t value = (uintptr_t)buffer[0].__jmpbuf[6], guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return (value >> 17 | value << 47) ^ guard;
}

/*
 * longjmp() is about to leave frames of this stack, or to switch to another stack. After such a
 * switch the program may return to this stack, so no frame counts as left.
 */
static void patch_call_jump(const jmp_buf buffer)
{
	uintptr_t target = stack_pointer_of(buffer);
	bool was_marked = is_marked;
	uintptr_t last;

	/*
	 * If slots are marked because of an exception, the marks are kept and this jump is ignored.
	 * That is acceptable, because a destructor seldom jumps.
	 */
	if (was_marked)
		return;
	last = mark_frames();
	leave_frames(target <= last ? (const void *)(target - 1) : NULL);
}

void shim_patch_thread_ends(void)
{
	leave_frames((const void *)UINTPTR_MAX);
	/*
	 * give_spare() also marks the thread as ending. Otherwise a thread without a destructor
	 * could register one after the last destructors have run.
	 */
	give_spare(NULL);
}

/*
 * Called by shim_patch_enter at the beginning of a patched function. `code` is the address behind
 * the call in the trampoline, which is the member `code` of struct shim_trampoline.
 */
__attribute__((used)) void shim_function_enters(const unsigned char *code, const void **place,
						 const unsigned char *vectors);
void shim_function_enters(const unsigned char *code, const void **place,
			  const unsigned char *vectors)
{
	/* The saved rbp is two words below the return address. */
	const struct shim_registers registers = {
		.frame = (const uint64_t *)place - 2, .vectors = vectors,
		.stack = (uint64_t)(uintptr_t)place,
	};
	const struct shim_trampoline *trampoline =
		(const void *)(code - offsetof(struct shim_trampoline, code));

	switch (trampoline->kind) {
	case SHIM_SITE_FUNCTION:
		if (*shim_switch[FUNC_CALL])
			enter_function(trampoline->function, place, trampoline->probe, &registers);
		break;
	case SHIM_SITE_THROW:
		mark_frames();
		break;
	case SHIM_SITE_CATCH:
		leave_frames(place);
		break;
	case SHIM_SITE_JUMP:
		/* shim_patch_enter has pushed rdi, the first argument, here. */
		patch_call_jump(place[-7]);
		break;
	}
}

static shim_start_data bool are_used;

bool shim_slots_are_used(void)
{
	return are_used;
}

/*
 * Maps an array with an element for each slot. The array is large, but its pages need no memory as
 * long as their slots are not used. Returns NULL if there is no memory.
 */
static void *map_array(size_t element_bytes)
{
	void *memory = mmap(NULL, SHIM_SLOTS * element_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool shim_slots_keep_values(void)
{
	if (!shim_slot_values)
		shim_slot_values = map_array(sizeof *shim_slot_values);
	return shim_slot_values;
}

bool shim_slots_begin(void)
{
	/* The library stays loaded, as it does after the first backtrace(). */
	void *library = dlopen("libgcc_s.so.1", RTLD_LAZY);

	walk_frames = (_Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void *))(
		library ? dlsym(library, "_Unwind_Backtrace") : NULL);
	if (!has_key && !pthread_key_create(&key, give_spare)) {
		has_key = key < KEYS;
		if (!has_key)
			pthread_key_delete(key);
	}
	if (!shim_slot)
		shim_slot = map_array(sizeof *shim_slot);
	if (!shim_slot)
		return false;
	/*
	 * Writable pages replace the pages of shim_slot_returns, which are in the shim's text. For
	 * unwinders, these addresses still belong to the shim.
	 */
	are_used = mmap(shim_slot_returns, sizeof shim_slot_returns, PROT_READ | PROT_WRITE,
			MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == shim_slot_returns;
	return are_used;
}

#endif
