/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module.c - keeps the modules of the logs and finds their files. The path of a module comes from a
 * log and may now name another file. So a file is used only if its own build-id is the same as the
 * build-id in the log.
 */
#include "symbols/module.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/vec.h"
#include "symbols/made_id.h"
#include "symbols/module_part.h"

/* These limits bound the time of the search, because a folder may have very many files. */
#define DIRS_MAX    64u
#define ENTRIES_MAX 100000u /* at most this number of entries of a folder is read */

/* The state of the whole run of the command. Only one thread uses it. Modules are never freed. */
static struct {
	const char *dir[DIRS_MAX];
	unsigned dirs;
	struct module **module;
	size_t modules;
} all;

/* The files directly in the folders of --debug-dir, with their build-ids. */
static struct module_file {
	char *path;
	uint32_t id_len;
	uint8_t id[POSIX_TRACE_BUILD_ID_MAX_NP];
} *flat;
static size_t flats;

/*
 * The function keeps the pointer 'path' and makes no copy, because 'path' is an argument of the
 * command line.
 */
bool module_add_dir(const char *path)
{
	struct stat st;

	errno = ENOTDIR; /* the error if stat() succeeds, but 'path' is not a folder */
	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		say("--debug-dir %s: %s", text_given(path), strerror(errno));
		return false;
	}
	if (all.dirs == DIRS_MAX) {
		say("--debug-dir %s: more than %u", path, DIRS_MAX);
		return false;
	}
	all.dir[all.dirs++] = path;
	return true;
}

/* O_NONBLOCK is needed because the path comes from a log and may name a FIFO or a device. */
int module_open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
		errno = EINVAL;
	}
	return fd;
}

/*
 * Opens the file if it has the module's build-id. Otherwise it returns -1. If the file exists but
 * has another build-id, it also sets *differs to true.
 */
static int open_if_same(const char *path, const struct module *module, bool *differs)
{
	uint8_t id[POSIX_TRACE_BUILD_ID_MAX_NP];
	int fd = module_open_regular(path);

	if (fd < 0)
		return -1;
	/* A log has a made identity only for a file that has no build-id. */
	if ((made_id_is(module->id, module->id_len) ? made_id_of(fd, id) :
	     module_build_id(fd, id)) == module->id_len && !memcmp(id, module->id, module->id_len))
		return fd;
	*differs = true;
	close(fd);
	return -1;
}

/*
 * Stores the paths and build-ids of all files of a folder that have a build-id. So each file is
 * read once, and not again for each module.
 */
static void list_flat(const char *dir)
{
	DIR *folder = opendir(dir);
	const struct dirent *entry;
	size_t seen = 0;

	while (folder && seen++ < ENTRIES_MAX && (entry = readdir(folder))) {
		struct module_file file = { NULL };
		int fd;

		if (asprintf(&file.path, "%s/%s", dir, entry->d_name) < 0)
			break;
		fd = module_open_regular(file.path);
		if (fd >= 0) {
			file.id_len = module_build_id(fd, file.id);
			close(fd);
		}
		/* Files without a build-id are not stored, because they cannot be identified. */
		if (!file.id_len || !vec_grow(&flat, flats, 1)) {
			free(file.path);
			continue;
		}
		flat[flats++] = file;
	}
	if (folder)
		closedir(folder);
}

/*
 * Opens the module's file if it is one of the files that list_flat() has stored. The file's
 * build-id is checked again, because the file may have changed meanwhile.
 */
static int open_flat(const struct module *module, const char **path)
{
	/* The folders are read only once, when the first file is searched for in them. */
	static bool listed;
	bool differs;

	for (unsigned i = 0; !listed && i < all.dirs; i++)
		list_flat(all.dir[i]);
	listed = true;
	for (size_t i = 0; i < flats; i++) {
		int fd = flat[i].id_len == module->id_len &&
					 !memcmp(flat[i].id, module->id, module->id_len) ?
				 open_if_same(flat[i].path, module, &differs) :
				 -1;

		if (fd < 0)
			continue;
		*path = flat[i].path;
		return fd;
	}
	return -1;
}

