/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inject.c - loads the library into a process, and detaches it. It chooses the threads, the number
 * of tries, and the messages.
 *
 * A child of this process does the work, as the tracer (ptrace) of the threads. If it cannot
 * continue its work, it simply ends. The kernel then releases the traced thread, and this process
 * continues.
 */
#include "inject/inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../lib/preload/patch_plan.h"
#include "../../../lib/preload/types.h"
#include "base/procfile.h"
#include "base/rootfile.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/until.h"
#include "base/vec.h"
#include "base/whole.h"
#include "inject/change.h"
#include "inject/safe.h"
#include "inject/target.h"
#include "inject/waits.h"

/* the child gives up if no thread was at a safe place for this time */
#define TRY_NS   INT64_C(10000000000)
#define CALM_NS  INT64_C(200000000)   /* until this time, only waiting threads are tried */
#define PAUSE_NS 5000000              /* between two rounds */
/* until PARENT_NS and PARENT_ROUNDS are over, or LATE_NS, threads with children are not tried */
#define PARENT_NS INT64_C(1000000000)
#define LATE_NS   INT64_C(4000000000)
#define PARENT_ROUNDS 100
#define EXECUTED_TRIES 10             /* programs that the process executes meanwhile */
#define WRITE_TRIES 3                 /* threads whose stack cannot be written */
#define STUCK_TRIES 4                 /* children that try to stop a thread, two seconds each */
#define SIGNAL_LOOK_MS 50             /* between two looks for a signal, while the child works */
#define CANCEL_NS INT64_C(500000000)  /* time in which a cancelled child can end by itself */
#define ATTACH   "posixtrace_shim_attach"
#define DETACH   "posixtrace_shim_detach"
#define PLAN     "posixtrace_shim_plan"
#define PATCH    "posixtrace_shim_patch"

/* The work of the child, and its exit statuses. The strings belong to the caller. */
struct work {
	pid_t pid;
	const char *library, *symbol, *argument;
	enum work_kind { WORK_CALL, WORK_WRITE, WORK_RESTORE } kind;
	/* the last try to load the library: it is an error if the process executes a program */
	bool is_last;
	/* the last child of work_in_children(): a thread that does not stop is an error */
	bool is_last_child;
	struct shared *shared; /* only during work_in_children() */
	int64_t value;         /* of the call, after work_in_children() */
};

/*
 * Memory that the children share with the command. The command may keep messages (say_keep()), and
 * messages in memory of a child alone would be lost.
 */
struct shared {
	atomic_bool is_cancelled; /* a signal asked the command to end: the child tries no more */
	pid_t stuck;         /* a thread that did not stop for an earlier child; it is tried last */
	int64_t value;       /* of the call */
	char messages[4096]; /* of the present child */
};

enum work_exit {
	WORK_DONE,
	WORK_FAILED, /* a message was printed */
	WORK_LEAVE,  /* there is nothing to do */
	WORK_EXECUTED, /* the process executed another program, which must be examined first */
	WORK_STUCK   /* a thread does not stop; another child may try again */
};

static void say_why(pid_t pid, const char *why)
{
	say("process %d: its calls cannot be traced: %s", (int)pid, why);
}

/*
 * Returns whether both descriptors are of regular files with the same bytes. Another process has
 * chosen the second file, and a read of it could block. So the function checks the type of the file
 * first.
 */
static bool has_same_bytes(int one, int other)
{
	static char bytes[2][65536];
	struct stat first, second;

	if (fstat(one, &first) || fstat(other, &second) || !S_ISREG(first.st_mode) ||
	    !S_ISREG(second.st_mode) || first.st_size != second.st_size)
		return false;
	if (first.st_dev == second.st_dev && first.st_ino == second.st_ino)
		return true;
	for (off_t at = 0; at < first.st_size; at += sizeof(bytes[0])) {
		off_t left = first.st_size - at;
		size_t len = left < (off_t)sizeof(bytes[0]) ? (size_t)left : sizeof(bytes[0]);

		if (whole_pread(one, bytes[0], len, (uint64_t)at) ||
		    whole_pread(other, bytes[1], len, (uint64_t)at) ||
		    memcmp(bytes[0], bytes[1], len))
			return false;
	}
	return true;
}

/*
 * Returns whether the process has ended. A child of this command that has ended remains a zombie
 * until this command reaps it. A main thread that has ended before other threads is a zombie, too,
 * but its process has not ended.
 */
