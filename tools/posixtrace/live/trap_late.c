/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trap_late.c - plans files that traced processes map later, and lets the kernel record them.
 *
 * Each file is planned once. If a file was replaced by another one with the same path, as after a
 * new compilation of a plugin, the new file is planned, too. The breakpoints of the old file remain
 * in the processes that have mapped it.
 */
#include "live/trap_late.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/say.h"
#include "base/until.h"
#include "base/vec.h"
#include "inject/memory.h"
#include "live/kernel_traps.h"
#include "live/patch.h"
#include "syscalls/syscalls.h"

#define FILES_MOST 4096 /* further files are not traced */

struct trap_late_file {
	char *path; /* the real path */
	dev_t device;
	ino_t inode;
	struct timespec changed;
};

/* Returns the entry of a file that is known by this path, or NULL. */
static struct trap_late_file *find_file(struct trap_late *late, const char *path,
					const struct stat *is)
{
	for (size_t i = 0; i < late->files; i++)
		if (late->file[i].device == is->st_dev && late->file[i].inode == is->st_ino &&
		    !strcmp(late->file[i].path, path))
			return &late->file[i];
	return NULL;
}

/*
 * Notes a file. Returns false if the file is known and unchanged, at the limit of files, or if
 * memory is lacking. *has_places is true if the file is known, but was changed in place. The
 * kernel's breakpoints belong to an inode, so the earlier ones remain.
 */
static bool note_file(struct trap_late *late, const char *path, const struct stat *is,
		      bool *has_places)
{
	struct trap_late_file *file = find_file(late, path, is);
	char *copy;

	*has_places = false;
	if (file) {
		*has_places = file->changed.tv_sec != is->st_mtim.tv_sec ||
			      file->changed.tv_nsec != is->st_mtim.tv_nsec;
		file->changed = is->st_mtim;
		return *has_places;
	}
	if (late->files == FILES_MOST)
		return false;
	copy = strdup(path);
	if (!copy || !vec_grow(&late->file, late->files, 1)) {
		free(copy);
		return false;
	}
	late->file[late->files++] = (struct trap_late_file){ copy, is->st_dev, is->st_ino,
							     is->st_mtim };
	return true;
}

/*
 * Prints once that a process has mapped the file with this inode, but the path now leads to another
 * file.
 */
static void say_other_file(struct trap_late *late, pid_t pid, uint64_t inode, const char *path)
{
	const struct stat mapped = { .st_ino = inode };
	bool has_places;

	if (note_file(late, path, &mapped, &has_places))
		say("process %d: --function and --probe: %s is not traced: the process sees "
		    "another file there, as in a container, or it was replaced", (int)pid, path);
}

/*
 * Returns whether the recording has breakpoints in a file with this path and these contents. The
 * last file with a path is the newest.
 */
static bool has_contents(const struct traps *traps, const struct traps_file *file)
{
	for (size_t i = traps->files; i-- > 0;)
		if (!strcmp(traps->file[i].path, file->path))
			return traps->file[i].id_len == file->id_len &&
			       !memcmp(traps->file[i].id, file->id, file->id_len);
	return false;
}

/* Records that calls in a file were missed. */
static void note_missed(struct trap_late *late, const struct patches *later, pid_t pid,
			uint64_t missed_ns, const char *path)
{
	const uint32_t counts[2] = { (uint32_t)later->functions, (uint32_t)later->probes.places };
	const int32_t number = pid;
	char data[20 + PATH_MAX];
	const size_t len = strlen(path) + 1;

	memcpy(data, &number, 4);
	memcpy(data + 4, &missed_ns, 8);
	memcpy(data + 12, counts, 8);
	memcpy(data + 20, path, len);
	capture_note(late->capture, TRAP_LATE_EVENT, TRAP_LATE_SCHEMA, data, 20 + len);
}

/*
 * Plans a file, and adds its places to the recording. begin_ns is the time from which on calls of
 * the process can have been missed. If the file has places already, and only its time was changed,
 * the function adds none: a second breakpoint at each place would record each call twice.
 */
