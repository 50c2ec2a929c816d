/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PTX_PRELOAD_IMAGE_H /* posixtrace, which compiles this file too, has another include path */
# include "preload/image.h"
#endif

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCRIPTS_DEEP 5   /* as many interpreters of interpreters execve(2) takes */
#define LINE_BYTES   256 /* as much of a script's first line it reads */
#define HEADERS_MAX  64  /* of a program; the usual ones have 13 */

#if defined __x86_64__
# define MACHINE EM_X86_64
#elif defined __aarch64__
# define MACHINE EM_AARCH64
#else
# define MACHINE EM_NONE /* any */
#endif

static ssize_t read_at(int fd, void *buffer, size_t bytes, uint64_t offset)
{
	ssize_t n;

	do
		n = syscall(SYS_pread64, fd, buffer, bytes, (off64_t)offset);
	while (n < 0 && errno == EINTR);
	return n;
}

static int open_at(int folder, const char *path)
{
	/* Not O_NONBLOCK: a pipe of that name cannot be executed, but opening it could wait. */
	return (int)syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static bool begins(const char *text, const char *with)
{
	while (*with)
		if (*text++ != *with++)
			return false;
	return true;
}

static const char *last_part(const char *path)
{
	const char *part = path;

	for (; *path; path++)
		if (*path == '/')
			part = path + 1;
	return part;
}

/*
 * The names of the dynamic linkers of glibc: ld-linux-x86-64.so.2, ld-linux-aarch64.so.1,
 * ld64.so.2, ...
 */
static bool is_of_glibc(const char *loader)
{
	const char *name = last_part(loader);

	return begins(name, "ld-linux") || begins(name, "ld64.so") || begins(name, "ld.so.") ||
	       begins(name, "ld-2.");
}

/* A dynamic linker that is executed itself, with a program as its argument, has none. */
static bool is_foreign_loader(const char *path)
{
	const char *name = last_part(path);

	return begins(name, "ld-musl") || begins(name, "ld64-uClibc") ||
	       begins(name, "ld-uClibc") || begins(name, "linker64");
}

/*
 * Only the fields that both classes have in the same place are looked at, but of programs of our
 * own.
 */
static enum shim_image of_elf(int fd, const ElfW(Ehdr) *elf, const char *path, char *loader)
{
	bool is_ours = elf->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
		       (MACHINE == EM_NONE || elf->e_machine == MACHINE);
	ElfW(Phdr) header;

	if (!is_ours)
		return SHIM_IMAGE_MACHINE;
	if (elf->e_phentsize != sizeof(header) || elf->e_phnum > HEADERS_MAX)
		return SHIM_IMAGE_UNKNOWN;
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		size_t bytes = SHIM_LOADER_BYTES - 1;
		ssize_t n;

		if (read_at(fd, &header, sizeof(header), elf->e_phoff + i * sizeof(header)) !=
		    (ssize_t)sizeof(header))
			return SHIM_IMAGE_UNKNOWN;
		if (header.p_type != PT_INTERP)
			continue;
		if (header.p_filesz < bytes)
			bytes = header.p_filesz;
		n = read_at(fd, loader, bytes, header.p_offset);
		loader[n < 0 ? 0 : n] = '\0';
		if (n <= 0)
			return SHIM_IMAGE_UNKNOWN;
		return is_of_glibc(loader) ? SHIM_IMAGE_GLIBC : SHIM_IMAGE_FOREIGN;
	}
	return is_foreign_loader(path) ? SHIM_IMAGE_FOREIGN : SHIM_IMAGE_STATIC;
}

/* The interpreter of a script, from its first line. False: it names none. */
static bool interpreter(char *line, size_t bytes, const char **path)
{
	size_t i = 2;

	while (i < bytes && (line[i] == ' ' || line[i] == '\t'))
		i++;
	*path = line + i;
	while (i < bytes && line[i] && line[i] != ' ' && line[i] != '\t' && line[i] != '\n')
		i++;
	line[i] = '\0';
	return **path;
}

enum shim_image shim_image_of(int folder, const char *path, char loader[SHIM_LOADER_BYTES])
{
	enum shim_image image = SHIM_IMAGE_UNKNOWN;
	union {
		ElfW(Ehdr) elf;
		char line[LINE_BYTES + 1];
	} first;
	int saved = errno;

	loader[0] = '\0';
	for (int deep = 0; deep <= SCRIPTS_DEEP; deep++) {
		bool is_descriptor = folder >= 0 && !*path, is_script = false;
		int fd = is_descriptor ? folder : open_at(folder, path);
		ssize_t n;

		if (fd < 0)
			break;
		n = read_at(fd, first.line, LINE_BYTES, 0);
		if (n >= (ssize_t)sizeof(first.elf) && begins(first.line, ELFMAG))
			image = of_elf(fd, &first.elf, path, loader);
		else if (n > 2 && begins(first.line, "#!"))
			is_script = interpreter(first.line, (size_t)n, &path);
		if (!is_descriptor)
			syscall(SYS_close, fd);
		if (!is_script)
			break;
		folder = AT_FDCWD;
	}
	errno = saved;
	return image;
}

enum shim_image shim_image_find(const char *name, const char *folders,
				char loader[SHIM_LOADER_BYTES])
{
	char path[PATH_MAX];
	const char *c = name;

	while (*c && *c != '/')
		c++;
	if (*c)
		return shim_image_of(AT_FDCWD, name, loader);
	loader[0] = '\0';
	if (!folders)
		folders = "/bin:/usr/bin";
	for (const char *next = folders; *name && next; folders = next) {
		size_t len = 0;
		int fd, saved = errno;

		while (folders[len] && folders[len] != ':')
			len++;
		next = folders[len] ? folders + len + 1 : NULL;
		if (len + (size_t)(c - name) + 2 > sizeof(path))
			continue;
		for (size_t i = 0; i < len; i++)
			path[i] = folders[i];
		if (len)
			path[len++] = '/';
		for (const char *from = name; from <= c; from++)
			path[len++] = *from;
		/* What cannot be executed is passed over, as execvp() does. */
		fd = syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0 ? 0 : -1;
		errno = saved;
		if (fd == 0)
			return shim_image_of(AT_FDCWD, path, loader);
	}
	return SHIM_IMAGE_UNKNOWN;
}

int shim_image_is_missing(const char *path)
{
	int saved = errno, fd = open_at(AT_FDCWD, path), err = errno;

	errno = saved;
	if (fd < 0)
		return err == ENOENT || err == ENOTDIR || err == EACCES || err == ELOOP;
	syscall(SYS_close, fd);
	errno = saved;
	return 0;
}
