/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash_cause.c - decides what a fatal signal means.
 *
 * The kernel reports a stack overflow as any other access to memory that is not mapped. Such an
 * access is a stack overflow if its address is below the memory of the thread's stack, and not far
 * below the stack pointer.
 *
 * Before glibc calls abort(), it stores the message that it prints in __abort_msg. Everything that
 * is read from the process is untrusted text.
 */
#include "live/crash_cause.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/procfile.h"
#include "inject/memory.h"
#include "live/crash_exception.h"
#include "syscalls/syscalls.h"

#define BELOW_SP  65536   /* an access of a function's frame is at most this far below sp */
#define GUARD_MAX 1048576 /* the largest guard below a stack that the program itself made */
#define REFUSED   "system call refused by a filter"
#define NULL_PAGE 4096    /* an access below this address is one through a null pointer */

/* The facts of a stopped process. */
struct scene {
	pid_t pid, tid;
	const struct crash_fault *fault;
	const struct unwind *unwind;
	const struct crash_stack *stack;
	struct mappings mappings;
	int memory;
};

bool crash_fault_place(struct crash_fault *fault, pid_t tid)
{
	struct iovec memory = { &fault->registers, sizeof(fault->registers) };

	fault->pc = fault->sp = 0;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &memory) ||
	    memory.iov_len != sizeof(fault->registers)) {
		memset(&fault->registers, 0, sizeof(fault->registers));
		return false;
	}
#if defined __x86_64__
	fault->pc = fault->registers.rip;
	fault->sp = fault->registers.rsp;
#elif defined __aarch64__
	fault->pc = fault->registers.pc;
	fault->sp = fault->registers.sp;
#endif
	return true;
}

/* ------------------------------------------------------------------ stack overflow */

/*
 * Returns the thread pointer, or 0. The C libraries place the data of a thread that they create at
 * the upper end of its stack.
 */
static uint64_t thread_pointer(const struct scene *scene)
{
	uint64_t pointer = 0;
#if defined __x86_64__
	pointer = scene->fault->registers.fs_base;
#elif defined __aarch64__
	struct iovec memory = { &pointer, sizeof(pointer) };

	/* On arm64 the thread pointer is not one of the general registers. */
	if (ptrace(PTRACE_GETREGSET, scene->tid, (void *)(uintptr_t)NT_ARM_TLS, &memory))
		pointer = 0;
#else
	(void)scene;
#endif
	return pointer;
}

static bool is_usable(const struct mapping *mapping)
{
	return mapping && mapping->is_readable && mapping->is_writable;
}

/* Returns the stack that the kernel or the C library made for the thread, or NULL. */
static const struct mapping *own_stack(const struct scene *scene)
{
	const struct mapping *found;

	if (scene->tid == scene->pid) {
		for (size_t i = 0; i < scene->mappings.count; i++)
			if (!strcmp(scene->mappings.mapping[i].path, "[stack]"))
				return &scene->mappings.mapping[i];
		return NULL;
	}
	found = mappings_at(&scene->mappings, thread_pointer(scene));
	return is_usable(found) ? found : NULL;
}

/* Returns the first memory above an address that a thread can use, or NULL. */
static const struct mapping *next_usable(const struct scene *scene, uint64_t address)
{
	for (size_t i = 0; i < scene->mappings.count; i++)
		if (scene->mappings.mapping[i].begin > address &&
		    is_usable(&scene->mappings.mapping[i]))
			return &scene->mappings.mapping[i];
	return NULL;
}

/*
 * Returns the stack that was too small, or NULL if the fault is no stack overflow. If a function
 * has large variables, its stack pointer is far below the stack, and the access may be anywhere in
 * between.
 */
static const struct mapping *overflown_stack(const struct scene *scene)
{
	const struct crash_fault *fault = scene->fault;
	const uint64_t address = (uintptr_t)fault->info.si_addr, sp = fault->sp;
	const uint64_t lowest = sp > BELOW_SP ? sp - BELOW_SP : 0;
	const struct mapping *at = mappings_at(&scene->mappings, sp), *stack;

	if (fault->info.si_signo != SIGSEGV || address < lowest || address < NULL_PAGE ||
	    (fault->info.si_code != SEGV_MAPERR && fault->info.si_code != SEGV_ACCERR))
		return NULL;
	if (is_usable(at)) {
		/*
		 * A guard that the C library made by MADV_GUARD_INSTALL is no mapping of its own.
		 * An access to it has the reason "not mapped", although the address is mapped.
		 */
		if (address >= at->begin && address < at->end)
			return fault->info.si_code == SEGV_MAPERR &&
			       address < sp + BELOW_SP ? at : NULL;
		return address < at->begin ? at : NULL;
	}
	stack = own_stack(scene);
	if (stack && sp < stack->begin)
		return address < stack->begin ? stack : NULL;
	/* The stack of a coroutine is any memory. The stack pointer is in the guard below it. */
	stack = next_usable(scene, sp);
	return stack && stack->begin - sp <= GUARD_MAX && address < stack->begin ? stack : NULL;
}

