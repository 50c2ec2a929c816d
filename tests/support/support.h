/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/support.h - shared by all Check programs of libposixtrace.
 *
 * A suite is one .c file that ends in
 *
 *	SUITE_MAIN("posix_trace_attr_init", a_sentence, another_sentence)
 *
 * The arguments are the name of the suite and its tests. Each test runs in a process of its own;
 * for a debugger, set CK_FORK=no, so that all tests run in one process. Each test must end with as
 * many open descriptors as it began with. A suite that needs loops, signals or exit codes builds
 * its tests itself with support_suite(), and ends in SUITE_MAIN_OF(build).
 */
#ifndef PTX_TESTS_SUPPORT_H
#define PTX_TESTS_SUPPORT_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Check writes the place of each assertion into a file, whose size has no limit, and the runner
 * reads the whole file. A test that compares millions of events in a loop would write gigabytes. So
 * a place is written only if it is not one of the last that were written. If a test crashes or
 * exceeds its time in a loop, Check shows a place in this loop.
 */
void support_mark_point(const char *file, int line);
#define _mark_point(file, line) support_mark_point(file, line)

/* Makes a suite with one test case, *tc, whose fixture compares the numbers of open descriptors. */
Suite *support_suite(const char *name, TCase **tc);

/* Runs the suite and prints libcheck's last line. Returns the exit status for main(). */
int support_run(Suite *suite);

Suite *support_suite_of(const char *name, const TTest *const *tests, size_t count);
int support_main(const char *name, const TTest *const *tests, size_t count);

#define SUITE_MAIN(name, ...)                                                                     \
	int main(void)                                                                            \
	{                                                                                         \
		const TTest *const tests_[] = { __VA_ARGS__ };                                    \
		return support_main(name, tests_, sizeof(tests_) / sizeof(tests_[0]));            \
	}

#define SUITE_MAIN_OF(build)                                                                      \
	int main(void)                                                                            \
	{                                                                                         \
		return support_run(build());                                                      \
	}

/*
 * The features of Linux that all tests of a suite, or one test, need, and that an emulator or a
 * program checker may lack. builds/emulated.c has a word for each feature. builds/lacks.sh writes
 * the words of the missing features into PTX_LACKS. If a needed feature is missing, the suite or
 * the test is skipped with this reason.
 */
extern const char support_needs[];
#define SUITE_NEEDS(words) const char support_needs[] = words
#define NEEDS(words)                                                                              \
	do {                                                                                      \
		if (support_lacks(words, __func__))                                               \
			return;                                                                   \
	} while (0)
bool support_lacks(const char *words, const char *who);

/* Returns the value of the expression and fails if it changes errno (requirement GEN-02). */
#define KEEPS_ERRNO(expression)                                                                   \
	({                                                                                        \
		errno = 4711;                                                                     \
		__typeof__(expression) value_ = (expression);                                     \
		ck_assert_msg(errno == 4711, "errno changed by %s", #expression);                 \
		value_;                                                                           \
	})

#define OK(call)          ck_assert_int_eq(KEEPS_ERRNO(call), 0)
#define FAILS(error, call) ck_assert_int_eq(KEEPS_ERRNO(call), error)

/* Waits for a child of the caller. Fails unless the child ends with exit status 0. */
void wait_well(pid_t child);

/* Returns the number of open descriptors of this process, without those of the library's memory. */
int support_descriptors(void);

#endif
