/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash.c - traces a program with ptrace(2) in order to examine it at a fatal signal.
 *
 * Threads are traced by PTRACE_SEIZE, which does not stop them. A traced thread stops when it gets
 * a signal, when it begins, when it starts a thread or a process, and when it ends. The recorder
 * lets it continue immediately, except at a fatal signal and at stops of job control. Threads do
 * not stop at system calls. If the recorder ends, the kernel releases all threads.
 */
#include "live/crash.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/procfile.h"
#include "base/vec.h"
#include "live/crash_stack.h"

#define THREADS_MAX 1024 /* threads of a process that are examined */
#define HOLD_MS     500  /* time for all threads to stop; threads that still run are not examined */

#ifndef PTRACE_EVENT_STOP
# define PTRACE_EVENT_STOP 128
#endif

#define OPTIONS \
	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXIT)

/* ------------------------------------------------------------------ the traced threads */

/*
 * Returns the thread, or NULL if it is not known. The list is short, so a linear search is enough.
 * The pointer is valid until a thread is added or forgotten.
 */
static struct crash_thread *find_thread(struct crash *crash, pid_t tid)
{
	for (size_t i = 0; i < crash->threads; i++)
		if (crash->thread[i].tid == tid)
			return &crash->thread[i];
	return NULL;
}

/*
 * Reads a number from /proc/TID/status, in the given base. Returns false if the thread has ended.
 */