/*
 * Writes how large the stack is. If the stack pointer is more than BELOW_SP below the stack, a
 * single function needed this memory, and the text has its amount.
 */
static void stack_text(const struct scene *scene, const struct mapping *stack, char *text,
		       size_t size)
{
	const uint64_t sp = scene->fault->sp;
	uint64_t bytes = stack->end - stack->begin, begin;
	struct rlimit limit;

	/* The kernel extends the stack of the main thread up to its limit, in steps. */
	if (!strcmp(stack->path, "[stack]") &&
	    !prlimit(scene->pid, RLIMIT_STACK, NULL, &limit) && limit.rlim_cur != RLIM_INFINITY)
		bytes = limit.rlim_cur;
	begin = bytes < stack->end ? stack->end - bytes : 0;
	if (sp < begin && begin - sp > BELOW_SP)
		snprintf(text, size, "the innermost function needs %llu KiB more than the stack of "
			 "%llu KiB has", (unsigned long long)(begin - sp) / 1024,
			 (unsigned long long)bytes / 1024);
	else
		snprintf(text, size, "the stack has %llu KiB", (unsigned long long)bytes / 1024);
}

/* ------------------------------------------------------------------ SIGABRT */

/* Texts of glibc's messages, and their meanings. The first text that is in a message counts. */
static const struct {
	const char *text, *reason;
} meanings[] = {
	{ "Assertion `", "failed assertion" },
	{ "stack smashing detected", "a write past the end of a local array" },
	{ "buffer overflow detected", "a write past the end of a buffer" },
	{ "%n in writable segment", "a format with %n that the program could change" },
	{ "double free or corruption", "memory was freed twice, or the heap is damaged" },
	{ "double free", "memory was freed twice" },
	{ "invalid pointer", "free() of an address that malloc() did not return" },
	{ "longjmp causes uninitialized stack frame", "longjmp() to a function that had returned" },
	{ "malloc", "the heap is damaged, such as by a write past the end of its memory" },
	{ "free()", "the heap is damaged, such as by a write past the end of its memory" },
	{ "corrupted", "the heap is damaged, such as by a write past the end of its memory" },
	{ "realloc()", "the heap is damaged, such as by a write past the end of its memory" },
};

/* Reads the message that glibc printed before it called abort(). Returns false if there is none. */
static bool read_message(const struct scene *scene, char *text, size_t size)
{
	const uint64_t variable = unwind_symbol(scene->unwind, "__abort_msg");
	uint64_t message = 0;

	*text = '\0';
	if (!variable || !memory_read(scene->memory, variable, &message, sizeof(message)) ||
	    !message)
		return false;
	/* The text follows its size, a number of 32 bits. */
	memory_string(scene->memory, message + sizeof(uint32_t), text, size);
	text[strcspn(text, "\n")] = '\0';
	return *text != '\0';
}

static bool has_function(const struct scene *scene, const char *function)
{
	return scene->stack && crash_stack_find(scene->stack, function) >= 0;
}

/*
 * Finds the cause of a call of std::terminate(). The C++ library calls it for an exception that
 * nothing catches or that leaves a function with noexcept. Without an exception, the usual reason
 * is a std::thread that was not joined.
 */
static void find_terminate(const struct scene *scene, struct crash_cause *cause)
{
	if (crash_exception_read(scene->unwind, scene->stack, scene->memory, scene->fault->sp,
				 cause->message, sizeof(cause->message)))
		snprintf(cause->reason, sizeof(cause->reason), "%s",
			 has_function(scene, "__gxx_personality_v0") ||
			 has_function(scene, "__cxa_call_terminate") ?
			 "C++ exception that left a function with noexcept" :
			 "uncaught C++ exception");
	else if (has_function(scene, "__cxa_throw"))
		snprintf(cause->reason, sizeof(cause->reason), "uncaught C++ exception");
	else
		snprintf(cause->reason, sizeof(cause->reason),
			 "std::terminate() without an exception, such as by the end of a "
			 "std::thread that was not joined");
}

