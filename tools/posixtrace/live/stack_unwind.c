/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stack_unwind.c - unwinds copies of stacks by the tables of the modules (libdw).
 *
 * libdw uses the tables in .eh_frame. Code that a compiler makes within the running program has no
 * such table. For such code, the processor-specific part of libdw follows the frame pointers.
 *
 * A session of libdw has all modules of a process. The unwinder uses a session only for the time in
 * which the process has the same modules.
 *
 * The unwinder unwinds each copy anew, although many events have the same callers. It cannot find
 * such events by comparing copies, because the data between the return addresses differs.
 */
#include "live/stack_unwind.h"

#include <stdlib.h>
#include <string.h>

#include "../../../lib/preload/stack_copy.h" /* the only description of the copy */

/* The copy of a stack in the data of an event. "stack" points into this data. */
struct copy {
	struct shim_stack_copy head;
	const unsigned char *stack;
	size_t before; /* bytes of the event's data before the copy */
};

/*
 * Finds the copy by struct shim_stack_end, which is the last part of the data. Returns false if the
 * event has no copy.
 */
static bool find_copy(const struct posix_trace_event_np *event, struct copy *copy)
{
	const unsigned char *data = event->data;
	struct shim_stack_end end;
	size_t len = event->data_len;

	if (len < sizeof(end) + sizeof(copy->head))
		return false;
	memcpy(&end, data + len - sizeof(end), sizeof(end));
	len -= sizeof(end);
	if (end.magic != SHIM_STACK_MAGIC || end.bytes < sizeof(copy->head) || end.bytes > len)
		return false;
	copy->before = len - end.bytes;
	memcpy(&copy->head, data + copy->before, sizeof(copy->head));
	copy->stack = data + copy->before + sizeof(copy->head);
	return copy->head.bytes == end.bytes - sizeof(copy->head);
}

size_t stack_unwind_fields(const struct posix_trace_event_np *event)
{
	struct copy copy;

	return find_copy(event, &copy) ? copy.before : event->data_len;
}

#if defined HAVE_LIBDW && SHIM_STACK_REGISTERS

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

#include "symbols/module.h"
#include "symbols/no_search.h"

#define SESSIONS   64 /* the most processes whose modules are kept */
#define ANCESTORS  8
#define VISITS     64 /* the most walks over mappings of ancestors, for one session */
#define MODULES    1024 /* the most modules of a process */
#define SHIM_FRAMES 16 /* frames of the shim at the inner end of a stack */

/* The modules of a process. They do not change from from_ns (included) to until_ns (excluded). */
struct session {
	pid_t pid;
	int64_t from_ns, until_ns;
	Dwfl *dwfl;
	uint64_t used;
	uint64_t base[MODULES];
	size_t bases;
	unsigned visits;
};

struct stack_unwinder {
	const struct posix_trace_mapping_np *mapping; /* all mappings */
	size_t mappings;
	struct session session[SESSIONS];
	uint64_t uses;
	/* The event that is unwound. */
	struct copy copy;
	pid_t tid;
	uint64_t *chain;
	size_t count, seen;
	uint64_t address;
};

static const Dwfl_Callbacks files = {
	.find_elf = no_file,
	.find_debuginfo = no_debuginfo,
};

/* ------------------------------------------------------------------ the thread of a copy */

/* The callback by which libdw lists the threads. There is one thread, the thread of the copy. */
static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	const struct stack_unwinder *unwinder = arg;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return unwinder->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl, (void)tid;
	*thread = arg;
	return true;
}

/* Reads a word of the stack. Returns false if the copy does not have it. */
static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	const struct stack_unwinder *unwinder = arg;
	const struct copy *copy = &unwinder->copy;
	uint64_t offset = address - copy->head.reg[SHIM_STACK_SP], value;

	(void)dwfl;
	if (copy->head.bytes < sizeof(value) || offset > copy->head.bytes - sizeof(value))
		return false;
	memcpy(&value, copy->stack + offset, sizeof(value));
	*word = value;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct stack_unwinder *unwinder = arg;
	Dwarf_Word reg[SHIM_STACK_REGISTERS];

	for (size_t i = 0; i < SHIM_STACK_REGISTERS; i++)
		reg[i] = unwinder->copy.head.reg[i];
	if (!dwfl_thread_state_registers(thread, 0, SHIM_STACK_REGISTERS, reg))
		return false;
	dwfl_thread_state_register_pc(thread, unwinder->copy.head.pc);
	return true;
}