static bool has_ended(pid_t pid)
{
	char path[40], status[PROCFILE_BYTES];
	const char *state;

	if (procfile_has_ended(pid))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!procfile_read(path, status, sizeof(status)))
		return false;
	state = procfile_field(status, "State:");
	return state && (*state == 'Z' || *state == 'X') &&
	       procfile_number(status, "Threads:", 10, 0) <= 1;
}

/*
 * Returns the reason why the process cannot load this library, or NULL. The process may have
 * another root folder or namespace of mounts, as in a container. In this case the process must
 * have the same file at the same path, because this command relies on the interface of its own
 * version of the library. If the process has ended, the function returns NULL, because the end is
 * reported later.
 */
static const char *why_unseen(pid_t pid, const char *library)
{
	static char why[5000];
	int here, there, err;
	bool is_same;

	here = open(library, O_RDONLY | O_CLOEXEC);
	err = here < 0 ? errno : 0;
	there = rootfile_open(pid, library, O_RDONLY);
	if (!err && there < 0 && errno != ENOENT && errno != ENOTDIR)
		err = errno;
	is_same = here >= 0 && there >= 0 && has_same_bytes(here, there);
	if (err == ESRCH && has_ended(pid))
		is_same = true;
	else if (err)
		snprintf(why, sizeof(why), "%s cannot be examined as the process sees it: %s",
			 library, say_strerror(err));
	else
		snprintf(why, sizeof(why),
			 "it has another root folder, as in a container, %s %s; install the same "
			 "version of posixtrace there",
			 there < 0 ? "and does not see the file" :
				     "with another version of the file",
			 library);
	if (here >= 0)
		close(here);
	if (there >= 0)
		close(there);
	return is_same ? NULL : why;
}

#if defined __x86_64__

/*
 * A thread that may be tried. "rank" is the result of safe_look(). The thread may have left this
 * state since it was examined.
 */
struct candidate {
	pid_t tid;
	enum safe_rank rank;
};

static int by_rank(const void *a, const void *b)
{
	const struct candidate *first = a, *second = b;

	return (int)second->rank - (int)first->rank;
}

/* Returns whether the process has one thread. */
static bool is_alone(pid_t pid)
{
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	/* The folder has a link for each thread, its name in its parent, and ".". */
	return stat(path, &st) == 0 && st.st_nlink == 3;
}

/*
 * Lists the threads that may be tried, the best threads first. Returns their number; the caller
 * frees the list. If memory is lacking, the list is shorter, and the next round tries again. *err
 * gets the error if the list cannot be read, although the process may be alive.
 */
static size_t list_candidates(pid_t pid, struct candidate **candidates, int *err)
{
	const bool has_one = is_alone(pid);
	struct candidate one;
	size_t count = 0;
	DIR *threads = procfile_threads(pid);

	*err = threads || errno == ENOENT || errno == ESRCH ? 0 : errno;
	while ((one.tid = procfile_next_thread(threads))) {
		one.rank = safe_look(pid, one.tid, has_one);
		if (one.rank == SAFE_NOT || !vec_grow(candidates, count, 1))
			continue;
		(*candidates)[count++] = one;
	}
	procfile_end_threads(threads);
	if (count)
		qsort(*candidates, count, sizeof(**candidates), by_rank);
	return count;
}

/* Moves a thread to the end of the list, if it is there. */
static void move_last(struct candidate *candidates, size_t count, pid_t tid)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (candidates[i].tid == tid) {
			const struct candidate one = candidates[i];

			candidates[i] = candidates[i + 1];
			candidates[i + 1] = one;
		}
}

/* The result of a try with one thread, or of a round of tries. */
enum progress {
	PROGRESS_AGAIN, PROGRESS_DONE, PROGRESS_FAILED, PROGRESS_ENDED,
	PROGRESS_STUCK,   /* the thread does not stop, and remains seized until this child ends */
	PROGRESS_EXECUTED /* the process executed another program */
};

/* Returns the text of an error, with the limit that may be its cause. */
static const char *with_limit(pid_t pid, const char *error)
{
	static char text[400];

	snprintf(text, sizeof(text), "%s%s", error, target_short_limit(pid, TARGET_LOAD_ROOM));
	return text;
}

/*
 * Prints that the kernel does not let this process write the memory of the process. Since Linux
 * 6.12 an administrator can forbid writes to code.
 */
static void say_unwritable(pid_t pid, int err)
{
	say("process %d: its calls cannot be traced: the kernel refuses to write its memory by "
	    "/proc/%d/mem: %s; the kernel's parameter proc_mem.force_override may forbid it",
	    (int)pid, (int)pid, say_strerror(err));
}

