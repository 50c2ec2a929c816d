/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * search.c - reads the names in the folders from which programs load plugins.
 *
 * The dynamic linker does not know these files, because the program itself will compute their
 * paths. The nearest folders are searched first. Folders of a greater depth are searched only for
 * patterns that have no file yet. Such a folder may have a library of the same name for another
 * version of the program.
 */
#include "functions/search.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"

#define NAMES_MAX 400000 /* greatest number of names that are read; a system has some 100000 */
#define DEEP_MAX  12     /* greatest depth of folders in folders */
/* greatest depth for the current folder and for the folders of arguments */
#define NEAR      1

static bool search_matches(const struct search *search, const char *path, const char *name)
{
	for (size_t i = 0; i < search->globs; i++)
		if (!fnmatch(search->glob[i], name, 0) || !fnmatch(search->glob[i], path, 0))
			return true;
	return false;
}

/* Adds the real path of a regular file, once. Returns false if memory is lacking. */
static bool add_file(struct search *search, const char *path)
{
	struct libraries *found = search->found;
	char real[PATH_MAX];
	struct stat st;

	if (!realpath(path, real) || stat(real, &st) || !S_ISREG(st.st_mode))
		return true;
	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(found->path[i], real))
			return true;
	if (!vec_grow(&found->path, found->count, 1) ||
	    !(found->path[found->count] = strdup(real)))
		return false;
	found->count++;
	return true;
}

/*
 * Searches a folder, and the folders in it down to the depth "deep". A folder that cannot be read
 * is skipped. Returns false if memory is lacking.
 */
static bool search_walk(struct search *search, const char *folder, unsigned deep)
{
	DIR *names = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];
	bool good = true;

	while (names && good && search->names && (entry = readdir(names))) {
		const char *name = entry->d_name;

		search->names--;
		if (!strcmp(name, ".") || !strcmp(name, "..") ||
		    snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
			continue;
		if (entry->d_type == DT_DIR)
			good = !deep || search_walk(search, path, deep - 1);
		else if (search_matches(search, path, name))
			good = add_file(search, path);
	}
	if (names)
		closedir(names);
	return good;
}

/*
 * Searches a folder. The function skips a folder that was searched before, by itself or as a part
 * of another folder.
 */
static bool take_folder(struct search *search, const char *folder, unsigned deep)
{
	char real[PATH_MAX];

	if (!*folder || !realpath(folder, real) || !strcmp(real, "/"))
		return true;
	for (size_t i = 0; i < search->folders; i++) {
		size_t len = strlen(search->folder[i]);

		if (!strncmp(real, search->folder[i], len) && (!real[len] || real[len] == '/'))
			return true;
	}
	/*
	 * The function notes the folder only if the search has the full depth. A folder that was
	 * searched to a smaller depth may be searched again.
	 */
	if (deep == DEEP_MAX && (!vec_grow(&search->folder, search->folders, 1) ||
				 !(search->folder[search->folders++] = strdup(real))))
		return false;
	return search_walk(search, real, deep);
}

/*
 * Stores the path of a file or folder of the program. The name of the file or folder may be
 * relative to the program's current folder. Returns false if the path is too long.
 */
static bool path_of(const struct search *search, const char *name, size_t len, char path[PATH_MAX])
{
	const bool is_whole = *name == '/';

	return snprintf(path, PATH_MAX, "%s%s%.*s", is_whole ? "" : search->here,
			is_whole ? "" : "/", (int)len, name) < PATH_MAX;
}

/* Searches each folder of a list with colons. */
static bool take_list(struct search *search, const char *list)
{
	char folder[PATH_MAX];
	bool good = true;

	while (list && *list && good) {
		size_t len = strcspn(list, ":");

		if (len && path_of(search, list, len, folder))
			good = take_folder(search, folder, DEEP_MAX);
		list += len + (list[len] == ':');
	}
	return good;
}

/*
 * Searches the folder of a file, such as a script, and the file itself. An argument without a slash
 * is in the current folder.
 */
static bool take_argument(struct search *search, const char *argument)
{
	const char *slash = strrchr(argument, '/');
	char path[PATH_MAX];

	if (!slash || !path_of(search, argument, strlen(argument), path))
		return true;
	if (search_matches(search, argument, slash + 1) && !add_file(search, path))
		return false;
	*strrchr(path, '/') = '\0';
	return take_folder(search, path, NEAR);
}

/*
 * A program such as /opt/tool/bin/program has its libraries in /opt/tool/lib, and searches them by
 * the real path of its file.
 */