/* Finds the cause of a SIGABRT that the process sent to itself. */
static void find_abort(const struct scene *scene, struct crash_cause *cause)
{
	const char *reason = NULL;

	if (read_message(scene, cause->message, sizeof(cause->message))) {
		for (size_t i = 0; !reason && i < sizeof(meanings) / sizeof(*meanings); i++)
			if (strstr(cause->message, meanings[i].text))
				reason = meanings[i].reason;
		snprintf(cause->reason, sizeof(cause->reason), "%s",
			 reason ? reason : "the C library ended the program");
	} else if (has_function(scene, "__cxa_pure_virtual")) {
		snprintf(cause->reason, sizeof(cause->reason),
			 "a pure virtual function was called");
	} else if (has_function(scene, "std::terminate") ||
		   (scene->stack && scene->stack->has_thrown)) {
		find_terminate(scene, cause);
	} else if (!scene->stack || !scene->stack->frames || has_function(scene, "abort")) {
		snprintf(cause->reason, sizeof(cause->reason), "abort() was called");
	}
}

/* ------------------------------------------------------------------ other signals */

/* Stores the path of the file at the address of a fault, unless there is none. */
static void path_text(const struct mapping *mapping, struct crash_cause *cause)
{
	if (mapping && *mapping->path && *mapping->path != '[')
		snprintf(cause->message, sizeof(cause->message), "%.450s", mapping->path);
}

/* Finds the cause of a SIGSEGV that is no stack overflow. */
static const char *segv_reason(const struct scene *scene, struct crash_cause *cause)
{
	const siginfo_t *info = &scene->fault->info;
	const uint64_t address = (uintptr_t)info->si_addr;
	const struct mapping *mapping = mappings_at(&scene->mappings, address);
	const bool is_call = address == scene->fault->pc;

	switch (info->si_code) {
	case SEGV_MAPERR:
		return is_call && address < NULL_PAGE ? "call of a null pointer" :
		       is_call ? "call of an address that is not mapped" : "address not mapped";
	case SEGV_ACCERR:
		if (!mapping || !mapping->is_readable)
			return is_call ? "call of an address without code" :
			       "access not permitted";
		path_text(mapping, cause);
		return is_call && !mapping->is_executable ? "call of an address without code" :
		       !mapping->is_writable ? "write to read-only memory" :
		       "access not permitted";
	case SI_KERNEL:
		return "not an address, as of a pointer that was overwritten";
	}
	return "";
}

/*
 * Returns whether the file of a mapping has no byte on the page of an address. The file must still
 * have its name.
 */
static bool is_behind_end(const struct scene *scene, const struct mapping *mapping,
			  uint64_t address)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t offset = mapping->offset + (address - mapping->begin);
	struct stat facts;
	char path[600];

	snprintf(path, sizeof(path), "/proc/%d/root%.500s", (int)scene->pid, mapping->path);
	return !stat(path, &facts) && facts.st_ino == mapping->inode &&
	       (uint64_t)facts.st_size <= offset / page * page;
}

static const char *bus_reason(const struct scene *scene, struct crash_cause *cause)
{
	const uint64_t address = (uintptr_t)scene->fault->info.si_addr;
	const struct mapping *mapping = mappings_at(&scene->mappings, address);

	switch (scene->fault->info.si_code) {
	case BUS_ADRALN:
		return "address not aligned";
	case BUS_ADRERR:
		path_text(mapping, cause);
		return *cause->message && is_behind_end(scene, mapping, address) ?
			       "the mapped file ends before the address" :
			       "no memory behind the address";
#ifdef BUS_MCEERR_AR
	case BUS_MCEERR_AR:
		return "the memory has a hardware error";
#endif
	}
	return "";
}

#ifdef __x86_64__

#define DIVIDE_BYTES 15 /* the longest instruction of x86-64 */

/* An instruction that is being decoded. */
struct divide {
	const struct user_regs_struct *registers;
	unsigned char code[DIVIDE_BYTES];
	size_t at;    /* the next byte */
	unsigned rex; /* 0: no such prefix */
	unsigned size;
	uint64_t begin;
};

static uint64_t divide_register(const struct divide *divide, unsigned number)
{
	const struct user_regs_struct *r = divide->registers;
	const uint64_t value[16] = { r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
				     r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15 };

	return value[number & 15];
}

