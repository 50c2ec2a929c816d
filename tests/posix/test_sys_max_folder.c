/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TRACE_SYS_MAX without a usable runtime folder: each process counts its own streams. The suite's
 * folder is inside another one, which the test can remove.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/miser.h"
#include "support/stream.h"

/* Each process creates more streams than a user may have, because they are not counted together. */
static void assert_each_counts_alone(void)
{
	struct miser miser[MISERS + 1];

	miser_start_all(miser, MISERS + 1);
	ck_assert_int_eq(miser_create_all(miser, MISERS + 1), TRACE_SYS_MAX + MISER_MAX);
	miser_end(miser, MISERS + 1);
}

/* The library cannot create the folder. The suite's own folder is inside another folder. */
START_TEST(without_a_folder_each_process_counts_alone)
{
	struct miser miser[MISERS];
	trace_id_t *trid = calloc(TRACE_SYS_MAX, sizeof(*trid)), none;
	char *around = strdup(folder_path()), *aside;
	trace_attr_t attr;
	int count = 0;

	folder_clear();
	*strrchr(around, '/') = '\0';
	ck_assert_int_gt(asprintf(&aside, "%s-aside", around), 0);
	ck_assert_int_eq(rename(around, aside), 0);
	assert_each_counts_alone();
	wish_attr(&attr, &(struct wish){ .size = 4096 });
	miser_start_all(miser, MISERS);
	for (; count < TRACE_SYS_MAX; count++)
		OK(posix_trace_create(miser[count / MISER_MAX].pid, &attr, &trid[count]));
	FAILS(EAGAIN, posix_trace_create(0, &attr, &none));
	while (count--)
		shut(trid[count]);
	miser_end(miser, MISERS);
	ck_assert_int_eq(rename(aside, around), 0);
	free(around);
	free(aside);
	free(trid);
}
END_TEST

START_TEST(a_folder_that_is_not_the_users_alone_is_not_used)
{
	ck_assert_int_eq(mkdir(folder_path(), 0700), 0);
	ck_assert_int_eq(chmod(folder_path(), 0750), 0);
	assert_each_counts_alone();
	ck_assert_int_eq(chmod(folder_path(), 0707), 0);
	assert_each_counts_alone();
	folder_clear();
	ck_assert_int_eq(symlink("/tmp", folder_path()), 0);
	assert_each_counts_alone();
	ck_assert_int_eq(unlink(folder_path()), 0);
	if (geteuid() == 0) {
		NEEDS("ids");
		ck_assert_int_eq(mkdir(folder_path(), 0700), 0);
		ck_assert_int_eq(chown(folder_path(), 65534, 65534), 0);
		assert_each_counts_alone();
	}
}
END_TEST

/* The user may not write into the folder: root changes to another user. */
START_TEST(where_the_user_may_not_write_each_process_counts_alone)
{
	pid_t child;

	NEEDS("ids");
	ck_assert_int_eq(mkdir(folder_path(), 0700), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(chown(folder_path(), 65534, 65534), 0);
	ck_assert_int_eq(chmod(folder_path(), 0500), 0);
	child = fork();
	if (child == 0) {
		if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(1);
		assert_each_counts_alone();
		_exit(0);
	}
	wait_well(child);
	ck_assert_int_eq(chmod(folder_path(), 0700), 0);
}
END_TEST

START_TEST(an_entry_that_is_no_file_is_not_used)
{
	char *file;

	ck_assert_int_gt(asprintf(&file, "%s/trace_sys_max", folder_path()), 0);
	ck_assert_int_eq(mkdir(folder_path(), 0700), 0);
	ck_assert_int_eq(mkdir(file, 0700), 0);
	assert_each_counts_alone();
	ck_assert_int_eq(rmdir(file), 0);
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	assert_each_counts_alone();
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(symlink("/dev/null", file), 0);
	assert_each_counts_alone();
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(miser_count_free(), TRACE_SYS_MAX);
	free(file);
}
END_TEST

SUITE_NEEDS("exec");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("TRACE_SYS_MAX: folders", &tc);

	tcase_add_checked_fixture(tc, folder_clear, NULL);
	tcase_add_test(tc, without_a_folder_each_process_counts_alone);
	tcase_add_test(tc, a_folder_that_is_not_the_users_alone_is_not_used);
	tcase_add_test(tc, where_the_user_may_not_write_each_process_counts_alone);
	tcase_add_test(tc, an_entry_that_is_no_file_is_not_used);
	return suite;
}

int main(int argc, char **argv)
{
	miser_main(argc, argv);
	return folder_run(build, argv);
}
