/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * target.h - the facts about a process that are needed before a thread is stopped to load the
 * library.
 */
#ifndef POSIXTRACE_INJECT_TARGET_H
#define POSIXTRACE_INJECT_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inject/call.h"
#include "inject/elf.h"
#include "inject/memory.h"

/* The values of posixtrace_shim_state in the process (lib/preload/inject.c). */
enum shim_state { SHIM_PRELOADED, SHIM_LOADED, SHIM_ATTACHED, SHIM_ABSENT };

/* A range of addresses. */
struct range {
	uint64_t begin, end;
};

#define TARGET_CALLERS 3

struct target {
	pid_t pid;
	int memory;
	int err;                        /* why memory or mappings are lacking; 0: neither is */
	uint64_t program;               /* identity of the executed program; 0: unknown */
	struct mappings mappings;
	struct elf_module libc, loader; /* the modules, with their code */
	/* the program has no dynamic linker, or none of this word size */
	bool is_static;
	struct call_place place;
	/* functions that may call the program while they hold a lock */
	struct range caller[TARGET_CALLERS];
	enum shim_state shim;
	uint64_t jumps;                 /* address of posixtrace_shim_jumps; 0: there is none */
	uint64_t content;               /* address of posixtrace_shim_content; 0: there is none */
	bool has_library;               /* libposixtrace is mapped */
	/* set by target_restorable(): a stream is active or may be active */
	bool is_traced;
};

enum target_verdict {
	TARGET_OK,
	TARGET_REFUSED, /* a message was printed */
	/*
	 * The process uses the library already, does not exist, or may not be examined. In the last
	 * case the member err is EACCES or EPERM. If this is an error, the command reports it.
	 */
	TARGET_LEAVE
};

/* The reason why a process that a signal has stopped is refused. */
#define TARGET_STOPPED "it is stopped; 'kill -CONT' continues it"

/*
 * Examines the process without stopping it. If the process has not loaded its C library yet, waits
 * for the library for at most a second. The caller must call target_fini() after any result. If
 * any_shim is true, the result is TARGET_OK also for a process that has had the shim since its
 * start.
 */
enum target_verdict target_examine(struct target *target, pid_t pid, bool any_shim);
void target_fini(struct target *target);

/*
 * Returns whether the process has executed another program since it was examined. In this case the
 * other facts are about the former program. Returns false if this is not known.
 */
bool target_has_executed(const struct target *target);

/*
 * Returns "; its limit of ...", with the limit of memory that leaves less than "room" bytes, or an
 * empty text. The caller appends the text to a message about a lack of memory. The next call
 * overwrites the text.
 */
#define TARGET_LOAD_ROOM (UINT64_C(32) << 20) /* the library needs less */
const char *target_short_limit(pid_t pid, uint64_t room);

/* Returns the reason in a message of the form "process N: its calls cannot be traced: REASON". */
const char *target_reason(const char *message);

/*
 * Examines a process whose code must be restored. The process may be in any state, because no
 * function is called in it. The result is TARGET_LEAVE if the process has ended, or has no list of
 * jumps. The caller must call target_fini() after any result.
 */
enum target_verdict target_restorable(struct target *target, pid_t pid);

/*
 * Returns whether the C library, its linker and the shim are the only modules that define malloc().
 * The program then uses the allocator of the C library.
 */
bool target_has_libc_malloc(const struct target *target);

#endif
