/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash_unwind.c - finds the stack of a stopped thread by the unwind tables of its modules (libdw).
 * Without libdw there are no frames, but the registers are recorded nevertheless.
 */
#include "live/crash_unwind.h"

#include <stddef.h>

#ifdef HAVE_LIBDW
# include <dwarf.h>
# include <elf.h>
# include <elfutils/libdwfl.h>
# include <elfutils/version.h>
# include <stdio.h>
# include <stdlib.h>
# include <string.h>
# include <sys/ptrace.h>
# include <sys/uio.h>
# include <sys/user.h>
# include <unistd.h>

# include "inject/memory.h"
# include "symbols/demangle.h"
# include "symbols/no_search.h"

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
};

struct unwind {
	pid_t pid;
	Dwfl *session;            /* has the threads as the kernel shows them */
	struct mappings mappings; /* empty if they could not be read */
};

/* The state of a walk through one stack. */
struct walk {
	bool (*visit)(void *arg, const struct unwind_step *step);
	void *arg;
	unsigned short_by; /* the next frame's address is greater than its pc by this number */
};

/* Returns a session that has the modules of the process, or NULL after an error. */
static Dwfl *begin_session(pid_t pid)
{
	Dwfl *session = dwfl_begin(&callbacks);

	if (session && (dwfl_linux_proc_report(session, pid) ||
			dwfl_report_end(session, NULL, NULL))) {
		dwfl_end(session);
		return NULL;
	}
	return session;
}

struct unwind *unwind_begin(pid_t pid)
{
	struct unwind *unwind = calloc(1, sizeof(*unwind));

	if (!unwind)
		return NULL;
	unwind->pid = pid;
	unwind->session = begin_session(pid);
	mappings_read(&unwind->mappings, pid);
	/*
	 * The argument true means that this process has stopped the threads already, by ptrace(2).
	 */
	if (!unwind->session || dwfl_linux_proc_attach(unwind->session, pid, true)) {
		unwind_end(unwind);
		return NULL;
	}
	return unwind;
}

void unwind_end(struct unwind *unwind)
{
	if (!unwind)
		return;
	if (unwind->session)
		dwfl_end(unwind->session);
	mappings_fini(&unwind->mappings);
	free(unwind);
}

/*
 * A return address may be the first address of the next function, because the call may be the last
 * instruction of its function. Therefore step->pc is one byte less than such an address.
 */
void unwind_name(const struct unwind *unwind, const struct unwind_step *step,
		 struct crash_frame *frame)
{
	Dwfl_Module *module = unwind ? dwfl_addrmodule(unwind->session, step->pc) : NULL;
	GElf_Off offset = 0;
	GElf_Sym symbol;
	const char *name;
	char *plain;

	*frame = (struct crash_frame){ .address = step->address, .is_exact = step->is_exact };
	if (!module)
		return;
	name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	snprintf(frame->module, sizeof(frame->module), "%.255s", name ? name : "");
	frame->place = step->address;
	if (dwfl_module_relocate_address(module, &frame->place) < 0)
		frame->place = 0;
	name = dwfl_module_addrinfo(module, step->pc, &offset, &symbol, NULL, NULL, NULL);
	if (!name)
		return;
	plain = demangle(name);
	snprintf(frame->function, sizeof(frame->function), "%.230s+0x%llx", plain ? plain : name,
		 (unsigned long long)(offset + (step->address - step->pc)));
	free(plain);
}

uint64_t unwind_function(const struct unwind *unwind, uint64_t pc)
{
	Dwfl_Module *module = unwind ? dwfl_addrmodule(unwind->session, pc) : NULL;
	Dwarf_Addr bias = 0, begin = 0, end;
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *table;
	bool is_signal;

	table = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	if (!table || dwarf_cfi_addrframe(table, pc - bias, &frame))
		return 0;
	if (dwarf_frame_info(frame, &begin, &end, &is_signal) < 0)
		begin = 0;
	free(frame);
	return begin ? begin + bias : 0;
}

