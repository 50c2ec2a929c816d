/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * change.c - stops all threads, writes jumps or restores the code, and lets the threads go.
 *
 * No thread executes the bytes while they change. A thread may be stopped within the instructions
 * that a jump replaces, or return to them from a signal handler: then all threads are let go and it
 * is tried again. Jumps lead to memory that is never unmapped, so that a thread may be there when
 * the code is restored.
 *
 * A call that writes is not interrupted, because it would return after a part: it is waited for.
 */
#include "inject/change.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "../../../lib/preload/patch_plan.h"
#include "base/until.h"
#include "base/vec.h"

#define TRY_NS    INT64_C(10000000000) /* after this time without success it gives up */
#define PAUSE_NS  5000000              /* between two tries */
#define THREADS   16384                /* a process with more is refused */
#define STACK_MAX ((uint64_t)16 << 20) /* a deeper stack is searched so far */

#if defined __x86_64__

/* The jumps of the process, copied, and the threads that are stopped. */
struct change {
	const struct target *target;
	struct shim_jump *jump;
	size_t jumps;
	uint64_t table;        /* the address of the jumps in the process */
	/* The instructions that are replaced: sorted, without those of other jumps. */
	struct range *range;
	size_t ranges;
	struct stopped **thread;
	size_t threads;
	bool writes;
};

/* Reads the list of the process. Its contents are checked where they are used. */
static const char *read_jumps(struct change *change)
{
	const struct target *target = change->target;
	struct shim_jumps jumps;

	if (!memory_read(target->memory, target->jumps, &jumps, sizeof(jumps)) ||
	    jumps.count > SHIM_JUMPS)
		return "its list of jumps cannot be read";
	if (!jumps.count)
		return NULL;
	change->jump = malloc(jumps.count * sizeof(*change->jump));
	if (!change->jump)
		return strerror(ENOMEM);
	if (!memory_read(target->memory, jumps.jump, change->jump,
			 jumps.count * sizeof(*change->jump)))
		return "its list of jumps cannot be read";
	change->table = jumps.jump;
	change->jumps = jumps.count;
	return NULL;
}

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Collects the addresses at which no thread may be: behind the first byte of each jump. */
static const char *collect_ranges(struct change *change)
{
	change->range = calloc(change->jumps + 1, sizeof(*change->range));
	if (!change->range)
		return strerror(ENOMEM);
	for (size_t i = 0; i < change->jumps; i++) {
		const struct shim_jump *jump = &change->jump[i];

		if (change->writes && jump->is_wanted && jump->bytes > 1)
			change->range[change->ranges++] =
				(struct range){ jump->at + 1, jump->until };
	}
	qsort(change->range, change->ranges, sizeof(*change->range), by_begin);
	return NULL;
}

/* Returns whether an address is among the replaced instructions. */
static bool is_replaced(const struct change *change, uint64_t address)
{
	size_t from = 0, until = change->ranges;

	while (from < until) {
		size_t middle = from + (until - from) / 2;

		if (change->range[middle].begin <= address)
			from = middle + 1;
		else
			until = middle;
	}
	return from && address < change->range[from - 1].end;
}

/*
 * Returns whether a thread is among the replaced instructions, or its stack has an address of them:
 * that of a place which a signal handler has interrupted. A number that looks like one only delays.
 */
static bool is_inside(const struct change *change, const struct stopped *thread,
		      const struct mappings *mappings)
{
	const struct mapping *stack = mappings_at(mappings, thread->regs.rsp);
	uint64_t at = thread->regs.rsp & ~(uint64_t)7, words[512];
	uint64_t end = stack && stack->end - at > STACK_MAX ? at + STACK_MAX :
		       stack ? stack->end : at;

	if (is_replaced(change, thread->regs.rip))
		return true;
	for (; change->ranges && at < end; at += sizeof(words)) {
		size_t bytes = end - at < sizeof(words) ? end - at : sizeof(words);

		if (!memory_read(change->target->memory, at, words, bytes))
			return false;
		for (size_t i = 0; i < bytes / sizeof(*words); i++)
			if (is_replaced(change, words[i]))
				return true;
	}
	return false;
}

/* Returns whether a thread waits in a call that must not be interrupted. */
static bool must_wait(pid_t pid, pid_t tid)
{
	unsigned long argument[6];
	char path[64];
	long number;
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	found = fscanf(file, "%ld %lx %lx %lx %lx", &number, &argument[0], &argument[1],
		       &argument[2], &argument[3]);
	fclose(file);
	if (found != 5)
		return false;
	switch (number) {
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_pwritev2:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_tee:
	case SYS_vmsplice:
	case SYS_copy_file_range:
	case SYS_recvmmsg:
	case SYS_connect:
	case SYS_vfork:
	case SYS_execve:
		return true;
	case SYS_recvfrom:
		return argument[3] & MSG_WAITALL;
	case SYS_recvmsg:
		return argument[2] & MSG_WAITALL;
	}
	return false;
}

static void let_go(struct change *change)
{
	for (size_t i = 0; i < change->threads; i++) {
		stop_end(change->thread[i]);
		free(change->thread[i]);
	}
	change->threads = 0;
}

static bool is_stopped(const struct change *change, pid_t tid)
{
	for (size_t i = 0; i < change->threads; i++)
		if (change->thread[i]->tid == tid)
			return true;
	return false;
}

