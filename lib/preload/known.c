/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/known.h"

#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define RANGES    256
/* Linux maps nothing so close below the first stack's end. */
#define STACK_GAP ((uintptr_t)100 << 20)

extern void *__libc_stack_end;

static struct range {
	uintptr_t begin, end;
} ranges[RANGES];
static unsigned range_count;
static uintptr_t heap_begin, stack_end;

static int note(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	(void)bytes, (void)arg;
	for (int i = 0; i < object->dlpi_phnum && range_count < RANGES; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && (header->p_flags & PF_R))
			ranges[range_count++] = (struct range){ begin, begin + header->p_memsz };
	}
	return 0;
}

void shim_know(void)
{
	const char *last = (const char *)getauxval(AT_EXECFN); /* the stack's last string */
	uintptr_t limit = (uintptr_t)sbrk(0);
	void *some = malloc(1);

	stack_end = last ? (uintptr_t)last + strlen(last) + 1 : (uintptr_t)__libc_stack_end;
	heap_begin = some && (uintptr_t)some < limit ? (uintptr_t)some & ~(uintptr_t)4095 : limit;
	free(some);
	dl_iterate_phdr(note, NULL);
}

static bool is_on_stack(uintptr_t address)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uintptr_t end = (uintptr_t)pthread_self(); /* glibc keeps it at the stack's end */

	if (frame < stack_end && stack_end - frame < STACK_GAP)
		end = stack_end;
	return address >= frame && address < end;
}

bool shim_is_known(const void *from)
{
	uintptr_t address = (uintptr_t)from;

	if (is_on_stack(address))
		return true;
	if (address >= heap_begin && heap_begin && address < (uintptr_t)sbrk(0))
		return true;
	for (unsigned i = 0; i < range_count; i++)
		if (address >= ranges[i].begin && address < ranges[i].end)
			return true;
	return false;
}