/*
 * Prints how many pointers of the process the shim could not change, and whether the shim could not
 * protect a page again. "value" is the result of a function of the shim.
 */
static void say_slots(const struct work *work, int64_t value)
{
	const bool is_attach = !strcmp(work->symbol, ATTACH);

	if (!is_attach && strcmp(work->symbol, DETACH))
		return;
	if (SHIM_SLOTS_LEFT(value))
		say("process %d: %ld of its pointers to functions are in memory that cannot become "
		    "writable: calls through them %s", (int)work->pid,
		    (long)SHIM_SLOTS_LEFT(value), is_attach ? "are not traced" :
		    "still pass through the library; the end of another trace restores them");
	if (value & SHIM_SLOTS_OPEN)
		say("process %d: one page of its pointers to functions stays writable: the system "
		    "refuses to protect it again; the %s trace tries it again", (int)work->pid,
		    is_attach ? "end of the" : "next");
}

/*
 * Prints why a call failed, unless the caller must try the call again or the process has ended. The
 * function runs in the child.
 */
static enum progress say_outcome(const struct work *work, enum call_outcome outcome,
				 const struct call_result *result)
{
	static unsigned failed_writes;
	pid_t pid = work->pid;

	switch (outcome) {
	case CALL_DONE:
		if (result->value >= 0) {
			work->shared->value = result->value;
			say_slots(work, result->value);
			return PROGRESS_DONE;
		}
		/* another thread of the process redirects or restores calls at this moment */
		if (result->value == -EAGAIN)
			return PROGRESS_AGAIN;
		say_why(pid, result->value == -ENOTSUP ?
				     "it runs under a sanitizer, or its libraries cannot be read" :
			     result->value == -EEXIST ?
				     "it has no room for more event types, or an earlier trace has "
				     "given other types to the values of a probe; start it again" :
				     with_limit(pid, say_strerror((int)-result->value)));
		return PROGRESS_FAILED;
	case CALL_FAILED:
		say("process %d: its calls cannot be traced: it cannot load the library: %s%s",
		    (int)pid, *result->message ? result->message : work->library,
		    target_short_limit(pid, TARGET_LOAD_ROOM));
		return PROGRESS_FAILED;
	case CALL_REFUSED:
		say("process %d: its calls cannot be traced: it gets no memory for code: %s",
		    (int)pid, with_limit(pid, say_strerror((int)-result->value)));
		return PROGRESS_FAILED;
	case CALL_UNWRITABLE:
		say_unwritable(pid, (int)-result->value);
		return PROGRESS_FAILED;
	case CALL_NO_ROOM:
		/* The process may have unmapped the stack of one thread meanwhile. */
		if (!result->value || ++failed_writes < WRITE_TRIES)
			return PROGRESS_AGAIN;
		say_unwritable(pid, (int)-result->value);
		return PROGRESS_FAILED;
	case CALL_CRASHED:
		say("process %d: its calls cannot be traced: loading the library raised signal %d "
		    "(%s), which was suppressed",
		    (int)pid, (int)result->value, strsignal((int)result->value));
		return PROGRESS_FAILED;
	case CALL_LATE:
		say("process %d: loading the library takes too long: another thread may hold a "
		    "lock; the process completes it later, without this command",
		    (int)pid);
		return PROGRESS_FAILED;
	case CALL_ENDED:
		return PROGRESS_ENDED;
	}
	return PROGRESS_FAILED;
}

/*
 * Tries one thread. The function reads the mappings again, because stacks may be created and
 * removed at any time. When the function returns, it has released the thread again, unless the call
 * did not end in time.
 */
