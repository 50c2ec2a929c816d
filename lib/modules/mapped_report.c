/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_report.c - a traced process says itself what it has mapped, in its arena.
 *
 * It does so when its program starts and ends, and when it is asked to: before a library goes and
 * after one came. Who looks from outside sees nothing of a process that is gone by then, or of a
 * library that came and went between two looks.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/msan.h"
#include "meet/family.h"
#include "meet/process.h"
#include "modules/mapped.h"
#include "modules/mapped_set.h"

static struct {
	atomic_flag busy;
	bool had_threads; /* at the fork that made it */
	bool is_seen;
	uint32_t pid;    /* of whom it is known */
	uint64_t inode;  /* of the arena where it was said */
	struct ptx_mapped_set set;
	char executable[PTX_MAPPING_PATH_BYTES];
} self = { .busy = ATOMIC_FLAG_INIT };

static void put(void *to, const struct ptx_mapping *mapping)
{
	int *err = to;

	if (ptx_maps_put(&ptx_arena_self.lists->maps, mapping))
		*err = ENOSPC;
}

/* By others: this process itself looks for its own streams. */
static bool is_traced(void)
{
	const struct ptx_arena *arena = &ptx_arena_self;

	return arena->lists &&
	       atomic_load_explicit(&arena->control->attached, memory_order_acquire) &
		       ~atomic_load_explicit(&arena->mine, memory_order_relaxed);
}

static const struct ptx_mapped_set *known(void)
{
	if (self.is_seen && self.pid == ptx_process_pid() && self.inode == ptx_arena_self.inode)
		return &self.set;
	return NULL;
}

static const char *executable(void)
{
	ssize_t len = 0;

	if (!*self.executable)
		len = readlink("/proc/self/exe", self.executable, sizeof self.executable - 1);
	if (len < 0)
		strcpy(self.executable, "[program]");
	return self.executable;
}

/* What another program had is gone since this one runs. */
static void begin(const struct ptx_mapped_notes *notes, struct ptx_mapped_set *set)
{
	struct ptx_mapping gone = { .kind = PTX_MAPPING_GONE, .pid = ptx_process_pid(),
				    .end = UINT64_MAX, .from_ns = ptx_family_since() };

	if (!gone.from_ns)
		gone.from_ns = set->before_ns;
	notes->put(notes->to, &gone);
	ptx_mapped_first(notes, set, gone.from_ns);
}

static int look(bool is_start)
{
	const struct ptx_mapped_set *old = known();
	struct ptx_mapped_set set;
	int err = 0;
	const struct ptx_mapped_notes notes = { put, &err };
	int64_t now = ptx_clock_realtime();

	switch (ptx_mapped_self(old, executable(), &set)) {
	case PTX_MAPPED_SAME:
		self.set.before_ns = now;
		break;
	case PTX_MAPPED_NEW:
		if (old)
			ptx_mapped_compare(&notes, old, &set);
		else if (is_start)
			begin(&notes, &set);
		else
			ptx_mapped_first(&notes, &set, 0);
		ptx_mapped_set_fini(&self.set);
		self.set = set;
		self.is_seen = true;
		self.pid = ptx_process_pid();
		self.inode = ptx_arena_self.inode;
		break;
	case PTX_MAPPED_TOO_MUCH:
		err = ENOSPC;
		break;
	case PTX_MAPPED_NOTHING:
		break;
	}
	return err;
}

int ptx_mapped_report(bool is_start)
{
	int err, saved = errno;

	if (!is_traced() || atomic_flag_test_and_set_explicit(&self.busy, memory_order_acquire))
		return 0; /* another thread does, and has only begun */
	ptx_msan_pause();
	err = look(is_start);
	ptx_msan_resume();
	atomic_flag_clear_explicit(&self.busy, memory_order_release);
	errno = saved;
	return err;
}

void ptx_mapped_report_child(void)
{
	struct ptx_mapping child = { .kind = PTX_MAPPING_CHILD, .pid = ptx_process_pid(),
				     .parent = self.pid, .from_ns = ptx_family_since() };

	self.had_threads = !__libc_single_threaded;
	if (atomic_flag_test_and_set_explicit(&self.busy, memory_order_acquire)) {
		self.is_seen = false; /* a thread was at it that is not here */
		memset(&self.set, 0, sizeof self.set);
	}
	atomic_flag_clear_explicit(&self.busy, memory_order_release);
	if (!self.is_seen || self.inode != ptx_arena_self.inode || !is_traced())
		return;
	if (!child.from_ns)
		child.from_ns = ptx_clock_realtime();
	if (!ptx_maps_put(&ptx_arena_self.lists->maps, &child))
		self.pid = child.pid;
}

bool ptx_mapped_linker_may_hang(void)
{
	return self.had_threads;
}

void ptx_mapped_report_end(void)
{
	if (!self.had_threads)
		ptx_mapped_report(false);
}
