/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_report.c - a traced process reports its own mappings in its arena.
 *
 * It reports when its program starts and ends, and when the shim requests a report: before a
 * library is unloaded and after one was loaded. An observer cannot look at a process that has
 * ended, and does not see a library that was loaded and unloaded between two of its looks.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/libc.h"
#include "base/msan.h"
#include "meet/family.h"
#include "meet/process.h"
#include "modules/mapped.h"
#include "modules/mapped_set.h"

/*
 * The last report of this process. `busy` protects the other members and `executable`; no thread
 * waits for it.
 */
static ptx_start_data struct {
	atomic_flag busy;
	bool had_threads; /* the parent had threads at the fork */
	bool has_set;
	bool has_path;    /* `executable` is complete and examined */
	uint32_t pid;    /* the process that made this report */
	uint64_t inode;  /* the arena that has the report */
	/* Used only after ptx_mapped_self() has filled it. */
	struct ptx_mapped_set set;
} self = { .busy = ATOMIC_FLAG_INIT };

/*
 * The path of the program. While self.has_path is false, it may be any text: a child whose parent
 * was making its first report at the fork determines the path itself.
 */
static ptx_start_zeros char executable[PTX_MAPPING_PATH_BYTES];

/* The receiver of the notes: the arena's list. Its errors are collected. */
static void mapped_report_put(void *to, const struct ptx_mapping *mapping)
{
	/* All notes of one look share this error. */
	int *err = to;

	/* The first missing report ends the list (arena/maps.h), so no later one misleads. */
	if (ptx_maps_put(&ptx_arena_self.lists->maps, mapping))
		*err = ENOSPC;
}

/*
 * Returns true if other processes trace this process. For its own streams this process needs no
 * reports, because it looks at itself.
 */
static bool is_traced(void)
{
	const struct ptx_arena *arena = &ptx_arena_self;

	/* `claims` has a bit for each stream that this process created. */
	return arena->lists &&
	       atomic_load_explicit(&arena->control->attached, memory_order_acquire) &
		       ~atomic_load_explicit(&arena->claims, memory_order_relaxed);
}

/*
 * Returns the last report. Returns NULL if there is none, if it is the report of the parent, or if
 * it is in an arena that the process has left.
 */
static const struct ptx_mapped_set *last_report(void)
{
	/*
	 * If the process has changed to an arena that a controller made, that arena has none of the
	 * earlier reports.
	 */
	if (self.has_set && self.pid == ptx_process_pid() && self.inode == ptx_arena_self.inode)
		return &self.set;
	return NULL;
}

/*
 * Called at the start of the program: searches its path among the files that the family has mapped.
 * Reading /proc/self/exe costs 20 us, because the kernel makes the folder of this process in /proc
 * for it. The programs of a family often run the same file.
 *
 * AT_EXECFN is the path that execve() got. The function returns true if the family has reported a
 * file with this path and the build-id of this program. The path is no link, because a reported
 * path contains no link. The function does not examine whether two different paths name one file:
 * other processes write the reported paths, and a system call with such a path could wait for a
 * file server that does not answer.
 */
static bool find_executable(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN), *slash;
	struct ptx_mapping program;

	slash = name ? strrchr(name, '/') : NULL;
	if (!slash || strlen(name) >= PTX_MAPPING_PATH_BYTES)
		return false;
	ptx_mapped_self_id(&program);
	return program.id_bytes &&
	       ptx_maps_find(&ptx_arena_self.lists->maps, program.id, program.id_bytes, slash + 1,
			     executable) &&
	       !strcmp(name, executable);
}

/*
 * Returns the path of the program. The first report determines it, before the program can change
 * its root directory. Later reports use the same path, because it never changes.
 */
static const char *mapped_report_executable(bool is_start)
{
	ssize_t len;

	if (self.has_path)
		return executable;
	if (!is_start || !find_executable()) {
		len = readlink("/proc/self/exe", executable, sizeof executable - 1);
		if (len < 0)
			strcpy(executable, "[program]");
		else
			executable[len] = '\0';
	}
	self.has_path = true;
	return executable;
}

