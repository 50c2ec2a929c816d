/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * procfile.h - reads small text files of /proc and /sys. In some of them, such as /proc/PID/status,
 * each line has a name, a colon and a value.
 *
 * Any thread may call these functions. They print no messages.
 */
#ifndef POSIXTRACE_BASE_PROCFILE_H
#define POSIXTRACE_BASE_PROCFILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCFILE_BYTES 8192 /* enough for each status file without its line Groups */

/*
 * Reads at most bytes - 1 bytes of a file into text and adds a NUL. If a status file has more
 * bytes, its line Groups is omitted. Returns false and sets errno if the file cannot be opened, for
 * example because the process has ended.
 */
bool procfile_read(const char *path, char *text, size_t bytes);

/*
 * Returns the value in the line that begins with "name", or NULL if there is no such line. The
 * value ends at the end of the line and not with a NUL. "name" includes the colon.
 */
const char *procfile_field(const char *text, const char *name);

/*
 * Returns the number in the line that begins with "name". The number is written in the given base.
 * If there is no such line, the function returns its argument "otherwise".
 */
unsigned long long procfile_number(const char *text, const char *name, int base,
				   unsigned long long otherwise);

/*
 * Returns the last of the numbers in the line that begins with "name", such as "NSpid:". It is the
 * number in the innermost namespace of process IDs. Returns 0 if there is no such line.
 */
pid_t procfile_last_number(const char *text, const char *name);

/*
 * Returns the number of a thread in its own namespace of process IDs, the innermost one. The events
 * of a thread have this number. Returns the argument tid if the thread has ended, or if the kernel
 * does not show the number.
 */
pid_t procfile_inner_id(pid_t pid, pid_t tid);

/*
 * Returns the inode of the namespace of process IDs of a process, or 0 if the kernel does not show
 * it. "process" is a number, or "self". The inode of the first namespace is a constant of Linux.
 */
#define PROCFILE_FIRST_SPACE UINT64_C(0xeffffffc)
uint64_t procfile_space(const char *process);

/*
 * Returns whether two processes are in the same namespace of process IDs. The result is also false
 * if the kernel does not show one of the namespaces.
 */
bool procfile_same_ids(pid_t pid, pid_t other);

/*
 * Returns whether /proc belongs to another namespace of process IDs than this process. In this
 * case /proc/PID is another process, which has the number PID in the other namespace. Returns
 * false if /proc is not mounted.
 */
bool procfile_is_foreign(void);

/*
 * Stores the name that a thread has in the kernel. The name of a process is that of its main
 * thread, whose number is `pid`. A name may contain line ends. Returns false, with an empty name,
 * if the thread has ended or is hidden.
 */
bool procfile_name(pid_t pid, pid_t tid, char *name, size_t bytes);

/*
 * Stores the path of the program that a process executes. Returns false for a kernel thread, which
 * executes no program, and if this process may not read the path. If the file of the program was
 * removed, for example by an upgrade, the kernel adds " (deleted)" to the path. The function
 * removes this addition, because the process still executes that program.
 */
bool procfile_program(pid_t pid, char *path, size_t bytes);

/*
 * Returns whether the kernel says that there is no such process. A zombie still exists: a process
 * that has ended and for which its parent has not waited. errno is unchanged.
 */
bool procfile_has_ended(pid_t pid);

/*
 * The threads of a process. procfile_threads() opens the list, or returns NULL and sets errno. Then
 * procfile_next_thread() returns one number after the other, and 0 at the end. A thread that begins
 * or ends meanwhile may be missing. The last two functions accept NULL, an empty list.
 */
DIR *procfile_threads(pid_t pid);
pid_t procfile_next_thread(DIR *threads);
void procfile_end_threads(DIR *threads);

struct procfile_stat {
	char state;               /* R, S, Z, ... */
	bool is_kernel;           /* a thread of the kernel */
	unsigned long long start; /* clock ticks after boot */
	/*
	 * processor time in clock ticks, including the time of children for which the process has
	 * waited
	 */
	unsigned long long ticks;
	/* exit status of a zombie, in the form of wait(2); 0 also if the kernel hides it */
	int status;
};

/*
 * Reads /proc/PID/stat. On failure, returns false and sets errno. ENOENT or ESRCH: the process has
 * ended. EIO: the content is malformed. ENOTSUP: /proc is foreign. After any other error, such
 * as EMFILE, it is not known whether the process has ended. EACCES may mean that the mount options
 * of /proc hide the process.
 */
bool procfile_stat(pid_t pid, struct procfile_stat *stat);

/*
 * Returns when a process began, in nanoseconds since 1970. The parameter is the member "start" of
 * struct procfile_stat. The result can be wrong by a few clock ticks, and by each step of
 * CLOCK_REALTIME since then.
 */
int64_t procfile_began_ns(unsigned long long start);

/* The system call in which a thread is. */
struct procfile_call {
	long number;
	unsigned long argument[6];
	unsigned long place; /* the address of the instruction after the call */
};

/*
 * PROCFILE_NO_CALL: the thread is blocked outside of a system call, or has ended, or the kernel
 * refuses access.
 */
enum procfile_place { PROCFILE_NO_CALL, PROCFILE_RUNNING, PROCFILE_IN_CALL };

/* Reads /proc/PID/task/TID/syscall. Stores the call only if the result is PROCFILE_IN_CALL. */
enum procfile_place procfile_call(pid_t pid, pid_t tid, struct procfile_call *call);

#endif
