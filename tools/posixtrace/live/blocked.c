/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocked.c - finds threads that are blocked for long, and the objects for which they wait.
 *
 * /proc/PID/task/TID/schedstat has the processor time of a thread and the number of times at which
 * it got a processor. If the file has not changed between two looks, and the thread is in a system
 * call, the thread was blocked in this call in the whole time between.
 */
#include "live/blocked.h"

#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/until.h"
#include "base/vec.h"
#include "live/address.h"
#include "live/futex_lock.h"
#include "live/pipe_writers.h"
#include "live/sem_taken.h"

#define THREADS   4096  /* the most threads that are examined in one look */
#define PROCESSES 256
#define DEPTH     16    /* generations of descendants */
#define PAUSE_NS  INT64_C(100000000)
#define LEAST_NS  INT64_C(500000000) /* shorter waits are not recorded during the trace */
#define PAUSES    200   /* a pause is at least this many times as long as a look */
#define POLLED    8     /* the most descriptors of a poll that are examined */
#define OBJECT    160   /* bytes of a text */

struct blocked_thread {
	pid_t pid, tid;
	char spent[64];    /* the content of schedstat */
	int64_t since_ns;  /* the first look with this content */
	int64_t noted_ns;  /* how long the thread was blocked when it was last recorded; 0: never */
};

/* The threads of a look. */
struct look {
	struct blocked_thread *thread;
	size_t threads;
	pid_t process[PROCESSES];
	size_t processes;
	struct pipe_writers writers;
};

/* Orders threads by their numbers, which are unique among all processes. */
static int by_tid(const void *a, const void *b)
{
	const struct blocked_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* ------------------------------------------------------------------ the walk */

/* Adds a thread if its file can be read. */
static void add_thread(struct look *look, pid_t pid, pid_t tid)
{
	struct blocked_thread thread = { .pid = pid, .tid = tid };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	if (look->threads < THREADS && procfile_read(path, thread.spent, sizeof(thread.spent)) &&
	    vec_grow(&look->thread, look->threads, 1))
		look->thread[look->threads++] = thread;
}

/* Adds the threads of a process and of its descendants. */
static void walk_process(struct look *look, pid_t pid, int depth)
{
	char path[64], text[PROCFILE_BYTES];
	DIR *threads = depth && look->processes < PROCESSES ? procfile_threads(pid) : NULL;
	pid_t tid;

	if (!threads)
		return;
	look->process[look->processes++] = pid;
	while (look->threads < THREADS && (tid = procfile_next_thread(threads))) {
		char *at = text, *end;
		long child;

		add_thread(look, pid, tid);
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
		if (!procfile_read(path, text, sizeof(text)))
			continue;
		for (; (child = strtol(at, &end, 10)) > 0 && end != at; at = end)
			walk_process(look, (pid_t)child, depth - 1);
	}
	procfile_end_threads(threads);
}

/* ------------------------------------------------------------------ the object of a call */

/* The system calls that wait, and the number of the argument that is a descriptor; -1: none. */
#define ROW(name, fd) { SYS_##name, #name, fd }
static const struct call_row {
	long number;
	const char *name;
	int fd;
} rows[] = {
	ROW(read, 0), ROW(readv, 0), ROW(write, 0), ROW(writev, 0), ROW(recvfrom, 0),
	ROW(recvmsg, 0), ROW(sendto, 0), ROW(sendmsg, 0), ROW(accept, 0), ROW(accept4, 0),
	ROW(connect, 0), ROW(pread64, 0), ROW(pwrite64, 0), ROW(fsync, 0), ROW(fdatasync, 0),
	ROW(flock, 0), ROW(fcntl, 0), ROW(mq_timedsend, 0), ROW(mq_timedreceive, 0),
	ROW(ppoll, -1), ROW(pselect6, -1), ROW(epoll_pwait, 0), ROW(futex, -1), ROW(wait4, -1),
	ROW(waitid, -1), ROW(nanosleep, -1), ROW(clock_nanosleep, -1), ROW(rt_sigtimedwait, -1),
	ROW(rt_sigsuspend, -1), ROW(openat, -1), ROW(semtimedop, -1), ROW(msgrcv, -1),
	ROW(msgsnd, -1), ROW(ioctl, 0), ROW(restart_syscall, -1),
#ifdef SYS_poll
	ROW(poll, -1),
#endif
#ifdef SYS_select
	ROW(select, -1),
#endif
#ifdef SYS_epoll_wait
	ROW(epoll_wait, 0),
#endif
#ifdef SYS_pause
	ROW(pause, -1),
#endif
#ifdef SYS_open
	ROW(open, -1),
#endif
#ifdef SYS_semop
	ROW(semop, -1),
#endif
};

static const struct call_row *find_row(long number)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].number == number)
			return &rows[i];
	return NULL;
}

