/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * call.c - makes a call in a stopped thread, after which all registers of the thread are as before.
 *
 * The thread gets a signal frame below its stack, as the kernel would write it for a handler. The
 * frame is for the case that this process is killed. A system call that gets memory returns to the
 * restorer, whose address is at the beginning of the frame. The stub ends with rt_sigreturn(). So
 * after each step a thread without a tracer uses the frame, and returns to the place where it was.
 * If this process is not killed, it stops the thread before the thread uses the frame, and sets the
 * registers by ptrace(), because only the tracer can restore an interrupted system call exactly.
 */
#include "inject/call.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <elf.h>

#include "base/until.h"
#include "inject/stub.h"

#if defined __x86_64__

/*
 * The size of the stack on which the stub runs. dlopen() needs most of this stack, because it
 * relocates the library and runs constructors.
 */
#define STACK_BYTES ((uint64_t)512 << 10)
#define CODE_BYTES  ((uint64_t)4096)
#define CALL_NS     INT64_C(20000000000) /* limit for the whole call; a busy machine is slow */
#define RED_ZONE    128
#define FRAME_BYTES 440 /* a pointer, the kernel's ucontext, a siginfo */
#define CONTEXT_BYTES 304
#define MARGIN      256 /* bytes that stay free below the frame */
/* invalid flags of an alternate stack: rt_sigreturn() then changes no alternate stack */
#define NO_STACK    0x40

/* The results by which the kernel marks an interrupted system call. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

/* The description of the vector registers in a signal frame, as the kernel writes it. */
#define SOFTWARE_OFFSET 464
struct software {
	uint32_t magic, extended_bytes;
	uint64_t features;
	uint32_t state_bytes, padding[7];
};
#define MAGIC2 0x46505845u

/*
 * The facts about a signal frame of this process. The running kernel writes all frames in this
 * format.
 */
static struct {
	unsigned long flags;
	struct software software;
} sample;

/* The signal handler of find_format(). It copies the facts from its own signal frame. */
static void take_sample(int number, siginfo_t *info, void *context)
{
	const ucontext_t *own = context;

	(void)number, (void)info;
	sample.flags = own->uc_flags;
	memcpy(&sample.software, (const char *)own->uc_mcontext.fpregs + SOFTWARE_OFFSET,
	       sizeof(sample.software));
}

/*
 * Finds the size and the features of the vector state that the kernel writes into a frame on this
 * processor. Returns false if the kernel writes frames without a description, which no supported
 * processor needs. The function raises and handles a signal in its own process, which is the child
 * of work_in_child() and has only one thread.
 */
static bool find_format(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO }, before;
	sigset_t set, mask;

	if (sample.software.state_bytes)
		return true;
	action.sa_sigaction = take_sample;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaction(SIGUSR2, &action, &before);
	sigprocmask(SIG_UNBLOCK, &set, &mask);
	raise(SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGUSR2, &before, NULL);
	return sample.software.state_bytes >= 576 &&
	       sample.software.extended_bytes >= sample.software.state_bytes + 4;
}

/* The state of one call in a thread. The member "frame" is set before any register changes. */
struct call {
	struct stopped *thread;
	int memory;
	const struct call_place *place;
	int64_t end_ns;
	struct user_regs_struct regs; /* registers for the next step */
	uint64_t frame;               /* the address of the pointer to the restorer */
	uint64_t code, stack;         /* memory of the call, 0: none */
	int crash;                    /* the signal that a fault of the call has raised */
};

/*
 * Returns whether the kernel would restart the interrupted system call of the thread. The kernel
 * restarts a call only if orig_rax is the number of a system call, and rax is one of the results
 * ERESTART above, or EINTR.
 */
static bool is_restarted(const struct user_regs_struct *regs)
{
	if ((int64_t)regs->orig_rax < 0)
		return false;
	switch (-(int64_t)regs->rax) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND:
	case ERESTART_RESTARTBLOCK:
	case EINTR:
		return true;
	}
	return false;
}

/*
 * Returns the number of the system call that was interrupted. If the kernel has restarted the call
 * before, orig_rax has the number of restart_syscall(). That call does nothing after
 * rt_sigreturn(). In this case the function reads the number from the code: the instruction before
 * the system call (b8 and four bytes) loads the number.
 */
