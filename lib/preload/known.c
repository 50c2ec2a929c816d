/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/known.c - ranges of memory that is certainly mapped and readable.
 *
 * Before the shim reads a string of the program, it must make sure that the memory is mapped. A
 * system call could find that out, but it costs too much for each traced call, and a quiet process
 * must not make it. Nearly all strings are in the ranges of this file.
 */
#include "preload/known.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The greatest number of readable segments of objects that are loaded when the program starts. If a
 * program has more segments, memory of the rest is unknown, and the shim makes the system call.
 */
#define RANGES    256
/*
 * Within this distance below the end of the main thread's stack, Linux maps nothing else, because
 * it leaves a gap for the growth of the stack.
 */
#define STACK_GAP ((uintptr_t)100 << 20)
/*
 * The distance above a frame of an unknown stack within which memory counts as a part of the stack.
 * A caller's argument is rarely farther away. If a stack ends within this distance, a wrong pointer
 * into the unmapped memory behind it is not found.
 */
#define STACK_NEAR ((uintptr_t)128 << 10)

extern void *__libc_stack_end;

/* forget_memory() makes a range empty if the program makes a part of the range unreadable. */
static shim_start_zeros struct range {
	uintptr_t begin;
	_Atomic uintptr_t end;
} ranges[RANGES];
static shim_start_data unsigned range_count;
/*
 * The first page of the heap that brk() provides, and the end of the main thread's stack. 0:
 * unknown.
 */
static shim_start_data _Atomic uintptr_t heap_begin;
static shim_start_data uintptr_t stack_end;

/*
 * Callback of dl_iterate_phdr(). PT_LOAD segments of objects that were loaded at the start are
 * never unmapped: dlclose() does not unload them. If the program was already running, only the
 * first object, the program itself, is known to have been loaded at the start. The result is then
 * 1, which ends the walk.
 */
static int note_segments(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	const bool *only_first = arg;

	(void)bytes;
	for (int i = 0; i < object->dlpi_phnum && range_count < RANGES; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && (header->p_flags & PF_R)) {
			ranges[range_count].begin = begin;
			atomic_store_explicit(&ranges[range_count++].end, begin + header->p_memsz,
					      memory_order_relaxed);
		}
	}
	return *only_first;
}

void shim_find_known(bool is_running)
{
	/* The program's name is the last string on the main thread's stack. */
	const char *last = (const char *)getauxval(AT_EXECFN);
	uintptr_t limit = (uintptr_t)sbrk(0);
	/*
	 * malloc() may use mmap(), or may be another allocator. If the memory that it returns is
	 * below the break, that memory is in the heap; its page counts as the first page of the
	 * heap.
	 */
	void *some = malloc(1);

	stack_end = last ? (uintptr_t)last + strlen(last) + 1 : (uintptr_t)__libc_stack_end;
	atomic_store_explicit(&heap_begin,
			      some && (uintptr_t)some < limit ?
				      (uintptr_t)some & ~(uintptr_t)4095 : limit,
			      memory_order_relaxed);
	free(some);
	dl_iterate_phdr(note_segments, &is_running);
}

/*
 * Returns whether the address is on the calling thread's stack, in a frame that is in use. Glibc
 * keeps the descriptor of a thread, except the main thread, at the end of the thread's stack. But
 * the present stack may also be an alternate signal stack or the stack of a coroutine, whose end is
 * not known. So only addresses up to STACK_NEAR above the frame count.
 */
static bool is_on_stack(uintptr_t address)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (address < frame)
		return false;
	/* The known end of the main thread's stack identifies this stack. */
	if (frame < stack_end && stack_end - frame < STACK_GAP)
		return address < stack_end;
	return address - frame < STACK_NEAR && address < (uintptr_t)pthread_self();
}

bool shim_is_lasting(const void *from)
{
	uintptr_t address = (uintptr_t)from;

	if (is_on_stack(address))
		return true;
	for (unsigned i = 0; i < range_count; i++)
		if (address >= ranges[i].begin &&
		    address < atomic_load_explicit(&ranges[i].end, memory_order_relaxed))
			return true;
	return false;
}

bool shim_is_known(const void *from)
{
	uintptr_t address = (uintptr_t)from;
	const uintptr_t heap = atomic_load_explicit(&heap_begin, memory_order_relaxed);

	/*
	 * sbrk(0) makes no system call in glibc. The program may have raised the break since the
	 * start.
	 */
	return (heap && address >= heap && address < (uintptr_t)sbrk(0)) ||
	       shim_is_lasting(from);
}

/*
 * Programs rarely unmap or protect a part of such memory, so the whole heap or segment becomes
 * unknown. It stays unknown even if the program makes the memory readable again.
 */
static void forget_memory(const void *from, size_t bytes)
{
	const uintptr_t begin = (uintptr_t)from;
	const uintptr_t heap = atomic_load_explicit(&heap_begin, memory_order_relaxed);
	uintptr_t end;

	/* The kernel changes whole pages. If the sum is too large, its call fails. */
	if (__builtin_add_overflow(begin, bytes, &end) || __builtin_add_overflow(end, 4095, &end))
		end = UINTPTR_MAX;
	end &= ~(uintptr_t)4095;
	if (heap && end > heap && begin < (uintptr_t)sbrk(0))
		atomic_store_explicit(&heap_begin, 0, memory_order_relaxed);
	for (unsigned i = 0; i < range_count; i++)
		if (end > ranges[i].begin &&
		    begin < atomic_load_explicit(&ranges[i].end, memory_order_relaxed))
			atomic_store_explicit(&ranges[i].end, ranges[i].begin,
					      memory_order_relaxed);
}

/*
 * The function forgets the memory of pkey_mprotect(2) with any protection, because a thread can
 * make the memory of a key unreadable without a system call. brk(2) may lower the break, and the C
 * library does not notice that: sbrk(0) still returns the former break. shmat(2) with SHM_REMAP
 * replaces memory. The end of this memory is not an argument, so the function forgets all memory
 * behind the address.
 */
void shim_forget_by_call(long number, long a, long b, long c, long d, long e)
{
	const void *at = (const void *)a;
	const size_t bytes = (size_t)b;

	switch (number) {
	case SYS_mmap:
		if ((d & MAP_FIXED) && !(c & PROT_READ))
			forget_memory(at, bytes);
		break;
	case SYS_mprotect:
		if (!(c & PROT_READ))
			forget_memory(at, bytes);
		break;
	case SYS_munmap:
	case SYS_pkey_mprotect:
		forget_memory(at, bytes);
		break;
	case SYS_mremap:
		forget_memory(at, bytes);
		if (d & MREMAP_FIXED)
			forget_memory((const void *)e, (size_t)c);
		break;
	case SYS_madvise:
		/* MADV_HWPOISON and MADV_GUARD_INSTALL, which not all headers define. */
		if ((int)c == 100 || (int)c == 102)
			forget_memory(at, bytes);
		break;
	case SYS_brk:
		if (a && (uintptr_t)a < (uintptr_t)sbrk(0))
			forget_memory(at, (uintptr_t)sbrk(0) - (uintptr_t)a);
		break;
	case SYS_shmat:
		if (c & SHM_REMAP)
			forget_memory((const void *)b, SIZE_MAX);
		break;
	}
}