/* The facts of a blocked thread. */
struct found {
	char call[24], object[OBJECT], others[OBJECT], doubt[OBJECT], names[OBJECT];
	uint64_t lock;
	int32_t fd, owner;
	bool is_private; /* the lock is a futex of unknown kind that belongs to the process */
};

static bool read_memory(pid_t pid, uint64_t address, void *data, size_t bytes)
{
	const struct iovec to = { data, bytes }, from = { (void *)(uintptr_t)address, bytes };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

/*
 * Writes the address of the other end of a socket. If the socket has no other end, writes the
 * address of the socket itself. If neither has an address, writes "socket" only. The recorder
 * duplicates the descriptor for a moment.
 */
static void find_address(pid_t pid, int fd, char *text, size_t size)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), copy = -1;
	char at[ADDRESS_BYTES] = "";

	snprintf(text, size, "socket");
	if (process >= 0)
		copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
	if (copy >= 0)
		address_peer(copy, at);
	if (*at) {
		snprintf(text, size, "socket to %s", at);
	} else if (copy >= 0) {
		address_own(copy, at);
		if (*at)
			snprintf(text, size, "socket at %s", at);
	}
	if (copy >= 0)
		close(copy);
	if (process >= 0)
		close(process);
}

/*
 * Finds the file, pipe or socket of a descriptor. If the call reads a pipe, also finds the
 * processes that can write into it.
 */
static void find_file(struct look *look, pid_t pid, struct found *found)
{
	const char *doubt;
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, (int)found->fd);
	len = readlink(path, found->object, sizeof(found->object) - 1);
	found->object[len > 0 ? len : 0] = '\0';
	if (!strncmp(found->object, "socket:", 7))
		find_address(pid, found->fd, found->object, sizeof(found->object));
	if (found->call[0] != 'r')
		return;
	doubt = pipe_writers_text(&look->writers, pid, found->object, found->others,
				  sizeof(found->others));
	if (doubt)
		snprintf(found->doubt, sizeof(found->doubt), "%s", doubt);
	pipe_writers_names(&look->writers, pid, found->object, found->names,
			   sizeof(found->names));
}

/* Finds the descriptor that a poll watches, if it watches only one. */
static void find_polled(pid_t pid, const struct procfile_call *call, struct found *found)
{
	struct pollfd polled[POLLED];
	const uint64_t count = call->argument[1];

	if (!count || count > POLLED ||
	    !read_memory(pid, call->argument[0], polled, count * sizeof(*polled)))
		return;
	for (uint64_t i = 0; i < count; i++) {
		if (polled[i].fd < 0)
			continue;
		if (found->fd >= 0) {
			found->fd = -1;
			return;
		}
		found->fd = polled[i].fd;
	}
}

/*
 * Returns whether a process has the same word size as this process. Processes of one word size have
 * the same numbers of system calls. The file of the program is not opened, because its file system
 * may not answer. The kernel stores the size of a program header in /proc/PID/auxv, and this size
 * shows the word size.
 */
static bool is_same_class(pid_t pid)
{
	unsigned long vector[2 * 64];
	char path[64];
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bytes = read(fd, vector, sizeof(vector));
	close(fd);
	for (ssize_t i = 0; (i + 2) * (ssize_t)sizeof(*vector) <= bytes; i += 2)
		if (vector[i] == AT_PHENT)
			return vector[i + 1] == sizeof(ElfW(Phdr));
	return false;
}

/*
 * A tracer's stop, or a signal that is ignored, interrupts a wait with a limit of time. The kernel
 * then resumes the wait by restart_syscall(), with the arguments of the interrupted call. The
 * program's code still has the number of the interrupted call: the instruction before the system
 * call usually loads it. The function then stores this number in *call. If the code is another one,
 * *call is unchanged.
 */