static const Dwfl_Thread_Callbacks threads = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers,
};

/* ------------------------------------------------------------------ modules */

/*
 * Adds a module. If the file of the module cannot be read, the module is omitted, and the first
 * frame in this module ends the stack.
 */
static void add_module(Dwfl *dwfl, const struct posix_trace_mapping_np *mapping)
{
	struct module *module = mapping->build_id_len ? module_of(mapping) : NULL;
	const char *path = module ? module_path(module) : NULL;
	int fd;

	/*
	 * The path of a separate debugging file is not used, because such a file has no unwind
	 * tables.
	 */
	if (!path || strcmp(path, mapping->path))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* The session owns the descriptor if it accepts the file. */
	if (fd >= 0 && !dwfl_report_elf(dwfl, mapping->path, path, fd, mapping->base, true))
		close(fd);
}

/*
 * Returns true if the session has a module at this base, or has no room for one more. Otherwise
 * stores the base and returns false. Segments of one module have the same base, but may have
 * different paths: a process stores the name by which it loaded a library, and an observer stores
 * the name of the file. So modules are compared by their bases.
 */
static bool has_module(struct session *session, uint64_t base)
{
	for (size_t i = 0; i < session->bases; i++)
		if (session->base[i] == base)
			return true;
	if (session->bases == MODULES)
		return true;
	session->base[session->bases++] = base;
	return false;
}

/* Narrows the time of the session, so that this mapping does not change within it. */
static void narrow_session(struct session *session, const struct posix_trace_mapping_np *mapping,
			   int64_t time_ns)
{
	if (mapping->from_ns > time_ns) {
		if (mapping->from_ns < session->until_ns)
			session->until_ns = mapping->from_ns;
		return;
	}
	if (mapping->from_ns > session->from_ns)
		session->from_ns = mapping->from_ns;
	if (mapping->until_ns > time_ns) {
		if (mapping->until_ns < session->until_ns)
			session->until_ns = mapping->until_ns;
	} else if (mapping->until_ns > session->from_ns) {
		session->from_ns = mapping->until_ns;
	}
}

/*
 * Adds the modules that a process has at a time, and then those that it has inherited from its
 * parent. In a hostile log a process may be its own ancestor, even many times, so the depth and the
 * number of visits are limited.
 */
static void add_modules(const struct stack_unwinder *unwinder, struct session *session, pid_t pid,
			int64_t time_ns, unsigned depth)
{
	for (size_t i = 0; i < 2 * unwinder->mappings; i++) {
		const struct posix_trace_mapping_np *mapping =
			&unwinder->mapping[i % unwinder->mappings];
		const bool is_second = i >= unwinder->mappings;

		if (mapping->pid != pid)
			continue;
		if (!depth)
			narrow_session(session, mapping, time_ns);
		if (mapping->from_ns > time_ns || mapping->until_ns <= time_ns)
			continue;
		if (mapping->parent && is_second && depth < ANCESTORS &&
		    session->visits++ < VISITS)
			add_modules(unwinder, session, mapping->parent, mapping->from_ns,
				    depth + 1);
		else if (!mapping->parent && !is_second && !has_module(session, mapping->base))
			add_module(session->dwfl, mapping);
	}
}

/*
 * Returns the entry for a process. If the process has none, returns a free entry, or the entry that
 * has not been used for the longest time.
 */
static struct session *place_of(struct stack_unwinder *unwinder, pid_t pid)
{
	struct session *oldest = &unwinder->session[0];

	for (size_t i = 0; i < SESSIONS; i++) {
		struct session *session = &unwinder->session[i];

		if (session->pid == pid)
			return session;
		if (session->used < oldest->used)
			oldest = session;
	}
	return oldest;
}

