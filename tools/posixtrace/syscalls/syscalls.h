/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscalls.h - records the system calls of processes with BPF programs of the kernel at the
 * tracepoints raw_syscalls:sys_enter and sys_exit.
 *
 * In this way the tool can trace processes that the preload library cannot enter: static programs,
 * programs of Go or with other C libraries, and 32-bit programs. The processes are not stopped or
 * changed. The BPF programs keep a set of process IDs. When a traced process creates a child, the
 * programs add the child before it runs, if SYSCALLS_FOLLOW is set. A call becomes a record when it
 * returns. A call that may not return, such as exit, also becomes a record when it begins. When a
 * record is made, texts and structs are copied from the memory of the process. So the copies in a
 * record of a return include the results that the kernel has stored there. Another thread of the
 * process may change the memory during the call.
 *
 * The kernel removes everything when the descriptors are closed, even if this process is killed.
 * While the programs are attached, every system call of every process on the machine is slower.
 *
 * Threads  one thread uses these functions.
 * Errors   syscalls_begin() and syscalls_refusal() return NULL for success, otherwise a constant.
 */
#ifndef POSIXTRACE_SYSCALLS_SYSCALLS_H
#define POSIXTRACE_SYSCALLS_SYSCALLS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SYSCALLS_PIECES      3    /* number of parts of memory that a record can have */
#define SYSCALLS_PIECE_BYTES 4096 /* greatest number of bytes of a piece */
#define SYSCALLS_NUMBERS     512  /* greater than the number of each call that has a name */
#define SYSCALLS_UNREAD      UINT32_MAX

/* Why the kernel cannot record: a text for the user, and the kind of remedy. */
enum syscalls_remedy {
	SYSCALLS_OTHER_KERNEL, SYSCALLS_PERMISSION, SYSCALLS_FIRST_SPACE, SYSCALLS_MOUNT_TRACEFS,
	SYSCALLS_DESCRIPTORS, SYSCALLS_MEMORY, SYSCALLS_OTHER_PROCESSOR
};

struct syscalls_why {
	enum syscalls_remedy remedy;
	const char *text;
};

enum syscalls_kind {
	SYSCALLS_CALL,  /* a call has returned */
	SYSCALLS_ENTER, /* a call that may not return, such as exit or execve, has begun */
	SYSCALLS_NEW,   /* "tid" created the thread arg[0] with the flags arg[1] of clone(2) */
	SYSCALLS_EXEC,  /* the process executes another program, whose path is the first piece */
	/* the thread has ended; "number" is 1 if it was the last thread of its process */
	SYSCALLS_DEAD,
	SYSCALLS_TRAP,  /* a thread is at a place; uprobes/uprobes.h explains the members */
};

/*
 * A record that the programs write. The copied parts of memory follow it without gaps. They are the
 * pieces of the record. The members begin_ns, result, arg and is_32bit describe calls. In a record
 * of another kind they may have any value, unless the comment on this kind says more. The result of
 * SYSCALLS_ENTER may have any value, too.
 */
struct syscalls_record {
	/* times of the record and of the beginning of the call, by CLOCK_MONOTONIC */
	uint64_t time_ns, begin_ns;
	uint32_t pid, tid;
	uint32_t kind, number;
	int64_t result;             /* the kernel's result; negative after an error */
	uint64_t arg[6];
	uint32_t length[SYSCALLS_PIECES]; /* SYSCALLS_UNREAD: the memory cannot be read */
	/* the call is a 32-bit call, and "number" is the number of such a call */
	uint32_t is_32bit;
};

/*
 * A part of memory that the programs copy. In the array "args" of struct program_open, args[arg] is
 * the address of the part. The length of SYSCALLS_BYTES is args[length_arg], but at most "limit". A
 * text ends at its NUL, and has at most SYSCALLS_PIECE_BYTES bytes.
 */
struct syscalls_fetch {
	uint8_t kind; /* SYSCALLS_NOTHING, ... */
	uint8_t arg, length_arg, unused;
	uint32_t limit;
};

enum { SYSCALLS_NOTHING, SYSCALLS_TEXT, SYSCALLS_BYTES };

#define SYSCALLS_WANTED   1u /* calls with this number are recorded */
#define SYSCALLS_AT_ENTRY 2u /* a further record is made when the call begins */

