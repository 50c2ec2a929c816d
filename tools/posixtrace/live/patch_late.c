/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patch_late.c - notices libraries that traced processes load, plans them, and patches them.
 *
 * A count in the memory of each process shows that the process has called dlopen(). The mappings of
 * the process are then read a few times, because some calls are counted before the library is
 * mapped. The mappings are also read four times a second without such a call, for two reasons: the
 * C library loads some libraries by itself, and the calls of a process that is traced without
 * families do not reach the shim. Each library has a plan of its own. If the process unloads the
 * library and loads it again, the plan is the same, and its trampolines are used again.
 */
#include "live/patch_late.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#include "base/until.h"
#include "base/vec.h"
#include "inject/memory.h"
#include "live/patch.h"

#define LOOKS      5                    /* readings of the mappings after a call of dlopen() */
#define LOOK_NS    INT64_C(250000000)   /* the longest time between two readings of the mappings */
#define MEMBERS_NS INT64_C(200000000)   /* time between two readings of the members */
#define FAILURES   3                    /* the errors after which a process is not tried again */
#define PROCESSES  4096                 /* further processes are not watched */

/* An executable mapping of a file that was seen. */
struct file {
	uint64_t begin;
	char *path;
	bool is_here;    /* the file was mapped at the last look */
	bool has_hooks;  /* has only functions for exceptions, whose hooks are not patched yet */
};

struct patch_late_process {
	pid_t pid;
	bool is_main;       /* the first process, and no child that inherited the stream */
	bool is_watched;
	unsigned failures;  /* number of errors that were printed */
	bool is_known;      /* the mappings of the process have been examined */
	bool has_functions; /* functions are patched, whose calls an exception may end */
	bool has_missed;    /* there are libraries that the shim could not patch */
	struct inject_watch watch;
	struct file *file;
	size_t files;
	unsigned looks;     /* number of looks that must still be made after a call of dlopen() */
	int64_t looked_ns;
};

static struct patch_late_process *add_process(struct patch_late *late, pid_t pid)
{
	struct patch_late_process *process;

	if (late->processes == PROCESSES || !vec_grow(&late->process, late->processes, 1))
		return NULL;
	process = &late->process[late->processes++];
	*process = (struct patch_late_process){
		.pid = pid, .is_main = late->processes == 1, .watch = { .memory = -1 },
		.has_functions = late->plan->functions > 0,
	};
	return process;
}

static void forget_files(struct patch_late_process *process)
{
	for (size_t i = 0; i < process->files; i++)
		free(process->file[i].path);
	free(process->file);
	process->file = NULL;
	process->files = 0;
}

void patch_late_begin(struct patch_late *late, const struct patches *plan, pid_t pid,
		      bool is_started, bool quiet)
{
	*late = (struct patch_late){ .plan = plan, .has_plan = is_started, .quiet = quiet };
	add_process(late, pid);
}

void patch_late_end(struct patch_late *late)
{
	for (size_t i = 0; i < late->processes; i++) {
		inject_watch_end(&late->process[i].watch);
		forget_files(&late->process[i]);
	}
	free(late->process);
	*late = (struct patch_late){ .plan = NULL };
}

/* Returns the entry of a mapping that was seen before, or NULL if the mapping is new. */
static struct file *find_file(const struct patch_late_process *process,
			      const struct mapping *mapping)
{
	for (size_t i = 0; i < process->files; i++)
		if (process->file[i].begin == mapping->begin &&
		    !strcmp(process->file[i].path, mapping->path))
			return &process->file[i];
	return NULL;
}

/* Notes a mapping. If memory is lacking, the mapping counts as new again at the next look. */
static void add_file(struct patch_late_process *process, const struct mapping *mapping)
{
	struct file file = { mapping->begin, strdup(mapping->path), true, false };

	if (file.path && vec_grow(&process->file, process->files, 1))
		process->file[process->files++] = file;
	else
		free(file.path);
}

/* Forgets the file whose code is at this address, so that it counts as new. */
static void drop_gone_at(struct patch_late_process *process, const struct mappings *mappings,
			 uint64_t address)
{
	const struct mapping *at = address ? mappings_at(mappings, address) : NULL;
	struct file *file = at ? find_file(process, at) : NULL;

	if (!file)
		return;
	free(file->path);
	*file = process->file[--process->files];
}