/* Returns the session of a process at a time, or NULL if libdw cannot use its modules. */
static Dwfl *dwfl_of(struct stack_unwinder *unwinder, pid_t pid, int64_t time_ns)
{
	struct session *session = place_of(unwinder, pid);

	session->used = ++unwinder->uses;
	if (session->pid == pid && time_ns >= session->from_ns && time_ns < session->until_ns)
		return session->dwfl;
	if (session->dwfl)
		dwfl_end(session->dwfl);
	*session = (struct session){ .pid = pid, .from_ns = INT64_MIN, .until_ns = INT64_MAX,
				     .dwfl = dwfl_begin(&files), .used = unwinder->uses };
	if (!session->dwfl)
		return NULL;
	dwfl_report_begin(session->dwfl);
	add_modules(unwinder, session, pid, time_ns, 0);
	dwfl_report_end(session->dwfl, NULL, NULL);
	/* The first module of the session determines its processor. */
	if (!dwfl_attach_state(session->dwfl, NULL, pid, &threads, unwinder)) {
		dwfl_end(session->dwfl);
		session->dwfl = NULL;
	}
	return session->dwfl;
}

/* ------------------------------------------------------------------ frames */

/*
 * The callback of libdw. The frames before the event's address belong to the shim, so the function
 * skips them. If this address does not appear, the stack does not belong to the event.
 */
static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct stack_unwinder *unwinder = arg;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	if (unwinder->count || pc == unwinder->address)
		unwinder->chain[unwinder->count++] = pc;
	else if (++unwinder->seen > SHIM_FRAMES)
		return DWARF_CB_ABORT;
	return unwinder->count < STACK_FRAMES ? DWARF_CB_OK : DWARF_CB_ABORT;
}

size_t stack_unwind(struct stack_unwinder *unwinder, const struct posix_trace_event_np *event,
		    uint64_t chain[STACK_FRAMES])
{
	Dwfl *dwfl;

	if (!find_copy(event, &unwinder->copy))
		return 0;
	unwinder->tid = event->tid;
	unwinder->chain = chain;
	unwinder->count = unwinder->seen = 0;
	unwinder->address = (uintptr_t)event->info.posix_prog_address;
	dwfl = unwinder->copy.head.bytes ?
	       dwfl_of(unwinder, event->info.posix_pid, event->time_ns) : NULL;
	if (dwfl)
		dwfl_getthread_frames(dwfl, event->tid, take_frame, unwinder);
	if (!unwinder->count)
		chain[unwinder->count++] = unwinder->address;
	return unwinder->count;
}

struct stack_unwinder *stack_unwinder_begin(const struct posix_trace_mapping_np *mapping,
					    size_t mappings)
{
	struct stack_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (unwinder) {
		unwinder->mapping = mapping;
		unwinder->mappings = mappings;
	}
	return unwinder;
}

void stack_unwinder_end(struct stack_unwinder *unwinder)
{
	for (size_t i = 0; unwinder && i < SESSIONS; i++)
		if (unwinder->session[i].dwfl)
			dwfl_end(unwinder->session[i].dwfl);
	free(unwinder);
}

#else /* !HAVE_LIBDW, or a processor whose registers are not known */

struct stack_unwinder {
	int unused;
};

size_t stack_unwind(struct stack_unwinder *unwinder, const struct posix_trace_event_np *event,
		    uint64_t chain[STACK_FRAMES])
{
	struct copy copy;

	(void)unwinder;
	if (!find_copy(event, &copy))
		return 0;
	chain[0] = (uintptr_t)event->info.posix_prog_address;
	return 1;
}

struct stack_unwinder *stack_unwinder_begin(const struct posix_trace_mapping_np *mapping,
					    size_t mappings)
{
	(void)mapping, (void)mappings;
	return calloc(1, sizeof(struct stack_unwinder));
}

void stack_unwinder_end(struct stack_unwinder *unwinder)
{
	free(unwinder);
}

#endif
