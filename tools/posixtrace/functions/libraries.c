/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libraries.c - asks the dynamic linker which libraries it would load (ld.so --list), or reads
 * /proc/PID/maps.
 *
 * The tool does not compute the list itself, because the list depends on caches, RPATH,
 * LD_LIBRARY_PATH and the hardware. The tool does not use ldd(1), because ldd(1) may execute the
 * program.
 */
#include "functions/libraries.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/say.h"
#include "base/vec.h"

/* The file of a program, and at most 5 interpreters in turn, as execve() follows them. */
#define FILES_MAX 6
/* execve() searches for the path of the interpreter in this number of bytes of a script. */
#define LINE_BYTES 256
/* execve() refuses an ELF file whose program headers have more bytes. */
#define HEADERS_BYTES 4096

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

/*
 * Returns whether execve() may execute this file; if not, errno has the reason. A folder may have
 * the permission X_OK, but it is not a program.
 */
static bool is_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if (S_ISREG(st.st_mode))
		return !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS);
	errno = EACCES;
	return false;
}

bool libraries_find_program(const char *name, char *path)
{
	const char *folders = getenv("PATH");
	char found[PATH_MAX];
	int err = ENOENT;

	if (strchr(name, '/')) {
		if (!realpath(name, path))
			snprintf(path, PATH_MAX, "%s", name);
		errno = ENAMETOOLONG;
		return strlen(name) < PATH_MAX;
	}
	/* An empty part of the list, or an empty list, means the current folder. */
	for (const char *p = folders ? folders : "/bin:/usr/bin"; *name && p;) {
		int len = (int)strcspn(p, ":");

		if (snprintf(found, PATH_MAX, "%.*s%s%s", len, p, len ? "/" : "", name) <
		    PATH_MAX) {
			if (is_executable(found) && realpath(found, path))
				return true;
			/*
			 * execvp() continues after a refused file. It reports this refusal if it
			 * finds no other file.
			 */
			if (errno == EACCES)
				err = EACCES;
		}
		p = p[len] ? p + len + 1 : NULL;
	}
	errno = err;
	return false;
}

/* The kinds of files for look_at(). After LOOK_FAILED errno has the reason. */
enum look { LOOK_FAILED, LOOK_REFUSED, LOOK_DEEP, LOOK_SCRIPT, LOOK_PROGRAM };

/* The facts of a file. */
struct look_at {
	char linker[PATH_MAX]; /* "" if the program has none */
	const char *why;       /* after LOOK_REFUSED: why the kernel does not execute an ELF file */
	uint64_t offset;       /* after LOOK_REFUSED: the offset of the error in the file */
};

static enum look refuse_elf(struct look_at *at, uint64_t offset, const char *why)
{
	at->offset = offset;
	at->why = why;
	return LOOK_REFUSED;
}

/*
 * Reads exactly "bytes" bytes at an offset. The conversion makes an offset above the greatest off_t
 * negative, and pread() refuses a negative offset.
 */
static bool read_exactly(int fd, void *to, size_t bytes, uint64_t offset)
{
	return pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Stores the path of the dynamic linker. "offset" is the offset of the header in the file. */
static enum look look_at_interpreter(int fd, const Elf64_Phdr *header, uint64_t offset,
				     struct look_at *at)
{
	const uint64_t bytes = header->p_filesz;

	if (bytes < 2 || bytes > sizeof(at->linker))
		return refuse_elf(at, offset + offsetof(Elf64_Phdr, p_filesz),
				  "the path of its dynamic linker is too short or too long");
	if (read_exactly(fd, at->linker, bytes, header->p_offset) && !at->linker[bytes - 1])
		return LOOK_PROGRAM;
	*at->linker = '\0';
	return refuse_elf(at, header->p_offset,
			  "the path of its dynamic linker has no NUL at its end");
}

/*
 * Finds the dynamic linker of an ELF file by the rules of the kernel. The first PT_INTERP counts.
 * The kernel does not execute a file with headers that are not readable, or with a path that has no
 * NUL at its end. Programs of 32 bits or of another byte order, which an emulator may run, have
 * other headers. Their linker is not needed, because their functions cannot be traced.
 */
static enum look look_at_elf(int fd, const Elf64_Ehdr *elf, struct look_at *at)
{
	Elf64_Phdr header;

	if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_ident[EI_DATA] != ELFDATA2LSB)
		return LOOK_PROGRAM;
	if (elf->e_type != ET_EXEC && elf->e_type != ET_DYN)
		return refuse_elf(at, offsetof(Elf64_Ehdr, e_type), "its type is not a program");
	if (elf->e_phentsize != sizeof(header))
		return refuse_elf(at, offsetof(Elf64_Ehdr, e_phentsize),
				  "its program headers have a wrong size");
	if (!elf->e_phnum || elf->e_phnum * sizeof(header) > HEADERS_BYTES)
		return refuse_elf(at, offsetof(Elf64_Ehdr, e_phnum),
				  "it has no program header or too many");
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		uint64_t offset = elf->e_phoff + i * sizeof(header);

		if (!read_exactly(fd, &header, sizeof(header), offset))
			return refuse_elf(at, offset,
					  "a program header is behind the end of the file");
		if (header.p_type == PT_INTERP)
			return look_at_interpreter(fd, &header, offset, at);
	}
	return LOOK_PROGRAM;
}

/*
 * Finds the interpreter in the first bytes of a script. "text" has a NUL behind these bytes. The
 * kernel does not execute a script if the path does not end within the first LINE_BYTES bytes.
 * Returns NULL for such a script and for a script without an interpreter.
 */
