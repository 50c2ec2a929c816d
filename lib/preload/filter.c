/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/filter.c - executes a seccomp filter for the system calls that the shim and libposixtrace
 * make.
 *
 * The arguments of these calls are not known here. Each call is tried with all bits of its
 * arguments 0 and with all bits 1. A filter that examines the arguments of a call usually refuses
 * one of these two calls. In doubt the program is therefore executed without the shim.
 */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "preload/filter.h"

#if defined __x86_64__
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#define OWN_ARCH 0
#endif

/*
 * The calls of the shim, of libposixtrace and of the dynamic linker that loads them, in an executed
 * program. The list also has calls after the start, because the shim in the executed program does
 * not know the filter and does not become quiet: fallocate() for more memory of a stream, kill(),
 * tgkill() and waitid() to find rings of dead threads and of the former program, getegid() before
 * another program is executed, sigaction() and getpgrp() before a signal to the own process,
 * sigaltstack() in signal handlers, and mremap() for patches.
 * process_vm_readv() is not in the list, because kernel_copy.c does not call it under a filter.
 */
static const int start_calls[] = {
	SYS_close, SYS_faccessat, SYS_fallocate, SYS_fcntl, SYS_flock, SYS_fstat, SYS_fstatfs,
	SYS_ftruncate, SYS_futex, SYS_getcwd, SYS_getdents64, SYS_getegid, SYS_geteuid, SYS_getpid,
	SYS_getppid, SYS_getrandom, SYS_gettid, SYS_kcmp, SYS_kill, SYS_lseek, SYS_madvise,
	SYS_membarrier, SYS_memfd_create, SYS_mmap, SYS_mprotect, SYS_mremap, SYS_munmap,
	SYS_newfstatat, SYS_openat, SYS_pidfd_open, SYS_ppoll, SYS_prctl, SYS_pread64,
	SYS_prlimit64, SYS_read, SYS_readlinkat, SYS_rt_sigaction, SYS_rt_sigprocmask,
	SYS_sched_yield, SYS_sigaltstack, SYS_tgkill, SYS_waitid,
#ifdef SYS_readlink
	SYS_readlink,
#endif
#ifdef SYS_getpgrp
	SYS_getpgrp,
#else
	SYS_getpgid,
#endif
};

static atomic_bool forbids_start;
/*
 * True if a child that uses this thread's memory has installed a filter that forbids the shim's
 * start. The filter concerns only programs that the child executes.
 */
static _Thread_local bool child_forbids_start __attribute__((tls_model("initial-exec")));

/* The state of a filter that is being executed: classic BPF with 32-bit words. */
struct machine {
	const unsigned char *data; /* a struct seccomp_data */
	uint32_t a, x, memory[BPF_MEMWORDS];
};

/* The operand of an arithmetic instruction or of a jump. */
static uint32_t operand_of(const struct machine *machine, const struct sock_filter *at)
{
	return BPF_SRC(at->code) == BPF_X ? machine->x : at->k;
}

static uint32_t load_value(const struct machine *machine, const struct sock_filter *at)
{
	uint32_t value = 0;

	switch (BPF_MODE(at->code)) {
	case BPF_IMM:
		return at->k;
	case BPF_MEM:
		return machine->memory[at->k % BPF_MEMWORDS];
	case BPF_ABS:
		if (at->k <= sizeof(struct seccomp_data) - sizeof(value))
			memcpy(&value, machine->data + at->k, sizeof(value));
		return value;
	default: /* BPF_LEN */
		return sizeof(struct seccomp_data);
	}
}

/*
 * The kernel refuses a filter with a constant shift by 32 or more. For a variable shift by 32 or
 * more, BPF defines no result.
 */
static uint32_t compute_value(const struct machine *machine, const struct sock_filter *at)
{
	const uint32_t a = machine->a, b = operand_of(machine, at);

	switch (BPF_OP(at->code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	default: /* BPF_NEG */
		return -a;
	}
}

static bool is_jump_taken(const struct machine *machine, const struct sock_filter *at)
{
	const uint32_t b = operand_of(machine, at);

	switch (BPF_OP(at->code)) {
	case BPF_JEQ:
		return machine->a == b;
	case BPF_JGT:
		return machine->a > b;
	case BPF_JGE:
		return machine->a >= b;
	default: /* BPF_JSET */
		return (machine->a & b) != 0;
	}
}

/*
 * Executes the filter for one call and returns its answer, or KILL if the filter has no valid end.
 */
static uint32_t execute_filter(const struct sock_fprog *program, const struct seccomp_data *call)
{
	struct machine machine = { .data = (const unsigned char *)call };

	for (uint32_t i = 0; i < program->len; i++) {
		const struct sock_filter *at = &program->filter[i];

		switch (BPF_CLASS(at->code)) {
		case BPF_LD:
			machine.a = load_value(&machine, at);
			break;
		case BPF_LDX:
			machine.x = load_value(&machine, at);
			break;
		case BPF_ST:
			machine.memory[at->k % BPF_MEMWORDS] = machine.a;
			break;
		case BPF_STX:
			machine.memory[at->k % BPF_MEMWORDS] = machine.x;
			break;
		case BPF_ALU:
			machine.a = compute_value(&machine, at);
			break;
		case BPF_JMP:
			if (BPF_OP(at->code) == BPF_JA)
				i += at->k;
			else
				i += is_jump_taken(&machine, at) ? at->jt : at->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(at->code) == BPF_A ? machine.a : at->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(at->code) == BPF_TAX)
				machine.x = machine.a;
			else
				machine.a = machine.x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/*
 * Returns whether the answer ends an executed program. An answer that makes the call fail does not:
 * the shim continues without the call. SECCOMP_RET_TRAP ends the program, because a program has no
 * handler of SIGSYS after execve().
 */
static bool is_fatal(uint32_t answer)
{
	const uint32_t action = answer & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_KILL_PROCESS || action == SECCOMP_RET_KILL_THREAD ||
	       action == SECCOMP_RET_TRAP;
}

/*
 * Returns whether the filter ends a process that makes the call, with all bits of its arguments 0
 * or 1.
 */
static bool ends_process(const struct sock_fprog *program, int number)
{
	struct seccomp_data call = { .nr = number, .arch = OWN_ARCH };

	if (is_fatal(execute_filter(program, &call)))
		return true;
	memset(call.args, 0xff, sizeof(call.args));
	return is_fatal(execute_filter(program, &call));
}

void shim_filter_installed(const struct sock_fprog *program, bool is_of_child)
{
	bool ends = false;

	for (unsigned i = 0; !ends && i < sizeof(start_calls) / sizeof(start_calls[0]); i++)
		ends = ends_process(program, start_calls[i]);
	if (ends && is_of_child)
		child_forbids_start = true;
	else if (ends)
		atomic_store_explicit(&forbids_start, true, memory_order_relaxed);
}

void shim_filter_child_ends(void)
{
	child_forbids_start = false;
}

void shim_filter_own(void)
{
	if (child_forbids_start)
		atomic_store_explicit(&forbids_start, true, memory_order_relaxed);
	child_forbids_start = false;
}

bool shim_filter_forbids_start(void)
{
	return child_forbids_start ||
	       atomic_load_explicit(&forbids_start, memory_order_relaxed);
}