static enum progress try_thread(const struct work *work, struct target *target,
				const struct candidate *candidate)
{
	pid_t tid = candidate->tid;
	/*
	 * With RTLD_NOW, dlopen() binds the symbols of the library immediately. A binding at the
	 * first call would be wrong, because a wrapper may run in a signal handler.
	 */
	const struct call_request request = { work->library, work->symbol, work->argument,
					      RTLD_NOW | RTLD_LOCAL };
	enum progress progress = PROGRESS_AGAIN;
	/* This variable is static because it contains the vector state, which is large. */
	static struct stopped thread;
	const struct mapping *stack;
	struct mappings mappings = { .count = 0 };
	struct call_result result;
	int memory, err;

	/* The thread may have continued since the list was made. */
	if (safe_look(work->pid, tid, is_alone(work->pid)) < candidate->rank)
		return PROGRESS_AGAIN;
	thread.takes_group = false;
	switch (stop_begin(&thread, work->pid, tid)) {
	case STOP_OK:
		break;
	case STOP_REFUSED:
		say_why(work->pid, errno == EPERM ? "the kernel refuses to stop it" :
						    say_strerror(errno));
		return PROGRESS_FAILED;
	case STOP_RETRY:
	case STOP_ENDED:
		return PROGRESS_AGAIN;
	case STOP_STUCK:
		work->shared->stuck = tid;
		return PROGRESS_STUCK;
	}
	/*
	 * The thread may have started a child just before the stop. It must run again before this
	 * child ends (SAFE_PARENT).
	 */
	if (candidate->rank != SAFE_PARENT && safe_has_children(work->pid, tid) &&
	    !is_alone(work->pid)) {
		stop_end(&thread);
		return PROGRESS_AGAIN;
	}
	memory = memory_open(work->pid, tid);
	err = memory < 0 ? errno : mappings_read(&mappings, work->pid);
	if (!err) {
		mappings_fini(&target->mappings);
		target->mappings = mappings;
	} else {
		mappings_fini(&mappings);
	}
	stack = err ? NULL : mappings_at(&target->mappings, thread.regs.rsp);
	/* The thread is stopped, so that it cannot execute a program from here on. */
	if (target_has_executed(target)) {
		progress = PROGRESS_EXECUTED;
		stop_end(&thread);
	} else if (stack && safe_is_here(target, &thread, stack))
		progress = say_outcome(work, call_run(&thread, memory, &target->place, stack,
						      &request, &result), &result);
	else
		stop_end(&thread);
	/* With any other error, the thread or the process has ended. */
	if (err == EMFILE || err == ENFILE || err == ENOMEM) {
		say_why(work->pid, say_strerror(err));
		progress = PROGRESS_FAILED;
	}
	if (memory >= 0)
		close(memory);
	return progress;
}

/*
 * Returns the least rank of the threads to try now. A running thread may soon wait, and a waiting
 * thread is a better choice. A thread with children is the last choice: the end of a child may end
 * a system call of another thread (SAFE_PARENT). On a busy machine there may be only a few rounds
 * in PARENT_NS, so the other threads also have PARENT_ROUNDS. A process with thousands of threads
 * may have fewer rounds in TRY_NS, so LATE_NS ends this time.
 */
static enum safe_rank least_rank(int64_t passed_ns, unsigned rounds)
{
	if (passed_ns >= LATE_NS || (passed_ns >= PARENT_NS && rounds > PARENT_ROUNDS))
		return SAFE_PARENT;
	return passed_ns >= CALM_NS ? SAFE_RUNNING : SAFE_TIMED;
}

/*
 * Tries threads until one has made the call, the process has ended, or TRY_NS is over. All threads
 * run until this process stops them, so a thread that waits now may be elsewhere at its stop.
 */
static enum progress try_threads(const struct work *work, struct target *target)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int64_t begin_ns = until_now_ns(), now_ns = begin_ns;
	enum progress progress = PROGRESS_AGAIN;
	enum safe_rank least = SAFE_WAITING;
	unsigned rounds = 0;

	/* Threads with children are tried once, even if a round takes longer than TRY_NS. */
	while (progress == PROGRESS_AGAIN &&
	       (now_ns - begin_ns < TRY_NS || least > SAFE_PARENT) &&
	       !atomic_load(&work->shared->is_cancelled)) {
		struct candidate *candidates = NULL;
		int err;
		size_t count = list_candidates(work->pid, &candidates, &err);

		least = least_rank(now_ns - begin_ns, ++rounds);
		if (err) {
			say("process %d: its threads cannot be listed: %s", (int)work->pid,
			    say_strerror(err));
			return PROGRESS_FAILED;
		}
		move_last(candidates, count, work->shared->stuck);
		for (size_t i = 0; i < count && progress == PROGRESS_AGAIN; i++)
			if (candidates[i].rank >= least)
				progress = try_thread(work, target, &candidates[i]);
		free(candidates);
		if (progress == PROGRESS_AGAIN) {
			nanosleep(&pause, NULL);
			if (has_ended(work->pid))
				progress = PROGRESS_ENDED;
			else if (target_has_executed(target))
				progress = PROGRESS_EXECUTED;
		}
		now_ns = until_now_ns();
	}
	return progress;
}

/*
 * Does the whole work of the child. If the result is WORK_FAILED, the function has printed the
 * reason.
 */
static enum work_exit do_work(const struct work *work, struct target *target)
{
	bool is_stuck;
	const char *why;

