/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * change.c - stops all threads, writes jumps or restores the code, and releases the threads.
 *
 * No thread executes the bytes while they change. A thread may be stopped within the instructions
 * that a jump replaces, or may return to them from a signal handler. In both cases this process
 * releases all threads and tries again. Jumps lead to memory that is never unmapped, because a
 * thread may be in this memory when the code is restored.
 *
 * If a system call that writes is interrupted, it may return after it has written only a part. So
 * this process waits for the end of such a call, and does not interrupt it.
 */
#include "inject/change.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "../../../lib/preload/patch_plan.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/until.h"
#include "base/vec.h"
#include "inject/safe.h"
#include "inject/stop.h"

#define TRY_NS    INT64_C(10000000000) /* change_code() gives up after this time without success */
#define RESTORE_NS INT64_C(30000000000) /* the limit for a restoration, which is not repeated */
#define PAUSE_NS  INT64_C(5000000)     /* after the first try; doubled up to PAUSE_MAX */
#define PAUSE_MAX INT64_C(320000000)
#define THREADS   16384                /* a process with more threads is refused */
#define STACK_MAX ((uint64_t)16 << 20) /* at most this number of bytes of a stack is searched */

#if defined __x86_64__

/* The state of a change: a copy of the jumps of the process, and the stopped threads. */
struct change {
	const struct target *target;
	struct shim_jump *jump;
	size_t jumps;
	uint64_t table;        /* the address of the jumps in the process */
	/*
	 * For each jump to be written, the range of the replaced instructions without their first
	 * byte; sorted.
	 */
	struct range *range;
	size_t ranges;
	struct stopped **thread;
	size_t threads;
	bool writes, is_stuck;
};

/*
 * Reads the list of jumps of the process. Returns the reason of a failure, or NULL. After a failure
 * there is no memory to free. The other functions check the contents of a jump before they use it.
 */
static const char *read_jumps(struct change *change)
{
	const struct target *target = change->target;
	struct shim_jumps jumps;

	if (!memory_read(target->memory, target->jumps, &jumps, sizeof(jumps)) ||
	    jumps.count > SHIM_JUMPS)
		return "the list of its traced places cannot be read";
	if (!jumps.count)
		return NULL;
	change->jump = malloc(jumps.count * sizeof(*change->jump));
	if (!change->jump)
		return strerror(ENOMEM);
	if (!memory_read(target->memory, jumps.jump, change->jump,
			 jumps.count * sizeof(*change->jump))) {
		free(change->jump);
		change->jump = NULL;
		return "the list of its traced places cannot be read";
	}
	change->table = jumps.jump;
	change->jumps = jumps.count;
	return NULL;
}

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/*
 * Collects the addresses at which no thread may be. For each jump to be written, these are the
 * addresses of the replaced bytes except the first. A restoration needs no such addresses, because
 * a thread may be anywhere in the jumps' memory. Returns the reason of a failure, or NULL.
 */
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
 * Returns whether a thread is among the replaced instructions, or its stack has an address among
 * them. Such an address on the stack may be the place at which a signal handler has interrupted the
 * thread. A number on the stack may also look like such an address by chance. That only delays the
 * change. If nothing of the stack can be read, the result is true, because it is unknown where the
 * thread is.
 */
static bool is_inside(const struct change *change, const struct stopped *thread,
		      const struct mappings *mappings)
{
	const struct mapping *mapping = mappings_at(mappings, thread->regs.rsp);
	const uint64_t at = thread->regs.rsp & ~(uint64_t)7;
	struct mapping stack;
	uint64_t *word;
	size_t bytes;
	bool is;

	if (!change->ranges)
		return false;
	if (!mapping || is_replaced(change, thread->regs.rip))
		return true;
	stack = *mapping;
	if (stack.end - at > STACK_MAX)
		stack.end = at + STACK_MAX;
	bytes = memory_stack(change->target->memory, at, &stack, STACK_MAX, &word);
	is = !bytes;
	for (size_t i = 0; i < bytes / sizeof(*word) && !is; i++)
		is = is_replaced(change, word[i]);
	free(word);
	return is;
}