static bool read_status(pid_t tid, const char *field, int base, unsigned long long *value)
{
	char path[40], text[PROCFILE_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (!procfile_read(path, text, sizeof(text)) || !procfile_field(text, field))
		return false;
	*value = procfile_number(text, field, base, 0);
	return true;
}

/*
 * Returns a thread. If it is new, adds it to the list. Returns NULL if memory is lacking.
 * crash_status() then mistakes the thread for a process, and reports its end.
 */
static struct crash_thread *find_or_add_thread(struct crash *crash, pid_t tid)
{
	struct crash_thread *thread = find_thread(crash, tid);
	unsigned long long process = (unsigned long long)tid;

	if (thread || !vec_grow(&crash->thread, crash->threads, 1))
		return thread;
	read_status(tid, "Tgid:", 10, &process);
	thread = &crash->thread[crash->threads++];
	*thread = (struct crash_thread){ .tid = tid, .is_process = (pid_t)process == tid };
	return thread;
}

/*
 * Removes a thread that has ended, because the kernel may use its number again. The last thread of
 * the list gets the free place.
 */
static void forget_thread(struct crash *crash, pid_t tid)
{
	struct crash_thread *thread = find_thread(crash, tid);

	if (thread)
		*thread = crash->thread[--crash->threads];
}

int crash_begin(struct crash *crash, struct capture *capture, pid_t child)
{
	*crash = (struct crash){ .capture = capture };
	if (ptrace(PTRACE_SEIZE, child, NULL, (void *)(uintptr_t)OPTIONS))
		return errno;
	return find_or_add_thread(crash, child) ? 0 : ENOMEM;
}

void crash_end(struct crash *crash)
{
	free(crash->thread);
	*crash = (struct crash){ .capture = NULL };
}

/* ------------------------------------------------------------------ the events */

/* The data of an event, packed as its schema has it. */
struct packet {
	unsigned char data[1024];
	size_t len;
};

/*
 * Appends a field. The fields of all events in this file fit into the packet. A field that did not
 * fit would be missing in the event.
 */
static void crash_pack(struct packet *packet, const void *value, size_t bytes)
{
	if (bytes > sizeof(packet->data) - packet->len)
		return;
	memcpy(packet->data + packet->len, value, bytes);
	packet->len += bytes;
}

/* Appends a field of the type s32. */
static void pack_number(struct packet *packet, long long number)
{
	const int32_t value = (int32_t)number;

	crash_pack(packet, &value, sizeof(value));
}

/* Appends a field of the type ptr or x64. */
static void pack_word(struct packet *packet, uint64_t word)
{
	crash_pack(packet, &word, sizeof(word));
}

/* Appends a field of the type str, with its NUL. */
static void pack_text(struct packet *packet, const char *text)
{
	crash_pack(packet, text, strlen(text) + 1);
}

/*
 * The registers of struct user_regs_struct, in the order of the fields. On aarch64 the numbered
 * registers are one field, which is an array.
 */
#if defined __x86_64__
# define REGISTERS(X) \
	X(rip) X(rsp) X(rbp) X(eflags) X(rax) X(rbx) X(rcx) X(rdx) X(rsi) X(rdi) X(r8) X(r9) \
	X(r10) X(r11) X(r12) X(r13) X(r14) X(r15)
#elif defined __aarch64__
# define REGISTERS(X) X(pc) X(sp) X(pstate)
# define REGISTERS_MORE "; x64[31] x"
#else
# define REGISTERS(X) /* not known for this processor: the events have no registers */
#endif
#ifndef REGISTERS_MORE
# define REGISTERS_MORE
#endif
#define REGISTER_FIELD(name) "; x64 " #name

#define SCHEMA_SIGNAL \
	"s32 pid; s32 tid; str signal; s32 code; ptr fault; str reason; s32 threads; " \
	"str message; str handler; s32 first; @level 1"
#define SCHEMA_THREAD \
	"s32 pid; s32 tid; str comm; bool crashed" REGISTERS(REGISTER_FIELD) REGISTERS_MORE
#define SCHEMA_FRAME "s32 pid; s32 tid; s32 frame; ptr pc; str function; str module"
#define SCHEMA_KILLED "s32 pid; s32 tid; str signal; s32 code; s32 sender; str name"
#define SCHEMA_REPEAT \
	"s32 pid; s32 tid; u64 frames; bool complete; u64 times; ptr pc; str function; str module"

/* Records an event, unless the stream no longer exists. */
static void crash_put(const struct crash *crash, const char *name, const char *schema,
		      const struct packet *packet)
{
	if (crash->capture)
		capture_note(crash->capture, name, schema, packet->data, packet->len);
}

/* Records the signal and its cause. */
static void put_signal(const struct crash *crash, pid_t pid, pid_t tid, const siginfo_t *info,
		       const struct crash_cause *cause, size_t threads)
{
	struct packet packet = { .len = 0 };
	char name[ENDED_TEXT];

	ended_signal(name, info->si_signo);
	pack_number(&packet, pid);
	pack_number(&packet, tid);
	pack_text(&packet, name);
	pack_number(&packet, info->si_code);
	pack_word(&packet, cause->fault);
	pack_text(&packet, cause->reason);
	pack_number(&packet, (long long)threads);
	pack_text(&packet, cause->message);
	if (cause->handled)
		ended_signal(name, cause->handled);
	pack_text(&packet, cause->handled ? name : "");
	pack_number(&packet, cause->first);
	crash_put(crash, "crash.signal", SCHEMA_SIGNAL, &packet);
}

/* Records a stopped thread: its name, whether the signal is for it, and its registers. */
static void put_thread(const struct crash *crash, pid_t pid, pid_t tid, bool crashed)
{
	struct user_regs_struct registers;
	struct iovec memory = { &registers, sizeof(registers) };
	struct packet packet = { .len = 0 };
	uint8_t byte = crashed;
	char name[32];

	memset(&registers, 0, sizeof(registers));
	/* If the name cannot be read, it is empty. */
	procfile_name(pid, tid, name, sizeof(name));
	pack_number(&packet, pid);
	pack_number(&packet, tid);
	pack_text(&packet, name);
	crash_pack(&packet, &byte, 1);
	/*
	 * A thread that has ended meanwhile has no registers, so its event lacks the fields for
	 * them.
	 */
	if (!ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &memory)) {
#define REGISTER_WORD(name) pack_word(&packet, registers.name);
		REGISTERS(REGISTER_WORD)
#ifdef __aarch64__
		crash_pack(&packet, registers.regs, sizeof(registers.regs));
#endif
	}
	crash_put(crash, "crash.thread", SCHEMA_THREAD, &packet);
}

/*
 * Records a frame of a thread. 0 is the number of the innermost frame. The internal functions of a
 * library of the system have no symbols. Their frames have MODULE+0xADDRESS instead, with an
 * address as addr2line(1) expects it.
 */
