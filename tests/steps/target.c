/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * target.c - the process that is stepped through a call.
 *
 * It stops with a breakpoint instruction and passes a code in a register.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "steps.h"

struct share *share;

#define TRAP_FLAG  0x100
#define TRAPS_MOST 100 /* so that the stream has room */

static pid_t parent;
static sigjmp_buf out;
static unsigned char payload[MAKERS][8192];
static bool have_spans; /* MAIN's events begin with a duration */

static inline __attribute__((always_inline)) void stop_at(enum stop where)
{
	__asm__ volatile("int3" : : "a"((uint64_t)where) : "memory");
}

static void open_types(void)
{
	static const char *const name[TYPES] = { "main0", "main1", "main2", "handler", "helper",
						 "child" };

	for (int i = 0; i < TYPES; i++)
		if (posix_trace_eventid_open(name[i], &share->type[i]))
			_exit(3);
}

void target_payload(unsigned char *data, size_t len, enum maker maker, uint64_t number)
{
	uint32_t head[2] = { (uint32_t)maker, (uint32_t)number };

	for (size_t i = sizeof(head); i < len; i++)
		data[i] = (unsigned char)(number * 31 + i * 7 + (unsigned)maker);
	memcpy(data, head, len < sizeof(head) ? len : sizeof(head));
}

unsigned target_type(enum maker maker, uint64_t number)
{
	return maker == MAIN ? (unsigned)(number % MAIN_TYPES) : MAIN_TYPES + (unsigned)maker - 1;
}

static uint64_t begin(enum maker maker, unsigned *type)
{
	uint64_t number = atomic_fetch_add(&share->number[maker], 1);

	*type = target_type(maker, number);
	atomic_fetch_add(&share->made[*type], 1);
	return number;
}

/*
 * Records an event with this number of bytes of data. If the target tests durations, the event also
 * has the duration since the stamp `begin`.
 */
static inline __attribute__((always_inline)) void record(enum maker maker, unsigned type,
							 uint64_t begin, size_t bytes)
{
	if (maker == MAIN && have_spans)
		posix_trace_event_since_np(share->type[type], begin, payload[maker], bytes, NULL);
	else
		(posix_trace_event)(share->type[type], payload[maker], bytes);
}

/*
 * Returns a stamp that is in the past, so that no duration is 0. The counter of some processors
 * moves in steps of ten nanoseconds, and an event can follow its stamp within one step.
 */
static uint64_t past_stamp(void)
{
	const uint64_t stamp = posix_trace_stamp_np();

	while (stamp && posix_trace_stamp_np() == stamp)
		;
	return stamp;
}

static void make(enum maker maker, size_t bytes)
{
	unsigned type;
	uint64_t number = begin(maker, &type);

	target_payload(payload[maker], bytes, maker, number);
	record(maker, type, past_stamp(), bytes);
	atomic_fetch_add(&share->done[type], 1);
}

/*
 * The tested call. Its frame is below the frames of later calls, which recognize thereby whether it
 * has ended.
 */
static void __attribute__((noinline)) call(size_t bytes)
{
	volatile unsigned char depth[1024];
	unsigned type;
	uint64_t number = begin(MAIN, &type), stamp = past_stamp();

	atomic_store(&share->called, type);
	depth[0] = (unsigned char)bytes;
	(void)depth[0];
	target_payload(payload[MAIN], bytes, MAIN, number);
	if (sigsetjmp(out, 1) == 0) {
		stop_at(STOP_BEFORE);
		record(MAIN, type, stamp, bytes);
		stop_at(STOP_AFTER);
		if (getpid() == parent)
			atomic_fetch_add(&share->done[type], 1);
	}
}

/*
 * Begins to stop the thread after each instruction, from the return of the handler on, or ends
 * this.
 */
static void step_on(void *context, bool on)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	*flags = on ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
}

/* A trap whose signal is blocked would kill the process. */
static bool is_about_to_block(void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)regs[REG_RIP];

	return code[0] == 0x0f && code[1] == 0x05 && regs[REG_RAX] == SYS_rt_sigprocmask;
}

/*
 * Runs in a child of the target, which no debugger steps. Records an event after each instruction
 * of the child. Ends the steps at a breakpoint, after TRAPS_MOST steps, and before all signals are
 * blocked.
 */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	static unsigned traps;
	int saved = errno;

	(void)signal;
	if (info->si_code == TRAP_TRACE)
		make(CHILD, 8);
	if (info->si_code != TRAP_TRACE || ++traps == TRAPS_MOST || is_about_to_block(context))
		step_on(context, false);
	errno = saved;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	int saved = errno;
	pid_t child;

	(void)signal;
	(void)info;
	switch (atomic_load(&share->deed)) {
	case DEED_TRACE:
		make(HANDLER, 8);
		make(HANDLER, 16);
		break;
	case DEED_FORK:
	case DEED_FORK_TRACE:
		child = fork();
		if (child < 0)
			_exit(4);
		while (child == 0 && atomic_load(&share->child_waits) &&
		       !atomic_load(&share->parent_is_on) && getppid() == parent)
			usleep(50);
		if (child == 0 && atomic_load(&share->deed) == DEED_FORK_TRACE)
			step_on(context, true);
		break;
	default:
		make(HANDLER, 8);
		siglongjmp(out, 1);
	}
	errno = saved;
}

