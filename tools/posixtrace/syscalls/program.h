/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* program.h - makes the instructions of the BPF programs, which syscalls.h describes. */
#ifndef POSIXTRACE_SYSCALLS_PROGRAM_H
#define POSIXTRACE_SYSCALLS_PROGRAM_H

#include <linux/bpf.h>

#include "syscalls/syscalls.h"

#define PROGRAM_MOST 1600 /* greatest number of instructions of a program */

struct program {
	struct bpf_insn insn[PROGRAM_MOST];
	size_t count;
};

/*
 * A call that has begun, in the form in which the programs keep it. args[6] is the result, or 0 if
 * the call has not returned or the result is negative. args[7] is a large number, which is used as
 * the length of a part of memory if no argument has the length.
 */
struct program_open {
	uint64_t begin_ns;
	uint32_t number, is_32bit;
	uint64_t args[8];
};

/*
 * The size of the memory in which a record is composed, and a mask for the number of bytes that are
 * used. Because of the mask, the verifier can prove that each access is within the memory.
 */
#define PROGRAM_SCRATCH 32768
#define PROGRAM_MASK    0x3fff

/* The offsets of fields in the kernel's records. */
struct program_fields {
	int number, args;            /* raw_syscalls:sys_enter */
	int result;                  /* raw_syscalls:sys_exit */
	int new_pid, new_flags;      /* task:task_newtask */
	int path;                    /* sched:sched_process_exec */
	int group_dead;              /* sched:sched_process_exit; -1: there is no such field */
	int status;                  /* offset of thread_info.status in the task: layout.h */
};

/* Each function makes one program. "map" has the descriptors of the maps. */
void program_enter(struct program *program, const int *map, const struct program_fields *fields);
void program_exit(struct program *program, const int *map, const struct program_fields *fields);
void program_new(struct program *program, const int *map, const struct program_fields *fields,
		 bool follow);
void program_exec(struct program *program, const int *map, const struct program_fields *fields);
/* If "records" is true, the program also makes a record of the end. */
void program_dead(struct program *program, const int *map, const struct program_fields *fields,
		  bool records);

#endif
