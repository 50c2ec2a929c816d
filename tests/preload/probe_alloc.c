/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

const struct probe probes_alloc[] = { { "alloc", alloc }, { 0 } };