	if (work->kind != WORK_CALL) {
		why = change_code(target, work->kind == WORK_WRITE, &is_stuck);
		if (why && is_stuck && !work->is_last_child)
			return WORK_STUCK;
		if (why)
			say("process %d: its functions and probes cannot be %s: %s",
			    (int)work->pid, work->kind == WORK_WRITE ? "traced" : "restored", why);
		return why ? WORK_FAILED : WORK_DONE;
	}
	switch (try_threads(work, target)) {
	case PROGRESS_DONE:
		return WORK_DONE;
	case PROGRESS_STUCK:
		if (!work->is_last_child)
			return WORK_STUCK;
		say_why(work->pid, "a thread of it does not stop; try it again");
		break;
	case PROGRESS_ENDED:
		/* The command will report the end of the process when it creates the stream. */
		return WORK_LEAVE;
	case PROGRESS_EXECUTED:
		/* Nothing of the former program is left to restore. */
		if (!strcmp(work->symbol, DETACH))
			return WORK_LEAVE;
		if (!strcmp(work->symbol, ATTACH) && !work->is_last)
			return WORK_EXECUTED;
		say_why(work->pid, "it executes other programs all the time; try it again");
		break;
	case PROGRESS_AGAIN:
		if (atomic_load(&work->shared->is_cancelled))
			break;
		say_why(work->pid, stop_state(work->pid, work->pid) == 'T' ?
					   TARGET_STOPPED :
			      (why = waits_reason(work->pid)) ? why :
					   "no thread of it was at a place where it can load a "
					   "library; try it again, or, if it hangs, record by "
					   "--trace none --sched in which calls it is blocked");
		break;
	case PROGRESS_FAILED:
		break;
	}
	return WORK_FAILED;
}

#else

static enum work_exit do_work(const struct work *work, struct target *target)
{
	(void)target;
	say_why(work->pid, "not supported on this processor");
	return WORK_FAILED;
}

#endif

/* Prints or keeps the messages of the child, each with the prefix of say(). */
static void repeat_messages(char *text)
{
	for (char *line = text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		say("%s", line);
	}
}

/* The signals by which a user ends the command. */
static const int ending_signals[] = { SIGINT, SIGQUIT, SIGHUP, SIGTERM };

#define ENDING_SIGNALS (sizeof(ending_signals) / sizeof(ending_signals[0]))

/*
 * Returns a pending signal that asks the command to end, or 0. The signals are blocked. A signal
 * that the command ignores, for example because of nohup(1), does not count. The signal remains
 * pending, so that the command ends as after any other work.
 */
static int pending_signal(void)
{
	struct sigaction action;
	sigset_t pending;

	if (sigpending(&pending))
		return 0;
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		if (sigismember(&pending, ending_signals[i]) == 1 &&
		    !sigaction(ending_signals[i], NULL, &action) &&
		    action.sa_handler != SIG_IGN)
			return ending_signals[i];
	return 0;
}

/*
 * Waits for the child, and cancels its work at a signal that asks the command to end. If the child
 * does not end soon, the function kills it, which does no harm to the process (DESIGN 3). A
 * restoration is not cancelled: its time is limited, and without it the process would keep jumps in
 * its code. Returns the signal, or 0. Stores the status of the child, or -1 after an error.
 */
static int await_child(pid_t child, const struct work *work, int *status)
{
	const bool restores = work->kind == WORK_RESTORE ||
			      (work->symbol && !strcmp(work->symbol, DETACH));
	/* If there is no pidfd, poll() only sleeps. */
	struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN };
	int64_t kill_ns = 0;
	int signal = 0;
	pid_t got;

	while (!(got = waitpid(child, status, WNOHANG)) || (got < 0 && errno == EINTR)) {
		if (!signal && !restores && (signal = pending_signal())) {
			atomic_store(&work->shared->is_cancelled, true);
			kill_ns = until_now_ns() + CANCEL_NS;
		}
		if (signal && until_now_ns() > kill_ns)
			kill(child, SIGKILL);
		poll(&end, 1, SIGNAL_LOOK_MS);
	}
	if (got < 0)
		*status = -1;
	if (end.fd >= 0)
		close(end.fd);
	return signal;
}

/* Prints that a signal has cancelled the work, and whether the process completes it later. */
static void say_cancelled(const struct work *work, int signal, int status)
{
	say("process %d: its %s: this command received signal %d (%s)%s", (int)work->pid,
	    work->kind == WORK_CALL ? "calls cannot be traced" :
				      "functions and probes cannot be traced",
	    signal, strsignal(signal),
	    WIFSIGNALED(status) && work->kind == WORK_CALL ?
		    "; the process completes the load of the library later, without this command" :
		    "");
}

