/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/probe.h"

static int alloc(int argc, char **argv)
{
	char *memory, *more;
	void *aligned;

	(void)argc, (void)argv;
	errno = 4711;
	memory = malloc(1001);
	MUST(memory);
	memset(memory, 'x', 1001);
	more = realloc(memory, 100002);
	MUST(more && more[1000] == 'x' && malloc_usable_size(more) >= 100002);
	free(more);
	memory = calloc(33, 77);
	MUST(memory && !memory[33 * 77 - 1]);
	free(memory);
	MUST(posix_memalign(&aligned, 256, 5003) == 0 && (uintptr_t)aligned % 256 == 0);
	free(aligned);
	aligned = aligned_alloc(64, 6400);
	MUST(aligned && (uintptr_t)aligned % 64 == 0);
	free(aligned);
	aligned = valloc(7004);
	MUST(aligned && (uintptr_t)aligned % 4096 == 0);
	free(aligned);
	free(NULL);
	MUST(posix_memalign(&aligned, 3, 8) == EINVAL);
	aligned = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(aligned != MAP_FAILED);
	aligned = mremap(aligned, 8192, 16384, MREMAP_MAYMOVE);
	MUST(aligned != MAP_FAILED && munmap(aligned, 16384) == 0);
	MUST(errno == 4711);
	MUST(malloc(SIZE_MAX / 2) == NULL && errno == ENOMEM);
	errno = 0;
	MUST(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	MUST(errno == EINVAL);
	return 0;
}

/* Returns the bytes of locked memory. */
static long locked_bytes(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long kib = -1;

	MUST(file);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "VmLck: %ld", &kib) == 1)
			break;
	fclose(file);
	return kib * 1024;
}

static void limit_locks(rlim_t bytes)
{
	struct rlimit limit;

	MUST(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
	limit.rlim_cur = bytes;
	MUST(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
}

static void drop_privileges(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	MUST(syscall(SYS_capset, &head, none) == 0);
}

/* Locks all memory. If this fails, later mappings must not be locked. */
static int alloc_lock_once(int argc, char **argv)
{
	const rlim_t limit = (rlim_t)8 << 20;

	(void)argc;
	(void)argv;
	drop_privileges();
	limit_locks(limit);
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0)
		return 0;
	MUST(errno == ENOMEM && locked_bytes() == 0);
	MUST(mmap(NULL, limit, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	return 0;
}

/* Locks the memory of a program without privilege, under limits. */
static int alloc_lock(int argc, char **argv)
{
	const rlim_t limit = (rlim_t)8 << 20;

	(void)argc;
	(void)argv;
	drop_privileges();
	limit_locks(65536);
	errno = 0;
	MUST(mlockall(MCL_CURRENT) == -1 && errno == ENOMEM && locked_bytes() == 0);
	MUST(mlockall(MCL_CURRENT | 64) == -1 && errno == EINVAL);
	limit_locks(limit);
	errno = 4711;
	MUST(mlockall(MCL_CURRENT) == 0 && errno == 4711);
	MUST(locked_bytes() > 65536 && (rlim_t)locked_bytes() <= limit);
	MUST(munlockall() == 0 && locked_bytes() == 0);
	MUST(mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0);
	MUST(locked_bytes() > 65536);
	/* A new mapping is locked, too. */
	MUST(mmap(NULL, limit, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	MUST(errno == EAGAIN);
	/* Without MCL_FUTURE, new mappings are no longer locked. */
	MUST(mlockall(MCL_CURRENT) == 0 && locked_bytes() > 65536);
	MUST(mmap(NULL, limit, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	return 0;
}

const struct probe probes_alloc[] = { { "alloc", alloc }, { "alloc-lock", alloc_lock },
				      { "alloc-lock-once", alloc_lock_once }, { 0 } };