static void put_frame(const struct crash *crash, pid_t pid, pid_t tid, uint64_t number,
		      const struct crash_frame *frame)
{
	struct packet packet = { .len = 0 };
	char place[sizeof(frame->module) + 20] = "";

	if (!*frame->function && *frame->module && frame->place)
		snprintf(place, sizeof(place), "%s+0x%llx", path_last(frame->module),
			 (unsigned long long)frame->place);
	pack_number(&packet, pid);
	pack_number(&packet, tid);
	pack_number(&packet, (long long)number);
	pack_word(&packet, frame->address);
	pack_text(&packet, *place ? place : frame->function);
	pack_text(&packet, frame->module);
	crash_put(crash, "crash.frame", SCHEMA_FRAME, &packet);
}

/* Records how many frames a function has in the stack of the crashed thread. */
static void put_repeat(const struct crash *crash, pid_t pid, pid_t tid,
		       const struct crash_stack *stack, const struct crash_repeat *repeat)
{
	struct packet packet = { .len = 0 };
	const uint8_t is_complete = !stack->is_cut;

	pack_number(&packet, pid);
	pack_number(&packet, tid);
	pack_word(&packet, stack->total);
	crash_pack(&packet, &is_complete, 1);
	pack_word(&packet, repeat->times);
	pack_word(&packet, repeat->address);
	pack_text(&packet, repeat->function);
	pack_text(&packet, repeat->module);
	crash_put(crash, "crash.repeat", SCHEMA_REPEAT, &packet);
}

/* Records the stack of the crashed thread. */
static void put_stack(const struct crash *crash, pid_t pid, pid_t tid,
		      const struct crash_stack *stack)
{
	for (unsigned i = 0; i < stack->frames; i++)
		put_frame(crash, pid, tid, stack->number[i], &stack->frame[i]);
	for (unsigned i = 0; i < stack->repeats; i++)
		put_repeat(crash, pid, tid, stack, &stack->repeat[i]);
}

/* The thread whose stack is walked, and the number of its next frame. */
struct thread_walk {
	const struct crash *crash;
	const struct unwind *unwind;
	pid_t pid, tid;
	unsigned frame;
};

/* The callback of unwind_walk() for a thread that did not crash. */
static bool put_step(void *arg, const struct unwind_step *step)
{
	struct thread_walk *walk = arg;
	struct crash_frame frame;

	unwind_name(walk->unwind, step, &frame);
	put_frame(walk->crash, walk->pid, walk->tid, walk->frame, &frame);
	return ++walk->frame < CRASH_INNER;
}

/* ------------------------------------------------------------------ the examination */

/* Stores the threads of a process in tid. Returns their number, at most THREADS_MAX. */
static size_t list_threads(pid_t pid, pid_t tid[THREADS_MAX])
{
	DIR *threads = procfile_threads(pid);
	size_t count = 0;

	while (count < THREADS_MAX && (tid[count] = procfile_next_thread(threads)))
		count++;
	procfile_end_threads(threads);
	return count;
}

/* Requests that a thread stops. take_stop() notices the stop. */
static void request_stop(struct crash *crash, pid_t tid)
{
	struct crash_thread *thread = find_or_add_thread(crash, tid);

	if (thread)
		thread->is_awaited = !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
}

/*
 * Notes the stop or the end of a thread after request_stop(). Returns false if the thread still
 * runs, and true if no stop of the thread is awaited any more.
 */
static bool take_stop(struct crash *crash, pid_t tid)
{
	struct crash_thread *thread = find_thread(crash, tid);
	pid_t got;
	int status;

	if (!thread || !thread->is_awaited)
		return true;
	got = waitpid(tid, &status, __WALL | WNOHANG);
	if (!got)
		return false;
	thread->is_awaited = false;
	if (got == tid && WIFSTOPPED(status)) {
		thread->is_held = true;
		/*
		 * status >> 16 is the event of ptrace(2), or 0 if the thread has stopped because it
		 * gets a signal. release_thread() delivers this signal.
		 */
		thread->sig = status >> 16 ? 0 : WSTOPSIG(status);
	} else if (got == tid && !WIFCONTINUED(status)) {
		/*
		 * The thread has ended, and crash_status() does not get this status any more. No
		 * end of a process is missed in this way: the kernel reports the end of this
		 * process only after the crashed thread has been reaped.
		 */
		forget_thread(crash, tid);
	}
	return true;
}

/*
 * Stops the threads of a process except for the crashed one, which is stopped already. All stops
 * are requested before the first is awaited, so a thread in an uninterruptible wait, for example in
 * vfork(), does not use up the time of the other threads. Such a thread may stop too late;
 * crash_status() then lets it continue.
 */