/*
 * Does the work in a child, and waits for it. The caller has blocked ending_signals. The time of
 * the child's work is limited. If the child is killed, this function prints a message, and the work
 * has failed.
 */
static enum work_exit work_in_child(struct work *work, struct target *target)
{
	pid_t child, parent = getpid();
	struct shared *shared = work->shared;
	enum work_exit done = WORK_FAILED;
	int status = -1, signal = 0, err = 0;

	*shared->messages = '\0';
	child = fork();
	if (child == 0) {
		stop_prepare();
		/*
		 * If the command is killed, the kernel kills the child, too. Without this, the
		 * child could begin a trace that no process ends.
		 */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		say_keep(shared->messages, sizeof(shared->messages));
		_exit(getppid() == parent ? do_work(work, target) : WORK_FAILED);
	}
	if (child > 0)
		signal = await_child(child, work, &status);
	if (child < 0 || status == -1)
		err = errno;
	shared->messages[sizeof(shared->messages) - 1] = '\0';
	repeat_messages(shared->messages);
	if (err)
		say("process %d: its calls cannot be traced: this command cannot start a process: "
		    "%s", (int)work->pid, say_strerror(err));
	else if (WIFEXITED(status))
		done = (enum work_exit)WEXITSTATUS(status);
	if (!err && signal && done == WORK_FAILED && !*shared->messages)
		say_cancelled(work, signal, status);
	else if (!err && WIFSIGNALED(status))
		say("process %d: its %s: a helper process of this command was killed by signal %d "
		    "(%s); try it again", (int)work->pid, work->kind == WORK_CALL ?
		    "calls cannot be traced" : "functions and probes cannot be changed",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	return done;
}

/*
 * Does the work in a child. If a thread does not stop, for example in a slow call of the file
 * system or on a busy machine, it remains seized by the child that tried to stop it. So this child
 * ends, and another child tries again, up to STUCK_TRIES children. The function blocks the signals
 * by which a user ends the command, such as SIGINT: they end neither a child, nor the command
 * between two tries. They cancel the work.
 */
static enum work_exit work_in_children(struct work *work, struct target *target)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	enum work_exit done = WORK_STUCK;
	sigset_t set, mask;

	work->value = 0;
	if (shared == MAP_FAILED) {
		say("process %d: its calls cannot be traced: no memory for messages: %s",
		    (int)work->pid, say_strerror(errno));
		return WORK_FAILED;
	}
	work->shared = shared;
	sigemptyset(&set);
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(&set, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &set, &mask);
	for (int i = 1; i <= STUCK_TRIES && done == WORK_STUCK; i++) {
		work->is_last_child = i == STUCK_TRIES;
		done = work_in_child(work, target);
	}
	work->value = shared->value;
	work->shared = NULL;
	munmap(shared, sizeof(*shared));
	/* A pending signal may end this command here, so the messages were printed before. */
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return done;
}

/* Writes or restores jumps. */
static enum work_exit change_in_children(pid_t pid, enum work_kind kind, struct target *target)
{
	struct work work = { .pid = pid, .kind = kind };

	return work_in_children(&work, target);
}

/*
 * Examines only the names of mapped files, which is quick. Later target_examine() decides by the
 * contents of the files.
 */
bool inject_is_needed(pid_t pid)
{
	struct mappings mappings;
	int err = mappings_read(&mappings, pid);
	bool has_library = mappings_path_with(&mappings, "/libposixtrace.so");
	bool has_shim = mappings_path_with(&mappings, "/libposixtrace-preload");

	mappings_fini(&mappings);
	return err || has_shim || !has_library;
}

/*
 * A killed tracer may have left its attachment and its jumps in the process. This function removes
 * them, because the next attachment may want other jumps. If another tracer has a stream, the
 * function changes nothing.
 */
static void inject_recover(const struct work *attach, struct target *target)
{
	struct work work = { .pid = attach->pid, .library = attach->library,
			     .symbol = DETACH };
	struct shim_jumps jumps;

	if (target->shim == SHIM_ATTACHED && target->jumps &&
	    memory_read(target->memory, target->jumps, &jumps, sizeof(jumps)) && jumps.count &&
	    work_in_children(&work, target) == WORK_DONE)
		inject_unpatch(attach->pid);
}

/*
 * Warns if the events of the process have more or fewer bytes of data than this tracer requests.
 * The number is the same for all tracers of a process: record --data or the first tracer has set
 * it.
 */
