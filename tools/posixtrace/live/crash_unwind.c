/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash_unwind.c - finds the stack of a stopped thread by the unwind tables of its modules (libdw).
 * Without libdw there are no frames, but the registers are recorded nevertheless.
 */
#include "live/crash.h"

#ifdef HAVE_LIBDW
# include <elfutils/libdwfl.h>
# include <stdio.h>
# include <stdlib.h>
# include <string.h>

# include "symbols/demangle.h"

/*
 * libdw calls this function to find a separate file with debugging information. It never finds one,
 * because the search may ask servers, and the process would wait meanwhile. Unwind tables and
 * symbols are in the modules.
 */
static int find_no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)found;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = find_no_debuginfo,
};

/* The state of a walk through one stack. */
struct walk {
	Dwfl *session;
	void (*put)(void *arg, const struct crash_frame *frame);
	void *arg;
	unsigned left;
};

struct unwind *unwind_begin(pid_t pid)
{
	Dwfl *session = dwfl_begin(&callbacks);

	if (!session)
		return NULL;
	/*
	 * The argument true means that this process has stopped the threads already, by ptrace(2).
	 */
	if (dwfl_linux_proc_report(session, pid) || dwfl_report_end(session, NULL, NULL) ||
	    dwfl_linux_proc_attach(session, pid, true)) {
		dwfl_end(session);
		return NULL;
	}
	return (struct unwind *)session;
}

void unwind_end(struct unwind *unwind)
{
	if (unwind)
		dwfl_end((Dwfl *)unwind);
}

/*
 * Fills in function and module of the code at pc. In a frame with a return address, pc must be one
 * byte less than this address, because the call may be the last instruction of its function. The
 * return address then belongs to the next function.
 */
static void find_names(Dwfl *session, struct crash_frame *frame, Dwarf_Addr pc)
{
	Dwfl_Module *module = dwfl_addrmodule(session, pc);
	GElf_Off offset = 0;
	GElf_Sym symbol;
	const char *name;
	char *plain;

	if (!module)
		return;
	name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	snprintf(frame->module, sizeof(frame->module), "%.255s", name ? name : "");
	name = dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL);
	if (!name)
		return;
	plain = demangle(name);
	snprintf(frame->function, sizeof(frame->function), "%.230s+0x%llx", plain ? plain : name,
		 (unsigned long long)(offset + (frame->address - pc)));
	free(plain);
}

/*
 * The callback of libdw. The address of a frame is the return address of a call, except in the
 * innermost frame and in a frame that a signal interrupted (is_exact).
 */
static int visit_frame(Dwfl_Frame *state, void *arg)
{
	struct walk *walk = arg;
	struct crash_frame frame = { .address = 0 };
	bool is_exact;
	Dwarf_Addr pc;

	if (!walk->left-- || !dwfl_frame_pc(state, &pc, &is_exact))
		return DWARF_CB_ABORT;
	frame.address = pc;
	find_names(walk->session, &frame, is_exact ? pc : pc - 1);
	walk->put(walk->arg, &frame);
	return DWARF_CB_OK;
}

void unwind_thread(struct unwind *unwind, pid_t tid, unsigned limit,
		   void (*put)(void *arg, const struct crash_frame *frame), void *arg)
{
	struct walk walk = { (Dwfl *)unwind, put, arg, limit };

	if (unwind)
		dwfl_getthread_frames(walk.session, tid, visit_frame, &walk);
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

void unwind_thread(struct unwind *unwind, pid_t tid, unsigned limit,
		   void (*put)(void *arg, const struct crash_frame *frame), void *arg)
{
	(void)unwind, (void)tid, (void)limit, (void)put, (void)arg;
}

#endif