struct syscalls_plan {
	uint32_t flags;
	uint32_t unused;
	struct syscalls_fetch fetch[SYSCALLS_PIECES];
};

/*
 * The number of plans: one for each number of 64-bit calls, then one for each number of 32-bit
 * calls. A greater number uses the last plan of these calls.
 */
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

/*
 * Lost records of calls and processes are counted separately from lost records of places.
 * SYSCALLS_LOST_CHILDREN is no number of records, but of new processes that are not recorded,
 * because too many processes are recorded at the same time.
 */
enum syscalls_losses {
	SYSCALLS_LOST_CALLS, SYSCALLS_LOST_TRAPS, SYSCALLS_LOST_CHILDREN, SYSCALLS_LOSSES
};

/* The greatest number of processes that are recorded at the same time. */
#define SYSCALLS_TRACED_MOST 65536

/*
 * The parts of a recording. The creation of threads and processes and the execution of programs are
 * recorded in any case.
 */
enum syscalls_scope {
	SYSCALLS_OF_PROCESS = 0,
	SYSCALLS_FOLLOW = 1,   /* the processes that the process starts are recorded, too */
	SYSCALLS_CALLS = 2,    /* system calls */
	SYSCALLS_ENDS = 4,     /* the ends of threads, as records SYSCALLS_DEAD */
};

/*
 * Returns NULL if this process may record system calls, otherwise the reason, which is a constant.
 * To find this out, the function creates the maps and programs in the kernel, opens the events, and
 * removes everything at once.
 */
const struct syscalls_why *syscalls_refusal(void);

/*
 * Begins to record a process. "scope" is a sum of values of enum syscalls_scope. Without
 * SYSCALLS_CALLS, "plan" may be NULL. Returns NULL, or the reason for a failure. The caller must
 * call syscalls_end() in both cases.
 */
const struct syscalls_why *syscalls_begin(struct syscalls *syscalls,
					  const struct syscalls_plan *plan, pid_t pid,
					  unsigned scope);

/*
 * Passes each record that has arrived to take(). "piece" points to the pieces of the record, which
 * have "bytes" bytes together.
 */
void syscalls_look(struct syscalls *syscalls,
		   void (*take)(void *arg, const struct syscalls_record *record,
				const unsigned char *piece, size_t bytes),
		   void *arg);

/* Returns whether a process is being recorded at this moment. */
bool syscalls_follows(const struct syscalls *syscalls, pid_t pid);

/*
 * Returns a process that is being recorded. If "pid" is 0, this is the first such process,
 * otherwise it is the process behind "pid". Returns 0 behind the last process. Between two calls,
 * processes may begin and end. If "pid" has ended, the function returns the first process again.
 */
pid_t syscalls_next(const struct syscalls *syscalls, pid_t pid);

/* Stops recording. Records that were made before can still be read. */
void syscalls_stop(struct syscalls *syscalls);

/* Returns the number of records or processes for which the kernel had no room. */
uint64_t syscalls_lost(const struct syscalls *syscalls, enum syscalls_losses which);

/* Removes everything from the kernel, also after syscalls_begin() has failed. */
void syscalls_end(struct syscalls *syscalls);

/*
 * Reads a file of an event of the kernel, such as the file "format" of "raw_syscalls/sys_exit". If
 * the file cannot be read, sets errno and returns false.
 */
bool syscalls_read_event(const char *event, const char *file, char *text, size_t bytes);

/* Calls bpf(2) and returns its result. After an error it sets errno and returns -1. */
int syscalls_bpf(enum bpf_cmd command, union bpf_attr *attr);

/*
 * Loads the program into the kernel. "type" is a BPF_PROG_TYPE_..., and "attach" is a BPF_TRACE_...
 * or 0. Returns the program's descriptor. After an error it sets errno and returns -1.
 */
struct program;
int syscalls_load(const struct program *program, enum bpf_prog_type type, unsigned attach);

/* Returns the kernel's reason for an error number of bpf(2) as a constant. */
const struct syscalls_why *syscalls_reason(int err);

/* Returns the name of a call, or NULL if it is not known. */
const char *syscalls_name(uint32_t number, bool is_32bit);

#endif
