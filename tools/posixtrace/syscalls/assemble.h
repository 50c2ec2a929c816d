/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * assemble.h - the instructions of the kernel's BPF, as functions that append one or a few of them
 * to a program.
 *
 * If a program has no room for an instruction, the instruction is left out. This cannot happen,
 * because PROGRAM_MOST is greater than the length of each program that the tool makes. If it
 * happened, the verifier of the kernel would refuse the incomplete program. A place on the stack is
 * given as a negative distance from register 10, and is a multiple of the size of the value at this
 * place. The functions of the kernel change the registers 0 to 5.
 *
 * Threads  only one thread uses a program.
 */
#ifndef POSIXTRACE_SYSCALLS_ASSEMBLE_H
#define POSIXTRACE_SYSCALLS_ASSEMBLE_H

#include "syscalls/program.h"

/* Appends an instruction with all its parts. The functions below append all instructions by it. */
static inline void program_put(struct program *program, unsigned code, unsigned to, unsigned from,
			       int offset, int number)
{
	if (program->count < PROGRAM_MOST)
		program->insn[program->count++] = (struct bpf_insn){
			.code = (uint8_t)code, .dst_reg = to & 15, .src_reg = from & 15,
			.off = (int16_t)offset, .imm = number };
}

/* Copies the whole of a register. */
static inline void move_register(struct program *p, unsigned to, unsigned from)
{
	program_put(p, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

/* Stores a number of 32 bits in a register. Its sign fills the upper half of the register. */
static inline void move_number(struct program *p, unsigned to, int number)
{
	program_put(p, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, number);
}

static inline void add_number(struct program *p, unsigned to, int number)
{
	program_put(p, BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, number);
}

static inline void add_register(struct program *p, unsigned to, unsigned from)
{
	program_put(p, BPF_ALU64 | BPF_ADD | BPF_X, to, from, 0, 0);
}

static inline void and_number(struct program *p, unsigned to, int number)
{
	program_put(p, BPF_ALU64 | BPF_AND | BPF_K, to, 0, 0, number);
}

/* Loads memory into a register. "size" is BPF_B, BPF_H, BPF_W or BPF_DW. */
static inline void load_memory(struct program *p, unsigned size, unsigned to, unsigned from,
			       int offset)
{
	program_put(p, BPF_LDX | size | BPF_MEM, to, from, offset, 0);
}

static inline void store_register(struct program *p, unsigned size, unsigned to, int offset,
				  unsigned from)
{
	program_put(p, BPF_STX | size | BPF_MEM, to, from, offset, 0);
}

static inline void store_number(struct program *p, unsigned size, unsigned to, int offset,
				int number)
{
	program_put(p, BPF_ST | size | BPF_MEM, to, 0, offset, number);
}

/* Calls a function of the kernel, BPF_FUNC_... Register 0 gets its result. */
static inline void call_function(struct program *p, int function)
{
	program_put(p, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/*
 * Loads the address of a map. The instruction contains the descriptor of the map. When the kernel
 * loads the program, it replaces the descriptor by the address.
 */
static inline void load_map(struct program *p, unsigned to, int descriptor)
{
	program_put(p, BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, descriptor);
	program_put(p, 0, 0, 0, 0, 0);
}

/*
 * Appends a jump forward, which is executed if the condition holds. Returns the index of the jump.
 * A later call of jump_lands() sets the target of the jump to the end that the program has at that
 * time.
 */
static inline size_t jump_if(struct program *p, unsigned condition, unsigned reg, int number)
{
	program_put(p, BPF_JMP | condition | BPF_K, reg, 0, 0, number);
	return p->count - 1;
}

static inline void jump_lands(struct program *p, size_t from)
{
	p->insn[from].off = (int16_t)(p->count - from - 1);
}

/*
 * Ends the program with the result 0. For a tracepoint this result has no meaning. For a probe the
 * result 0 means that the kernel makes no additional event.
 */
static inline void leave_program(struct program *p)
{
	move_number(p, BPF_REG_0, 0);
	program_put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/*
 * Looks up the key that is at the place "key" of the stack. Register 0 gets the address of the
 * value, or 0 if the map lacks the key.
 */
static inline void look_up(struct program *p, int map, int key)
{
	load_map(p, BPF_REG_1, map);
	move_register(p, BPF_REG_2, BPF_REG_10);
	add_number(p, BPF_REG_2, key);
	call_function(p, BPF_FUNC_map_lookup_elem);
}

/*
 * Stores the numbers of the thread and of the process at these places on the stack. Ends the
 * program unless the process is traced. Register 6 gets the context.
 */
static inline void check_traced(struct program *p, const int *map, int tid, int pid)
{
	size_t is_traced;

	move_register(p, BPF_REG_6, BPF_REG_1);
	call_function(p, BPF_FUNC_get_current_pid_tgid);
	store_register(p, BPF_W, BPF_REG_10, tid, BPF_REG_0);
	program_put(p, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
	store_register(p, BPF_W, BPF_REG_10, pid, BPF_REG_0);
	look_up(p, map[SYSCALLS_MAP_TRACED], pid);
	is_traced = jump_if(p, BPF_JNE, BPF_REG_0, 0);
	leave_program(p);
	jump_lands(p, is_traced);
}

/*
 * Stores a value in the map, also if the map already has the key. "key" and "value" are places on
 * the stack.
 */
static inline void update_key(struct program *p, int map, int key, int value)
{
	load_map(p, BPF_REG_1, map);
	move_register(p, BPF_REG_2, BPF_REG_10);
	add_number(p, BPF_REG_2, key);
	move_register(p, BPF_REG_3, BPF_REG_10);
	add_number(p, BPF_REG_3, value);
	move_number(p, BPF_REG_4, BPF_ANY);
	call_function(p, BPF_FUNC_map_update_elem);
}

/* Deletes a key from the map. It is not an error if the map lacks the key. */
static inline void delete_key(struct program *p, int map, int key)
{
	load_map(p, BPF_REG_1, map);
	move_register(p, BPF_REG_2, BPF_REG_10);
	add_number(p, BPF_REG_2, key);
	call_function(p, BPF_FUNC_map_delete_elem);
}

/*
 * Counts a loss of the kind "which". All CPUs share the counters, so the addition is atomic. "key"
 * is a place of 4 bytes on the stack, which the appended instructions change.
 */
static inline void count_lost(struct program *p, const int *map, int key,
			      enum syscalls_losses which)
{
	size_t none;

	store_number(p, BPF_W, BPF_REG_10, key, (int)which);
	look_up(p, map[SYSCALLS_MAP_LOST], key);
	none = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
	move_number(p, BPF_REG_1, 1);
	program_put(p, BPF_STX | BPF_DW | BPF_ATOMIC, BPF_REG_0, BPF_REG_1, 0, BPF_ADD);
	jump_lands(p, none);
}

#endif
