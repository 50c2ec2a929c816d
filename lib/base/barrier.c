/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/barrier.c - the asymmetric memory barrier, by membarrier(2) or by a TLB shootdown.
 *
 * The writer of an event executes no fence. The reader of a stream makes every running writer
 * thread execute a full barrier instead, because reading is rare and recording is frequent. The
 * orderings that depend on this barrier have letters in ring/ring.h.
 *
 * Relies on Linux: membarrier(2) since 4.3, its expedited commands since 4.14 and 4.16. No
 * function of this file is a cancellation point and none changes errno.
 */
#include "base/barrier.h"
#include "base/compiler.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

/*
 * False if POSIXTRACE_MEMBARRIER begins with "0". Only ptx_barrier_init() stores it, in the
 * library's constructor. Until then it is false, which is the safe value.
 */
static ptx_start_data bool may_ask;

/*
 * Returns the kernel's answer, which is 0 or more, or -1 with errno. The C library has no wrapper.
 */
static int barrier_membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

void ptx_barrier_init(void)
{
	int saved = errno;
	const char *wish = secure_getenv("POSIXTRACE_MEMBARRIER");

	/*
	 * secure_getenv() is used, because a set-user-ID program must not obey its caller's
	 * environment. Some sandboxes kill a process that calls membarrier(2). Their users set the
	 * variable to "0" so that this process never makes the call.
	 */
	may_ask = !wish || wish[0] != '0';
	/*
	 * The first command registers this process for barriers that other processes make by
	 * ptx_barrier_everywhere(). The second command registers the process for barriers that this
	 * process makes by ptx_barrier(). If a process with several threads registers, the kernel
	 * waits until all processors have passed a barrier. The library therefore registers in its
	 * constructor, where most processes have one thread.
	 *
	 * The results are not checked: on an old kernel each later barrier reports the failure.
	 */
	if (may_ask) {
		barrier_membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
		barrier_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
	}
	errno = saved;
}

/*
 * Makes a barrier on the threads of this process by membarrier(2). Returns false if the kernel
 * refuses.
 *
 * The kernel answers EPERM if the registration by ptx_barrier_init() failed. The function then
 * registers the process and calls membarrier(2) again.
 */
static bool barrier_by_membarrier(void)
{
	if (!may_ask)
		return false;
	if (barrier_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
		return true;
	return errno == EPERM &&
	       barrier_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
	       barrier_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

/*
 * Makes a barrier on the threads of this process without membarrier(2). Returns false if this is
 * not possible on this machine.
 *
 * A process may unmap a page that it has used. An x86 kernel then interrupts every other processor
 * that runs a thread of the process, so that these processors discard their TLB entries. An
 * interrupt is a full barrier. munmap() returns after all processors have answered.
 *
 * With INVLPGB (CPUID 0x80000008, EBX bit 3), one processor invalidates the TLB entries of all
 * others without an interrupt. On such a processor munmap() is no barrier, so the function returns
 * false.
 */
static bool barrier_by_shootdown(void)
{
#if defined __x86_64__
	unsigned a, b, c, d;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	if (__get_cpuid(0x80000008, &a, &b, &c, &d) && (b & (1u << 3))) {
		munmap(page, size);
		return false;
	}
	/*
	 * Without this store the page has no TLB entry and no physical memory, and munmap() would
	 * interrupt no processor. volatile keeps the compiler from removing the store.
	 */
	*(volatile char *)page = 1;
	return munmap(page, size) == 0;
#else
	return false;
#endif
}

bool ptx_barrier_everywhere(void)
{
	int saved = errno;
	bool done;

	/*
	 * The fences keep the accesses of this thread in the order of the program, for the compiler
	 * and for the processor. They are needed whether or not the kernel makes a barrier.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	/*
	 * This command reaches all processes that have registered by ptx_barrier_init(). The caller
	 * itself need not be registered. barrier_by_shootdown() is no substitute, because it
	 * reaches this process only.
	 */
	done = may_ask && barrier_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
	atomic_thread_fence(memory_order_seq_cst);
	errno = saved;
	return done;
}

bool ptx_barrier(void)
{
	int saved = errno;
	bool done;

	/* As in ptx_barrier_everywhere(): the fences order this thread itself. */
	atomic_thread_fence(memory_order_seq_cst);
	done = barrier_by_membarrier() || barrier_by_shootdown();
	atomic_thread_fence(memory_order_seq_cst);
	errno = saved;
	return done;
}
