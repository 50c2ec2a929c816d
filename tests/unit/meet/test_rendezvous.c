/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/meet/test_rendezvous.c - links that processes leave for one another, and links that users
 * make.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/life.h"
#include "base/proc.h"
#include "meet/folder.h"
#include "meet/rendezvous.h"
#include "support/support.h"

static char folder[] = "/tmp/posixtrace-test.XXXXXX", traced[64];

/* The number of calls of symlinkat() before which another process removes the empty folder. */
static int removals;

/* The library calls this function. */
int symlinkat(const char *text, int at, const char *name)
{
	if (removals > 0) {
		removals--;
		ck_assert_int_eq(rmdir(traced), 0);
	}
	return (int)syscall(SYS_symlinkat, text, at, name);
}

/* The number of calls of mkdirat(). */
static unsigned attempts;

/* The library calls this function. */
int mkdirat(int at, const char *path, mode_t mode)
{
	attempts++;
	return (int)syscall(SYS_mkdirat, at, path, mode);
}

static void choose(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(traced, sizeof(traced), "%s/traced", folder);
	ck_assert_int_eq(mkdir(traced, 0700), 0);
	setenv("POSIXTRACE_RUNTIME_DIR", folder, 1);
	ptx_folder_init();
}

static struct ptx_rendezvous_target self(void)
{
	struct ptx_rendezvous_target target = { .uid = geteuid(), .pid = (uint32_t)getpid() };

	target.start = ptx_identity_start(PTX_PROC_SELF);
	ck_assert_uint_ne(target.start, 0);
	return target;
}

/* Makes a link with that last part and with the name of this process. */
static void make(const char *text, const char *last)
{
	struct ptx_rendezvous_target target = self();
	char path[256];

	snprintf(path, sizeof(path), "%s/%u.%llu.%s", traced, target.pid,
		 (unsigned long long)target.start, last);
	ck_assert_int_eq(symlink(text, path), 0);
}

static int found(void)
{
	struct ptx_rendezvous walk;
	int fd, n = 0;

	ptx_rendezvous_begin(&walk, false);
	while ((fd = ptx_rendezvous_next(&walk)) >= 0) {
		close(fd);
		n++;
	}
	ptx_rendezvous_end(&walk);
	return n;
}

static bool is_there(const char *last)
{
	struct ptx_rendezvous_target target = self();
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%u.%llu.%s", traced, target.pid,
		 (unsigned long long)target.start, last);
	return lstat(path, &st) == 0;
}

