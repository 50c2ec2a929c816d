/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sem_taken.c - reads the notes of the preload library in the memory of a process. The memory is
 * hostile, and the notes may change meanwhile. A note that is not complete is ignored.
 */
#include "live/sem_taken.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfile.h"
#include "inject/elf.h"
#include "inject/memory.h"
#include "../../../lib/preload/sem_taker.h"

#define THREAD_BYTES 4096 /* more than the C libraries need for the data of a thread */

/* Returns the address of the notes in the process, or 0. */
static uint64_t find_notes(pid_t pid, int memory)
{
	struct mappings mappings;
	struct elf_module module;
	uint64_t address = 0;

	if (!mappings_read(&mappings, pid))
		for (size_t i = 0; i < mappings.count && !address; i++) {
			const struct mapping *at = &mappings.mapping[i];

			if (at->offset || !strstr(at->path, "libposixtrace-preload") ||
			    !elf_read(&module, memory, at->begin, false))
				continue;
			address = elf_address(&module, SHIM_TAKERS_NAME);
			elf_fini(&module);
		}
	mappings_fini(&mappings);
	return address;
}

/*
 * Returns the thread of a process whose data begins at an address, or 0. The kernel knows the list
 * of robust mutexes of each thread, and the C libraries have this list in the data of the thread.
 */
static pid_t find_thread(pid_t pid, uint64_t address)
{
	DIR *threads = procfile_threads(pid);
	pid_t found = 0, tid;

	while (!found && (tid = procfile_next_thread(threads))) {
		void *list = NULL;
		size_t bytes;

		if (!syscall(SYS_get_robust_list, tid, &list, &bytes) && list &&
		    (uint64_t)(uintptr_t)list - address < THREAD_BYTES)
			found = tid;
	}
	procfile_end_threads(threads);
	return found;
}

bool sem_taken_find(pid_t pid, uint64_t semaphore, struct sem_taken *taken)
{
	const int memory = memory_open(pid, pid);
	struct shim_taker note;
	uint64_t notes, number = 0;

	if (memory < 0)
		return false;
	notes = find_notes(pid, memory);
	if (!notes || !memory_read(memory, notes + shim_taker_index(semaphore) * sizeof(note),
				   &note, sizeof(note)) ||
	    note.semaphore != semaphore || !note.number || note.sum != shim_taker_sum(&note)) {
		close(memory);
		return false;
	}
	*taken = (struct sem_taken){ .caller = note.caller };
	/* If the number is another one, a new thread has the memory of the thread, which ended. */
	if (memory_read(memory, note.mark, &number, sizeof(number)) && number == note.number)
		taken->tid = find_thread(pid, note.thread);
	close(memory);
	return true;
}
