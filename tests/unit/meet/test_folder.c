/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runtime folder: its path, and the cases in which it is not used. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meet/folder.h"
#include "support/support.h"

static char around[40];
static char folder[sizeof(around) + 8];

static void choose(const char *path)
{
	if (path)
		setenv("POSIXTRACE_RUNTIME_DIR", path, 1);
	else
		unsetenv("POSIXTRACE_RUNTIME_DIR");
	ptx_folder_init();
}

static void set_up(void)
{
	strcpy(around, "/tmp/posixtrace-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(around));
	snprintf(folder, sizeof(folder), "%s/run", around);
	choose(folder);
}

static void tear_down(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", around);
	ck_assert_int_eq(system(command), 0);
}

static bool leads_to(int fd, const char *path)
{
	char link[40], real[300];
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	ck_assert_int_gt(n, 0);
	real[n] = '\0';
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	return strcmp(real, path) == 0;
}

START_TEST(it_is_made_where_it_was_chosen_to_be)
{
	struct stat st;

	ck_assert_int_eq(ptx_folder_open(geteuid(), false), -1);
	ck_assert(leads_to(ptx_folder_open(geteuid(), true), folder));
	ck_assert(leads_to(ptx_folder_open(geteuid(), true), folder));
	ck_assert(leads_to(ptx_folder_open(geteuid(), false), folder));
	ck_assert_int_eq(stat(folder, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 0700);
}
END_TEST

START_TEST(it_keeps_the_first_value_of_the_environment)
{
	setenv("POSIXTRACE_RUNTIME_DIR", "/nowhere", 1);
	ck_assert(leads_to(ptx_folder_open(geteuid(), true), folder));
}
END_TEST

/* The path is relative or too long. */
START_TEST(a_path_that_cannot_be_used_is_a_folder_that_is_not_there)
{
	char path[1000];

	ck_assert_int_eq(chdir(around), 0);
	choose("run");
	ck_assert_int_eq(ptx_folder_open(geteuid(), true), -1);
	ck_assert_int_ne(access(folder, F_OK), 0);
	strcpy(path, around);
	while (strlen(path) < sizeof(path) - 10)
		strcat(path, "/.");
	choose(path);
	ck_assert_int_eq(ptx_folder_open(geteuid(), true), -1);
	ck_assert_int_eq(ptx_folder_open_in(geteuid(), "x", true), -1);
}
END_TEST

START_TEST(an_empty_choice_is_none)
{
	int unset, empty;

	choose(NULL);
	unset = ptx_folder_open(geteuid(), false);
	choose("");
	empty = ptx_folder_open(geteuid(), false);
	ck_assert_int_eq(unset < 0, empty < 0);
	close(unset);
	close(empty);
}
END_TEST

START_TEST(only_a_folder_of_the_user_alone_is_used)
{
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	for (unsigned bit = 1; bit < 0100; bit <<= 1) {
		ck_assert_int_eq(chmod(folder, 0700 | bit), 0);
		ck_assert_int_eq(ptx_folder_open(geteuid(), true), -1);
	}
	ck_assert_int_eq(chmod(folder, 0700), 0);
	ck_assert(leads_to(ptx_folder_open(geteuid(), false), folder));
	ck_assert_int_eq(ptx_folder_open(geteuid() + 1, false), -1);
	ck_assert_int_eq(ptx_folder_open(geteuid() + 1, true), -1);
	ck_assert_int_eq(rmdir(folder), 0);
	ck_assert_int_eq(symlink(around, folder), 0);
	ck_assert_int_eq(ptx_folder_open(geteuid(), true), -1);
	ck_assert_int_eq(unlink(folder), 0);
	ck_assert_int_eq(mkfifo(folder, 0600), 0);
	ck_assert_int_eq(ptx_folder_open(geteuid(), true), -1);
}
END_TEST

START_TEST(the_folder_is_created_for_this_user_only)
{
	ck_assert_int_eq(ptx_folder_open(geteuid() + 1, true), -1);
	ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

START_TEST(a_folder_in_it_is_made_and_goes_when_it_is_empty)
{
	char path[sizeof(folder) + 10], file[sizeof(path) + 10];

	snprintf(path, sizeof(path), "%s/traced", folder);
	snprintf(file, sizeof(file), "%s/x", path);
	ck_assert_int_eq(ptx_folder_open_in(geteuid(), "traced", false), -1);
	ck_assert_int_ne(access(folder, F_OK), 0);
	ck_assert(leads_to(ptx_folder_open_in(geteuid(), "traced", true), path));
	ck_assert(leads_to(ptx_folder_open_in(geteuid(), "traced", false), path));
	ck_assert_int_eq(symlink("nowhere", file), 0);
	ptx_folder_remove_from(geteuid(), "traced");
	ck_assert(leads_to(ptx_folder_open_in(geteuid(), "traced", false), path));
	ck_assert_int_eq(unlink(file), 0);
	ptx_folder_remove_from(geteuid(), "traced");
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(access(folder, F_OK), 0);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(ptx_folder_open_in(geteuid(), "traced", false), -1);
	ck_assert_int_eq(ptx_folder_open_in(geteuid(), "traced", true), -1);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("arena: the runtime folder", &tc);

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, it_is_made_where_it_was_chosen_to_be);
	tcase_add_test(tc, it_keeps_the_first_value_of_the_environment);
	tcase_add_test(tc, a_path_that_cannot_be_used_is_a_folder_that_is_not_there);
	tcase_add_test(tc, an_empty_choice_is_none);
	tcase_add_test(tc, only_a_folder_of_the_user_alone_is_used);
	tcase_add_test(tc, the_folder_is_created_for_this_user_only);
	tcase_add_test(tc, a_folder_in_it_is_made_and_goes_when_it_is_empty);
	return suite;
}

SUITE_MAIN_OF(build)