static void clean_up(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(a_link_to_a_descriptor_is_followed_and_no_other)
{
	struct ptx_rendezvous_target target = self();
	char text[128];
	int fd;

	choose();
	snprintf(text, sizeof(text), "%s/file", folder);
	fd = open(text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	make(text, "file");
	make("/dev/null", "null");
	make("/proc/self/fd/0", "self");
	make("/proc/1/fd/../environ", "dots");
	make("/proc/1/fd/", "none");
	ck_assert_int_eq(found(), 0);
	snprintf(text, sizeof(text), "/proc/%d/fd/%d", (int)getpid(), fd);
	make(text, "good");
	ck_assert_int_eq(found(), 1);
	ptx_rendezvous_link(&target, fd, false);
	ck_assert_int_eq(found(), 2);
	ptx_rendezvous_remove(&target, false);
	close(fd);
	clean_up();
}
END_TEST

/*
 * A program that starts examines the links for inherited streams of all processes last. A child
 * does not examine them, because it has its parent's arena.
 */
START_TEST(links_of_all_processes_are_the_last)
{
	struct ptx_rendezvous_target other = { .uid = geteuid(), .pid = 999999999, .start = 7 };
	const struct ptx_rendezvous_target own = self();
	struct ptx_rendezvous walk;
	char path[128];
	int fd;

	choose();
	ptx_rendezvous_link(&other, 0, true);
	ptx_rendezvous_link(&own, 0, false);
	ptx_rendezvous_begin(&walk, true);
	fd = ptx_rendezvous_next(&walk);
	ck_assert_int_ge(fd, 0);
	ck_assert(!walk.is_others);
	close(fd);
	fd = ptx_rendezvous_next(&walk);
	ck_assert_int_ge(fd, 0);
	ck_assert(walk.is_others);
	close(fd);
	ck_assert_int_eq(ptx_rendezvous_next(&walk), -1);
	ptx_rendezvous_end(&walk);
	ck_assert_int_eq(found(), 1);
	ptx_rendezvous_remove(&other, true);
	snprintf(path, sizeof(path), "%s/inherited", folder);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(found(), 1);
	ptx_rendezvous_remove(&own, false);
	clean_up();
}
END_TEST

/*
 * Makes links for inherited streams: first `others` links for processes that do not exist, and then
 * a link for this process. A child then searches for the link of its parent. Returns the number of
 * other links that the child reads before this link, or -1 if it does not find this link. Stores
 * whether the walk had all entries in memory.
 */
static int place_of_parent(int others, bool *is_whole)
{
	struct ptx_rendezvous_target other = { .uid = geteuid(), .start = 7 };
	const struct ptx_rendezvous_target own = self();
	pid_t child;
	int status;

	for (int i = 0; i < others; i++) {
		other.pid = 999999000 + (uint32_t)i;
		ptx_rendezvous_link(&other, 0, true);
	}
	ptx_rendezvous_link(&own, 0, true);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct ptx_rendezvous walk;
		int fd, before = 0;

		ptx_rendezvous_begin(&walk, true);
		for (; (fd = ptx_rendezvous_next(&walk)) >= 0 && walk.is_others; before++)
			close(fd);
		_exit(fd < 0 ? 255 : before * 2 + walk.is_whole);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	for (int i = 0; i < others; i++) {
		other.pid = 999999000 + (uint32_t)i;
		ptx_rendezvous_remove(&other, true);
	}
	ptx_rendezvous_remove(&own, true);
	*is_whole = WEXITSTATUS(status) & 1;
	return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status) / 2;
}

/*
 * The links of a large folder do not fit into the memory of the walk, so the walk reads the folder
 * for each ancestor.
 */
START_TEST(links_of_ancestors_are_found_among_many_others)
{
	bool is_whole;

	choose();
	ck_assert_int_eq(place_of_parent(0, &is_whole), 0);
	ck_assert(is_whole);
	ck_assert_int_eq(place_of_parent(5, &is_whole), 0);
	ck_assert(is_whole);
	ck_assert_int_eq(place_of_parent(60, &is_whole), 0);
	ck_assert(!is_whole);
	clean_up();
}
END_TEST

/*
 * The library does not examine the target of such a link, so it cannot find out that the target
 * does not exist.
 */
START_TEST(only_links_of_dead_processes_are_removed)
{
	struct ptx_rendezvous_target target = self();

	choose();
	make("/nowhere/at/all", "strange");
	make("/proc/999999999/fd/3", "dead");
	make("/proc/1/fd/../nothing", "dots");
	ptx_rendezvous_link(&target, 0, false);
	ck_assert(!is_there("dead"));
	ck_assert(is_there("strange"));
	ck_assert(is_there("dots"));
	ptx_rendezvous_remove(&target, false);
	clean_up();
}
END_TEST

/* Many recorders that begin and end at the same time make and remove the folder. */
START_TEST(a_folder_that_others_remove_is_made_again)
{
	struct ptx_rendezvous_target target = self();

	choose();
	removals = 50;
	ptx_rendezvous_link(&target, 0, false);
	ck_assert_int_eq(removals, 0);
	ck_assert_int_eq(found(), 1);
	ptx_rendezvous_remove(&target, false);
	clean_up();
}
END_TEST

/* The folder's name belongs to a file, so each further attempt would fail, too. */
START_TEST(a_folder_that_cannot_be_made_is_tried_once)
{
	struct ptx_rendezvous_target target = self();

	choose();
	ck_assert_int_eq(rmdir(traced), 0);
	ck_assert_int_eq(mknod(traced, S_IFREG | 0600, 0), 0);
	attempts = 0;
	ptx_rendezvous_link(&target, 0, false);
	ck_assert_uint_le(attempts, 2); /* the runtime folder and the folder inside it */
	ck_assert_int_eq(unlink(traced), 0);
	/* The parent of the runtime folder does not exist. */
	setenv("POSIXTRACE_RUNTIME_DIR", "/nonexistent/posixtrace", 1);
	ptx_folder_init();
	attempts = 0;
	ptx_rendezvous_link(&target, 0, false);
	ck_assert_uint_le(attempts, 2);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

SUITE_MAIN("unit/arena/rendezvous", a_link_to_a_descriptor_is_followed_and_no_other,
	   links_of_all_processes_are_the_last,
	   links_of_ancestors_are_found_among_many_others,
	   only_links_of_dead_processes_are_removed,
	   a_folder_that_others_remove_is_made_again,
	   a_folder_that_cannot_be_made_is_tried_once)
