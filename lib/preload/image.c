/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/image.c - examines the file of a program before it is executed.
 *
 * The files are read by raw system calls, because the functions run in children of vfork(), and
 * in programs under a sanitizer. Files are hostile: every size and offset in them is bounded.
 */
/*
 * The tool includes this file, too. The tool has another include path, so it includes the header
 * before this file.
 */
#ifndef PTX_PRELOAD_IMAGE_H
# include "preload/image.h"
#endif

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCRIPTS_DEEP 5   /* how many scripts in turn execve(2) follows to their interpreters */
#define LINE_BYTES   256 /* bytes that execve(2) reads of a script's first line */
#define HEADERS_MAX  64  /* program headers that are read; most programs have 13 */
#define DYNAMIC_MAX  128 /* dynamic entries that are read; a dynamic linker has about 20 */

#if defined __x86_64__
# define MACHINE EM_X86_64
#elif defined __aarch64__
# define MACHINE EM_AARCH64
#else
# define MACHINE EM_NONE /* any */
#endif

/* Reads at an offset. Returns the number of bytes, or -1 with errno. */
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
	/*
	 * O_NONBLOCK is needed, because opening a pipe of that name could wait for ever. (A pipe
	 * cannot be executed.)
	 */
	return (int)syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/*
 * Returns whether the text begins with `with`. Replaces strncmp(), of which a sanitizer may have a
 * version of its own.
 */
static bool image_begins(const char *text, const char *with)
{
	while (*with)
		if (*text++ != *with++)
			return false;
	return true;
}

/*
 * Returns the part of the path behind its last slash. Replaces basename(), of which a sanitizer may
 * have a version of its own. The C library has two versions, and one of them changes its argument.
 */
static const char *last_part(const char *path)
{
	const char *part = path;

	for (; *path; path++)
		if (*path == '/')
			part = path + 1;
	return part;
}

/*
 * Returns whether this is the name of a dynamic linker of glibc: ld-linux-x86-64.so.2,
 * ld-linux-aarch64.so.1, ld64.so.2, ...
 */
static bool is_of_glibc(const char *loader)
{
	const char *name = last_part(loader);

	return image_begins(name, "ld-linux") || image_begins(name, "ld64.so") ||
	       image_begins(name, "ld.so.") || image_begins(name, "ld-2.");
}

/*
 * Returns whether this is the name of a dynamic linker of another C library. A dynamic linker can
 * be executed itself, with a program as its argument. It has no interpreter of its own, but it
 * would try to load the shim.
 */
static bool is_foreign_loader(const char *path)
{
	const char *name = last_part(path);

	return image_begins(name, "ld-musl") || image_begins(name, "ld64-uClibc") ||
	       image_begins(name, "ld-uClibc") || image_begins(name, "linker64");
}

/*
 * Reads a program header. Returns false if it cannot be read whole. The caller has checked the size
 * of a header in the file.
 */
static bool read_header(int fd, const ElfW(Ehdr) *elf, unsigned i, ElfW(Phdr) *header)
{
	return read_at(fd, header, sizeof(*header), elf->e_phoff + i * sizeof(*header)) ==
	       (ssize_t)sizeof(*header);
}

/* Returns the offset in the file of an address, or 0 if the file has no such address. */
static uint64_t offset_of(int fd, const ElfW(Ehdr) *elf, uint64_t address)
{
	ElfW(Phdr) header;

	for (unsigned i = 0; i < elf->e_phnum && read_header(fd, elf, i, &header); i++)
		if (header.p_type == PT_LOAD && address >= header.p_vaddr &&
		    address - header.p_vaddr < header.p_filesz)
			return address - header.p_vaddr + header.p_offset;
	return 0;
}

/*
 * Returns whether a file without an interpreter is the dynamic linker of glibc, which processes
 * LD_PRELOAD when it is executed itself. A user may execute it by a link, a copy or a descriptor.
 * So its DT_SONAME is compared. A position-independent static program has no DT_SONAME.
 */
static bool is_loader_itself(int fd, const ElfW(Ehdr) *elf, const ElfW(Phdr) *dynamic)
{
	uint64_t names = 0, name = 0;
	char soname[32];
	ElfW(Dyn) entry;
	ssize_t n;

	for (uint64_t i = 0; i < DYNAMIC_MAX && i < dynamic->p_filesz / sizeof(entry); i++) {
		if (read_at(fd, &entry, sizeof(entry), dynamic->p_offset + i * sizeof(entry)) !=
		    (ssize_t)sizeof(entry) || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_SONAME)
			name = entry.d_un.d_val;
		else if (entry.d_tag == DT_STRTAB)
			names = entry.d_un.d_ptr;
	}
	if (!name || !names)
		return false;
	n = read_at(fd, soname, sizeof(soname) - 1, offset_of(fd, elf, names) + name);
	soname[n < 0 ? 0 : n] = '\0';
	return is_of_glibc(soname);
}