static bool take_program(struct search *search, const char *program)
{
	char real[PATH_MAX], *slash;

	if (!realpath(program, real) || !(slash = strrchr(real, '/')))
		return true;
	*slash = '\0';
	if (!take_folder(search, real, NEAR))
		return false;
	slash = strrchr(real, '/');
	if (!slash || slash == real)
		return true;
	memcpy(slash, "/lib", sizeof("/lib"));
	return take_folder(search, real, DEEP_MAX);
}

/* Returns whether each pattern has a file. */
static bool is_complete(const struct search *search)
{
	const struct libraries *found = search->found;

	for (size_t i = 0; i < search->globs; i++) {
		bool has = false;

		for (size_t k = 0; k < found->count && !has; k++)
			has = !fnmatch(search->glob[i], found->path[k], 0) ||
			      !fnmatch(search->glob[i], strrchr(found->path[k], '/') + 1, 0);
		if (!has)
			return false;
	}
	return true;
}

/* Searches the folders of the system, which many programs share. */
static bool take_system(struct search *search)
{
	static const char *const system[] = { "/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib",
					      "/lib64" };
	const char *home = search->home;
	char local[PATH_MAX] = "";
	bool good;

	if (home && snprintf(local, sizeof(local), "%s/.local/lib", home) >= (int)sizeof(local))
		*local = '\0';
	good = take_folder(search, local, DEEP_MAX);
	for (size_t i = 0; i < sizeof(system) / sizeof(system[0]) && good; i++)
		good = take_folder(search, system[i], DEEP_MAX);
	return good;
}

/* Searches all folders, and then frees the list of searched folders. */
static bool search_all(struct search *search, const char *program, char *const argv[])
{
	bool good;

	search->names = NAMES_MAX;
	good = take_folder(search, search->here, NEAR);
	for (; *argv && good; argv++)
		good = take_argument(search, *argv);
	good = good && take_list(search, search->library_path) &&
	       take_list(search, search->python_path);
	if (good && !is_complete(search))
		good = take_program(search, program);
	if (good && !is_complete(search))
		good = take_system(search);
	for (size_t i = 0; i < search->folders; i++)
		free(search->folder[i]);
	free(search->folder);
	return good;
}

bool search_files(struct search *search, const char *program, char *const argv[])
{
	search->here = ".";
	search->library_path = getenv("LD_LIBRARY_PATH");
	search->python_path = getenv("PYTHONPATH");
	search->home = getenv("HOME");
	return search_all(search, program, argv);
}

/* greatest number of bytes of the arguments or the environment of a process */
#define TEXTS_BYTES 65536
#define TEXTS_MOST  256

/*
 * Reads a file of a process that contains texts, each with a NUL, and stores pointers to them in
 * "text". The array ends with NULL. A text that is cut off at the end of the buffer is omitted.
 */
static void read_texts(pid_t pid, const char *name, char *buffer, char *text[TEXTS_MOST + 1])
{
	char path[48];
	size_t bytes = 0, texts = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "re");
	if (file) {
		bytes = fread(buffer, 1, TEXTS_BYTES, file);
		fclose(file);
	}
	while (bytes && buffer[bytes - 1])
		bytes--;
	for (size_t at = 0; at < bytes && texts < TEXTS_MOST; at += strlen(buffer + at) + 1)
		text[texts++] = buffer + at;
	text[texts] = NULL;
}

/* Returns the value of a variable in a list of texts NAME=VALUE, or NULL. */
static const char *value_in(char *const text[], const char *name)
{
	const size_t len = strlen(name);

	for (; *text; text++)
		if (!strncmp(*text, name, len) && (*text)[len] == '=')
			return *text + len + 1;
	return NULL;
}

bool search_files_of_process(struct search *search, pid_t pid)
{
	char *argv[TEXTS_MOST + 1], *variable[TEXTS_MOST + 1], here[48], program[48];
	char *buffer = malloc((size_t)2 * TEXTS_BYTES);
	bool good = buffer != NULL;

	if (good) {
		read_texts(pid, "cmdline", buffer, argv);
		read_texts(pid, "environ", buffer + TEXTS_BYTES, variable);
		snprintf(here, sizeof(here), "/proc/%d/cwd", (int)pid);
		snprintf(program, sizeof(program), "/proc/%d/exe", (int)pid);
		search->here = here;
		search->library_path = value_in(variable, "LD_LIBRARY_PATH");
		search->python_path = value_in(variable, "PYTHONPATH");
		search->home = value_in(variable, "HOME");
		good = search_all(search, program, argv);
	}
	free(buffer);
	return good;
}
