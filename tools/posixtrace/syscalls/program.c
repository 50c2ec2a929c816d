/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * program.c - makes the BPF programs, instruction by instruction. The programs are small, so the
 * tool needs neither a compiler for BPF nor a library that loads the compiler's output.
 *
 * Register 6 points to the context, which is the kernel's record. Register 7 points to the call
 * that has begun, 8 to the plan of its number, and 9 to the memory in which the record is composed.
 * The functions of the kernel change the registers 0 to 5. The stack has the values below.
 */
#include "syscalls/assemble.h"

#include <sched.h>
#include <stddef.h>

/* Places on the stack, which has 512 bytes. A value must be stored before it is used. */
enum {
	AT_TID = -4, AT_PID = -8, AT_INDEX = -12, AT_ZERO = -16,
	AT_USED = -24,     /* number of bytes of the record so far */
	AT_SIZE = -32,     /* number of bytes of a piece */
	AT_STATUS = -36,
	AT_OPEN = -40 - (int)sizeof(struct program_open)
};

#define TS_COMPAT 2 /* a bit of thread_info.status: the call is a 32-bit call */

/* ------------------------------------------------------------------ parts of programs */

/*
 * Loads register 9 with the address of the memory for the record. Stores time, process, thread and
 * kind there, and begins without pieces.
 */
static void begin_record(struct program *p, const int *map, enum syscalls_kind kind)
{
	size_t is_there;

	store_number(p, BPF_W, BPF_REG_10, AT_ZERO, 0);
	look_up(p, map[SYSCALLS_MAP_SCRATCH], AT_ZERO);
	is_there = jump_if(p, BPF_JNE, BPF_REG_0, 0);
	leave_program(p);
	jump_lands(p, is_there);
	move_register(p, BPF_REG_9, BPF_REG_0);
	call_function(p, BPF_FUNC_ktime_get_ns);
	store_register(p, BPF_DW, BPF_REG_9, offsetof(struct syscalls_record, time_ns), BPF_REG_0);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_PID);
	store_register(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, pid), BPF_REG_1);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_TID);
	store_register(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, tid), BPF_REG_1);
	store_number(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, kind), (int)kind);
	/*
	 * The memory still has an earlier record, so these members are cleared. write_call() and
	 * program_dead() later store the number. The members that are not cleared have a meaning
	 * only in records for which they are stored.
	 */
	store_number(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, number), 0);
	for (int i = 0; i < SYSCALLS_PIECES; i++)
		store_number(p, BPF_W, BPF_REG_9,
			     (int)offsetof(struct syscalls_record, length) + 4 * i, 0);
	store_number(p, BPF_DW, BPF_REG_10, AT_USED, (int)sizeof(struct syscalls_record));
}

/*
 * Passes the record to the reader, or counts it as lost. The mask is needed only for the verifier,
 * which cannot prove that the record is always smaller than the memory.
 */
static void end_record(struct program *p, const int *map)
{
	size_t is_kept;

	load_map(p, BPF_REG_1, map[SYSCALLS_MAP_RING]);
	move_register(p, BPF_REG_2, BPF_REG_9);
	load_memory(p, BPF_DW, BPF_REG_3, BPF_REG_10, AT_USED);
	and_number(p, BPF_REG_3, PROGRAM_MASK);
	move_number(p, BPF_REG_4, 0);
	call_function(p, BPF_FUNC_ringbuf_output);
	is_kept = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
	count_lost(p, map, AT_ZERO, SYSCALLS_LOST_CALLS);
	jump_lands(p, is_kept);
}

/* Loads the register "to" with the address of the first unused byte of the record. */
static void unused_byte(struct program *p, unsigned to)
{
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_10, AT_USED);
	and_number(p, BPF_REG_1, PROGRAM_MASK);
	move_register(p, to, BPF_REG_9);
	add_register(p, to, BPF_REG_1);
}

