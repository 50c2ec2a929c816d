/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arrive.c - makes the two BPF programs, instruction by instruction, like syscalls/program.c.
 *
 * Both programs run in the thread that has arrived at a place, and may be preempted. Register 6
 * points to the context: the thread's registers (struct pt_regs). In the program for places with
 * values, register 7 has the difference between the addresses in the process and in the file.
 * Register 8 points to the values of the place, and register 9 to the record.
 */
#include "uprobes/arrive.h"

#include <stddef.h>

#include "syscalls/assemble.h"

#if defined __x86_64__

/* Offsets in struct pt_regs. */
enum { REG_R14 = 8, REG_RAX = 80, REG_RIP = 128, REG_FLAGS = 144, REG_RSP = 152 };

/* Offsets on the stack of the program. The offset of the record must be a multiple of 8. */
enum {
	AT_TID = -4, AT_PID = -8, AT_ZERO = -12, AT_FILE = -16,
	AT_RECORD = -16 - (int)sizeof(struct syscalls_record)
};

/* Returns the place on the stack of the member of the record that has this offset. */
static int member_at(size_t offset)
{
	return AT_RECORD + (int)offset;
}

/* Stores a register of the thread in a member of the record. */
static void copy_register(struct program *p, int reg, size_t member)
{
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_6, reg);
	store_register(p, BPF_DW, BPF_REG_10, member_at(member), BPF_REG_1);
}

/*
 * Copies memory from the address in register 3. If the memory cannot be read, the kernel stores
 * zeros.
 */
static void copy_memory(struct program *p, size_t member, int bytes)
{
	move_register(p, BPF_REG_1, BPF_REG_10);
	add_number(p, BPF_REG_1, member_at(member));
	move_number(p, BPF_REG_2, bytes);
	call_function(p, BPF_FUNC_probe_read_user);
}

/*
 * Makes the program for places without values. The program composes the record on the stack. The
 * programs of system calls compose their records in memory that each CPU has. That is not possible
 * here, because the program of a place can be preempted, and another program could then overwrite
 * this memory.
 */
void arrive_plain(struct program *p, const int *map)
{
	const size_t args = offsetof(struct syscalls_record, arg);
	size_t is_c, is_kept;

	p->count = 0;
	check_traced(p, map, AT_TID, AT_PID);

	call_function(p, BPF_FUNC_ktime_get_ns);
	store_register(p, BPF_DW, BPF_REG_10,
		       member_at(offsetof(struct syscalls_record, time_ns)), BPF_REG_0);
	for (size_t at = offsetof(struct syscalls_record, begin_ns);
	     at < sizeof(struct syscalls_record); at += 8)
		store_number(p, BPF_DW, BPF_REG_10, member_at(at), 0);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_PID);
	store_register(p, BPF_W, BPF_REG_10, member_at(offsetof(struct syscalls_record, pid)),
		       BPF_REG_1);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_TID);
	store_register(p, BPF_W, BPF_REG_10, member_at(offsetof(struct syscalls_record, tid)),
		       BPF_REG_1);
	store_number(p, BPF_W, BPF_REG_10, member_at(offsetof(struct syscalls_record, kind)),
		     SYSCALLS_TRAP);
	copy_register(p, REG_RIP, offsetof(struct syscalls_record, begin_ns));
	copy_register(p, REG_RSP, offsetof(struct syscalls_record, result));
	copy_register(p, REG_RAX, args + 1 * 8);
	copy_register(p, REG_FLAGS, args + 3 * 8);
	load_memory(p, BPF_DW, BPF_REG_3, BPF_REG_6, REG_RSP);
	copy_memory(p, args + 2 * 8, 8);

	move_register(p, BPF_REG_1, BPF_REG_6);
	call_function(p, BPF_FUNC_get_attach_cookie);
	store_register(p, BPF_W, BPF_REG_10, member_at(offsetof(struct syscalls_record, number)),
		       BPF_REG_0);
	program_put(p, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
	is_c = jump_if(p, BPF_JNE, BPF_REG_0, ARRIVE_GO);
	/* The first words of a goroutine are the bounds of its stack, the lower bound first. */
	copy_register(p, REG_R14, args);
	load_memory(p, BPF_DW, BPF_REG_3, BPF_REG_6, REG_R14);
	copy_memory(p, args + 4 * 8, 16);
	jump_lands(p, is_c);

	load_map(p, BPF_REG_1, map[SYSCALLS_MAP_RING]);
	move_register(p, BPF_REG_2, BPF_REG_10);
	add_number(p, BPF_REG_2, AT_RECORD);
	move_number(p, BPF_REG_3, (int)sizeof(struct syscalls_record));
	move_number(p, BPF_REG_4, 0);
	call_function(p, BPF_FUNC_ringbuf_output);
	is_kept = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
	count_lost(p, map, AT_ZERO, SYSCALLS_LOST_TRAPS);
	jump_lands(p, is_kept);
	leave_program(p);
}

/* ------------------------------------------------------------------ values */