/*
 * Forgets the mappings that no longer exist, so that the same library counts as new if it is loaded
 * again.
 */
static void drop_gone(struct patch_late_process *process)
{
	size_t kept = 0;

	for (size_t i = 0; i < process->files; i++)
		if (process->file[i].is_here)
			process->file[kept++] = process->file[i];
		else
			free(process->file[i].path);
	process->files = kept;
}

/*
 * Returns the address of the ELF header of the module that has this mapping, or 0 if the header is
 * not mapped.
 */
static uint64_t begin_of(const struct mappings *mappings, const struct mapping *mapping)
{
	for (const struct mapping *at = mapping; at >= mappings->mapping; at--)
		if (!strcmp(at->path, mapping->path) && !at->offset)
			return at->begin;
	return 0;
}

/*
 * Returns whether this tracer need not patch the file any more.
 *
 * If the shim has had the plan since its start, the shim patches the files of the plan: the files
 * that the program has at its start, and files that are loaded later. If the shim could not patch
 * one of the files that were loaded later (has_missed), the function examines the code of such a
 * file to find out whether it has the jumps.
 *
 * In all other cases the result is true only at the first look at a process. At that look the files
 * have their patches already: this tracer has patched the files of the plan before, and a forked
 * child has the patches of its parent.
 */
static bool is_patched(const struct patch_late *late, const struct patch_late_process *process,
		       const struct mappings *mappings, const struct mapping *mapping)
{
	const struct patches *plan = late->plan;
	const struct patches_file *file = patches_find_file(plan, mapping->path);

	if (late->has_plan && file)
		return file < plan->file + plan->linked || !process->has_missed ||
		       inject_watch_is_patched(&process->watch, begin_of(mappings, mapping),
					       plan->site + file->first, file->sites);
	return !process->is_known && (file || (process->watch.count && !process->is_main));
}

/*
 * Plans a library and patches it. If the process cannot be patched, the reason is printed, and the
 * next look tries again. If a library has only functions for exceptions, it is not patched before
 * the process has a patched function.
 */
static void patch_file(const struct patch_late *late, struct patch_late_process *process,
		       struct file *file)
{
	const char *name = strrchr(file->path, '/') + 1;
	bool is_wanted, good;
	struct patches later;
	size_t jumps = 0;
	char where[280];

	patches_later(&later, late->plan);
	good = patches_file(&later, file->path) && patches_finish(&later);
	is_wanted = later.functions || later.probes.places;
	file->has_hooks = good && later.sites && !is_wanted && !process->has_functions;
	snprintf(where, sizeof(where), " of %.200s", name);
	/* The process may have ended while the file was planned. */
	if (good && inject_watch_is_gone(&process->watch))
		good = false;
	if (good && later.sites && !file->has_hooks &&
	    patch_carry_out(&later, process->pid, &jumps)) {
		process->failures++;
		/*
		 * No mapping begins at the address 0, so the next look treats the file as a new
		 * one.
		 */
		file->begin = 0;
		good = false;
	}
	/*
	 * If the file has sites but no jump was written, nothing is printed: either the shim has
	 * patched the file itself, or an event of the shim reports why it could not patch the file.
	 */
	if (good && !late->quiet && (jumps || !later.sites) &&
	    (is_wanted || later.refused.count || later.refused_probes.count))
		patch_say(&later, where);
	process->has_functions |= good && later.functions > 0;
	patches_fini(&later);
}

/* Patches the hooks that have waited until the first function was patched. */
static void patch_hooks(const struct patch_late *late, struct patch_late_process *process)
{
	for (size_t i = 0; i < process->files; i++)
		if (process->file[i].has_hooks && process->has_functions &&
		    process->failures < FAILURES)
			patch_file(late, process, &process->file[i]);
}