static uint64_t number_of(const struct call *call)
{
	const struct user_regs_struct *regs = &call->thread->regs;
	unsigned char code[5];
	uint32_t number;

	if (regs->orig_rax != SYS_restart_syscall ||
	    !memory_read(call->memory, regs->rip - 7, code, sizeof(code)) || code[0] != 0xb8)
		return regs->orig_rax;
	memcpy(&number, code + 1, sizeof(number));
	return number;
}

/*
 * Fills the kernel's context with the registers of the thread, so that it can continue. "state" is
 * the address of the vector state in the thread's stack. rt_sigreturn() does not restart system
 * calls. So for a call that the kernel would restart, the function sets the registers so that the
 * thread executes the call again. DESIGN 4 describes the difference for the program if this process
 * is killed.
 */
static void fill_context(ucontext_t *context, const struct call *call, uint64_t state)
{
	const struct stopped *thread = call->thread;
	const struct user_regs_struct *regs = &thread->regs;
	greg_t *greg = context->uc_mcontext.gregs;

	memset(context, 0, sizeof(*context));
	context->uc_flags = sample.flags;
	context->uc_stack.ss_flags = NO_STACK;
	greg[REG_R8] = (greg_t)regs->r8;
	greg[REG_R9] = (greg_t)regs->r9;
	greg[REG_R10] = (greg_t)regs->r10;
	greg[REG_R11] = (greg_t)regs->r11;
	greg[REG_R12] = (greg_t)regs->r12;
	greg[REG_R13] = (greg_t)regs->r13;
	greg[REG_R14] = (greg_t)regs->r14;
	greg[REG_R15] = (greg_t)regs->r15;
	greg[REG_RDI] = (greg_t)regs->rdi;
	greg[REG_RSI] = (greg_t)regs->rsi;
	greg[REG_RBP] = (greg_t)regs->rbp;
	greg[REG_RBX] = (greg_t)regs->rbx;
	greg[REG_RDX] = (greg_t)regs->rdx;
	greg[REG_RAX] = (greg_t)regs->rax;
	greg[REG_RCX] = (greg_t)regs->rcx;
	greg[REG_RSP] = (greg_t)regs->rsp;
	greg[REG_RIP] = (greg_t)regs->rip;
	greg[REG_EFL] = (greg_t)regs->eflags;
	greg[REG_CSGSFS] = (greg_t)((regs->cs & 0xffff) | (regs->ss & 0xffff) << 48);
	greg[REG_OLDMASK] = (greg_t)thread->mask;
	/*
	 * The instruction that enters the kernel has two bytes. With rip two bytes lower, the
	 * thread executes it again.
	 */
	if (is_restarted(regs)) {
		greg[REG_RAX] = (greg_t)number_of(call);
		greg[REG_RIP] -= 2;
	}
	context->uc_mcontext.fpregs = (void *)(uintptr_t)state;
	memcpy(&context->uc_sigmask, &thread->mask, sizeof(thread->mask));
}

/*
 * Writes the frame below the thread's stack. Returns false if there is no room, or if the stack
 * cannot be written; *err is then the error. The function does not write into the red zone, since
 * the program may use these bytes below the stack pointer. The vector state is aligned to 64 bytes,
 * and the kernel's context to 16 bytes; the address of the restorer is just below the context.
 */
static bool write_frame(struct call *call, const struct mapping *stack, int *err)
{
	const struct stopped *thread = call->thread;
	const struct software *software = &sample.software;
	uint64_t bytes = software->extended_bytes, state, magic = MAGIC2;
	unsigned char *copy;
	ucontext_t context;
	bool ok;

	/*
	 * A write through /proc/PID/mem may not extend the stack, so the room must be mapped
	 * already.
	 */
	if (thread->regs.rsp < stack->begin + bytes + FRAME_BYTES + RED_ZONE + MARGIN + 128)
		return false;
	state = (thread->regs.rsp - RED_ZONE - bytes) & ~(uint64_t)63;
	call->frame = ((state - FRAME_BYTES) & ~(uint64_t)15) - 8;
	copy = calloc(1, bytes);
	if (!copy)
		return false;
	memcpy(copy, thread->state,
	       thread->state_bytes < software->state_bytes ? thread->state_bytes :
							     software->state_bytes);
	memcpy(copy + SOFTWARE_OFFSET, software, sizeof(*software));
	memcpy(copy + software->state_bytes, &magic, 4);
	fill_context(&context, call, state);
	ok = memory_write(call->memory, state, copy, bytes) &&
	     memory_write(call->memory, call->frame + 8, &context, CONTEXT_BYTES) &&
	     memory_write(call->memory, call->frame, &call->place->restorer, 8);
	*err = ok ? 0 : errno;
	free(copy);
	return ok;
}