/* Returns the address of a symbol of one module, or 0. Local symbols are before the others. */
static uint64_t find_symbol(Dwfl_Module *module, const char *name)
{
	const int count = dwfl_module_getsymtab(module);
	GElf_Addr address;
	GElf_Sym symbol;

	for (int i = 1; i < count; i++) {
		const char *found = dwfl_module_getsym_info(module, i, &symbol, &address, NULL,
							    NULL, NULL);

		if (found && symbol.st_shndx != SHN_UNDEF && !strcmp(found, name))
			return address;
	}
	return 0;
}

/* A search for a symbol in all modules; 'address' is the result. */
struct symbol_search {
	const char *name;
	uint64_t address;
};

static int visit_module(Dwfl_Module *module, void **user, const char *path, Dwarf_Addr base,
			void *arg)
{
	struct symbol_search *search = arg;

	(void)user, (void)path, (void)base;
	search->address = find_symbol(module, search->name);
	return search->address ? DWARF_CB_ABORT : DWARF_CB_OK;
}

uint64_t unwind_symbol(const struct unwind *unwind, const char *name)
{
	struct symbol_search search = { .name = name };

	if (unwind)
		dwfl_getmodules(unwind->session, visit_module, &search, 0);
	return search.address;
}

bool unwind_register(const struct unwind_step *step, unsigned number, uint64_t *value)
{
# if _ELFUTILS_PREREQ(0, 188)
	Dwarf_Word word;

	if (!step->state || dwfl_frame_reg(step->state, number, &word))
		return false;
	*value = word;
	return true;
# else
	(void)step, (void)number, (void)value;
	return false;
# endif
}

/*
 * The callback of libdw. The address of a frame is the return address of a call, except in the
 * innermost frame and in a frame that a signal interrupted (is_exact).
 */
static int visit_frame(Dwfl_Frame *state, void *arg)
{
	struct walk *walk = arg;
	struct unwind_step step = { .state = state };
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(state, &pc, &step.is_exact))
		return DWARF_CB_ABORT;
	step.address = pc + walk->short_by;
	walk->short_by = 0;
	step.pc = step.is_exact ? pc : pc - 1;
	return walk->visit(walk->arg, &step) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* ------------------------------------------------------------------ calls of a wild pointer */

# if defined __x86_64__
#  define STATE_REGISTERS 17
# elif defined __aarch64__
#  define STATE_REGISTERS 32
# endif

# ifdef STATE_REGISTERS

/* A thread at the call that led it to an address without code. */
struct wild_call {
	Dwarf_Word target;               /* the address without code */
	Dwarf_Word pc;                   /* the last byte of the instruction of the call */
	Dwarf_Word reg[STATE_REGISTERS]; /* by their numbers in DWARF */
	pid_t tid;
	int memory;
};

/* Returns true if the kernel could execute an instruction at this address. */
static bool is_code(const struct unwind *unwind, uint64_t address)
{
	const struct mapping *mapping = mappings_at(&unwind->mappings, address);

	return mapping && mapping->is_executable;
}

/*
 * Stores the registers that the caller had before the call. On x86-64 the call has pushed the
 * return address. On arm64 the return address is in x30. Returns false if the registers or the
 * stack cannot be read, or if the program is of another word size.
 */
static bool read_call(struct wild_call *call)
{
	struct user_regs_struct user;
	struct iovec memory = { &user, sizeof(user) };

	if (ptrace(PTRACE_GETREGSET, call->tid, (void *)(uintptr_t)NT_PRSTATUS, &memory) ||
	    memory.iov_len != sizeof(user))
		return false;
#  ifdef __x86_64__
	const Dwarf_Word reg[STATE_REGISTERS] = {
		user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp,
		user.rsp + sizeof(uint64_t), user.r8, user.r9, user.r10, user.r11, user.r12,
		user.r13, user.r14, user.r15,
	};
	uint64_t back;

	if (!memory_read(call->memory, user.rsp, &back, sizeof(back)))
		return false;
	memcpy(call->reg, reg, sizeof(reg));
	call->target = user.rip;
	call->pc = call->reg[16] = back - 1;
#  else
	for (size_t i = 0; i < STATE_REGISTERS - 1; i++)
		call->reg[i] = user.regs[i];
	call->reg[STATE_REGISTERS - 1] = user.sp;
	call->target = user.pc;
	call->pc = user.regs[30] - 1;
#  endif
	return true;
}