/* A child continues as its parent does, and is a program like any other. */
static bool whole_use(void)
{
	struct posix_trace_ledger_np ledger;
	struct posix_trace_event_info info;
	unsigned char data[64];
	unsigned found = 0;
	trace_id_t trid;
	size_t bytes;
	int none;

	for (int i = 0; i < AFTERWARDS; i++)
		make(CHILD, 8);
	if (posix_trace_create(0, NULL, &trid) || posix_trace_start(trid))
		return false;
	for (int i = 0; i < AFTERWARDS; i++)
		make(CHILD, 16);
	while (posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &bytes, &none) == 0 &&
	       !none)
		found += info.posix_event_id == share->type[target_type(CHILD, 0)] &&
			 info.posix_pid == getpid();
	return found == AFTERWARDS && posix_trace_get_ledger_np(trid, &ledger) == 0 &&
	       ledger.called == ledger.reported && ledger.called == AFTERWARDS + 1 &&
	       posix_trace_shutdown(trid) == 0;
}

static void *help(void *arg)
{
	(void)arg;
	atomic_store(&share->helper_tid, (int)syscall(SYS_gettid));
	for (;;) {
		int order;

		while ((order = atomic_load(&share->order)) == ORDER_NONE)
			syscall(SYS_futex, &share->order, 0 /* FUTEX_WAIT */, ORDER_NONE, NULL,
				NULL, 0);
		if (order == ORDER_END)
			return NULL;
		if (order == ORDER_CALL)
			share->order_call(&share->try);
		for (unsigned n = atomic_load(&share->order_count); order == ORDER_TRACE && n; n--)
			make(HELPER, 8);
		atomic_store(&share->order, ORDER_NONE);
		syscall(SYS_futex, &share->order, 1 /* FUTEX_WAKE */, 64, NULL, NULL, 0);
	}
}

static void *be_a_stranger(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		make(HELPER, 8);
	return NULL;
}

/* A child that has events in the inherited streams, too, and lives as long as this process. */
static pid_t have_sibling(void)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < AFTERWARDS; i++)
			make(CHILD, 8);
		for (;;)
			pause();
	}
	while (child > 0 && atomic_load(&share->done[target_type(CHILD, 0)]) < AFTERWARDS)
		usleep(100);
	return child;
}

/* A stream of this process, with its log in the file that the process inherited. */
static trace_id_t log_own_events(void)
{
	trace_attr_t attr;
	trace_id_t trid;

	posix_trace_attr_init(&attr);
	if (posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH) ||
	    posix_trace_attr_setmaxdatasize(&attr, OWN_LOG_DATA) ||
	    posix_trace_attr_setstreamsize(&attr, OWN_LOG_SIZE) ||
	    posix_trace_create_withlog(0, &attr, share->log_fd, &trid) || posix_trace_start(trid))
		_exit(6);
	posix_trace_attr_destroy(&attr);
	return trid;
}

/* The log has all recorded events, and the chunks are free. */
static void catch_up(trace_id_t trid)
{
	struct posix_trace_status_info status;

	if (posix_trace_flush(trid))
		_exit(9);
	do
		if (posix_trace_get_status(trid, &status))
			_exit(9);
	while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

void target_run(const struct path *path, unsigned prepare, bool helper)
{
	trace_id_t own = 0;
	pid_t sibling = 0;
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	pthread_t thread;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	parent = getpid();
	have_spans = path->since;
	sigaction(SIGTRAP, &trap, NULL);
	sigaction(SIGUSR1, &act, NULL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	open_types();
	if (helper && pthread_create(&thread, NULL, help, NULL))
		_exit(5);
	stop_at(STOP_READY);
	if (path->stranger) {
		pthread_t stranger;

		if (pthread_create(&stranger, NULL, be_a_stranger, NULL))
			_exit(5);
		pthread_join(stranger, NULL);
	}
	if (path->sibling)
		sibling = have_sibling();
	if (path->own_log)
		own = log_own_events();
	while (prepare--) {
		make(MAIN, path->bytes);
		if (path->own_log && prepare % 64 == 0)
			catch_up(own);
	}
	call(path->call_bytes ? path->call_bytes - 1 : path->bytes);
	if (getpid() != parent) {
		atomic_store(&share->child_ok, whole_use() ? 1 : -1);
		_exit(0);
	}
	for (int i = 0; i < AFTERWARDS; i++)
		make(MAIN, path->bytes);
	atomic_store(&share->parent_is_on, 1);
	if (sibling > 0 && (kill(sibling, SIGKILL) || waitpid(sibling, NULL, 0) != sibling))
		_exit(7);
	while (waitpid(-1, &status, 0) > 0)
		atomic_store(&share->child_status, status);
	if (path->own_log && posix_trace_shutdown(own))
		_exit(8);
	stop_at(STOP_DONE);
	for (;;) {
		for (int i = 0; i < AFTERWARDS; i++)
			make(MAIN, path->bytes);
		stop_at(STOP_DONE);
	}
}