static void trap_file(struct trap_late *late, pid_t pid, int64_t begin_ns, const char *path,
		      bool has_places)
{
	static const char no_memory[] = "out of memory";
	const char *why = NULL;
	struct patches later;
	size_t left_out = 0;
	uint64_t missed_ns;
	char where[320];
	bool good;

	patches_later(&later, late->plan);
	good = patches_file(&later, path) && patches_finish(&later);
	if (good && has_places && later.traps.files &&
	    has_contents(&late->plan->traps, &later.traps.file[0])) {
		patches_fini(&later);
		return;
	}
	/* The plan keeps its counts when its places are moved to the plan of the recording. */
	if (!good)
		why = no_memory;
	else if (later.traps.traps && !traps_append(&late->plan->traps, &later.traps, &left_out))
		why = no_memory;
	else if (later.functions || later.probes.places)
		why = kernel_traps_extend(late->kernel);
	later.probes.places -= left_out;
	missed_ns = (uint64_t)(until_now_ns() - begin_ns);
	snprintf(where, sizeof(where), " of %.200s, mapped %.1f ms before,",
		 strrchr(path, '/') + 1, (double)missed_ns / 1e6);
	later.traps.functions = later.functions;
	later.traps.probes = later.probes.places;
	if (why)
		say("the kernel does not record functions and probes of %s: %s", path, why);
	else if (!late->quiet && (later.functions || later.probes.places || later.refused.count ||
				  later.refused_probes.count))
		patch_say(&later, where);
	if (left_out)
		say("--probe: %zu probe%s of %s cannot be traced: other files have probes of the "
		    "same name with other arguments", left_out, left_out == 1 ? "" : "s", path);
	if (!why && (later.functions || later.probes.places))
		note_missed(late, &later, pid, missed_ns, path);
	patches_fini(&later);
}

/*
 * Considers a file that a process has mapped. A child may execute any program, so in a child only a
 * pattern that names the module selects a file, as in patch_late.c. The process may have ended, or
 * may have replaced the file, before this process looks. If the process has another mount namespace
 * or root directory, the path may lead to another file here. Only the low halves of the
 * inodes are compared: with overlayfs and btrfs, the device of a mapping is not the device in
 * stat(2), and overlayfs may add upper bits to the inode.
 */
static void look_at_file(void *arg, const struct mapped_file *file)
{
	struct trap_late *late = arg;
	const pid_t pid = file->pid;
	char real[PATH_MAX];
	bool has_places;
	struct stat is;

	if (!syscalls_follows(late->kernel->syscalls, pid) || !realpath(file->path, real) ||
	    !patches_selects_file(late->plan, real, pid != late->kernel->pid) ||
	    stat(real, &is) || !S_ISREG(is.st_mode))
		return;
	if (file->inode && (uint32_t)file->inode != (uint32_t)is.st_ino)
		say_other_file(late, pid, file->inode, real);
	else if (note_file(late, real, &is, &has_places))
		trap_file(late, pid, (int64_t)file->time_ns, real, has_places);
}

static void look_at_mapping(struct trap_late *late, pid_t pid, const struct mapping *mapping)
{
	const struct mapped_file file = { .pid = pid, .time_ns = (uint64_t)late->looked_ns,
					  .inode = mapping->inode, .path = mapping->path };

	if (mapping->is_executable && *file.path == '/')
		look_at_file(late, &file);
}

/*
 * Reads which files all processes of the recording have mapped now. A new mapping was made after
 * the previous look, so look_at_mapping() uses the time of that look.
 */
static void read_all(struct trap_late *late)
{
	const struct syscalls *syscalls = late->kernel->syscalls;

	for (pid_t pid = syscalls_next(syscalls, 0); pid; pid = syscalls_next(syscalls, pid)) {
		struct mappings mappings;

		if (!mappings_read(&mappings, pid))
			for (size_t i = 0; i < mappings.count; i++)
				look_at_mapping(late, pid, &mappings.mapping[i]);
		mappings_fini(&mappings);
	}
}

void trap_late_begin(struct trap_late *late, struct patches *plan, struct kernel *kernel,
		     struct capture *capture, bool quiet)
{
	bool has_places;
	struct stat is;
	int err;

	*late = (struct trap_late){ .plan = plan, .kernel = kernel, .capture = capture,
				    .quiet = quiet, .looked_ns = until_now_ns() };
	for (size_t i = 0; i < plan->files; i++)
		if (!stat(plan->file[i].path, &is))
			note_file(late, plan->file[i].path, &is, &has_places);
	err = mapped_begin(&late->mapped);
	if (err) {
		say("--function and --probe: files that the process maps later are not traced: %s",
		    say_strerror(err));
		trap_late_end(late);
		return;
	}
	/* A running process may have mapped a file since the files were planned. */
	read_all(late);
}

void trap_late_look(struct trap_late *late)
{
	const int64_t now_ns = until_now_ns();

	if (!late->plan)
		return;
	if (!mapped_look(&late->mapped, look_at_file, late))
		read_all(late);
	late->looked_ns = now_ns;
}

void trap_late_end(struct trap_late *late)
{
	if (!late->plan)
		return;
	mapped_end(&late->mapped);
	for (size_t i = 0; i < late->files; i++)
		free(late->file[i].path);
	free(late->file);
	*late = (struct trap_late){ .plan = NULL };
}