/*
 * The offset of each register in struct pt_regs. The index is the processor's number of the
 * register.
 */
static const int registers[16] = {
	80, 88, 96, 40, 152, 32, 104, 112, 72, 64, 56, 48, 24, 16, 8, 0,
};

#define VALUED_BYTES ((int)(sizeof(struct syscalls_record) + sizeof(struct uprobes_found)))

/* Returns the offset in the record of a member of struct uprobes_found. */
static int found_at(size_t offset)
{
	return (int)(sizeof(struct syscalls_record) + offset);
}

/*
 * Adds a register of the thread to register 3. The plans of the values have the number of the
 * register at the offset "number", and its shift at the offset "shift". If "shift" is 0, the
 * register is not shifted.
 */
static void add_part(struct program *p, int number, int shift)
{
	size_t none;

	load_memory(p, BPF_B, BPF_REG_1, BPF_REG_8, number);
	none = jump_if(p, BPF_JEQ, BPF_REG_1, UPROBES_NONE);
	and_number(p, BPF_REG_1, 15);
	program_put(p, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_1, 0, 0, 3);
	move_register(p, BPF_REG_2, BPF_REG_9);
	add_register(p, BPF_REG_2, BPF_REG_1);
	load_memory(p, BPF_DW, BPF_REG_4, BPF_REG_2, found_at(offsetof(struct uprobes_found, reg)));
	if (shift) {
		load_memory(p, BPF_B, BPF_REG_1, BPF_REG_8, shift);
		and_number(p, BPF_REG_1, 3);
		program_put(p, BPF_ALU64 | BPF_LSH | BPF_X, BPF_REG_4, BPF_REG_1, 0, 0);
	}
	add_register(p, BPF_REG_3, BPF_REG_4);
	jump_lands(p, none);
}

/* Loads register 1 with the address of a member of struct uprobes_found in the record. */
static void found_address(struct program *p, size_t offset)
{
	move_register(p, BPF_REG_1, BPF_REG_9);
	add_number(p, BPF_REG_1, found_at(offset));
}

/*
 * Finds value i. Register 8 points to the plans of all values. Register 7 has the difference
 * between addresses in the process and in the file.
 */
static void find_value(struct program *p, int i)
{
	const int plan = (int)(offsetof(struct uprobes_values, value) +
			       (size_t)i * sizeof(struct uprobes_value));
	const size_t number = offsetof(struct uprobes_found, number) + (size_t)i * 8;
	const size_t length = offsetof(struct uprobes_found, length) + (size_t)i * 4;
	const int how = plan + (int)offsetof(struct uprobes_value, how);
	size_t none, is_absolute, is_text, is_direct, done, failed;

	load_memory(p, BPF_B, BPF_REG_1, BPF_REG_8, how);
	none = jump_if(p, BPF_JEQ, BPF_REG_1, UPROBES_KNOWN);
	load_memory(p, BPF_DW, BPF_REG_3, BPF_REG_8,
		    plan + (int)offsetof(struct uprobes_value, value));
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_8,
		    plan + (int)offsetof(struct uprobes_value, in_file));
	is_absolute = jump_if(p, BPF_JEQ, BPF_REG_1, 0);
	add_register(p, BPF_REG_3, BPF_REG_7);
	jump_lands(p, is_absolute);
	add_part(p, plan + (int)offsetof(struct uprobes_value, base), 0);
	add_part(p, plan + (int)offsetof(struct uprobes_value, index),
		 plan + (int)offsetof(struct uprobes_value, shift));

	load_memory(p, BPF_B, BPF_REG_1, BPF_REG_8, how);
	is_direct = jump_if(p, BPF_JEQ, BPF_REG_1, UPROBES_TEXT_AT);
	is_text = jump_if(p, BPF_JEQ, BPF_REG_1, UPROBES_TEXT_BEHIND);
	/* Because of the mask, the number cannot extend beyond the record. */
	load_memory(p, BPF_H, BPF_REG_2, BPF_REG_8,
		    plan + (int)offsetof(struct uprobes_value, size));
	and_number(p, BPF_REG_2, 15);
	found_address(p, number);
	call_function(p, BPF_FUNC_probe_read_user);
	program_put(p, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	done = p->count - 1;

	/* The value is a pointer to a text. The pointer is stored in the member "number". */
	jump_lands(p, is_text);
	move_number(p, BPF_REG_2, 8);
	found_address(p, number);
	call_function(p, BPF_FUNC_probe_read_user);
	load_memory(p, BPF_DW, BPF_REG_3, BPF_REG_9, found_at(number));
	jump_lands(p, is_direct);
	load_memory(p, BPF_H, BPF_REG_1, BPF_REG_8,
		    plan + (int)offsetof(struct uprobes_value, at));
	and_number(p, BPF_REG_1, UPROBES_TEXT_BYTES / 2 - 1);
	add_register(p, BPF_REG_1, BPF_REG_9);
	add_number(p, BPF_REG_1, found_at(offsetof(struct uprobes_found, text)));
	load_memory(p, BPF_H, BPF_REG_2, BPF_REG_8,
		    plan + (int)offsetof(struct uprobes_value, size));
	and_number(p, BPF_REG_2, UPROBES_TEXT_BYTES / 2 - 1);
	call_function(p, BPF_FUNC_probe_read_user_str);
	failed = jump_if(p, BPF_JSLT, BPF_REG_0, 0);
	store_register(p, BPF_W, BPF_REG_9, found_at(length), BPF_REG_0);
	jump_lands(p, failed);
	jump_lands(p, done);
	jump_lands(p, none);
}

