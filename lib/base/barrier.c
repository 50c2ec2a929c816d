/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/barrier.h"

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

static bool may_ask;

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

void ptx_barrier_init(void)
{
	int saved = errno;
	const char *wish = secure_getenv("POSIXTRACE_MEMBARRIER");

	/* Some sandboxes kill whoever asks: the variable says not to. */
	may_ask = !wish || wish[0] != '0';
	/* Other processes' barriers reach us, and ours our threads: cheap with one thread. */
	if (may_ask) {
		membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
		membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
	}
	errno = saved;
}

/* A constructor may come here before the library's has made the registration. */
static bool ask(void)
{
	if (!may_ask)
		return false;
	if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
		return true;
	return errno == EPERM && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
	       membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

/*
 * Where membarrier is refused: giving back a page that was in use makes an x86 kernel interrupt
 * every processor that runs a thread of this process, and an interrupt is a full barrier. Not
 * where the processor can tell the others by itself (INVLPGB).
 */
static bool shoot_down(void)
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

	atomic_thread_fence(memory_order_seq_cst);
	done = may_ask && membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
	atomic_thread_fence(memory_order_seq_cst);
	errno = saved;
	return done;
}

bool ptx_barrier(void)
{
	int saved = errno;
	bool done;

	atomic_thread_fence(memory_order_seq_cst);
	done = ask() || shoot_down();
	atomic_thread_fence(memory_order_seq_cst);
	errno = saved;
	return done;
}