/*
 * Lets the thread run until its next stop at a system call. If a fault of the call raises a signal,
 * the wait ends with STOP_SIGNAL. The function delivers any other signal, because it was sent
 * before all signals were blocked. If the whole process is stopped, this function waits until the
 * process is continued. call->end_ns limits the wait.
 */
static enum stop_kind run_to_system_call(struct call *call)
{
	pid_t tid = call->thread->tid;
	int signal = 0, request = PTRACE_SYSCALL;

	for (;;) {
		struct stop stop;
		siginfo_t info;

		if (ptrace(request, tid, NULL, signal))
			return STOP_GONE;
		signal = 0;
		request = PTRACE_SYSCALL;
		stop = stop_wait(tid, call->end_ns);
		switch (stop.kind) {
		case STOP_GROUP:
			request = PTRACE_LISTEN;
			break;
		case STOP_SIGNAL:
			/*
			 * A signal with a positive si_code comes from the kernel, as for a fault.
			 * Any other signal comes from a process.
			 */
			if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) || info.si_code > 0) {
				call->crash = stop.signal;
				return STOP_SIGNAL;
			}
			signal = stop.signal;
			break;
		case STOP_EVENT:
			break;
		case STOP_SYSCALL:
		case STOP_GONE:
		case STOP_LATE:
			return stop.kind;
		}
	}
}

/*
 * Reads the registers of the thread, which must be stopped. Returns false if the thread has ended.
 */
static bool get_regs(const struct call *call, struct user_regs_struct *regs)
{
	return ptrace(PTRACE_GETREGS, call->thread->tid, NULL, regs) == 0;
}

static bool set_regs(const struct call *call, const struct user_regs_struct *regs)
{
	return ptrace(PTRACE_SETREGS, call->thread->tid, NULL, regs) == 0;
}

/* Blocks all signals in the thread, except those that a fault of the call raises. */
static void block_signals(const struct call *call)
{
	uint64_t mask = ~(uint64_t)0;

	for (size_t i = 0; i < 5; i++)
		mask &= ~((uint64_t)1 << (((const int[]){ SIGSEGV, SIGBUS, SIGFPE, SIGILL,
							   SIGTRAP })[i] - 1));
	ptrace(PTRACE_SETSIGMASK, call->thread->tid, sizeof(mask), &mask);
}

/*
 * Makes the thread execute a system call, and stops it again after the call. If this process is
 * killed, the thread returns to the frame after the call. *result is the kernel's result. After any
 * result other than STOP_SYSCALL, the thread is in the state in which run_to_system_call() has left
 * it.
 */
static enum stop_kind remote_call(struct call *call, long number, uint64_t a, uint64_t b,
				  uint64_t c, uint64_t d, uint64_t e, uint64_t f, int64_t *result)
{
	struct user_regs_struct regs = call->thread->regs;
	enum stop_kind kind;

	regs.rip = call->place->system_call;
	regs.rsp = call->frame;
	/*
	 * The value -1 means that the thread is not in a system call. With any other value, the
	 * kernel could restart the interrupted call with the new registers.
	 */
	regs.orig_rax = (uint64_t)-1;
	/* clears the flags for single steps and for downward string instructions */
	regs.eflags &= ~UINT64_C(0x500);
	regs.rax = (uint64_t)number;
	regs.rdi = a;
	regs.rsi = b;
	regs.rdx = c;
	regs.r10 = d;
	regs.r8 = e;
	regs.r9 = f;
	if (!set_regs(call, &regs))
		return STOP_GONE;
	/*
	 * The function changes the signal mask only after the registers, because with these
	 * registers the thread returns by the frame, which restores the mask.
	 */
	block_signals(call);
	do {
		kind = run_to_system_call(call);
		if (kind != STOP_SYSCALL)
			return kind;
		if (!get_regs(call, &regs))
			return STOP_GONE;
		/*
		 * The loop continues after two kinds of stops: at the end of a skipped call, and at
		 * the beginning of this call.
		 */
	} while (regs.rip != call->place->system_call + 2 || (int64_t)regs.rax == -ENOSYS);
	*result = (int64_t)regs.rax;
	return kind;
}

/* Returns whether the kernel's result is an error number. */
static bool is_error(int64_t result)
{
	return result < 0 && result > -4096;
}

