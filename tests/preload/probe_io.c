/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/probe.h"

static char buffer[100];

static int io(int argc, char **argv)
{
	struct iovec parts[2] = { { buffer, 10 }, { buffer + 10, 20 } };
	int fd, other;
	FILE *file;

	MUST(argc == 1);
	errno = 4711;
	fd = open(argv[0], O_RDWR | O_CREAT | O_EXCL, 0640);
	MUST(fd >= 0);
	MUST(write(fd, buffer, 100) == 100);
	MUST(pwrite(fd, buffer, 50, 100) == 50);
	MUST(writev(fd, parts, 2) == 30);
	MUST(pwritev(fd, parts, 2, 7) == 30);
	MUST(pread(fd, buffer, 20, 5) == 20);
	MUST(preadv(fd, parts, 2, 5) == 30);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	MUST(read(fd, buffer, 30) == 30);
	MUST(readv(fd, parts, 2) == 30);
	MUST(fsync(fd) == 0 && fdatasync(fd) == 0);
	other = openat(AT_FDCWD, "/dev/null", O_WRONLY);
	MUST(other >= 0 && sendfile(other, fd, NULL, 40) == 40);
	MUST(errno == 4711);
	MUST(close(other) == 0);
	MUST(close(other) == -1 && errno == EBADF);
	MUST(open("/no/such/folder/x", O_RDONLY) == -1 && errno == ENOENT);
	MUST(open((const char *)(uintptr_t)8, O_RDONLY) == -1 && errno == EFAULT);
	MUST(read(other, buffer, 1) == -1 && errno == EBADF);
	errno = 4711;
	file = fopen(argv[0], "r");
	MUST(file && fread(buffer, 1, 100, file) == 100);
	MUST(fclose(file) == 0);
	MUST(errno == 4711);
	MUST(fopen("/no/such/file", "w+") == NULL);
	return 0;
}

/*
 * Calls as a program makes them that was compiled with _FORTIFY_SOURCE, and functions for large
 * files by their names. Headers may declare them, too.
 */
extern int open_fortified(const char *path, int flags) __asm__("__open_2");
extern ssize_t read_fortified(int fd, void *to, size_t size, size_t room) __asm__("__read_chk");

static int io_variants(int argc, char **argv)
{
	int fd;

	MUST(argc == 1);
	fd = creat64(argv[0], 0600);
	MUST(fd >= 0 && pwrite64(fd, buffer, 10, 0) == 10 && close(fd) == 0);
	fd = open64(argv[0], O_RDONLY);
	MUST(fd >= 0 && pread64(fd, buffer, 10, 0) == 10 && close(fd) == 0);
	fd = open_fortified(argv[0], O_RDONLY);
	MUST(fd >= 0 && read_fortified(fd, buffer, 10, sizeof buffer) == 10 && close(fd) == 0);
	return 0;
}

/* Opens the file again, so that the buffer of the stream is empty. */
static FILE *reopen(FILE *file, const char *path)
{
	MUST(!file || fclose(file) == 0);
	file = fopen(path, "r");
	MUST(file);
	return file;
}

/*
 * glibc 2.36 reads no stream in these calls. Newer versions end the program by SIGSEGV in fread().
 */
static int io_no_stream(int argc, char **argv)
{
	FILE *volatile no_stream = NULL;
	char **volatile no_text = NULL;
	size_t size = 0;
	char line[100];

	MUST(argc == 1);
	errno = 4711;
	if (!strcmp(argv[0], "fread"))
		MUST(fread(line, 0, 7, no_stream) == 0 && errno == 4711);
	else
		MUST(getline(no_text, &size, no_stream) == -1 && errno == EINVAL);
	return 0;
}

