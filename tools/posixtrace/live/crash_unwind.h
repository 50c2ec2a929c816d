/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash_unwind.h - the frames of a stopped thread, and names of addresses in its process.
 *
 * If the tool was built without libdw, unwind_begin() returns NULL, and the other functions find
 * nothing. They accept NULL. Only the thread that is the tracer may call these functions.
 */
#ifndef POSIXTRACE_LIVE_CRASH_UNWIND_H
#define POSIXTRACE_LIVE_CRASH_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One frame of a stack. The texts are empty if they are not known. */
struct crash_frame {
	uint64_t address;
	bool is_exact;      /* see struct unwind_step */
	char function[256]; /* "main+0x1a" */
	char module[256];   /* the file */
	uint64_t place;     /* the address as the file has it; 0: not known */
};

/* A frame without names, as a walk finds it. */
struct unwind_step {
	uint64_t address; /* the return address, or the address of the next instruction */
	uint64_t pc;      /* an address inside the function of the frame */
	bool is_exact;    /* the innermost frame, or one that a signal interrupted */
	void *state;      /* for unwind_register() */
};

/*
 * Begins and ends the examination of a process. The threads that are examined must be stopped.
 * unwind_begin() returns NULL after an error.
 */
struct unwind;
struct unwind *unwind_begin(pid_t pid);
void unwind_end(struct unwind *unwind);

/*
 * Calls visit() for each frame of a stopped thread, from the innermost on, until it returns false.
 */
void unwind_walk(const struct unwind *unwind, pid_t tid,
		 bool (*visit)(void *arg, const struct unwind_step *step), void *arg);

/* Fills in a frame, with the names of its function and of its module. */
void unwind_name(const struct unwind *unwind, const struct unwind_step *step,
		 struct crash_frame *frame);

/* Returns where the function that contains pc begins, by the unwind tables; 0: not known. */
uint64_t unwind_function(const struct unwind *unwind, uint64_t pc);

/* Returns the address of a symbol of the process; 0: not found. */
uint64_t unwind_symbol(const struct unwind *unwind, const char *name);

/*
 * Stores a register of a frame, by its number in DWARF. May be called only in visit(). Returns
 * false if the register is not known.
 */
bool unwind_register(const struct unwind_step *step, unsigned number, uint64_t *value);

#endif