static void find_interrupted(pid_t pid, struct procfile_call *call)
{
	static const long resumed[] = {
		SYS_clock_nanosleep, SYS_futex, SYS_nanosleep,
#ifdef SYS_poll
		SYS_poll,
#endif
	};
	long number = -1;
#if defined(__x86_64__)
	unsigned char code[7]; /* mov $number, %eax; syscall */
	int32_t loaded;

	if (!read_memory(pid, call->place - sizeof(code), code, sizeof(code)) || code[0] != 0xb8 ||
	    code[5] != 0x0f || code[6] != 0x05)
		return;
	memcpy(&loaded, code + 1, sizeof(loaded));
	number = loaded;
#elif defined(__aarch64__)
	uint32_t code[2]; /* mov x8, #number; svc #0 */

	if (!read_memory(pid, call->place - sizeof(code), code, sizeof(code)) ||
	    (code[0] & 0xffe0001f) != 0xd2800008 || code[1] != 0xd4000001)
		return;
	number = code[0] >> 5 & 0xffff;
#endif
	for (size_t i = 0; i < sizeof(resumed) / sizeof(*resumed); i++)
		if (resumed[i] == number)
			call->number = number;
}

/*
 * Reads the system call in which a thread is blocked. Returns false if the thread is in no system
 * call, if its process has another word size, or if the kernel refuses access.
 */
static bool read_call(pid_t pid, pid_t tid, struct procfile_call *call)
{
	if (procfile_call(pid, tid, call) != PROCFILE_IN_CALL || !is_same_class(pid))
		return false;
	if (call->number == SYS_restart_syscall)
		find_interrupted(pid, call);
	return true;
}

/* Finds the system call in which a thread is blocked. Returns false if read_call() does. */
static bool find_call(struct look *look, const struct blocked_thread *thread,
		      struct found *found)
{
	const bool has_numbers = procfile_same_ids(thread->pid, getpid());
	const struct call_row *row;
	struct futex_lock lock;
	struct procfile_call call;

	*found = (struct found){ .fd = -1 };
	if (!read_call(thread->pid, thread->tid, &call))
		return false;
	row = find_row(call.number);
	if (row) {
		snprintf(found->call, sizeof(found->call), "%s", row->name);
		found->fd = row->fd < 0 ? -1 : (int32_t)call.argument[row->fd];
	} else {
		snprintf(found->call, sizeof(found->call), "system call %ld", call.number);
	}
	if (!strncmp(found->call, "sem", 3) || !strncmp(found->call, "msg", 3))
		snprintf(found->object, sizeof(found->object), "System V %s %d",
			 found->call[0] == 's' ? "set" : "queue", (int)call.argument[0]);
	if (call.number == SYS_futex) {
		lock = futex_lock_find(thread->pid, &call, has_numbers);
		found->lock = lock.lock;
		found->owner = lock.owner;
		snprintf(found->object, sizeof(found->object), "%s", lock.kind);
		snprintf(found->doubt, sizeof(found->doubt), "%s", lock.doubt ? lock.doubt : "");
		found->is_private = !lock.owner && call.argument[1] & FUTEX_PRIVATE_FLAG;
	} else if (has_numbers && (call.number == SYS_wait4 ||
				   (call.number == SYS_waitid && call.argument[0] == P_PID))) {
		found->owner = (int32_t)call.argument[call.number == SYS_waitid];
		if (found->owner > 0)
			pipe_writers_process(found->owner, found->others, sizeof(found->others));
	} else if (strstr(found->call, "poll") && !strstr(found->call, "epoll")) {
		find_polled(thread->pid, &call, found);
	}
	if (found->owner < 0)
		found->owner = 0;
	if (found->fd >= 0)
		find_file(look, thread->pid, found);
	return true;
}

const char *blocked_call_name(pid_t pid, pid_t tid)
{
	struct procfile_call call;
	const struct call_row *row = read_call(pid, tid, &call) ? find_row(call.number) : NULL;

	return row ? row->name : NULL;
}

/* ------------------------------------------------------------------ events */

/* Records which thread took the semaphore for which a thread waits, if this is known. */
static void note_taken(const struct blocked_thread *thread, const struct found *found,
		       struct capture *capture)
{
	struct sem_taken taken;