static void hold_threads(struct crash *crash, const pid_t *tid, size_t count, pid_t crashed)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	for (size_t i = 0; i < count; i++)
		if (tid[i] != crashed)
			request_stop(crash, tid[i]);
	for (int left_ms = HOLD_MS; left_ms >= 0; left_ms--) {
		bool waits = false;

		for (size_t i = 0; i < count; i++)
			waits |= !take_stop(crash, tid[i]);
		if (!waits)
			return;
		nanosleep(&nap, NULL);
	}
}

/*
 * Continues a thread that hold_threads() has stopped. Delivers the signal for which it had stopped,
 * if there is one.
 */
static void release_thread(struct crash *crash, pid_t tid)
{
	struct crash_thread *thread = find_thread(crash, tid);

	if (!thread)
		return;
	thread->is_awaited = false;
	if (!thread->is_held)
		return;
	thread->is_held = false;
	ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)thread->sig);
	thread->sig = 0;
}

/*
 * Finds out why the stopped thread gets a signal. If the kernel has ended the thread without a stop
 * for the signal, ptrace(2) describes only the stop at the end of the thread, which is no signal.
 */
static void read_fault(pid_t tid, int sig, struct crash_fault *fault)
{
	crash_fault_place(fault, tid);
	fault->is_described = !ptrace(PTRACE_GETSIGINFO, tid, NULL, &fault->info) &&
			      fault->info.si_signo == sig &&
			      fault->info.si_code >> 8 != PTRACE_EVENT_EXIT;
	if (!fault->is_described)
		fault->info = (siginfo_t){ .si_signo = sig };
}

/*
 * Examines a process that sig is about to kill. The thread tid gets the signal. The log has this
 * thread before the others.
 */
static void crash_examine(struct crash *crash, pid_t pid, pid_t tid, int sig)
{
	static pid_t tids[THREADS_MAX];
	size_t count = list_threads(pid, tids);
	const struct crash_thread *crashed = find_thread(crash, tid);
	struct crash_fault fault, before = { .pc = 0 };
	struct crash_cause cause;
	struct crash_stack *stack;
	struct unwind *unwind;

	if (crashed)
		before = crashed->caught;
	read_fault(tid, sig, &fault);
	hold_threads(crash, tids, count, tid);
	/* The modules of the process are read once, after all threads have stopped. */
	unwind = unwind_begin(pid);
	stack = crash_stack_read(unwind, tid);
	crash_cause_find(&cause, pid, tid, &fault, &before, unwind, stack);
	put_signal(crash, pid, tid, &fault.info, &cause, count);
	put_thread(crash, pid, tid, true);
	if (stack)
		put_stack(crash, pid, tid, stack);
	for (size_t i = 0; i < count; i++) {
		struct thread_walk walk = { crash, unwind, pid, tids[i], 0 };
		const struct crash_thread *thread = find_thread(crash, tids[i]);

		if (!thread || !thread->is_held)
			continue;
		put_thread(crash, pid, tids[i], false);
		unwind_walk(unwind, tids[i], put_step, &walk);
	}
	free(stack);
	unwind_end(unwind);
	for (size_t i = 0; i < count; i++)
		release_thread(crash, tids[i]);
}

/* Returns true if the default action of a signal is "core": the signal of a crash. */
static bool is_core(int sig)
{
	switch (sig) {
	case SIGQUIT:
	case SIGILL:
	case SIGTRAP:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGSEGV:
	case SIGXCPU:
	case SIGXFSZ:
	case SIGSYS:
		return true;
	}
	return false;
}

/* Returns true if the default action of a signal is to end the process without a core. */
static bool is_end(int sig)
{
	switch (sig) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return false;
	}
	return !is_core(sig);
}

/* Returns true if no handler gets the signal, and the thread does not ignore it. */
static bool has_default(pid_t tid, int sig)
{
	unsigned long long caught = ~0ull, ignored = ~0ull;

	return read_status(tid, "SigCgt:", 16, &caught) &&
	       read_status(tid, "SigIgn:", 16, &ignored) &&
	       !((caught | ignored) >> (sig - 1) & 1);
}

/*
 * Records which process sent a signal that ends the program and is no crash. The name of a process
 * that has ended is empty. SIGKILL causes no stop, so its sender is not known.
 */