static void say_content(const struct target *target, const char *families)
{
	const char *at = families;
	unsigned long wanted = 0;
	uint32_t bytes;

	while ((at = strstr(at, SHIM_CONTENT_NAME))) {
		at += sizeof(SHIM_CONTENT_NAME) - 1;
		wanted = strtoul(at, NULL, 10);
	}
	if (!target->content ||
	    !memory_read(target->memory, target->content, &bytes, sizeof(bytes)) || bytes == wanted)
		return;
	if (bytes)
		say("process %d: its events contain up to %u bytes of the data of each call, as "
		    "record --data or another tracer requested",
		    (int)target->pid, (unsigned)bytes);
	else
		say("process %d: --data has no effect: its events contain no data, because it was "
		    "started without --data, another tracer traces it without, or it has a "
		    "seccomp filter",
		    (int)target->pid);
}

void inject_look(pid_t pid)
{
	struct target target;

	/*
	 * The messages of target_examine() are dropped. They say why no thread can call a function,
	 * but inject_look() lets no thread call one.
	 */
	say_nothing(true);
	target_examine(&target, pid, false);
	say_nothing(false);
	if (target.memory >= 0)
		say_content(&target, "");
	target_fini(&target);
}

/* Examines the process and loads the library. Returns WORK_EXECUTED if that must be done again. */
static enum work_exit try_begin(struct inject *inject, struct work *work)
{
	struct target target;
	enum target_verdict verdict = target_examine(&target, work->pid, false);
	enum work_exit done = WORK_FAILED;
	const char *why = verdict == TARGET_OK ? why_unseen(work->pid, work->library) : NULL;

	if (why)
		say_why(work->pid, why);
	else if (verdict == TARGET_OK) {
		inject_recover(work, &target);
		done = work_in_children(work, &target);
	} else if (verdict == TARGET_LEAVE) {
		done = WORK_LEAVE;
		if (target.err == EACCES || target.err == EPERM)
			inject->refused = target.err;
	}
	if (target.content && (done == WORK_DONE || done == WORK_LEAVE))
		say_content(&target, work->argument);
	target_fini(&target);
	return done;
}

/*
 * A process that a shell has just created soon executes its program. So the process is examined
 * again if it executes another program before the library is loaded.
 */
int inject_begin(struct inject *inject, pid_t pid, const char *library, const char *families)
{
	struct work work = { .pid = pid, .library = library, .symbol = ATTACH,
			     .argument = families };
	enum work_exit done = WORK_EXECUTED;

	*inject = (struct inject){ .pid = pid, .library = library };
	for (int i = 1; i <= EXECUTED_TRIES && done == WORK_EXECUTED; i++) {
		work.is_last = i == EXECUTED_TRIES;
		done = try_begin(inject, &work);
	}
	inject->is_attached = done == WORK_DONE;
	return done == WORK_FAILED ? TOOL_FAILURE : TOOL_OK;
}

/*
 * Returns whether the end of a trace must report that the process cannot be examined, and prints
 * the reason. If the process has ended or executes another program, nothing is left to restore.
 */
static bool is_unknown(const struct target *target)
{
	const struct mappings *mappings = &target->mappings;

	if (!target->err || target->err == ESRCH || target->err == ENOENT ||
	    has_ended(target->pid) ||
	    (mappings->count && !mappings_path_with(mappings, "/libposixtrace-preload")))
		return false;
	say("process %d: its calls cannot be restored: its memory cannot be examined: %s%s",
	    (int)target->pid, say_strerror(target->err),
	    mappings->count ? "" : "; if it executes another program, nothing is left to restore");
	return true;
}

void inject_end(struct inject *inject)
{
	struct work work = { .pid = inject->pid, .library = inject->library,
			     .symbol = DETACH };
	enum target_verdict verdict;
	struct target target;
	bool failed;

	if (!inject->is_attached)
		return;
	inject->is_attached = false;
	/*
	 * The messages of this examination are dropped. If the process has executed another
	 * program, it has no shim any more, which is no error.
	 */
	say_nothing(true);
	verdict = target_examine(&target, inject->pid, false);
	say_nothing(false);
	failed = is_unknown(&target);
	if (target.shim == SHIM_ATTACHED && !has_ended(inject->pid)) {
		/*
		 * The process could not be restored, for example because it is stopped or has a
		 * debugger. The second examination prints the reason.
		 */
		if (verdict == TARGET_REFUSED) {
			target_fini(&target);
			verdict = target_examine(&target, inject->pid, false);
		}
		failed = verdict == TARGET_REFUSED ||
			 (verdict == TARGET_OK && work_in_children(&work, &target) == WORK_FAILED);
	}
	if (failed)
		say("process %d: its calls still pass through the library, which costs some "
		    "nanoseconds each; the end of another trace restores them",
		    (int)inject->pid);
	target_fini(&target);
}