/* The callbacks of libdw for a session whose only thread is the thread of the call. */
static pid_t next_thread(Dwfl *session, void *arg, void **thread)
{
	const struct wild_call *call = arg;

	(void)session;
	if (*thread)
		return 0;
	*thread = arg;
	return call->tid;
}

static bool read_word(Dwfl *session, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	const struct wild_call *call = arg;

	(void)session;
	return memory_read(call->memory, address, word, sizeof(*word));
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct wild_call *call = arg;

	if (!dwfl_thread_state_registers(thread, 0, STATE_REGISTERS, call->reg))
		return false;
	dwfl_thread_state_register_pc(thread, call->pc);
	return true;
}

static const Dwfl_Thread_Callbacks caller_thread = {
	.next_thread = next_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers,
};

/*
 * If the thread is at an address without code, visits this address and then the callers, and
 * returns true. No unwind table has such an address. libdw would then assume that the frame pointer
 * belongs to the called function, and omit the caller. libdw cannot replace the registers of a
 * thread, so the callers need a session of their own.
 */
static bool walk_wild_call(const struct unwind *unwind, pid_t tid, struct walk *walk)
{
	struct wild_call call = { .tid = tid, .memory = memory_open(unwind->pid, tid) };
	Dwfl *session = NULL;
	bool is_wild;

	if (call.memory >= 0 && read_call(&call) && !is_code(unwind, call.target) &&
	    is_code(unwind, call.pc))
		session = begin_session(unwind->pid);
	is_wild = session &&
		  dwfl_attach_state(session, NULL, unwind->pid, &caller_thread, &call);
	if (is_wild) {
		const struct unwind_step target = {
			.address = call.target, .pc = call.target, .is_exact = true,
		};

		walk->short_by = 1;
		if (walk->visit(walk->arg, &target))
			dwfl_getthread_frames(session, tid, visit_frame, walk);
	}
	if (session)
		dwfl_end(session);
	if (call.memory >= 0)
		close(call.memory);
	return is_wild;
}

# else /* a processor whose calls are not known */

static bool walk_wild_call(const struct unwind *unwind, pid_t tid, struct walk *walk)
{
	(void)unwind, (void)tid, (void)walk;
	return false;
}

# endif

void unwind_walk(const struct unwind *unwind, pid_t tid,
		 bool (*visit)(void *arg, const struct unwind_step *step), void *arg)
{
	struct walk walk = { .visit = visit, .arg = arg };

	if (!unwind || walk_wild_call(unwind, tid, &walk))
		return;
	dwfl_getthread_frames(unwind->session, tid, visit_frame, &walk);
}

#else /* !HAVE_LIBDW */

struct unwind *unwind_begin(pid_t pid)
{
	(void)pid;
	return NULL;
}

void unwind_end(struct unwind *unwind)
{
	(void)unwind;
}

void unwind_walk(const struct unwind *unwind, pid_t tid,
		 bool (*visit)(void *arg, const struct unwind_step *step), void *arg)
{
	(void)unwind, (void)tid, (void)visit, (void)arg;
}

void unwind_name(const struct unwind *unwind, const struct unwind_step *step,
		 struct crash_frame *frame)
{
	(void)unwind;
	*frame = (struct crash_frame){ .address = step->address, .is_exact = step->is_exact };
}

uint64_t unwind_function(const struct unwind *unwind, uint64_t pc)
{
	(void)unwind, (void)pc;
	return 0;
}

uint64_t unwind_symbol(const struct unwind *unwind, const char *name)
{
	(void)unwind, (void)name;
	return 0;
}

bool unwind_register(const struct unwind_step *step, unsigned number, uint64_t *value)
{
	(void)step, (void)number, (void)value;
	return false;
}

#endif
