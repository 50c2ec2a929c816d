/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lead.c - steps a process through its instructions.
 *
 * Single steps from the beginning to each instruction would cost the square of their number. So the
 * process runs to a breakpoint at the last address before the instruction that the path reaches for
 * the first time, and only the rest, inside loops, is stepped.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "steps.h"
#include "support/memory_file.h"

#define WAY_MOST 2000000u

static uint64_t instruction(pid_t pid)
{
	return (uint64_t)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rip), NULL);
}

/* Waits for the next stop of any kind. Returns its signal, or 0 if the process has ended. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) != pid)
		if (errno != EINTR) {
			complain("waitpid: %s", strerror(errno));
			return 0;
		}
	return WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
}

static bool is_breakpoint(pid_t pid)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) == 0 && info.si_signo == SIGTRAP &&
	       info.si_code == SI_KERNEL;
}

/* Continues the process and passes on the signals that the target sends to itself. */
static bool go_on(pid_t pid, int signal)
{
	for (;;) {
		if (ptrace(PTRACE_CONT, pid, NULL, (long)signal)) {
			complain("PTRACE_CONT: %s", strerror(errno));
			return false;
		}
		signal = wait_for(pid);
		if (signal == 0 || signal == SIGTRAP)
			return signal == SIGTRAP;
		if (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGABRT)
			complain("the target got signal %d at %#llx", signal,
				 (unsigned long long)instruction(pid));
	}
}

static int name_of_stop(pid_t pid)
{
	int where = (int)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rax), NULL);

	return is_breakpoint(pid) && where >= STOP_READY && where <= STOP_DONE ? where : -1;
}

int lead_on(pid_t pid, int signal)
{
	return go_on(pid, signal) ? name_of_stop(pid) : 0;
}

pid_t lead_start(const struct path *path, unsigned prepare, bool helper)
{
	pid_t pid;

	memset(share, 0, sizeof(*share));
	share->log_fd = path->own_log ? memory_file("log", MFD_CLOEXEC) : -1;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		target_run(path, prepare, helper);
	if (pid < 0 || wait_for(pid) != SIGTRAP || name_of_stop(pid) != STOP_READY)
		complain("the target did not start");
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (long)PTRACE_O_EXITKILL);
	return pid;
}

/* Once for each address: its first visit. */
struct places {
	uint64_t *address;
	uint32_t *seen;
	size_t room;
};

static uint32_t enter(struct places *places, uint64_t address)
{
	size_t i = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40) % places->room;

	while (places->seen[i] && places->address[i] != address)
		i = (i + 1) % places->room;
	places->address[i] = address;
	return places->seen[i]++;
}

void lead_record(pid_t pid, struct way *way)
{
	struct places places = { .room = 1u << 16 };
	uint32_t room = 1024, first = 0;

	places.address = calloc(places.room, sizeof(*places.address));
	places.seen = calloc(places.room, sizeof(*places.seen));
	memset(way, 0, sizeof(*way));
	for (;; way->count++) {
		uint32_t seen;

		if (way->count == 0 || way->count == room) {
			room *= 2;
			way->address = realloc(way->address, room * sizeof(*way->address));
			way->lead = realloc(way->lead, room * sizeof(*way->lead));
			way->seen = realloc(way->seen, room * sizeof(*way->seen));
		}
		if (!way->address || !way->lead || !way->seen || !places.address || !places.seen ||
		    way->count == WAY_MOST) {
			complain("too long a way");
			break;
		}
		way->address[way->count] = instruction(pid);
		seen = enter(&places, way->address[way->count]);
		if (seen == 0)
			first = way->count;
		way->lead[way->count] = first;
		way->seen[way->count] = (uint8_t)(seen < 255 ? seen : 255);
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || wait_for(pid) != SIGTRAP) {
			complain("cannot step");
			break;
		}
		if (is_breakpoint(pid)) {
			way->end = instruction(pid) - 1;
			break;
		}
	}
	free(places.address);
	free(places.seen);
}

void lead_free(struct way *way)
{
	free(way->address);
	free(way->lead);
	free(way->seen);
	memset(way, 0, sizeof(*way));
}

/* Runs to the address. Returns false if the process stopped elsewhere. */
static bool run_to(pid_t pid, uint64_t address)
{
	long text;
	bool there;

	errno = 0;
	text = ptrace(PTRACE_PEEKTEXT, pid, (void *)address, NULL);
	if (errno || ptrace(PTRACE_POKETEXT, pid, (void *)address, (text & ~0xffL) | 0xcc)) {
		complain("cannot set a breakpoint");
		return false;
	}
	there = go_on(pid, 0) && instruction(pid) == address + 1;
	ptrace(PTRACE_POKETEXT, pid, (void *)address, text);
	if (there)
		ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rip), address);
	return there;
}

static bool watch(pid_t pid, uint64_t address)
{
	return ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[0]), address) == 0 &&
	       ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[7]), 1L) == 0;
}

/*
 * As run_to(), but with a debug register of the thread, so that no other thread stops at the
 * breakpoint.
 */
static bool run_alone_to(pid_t pid, uint64_t address)
{
	bool there = go_on(pid, 0) && instruction(pid) == address;

	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[7]), 0L);
	return there;
}

bool lead_to(pid_t pid, const struct way *way, uint32_t n, bool alone, bool by_steps)
{
	uint32_t at = by_steps ? 0 : way->lead[n];

	if (at > 0 && alone && !run_to(pid, way->address[at]))
		return false;
	/* Some machines have no free debug registers. */
	if (at > 0 && !alone && !watch(pid, way->address[at]))
		at = 0;
	else if (at > 0 && !alone && !run_alone_to(pid, way->address[at]))
		return false;
	for (; at < n; at++)
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || wait_for(pid) != SIGTRAP ||
		    instruction(pid) == way->end)
			return false; /* already at the end */
	return instruction(pid) == way->address[n];
}

void lead_kill(pid_t pid, bool wait)
{
	siginfo_t info;

	kill(pid, SIGKILL);
	if (wait)
		lead_reap(pid);
	else
		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | __WALL);
}

void lead_reap(pid_t pid)
{
	while (waitpid(pid, NULL, __WALL) != pid && errno == EINTR)
		;
}