/* Makes a call and stores its value in *value, which is 0 after a failure. */
static bool call_in_children(struct work *work, struct target *target, int64_t *value)
{
	bool good = work_in_children(work, target) == WORK_DONE;

	*value = work->value;
	return good;
}

/*
 * Removes the tracers that have ended from the process's list of tracers. If "self" is true, also
 * removes this tracer. Returns whether another tracer remains. If kill() does not show whether a
 * tracer has ended, the tracer remains in the list.
 */
static bool leave_tracers(const struct target *target, bool self)
{
	struct shim_jumps jumps;
	bool others = false;

	if (!memory_read(target->memory, target->jumps, &jumps, sizeof(jumps)))
		return false;
	for (size_t i = 0; i < SHIM_TRACERS; i++) {
		const uint32_t pid = jumps.tracer[i], none = 0;
		const uint64_t at = target->jumps + offsetof(struct shim_jumps, tracer) +
				    i * sizeof(none);
		bool is_self = pid == (uint32_t)getpid();

		if (!pid)
			continue;
		if (is_self ? self : kill((pid_t)pid, 0) && errno == ESRCH)
			memory_write(target->memory, at, &none, sizeof(none));
		else
			others |= !is_self;
	}
	return others;
}

/* Writes the plan into the process, and lets the shim prepare the jumps. */
static bool send_plan(const struct inject_plan *plan, struct target *target, int64_t *jumps)
{
	char bytes[24], tracer[16];
	struct work work = { .pid = target->pid, .library = plan->library,
			     .symbol = PLAN, .argument = bytes };
	int64_t address;

	snprintf(bytes, sizeof(bytes), "%zu", plan->bytes);
	if (target->jumps)
		leave_tracers(target, false);
	if (!call_in_children(&work, target, &address))
		return false;
	if (!memory_write(target->memory, (uint64_t)address, plan->plan, plan->bytes)) {
		say("process %d: its functions and probes cannot be traced: its memory cannot be "
		    "written", (int)target->pid);
		return false;
	}
	work.symbol = PATCH;
	work.argument = tracer;
	snprintf(tracer, sizeof(tracer), "%d", (int)getpid());
	return call_in_children(&work, target, jumps);
}

/*
 * After send_plan(), a second child writes the jumps while all threads are stopped. If that fails,
 * the code is unchanged, and the only effect is that the process keeps the memory of the plan.
 */
int inject_patch(pid_t pid, const struct inject_plan *plan, size_t *jumps)
{
	struct target target;
	enum target_verdict verdict;
	const char *why = NULL;
	int64_t wanted = 0;
	bool good = false;

	*jumps = 0;
	/*
	 * If the process has ended, the function prints no message, because its callers report the
	 * end of the process.
	 */
	if (has_ended(pid))
		return TOOL_FAILURE;
	verdict = target_examine(&target, pid, true);
	if (verdict == TARGET_LEAVE)
		say("process %d: its functions and probes cannot be traced: it uses libposixtrace "
		    "without the preload library, or cannot be examined; 'posixtrace record "
		    "--function' traces them from its start", (int)pid);
	else if (verdict == TARGET_OK && (why = why_unseen(pid, plan->library)))
		say("process %d: its functions and probes cannot be traced: %s", (int)pid, why);
	else if (verdict == TARGET_OK)
		good = send_plan(plan, &target, &wanted);
	target_fini(&target);
	if (good) {
		/* send_plan() may have loaded the library, which contains the list of jumps. */
		good = target_examine(&target, pid, true) == TARGET_OK &&
		       (!wanted || change_in_children(pid, WORK_WRITE, &target) == WORK_DONE);
		target_fini(&target);
	}
	*jumps = (size_t)wanted;
	return good ? TOOL_OK : TOOL_FAILURE;
}

void inject_unpatch(pid_t pid)
{
	struct target target;

	/*
	 * A process that has ended or executed another program has no jumps. In a stopped process
	 * the shim may still be attached, because no thread could make the call that detaches the
	 * shim. The code of such a process is restored if no stream is active.
	 */
	if (target_restorable(&target, pid) == TARGET_OK && !leave_tracers(&target, true) &&
	    (target.shim != SHIM_ATTACHED || !target.is_traced))
		change_in_children(pid, WORK_RESTORE, &target);
	target_fini(&target);
}