/*
 * Stores the length of a piece and counts its bytes. Register 0 has the length, or a negative
 * number if the memory could not be read.
 */
static void end_piece(struct program *p, int piece)
{
	int length = (int)offsetof(struct syscalls_record, length) + 4 * piece;
	size_t failed = jump_if(p, BPF_JSLT, BPF_REG_0, 0), done;

	store_register(p, BPF_W, BPF_REG_9, length, BPF_REG_0);
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_10, AT_USED);
	add_register(p, BPF_REG_1, BPF_REG_0);
	store_register(p, BPF_DW, BPF_REG_10, AT_USED, BPF_REG_1);
	program_put(p, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	done = p->count - 1;
	jump_lands(p, failed);
	store_number(p, BPF_W, BPF_REG_9, length, -1);
	jump_lands(p, done);
}

/* Loads the register "to" with an argument. The plan has the argument's index at "offset". */
static void load_argument(struct program *p, unsigned to, int offset)
{
	load_memory(p, BPF_B, BPF_REG_1, BPF_REG_8, offset);
	and_number(p, BPF_REG_1, 7);
	program_put(p, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_1, 0, 0, 3);
	move_register(p, BPF_REG_2, BPF_REG_7);
	add_register(p, BPF_REG_2, BPF_REG_1);
	load_memory(p, BPF_DW, to, BPF_REG_2, offsetof(struct program_open, args));
}

/*
 * Copies a piece as the plan says. A BPF program must not wait for a page of the process. So a page
 * that is not mapped or not in memory cannot be read. The length of the piece is then
 * SYSCALLS_UNREAD. If the address is null, no piece is copied.
 */