/*
 * Returns the kind of an ELF program, without regard to the mode of its file. The fields that show
 * the class and the machine have the same place in 32-bit and 64-bit files. The other fields are
 * read only if the file is for this machine. Sizes and offsets are hostile: each read is bounded.
 */
static enum shim_image examine_elf(int fd, const ElfW(Ehdr) *elf, const char *path, char *loader)
{
	bool is_ours = elf->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
		       (MACHINE == EM_NONE || elf->e_machine == MACHINE);
	ElfW(Phdr) header, dynamic = { .p_filesz = 0 };

	if (!is_ours)
		return SHIM_IMAGE_MACHINE;
	/*
	 * All linkers write headers of the standard size. A file with another size is not examined.
	 */
	if (elf->e_phentsize != sizeof(header) || elf->e_phnum > HEADERS_MAX)
		return SHIM_IMAGE_UNKNOWN;
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		size_t bytes = SHIM_LOADER_BYTES - 1;
		ssize_t n;

		if (!read_header(fd, elf, i, &header))
			return SHIM_IMAGE_UNKNOWN;
		if (header.p_type == PT_DYNAMIC)
			dynamic = header;
		if (header.p_type != PT_INTERP)
			continue;
		/* A longer path is shortened; no dynamic linker has such a path. */
		if (header.p_filesz < bytes)
			bytes = header.p_filesz;
		n = read_at(fd, loader, bytes, header.p_offset);
		loader[n < 0 ? 0 : n] = '\0';
		if (n <= 0)
			return SHIM_IMAGE_UNKNOWN;
		return is_of_glibc(loader) ? SHIM_IMAGE_GLIBC : SHIM_IMAGE_FOREIGN;
	}
	if (is_foreign_loader(path))
		return SHIM_IMAGE_FOREIGN;
	return is_loader_itself(fd, elf, &dynamic) ? SHIM_IMAGE_GLIBC : SHIM_IMAGE_STATIC;
}

/*
 * Returns whether execve(2) gives the program other rights than this process has, because of the
 * mode of its file. The dynamic linker then ignores LD_PRELOAD. The mode has no effect on a file
 * system that is mounted with nosuid, and after PR_SET_NO_NEW_PRIVS.
 */
static bool changes_rights(int fd)
{
	struct statfs system;
	struct stat file;

	if (syscall(SYS_fstat, fd, &file) || !(file.st_mode & (S_ISUID | S_ISGID)))
		return false;
	/*
	 * A set-group-ID bit without the group's right to execute means mandatory locks and changes
	 * no rights.
	 */
	if (!((file.st_mode & S_ISUID) && file.st_uid != (uid_t)syscall(SYS_geteuid)) &&
	    !((file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) &&
	      file.st_gid != (gid_t)syscall(SYS_getegid)))
		return false;
	return syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L) != 1 &&
	       (syscall(SYS_fstatfs, fd, &system) || !(system.f_flags & ST_NOSUID));
}

/*
 * Returns the kind of a program, with regard to the mode of its file. For a script, the caller
 * passes the interpreter: the mode of the script itself has no effect.
 */
static enum shim_image examine_program(int fd, const ElfW(Ehdr) *elf, const char *path,
				       char *loader)
{
	const enum shim_image image = examine_elf(fd, elf, path, loader);

	return image == SHIM_IMAGE_GLIBC && changes_rights(fd) ? SHIM_IMAGE_RIGHTS : image;
}

/*
 * Finds the path of the interpreter in the first line of a script. Returns false if there is no
 * path, or if the path does not end within the bytes that execve(2) reads: the kernel refuses such
 * a script. `line` has room for a NUL behind its bytes.
 */
static bool find_interpreter(char *line, size_t bytes, const char **path)
{
	size_t i = 2;

	while (i < bytes && (line[i] == ' ' || line[i] == '\t'))
		i++;
	*path = line + i;
	while (i < bytes && line[i] && line[i] != ' ' && line[i] != '\t' && line[i] != '\n')
		i++;
	line[i] = '\0';
	return **path && i < LINE_BYTES;
}