/*
 * Returns whether a thread waits in a call that must not be interrupted. In a process that SIGSTOP
 * has stopped, no thread waits in such a call, because SIGSTOP has already interrupted all calls.
 */
static bool must_wait(pid_t pid, pid_t tid)
{
	struct procfile_call call;
	const unsigned long *argument = call.argument;

	if (procfile_call(pid, tid, &call) != PROCFILE_IN_CALL)
		return false;
	switch (call.number) {
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
	case SYS_connect:
	case SYS_vfork:
	case SYS_clone: /* clone() and clone3() wait only with CLONE_VFORK */
	case SYS_clone3:
	case SYS_execve:
	case SYS_execveat:
		return stop_state(pid, tid) != 'T';
	case SYS_recvmmsg:
		/*
		 * A call for one message, or with MSG_WAITFORONE, waits only for the first message,
		 * so the kernel restarts it exactly. Any other call may have received some of its
		 * messages, so it must not be interrupted. A call with a time limit must not be
		 * interrupted, because its time would begin again.
		 */
		return ((argument[2] > 1 && !(argument[3] & MSG_WAITFORONE)) || argument[4]) &&
		       stop_state(pid, tid) != 'T';
	case SYS_recvfrom:
		return argument[3] & MSG_WAITALL && stop_state(pid, tid) != 'T';
	case SYS_recvmsg:
		return argument[2] & MSG_WAITALL && stop_state(pid, tid) != 'T';
	}
	return false;
}

