/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <netdb.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "preload/probe.h"

/* Memory that is never mapped. It is a variable, so that the compiler does not warn. */
static char *volatile nowhere = (char *)(uintptr_t)8;

/* Names in the folder that the test gives. */
static void names(void)
{
	char to[100];
	struct stat got;

	MUST(mkdir("sub", 0750) == 0 && stat("sub", &got) == 0 && S_ISDIR(got.st_mode));
	MUST(mkdir("sub", 0750) == -1 && errno == EEXIST);
	errno = 4711;
	MUST(close(open("sub/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0666)) == 0);
	MUST(access("sub/file", R_OK | W_OK) == 0);
	MUST(rename("sub/file", "sub/new") == 0);
	MUST(link("sub/new", "sub/hard") == 0);
	MUST(symlink("new", "sub/soft") == 0);
	MUST(readlink("sub/soft", to, sizeof to) == 3 && !memcmp(to, "new", 3));
	MUST(lstat("sub/soft", &got) == 0 && S_ISLNK(got.st_mode));
	MUST(chmod("sub/new", 0600) == 0 && truncate("sub/new", 77) == 0);
	MUST(chown("sub/new", (uid_t)-1, (gid_t)-1) == 0);
	MUST(utimensat(AT_FDCWD, "sub/new", NULL, 0) == 0);
	MUST(unlink("sub/soft") == 0 && unlink("sub/hard") == 0);
	MUST(errno == 4711);
	MUST(stat("/no/such/file", &got) == -1 && errno == ENOENT);
	MUST(readlink("sub/new", to, sizeof to) == -1 && errno == EINVAL);
	MUST(rmdir("sub") == -1 && errno == ENOTEMPTY);
	MUST(umount("sub/nothing") == -1);
}

/* Strings that cannot be read cause the same errors as without the shim. */
static void unreadable(void)
{
	struct stat got;

	MUST(stat(nowhere, &got) == -1 && errno == EFAULT);
	MUST(unlink(nowhere) == -1 && errno == EFAULT);
	MUST(rename("sub", nowhere) == -1 && errno == EFAULT);
	MUST(renameat2(AT_FDCWD, nowhere, AT_FDCWD, nowhere, 0xff) == -1 && errno == EINVAL);
	MUST(faccessat(AT_FDCWD, nowhere, 99, 0) == -1 && errno == EINVAL);
	MUST(truncate(nowhere, -1) == -1 && errno == EINVAL);
	MUST(memfd_create(nowhere, 0) == -1 && errno == EFAULT);
	MUST(readlinkat(-1, "x", nowhere, 0) == -1 && errno == EINVAL);
}

static void folders(void)
{
	char here[4096], name[] = "sub/XXXXXX";
	struct dirent *entry;
	glob_t found;
	int entries = 0, fd;
	DIR *folder = opendir("sub");

	MUST(folder);
	errno = 4711;
	while ((entry = readdir(folder)))
		entries++;
	MUST(entries == 3 && errno == 4711);
	MUST(fstat(dirfd(folder), &(struct stat){ 0 }) == 0);
	MUST(closedir(folder) == 0 && errno == 4711);
	MUST(!opendir("sub/nothing") && errno == ENOENT);
	MUST(getcwd(here, sizeof here) && !getcwd(here, 1) && errno == ERANGE);
	MUST(realpath("sub/../sub/new", here) && !realpath("nothing", here));
	fd = mkstemp(name);
	MUST(fd >= 0 && ftruncate(fd, 5) == 0 && flock(fd, LOCK_EX) == 0 && close(fd) == 0);
	MUST(unlink(name) == 0);
	MUST(glob("sub/n*", 0, NULL, &found) == 0 && found.gl_pathc == 1);
	globfree(&found);
	MUST(glob("sub/z*", 0, NULL, &found) == GLOB_NOMATCH);
	MUST(chdir("sub") == 0 && chdir("..") == 0);
}

static void descriptors(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fds[2], fd, epoll, flags;

	errno = 4711;
	MUST(pipe2(fds, O_CLOEXEC) == 0);
	fd = fcntl(fds[0], F_DUPFD_CLOEXEC, 100);
	MUST(fd == 100 && dup2(fd, 101) == 101 && close(101) == 0);
	flags = fcntl(fd, F_GETFL);
	MUST(flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
	MUST(ioctl(fd, FIONREAD, &flags) == 0 && flags == 0);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
	MUST(epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL) == 0);
	MUST(close(epoll) == 0 && close(fd) == 0 && close(fds[0]) == 0 && close(fds[1]) == 0);
	MUST((fd = eventfd(3, EFD_NONBLOCK)) >= 0 && close(fd) == 0);
	MUST((fd = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0 && close(fd) == 0);
	MUST((fd = memfd_create("some", MFD_CLOEXEC)) >= 0 && close(fd) == 0);
	MUST((fd = inotify_init1(0)) >= 0 && inotify_add_watch(fd, ".", IN_CREATE) >= 0);
	MUST(close(fd) == 0 && errno == 4711);
	MUST(dup(fd) == -1 && errno == EBADF);
}

static void others(void)
{
	struct rlimit limit;
	struct addrinfo *found;
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST };

	MUST(getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
	MUST(kill(getpid(), 0) == 0 && kill(getpid(), 999) == -1 && errno == EINVAL);
	MUST(getaddrinfo("127.0.0.1", "80", &hints, &found) == 0);
	freeaddrinfo(found);
	MUST(getaddrinfo("no number", NULL, &hints, &found) == EAI_NONAME);
}

/*
 * Pointers that a call may reject, or may fail before it reads: no memory, a byte before an
 * unreadable page, which is a string without a NUL, a string that ends there, an empty string, and
 * one that is longer than a path.
 */
#define STRINGS 7
static const char *string[STRINGS];

static void make_strings(void)
{
	static char longest[5000];
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);

	MUST(map != MAP_FAILED && mprotect(map + page, page, PROT_NONE) == 0);
	memset(longest, 'l', sizeof longest - 1);
	map[page - 1] = 'x';
	map[page - 4] = 'y';
	map[page - 3] = '\0';
	string[1] = nowhere;
	string[2] = map + page - 1;
	string[3] = map + page - 4;
	string[4] = map + 2 * page - 1;
	string[5] = "";
	string[6] = longest;
}

/* The error of a call: 0 after success. No call here is expected to succeed. */
#define SAY(...) \
	do { \
		long result_; \
		errno = 0; \
		result_ = (long)(__VA_ARGS__); \
		printf("%s %ld: %ld %d\n", #__VA_ARGS__, number, result_, errno); \
	} while (0)

/* A descriptor that belongs to no folder. */
static const int folder[] = { AT_FDCWD, -1, 0 };

/* Every call that has one string. */
static void one_string(const char *s, long number)
{
	struct stat got;
	struct statfs system;
	glob_t found;
	char to[9];

	SAY(stat(s, &got));
	SAY(lstat(s, &got));
	SAY(statfs(s, &system));
	SAY(access(s, 0));
	SAY(access(s, 99));
	SAY(eaccess(s, 0));
	SAY(unlink(s));
	SAY(rmdir(s));
	SAY(remove(s));
	SAY(readlink(s, to, sizeof to));
	SAY(readlink(s, to, 0));
	SAY(readlink(s, nowhere, 1));
	SAY(mkdir(s, 0) ? -1 : rmdir(s));
	SAY(mknod(s, S_IFDIR, 0));
	SAY(chdir(s));
	SAY(open(s, O_RDONLY));
	SAY(chmod(s, 0));
	SAY(chown(s, 0, 0));
	SAY(lchown(s, 0, 0));
	SAY(truncate(s, -1));
	SAY(truncate(s, 0));
	SAY(utime(s, NULL));
	SAY(utimes(s, NULL));
	SAY(lutimes(s, NULL));
	SAY(umount(s));
	SAY(umount2(s, 0xffff));
	SAY(memfd_create(s, 0xffff0000));
	SAY(inotify_add_watch(-1, s, IN_MODIFY));
	SAY(inotify_add_watch(0, s, IN_MODIFY));
	SAY(inotify_add_watch(0, s, 0));
	SAY(glob(s, ~0, NULL, &found));
	for (size_t i = 0; i < sizeof folder / sizeof folder[0]; i++) {
		const int at = folder[i];

		SAY(fstatat(at, s, &got, 0));
		SAY(fstatat(at, s, &got, 0xffff));
		SAY(statx(at, s, 0xffff, 0, (struct statx *)(void *)nowhere));
		SAY(faccessat(at, s, 99, 0));
		SAY(faccessat(at, s, 0, 0xffff));
		SAY(unlinkat(at, s, 0));
		SAY(unlinkat(at, s, 0xffff));
		SAY(readlinkat(at, s, to, 0));
		SAY(mkdirat(at, s, 0) ? -1 : unlinkat(at, s, AT_REMOVEDIR));
		SAY(mknodat(at, s, S_IFDIR, 0));
		SAY(openat(at, s, O_RDONLY));
		SAY(openat(at, s, O_TMPFILE));
		SAY(fchmodat(at, s, 0, 0xffff));
		SAY(fchownat(at, s, 0, 0, 0xffff));
		SAY(utimensat(at, s, (const struct timespec *)(const void *)nowhere, 0));
		SAY(utimensat(at, s, NULL, 0xffff));
	}
}

/* Every call that has two strings. The kernel may fail at the first and not read the second. */
static void two_strings(const char *s, const char *t, long number)
{
	SAY(rename(s, t));
	SAY(link(s, t));
	SAY(symlink(s, t) ? -1 : unlink(t));
	SAY(mount(s, t, NULL, MS_REC | MS_PRIVATE, NULL));
	SAY(mount(s, t, NULL, MS_BIND, NULL));
	for (size_t i = 0; i < sizeof folder / sizeof folder[0]; i++) {
		const int at = folder[i];

		SAY(symlinkat(s, at, t) ? -1 : unlinkat(at, t, 0));
		for (size_t k = 0; k < sizeof folder / sizeof folder[0]; k++) {
			SAY(renameat(at, s, folder[k], t));
			SAY(renameat2(at, s, folder[k], t, 0xff));
			SAY(linkat(at, s, folder[k], t, 0));
			SAY(linkat(at, s, folder[k], t, 0xffff));
		}
	}
}

/*
 * Writes the results of calls whose strings may be invalid. They are the same without the shim. A
 * call that succeeded is undone, so that the next run finds the same files.
 */
static int file_strings(int argc, char **argv)
{
	MUST(argc == 1 && chdir(argv[0]) == 0);
	make_strings();
	for (int i = 0; i < STRINGS; i++) {
		one_string(string[i], i);
		for (int k = 0; k < STRINGS; k++)
			two_strings(string[i], string[k], 10 * i + k);
	}
	return 0;
}

static volatile sig_atomic_t handled;

/* Calls without strings. */
static void on_small_stack(int signal)
{
	struct rlimit limit;

	(void)signal;
	MUST(fcntl(0, F_GETFD) >= 0 && dup2(0, 0) == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
	MUST(kill(getpid(), 0) == 0 && fstat(0, &(struct stat){ 0 }) == 0);
	handled++;
}

/* A call with a string. */
static void on_larger_stack(int signal)
{
	(void)signal;
	MUST(access("/no/such/file", 0) == -1);
	handled++;
}

/*
 * Ends a child with status 0 if the handler ran on a stack of so many bytes, above an unreadable
 * page.
 */
static void handle_on(size_t bytes, void (*handler)(int))
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	char *map = mmap(NULL, bytes + 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const stack_t stack = { .ss_sp = map + page, .ss_size = bytes };

	MUST(map != MAP_FAILED && mprotect(map, page, PROT_NONE) == 0);
	MUST(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	/* The dynamic linker needs much more stack at the first call of each function. */
	handler(0);
	raise(SIGUSR1);
	_exit(handled != 2);
}

/* Returns how much more than the least stack of the system the handler needs. */
static size_t least_for(void (*handler)(int))
{
	const size_t least = (size_t)sysconf(_SC_MINSIGSTKSZ);

	for (size_t more = 0; more < 1 << 16; more += 64) {
		pid_t child = fork();
		int status;

		if (child == 0)
			handle_on((least + more + 15) & ~(size_t)15, handler);
		MUST(child > 0 && waitpid(child, &status, 0) == child);
		if (status == 0)
			return more;
	}
	MUST(!"no stack is enough");
	return 0;
}

/* Writes how much less stack a call without strings needs than one with a string. */
static int file_small(int argc, char **argv)
{
	size_t larger = least_for(on_larger_stack), small = least_for(on_small_stack);

	(void)argc, (void)argv;
	printf("%ld\n", (long)larger - (long)small);
	return 0;
}

/* The result of F_GETOWN for a group is negative and no error. */
static int file_owner(int argc, char **argv)
{
	int fds[2];

	(void)argc, (void)argv;
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	MUST(fcntl(fds[0], F_SETOWN, -getpgrp()) == 0);
	errno = ENOENT;
	MUST(fcntl(fds[0], F_GETOWN) == -getpgrp() && errno == ENOENT);
	return 0;
}

/* Structs that a call may fail before it reads, or for which NULL is no error. */
static int file_structs(int argc, char **argv)
{
	void *none[] = { NULL, nowhere };

	(void)argc, (void)argv;
	for (long number = 0; number < 2; number++) {
		void *volatile at = none[number];

		SAY(getrlimit(RLIMIT_NOFILE, at));
		SAY(setrlimit(RLIMIT_NOFILE, at));
		SAY(prlimit(0, RLIMIT_NOFILE, at, at));
		SAY(prlimit(0, RLIMIT_NOFILE, NULL, at));
		SAY(prlimit(-1, RLIMIT_NOFILE, at, NULL));
		SAY(getrlimit((__rlimit_resource_t)99, at));
		SAY(connect(-1, at, 16));
		SAY(connect(0, at, ~0u));
		SAY(bind(0, at, 16));
		SAY(clock_nanosleep(99, 0, at, NULL));
		SAY(epoll_ctl(-1, EPOLL_CTL_ADD, 0, at));
		SAY(epoll_ctl(-1, EPOLL_CTL_DEL, 0, at));
		SAY(pipe(at));
		SAY(pipe2(at, ~0));
		SAY(fcntl(-1, F_GETLK, at));
	}
	return 0;
}

static int file(int argc, char **argv)
{
	MUST(argc == 1 && chdir(argv[0]) == 0);
	names();
	folders();
	unreadable();
	descriptors();
	others();
	return 0;
}

/* Calls as a program makes them that was compiled with _FORTIFY_SOURCE. */
extern ssize_t fortified(const char *path, char *to, size_t size, size_t room)
	__asm__("__readlink_chk");

static int file_variants(int argc, char **argv)
{
	struct stat64 got;
	struct statx all;
	struct statfs system;
	char to[10];

	(void)argc, (void)argv;
	MUST(stat64("/", &got) == 0 && lstat64("/", &got) == 0);
	MUST(fstatat(AT_FDCWD, "/", (struct stat *)&got, AT_SYMLINK_NOFOLLOW) == 0);
	MUST(statx(AT_FDCWD, "/", 0, STATX_SIZE, &all) == 0);
	MUST(statfs("/", &system) == 0);
	MUST(fortified("/no/such/link", to, sizeof to, sizeof to) == -1 && errno == ENOENT);
	return 0;
}

const struct probe probes_file[] = {
	{ "file", file }, { "file-variants", file_variants }, { "file-strings", file_strings },
	{ "file-structs", file_structs }, { "file-small", file_small },
	{ "file-owner", file_owner }, { 0 }
};