static void copy_piece(struct program *p, int piece)
{
	int fetch = (int)offsetof(struct syscalls_plan, fetch) +
		    piece * (int)sizeof(struct syscalls_fetch);
	size_t none, is_null, is_bytes, done, is_less, failed;

	load_memory(p, BPF_B, BPF_REG_1, BPF_REG_8,
		    fetch + (int)offsetof(struct syscalls_fetch, kind));
	none = jump_if(p, BPF_JEQ, BPF_REG_1, SYSCALLS_NOTHING);
	load_argument(p, BPF_REG_3, fetch + (int)offsetof(struct syscalls_fetch, arg));
	is_null = jump_if(p, BPF_JEQ, BPF_REG_3, 0);
	load_memory(p, BPF_B, BPF_REG_1, BPF_REG_8,
		    fetch + (int)offsetof(struct syscalls_fetch, kind));
	is_bytes = jump_if(p, BPF_JNE, BPF_REG_1, SYSCALLS_TEXT);
	/* copies a text; the kernel's function returns its length with the NUL */
	unused_byte(p, BPF_REG_4);
	move_register(p, BPF_REG_1, BPF_REG_4);
	move_number(p, BPF_REG_2, SYSCALLS_PIECE_BYTES);
	call_function(p, BPF_FUNC_probe_read_user_str);
	program_put(p, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	done = p->count - 1;

	/* copies as many bytes as the argument or the result says, but at most the limit */
	jump_lands(p, is_bytes);
	move_register(p, BPF_REG_5, BPF_REG_3);
	load_argument(p, BPF_REG_4, fetch + (int)offsetof(struct syscalls_fetch, length_arg));
	load_memory(p, BPF_W, BPF_REG_2, BPF_REG_8,
		    fetch + (int)offsetof(struct syscalls_fetch, limit));
	program_put(p, BPF_JMP | BPF_JGE | BPF_X, BPF_REG_4, BPF_REG_2, 0, 0);
	is_less = p->count - 1;
	move_register(p, BPF_REG_2, BPF_REG_4);
	jump_lands(p, is_less);
	and_number(p, BPF_REG_2, SYSCALLS_PIECE_BYTES - 1);
	store_register(p, BPF_DW, BPF_REG_10, AT_SIZE, BPF_REG_2);
	unused_byte(p, BPF_REG_4);
	move_register(p, BPF_REG_1, BPF_REG_4);
	move_register(p, BPF_REG_3, BPF_REG_5);
	call_function(p, BPF_FUNC_probe_read_user);
	failed = jump_if(p, BPF_JNE, BPF_REG_0, 0);
	load_memory(p, BPF_DW, BPF_REG_0, BPF_REG_10, AT_SIZE);
	jump_lands(p, failed);

	jump_lands(p, done);
	end_piece(p, piece);
	jump_lands(p, none);
	jump_lands(p, is_null);
}

/*
 * Writes a record of the call to which register 7 points, with its pieces. If the plan does not
 * want the call, nothing is written.
 */
static void write_call(struct program *p, const int *map, enum syscalls_kind kind)
{
	size_t none, is_small, is_native, unwanted;

	/* The plans of 32-bit calls are behind the plans of 64-bit calls. */
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_7, offsetof(struct program_open, number));
	program_put(p, BPF_JMP | BPF_JLT | BPF_K, BPF_REG_1, 0, 0, SYSCALLS_NUMBERS);
	is_small = p->count - 1;
	move_number(p, BPF_REG_1, SYSCALLS_NUMBERS - 1);
	jump_lands(p, is_small);
	load_memory(p, BPF_W, BPF_REG_2, BPF_REG_7, offsetof(struct program_open, is_32bit));
	is_native = jump_if(p, BPF_JEQ, BPF_REG_2, 0);
	add_number(p, BPF_REG_1, SYSCALLS_NUMBERS);
	jump_lands(p, is_native);
	store_register(p, BPF_W, BPF_REG_10, AT_INDEX, BPF_REG_1);
	look_up(p, map[SYSCALLS_MAP_PLAN], AT_INDEX);
	none = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
	move_register(p, BPF_REG_8, BPF_REG_0);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_8, offsetof(struct syscalls_plan, flags));
	and_number(p, BPF_REG_1, kind == SYSCALLS_ENTER ? SYSCALLS_AT_ENTRY : SYSCALLS_WANTED);
	unwanted = jump_if(p, BPF_JEQ, BPF_REG_1, 0);

	begin_record(p, map, kind);
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_7, offsetof(struct program_open, begin_ns));
	store_register(p, BPF_DW, BPF_REG_9, offsetof(struct syscalls_record, begin_ns),
		       BPF_REG_1);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_7, offsetof(struct program_open, number));
	store_register(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, number), BPF_REG_1);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_7, offsetof(struct program_open, is_32bit));
	store_register(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, is_32bit),
		       BPF_REG_1);
	for (int i = 0; i < 6; i++) {
		load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_7,
			    (int)offsetof(struct program_open, args) + 8 * i);
		store_register(p, BPF_DW, BPF_REG_9,
			       (int)offsetof(struct syscalls_record, arg) + 8 * i, BPF_REG_1);
	}
	for (int i = 0; i < SYSCALLS_PIECES; i++)
		copy_piece(p, i);
	end_record(p, map);
	jump_lands(p, unwanted);
	jump_lands(p, none);
}

/* ------------------------------------------------------------------ the programs */

/*
 * Keeps the call until it returns, and writes a record SYSCALLS_ENTER if the plan of the call
 * requests it. thread_info.status shows whether it is a 32-bit call. If the map has no room for the
 * call, the call is counted as lost, because the program of exits does not find it.
 */
void program_enter(struct program *p, const int *map, const struct program_fields *fields)
{
	size_t is_kept, none;

	p->count = 0;
	check_traced(p, map, AT_TID, AT_PID);
	call_function(p, BPF_FUNC_ktime_get_ns);
	store_register(p, BPF_DW, BPF_REG_10, AT_OPEN, BPF_REG_0);
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_6, fields->number);
	store_register(p, BPF_W, BPF_REG_10,
		       AT_OPEN + (int)offsetof(struct program_open, number), BPF_REG_1);
	store_number(p, BPF_W, BPF_REG_10, AT_STATUS, 0);