/*
 * Gets the memory for the code and the stack. Returns STOP_SYSCALL if the thread has made the
 * system calls. In this case, *result is less than 0 if the kernel has refused the memory. The code
 * and the stack are two mappings, because some systems forbid pages that can be both written and
 * executed.
 */
static enum stop_kind get_memory(struct call *call, int64_t *result)
{
	enum stop_kind kind = remote_call(call, SYS_mmap, 0, CODE_BYTES, PROT_READ | PROT_EXEC,
					  MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0, result);

	if (kind != STOP_SYSCALL || is_error(*result))
		return kind;
	call->code = (uint64_t)*result;
	kind = remote_call(call, SYS_mmap, 0, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0, result);
	if (kind == STOP_SYSCALL && !is_error(*result))
		call->stack = (uint64_t)*result;
	return kind;
}

/*
 * Frees the memory of the call, even if get_memory() got only a part. If munmap() fails, a small
 * mapping remains, which does no harm.
 */
static enum stop_kind free_memory(struct call *call)
{
	enum stop_kind kind = STOP_SYSCALL;
	int64_t ignored;

	if (call->stack)
		kind = remote_call(call, SYS_munmap, call->stack, STACK_BYTES, 0, 0, 0, 0,
				   &ignored);
	if (call->code && kind == STOP_SYSCALL)
		kind = remote_call(call, SYS_munmap, call->code, CODE_BYTES, 0, 0, 0, 0, &ignored);
	return kind;
}

/*
 * Writes a string to the stack's memory below *top, and returns its address. After an error *ok is
 * false. The strings fit, because they are much shorter than STACK_BYTES.
 */
static uint64_t put_string(const struct call *call, uint64_t *top, const char *text, bool *ok)
{
	size_t bytes = strlen(text) + 1;

	*top = (*top - bytes) & ~(uint64_t)15;
	*ok = *ok && memory_write(call->memory, *top, text, bytes);
	return *top;
}

/*
 * Writes the code, the block and the strings, and sets the registers for the stub. The thread
 * cannot write the code page, but this process can write it by /proc/PID/mem. Returns false after
 * an error. In this case, the thread still has the registers of the previous system call.
 */
static bool prepare_stub(struct call *call, const struct call_request *request,
			 uint64_t *block_address)
{
	const struct call_place *place = call->place;
	struct stub_block block = {
		.errno_location = place->errno_location,
		.set_cancel_state = place->set_cancel_state, .dlopen = place->dlopen,
		.dlsym = place->dlsym, .dlerror = place->dlerror,
		.flags = (uint64_t)request->flags,
		/* behind the restorer's address, as after a return */
		.frame = call->frame + 8,
	};
	uint64_t top = call->stack + STACK_BYTES;
	struct user_regs_struct regs = call->thread->regs;
	bool ok = true;

	block.path = put_string(call, &top, request->path, &ok);
	block.symbol = put_string(call, &top, request->symbol, &ok);
	if (request->argument)
		block.argument = put_string(call, &top, request->argument, &ok);
	top = (top - sizeof(block)) & ~(uint64_t)15;
	*block_address = top;
	ok = ok && memory_write(call->memory, top, &block, sizeof(block)) &&
	     memory_write(call->memory, call->code, stub_code,
			  (size_t)(stub_code_end - stub_code));
	regs.rip = call->code;
	regs.rsp = top - 128;
	regs.rbp = 0;
	regs.r12 = top;
	regs.orig_rax = (uint64_t)-1;
	regs.eflags &= ~UINT64_C(0x500);
	return ok && set_regs(call, &regs);
}

/*
 * Runs the stub until it is about to return by the frame, and reads its results. The thread also
 * stops at system calls of dlopen() and of the shim. After such a stop, the function lets the
 * thread continue. The results are read from the memory of the process and may have any value.
 */
static enum stop_kind run_stub(struct call *call, uint64_t address, struct stub_block *block)
{
	uint64_t end = call->code + (uint64_t)(stub_return - stub_code);
	struct user_regs_struct regs;
	enum stop_kind kind;

	do {
		kind = run_to_system_call(call);
		if (kind != STOP_SYSCALL)
			return kind;
		if (!get_regs(call, &regs))
			return STOP_GONE;
	} while (regs.rip != end || regs.orig_rax != SYS_rt_sigreturn);
	return memory_read(call->memory, address, block, sizeof(*block)) ? kind : STOP_GONE;
}