/*
 * These functions do the same as copy_register() and copy_memory(), but for a record that is in the
 * ring. keep_memory() takes the address from a register of the thread.
 */
static void keep_register(struct program *p, int reg, size_t member)
{
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_6, reg);
	store_register(p, BPF_DW, BPF_REG_9, (int)member, BPF_REG_1);
}

static void keep_memory(struct program *p, int reg, size_t member, int bytes)
{
	load_memory(p, BPF_DW, BPF_REG_3, BPF_REG_6, reg);
	move_register(p, BPF_REG_1, BPF_REG_9);
	add_number(p, BPF_REG_1, (int)member);
	move_number(p, BPF_REG_2, bytes);
	call_function(p, BPF_FUNC_probe_read_user);
}

/*
 * Makes the program for places with values. The record is too long for the stack, so the program
 * composes it in the ring. The ring still has bytes of old records at this place, so the program
 * first sets the bytes before the texts to 0.
 */
void arrive_valued(struct program *p, const int *map, int values)
{
	const size_t args = offsetof(struct syscalls_record, arg);
	size_t is_there, has_room, is_c;

	p->count = 0;
	check_traced(p, map, AT_TID, AT_PID);
	move_register(p, BPF_REG_1, BPF_REG_6);
	call_function(p, BPF_FUNC_get_attach_cookie);
	store_register(p, BPF_W, BPF_REG_10, AT_ZERO, BPF_REG_0);
	program_put(p, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
	store_register(p, BPF_W, BPF_REG_10, AT_FILE, BPF_REG_0);
	look_up(p, values, AT_ZERO);
	is_there = jump_if(p, BPF_JNE, BPF_REG_0, 0);
	leave_program(p);
	jump_lands(p, is_there);
	move_register(p, BPF_REG_8, BPF_REG_0);

	load_map(p, BPF_REG_1, map[SYSCALLS_MAP_RING]);
	move_number(p, BPF_REG_2, VALUED_BYTES);
	move_number(p, BPF_REG_3, 0);
	call_function(p, BPF_FUNC_ringbuf_reserve);
	has_room = jump_if(p, BPF_JNE, BPF_REG_0, 0);
	count_lost(p, map, AT_ZERO, SYSCALLS_LOST_TRAPS);
	leave_program(p);
	jump_lands(p, has_room);
	move_register(p, BPF_REG_9, BPF_REG_0);
	/* From here on the program must not end before it has submitted the record. */
	for (int at = 0; at < found_at(offsetof(struct uprobes_found, text)); at += 8)
		store_number(p, BPF_DW, BPF_REG_9, at, 0);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_PID);
	store_register(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, pid), BPF_REG_1);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_TID);
	store_register(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, tid), BPF_REG_1);
	store_number(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, kind), SYSCALLS_TRAP);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_ZERO);
	store_register(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, number), BPF_REG_1);
	for (int i = 0; i < 16; i++) {
		load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_6, registers[i]);
		store_register(p, BPF_DW, BPF_REG_9,
			       found_at(offsetof(struct uprobes_found, reg)) + 8 * i, BPF_REG_1);
	}
	keep_register(p, REG_RSP, offsetof(struct syscalls_record, result));
	keep_register(p, REG_RAX, args + 1 * 8);
	keep_register(p, REG_FLAGS, args + 3 * 8);
	keep_memory(p, REG_RSP, args + 2 * 8, 8);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_FILE);
	is_c = jump_if(p, BPF_JNE, BPF_REG_1, ARRIVE_GO);
	keep_register(p, REG_R14, args);
	keep_memory(p, REG_R14, args + 4 * 8, 16);
	jump_lands(p, is_c);
	load_memory(p, BPF_DW, BPF_REG_7, BPF_REG_6, REG_RIP);
	store_register(p, BPF_DW, BPF_REG_9, offsetof(struct syscalls_record, begin_ns), BPF_REG_7);
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_8, offsetof(struct uprobes_values, address));
	program_put(p, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_7, BPF_REG_1, 0, 0);
	call_function(p, BPF_FUNC_ktime_get_ns);
	store_register(p, BPF_DW, BPF_REG_9, offsetof(struct syscalls_record, time_ns), BPF_REG_0);
	for (int i = 0; i < UPROBES_VALUES; i++)
		find_value(p, i);
	move_register(p, BPF_REG_1, BPF_REG_9);
	move_number(p, BPF_REG_2, 0);
	call_function(p, BPF_FUNC_ringbuf_submit);
	leave_program(p);
}

#endif