#if defined __x86_64__
	call_function(p, BPF_FUNC_get_current_task);
	move_register(p, BPF_REG_3, BPF_REG_0);
	add_number(p, BPF_REG_3, fields->status);
	move_number(p, BPF_REG_2, 4);
	move_register(p, BPF_REG_1, BPF_REG_10);
	add_number(p, BPF_REG_1, AT_STATUS);
	call_function(p, BPF_FUNC_probe_read_kernel);
#endif
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_STATUS);
	and_number(p, BPF_REG_1, TS_COMPAT);
	store_register(p, BPF_W, BPF_REG_10,
		       AT_OPEN + (int)offsetof(struct program_open, is_32bit), BPF_REG_1);
	for (int i = 0; i < 6; i++) {
		load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_6, fields->args + 8 * i);
		store_register(p, BPF_DW, BPF_REG_10,
			       AT_OPEN + (int)offsetof(struct program_open, args) + 8 * i,
			       BPF_REG_1);
	}
	store_number(p, BPF_DW, BPF_REG_10,
		     AT_OPEN + (int)offsetof(struct program_open, args) + 8 * 6, 0);
	store_number(p, BPF_DW, BPF_REG_10,
		     AT_OPEN + (int)offsetof(struct program_open, args) + 8 * 7, INT32_MAX);
	update_key(p, map[SYSCALLS_MAP_OPEN], AT_TID, AT_OPEN);
	is_kept = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
	count_lost(p, map, AT_ZERO, SYSCALLS_LOST_CALLS);
	leave_program(p);
	jump_lands(p, is_kept);
	look_up(p, map[SYSCALLS_MAP_OPEN], AT_TID);
	none = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
	move_register(p, BPF_REG_7, BPF_REG_0);
	write_call(p, map, SYSCALLS_ENTER);
	jump_lands(p, none);
	leave_program(p);
}

/*
 * Writes the call when it returns. A negative result cannot be used as a length, so 0 is used
 * instead. If a thread was in a call when the recording began, the map has no entry for this call,
 * and the call is left out. A call that never returns has at most the record that program_enter()
 * writes.
 */
void program_exit(struct program *p, const int *map, const struct program_fields *fields)
{
	size_t none, is_positive, has_no_memory;

	p->count = 0;
	check_traced(p, map, AT_TID, AT_PID);
	look_up(p, map[SYSCALLS_MAP_OPEN], AT_TID);
	none = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
	move_register(p, BPF_REG_7, BPF_REG_0);
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_6, fields->result);
	is_positive = jump_if(p, BPF_JSGE, BPF_REG_1, 0);
	move_number(p, BPF_REG_1, 0);
	jump_lands(p, is_positive);
	store_register(p, BPF_DW, BPF_REG_7, (int)offsetof(struct program_open, args) + 8 * 6,
		       BPF_REG_1);
	/*
	 * The result is stored in the memory of the record already here. begin_record(), which
	 * write_call() calls later, does not change it.
	 */
	store_number(p, BPF_W, BPF_REG_10, AT_ZERO, 0);
	look_up(p, map[SYSCALLS_MAP_SCRATCH], AT_ZERO);
	has_no_memory = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_6, fields->result);
	store_register(p, BPF_DW, BPF_REG_0, offsetof(struct syscalls_record, result), BPF_REG_1);
	jump_lands(p, has_no_memory);
	write_call(p, map, SYSCALLS_CALL);
	delete_key(p, map[SYSCALLS_MAP_OPEN], AT_TID);
	jump_lands(p, none);
	leave_program(p);
}

