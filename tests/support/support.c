/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"

/* The places that were written last. */
#define PLACES 64

/* Any thread of a test may call this function, which is why the places are atomic. */
void support_mark_point(const char *file, int line)
{
	static _Atomic uintptr_t place[PLACES];
	static _Atomic unsigned next;
	const uintptr_t here = (uintptr_t)file ^ (uintptr_t)line << 40;

	for (int i = 0; i < PLACES; i++)
		if (atomic_load_explicit(&place[i], memory_order_relaxed) == here)
			return;
	atomic_store(&place[atomic_fetch_add(&next, 1) % PLACES], here);
	(_mark_point)(file, line);
}

void wait_well(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(status == 0, "a child ended with %#x", (unsigned)status);
}

int support_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		char target[256];
		ssize_t n;

		if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(dir))
			continue;
		n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		/* The descriptor of the arena is not counted: it is open until the process ends. */
		if (!strncmp(target, "/memfd:", 7))
			continue;
		count++;
	}
	closedir(dir);
	return count;
}

/* A failed comparison of descriptors lists them, so that the log shows which one is too many. */
static void print_descriptors(void)
{
	char path[64], target[256];

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		if (n >= 0)
			fprintf(stderr, "descriptor %d: %.*s\n", fd, (int)n, target);
	}
}

static int descriptors_before;

static void count_descriptors(void)
{
	descriptors_before = support_descriptors();
}

static void compare_descriptors(void)
{
	int now = support_descriptors();

	if (now != descriptors_before)
		print_descriptors();
	ck_assert_msg(now == descriptors_before, "descriptors: %d before the test, %d after it",
		      descriptors_before, now);
}

Suite *support_suite(const char *name, TCase **tc)
{
	Suite *suite = suite_create(name);

	/* Check's own limit of 4 s would make tests depend on the machine's speed. */
	setenv("CK_DEFAULT_TIMEOUT", "1500", 0);
	*tc = tcase_create(name);
	tcase_add_checked_fixture(*tc, count_descriptors, compare_descriptors);
	suite_add_tcase(suite, *tc);
	return suite;
}

/* Sets signals to their defaults. The process that executes the suite may ignore or block signals,
 * as nohup and shells with background jobs do. */
static void restore_signals(void)
{
	static const int common[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE };
	sigset_t none;

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		signal(common[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The needs of a suite without SUITE_NEEDS(): no feature. */
const char support_needs[1] __attribute__((weak));

bool support_lacks(const char *words, const char *who)
{
	const char *lacks = getenv("PTX_LACKS");
	char word[32];
	int length;

	for (; lacks && sscanf(words, "%31s%n", word, &length) == 1; words += length)
		for (const char *at = lacks; (at = strstr(at, word)); at++)
			if ((at == lacks || at[-1] == ' ') &&
			    (at[strlen(word)] == ' ' || !at[strlen(word)])) {
				printf("SKIP: %s: no %s here\n", who, word);
				fflush(stdout);
				return true;
			}
	return false;
}

int support_run(Suite *suite)
{
	SRunner *runner;
	int failed;

	if (support_lacks(support_needs, "all tests"))
		return 77;
	runner = srunner_create(suite);

	restore_signals();
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

Suite *support_suite_of(const char *name, const TTest *const *tests, size_t count)
{
	TCase *tc;
	Suite *suite = support_suite(name, &tc);

	for (size_t i = 0; i < count; i++)
		tcase_add_test(tc, tests[i]);
	return suite;
}

int support_main(const char *name, const TTest *const *tests, size_t count)
{
	return support_run(support_suite_of(name, tests, count));
}