/* Reads a displacement of 1 or 4 bytes, with its sign. */
static uint64_t divide_displacement(struct divide *divide, size_t bytes)
{
	int32_t wide = 0;
	int8_t narrow;

	if (bytes == 4)
		memcpy(&wide, divide->code + divide->at, 4);
	memcpy(&narrow, divide->code + divide->at, 1);
	divide->at += bytes;
	return (uint64_t)(int64_t)(bytes == 4 ? wide : narrow);
}

/* Returns the address of an operand in memory, by the byte ModRM and the bytes behind it. */
static uint64_t divide_address(struct divide *divide, unsigned modrm)
{
	const unsigned mode = modrm >> 6, high = (divide->rex & 1) << 3;
	unsigned base = modrm & 7, sib;
	uint64_t address = 0;

	if (base == 5 && !mode) { /* relative to the next instruction */
		address = divide_displacement(divide, 4);
		return address + divide->begin + divide->at;
	}
	if (base == 4) { /* a byte with scale, index and base follows */
		sib = divide->code[divide->at++];
		base = sib & 7;
		if ((sib >> 3 & 7) != 4 || divide->rex & 2)
			address = divide_register(divide, (sib >> 3 & 7) | (divide->rex & 2) << 2)
				  << (sib >> 6);
		if (base == 5 && !mode)
			return address + divide_displacement(divide, 4);
	}
	address += divide_register(divide, base | high);
	return mode ? address + divide_displacement(divide, mode == 1 ? 1 : 4) : address;
}

/*
 * Stores the divisor of the instruction DIV or IDIV that failed. Returns false if the instruction
 * is another one or cannot be read, or if its operand depends on a segment.
 */
static bool read_divisor(const struct scene *scene, uint64_t *divisor)
{
	struct divide divide = { .registers = &scene->fault->registers, .size = 4,
				 .begin = scene->fault->pc };
	unsigned code, modrm, number;
	bool is_register;

	if (!memory_read(scene->memory, divide.begin, divide.code, sizeof(divide.code)))
		return false;
	if (divide.code[divide.at] == 0x66) {
		divide.size = 2;
		divide.at++;
	}
	if ((divide.code[divide.at] & 0xf0) == 0x40)
		divide.rex = divide.code[divide.at++];
	code = divide.code[divide.at++];
	modrm = divide.code[divide.at++];
	if ((code & 0xfe) != 0xf6 || (modrm >> 3 & 6) != 6)
		return false;
	if (code == 0xf6)
		divide.size = 1;
	else if (divide.rex & 8)
		divide.size = 8;
	is_register = modrm >> 6 == 3;
	*divisor = 0;
	if (!is_register)
		return memory_read(scene->memory, divide_address(&divide, modrm), divisor,
				   divide.size);
	number = (modrm & 7) | (divide.rex & 1) << 3;
	/* Without the prefix REX, the numbers 4 to 7 are the second bytes of the first four. */
	if (divide.size == 1 && !divide.rex && number >= 4)
		*divisor = divide_register(&divide, number - 4) >> 8;
	else
		*divisor = divide_register(&divide, number);
	if (divide.size < 8)
		*divisor &= (UINT64_C(1) << divide.size * 8) - 1;
	return true;
}

#else

static bool read_divisor(const struct scene *scene, uint64_t *divisor)
{
	(void)scene, (void)divisor;
	return false;
}

#endif

/*
 * The kernel reports a quotient that is too large, such as that of INT_MIN / -1, as a division by
 * zero on x86. The divisor distinguishes them.
 */
static const char *divide_reason(const struct scene *scene)
{
	uint64_t divisor;

	if (!read_divisor(scene, &divisor))
		return "integer division by zero, or overflow of the quotient";
	return divisor ? "overflow of the quotient of an integer division" :
			 "integer division by zero";
}

static const char *fpe_reason(const struct scene *scene)
{
	switch (scene->fault->info.si_code) {
	case FPE_INTDIV:
		return divide_reason(scene);
	case FPE_INTOVF:
		return "integer overflow";
	case FPE_FLTDIV:
		return "division by zero";
	case FPE_FLTOVF:
		return "a result too large for its type";
	case FPE_FLTUND:
		return "a result too small for its type";
	case FPE_FLTRES:
		return "an inexact result";
	case FPE_FLTINV:
		return "an invalid operation with floating-point numbers";
	}
	return "";
}

/* Writes the reason if the instruction of a SIGILL is one that compilers insert. */
static void trap_text(const struct scene *scene, struct crash_cause *cause)
{
#ifdef __x86_64__
	unsigned char code[2];

	if (memory_read(scene->memory, scene->fault->pc, code, sizeof(code)) &&
	    code[0] == 0x0f && code[1] == 0x0b)
		snprintf(cause->message, sizeof(cause->message), "ud2, which compilers insert for "
			 "__builtin_trap() and where they assume that no execution is possible");
#else
	(void)scene, (void)cause;
#endif
}