/*
 * Writes a record when a traced process creates a thread or a process. The program runs in the
 * creating thread. If "follow" is true, it adds a new process to the traced processes before the
 * new process runs, so that no call is missed. If the map of traced processes has no room, the new
 * process is not traced, and is counted.
 */
void program_new(struct program *p, const int *map, const struct program_fields *fields,
		 bool follow)
{
	size_t is_thread, is_traced;

	p->count = 0;
	check_traced(p, map, AT_TID, AT_PID);
	begin_record(p, map, SYSCALLS_NEW);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_6, fields->new_pid);
	store_register(p, BPF_DW, BPF_REG_9, offsetof(struct syscalls_record, arg), BPF_REG_1);
	store_register(p, BPF_W, BPF_REG_10, AT_INDEX, BPF_REG_1);
	/* Only the lower half of the flags is needed, and older kernels have only this half. */
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_6, fields->new_flags);
	store_register(p, BPF_DW, BPF_REG_9, (int)offsetof(struct syscalls_record, arg) + 8,
		       BPF_REG_1);
	if (follow) {
		and_number(p, BPF_REG_1, CLONE_THREAD);
		is_thread = jump_if(p, BPF_JNE, BPF_REG_1, 0);
		store_number(p, BPF_W, BPF_REG_10, AT_ZERO, 1);
		update_key(p, map[SYSCALLS_MAP_TRACED], AT_INDEX, AT_ZERO);
		is_traced = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
		count_lost(p, map, AT_ZERO, SYSCALLS_LOST_CHILDREN);
		jump_lands(p, is_traced);
		jump_lands(p, is_thread);
	}
	end_record(p, map);
	leave_program(p);
}

/*
 * Writes a record of an execution. The lower half of the field for the path contains the offset of
 * the path.
 */
void program_exec(struct program *p, const int *map, const struct program_fields *fields)
{
	p->count = 0;
	check_traced(p, map, AT_TID, AT_PID);
	begin_record(p, map, SYSCALLS_EXEC);
	load_memory(p, BPF_W, BPF_REG_3, BPF_REG_6, fields->path);
	and_number(p, BPF_REG_3, 0xffff);
	add_register(p, BPF_REG_3, BPF_REG_6);
	unused_byte(p, BPF_REG_4);
	move_register(p, BPF_REG_1, BPF_REG_4);
	move_number(p, BPF_REG_2, SYSCALLS_PIECE_BYTES);
	call_function(p, BPF_FUNC_probe_read_kernel_str);
	end_piece(p, 0);
	end_record(p, map);
	leave_program(p);
}

/*
 * Removes a thread that ends, and with the last thread also its process, from the maps. If the
 * kernel's record lacks the field group_dead, the end of the main thread counts as the end of the
 * process.
 */
void program_dead(struct program *p, const int *map, const struct program_fields *fields,
		  bool records)
{
	size_t goes_on;

	p->count = 0;
	check_traced(p, map, AT_TID, AT_PID);
	delete_key(p, map[SYSCALLS_MAP_OPEN], AT_TID);
	if (records)
		begin_record(p, map, SYSCALLS_DEAD);
	if (fields->group_dead >= 0) {
		load_memory(p, BPF_B, BPF_REG_1, BPF_REG_6, fields->group_dead);
		goes_on = jump_if(p, BPF_JEQ, BPF_REG_1, 0);
	} else {
		load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_PID);
		load_memory(p, BPF_W, BPF_REG_2, BPF_REG_10, AT_TID);
		program_put(p, BPF_JMP | BPF_JNE | BPF_X, BPF_REG_1, BPF_REG_2, 0, 0);
		goes_on = p->count - 1;
	}
	if (records)
		store_number(p, BPF_W, BPF_REG_9, offsetof(struct syscalls_record, number), 1);
	delete_key(p, map[SYSCALLS_MAP_TRACED], AT_PID);
	jump_lands(p, goes_on);
	if (records)
		end_record(p, map);
	leave_program(p);
}