/*
 * Restores the thread by ptrace() and not by the frame. At the call of this function, the thread is
 * stopped at a system call. The function first makes it stop by PTRACE_INTERRUPT, because only
 * after such a stop the kernel decides whether to restart a system call.
 */
static void restore_thread(struct call *call)
{
	struct stopped *thread = call->thread;
	struct iovec vector = { thread->state, thread->state_bytes };
	struct stop stop;

	if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) ||
	    ptrace(PTRACE_CONT, thread->tid, NULL, NULL))
		return;
	do {
		stop = stop_wait(thread->tid, call->end_ns);
		/*
		 * All signals except the signals of faults are blocked, and no fault can happen
		 * here.
		 */
		if (stop.kind == STOP_GROUP || stop.kind == STOP_SIGNAL)
			ptrace(stop.kind == STOP_GROUP ? PTRACE_LISTEN : PTRACE_CONT, thread->tid,
			       NULL, NULL);
	} while (stop.kind == STOP_GROUP || stop.kind == STOP_SIGNAL);
	if (stop.kind != STOP_EVENT)
		return;
	ptrace(PTRACE_SETREGSET, thread->tid, NT_X86_XSTATE, &vector);
	ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(thread->mask), &thread->mask);
	/*
	 * If this process is killed before PTRACE_SETREGS, the thread restores itself by the frame.
	 */
	ptrace(PTRACE_SETREGS, thread->tid, NULL, &thread->regs);
	stop_end(thread);
}

/*
 * Restores the thread after a crash. The thread has stopped before the delivery of the crash's
 * signal, and the function suppresses this signal.
 */
static void restore_crashed(struct call *call)
{
	int64_t ignored;

	/*
	 * getpid() changes nothing. After this call the thread is stopped at a system call, as
	 * restore_thread() requires.
	 */
	if (remote_call(call, SYS_getpid, 0, 0, 0, 0, 0, 0, &ignored) == STOP_SYSCALL)
		restore_thread(call);
}

/*
 * Returns the outcome of a call that has reached its end. Copies the part of dlerror()'s message
 * that fits. say() later prints the message and escapes its unsafe characters.
 */
static enum call_outcome outcome_of(struct call *call, const struct stub_block *block,
				    struct call_result *result)
{
	result->value = (int64_t)block->result;
	if (block->function)
		return CALL_DONE;
	if (block->message)
		memory_string(call->memory, block->message, result->message,
			      sizeof(result->message));
	return CALL_FAILED;
}

/*
 * Returns the outcome of a call whose thread did not reach the expected stop. If the outcome is
 * CALL_LATE, the function restores nothing. This process ends, the kernel releases the thread, and
 * the stub later ends by the frame.
 */
static enum call_outcome end_early(struct call *call, enum stop_kind kind,
				   struct call_result *result)
{
	if (kind == STOP_GONE)
		return CALL_ENDED;
	if (kind != STOP_SIGNAL)
		return CALL_LATE;
	result->value = call->crash;
	restore_crashed(call);
	return CALL_CRASHED;
}

enum call_outcome call_run(struct stopped *thread, int memory, const struct call_place *place,
			   const struct mapping *stack, const struct call_request *request,
			   struct call_result *result)
{
	struct call call = { .thread = thread, .memory = memory, .place = place,
			     .end_ns = until_now_ns() + CALL_NS };
	struct stub_block block = { .is_done = 0 };
	enum call_outcome outcome = CALL_REFUSED;
	enum stop_kind kind;
	uint64_t address;
	int err = 0;

	*result = (struct call_result){ .value = 0 };
	if (!find_format() || !write_frame(&call, stack, &err)) {
		result->value = -err;
		stop_end(thread);
		return CALL_NO_ROOM;
	}
	kind = get_memory(&call, &result->value);
	/*
	 * If there is no memory for the stack, the mapping for the code may exist nevertheless.
	 * free_memory() below frees it.
	 */
	if (kind == STOP_SYSCALL && call.stack) {
		if (prepare_stub(&call, request, &address)) {
			kind = run_stub(&call, address, &block);
			if (kind == STOP_SYSCALL)
				outcome = outcome_of(&call, &block, result);
		} else {
			result->value = -errno;
			outcome = CALL_UNWRITABLE;
		}
	}
	if (kind == STOP_SYSCALL)
		kind = free_memory(&call);
	if (kind != STOP_SYSCALL)
		return end_early(&call, kind, result);
	restore_thread(&call);
	return outcome;
}

#endif
