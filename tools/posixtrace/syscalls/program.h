/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* program.h - the instructions of the BPF programs. See syscalls.h. */
#ifndef POSIXTRACE_SYSCALLS_PROGRAM_H
#define POSIXTRACE_SYSCALLS_PROGRAM_H

#include <linux/bpf.h>

#include "syscalls/syscalls.h"

#define PROGRAM_MOST 1600 /* the most instructions of a program */

struct program {
	struct bpf_insn insn[PROGRAM_MOST];
	size_t count;
};

/* A call that has begun, as the programs keep it. args[6]: the result; args[7]: a large number. */
struct program_open {
	uint64_t begin_ns;
	uint32_t number, is_32bit;
	uint64_t args[8];
};

/*
 * The size of the memory in which a record is composed, and a mask for the number of its used
 * bytes. The verifier requires a mask that keeps each access within the memory.
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