/* Examines one mapping, and patches the file of the mapping if the file is new. */
static void look_at_file(const struct patch_late *late, struct patch_late_process *process,
			 const struct mappings *mappings, const struct mapping *mapping)
{
	struct file *file = find_file(process, mapping);
	size_t before = process->files;

	if (file) {
		file->is_here = true;
		return;
	}
	add_file(process, mapping);
	/*
	 * A child may execute any program, so in a child only a pattern that names the module
	 * selects a file. In the first process, every file is planned except the libraries of this
	 * project, and the patterns then select functions and probes of the file.
	 */
	if (process->files > before && process->failures < FAILURES &&
	    (process->is_main ? !strstr(mapping->path, "/libposixtrace") :
	     patches_selects_file(late->plan, mapping->path, true)) &&
	    !is_patched(late, process, mappings, mapping))
		patch_file(late, process, &process->file[before]);
}

/* Reads the mappings and patches the files that are new. */
static void look_at_files(const struct patch_late *late, struct patch_late_process *process)
{
	struct mappings mappings = { NULL, 0 };
	uint64_t lost = inject_watch_lost(&process->watch);
	bool good = !mappings_read(&mappings, process->pid);

	for (size_t i = 0; i < process->files; i++)
		process->file[i].is_here = false;
	/*
	 * If the jumps of a library are gone, the library was loaded again at the same place, and
	 * counts as a new library.
	 */
	drop_gone_at(process, &mappings, lost);
	for (size_t i = 0; i < mappings.count && good; i++)
		if (mappings.mapping[i].is_executable && *mappings.mapping[i].path == '/')
			look_at_file(late, process, &mappings, &mappings.mapping[i]);
	if (good)
		drop_gone(process);
	patch_hooks(late, process);
	process->is_known = true;
	mappings_fini(&mappings);
}

/* Looks at one process. */
static void look_at(const struct patch_late *late, struct patch_late_process *process,
		    int64_t now_ns)
{
	enum inject_seen seen;

	if (process->failures == FAILURES)
		return;
	if (!process->is_watched)
		process->is_watched = inject_watch_begin(&process->watch, process->pid);
	if (!process->is_watched)
		return;
	seen = inject_watch_look(&process->watch);
	if (seen == INJECT_GONE) {
		/*
		 * The process has ended, or executes another program. A shim in the new program
		 * uses the plan from the start of the recording. All facts about the old program
		 * are therefore forgotten.
		 */
		inject_watch_end(&process->watch);
		forget_files(process);
		process->is_watched = process->is_known = process->has_missed = false;
		process->failures = 0;
		process->has_functions = late->plan->functions > 0;
		return;
	}
	if (seen != INJECT_SAME)
		process->looks = LOOKS;
	process->has_missed |= seen == INJECT_MISSED;
	if (!process->looks && now_ns - process->looked_ns < LOOK_NS)
		return;
	process->looks -= process->looks > 0;
	process->looked_ns = now_ns;
	look_at_files(late, process);
}

/* The visitor: adds the members of the stream that this process has created, if they are new. */
static void patch_late_visit(void *arg, const struct posix_trace_stream_np *stream)
{
	struct patch_late *late = arg;

	for (size_t i = 0; i < stream->members && stream->creator == getpid(); i++) {
		bool is_known = false;

		for (size_t k = 0; k < late->processes; k++)
			is_known |= late->process[k].pid == stream->member[i];
		if (!is_known)
			add_process(late, stream->member[i]);
	}
}

/* Forgets the processes that have ended, but not the first one. */
static void drop_ended(struct patch_late *late)
{
	size_t kept = 1;

	for (size_t i = 1; i < late->processes; i++) {
		struct patch_late_process *process = &late->process[i];

		if (!process->is_watched && kill(process->pid, 0) && errno == ESRCH)
			forget_files(process);
		else
			late->process[kept++] = *process;
	}
	late->processes = late->processes ? kept : 0;
}

void patch_late_look(struct patch_late *late)
{
	int64_t now_ns = until_now_ns();

	if (!late->plan)
		return;
	if (now_ns - late->members_ns >= MEMBERS_NS) {
		late->members_ns = now_ns;
		drop_ended(late);
		posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, patch_late_visit, late);
	}
	for (size_t i = 0; i < late->processes; i++)
		look_at(late, &late->process[i], now_ns);
}
