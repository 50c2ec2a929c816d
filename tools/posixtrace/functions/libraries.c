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
#include <paths.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/say.h"
#include "base/vec.h"

/* An interpreter may be a script; execve() follows 5 of them. */
#define SCRIPTS_MAX 6

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

/* The kinds of files for look_at(). After LOOK_FAILED errno has the reason. */
enum look { LOOK_FAILED, LOOK_SCRIPT, LOOK_PROGRAM };

/*
 * Reads the begin of a file. If the file is a script, replaces path by the path of its interpreter.
 * execvp() lets the shell run a file that the kernel does not know, so such a file is a script of
 * the shell. For an ELF file, stores the path of its dynamic linker in linker, or "" if it has
 * none. The file is opened with O_NONBLOCK, since the path may be that of a FIFO. The offsets of a
 * hostile file are only passed to pread(), which refuses wrong ones. Sizes are compared with the
 * buffers.
 */
static enum look look_at(char path[PATH_MAX], char linker[PATH_MAX])
{
	char text[PATH_MAX + 2] = "";
	Elf64_Ehdr elf;
	Elf64_Phdr header;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err = errno;
	bool is_file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	ssize_t n = is_file ? pread(fd, text, sizeof(text) - 1, 0) : -1;
	enum look look = LOOK_SCRIPT;

	*linker = '\0';
	if (n < 0) {
		/* execve() refuses whatever is not a file with this error. */
		err = fd < 0 ? err : is_file ? errno : EACCES;
		look = LOOK_FAILED;
	} else if (n >= (ssize_t)sizeof(elf) && !memcmp(text, ELFMAG, SELFMAG)) {
		look = LOOK_PROGRAM;
		memcpy(&elf, text, sizeof(elf));
		for (unsigned i = 0; i < elf.e_phnum; i++) {
			if (pread(fd, &header, sizeof(header),
				  (off_t)(elf.e_phoff + i * sizeof(header))) != sizeof(header))
				break;
			if (header.p_type == PT_INTERP && header.p_filesz < PATH_MAX &&
			    pread(fd, linker, header.p_filesz, (off_t)header.p_offset) > 0)
				linker[header.p_filesz] = '\0';
		}
	} else {
		char *begin = text + 2 + strspn(text + 2, " \t");

		begin[strcspn(begin, " \t\n")] = '\0';
		snprintf(path, PATH_MAX, "%s",
			 n > 2 && !memcmp(text, "#!", 2) && *begin ? begin : _PATH_BSHELL);
	}
	if (fd >= 0)
		close(fd);
	errno = err;
	return look;
}

/* Replaces the path of a script by that of the program that runs it. */
static enum look look_behind_scripts(char path[PATH_MAX], char linker[PATH_MAX])
{
	enum look look = LOOK_SCRIPT;

	for (int i = 0; look == LOOK_SCRIPT && i < SCRIPTS_MAX; i++)
		look = look_at(path, linker);
	if (look != LOOK_SCRIPT)
		return look;
	errno = ELOOP;
	return LOOK_FAILED;
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
 * dropped. Returns 0 or an error number.
 */
static int run_linker(struct libraries *libraries, char *linker, char *program, bool quiet)
{
	char list[] = "--list", *argv[] = { linker, list, program, NULL };
	posix_spawn_file_actions_t actions;
	char line[PATH_MAX + 256];
	int ends[2], err;
	bool good = true;
	FILE *from;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
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
	return good ? err : ENOMEM;
}

bool libraries_of_program(struct libraries *libraries, const char *name)
{
	char path[PATH_MAX], linker[PATH_MAX], program[PATH_MAX];
	int err;

	memset(libraries, 0, sizeof(*libraries));
	if (!libraries_find_program(name, path)) {
		say("%s: %s", name, strerror(ENOENT));
		return false;
	}
	memcpy(program, path, sizeof(program));
	if (look_behind_scripts(path, linker) == LOOK_FAILED) {
		err = errno;
		if (!strcmp(path, program))
			say("%s: %s", path, strerror(err));
		else
			say("%s: its interpreter %s: %s", program, path, strerror(err));
		return false;
	}
	err = libraries_add(libraries, path) ? 0 : ENOMEM;
	if (!err && *linker)
		err = run_linker(libraries, linker, path, false);
	if (!err)
		return true;
	if (*linker)
		say("%s: its dynamic linker %s cannot list its libraries: %s", path, linker,
		    strerror(err));
	else
		say("%s: %s", path, strerror(err));
	libraries_fini(libraries);
	return false;
}

/*
 * If the linker cannot find a library, its message is dropped, and only the object itself is added.
 */
bool libraries_of_object(struct libraries *libraries, const char *program, const char *object)
{
	char path[PATH_MAX], linker[PATH_MAX], copy[PATH_MAX];
	bool has_program = libraries_find_program(program, path) &&
			   look_behind_scripts(path, linker) == LOOK_PROGRAM;

	if (!libraries_add(libraries, object))
		return false;
	if (has_program && *linker &&
	    snprintf(copy, sizeof(copy), "%s", object) < (int)sizeof(copy))
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
