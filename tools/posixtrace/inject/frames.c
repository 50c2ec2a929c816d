/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frames.c - walks through the frames of a stopped thread by the unwind tables (libdw).
 *
 * libdw also follows frame pointers through code without a table. Such a step is a guess, and the
 * walk would leave out callers if it is wrong. So the walk fails at an address that no table
 * describes. It has reached the first function of the thread when the table of a function says that
 * the function has no caller.
 */
#include "inject/frames.h"

#if defined __x86_64__

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rootfile.h"
#include "symbols/no_search.h"

#define FRAMES_MAX   4096 /* the walk fails in a deeper stack */
#define WALK_SECONDS 10 /* on a busy machine, a walk takes some ten milliseconds */
#define REGISTERS    17   /* of the processor's ABI for unwinding; the last one is rip */

struct walk {
	const struct target *target;
	const struct stopped *thread;
	bool (*is_bad)(const struct target *target, uint64_t address);
	unsigned frames;
};

static const Dwfl_Callbacks frames_files = {
	.find_elf = no_file,
	.find_debuginfo = no_debuginfo,
};

/* Lists one thread. */
static pid_t frames_next_thread(Dwfl *session, void *arg, void **thread)
{
	const struct walk *walk = arg;

	(void)session;
	if (*thread)
		return 0;
	*thread = arg;
	return walk->thread->tid;
}

static bool frames_get_thread(Dwfl *session, pid_t tid, void *arg, void **thread)
{
	(void)session, (void)tid;
	*thread = arg;
	return true;
}

static bool frames_read(Dwfl *session, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	const struct walk *walk = arg;
	uint64_t value;

	(void)session;
	if (!memory_read(walk->target->memory, address, &value, sizeof(value)))
		return false;
	*word = value;
	return true;
}

static bool frames_set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct user_regs_struct *regs = &((const struct walk *)arg)->thread->regs;
	const Dwarf_Word word[REGISTERS] = {
		regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi, regs->rbp,
		regs->rsp, regs->r8, regs->r9, regs->r10, regs->r11, regs->r12, regs->r13,
		regs->r14, regs->r15, regs->rip,
	};

	return dwfl_thread_state_registers(thread, 0, REGISTERS, word);
}

static const Dwfl_Thread_Callbacks frames_threads = {
	.next_thread = frames_next_thread,
	.get_thread = frames_get_thread,
	.memory_read = frames_read,
	.set_initial_registers = frames_set_registers,
};

/*
 * Returns whether a mapping is the beginning of a module whose code is mapped, too. A file that is
 * mapped as data is no module, and must not be opened: the process may have a lease of it
 * (F_SETLEASE), which an open would break.
 */
static bool has_code(const struct mappings *mappings, const struct mapping *begin)
{
	if (begin->offset || *begin->path != '/' || !begin->is_readable)
		return false;
	for (const struct mapping *at = begin; at < mappings->mapping + mappings->count &&
					       at->inode == begin->inode; at++)
		if (at->is_executable && !strcmp(at->path, begin->path))
			return true;
	return false;
}

/*
 * Adds the module that begins with a mapping. The file at this path may be another one by now. A
 * module whose file is missing has no table, so the walk fails there.
 */
static void frames_add(Dwfl *session, pid_t pid, const struct mapping *mapping)
{
	int fd = rootfile_open(pid, mapping->path, O_RDONLY);
	struct stat st;

	/* The session owns the descriptor if it accepts the file. */
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_ino != mapping->inode ||
			!dwfl_report_elf(session, mapping->path, mapping->path, fd, mapping->begin,
					 false)))
		close(fd);
}

/* Returns whether a table describes the instruction at an address. */
static bool is_described(Dwfl *session, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(session, address);
	Dwarf_Addr bias = 0;
	Dwarf_CFI *table = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *frame = NULL;
	bool is = table && !dwarf_cfi_addrframe(table, address - bias, &frame);

	free(frame);
	return is;
}

/* The callback of libdw. The innermost address and one behind a signal are no return addresses. */
static int frames_visit(Dwfl_Frame *frame, void *arg)
{
	struct walk *walk = arg;
	Dwfl *session = dwfl_thread_dwfl(dwfl_frame_thread(frame));
	bool is_exact;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &is_exact) || ++walk->frames > FRAMES_MAX ||
	    walk->is_bad(walk->target, pc) || !is_described(session, is_exact ? pc : pc - 1))
		return DWARF_CB_ABORT;
	return DWARF_CB_OK;
}

bool frames_are_good(const struct target *target, const struct stopped *thread,
		     bool (*is_bad)(const struct target *target, uint64_t address))
{
	struct walk walk = { target, thread, is_bad, 0 };
	Dwfl *session = dwfl_begin(&frames_files);
	bool is_good = false;

	if (!session)
		return false;
	/*
	 * The thread is stopped. If a file system does not answer, the signal ends this process,
	 * and the kernel releases the thread.
	 */
	alarm(WALK_SECONDS);
	dwfl_report_begin(session);
	for (size_t i = 0; i < target->mappings.count; i++) {
		if (has_code(&target->mappings, &target->mappings.mapping[i]))
			frames_add(session, target->pid, &target->mappings.mapping[i]);
	}
	if (!dwfl_report_end(session, NULL, NULL) &&
	    dwfl_attach_state(session, NULL, thread->tid, &frames_threads, &walk))
		is_good = !dwfl_getthread_frames(session, thread->tid, frames_visit, &walk);
	dwfl_end(session);
	alarm(0);
	return is_good && walk.frames;
}

#else

bool frames_are_good(const struct target *target, const struct stopped *thread,
		     bool (*is_bad)(const struct target *target, uint64_t address))
{
	(void)target, (void)thread, (void)is_bad;
	return false;
}

#endif

#endif