static int io_streams(int argc, char **argv)
{
	static const char lines[] = "one\ntwo\nsix\n";
	char line[100], memory[] = "memory\n", *text = NULL;
	FILE *file, *folder, *of_memory;
	size_t size = 0;
	int pipes[2];

	MUST(argc == 1);
	file = fopen(argv[0], "w");
	MUST(file && fputs(lines, file) >= 0);
	errno = 4711;
	file = reopen(file, argv[0]);
	for (int i = 0; i < 3; i++)
		MUST(fgets(line, sizeof line, file) == line && !memcmp(line, lines + 4 * i, 4));
	MUST(!fgets(line, sizeof line, file) && !ferror(file));

	MUST(pipe(pipes) == 0 && write(pipes[1], "a\nbc", 4) == 4);
	MUST(fclose(file) == 0 && (file = fdopen(pipes[0], "r")));
	MUST(getline(&text, &size, file) == 2);
	MUST(close(pipes[1]) == 0);
	MUST(getline(&text, &size, file) == 2 && !strcmp(text, "bc"));

	file = reopen(file, argv[0]);
	MUST(getdelim(&text, &size, 'o', file) == 1 && getdelim(&text, &size, 'o', file) == 6);
	file = reopen(file, argv[0]);
	MUST(getc(file) == 'o' && getc(file) == 'n');
	file = reopen(file, argv[0]);
	MUST(getc_unlocked(file) == 'o' && getc_unlocked(file) == 'n');
	file = reopen(file, argv[0]);
	MUST(fread(line, 1, 5, file) == 5 && fread(line, 1, 7, file) == 7);
	/* Characters that the file does not have are read before the rest of the buffer. */
	file = reopen(file, argv[0]);
	MUST(fread(line, 1, 1, file) == 1 && ungetc('!', file) == '!');
	MUST(getc(file) == '!' && getc(file) == 'n' && ungetc('?', file) == '?');
	MUST(fgets(line, sizeof line, file) == line && !strcmp(line, "?e\n"));
	MUST(errno == 4711);

	folder = fopen("/", "r");
	MUST(folder && !fgets(line, sizeof line, folder) && errno == EISDIR && ferror(folder));
	of_memory = fmemopen(memory, sizeof memory, "r");
	errno = 4711;
	MUST(of_memory && fgets(line, sizeof line, of_memory) == line);
	MUST(fclose(file) == 0 && fclose(folder) == 0 && fclose(of_memory) == 0);
	MUST(errno == 4711);
	free(text);
	return 0;
}

static int io_long_path(int argc, char **argv)
{
	char path[2000];

	(void)argc, (void)argv;
	memset(path, 'x', sizeof path);
	for (size_t i = 0; i < sizeof path; i += 100)
		path[i] = '/';
	strcpy(path + sizeof path - 5, "/end");
	MUST(open(path, O_RDONLY) == -1 && errno == ENOENT);
	return 0;
}

/* Bytes without a NUL up to the end of the memory: too many for a path, or too few. */
static int io_endless_path(int argc, char **argv)
{
	const size_t half = 1 << 16;
	char *memory =
		mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)argc, (void)argv;
	MUST(memory != MAP_FAILED && munmap(memory + half, half) == 0);
	memset(memory, 'x', half);
	MUST(open(memory + half - 5000, O_RDONLY) == -1 && errno == ENAMETOOLONG);
	MUST(fopen(memory + half - 5000, "r") == NULL && errno == ENAMETOOLONG);
	MUST(open(memory + half - 50, O_RDONLY) == -1 && errno == EFAULT);
	return 0;
}

/* Whole pages of a segment, with other pages of the segment on both sides. */
static _Alignas(4096) char segment[3][4096] = { "segment", "segment", "segment" };

/*
 * Each call has a pointer to an unreadable page. It fails as without the shim: with EFAULT, or, for
 * connect(), with any error.
 */