/* The result of one pass over the threads. */
enum pass { PASS_NONE_NEW, PASS_MORE, PASS_AGAIN, PASS_FAILED };

/* Stops a thread. *why is set for PASS_FAILED. */
static enum pass stop_one(struct change *change, pid_t tid, const char **why)
{
	struct stopped *thread;

	if (must_wait(change->target->pid, tid))
		return PASS_AGAIN;
	if (change->threads == THREADS || !vec_grow(&change->thread, change->threads, 1) ||
	    posix_memalign((void **)&thread, 64, sizeof(*thread))) {
		*why = "it has too many threads";
		return PASS_FAILED;
	}
	switch (stop_begin(thread, change->target->pid, tid)) {
	case STOP_OK:
		change->thread[change->threads++] = thread;
		return PASS_MORE;
	case STOP_RETRY:
	case STOP_ENDED:
		free(thread);
		return PASS_MORE;
	case STOP_REFUSED:
		*why = errno == EPERM ? "the kernel forbids to stop it" : strerror(errno);
		break;
	case STOP_STUCK:
		*why = "a thread of it does not stop; try it again";
		break;
	}
	free(thread);
	return PASS_FAILED;
}

/* Stops all threads that are not stopped yet. A thread that runs may start others meanwhile. */
static enum pass stop_some(struct change *change, const char **why)
{
	enum pass pass = PASS_NONE_NEW;
	struct dirent *entry;
	char path[40];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)change->target->pid);
	folder = opendir(path);
	if (!folder) {
		*why = "it has ended";
		return PASS_FAILED;
	}
	while (pass <= PASS_MORE && (entry = readdir(folder))) {
		pid_t tid = (pid_t)atoi(entry->d_name);

		if (tid && !is_stopped(change, tid))
			pass = stop_one(change, tid, why);
	}
	closedir(folder);
	return pass;
}

/*
 * Stops all threads at places where the code can change. False: it has to be tried again, or *why
 * has the reason of a failure; no thread is stopped then.
 */
static bool stop_all(struct change *change, int64_t end_ns, const char **why)
{
	struct mappings mappings;
	enum pass pass;
	bool good;

	do
		pass = stop_some(change, why);
	while (pass == PASS_MORE && until_now_ns() < end_ns);
	good = pass == PASS_NONE_NEW && !mappings_read(&mappings, change->target->pid);
	if (good) {
		for (size_t i = 0; i < change->threads && good; i++)
			good = !is_inside(change, change->thread[i], &mappings);
		mappings_fini(&mappings);
	}
	if (!good)
		let_go(change);
	return good;
}

/* Adds a number to a semaphore. */
static void count(int memory, uint64_t address, int number)
{
	uint16_t value;

	if (address && memory_read(memory, address, &value, sizeof(value))) {
		value = (uint16_t)(value + number);
		memory_write(memory, address, &value, sizeof(value));
	}
}

/*
 * Writes or restores one jump. The bytes are compared first: the module may have been unloaded, or
 * another tool may have changed the code.
 */
static void change_one(struct change *change, struct shim_jump *jump)
{
	const uint8_t *from = change->writes ? jump->original : jump->jump;
	const uint8_t *to = change->writes ? jump->jump : jump->original;
	int memory = change->target->memory;
	uint8_t now[SHIM_PLAN_JUMP];

	if (jump->bytes > SHIM_PLAN_JUMP || change->writes == jump->is_written ||
	    (change->writes && !jump->is_wanted) ||
	    !memory_read(memory, jump->at, now, sizeof(now)))
		return;
	/* A tracer that was killed may have left the jump. */
	if (memcmp(now, from, jump->bytes) != 0 && memcmp(now, to, jump->bytes) != 0)
		return;
	if (jump->bytes && !memory_write(memory, jump->at, to, jump->bytes))
		return;
	count(memory, jump->semaphore, change->writes ? 1 : -1);
	jump->is_written = change->writes;
}

/*
 * Changes the code. If this process is killed meanwhile, jumps remain that are not in the list as
 * written; the next tracer finds them by their bytes.
 */
static void change_all(struct change *change)
{
	for (size_t i = 0; i < change->jumps; i++) {
		struct shim_jump *jump = &change->jump[i];

		change_one(change, jump);
		if (!change->writes)
			jump->is_wanted = jump->is_written = false;
	}
	memory_write(change->target->memory, change->table, change->jump,
		     change->jumps * sizeof(*change->jump));
}

const char *change_code(const struct target *target, bool writes)
{
	const struct timespec pause = { 0, PAUSE_NS };
	struct change change = { .target = target, .writes = writes };
	const int64_t end_ns = until_now_ns() + TRY_NS;
	const char *why = read_jumps(&change);
	bool stopped = false;

	if (!why)
		why = collect_ranges(&change);
	while (!why && change.jumps && !stopped) {
		stopped = stop_all(&change, end_ns, &why);
		if (!stopped && !why && until_now_ns() > end_ns)
			why = "its threads were never all at places where its code can change; try "
			      "it again";
		if (!stopped && !why)
			nanosleep(&pause, NULL);
	}
	if (stopped) {
		change_all(&change);
		let_go(&change);
	}
	free(change.jump);
	free(change.range);
	free(change.thread);
	return why;
}

#else

const char *change_code(const struct target *target, bool writes)
{
	(void)target, (void)writes;
	return "not supported on this processor";
}

#endif
