/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that the tool survives the truncation of a file that libelf has mapped. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/truncated.h"
#include "support/support.h"

#define PAGES 8

static size_t page;
static int file;

/* Maps a file of PAGES pages, which are full of the letter a. */
static volatile char *map_file(int protection, int flags)
{
	char name[] = "truncated.XXXXXX";
	char *memory;

	page = (size_t)sysconf(_SC_PAGESIZE);
	file = mkstemp(name);
	ck_assert_int_ge(file, 0);
	unlink(name);
	memory = malloc(PAGES * page);
	memset(memory, 'a', PAGES * page);
	ck_assert_int_eq(write(file, memory, PAGES * page), (ssize_t)(PAGES * page));
	free(memory);
	memory = mmap(NULL, PAGES * page, protection, flags, file, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

static void truncate_to(size_t pages)
{
	ck_assert_int_eq(ftruncate(file, (off_t)(pages * page)), 0);
}

/* The mapping is that of ELF_C_READ_MMAP_PRIVATE. */
START_TEST(what_is_behind_the_new_end_reads_as_zeros)
{
	volatile char *memory = map_file(PROT_READ | PROT_WRITE, MAP_PRIVATE);

	truncated_survive();
	truncate_to(5);
	ck_assert_int_eq(memory[6 * page + 10], 0);
	ck_assert_int_eq(memory[5 * page], 0);
	ck_assert_int_eq(memory[7 * page], 0);
	ck_assert_int_eq(memory[5 * page - 1], 'a');
	/* A second truncation is survived as well. */
	truncate_to(1);
	ck_assert_int_eq(memory[4 * page], 0);
	ck_assert_int_eq(memory[page], 0);
	ck_assert_int_eq(memory[page - 1], 'a');
	close(file);
}
END_TEST

/* Returns how a process ends that reads a page behind the end. */
static int end_of_reader(int protection, int flags)
{
	volatile char *memory = map_file(protection, flags);
	int status;
	pid_t child;

	truncate_to(1);
	child = fork();
	if (!child) {
		truncated_survive();
		_exit(memory[2 * page]);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	close(file);
	return status;
}

static const struct {
	int protection, flags;
} others[] = {
	{ PROT_READ | PROT_WRITE, MAP_SHARED }, /* as a stream */
	{ PROT_READ, MAP_PRIVATE },             /* as the first page of a library */
};

START_TEST(other_mappings_end_the_process_as_before)
{
	const int status = end_of_reader(others[_i].protection, others[_i].flags);

	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGBUS);
}
END_TEST

START_TEST(a_signal_that_a_process_sends_ends_the_process)
{
	pid_t child = fork();
	int status;

	if (!child) {
		truncated_survive();
		raise(SIGBUS);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGBUS);
}
END_TEST

/* A program that record starts inherits the disposition. */
START_TEST(an_ignored_signal_remains_ignored)
{
	struct sigaction action;

	signal(SIGBUS, SIG_IGN);
	truncated_survive();
	ck_assert_int_eq(sigaction(SIGBUS, NULL, &action), 0);
	ck_assert(action.sa_handler == SIG_IGN);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("truncated", &tc);

	tcase_add_test(tc, what_is_behind_the_new_end_reads_as_zeros);
	tcase_add_loop_test(tc, other_mappings_end_the_process_as_before, 0, 2);
	tcase_add_test(tc, a_signal_that_a_process_sends_ends_the_process);
	tcase_add_test(tc, an_ignored_signal_remains_ignored);
	return suite;
}

SUITE_MAIN_OF(build)
