/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/support.h - shared by all Check programs of libposixtrace.
 *
 * A suite is one .c file that ends in
 *
 *	SUITE_MAIN("posix_trace_attr_init", a_sentence, another_sentence)
 *
 * naming its START_TESTs. Each runs in a process of its own (CK_FORK=no for a debugger) and ends
 * with as many open descriptors as it began with. A suite that needs loops, signals or exit
 * codes builds its own with support_suite(), then SUITE_MAIN_OF(build).
 */
#ifndef PTX_TESTS_SUPPORT_H
#define PTX_TESTS_SUPPORT_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A suite with one test case in *tc, which has the descriptor count as fixture. */
Suite *support_suite(const char *name, TCase **tc);

/* Runs it, prints libcheck's closing line; returns main's exit status. */
int support_run(Suite *suite);

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
 * The features of Linux that all tests of a suite, or one test, need and that an emulator or a
 * program checker may lack, by the words of builds/emulated.c. PTX_LACKS has the missing words
 * (builds/lacks.sh). Then the suite or the test is skipped, with this reason.
 */
extern const char support_needs[];
#define SUITE_NEEDS(words) const char support_needs[] = words
#define NEEDS(words)                                                                              \
	do {                                                                                      \
		if (support_lacks(words, __func__))                                               \
			return;                                                                   \
	} while (0)
bool support_lacks(const char *words, const char *who);

/* Calls that must leave errno alone (GEN-02): the value of the expression. */
#define KEEPS_ERRNO(expression)                                                                   \
	({                                                                                        \
		errno = 4711;                                                                     \
		__typeof__(expression) value_ = (expression);                                     \
		ck_assert_msg(errno == 4711, "errno changed by %s", #expression);                 \
		value_;                                                                           \
	})

#define OK(call)          ck_assert_int_eq(KEEPS_ERRNO(call), 0)
#define FAILS(error, call) ck_assert_int_eq(KEEPS_ERRNO(call), error)

/* Waits for a child of the caller, which must end with exit status 0. */
void wait_well(pid_t child);

/* Open descriptors of this process, without the library's own memory (a memfd). */
int support_descriptors(void);

#endif