static void pass_unreadable(char *page)
{
	struct sock_fprog filter = { 1, (struct sock_filter *)(uintptr_t)page };

	MUST(syscall(SYS_openat2, AT_FDCWD, page, page, 24L) == -1 && errno == EFAULT);
	MUST(syscall(SYS_openat2, AT_FDCWD, "/", page, 24L) == -1 && errno == EFAULT);
	MUST(syscall(SYS_openat, AT_FDCWD, page, O_RDONLY) == -1 && errno == EFAULT);
	MUST(syscall(SYS_futex, page, 0L, 0L, NULL) == -1 && errno == EFAULT);
	MUST(syscall(SYS_clone3, page, 88L) == -1 && errno == EFAULT);
	MUST(syscall(SYS_prctl, PR_SET_NAME, page) == -1 && errno == EFAULT);
	MUST(open(page, O_RDONLY) == -1 && errno == EFAULT);
	MUST(open(page + 100, O_RDONLY | O_CREAT, 0600) == -1 && errno == EFAULT);
	MUST(fopen(page, "r") == NULL && errno == EFAULT);
	MUST(connect(0, (struct sockaddr *)(uintptr_t)page, 16) == -1);
	MUST(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) == 0);
	MUST(syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == -1 &&
	     errno == EFAULT);
	MUST(syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, page) == -1 &&
	     errno == EFAULT);
	MUST(syscall(SYS_seccomp, 1L, 0L, page) == -1 && errno == EFAULT);
}

/*
 * Puts shared memory in the place of the page, and unmaps the shared memory. Returns false if the
 * system does not permit that.
 */
static bool replace_by_shared(char *page, bool by_function)
{
	const int id = shmget(IPC_PRIVATE, 4096, 0600);
	const void *at = id < 0 ? NULL : by_function ? shmat(id, page, SHM_REMAP) :
			 (void *)syscall(SYS_shmat, (long)id, page, (long)SHM_REMAP);

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	return at == page && shmdt(page) == 0;
}

/*
 * io-unreadable NUMBER: the program makes a page of the heap (even numbers) or of a segment (odd
 * numbers) unreadable, by syscall(), madvise(), posix_madvise() or shmat(). Each case has a process
 * of its own, because the shim afterwards no longer knows the heap or segment.
 */
static int io_unreadable(int argc, char **argv)
{
	const int number = argc ? atoi(argv[0]) : -1;
	const bool is_segment = number & 1;
	void *other = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *page = segment[1];
	void *break_;

	free(malloc(1000)); /* fopen() then needs no other break */
	break_ = sbrk(0);
	if (!is_segment) {
		page = (char *)(((uintptr_t)sbrk(4 * 4096) + 4095) & ~(uintptr_t)4095);
		strcpy(page, "heap");
	}
	MUST(other != MAP_FAILED && break_ != (void *)-1);
	switch (number / 2) {
	case 0:
		MUST(syscall(SYS_mprotect, page, 4096L, (long)PROT_NONE) == 0);
		break;
	case 1:
		MUST(syscall(SYS_munmap, page, 4096L) == 0);
		break;
	case 2:
		MUST(syscall(SYS_mmap, page, 4096L, (long)PROT_NONE,
			     (long)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED), -1L, 0L) ==
		     (long)page);
		break;
	case 3:
		MUST(syscall(SYS_mremap, page, 4096L, 4096L,
			     (long)(MREMAP_MAYMOVE | MREMAP_FIXED), other) == (long)other);
		break;
	case 4:
		/* MADV_GUARD_INSTALL, since Linux 6.13 */
		if (syscall(SYS_madvise, page, 4096L, 102L) == -1)
			return 77;
		break;
	case 5:
		if (madvise(page, 4096, 102) == -1)
			return 77;
		break;
	case 6:
		MUST(!is_segment && syscall(SYS_brk, break_) == (long)break_);
		page += 2 * 4096;
		break;
	case 7:
	case 8:
		if (!replace_by_shared(page, number / 2 == 7))
			return 77;
		break;
	case 9:
		if (posix_madvise(page, 4096, 102) != 0)
			return 77;
		break;
	default:
		return 2;
	}
	pass_unreadable(page);
	return 0;
}

const struct probe probes_io[] = {
	{ "io", io },
	{ "io-variants", io_variants },
	{ "io-no-stream", io_no_stream },
	{ "io-streams", io_streams },
	{ "io-long-path", io_long_path },
	{ "io-endless-path", io_endless_path },
	{ "io-unreadable", io_unreadable },
	{ 0 }
};