/*
 * Opens DIR/.build-id/ab/cdef.debug for the build-id abcdef. Distributions use this layout in their
 * packages of debug files. If the function succeeds, *path is in new memory.
 */
static int open_by_id(const char *dir, const struct module *module, const char **path)
{
	char name[2 * POSIX_TRACE_BUILD_ID_MAX_NP + 1], *made;
	bool differs;
	int fd;

	for (uint32_t i = 0; i < module->id_len; i++)
		snprintf(name + 2 * i, 3, "%02x", module->id[i]);
	if (asprintf(&made, "%s/.build-id/%.2s/%s.debug", dir, name, name + 2) < 0)
		return -1;
	fd = open_if_same(made, module, &differs);
	if (fd >= 0)
		*path = made;
	else
		free(made);
	return fd;
}

int module_open_debug(const struct module *module, const char **path)
{
	int fd = -1;

	/* The folders of --debug-dir are searched before the folder of the system. */
	for (unsigned i = 0; fd < 0 && i < all.dirs; i++)
		fd = open_by_id(all.dir[i], module, path);
	if (fd < 0)
		fd = open_flat(module, path);
	if (fd < 0)
		fd = open_by_id("/usr/lib/debug", module, path);
	return fd;
}

/*
 * Finds the file of a new module and loads it. If no file can be used, stores the reason in
 * module->lack.
 */
static void find_module_file(struct module *module)
{
	bool differs = false;
	int fd;

	if (!module->id_len) {
		module->lack = "its build-id is not known";
		return;
	}
	if (!MODULE_HAS_ELF) {
		module->lack = "posixtrace was built without elfutils";
		return;
	}
	/* A path such as [vdso] names no file. */
	fd = *module->path == '/' ? open_if_same(module->path, module, &differs) : -1;
	if (fd >= 0)
		module->found = module->path;
	else
		fd = module_open_debug(module, &module->found);
	if (fd < 0)
		module->lack = differs ? "there is another file at its path now" :
					 "no file with its build-id was found";
	else
		module->lack = module_load(module, fd);
}

static struct module *new_module(const struct posix_trace_mapping_np *mapping)
{
	/* A module is kept even if no file is found, so that the search is not repeated. */
	struct module *module = calloc(1, sizeof(*module));

	if (!module || !vec_grow(&all.module, all.modules, 1) ||
	    !(module->path = strdup(mapping->path))) {
		free(module);
		return NULL;
	}
	/* The library has checked that id_len fits the array. */
	module->id_len = mapping->build_id_len;
	memcpy(module->id, mapping->build_id, sizeof(module->id));
	all.module[all.modules++] = module;
	find_module_file(module);
	return module;
}

/*
 * A module is identified by its build-id and path. If an update replaced a mapped file, the old and
 * the new file are two modules.
 */
struct module *module_of(const struct posix_trace_mapping_np *mapping)
{
	for (size_t i = 0; i < all.modules; i++) {
		struct module *module = all.module[i];

		if (module->id_len == mapping->build_id_len &&
		    !memcmp(module->id, mapping->build_id, module->id_len) &&
		    !strcmp(module->path, mapping->path))
			return module;
	}
	return new_module(mapping);
}

/* If the module's file was found but could not be loaded, the result is NULL, too. */
const char *module_path(const struct module *module)
{
	return module->lack ? NULL : module->found;
}

const char *module_lack(const struct module *module)
{
	return module->lack;
}

void module_say_lack(struct module *module)
{
	if (module->lack && !module->lack_printed &&
	    *module->path != '[') /* no message for [vdso] */
		say("%s: %s: its functions are not shown", module->path, module->lack);
	module->lack_printed = true;
}