/* Releases the threads, those with children first: stop_some() explains the order. */
static void end_stops(struct change *change)
{
	for (size_t i = 0; i < change->threads; i++)
		if (change->thread[i]->has_children)
			stop_end(change->thread[i]);
	for (size_t i = 0; i < change->threads; i++) {
		if (!change->thread[i]->has_children)
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

/* Stops a thread. If the result is PASS_FAILED, *why has the reason. */
static enum pass stop_one(struct change *change, pid_t tid, bool has_children, const char **why)
{
	struct stopped *thread;

	if (must_wait(change->target->pid, tid))
		return PASS_AGAIN;
	if (change->threads == THREADS) {
		*why = "it has too many threads";
		return PASS_FAILED;
	}
	if (!vec_grow(&change->thread, change->threads, 1) ||
	    posix_memalign((void **)&thread, 64, sizeof(*thread))) {
		*why = strerror(ENOMEM);
		return PASS_FAILED;
	}
	thread->takes_group = true;
	thread->has_children = has_children;
	switch (stop_begin(thread, change->target->pid, tid)) {
	case STOP_OK:
		change->thread[change->threads++] = thread;
		return PASS_MORE;
	case STOP_RETRY:
		free(thread);
		return PASS_MORE;
	case STOP_ENDED: /* the thread has ended, so it executes no more code */
		free(thread);
		return PASS_NONE_NEW;
	case STOP_REFUSED:
		*why = errno == EPERM ? "the kernel refuses to stop it" : say_strerror(errno);
		break;
	case STOP_STUCK:
		change->is_stuck = true;
		*why = "a thread of it does not stop; try it again";
		break;
	}
	free(thread);
	return PASS_FAILED;
}

/*
 * Stops the threads that are not stopped yet; if `parents` is false, only those without children.
 * Meanwhile a thread that still runs may start other threads, so the caller repeats the calls until
 * they find no new thread. The end of a child of a stopped thread would end epoll_wait() of another
 * thread (safe_has_children()). So the caller stops the threads with children last.
 */
static enum pass stop_some(struct change *change, bool parents, const char **why)
{
	pid_t pid = change->target->pid;
	enum pass pass = PASS_NONE_NEW;
	DIR *threads = procfile_threads(pid);
	pid_t tid;

	if (!threads) {
		*why = errno == ENOENT || errno == ESRCH ? "it has ended" : say_strerror(errno);
		return PASS_FAILED;
	}
	while (pass <= PASS_MORE && (tid = procfile_next_thread(threads))) {
		bool has_children;
		enum pass one;

		if (is_stopped(change, tid))
			continue;
		has_children = safe_has_children(pid, tid);
		if (has_children && !parents)
			continue;
		one = stop_one(change, tid, has_children, why);
		pass = one > pass ? one : pass;
	}
	procfile_end_threads(threads);
	return pass;
}

/*
 * Returns whether any thread waits in a call that must not be interrupted. The caller calls this
 * function before it stops the first thread. Otherwise it would interrupt other threads before it
 * finds that it must wait.
 */
static bool any_must_wait(const struct change *change)
{
	DIR *threads = procfile_threads(change->target->pid);
	bool waits = false;
	pid_t tid;

	while (!waits && (tid = procfile_next_thread(threads)))
		waits = must_wait(change->target->pid, tid);
	procfile_end_threads(threads);
	return waits;
}

/*
 * Returns whether the list of jumps is unchanged since before the stop. Another tracer may have
 * changed the list meanwhile. The list does not change while all threads are stopped.
 */
static bool is_same_list(const struct change *change)
{
	struct change now = { .target = change->target };
	bool same = !read_jumps(&now) && now.jumps == change->jumps && now.table == change->table &&
		    !memcmp(now.jump, change->jump, now.jumps * sizeof(*now.jump));

	free(now.jump);
	return same;
}

/*
 * Stops all threads at places where the code can change. Returns false if the caller must try
 * again, or if *why has the reason of a failure. In both cases all threads run again.
 */
static bool stop_all(struct change *change, int64_t end_ns, const char **why)
{
	struct mappings mappings;
	enum pass pass;
	bool good;

	if (any_must_wait(change))
		return false;
	do {
		enum pass last;

		pass = stop_some(change, false, why);
		last = pass <= PASS_MORE ? stop_some(change, true, why) : pass;
		pass = last > pass ? last : pass;
	} while (pass == PASS_MORE && until_now_ns() < end_ns);
	if (pass == PASS_NONE_NEW && !change->threads)
		*why = "it has ended";
	good = pass == PASS_NONE_NEW && change->threads && is_same_list(change) &&
	       !mappings_read(&mappings, change->thread[0]->tid);
	if (good) {
		for (size_t i = 0; i < change->threads && good; i++)
			good = !is_inside(change, change->thread[i], &mappings);
		mappings_fini(&mappings);
	}
	if (!good)
		end_stops(change);
	return good;
}

/*
 * Adds 1 to a semaphore or subtracts 1 from it. A semaphore that is at the limit of its range
 * remains unchanged.
 */
static void change_count(int memory, uint64_t address, bool adds)
{
	uint16_t value;

	if (!address || !memory_read(memory, address, &value, sizeof(value)) ||
	    value == (adds ? UINT16_MAX : 0))
		return;
	value = (uint16_t)(adds ? value + 1 : value - 1);
	memory_write(memory, address, &value, sizeof(value));
}

/* The state of the code at a jump. */
enum code { CODE_ORIGINAL, CODE_JUMP, CODE_OTHER };

/*
 * Compares the code at a jump with the original bytes and with the jump. All bytes are compared,
 * even if the jump changes only the first byte, because the module may have been unloaded, or
 * another tool may have changed the code.
 */
static enum code code_at(const struct change *change, const struct shim_jump *jump)
{
	uint8_t now[SHIM_PLAN_JUMP];

	if (!jump->bytes || jump->bytes > SHIM_PLAN_JUMP ||
	    !memory_read(change->target->memory, jump->at, now, sizeof(now)))
		return CODE_OTHER;
	if (!memcmp(now, jump->original, sizeof(now)))
		return CODE_ORIGINAL;
	return memcmp(now, jump->jump, sizeof(now)) ? CODE_OTHER : CODE_JUMP;
}

/*
 * Notes in the list whether a jump is now in the code, and changes the semaphore of the jump
 * accordingly. If the jump has a semaphore, the function also changes the entry in the process
 * immediately. So if this process is killed afterwards, the next tracer does not count the
 * semaphore again.
 */
static void change_mark(const struct change *change, struct shim_jump *jump, bool is_written)
{
	uint64_t address = change->table + (uint64_t)(jump - change->jump) * sizeof(*jump);

	if (is_written == (bool)jump->is_written)
		return;
	change_count(change->target->memory, jump->semaphore, is_written);
	jump->is_written = is_written;
	if (jump->semaphore)
		memory_write(change->target->memory, address, jump, sizeof(*jump));
}

/*
 * Writes or restores one jump. A tracer that was killed may have written a jump without marking it
 * in the list. So the bytes in the code decide whether the jump is written. A chained site
 * (lib/preload/patch_plan.h) has no bytes of its own. Its state is the state of the jump before it,
 * which the caller passes as is_changed. Returns whether the code now has the wanted form. If the
 * kernel refuses to write, sets *failed.
 */
static bool change_one(struct change *change, struct shim_jump *jump, bool writes,
		       bool is_changed, bool *failed)
{
	enum code code;

	if (writes && !jump->is_wanted)
		return false;
	if (!jump->bytes) {
		if (is_changed)
			change_mark(change, jump, writes);
		return is_changed;
	}
	code = code_at(change, jump);
	if (code == CODE_OTHER || (!writes && code == CODE_ORIGINAL))
		return false;
	if (code == (writes ? CODE_ORIGINAL : CODE_JUMP) &&
	    !memory_write(change->target->memory, jump->at,
			  writes ? jump->jump : jump->original, jump->bytes)) {
		*failed = true;
		return false;
	}
	change_mark(change, jump, writes);
	return true;
}

/* Changes all jumps. Returns the number of jumps that now have the wanted form. */
static size_t change_each(struct change *change, bool writes, bool *failed)
{
	bool is_changed = false;
	size_t changed = 0;

	for (size_t i = 0; i < change->jumps; i++) {
		struct shim_jump *jump = &change->jump[i];
		/*
		 * A chained site may not be close behind jump[-1]. In this case the shim has
		 * refused the site to which it is chained, and jump[-1] is a different site.
		 */
		bool follows = i && jump->at >= jump[-1].at &&
			       jump->at - jump[-1].at <= SHIM_PLAN_ORIGINAL;

		is_changed = change_one(change, jump, writes, is_changed && follows, failed);
		changed += is_changed;
	}
	return changed;
}

/*
 * Changes the code. Returns NULL, or the reason why no jump was written, or why not all of the code
 * was restored. If this process is killed meanwhile, the code may have jumps that the list does not
 * mark as written. A restoration finds such jumps by their bytes.
 */
static const char *change_all(struct change *change)
{
	bool failed = false;
	size_t changed = change_each(change, change->writes, &failed);
	const char *why = NULL;

	/*
	 * The changed places are traced. Other places usually remain unchanged because their
	 * library was unloaded, which is no error. The function prints a message only if the kernel
	 * refused to write.
	 */
	if (failed && change->writes && changed)
		say("process %d: %zu of %zu places of its functions and probes are traced; the "
		    "kernel refuses to change its code at the others",
		    (int)change->target->pid, changed, change->jumps);
	if (failed && (!change->writes || !changed))
		why = "the kernel refuses to change its code";
	else if (change->writes && !changed)
		why = "its code in memory differs from the files";
	for (size_t i = 0; i < change->jumps && !change->writes; i++) {
		struct shim_jump *jump = &change->jump[i];

		/*
		 * If the kernel refused to write, the jump may still be in the code, and the mark
		 * remains.
		 */
		jump->is_wanted = false;
		jump->is_written &= failed;
	}
	memory_write(change->target->memory, change->table, change->jump,
		     change->jumps * sizeof(*change->jump));
	return why;
}

/* Returns whether a jump must be changed. If not, the caller stops no thread. */
static bool has_work(const struct change *change)
{
	for (size_t i = 0; i < change->jumps; i++) {
		const struct shim_jump *jump = &change->jump[i];

		if (jump->is_wanted || (!change->writes && (jump->is_written ||
							    code_at(change, jump) == CODE_JUMP)))
			return true;
	}
	return false;
}

/*
 * Returns whether a tracer that has not ended wants the jumps. The caller has removed itself from
 * the list of tracers. All threads must be stopped, so that the shim adds no tracer meanwhile.
 */
static bool has_tracer(const struct change *change)
{
	const struct target *target = change->target;
	struct shim_jumps jumps;

	if (!memory_read(target->memory, target->jumps, &jumps, sizeof(jumps)))
		return false;
	for (size_t i = 0; i < SHIM_TRACERS; i++)
		if (jumps.tracer[i] && (!kill((pid_t)jumps.tracer[i], 0) || errno != ESRCH))
			return true;
	return false;
}

/*
 * Tries once to change the code. Returns whether no further try is needed. After an error, *why has
 * the reason.
 */
static bool try_once(struct change *change, int64_t end_ns, const char **why)
{
	bool done = false;

	*why = read_jumps(change);
	if (!*why)
		*why = collect_ranges(change);
	if (!*why && !has_work(change)) {
		/*
		 * Since the shim has prepared these jumps, another tracer has marked them as not
		 * wanted.
		 */
		if (change->writes)
			*why = "another tracer has restored its code; try it again";
		done = true;
	} else if (!*why && stop_all(change, end_ns, why)) {
		/*
		 * If a tracer has attached meanwhile, the code is not restored now, because that
		 * tracer restores it later.
		 */
		if (change->writes || !has_tracer(change))
			*why = change_all(change);
		end_stops(change);
		done = true;
	}
	free(change->jump);
	free(change->range);
	change->jump = NULL;
	change->range = NULL;
	change->jumps = change->ranges = 0;
	return done;
}

/* After a failure to write, marks as unwanted each jump that is not written. */
static void unmark_unwritten(struct change *change)
{
	if (read_jumps(change))
		return;
	for (size_t i = 0; i < change->jumps; i++) {
		struct shim_jump *jump = &change->jump[i];

		if (!jump->is_wanted || jump->is_written)
			continue;
		jump->is_wanted = false;
		memory_write(change->target->memory, change->table + i * sizeof(*jump), jump,
			     sizeof(*jump));
	}
	free(change->jump);
	change->jump = NULL;
}

const char *change_code(const struct target *target, bool writes, bool *is_stuck)
{
	struct change change = { .target = target, .writes = writes };
	const int64_t end_ns = until_now_ns() + (writes ? TRY_NS : RESTORE_NS);
	const char *why = NULL, *last = "its threads were never all at places where its code can "
					"change; try it again";
	int64_t pause_ns = PAUSE_NS;

	while (!try_once(&change, end_ns, &why)) {
		const struct timespec pause = { 0, (long)pause_ns };

		/*
		 * After an error, the function does not try again to write jumps. But it tries
		 * again to restore the code: the reason may be a debugger, which may detach. If a
		 * thread does not stop, the function ends immediately.
		 */
		if (why && (writes || change.is_stuck))
			break;
		last = why ? why : last;
		why = NULL;
		if (kill(target->pid, 0) && errno == ESRCH)
			break;
		if (until_now_ns() > end_ns) {
			why = last;
			break;
		}
		nanosleep(&pause, NULL);
		pause_ns = pause_ns < PAUSE_MAX ? 2 * pause_ns : pause_ns;
	}
	if (why && writes && !change.is_stuck)
		unmark_unwritten(&change);
	*is_stuck = change.is_stuck;
	free(change.thread);
	return why;
}

#else

const char *change_code(const struct target *target, bool writes, bool *is_stuck)
{
	(void)target, (void)writes;
	*is_stuck = false;
	return "not supported on this processor";
}

#endif