static char *find_interpreter(char text[LINE_BYTES + 1], size_t n)
{
	char *begin = text + 2 + strspn(text + 2, " \t");
	size_t len = strcspn(begin, " \t\n");

	if (n < 2 || memcmp(text, "#!", 2) || !len || begin + len == text + LINE_BYTES)
		return NULL;
	begin[len] = '\0';
	return begin;
}

/*
 * Reads the beginning of a file. If the file is a script, replaces "path" by the path of its
 * interpreter. If the kernel does not know the format of a file, execvp() runs it with the shell.
 * So such a file counts as a script of the shell. The file is opened with O_NONBLOCK, because the
 * path may belong to a FIFO. The offsets of a hostile file are only passed to pread(), which
 * refuses wrong offsets. Sizes are compared with the buffers.
 */
static enum look look_at(char path[PATH_MAX], struct look_at *at)
{
	union {
		Elf64_Ehdr elf;
		char text[LINE_BYTES + 1];
	} first = { .text = "" };
	int fd, err;
	ssize_t n;
	enum look look = LOOK_SCRIPT;

	memset(at, 0, sizeof(*at));
	if (!is_executable(path))
		return LOOK_FAILED;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return LOOK_FAILED;
	n = pread(fd, first.text, LINE_BYTES, 0);
	err = errno;
	if (n < 0) {
		look = LOOK_FAILED;
	} else if (n >= SELFMAG && !memcmp(first.text, ELFMAG, SELFMAG)) {
		look = n < (ssize_t)sizeof(first.elf) ?
			       refuse_elf(at, (uint64_t)n, "its header is incomplete") :
			       look_at_elf(fd, &first.elf, at);
	} else {
		char *interpreter = find_interpreter(first.text, (size_t)n);

		snprintf(path, PATH_MAX, "%s", interpreter ? interpreter : _PATH_BSHELL);
	}
	close(fd);
	errno = err;
	return look;
}

/* Replaces the path of a script by the path of the program that runs the script. */
static enum look look_behind_scripts(char path[PATH_MAX], struct look_at *at)
{
	enum look look = LOOK_SCRIPT;

	for (int i = 0; look == LOOK_SCRIPT && i < FILES_MAX; i++)
		look = look_at(path, at);
	return look == LOOK_SCRIPT ? LOOK_DEEP : look;
}

/*
 * Adds the path in a line "NAME => PATH (ADDRESS)" or "PATH (ADDRESS)". Other lines, such as "not
 * found" and the line of the vdso, have no path and are ignored. Returns false if memory is
 * lacking.
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
 * Runs the dynamic linker that the file names. The linker prints the files that it would load, and
 * executes none of them. The linker gets the environment of this command, which the traced program
 * will also get. Executing this linker is no risk, because the user who traces the program executes
 * the same linker with the program. The function blocks until the linker has ended. If "quiet" is
 * true, the messages of the linker are dropped. Returns 0 or an error number.
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

/*
 * Prints why a program cannot be executed. "path" is the file at the end of its chain of
 * interpreters.
 */
static void say_refusal(enum look look, const char *program, const char *path,
			const struct look_at *at)
{
	const char *reason = strerror(look == LOOK_DEEP ? ELOOP : errno);
	char text[160];

	if (look == LOOK_REFUSED) {
		snprintf(text, sizeof(text), "offset %llu: %s, so the kernel does not execute it",
			 (unsigned long long)at->offset, at->why);
		reason = text;
	}
	/* After too many scripts, the message is about the first file. */
	if (look == LOOK_DEEP || !strcmp(path, program))
		say("%s: %s", program, reason);
	else
		say("%s: its interpreter %s: %s", program, path, reason);
}

bool libraries_of_program(struct libraries *libraries, const char *name)
{
	char path[PATH_MAX], program[PATH_MAX];
	struct look_at at;
	enum look look;
	int err;

	memset(libraries, 0, sizeof(*libraries));
	if (!libraries_find_program(name, path)) {
		say("%s: %s", name, strerror(errno));
		return false;
	}
	memcpy(program, path, sizeof(program));
	look = look_behind_scripts(path, &at);
	if (look != LOOK_PROGRAM) {
		say_refusal(look, program, path, &at);
		return false;
	}
	err = libraries_add(libraries, path) ? 0 : ENOMEM;
	if (!err && *at.linker)
		err = run_linker(libraries, at.linker, path, false);
	if (!err)
		return true;
	if (*at.linker)
		say("%s: its dynamic linker %s cannot list its libraries: %s", path, at.linker,
		    strerror(err));
	else
		say("%s: %s", path, strerror(err));
	libraries_fini(libraries);
	return false;
}

/*
 * If the linker cannot find a library, the linker's message is dropped, and only the object itself
 * is added.
 */
bool libraries_of_object(struct libraries *libraries, const char *program, const char *object)
{
	char path[PATH_MAX], copy[PATH_MAX];
	struct look_at at;
	bool has_program = libraries_find_program(program, path) &&
			   look_behind_scripts(path, &at) == LOOK_PROGRAM;

	if (!libraries_add(libraries, object))
		return false;
	if (has_program && *at.linker &&
	    snprintf(copy, sizeof(copy), "%s", object) < (int)sizeof(copy))
		run_linker(libraries, at.linker, copy, true);
	return true;
}

/*
 * If a mapped file was deleted, the kernel adds " (deleted)" to its path in /proc/PID/maps. So the
 * file cannot be opened and has no functions. This is right, because a file that has the original
 * name now is another build.
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
