/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscalls.h - the system calls of processes, recorded by programs of the kernel's BPF at the
 * tracepoints raw_syscalls:sys_enter and sys_exit.
 *
 * In this way processes can be traced that the preload library cannot enter: processes of static
 * programs, of Go, of other C libraries, and 32-bit processes. The processes are not stopped or
 * changed. The BPF programs keep a set of process IDs. When a traced process creates a child, the
 * child is added before it runs. A call becomes one record when it returns. Texts and structs are
 * then copied from the memory of the process, so that results that the kernel has stored there are
 * copied, too. Another thread of the process may change the memory during the call.
 *
 * The kernel removes everything when the descriptors are closed, even if this process is killed.
 * While the programs are attached, each system call of every process of the machine is slower.
 *
 * Threads  one thread uses these functions.
 * Errors   functions return an error number or a text for the user.
 */
#ifndef POSIXTRACE_SYSCALLS_SYSCALLS_H
#define POSIXTRACE_SYSCALLS_SYSCALLS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SYSCALLS_PIECES      3    /* parts of memory that a record can have */
#define SYSCALLS_PIECE_BYTES 4096 /* the most bytes of one piece */
#define SYSCALLS_NUMBERS     512  /* greater than the number of each call of the kernel */
#define SYSCALLS_UNREAD      UINT32_MAX

enum syscalls_kind {
	SYSCALLS_CALL,  /* a call has returned */
	SYSCALLS_ENTER, /* a call that may not return, such as exit or execve, has begun */
	SYSCALLS_NEW,   /* "tid" created the thread arg[0] with the flags arg[1] of clone(2) */
	SYSCALLS_EXEC,  /* the process executes another program, whose path is the first piece */
	SYSCALLS_DEAD,  /* the thread has ended; number: 1 if it was the last one of its process */
	SYSCALLS_TRAP,  /* a thread is at a place; uprobes/uprobes.h explains the members */
};

/* A record as the programs write it. The pieces follow it without gaps. */
struct syscalls_record {
	uint64_t time_ns, begin_ns; /* CLOCK_MONOTONIC: of the record, and of the call's begin */
	uint32_t pid, tid;
	uint32_t kind, number;
	int64_t result;             /* as the kernel returns it: an error is negative */
	uint64_t arg[6];
	uint32_t length[SYSCALLS_PIECES]; /* SYSCALLS_UNREAD: the memory cannot be read */
	uint32_t is_32bit;          /* the call was made as a 32-bit call, with its number */
};

/*
 * A part of memory that the programs copy. args[arg] is its address. The length is
 * args[length_arg], at most limit. args[6] is the result of the call, and args[7] is a very large
 * number. A text ends at its NUL.
 */
struct syscalls_fetch {
	uint8_t kind; /* SYSCALLS_NOTHING, ... */
	uint8_t arg, length_arg, unused;
	uint32_t limit;
};

enum { SYSCALLS_NOTHING, SYSCALLS_TEXT, SYSCALLS_BYTES };

#define SYSCALLS_WANTED   1u /* calls with this number are recorded */
#define SYSCALLS_AT_ENTRY 2u /* a record is made when the call begins, too */

struct syscalls_plan {
	uint32_t flags;
	uint32_t unused;
	struct syscalls_fetch fetch[SYSCALLS_PIECES];
};

/* The plans of all numbers: those of 64 bits, then those of 32 bits. */
#define SYSCALLS_PLANS (2 * SYSCALLS_NUMBERS)

enum { SYSCALLS_MAP_PLAN, SYSCALLS_MAP_TRACED, SYSCALLS_MAP_OPEN, SYSCALLS_MAP_SCRATCH,
       SYSCALLS_MAP_LOST, SYSCALLS_MAP_RING, SYSCALLS_MAPS };
#define SYSCALLS_PROGRAMS 5

struct syscalls {
	int map[SYSCALLS_MAPS];
	int program[SYSCALLS_PROGRAMS], event[SYSCALLS_PROGRAMS];
	unsigned char *consumer, *producer; /* the shared pages of the ring */
	size_t page;                        /* size of a page in bytes */
	bool is_active;
};

/* Lost records of calls and processes are counted separately from lost records of places. */
enum syscalls_losses { SYSCALLS_LOST_CALLS, SYSCALLS_LOST_TRAPS, SYSCALLS_LOSSES };

/* The parts of a recording. Begins and executions of processes are recorded in any case. */
enum syscalls_scope {
	SYSCALLS_OF_PROCESS = 0,
	SYSCALLS_FOLLOW = 1,   /* the processes that the process starts are recorded, too */
	SYSCALLS_CALLS = 2,    /* system calls */
	SYSCALLS_ENDS = 4,     /* the ends of threads, as records SYSCALLS_DEAD */
};

/*
 * Returns NULL if this process may record system calls, otherwise the reason, which is a constant.
 * The kernel is asked for a map and a program, which are removed at once.
 */
const char *syscalls_refusal(void);

/*
 * Begins to record a process. "scope" is a sum of values of enum syscalls_scope. Without
 * SYSCALLS_CALLS, "plan" may be NULL. Returns NULL, or the reason for a failure. The caller must
 * call syscalls_end() in both cases.
 */
const char *syscalls_begin(struct syscalls *syscalls, const struct syscalls_plan *plan, pid_t pid,
			   unsigned scope);

/* Passes each record that has arrived to take(). "piece" is the memory behind the record. */
void syscalls_look(struct syscalls *syscalls,
		   void (*take)(void *arg, const struct syscalls_record *record,
				const unsigned char *piece, size_t bytes),
		   void *arg);

/* Returns whether a process is recorded at this moment. */
bool syscalls_follows(const struct syscalls *syscalls, pid_t pid);

/*
 * Returns a process that is recorded: the first one if pid is 0, otherwise the one behind pid.
 * Returns 0 behind the last one. Processes may begin and end meanwhile.
 */
pid_t syscalls_next(const struct syscalls *syscalls, pid_t pid);

/* Stops recording. Records that were made before can still be read. */
void syscalls_stop(struct syscalls *syscalls);

/* Returns the number of records that the kernel had no room for. */
uint64_t syscalls_lost(const struct syscalls *syscalls, enum syscalls_losses which);

/* Removes everything from the kernel, also after syscalls_begin() has failed. */
void syscalls_end(struct syscalls *syscalls);

/*
 * Reads a file of an event of the kernel, such as the format of "raw_syscalls/sys_exit". Returns
 * false, with errno, if it cannot be read.
 */
bool syscalls_read_event(const char *event, const char *file, char *text, size_t bytes);

/* Calls bpf(2). Returns its result; -1 and errno after an error. */
int syscalls_bpf(enum bpf_cmd command, union bpf_attr *attr);

/*
 * Loads the program into the kernel. type: BPF_PROG_TYPE_...; attach: BPF_TRACE_..., or 0. Returns
 * its descriptor, or -1 and errno.
 */
struct program;
int syscalls_load(const struct program *program, enum bpf_prog_type type, unsigned attach);

/* Returns the kernel's reason for an error number of bpf(2) as a constant text. */
const char *syscalls_reason(int err);

/* Returns the name of a call, or NULL if it is not known. */
const char *syscalls_name(uint32_t number, bool is_32bit);

#endif