/*
 * Returns the kind of a program. Follows a script to its interpreter, which may be a script itself.
 * The path of an interpreter is relative to the current folder. *is_folder becomes true if the
 * first path names a folder, because faccessat(2) with X_OK succeeds for most folders.
 */
static enum shim_image examine_file(int folder, const char *path, char loader[SHIM_LOADER_BYTES],
				    bool *is_folder)
{
	enum shim_image image = SHIM_IMAGE_UNKNOWN;
	/* The header of an ELF file and the first line of a script are in the same buffer. */
	union {
		ElfW(Ehdr) elf;
		char line[LINE_BYTES + 1];
	} first;
	int saved = errno;

	loader[0] = '\0';
	*is_folder = false;
	for (int deep = 0; deep <= SCRIPTS_DEEP; deep++) {
		/*
		 * An empty path with a descriptor means the descriptor's own file, as for
		 * fexecve(3).
		 */
		bool is_descriptor = folder >= 0 && !*path, is_script = false;
		int fd = is_descriptor ? folder : open_at(folder, path);
		ssize_t n;

		/*
		 * EMFILE does not show whether the file exists: the kernel first looks for a free
		 * descriptor.
		 */
		if (fd < 0 && errno == EMFILE)
			image = SHIM_IMAGE_UNOPENED;
		if (fd < 0)
			break;
		n = read_at(fd, first.line, LINE_BYTES, 0);
		*is_folder = deep == 0 && n < 0 && errno == EISDIR;
		/*
		 * A file that is shorter than an ELF header, or of another format, remains UNKNOWN.
		 * LD_PRELOAD is not changed for it.
		 */
		if (n >= (ssize_t)sizeof(first.elf) && image_begins(first.line, ELFMAG))
			image = examine_program(fd, &first.elf, path, loader);
		/*
		 * The interpreter's path points into the buffer. The next file is opened by this
		 * path before the buffer is overwritten.
		 */
		else if (n > 2 && image_begins(first.line, "#!"))
			is_script = find_interpreter(first.line, (size_t)n, &path);
		if (!is_descriptor)
			syscall(SYS_close, fd);
		if (!is_script)
			break;
		folder = AT_FDCWD;
	}
	errno = saved;
	return image;
}

enum shim_image shim_image_of(int folder, const char *path, char loader[SHIM_LOADER_BYTES])
{
	bool is_folder;

	return examine_file(folder, path, loader, &is_folder);
}

/*
 * Searches as execvp(3) does. execvp(3) itself cannot be called here, because it executes the
 * program.
 */
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
	/* These folders are the default of execvp(3) if PATH is not set. */
	if (!folders)
		folders = "/bin:/usr/bin";
	/* An empty part of the list means the current folder. */
	for (const char *next = folders; *name && next; folders = next) {
		enum shim_image image;
		size_t len = 0;
		bool is_folder, can_execute;
		int saved = errno;

		/* The parts of the list are separated by colons. */
		while (folders[len] && folders[len] != ':')
			len++;
		next = folders[len] ? folders + len + 1 : NULL;
		/* A path that is too long is ignored; execvp(3) ignores it as well. */
		if (len + (size_t)(c - name) + 2 > sizeof(path))
			continue;
		for (size_t i = 0; i < len; i++)
			path[i] = folders[i];
		if (len)
			path[len++] = '/';
		for (const char *from = name; from <= c; from++)
			path[len++] = *from;
		/* Like execvp(), the function skips folders and files that cannot be executed. */
		can_execute = syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0;
		errno = saved;
		if (!can_execute)
			continue;
		image = examine_file(AT_FDCWD, path, loader, &is_folder);
		if (!is_folder)
			return image;
	}
	return SHIM_IMAGE_UNKNOWN;
}

/*
 * Only some errors mean that the file does not exist or cannot be reached. After other errors, such
 * as EMFILE, it is unknown whether the file exists.
 */
int shim_image_is_missing(const char *path)
{
	int saved = errno, fd = open_at(AT_FDCWD, path), err = errno;

	errno = saved;
	if (fd < 0)
		return err == ENOENT || err == ENOTDIR || err == EACCES || err == ELOOP;
	syscall(SYS_close, fd);
	/*
	 * A process that has changed its user can still have capabilities that it loses when it
	 * executes the program. access(2) ignores these capabilities.
	 */
#ifdef SYS_access
	err = syscall(SYS_access, path, R_OK) ? errno : 0;
#else
	err = syscall(SYS_faccessat, AT_FDCWD, path, R_OK) ? errno : 0;
#endif
	errno = saved;
	return err == EACCES;
}
