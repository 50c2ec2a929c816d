/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/stack_copy.h - the copy of a stack behind the fields of an event, if the user chose the
 * event's type for --stack.
 *
 * 	the fields of the schema
 * 	struct shim_stack_copy
 * 	the bytes of the stack from the stack pointer upwards
 * 	struct shim_stack_end
 *
 * posixtrace unwinds the copy when it completes the log, and replaces it by the number of a stack.
 * The structs have no gaps. A reader finds them from the end of the data, at any alignment.
 */
#ifndef PTX_PRELOAD_STACK_COPY_H
#define PTX_PRELOAD_STACK_COPY_H

#include <stdint.h>

/*
 * The names of two entries in a list of families: the patterns of the types, and the greatest
 * number of bytes of a stack in an event. An example is stack=io.*,stack-bytes=4096.
 */
#define SHIM_STACK_NAME       "stack="
#define SHIM_STACK_BYTES_NAME "stack-bytes="
#define SHIM_STACK_PATTERN    128   /* bytes of a pattern with its NUL */
#define SHIM_STACK_BYTES      8192  /* the default */
#define SHIM_STACK_MAX        32768

/* Registers are in the order of their numbers in DWARF. Registers that calls may change are 0. */
#if defined __x86_64__
# define SHIM_STACK_REGISTERS 17
# define SHIM_STACK_SP        7
#elif defined __aarch64__
# define SHIM_STACK_REGISTERS 32
# define SHIM_STACK_SP        31
#else /* not supported here: no event has a copy */
# define SHIM_STACK_REGISTERS 0
#endif

#define SHIM_STACK_MAGIC 0x6b636174u

struct shim_stack_copy {
	uint64_t pc; /* an address of the shim; the stack begins with the shim's own frames */
#if SHIM_STACK_REGISTERS
	uint64_t reg[SHIM_STACK_REGISTERS];
#endif
	uint64_t bytes; /* the number of bytes of the stack; a multiple of 8 */
};

struct shim_stack_end {
	uint32_t bytes; /* the number of bytes between the fields and this struct */
	uint32_t magic;
};

#endif