static void put_killed(const struct crash *crash, pid_t tid, int sig)
{
	unsigned long long pid = (unsigned long long)tid;
	struct packet packet = { .len = 0 };
	siginfo_t info = { .si_signo = 0 };
	char signal[ENDED_TEXT], name[32] = "";
	bool is_sent;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) || info.si_signo != sig ||
	    !read_status(tid, "Tgid:", 10, &pid))
		return;
	is_sent = info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE;
	ended_signal(signal, sig);
	if (is_sent && info.si_pid > 0 && procfile_same_ids((pid_t)pid, getpid()))
		procfile_name(info.si_pid, info.si_pid, name, sizeof(name));
	pack_number(&packet, (long long)pid);
	pack_number(&packet, tid);
	pack_text(&packet, signal);
	pack_number(&packet, info.si_code);
	pack_number(&packet, is_sent ? info.si_pid : 0);
	pack_text(&packet, name);
	crash_put(crash, KILLED_EVENT, SCHEMA_KILLED, &packet);
}

/*
 * Returns true if the signal ends the process as a crash. The signal of a fault is fatal even if
 * the process ignores or blocks it: the kernel restores the default action before it stops the
 * thread, so the status file already shows the default action.
 */
static bool is_fatal(pid_t tid, int sig)
{
	return is_core(sig) && has_default(tid, sig);
}

/*
 * Examines the process of a stopped thread, which a signal ends. Until an examined process is dead,
 * its other threads may get fatal signals, too, and all of them stop at their end. These stops do
 * not cause another examination.
 */
static void examine_once(struct crash *crash, pid_t tid, int sig)
{
	unsigned long long pid = (unsigned long long)tid;

	if (!read_status(tid, "Tgid:", 10, &pid) || crash->examined == (pid_t)pid)
		return;
	crash->examined = (pid_t)pid;
	crash_examine(crash, (pid_t)pid, tid, sig);
}

/*
 * Keeps the fault that a handler of the thread is about to get. The handler may end the process by
 * abort(), and the cause is then this fault.
 */
static void keep_caught(struct crash *crash, pid_t tid)
{
	struct crash_thread *thread = find_thread(crash, tid);
	struct crash_fault fault = { .is_described = true };

	if (thread && !ptrace(PTRACE_GETSIGINFO, tid, NULL, &fault.info) &&
	    fault.info.si_code > 0 && crash_fault_place(&fault, tid))
		thread->caught = fault;
}

/*
 * Handles the stop of a thread that gets a signal. The kernel delivers the signal after
 * PTRACE_CONT.
 */
static void deliver_signal(struct crash *crash, pid_t tid, int sig)
{
	if (is_fatal(tid, sig))
		examine_once(crash, tid, sig);
	else if (is_core(sig))
		keep_caught(crash, tid);
	else if (is_end(sig) && has_default(tid, sig))
		put_killed(crash, tid, sig);
	ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)sig);
}

/*
 * Handles the stop of a thread that ends. The kernel ends some threads without a stop for the
 * signal: those whose system call a filter refuses with SECCOMP_RET_KILL_PROCESS or _THREAD. Such a
 * thread still has its registers and its stack.
 */
static void end_thread(struct crash *crash, pid_t tid)
{
	unsigned long status = 0;

	if (!ptrace(PTRACE_GETEVENTMSG, tid, NULL, &status) && WIFSIGNALED((int)status) &&
	    is_core(WTERMSIG((int)status)))
		examine_once(crash, tid, WTERMSIG((int)status));
	ptrace(PTRACE_CONT, tid, NULL, NULL);
}

bool crash_status(struct crash *crash, pid_t tid, int status)
{
	const struct crash_thread *thread = find_or_add_thread(crash, tid);
	int event = status >> 16, sig;

	/*
	 * The kernel also reports the ends of threads, but the caller wants only the ends of
	 * processes.
	 */
	if (!WIFSTOPPED(status)) {
		bool is_process = !thread || thread->is_process;

		if (!WIFCONTINUED(status))
			forget_thread(crash, tid);
		return is_process && !WIFCONTINUED(status);
	}
	sig = WSTOPSIG(status);
	if (!event)
		deliver_signal(crash, tid, sig);
	else if (event == PTRACE_EVENT_EXIT)
		end_thread(crash, tid);
	else if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		/*
		 * Job control has stopped the thread. PTRACE_LISTEN keeps it stopped until SIGCONT.
		 */
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, tid, NULL, NULL);
	return false;
}