/* Reports the program's start: the mappings of the former program are gone. */
static void mapped_report_begin(const struct ptx_mapped_notes *notes, struct ptx_mapped_set *set)
{
	struct ptx_mapping gone = { .kind = PTX_MAPPING_GONE, .pid = ptx_process_pid(),
				    .end = UINT64_MAX, .from_ns = ptx_family_since() };

	/*
	 * If the time is not known, the time of the look is used, because the program certainly
	 * runs then.
	 */
	if (!gone.from_ns)
		gone.from_ns = set->before_ns;
	/* This note comes before those of the new mappings, which begin at the same time. */
	notes->put(notes->to, &gone);
	/* These files are noted as mapped since the program began. */
	ptx_mapped_first(notes, set, gone.from_ns);
}

/* Looks and reports the difference to the last report. Returns 0 or ENOSPC. */
static int mapped_report_look(bool is_start)
{
	const struct ptx_mapped_set *old = last_report();
	struct ptx_mapped_set set;
	int err = 0;
	const struct ptx_mapped_notes notes = { mapped_report_put, &err };
	int64_t now = ptx_clock_realtime();

	switch (ptx_mapped_self(old, mapped_report_executable(is_start), &set)) {
	case PTX_MAPPED_SAME:
		/* The old set is valid up to this moment. */
		self.set.before_ns = now;
		break;
	case PTX_MAPPED_NEW:
		if (old)
			ptx_mapped_compare(&notes, old, &set);
		/*
		 * If the first report is not made at the start, nothing is known about earlier
		 * times.
		 */
		else if (is_start)
			mapped_report_begin(&notes, &set);
		else
			ptx_mapped_first(&notes, &set, 0);
		ptx_mapped_set_fini(&self.set);
		self.set = set;
		self.has_set = true;
		self.pid = ptx_process_pid();
		/* last_report() compares pid and inode. */
		self.inode = ptx_arena_self.inode;
		break;
	case PTX_MAPPED_TOO_MANY:
		/* The process has more mappings than are kept. */
		err = ENOSPC;
		break;
	/* No look was possible, for example during a fork; the next report has the difference. */
	case PTX_MAPPED_UNREADABLE:
		break;
	}
	return err;
}

/*
 * MemorySanitizer has not seen the stores to the linker's memory, so it is paused during the look.
 */
int ptx_mapped_report(bool is_start)
{
	int err, saved = errno;

	if (!is_traced() || atomic_flag_test_and_set_explicit(&self.busy, memory_order_acquire))
		return 0; /* the process is not traced, or another thread reports now */
	ptx_msan_pause();
	/* `busy` is set during the look. It is no lock: a second thread returns immediately. */
	err = mapped_report_look(is_start);
	ptx_msan_resume();
	/* Release: the next report sees what this report has stored. */
	atomic_flag_clear_explicit(&self.busy, memory_order_release);
	errno = saved;
	return err;
}

/*
 * If the child is in the same arena as its parent, the parent's report counts as the child's own.
 * Otherwise the next report is a first report.
 */
void ptx_mapped_report_child(void)
{
	struct ptx_mapping child = { .kind = PTX_MAPPING_CHILD, .pid = ptx_process_pid(),
				     .parent = self.pid, .from_ns = ptx_family_since() };

	/*
	 * The child has one thread, but ptx_libc_has_one_thread() still has the value of the
	 * parent.
	 */
	self.had_threads = !ptx_libc_has_one_thread();
	if (atomic_flag_test_and_set_explicit(&self.busy, memory_order_acquire)) {
		/*
		 * a thread of the parent was making a report at the fork, so its set cannot be used
		 */
		self.has_set = false;
		memset(&self.set, 0, sizeof self.set);
	}
	atomic_flag_clear_explicit(&self.busy, memory_order_release);
	/*
	 * If there is no report of the parent that the child could inherit, nothing is to be done.
	 */
	if (!self.has_set || self.inode != ptx_arena_self.inode || !is_traced())
		return;
	/*
	 * If the family does not have the time when the child began, the report states that the
	 * child begins now.
	 */
	if (!child.from_ns)
		child.from_ns = ptx_clock_realtime();
	/* The parent's set is this process's own set from now on. */
	if (!ptx_maps_put(&ptx_arena_self.lists->maps, &child))
		self.pid = child.pid;
}

/* had_threads was set at the fork, from the parent's value of ptx_libc_has_one_thread(). */
bool ptx_mapped_linker_may_hang(void)
{
	return self.had_threads;
}

/* Libraries that were loaded since the last report become known. */
void ptx_mapped_report_end(void)
{
	/* exit() must not hang at the linker's lock. */
	if (!self.had_threads)
		ptx_mapped_report(false);
}