	if (!sem_taken_find(thread->pid, found->lock, &taken))
		return;
	struct {
		int32_t pid, tid;
		uint64_t lock, caller;
		int32_t taker;
	} data = { .pid = procfile_inner_id(thread->pid, thread->pid),
		   .tid = procfile_inner_id(thread->pid, thread->tid), .lock = found->lock,
		   .caller = taken.caller,
		   .taker = taken.tid ? procfile_inner_id(thread->pid, taken.tid) : 0 };

	capture_note(capture, TAKEN_EVENT, TAKEN_SCHEMA, &data, offsetof(typeof(data), taker) + 4);
}

/* Records a thread, if it is blocked in a system call. */
static void note_thread(struct look *look, struct blocked_thread *thread, int64_t now_ns,
			struct capture *capture)
{
	struct {
		int32_t pid, tid;
		uint64_t blocked_ns, lock;
		int32_t fd, owner;
		char text[sizeof(((struct found *)0)->call) + 4 * OBJECT];
	} data = { .pid = procfile_inner_id(thread->pid, thread->pid),
		   .tid = procfile_inner_id(thread->pid, thread->tid),
		   .blocked_ns = (uint64_t)(now_ns - thread->since_ns) };
	const char *text[5];
	struct found found;
	size_t used = 0;

	if (!find_call(look, thread, &found))
		return;
	thread->noted_ns = now_ns - thread->since_ns;
	data.lock = found.lock;
	data.fd = found.fd;
	data.owner = found.owner;
	text[0] = found.call;
	text[1] = found.object;
	text[2] = found.others;
	text[3] = found.doubt;
	text[4] = found.names;
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		memcpy(data.text + used, text[i], strlen(text[i]) + 1);
		used += strlen(text[i]) + 1;
	}
	capture_note(capture, BLOCKED_EVENT, BLOCKED_SCHEMA, &data, offsetof(typeof(data), text) +
		     used);
	if (found.is_private)
		note_taken(thread, &found, capture);
}

/* Examines all threads. If is_last is true, all blocked threads are recorded. */
static void look_at_all(struct blocked *blocked, struct capture *capture, bool is_last)
{
	struct look look = { .threads = 0 };
	const int64_t now_ns = until_now_ns();

	blocked->pid = capture->plan->pid;
	walk_process(&look, blocked->pid, DEPTH);
	for (size_t i = 0; i < look.threads; i++) {
		struct blocked_thread *thread = &look.thread[i];
		const struct blocked_thread *old = !blocked->threads ? NULL :
			bsearch(thread, blocked->thread, blocked->threads,
				sizeof(*blocked->thread), by_tid);
		const bool is_same = old && old->pid == thread->pid &&
				     !strcmp(old->spent, thread->spent);

		thread->since_ns = is_same ? old->since_ns : now_ns;
		thread->noted_ns = is_same ? old->noted_ns : 0;
		if (is_last || (is_same && now_ns - thread->since_ns >= LEAST_NS &&
				(now_ns - thread->since_ns) / 2 >= thread->noted_ns))
			note_thread(&look, thread, now_ns, capture);
	}
	if (look.threads)
		qsort(look.thread, look.threads, sizeof(*look.thread), by_tid);
	pipe_writers_fini(&look.writers);
	free(blocked->thread);
	blocked->thread = look.thread;
	blocked->threads = look.threads;
}

void blocked_look(struct blocked *blocked, struct capture *capture)
{
	const int64_t begin_ns = until_now_ns();
	int64_t pause_ns;

	if (!capture->plan->looks_at_blocked || begin_ns < blocked->next_ns ||
	    procfile_is_foreign())
		return;
	look_at_all(blocked, capture, false);
	throttled_look(&blocked->throttled, blocked->pid, capture);
	pause_ns = (until_now_ns() - begin_ns) * PAUSES;
	blocked->next_ns = begin_ns + (pause_ns > PAUSE_NS ? pause_ns : PAUSE_NS);
}

void blocked_end(struct blocked *blocked, struct capture *capture)
{
	if (capture->plan->looks_at_blocked && !procfile_is_foreign()) {
		look_at_all(blocked, capture, true);
		throttled_look(&blocked->throttled, blocked->pid, capture);
	}
	free(blocked->thread);
	*blocked = (struct blocked){ .threads = 0 };
}
