/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A controller finds the arena of a process that creates its arena at the same time. The test wraps
 * the system calls of both processes, and so stops both at the critical places.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/futex.h"
#include "meet/find.h"
#include "meet/process.h"
#include "support/folder.h"
#include "support/support.h"

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __real_symlinkat(const char *text, int folder, const char *name);
int __wrap_symlinkat(const char *text, int folder, const char *name);
int __real_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);
int __wrap_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);

enum pause { NOWHERE, BEFORE_ITS_ARENA, BEFORE_THE_FOLDER, AT_THE_LINK };

static struct {
	enum pause first, second; /* where the target waits until the test continues it */
	bool by_nap;              /* the target continues when the controller sleeps */
	bool met;                 /* in the controller: the target has reached the second place */
	bool told;
} plan;

static pid_t controller;
static int to_target[2], to_controller[2];

static void tell(int *pipe_of)
{
	if (write(pipe_of[1], "", 1) != 1)
		_exit(9);
}

static void hear(int *pipe_of)
{
	char c;

	if (read(pipe_of[0], &c, 1) != 1)
		_exit(9);
}

static void come_to(enum pause where)
{
	if (getpid() == controller)
		return;
	if (where == plan.first) {
		hear(to_target);
	} else if (where == plan.second) {
		plan.second = NOWHERE;
		tell(to_controller);
		hear(to_target);
	}
}

static void go_on(void)
{
	if (!plan.told)
		tell(to_target);
	plan.told = true;
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
	come_to(BEFORE_ITS_ARENA);
	return __real_memfd_create(name, flags);
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
	va_list list;
	int fd;

	va_start(list, flags);
	if (strstr(path, "traced"))
		come_to(BEFORE_THE_FOLDER);
	fd = __real_openat(folder, path, flags, va_arg(list, unsigned));
	va_end(list);
	if (fd >= 0 && strstr(path, "/fd/"))
		come_to(AT_THE_LINK);
	return fd;
}

int __wrap_symlinkat(const char *text, int folder, const char *name)
{
	int result = __real_symlinkat(text, folder, name);

	if (plan.first && !plan.met && getpid() == controller) {
		plan.met = true;
		tell(to_target);
		hear(to_controller);
	}
	return result;
}

int __wrap_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
	if (plan.met && plan.by_nap)
		go_on();
	return plan.met && !plan.by_nap ? 0 : __real_ptx_futex_nap(word, value, ns);
}

static void setup(void)
{
	ptx_process_init();
	ck_assert_int_ge(ptx_arena_fd(&ptx_arena_self), 0);
	ck_assert_int_eq(pipe(to_target), 0);
	ck_assert_int_eq(pipe(to_controller), 0);
	controller = getpid();
}

static void teardown(void)
{
	for (int i = 0; i < 2; i++) {
		close(to_target[i]);
		close(to_controller[i]);
	}
	folder_clear();
}

static uint64_t *inode_of_target; /* the place at which the target publishes its final arena */

static pid_t start_target(void)
{
	pid_t child;

	inode_of_target =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(inode_of_target, MAP_FAILED);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		ptx_process_child();
		*inode_of_target = ptx_arena_self.inode;
		hear(to_target); /* the target has its resources */
		_exit(0);
	}
	return child;
}

static void find_it_and_compare(pid_t child)
{
	struct ptx_target target;

	ck_assert_int_eq(ptx_target_find(child, false, &target), 0);
	go_on();
	tell(to_target);
	wait_well(child);
	ck_assert_uint_ne(*inode_of_target, ptx_arena_self.inode);
	ck_assert_uint_eq(*inode_of_target, target.arena->inode);
	ptx_target_release(&target);
	munmap(inode_of_target, 4096);
}

/*
 * CREATE-22: the target has opened the arena that was made for it, and does not use this arena yet
 */
START_TEST(a_target_that_has_just_opened_the_waiting_arena_continues_and_uses_it)
{
	plan.first = BEFORE_ITS_ARENA;
	plan.second = AT_THE_LINK;
	plan.by_nap = true;
	find_it_and_compare(start_target());
}
END_TEST

/* CREATE-22 */
START_TEST(a_target_that_is_stopped_there_keeps_what_it_has)
{
	plan.first = BEFORE_ITS_ARENA;
	plan.second = AT_THE_LINK;
	find_it_and_compare(start_target());
}
END_TEST

/* CREATE-22: the target has published its own arena, and has not searched for another one yet */
START_TEST(a_target_that_has_not_looked_for_links_yet_is_waited_for)
{
	pid_t child;

	plan.second = BEFORE_THE_FOLDER;
	plan.by_nap = true;
	child = start_target();
	hear(to_controller);
	plan.met = true;
	find_it_and_compare(child);
}
END_TEST

/* CREATE-22: the link was created after the target made its arena and before it reads the links */
START_TEST(a_target_may_look_for_links_as_late_as_it_likes)
{
	plan.first = BEFORE_ITS_ARENA;
	plan.second = BEFORE_THE_FOLDER;
	plan.by_nap = true;
	find_it_and_compare(start_target());
}
END_TEST

SUITE_NEEDS("exec stat");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("arena: finding one another", &tc);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_target_that_has_just_opened_the_waiting_arena_continues_and_uses_it);
	tcase_add_test(tc, a_target_that_is_stopped_there_keeps_what_it_has);
	tcase_add_test(tc, a_target_that_has_not_looked_for_links_yet_is_waited_for);
	tcase_add_test(tc, a_target_may_look_for_links_as_late_as_it_likes);
	return suite;
}

int main(int argc, char **argv)
{
	(void)argc;
	return folder_run(build, argv);
}