/* Stores the name of the system call that a filter refused. */
static void refused_text(const struct scene *scene, struct crash_cause *cause)
{
	const char *name = NULL;

	if (scene->fault->info.si_code > 0)
		name = syscalls_name((uint32_t)scene->fault->info.si_syscall, false);
	if (name)
		snprintf(cause->message, sizeof(cause->message), "%s()", name);
}

/* Writes the process that sent the signal. */
static void sender_text(const struct scene *scene, struct crash_cause *cause)
{
	const siginfo_t *info = &scene->fault->info;

	snprintf(cause->reason, sizeof(cause->reason), "sent by process %d", (int)info->si_pid);
	if (info->si_pid <= 0 || info->si_pid == scene->pid ||
	    !procfile_same_ids(scene->pid, getpid()))
		return;
	procfile_name(info->si_pid, info->si_pid, cause->message, 64);
}

/* Finds the cause of the signal scene->fault. */
static void find_cause(const struct scene *scene, struct crash_cause *cause)
{
	const siginfo_t *info = &scene->fault->info;
	const struct mapping *stack = overflown_stack(scene);
	const char *reason = "";

	/* A signal that a process sent has no address. */
	cause->fault = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;
	if (!scene->fault->is_described) {
		if (info->si_signo == SIGSYS)
			snprintf(cause->reason, sizeof(cause->reason), REFUSED);
		return;
	}
	if (info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE) {
		sender_text(scene, cause);
		if (info->si_signo == SIGABRT && info->si_pid == scene->pid)
			find_abort(scene, cause);
		return;
	}
	if (stack) {
		stack_text(scene, stack, cause->message, sizeof(cause->message));
		reason = "stack overflow";
	} else if (info->si_signo == SIGSEGV) {
		reason = segv_reason(scene, cause);
	} else if (info->si_signo == SIGBUS) {
		reason = bus_reason(scene, cause);
	} else if (info->si_signo == SIGFPE) {
		reason = fpe_reason(scene);
	} else if (info->si_signo == SIGILL) {
		trap_text(scene, cause);
		reason = "illegal instruction";
	} else if (info->si_signo == SIGTRAP) {
		reason = info->si_code == TRAP_BRKPT || info->si_code == SI_KERNEL ?
				 "an instruction for debuggers" : "";
	} else if (info->si_signo == SIGSYS) {
		refused_text(scene, cause);
		reason = REFUSED;
	} else if (info->si_signo == SIGXCPU) {
		reason = "the limit of CPU time was reached";
	} else if (info->si_signo == SIGXFSZ) {
		reason = "a file would be larger than the limit";
	}
	snprintf(cause->reason, sizeof(cause->reason), "%s", reason);
}

/*
 * Returns the number of the frame that an earlier fault interrupted, if the handler of this fault
 * is still active; otherwise 0.
 */
static unsigned interrupted_frame(const struct crash_stack *stack,
				  const struct crash_fault *before)
{
	for (unsigned i = 1; stack && i < stack->frames; i++)
		if (stack->frame[i].is_exact && stack->frame[i].address == before->pc)
			return i;
	return 0;
}

void crash_cause_find(struct crash_cause *cause, pid_t pid, pid_t tid,
		      const struct crash_fault *fault, const struct crash_fault *before,
		      const struct unwind *unwind, const struct crash_stack *stack)
{
	struct scene scene = { .pid = pid, .tid = tid, .fault = fault, .unwind = unwind,
			       .stack = stack };

	*cause = (struct crash_cause){ .fault = 0 };
	scene.memory = memory_open(pid, tid);
	mappings_read(&scene.mappings, pid);
	if (before->info.si_signo && fault->info.si_code <= 0)
		cause->first = interrupted_frame(stack, before);
	if (cause->first)
		cause->handled = before->info.si_signo;
	/*
	 * If the kernel could not call the handler, because the stack has no room for it, it sends
	 * the signal again, without an address.
	 */
	if (cause->first || (before->info.si_signo && fault->info.si_code == SI_KERNEL &&
			     fault->sp == before->sp && fault->pc == before->pc))
		scene.fault = before;
	find_cause(&scene, cause);
	mappings_fini(&scene.mappings);
	if (scene.memory >= 0)
		close(scene.memory);
}
