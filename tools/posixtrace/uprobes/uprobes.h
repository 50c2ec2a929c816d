/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * uprobes.h - records each thread that arrives at certain places in the code of files.
 *
 * The kernel writes a breakpoint into the memory of each process that maps the file, and executes
 * the replaced instruction elsewhere. It removes the breakpoint at the end, even if this process is
 * killed. Nothing is written to the stack of a thread. A probe at the return address of a function
 * (uretprobe) would replace this address, which confuses unwinders of C++ exceptions, and the
 * runtime of Go when it moves a stack. Therefore the end of a function is recorded at its return
 * instructions.
 *
 * The records arrive together with the records of syscalls/syscalls.h, in the order in which they
 * were made.
 *
 * Threads  one thread uses these functions.
 * Errors   functions return NULL for success, otherwise a constant.
 */
#ifndef POSIXTRACE_UPROBES_UPROBES_H
#define POSIXTRACE_UPROBES_UPROBES_H

#include "syscalls/syscalls.h"

/*
 * These members of a struct syscalls_record have another meaning in a record of the kind
 * SYSCALLS_TRAP than in the record of a call. The member "number" is the index of the place.
 */
/* address of the place in the process */
#define UPROBES_ADDRESS(record)  ((record)->begin_ns)
#define UPROBES_STACK(record)    ((uint64_t)(record)->result)  /* the stack pointer */
#define UPROBES_FLAGS(record)    ((record)->arg[3])            /* flags of the processor */
#define UPROBES_CALLER(record)   ((record)->arg[2])            /* the word at the stack pointer */
#define UPROBES_RESULT(record)   ((record)->arg[1])            /* register rax */
/*
 * For files of Go: the goroutine and the bounds of its stack. A hostile program may have stored any
 * values there.
 */
#define UPROBES_GOROUTINE(record) ((record)->arg[0])
#define UPROBES_LOW(record)       ((record)->arg[4])
#define UPROBES_HIGH(record)      ((record)->arg[5])

#define UPROBES_VALUES     12   /* greatest number of values of a place */
#define UPROBES_TEXT_BYTES 1024 /* memory for the texts of a place */

/*
 * The way in which the BPF program finds a value. A value that is UPROBES_KNOWN is in a register or
 * is a constant, so the program does not read it from memory.
 */
enum uprobes_how { UPROBES_KNOWN, UPROBES_NUMBER, UPROBES_TEXT_AT, UPROBES_TEXT_BEHIND };

/*
 * A value of a place. Its address is the sum of three parts: the member "value", the register
 * "base", and the register "index" shifted by "shift". If the number of a register is UPROBES_NONE,
 * this part is left out. With UPROBES_NUMBER a number of "size" bytes is at the address. With
 * UPROBES_TEXT_AT a text is there, and with UPROBES_TEXT_BEHIND a pointer to a text. A text has at
 * most "size" bytes with its NUL. The program stores the text at the offset "at" of
 * uprobes_found.text. Both "size" and "at" are less than 512.
 */
struct uprobes_value {
	uint8_t how, base, index, shift;
	uint16_t size, at;
	int64_t value;
	uint64_t in_file;   /* 1: "value" is an address in the file */
};

#define UPROBES_NONE 0xff

struct uprobes_values {
	uint64_t address;   /* address of the place in the file */
	struct uprobes_value value[UPROBES_VALUES];
};

/*
 * The contents of the memory behind the record of a place with values. reg[i] is the register with
 * number i.
 */
struct uprobes_found {
	uint64_t reg[16];
	uint64_t number[UPROBES_VALUES];
	/* lengths of texts with their NULs; 0: the text could not be read */
	uint32_t length[UPROBES_VALUES];
	char text[UPROBES_TEXT_BYTES];
};

struct uprobes_place {
	uint32_t file;      /* index of the file's path */
	uint64_t offset;    /* offset of the place in the file */
	uint64_t semaphore; /* offset of a number of 2 bytes that the kernel increments; 0: none */
	bool is_go;
	const struct uprobes_values *values; /* NULL: none */
};

struct uprobes {
	struct syscalls *syscalls;
	size_t first;         /* number of the first place in the records */
	/* valued: the program for places with values; -1: there are no such places */
	int program, valued;
	int values;           /* the map of the values; the key is the number of the place */
	bool is_multi;        /* one link has many places (Linux 6.6) */
	int *fd;              /* descriptors of links, or of events and their links */
	size_t fds;
	const char *refused;  /* the reason for the last refusal */
	size_t refusals;      /* number of places that the kernel refused, in accepted groups */
	int last_error;       /* error number of the last group that the kernel refused; 0: none */
};

/*
 * Returns NULL if this process may use such places, otherwise the reason. To find this out, the
 * function begins a recording of this process without system calls, loads a program into the
 * kernel, and removes everything at once.
 */
const struct syscalls_why *uprobes_refusal(void);

/*
 * Adds the places to the recording that syscalls_begin() has begun. Only threads of processes that
 * the recording follows are recorded. Other processes that execute the same files become slower
 * during the recording. "first" is the number of the first place in the records. The numbers of the
 * other places follow. Later calls with other structures add further places to the same recording.
 * The places of one file without values form a group, and those with values form another one. If
 * the kernel refuses some places of a group, they are counted. If it refuses all places of a group,
 * the function prints the file and the reason, and adds the later groups. It is an error if the
 * kernel refuses all groups. If memory or descriptors are lacking, that is an error, too, and the
 * later groups are not added. The caller must call uprobes_end() in any case.
 */
const struct syscalls_why *uprobes_begin(struct uprobes *uprobes, struct syscalls *syscalls,
					 const char *const *path,
					 const struct uprobes_place *place, size_t count,
					 size_t first);

/* Removes all places. Records that were made before can still be read. May be called twice. */
void uprobes_end(struct uprobes *uprobes);

#endif
