/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libraries.c - asks the dynamic linker which libraries it would load (ld.so --list), or reads
 * /proc/PID/maps.
 *
 * The tool does not compute the answer itself, because it depends on caches, RPATH, LD_LIBRARY_PATH
 * and the hardware. ldd(1) is not used: it may execute the program.
 */
#include "functions/libraries.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/say.h"
#include "base/vec.h"

#define SCRIPTS_MAX 4 /* an interpreter may be a script */

bool libraries_add(struct libraries *libraries, const char *path)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (!strcmp(libraries->path[i], path))
			return true;
	if (!vec_grow(&libraries->path, libraries->count, 1))
		return false;
	libraries->path[libraries->count] = strdup(path);
	return libraries->path[libraries->count++] != NULL;
}

void libraries_fini(struct libraries *libraries)
{
	for (size_t i = 0; i < libraries->count; i++)
		free(libraries->path[i]);
	free(libraries->path);
	memset(libraries, 0, sizeof(*libraries));
}

bool libraries_find_program(const char *name, char *path)
{
	const char *folders = getenv("PATH");
	char found[PATH_MAX];

	if (strchr(name, '/')) {
		if (!realpath(name, path))
			snprintf(path, PATH_MAX, "%s", name);
		return strlen(name) < PATH_MAX;
	}
	for (const char *p = folders ? folders : "/bin:/usr/bin"; *p;) {
		int len = (int)strcspn(p, ":");

		if (snprintf(found, PATH_MAX, "%.*s%s%s", len, p, len ? "/" : "", name) <
			    PATH_MAX &&
		    !access(found, X_OK) && realpath(found, path))
			return true;
		p += len;
		p += *p == ':';
	}
	return false;
}

/*
 * Reads the begin of a file. If the file is a script, replaces path by the path of its interpreter.
 * Otherwise stores the path of its dynamic linker in linker, or "" if it has none. Returns 1 for a
 * script, 0 for another file, or -1 if the file cannot be read. The file is opened with O_NONBLOCK,
 * since the path may be that of a FIFO. The offsets of a hostile file are only passed to pread(),
 * which refuses wrong ones. Sizes are compared with the buffers.
 */
static int look_at(char path[PATH_MAX], char linker[PATH_MAX])
{
	char text[PATH_MAX + 2] = "";
	Elf64_Ehdr elf;
	Elf64_Phdr header;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), is = -1;
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof(text) - 1, 0) : -1;

	*linker = '\0';
	if (n > 2 && !memcmp(text, "#!", 2)) {
		char *begin = text + 2 + strspn(text + 2, " \t");

		begin[strcspn(begin, " \t\n")] = '\0';
		snprintf(path, PATH_MAX, "%s", begin);
		is = 1;
	} else if (n >= (ssize_t)sizeof(elf)) {
		is = 0;
		memcpy(&elf, text, sizeof(elf));
		for (unsigned i = 0; !memcmp(text, ELFMAG, SELFMAG) && i < elf.e_phnum; i++) {
			if (pread(fd, &header, sizeof(header),
				  (off_t)(elf.e_phoff + i * sizeof(header))) != sizeof(header))
				break;
			if (header.p_type == PT_INTERP && header.p_filesz < PATH_MAX &&
			    pread(fd, linker, header.p_filesz, (off_t)header.p_offset) > 0)
				linker[header.p_filesz] = '\0';
		}
	}
	if (fd >= 0)
		close(fd);
	return is;
}

/*
 * Adds the path in a line "NAME => PATH (ADDRESS)" or "PATH (ADDRESS)". Other lines, such as "not
 * found" and the vdso, have no path and are ignored. Returns false if memory is lacking.
 */
static bool take_line(struct libraries *libraries, char *line)
{
	char *path = strstr(line, " => "), *end;

	path = path ? path + 4 : line + strspn(line, " \t");
	end = strstr(path, " (0x");
	if (*path != '/' || !end)
		return true;
	*end = '\0';
	return libraries_add(libraries, path);
}

/*
 * Runs the dynamic linker, which prints what it would load and executes nothing of it. The linker
 * gets the environment of this command, as the traced program will. The linker that is executed is
 * the one that the file names. A user who traces the program would execute this linker anyway. The
 * function blocks until the linker has ended. If quiet is true, the messages of the linker are
 * dropped.
 */
static bool run_linker(struct libraries *libraries, char *linker, char *program, bool quiet)
{
	char list[] = "--list", *argv[] = { linker, list, program, NULL };
	posix_spawn_file_actions_t actions;
	char line[PATH_MAX + 256];
	bool good = true;
	int ends[2], err;
	FILE *from;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (quiet)
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, linker, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	from = fdopen(ends[0], "r");
	if (!from)
		close(ends[0]);
	while (!err && from && fgets(line, sizeof(line), from))
		good &= take_line(libraries, line);
	if (from)
		fclose(from);
	/*
	 * The exit status of the linker is not used, because the lines that it has printed are the
	 * result.
	 */
	while (!err && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return good && !err;
}

bool libraries_of_program(struct libraries *libraries, const char *name)
{
	char path[PATH_MAX], linker[PATH_MAX];
	int is = 1;

	memset(libraries, 0, sizeof(*libraries));
	if (!libraries_find_program(name, path)) {
		say("%s: %s", name, strerror(ENOENT));
		return false;
	}
	for (int i = 0; is == 1 && i < SCRIPTS_MAX; i++)
		is = look_at(path, linker);
	if (is < 0) {
		say("%s: %s", path, strerror(errno));
		return false;
	}
	if (libraries_add(libraries, path) &&
	    (!*linker || run_linker(libraries, linker, path, false)))
		return true;
	say("%s: its libraries cannot be listed", path);
	libraries_fini(libraries);
	return false;
}

/*
 * If the linker cannot find a library, its message is dropped, and only the object itself is added.
 */
bool libraries_of_object(struct libraries *libraries, const char *program, const char *object)
{
	char path[PATH_MAX], linker[PATH_MAX] = "", copy[PATH_MAX];
	int is = libraries_find_program(program, path) ? 1 : -1;

	for (int i = 0; is == 1 && i < SCRIPTS_MAX; i++)
		is = look_at(path, linker);
	if (!libraries_add(libraries, object))
		return false;
	if (is == 0 && *linker && snprintf(copy, sizeof(copy), "%s", object) < (int)sizeof(copy))
		run_linker(libraries, linker, copy, true);
	return true;
}

/*
 * If the file was deleted, its path has the suffix " (deleted)". So the file cannot be opened and
 * has no functions. This is right, because a file that has the original name now would be another
 * build.
 */
int libraries_of_process(struct libraries *libraries, pid_t pid)
{
	char line[PATH_MAX + 256], path[64];
	FILE *maps;
	int err = 0;

	memset(libraries, 0, sizeof(*libraries));
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno;
	while (!err && fgets(line, sizeof(line), maps)) {
		char mode[8] = "", *file = strchr(line, '/');

		if (sscanf(line, "%*s %7s", mode) != 1 || !strchr(mode, 'x') || !file)
			continue;
		file[strcspn(file, "\n")] = '\0';
		if (!libraries_add(libraries, file))
			err = ENOMEM;
	}
	fclose(maps);
	return err;
}
