/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file that contains the address of an event: the program, and plugins that are loaded and
 * unloaded. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "support/mapped.h"
#include "support/log.h"

static const int log_policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

START_TEST(an_event_of_the_program_is_in_its_file)
{
	trace_event_id_t id = type_of("a");
	struct posix_trace_mapping_np mapping;
	int fd = log_file(), unavailable, paths = 0;
	char path[PATH_MAX];
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = log_policies[_i], .log_size = 100000);

	trace_number(id, 1);
	shut(trid);
	assert_log_whole(fd);
	ck_assert(mapping_of(fd, 1, &mapping, path));
	trid = log_open(fd);
	for (;; paths++) {
		OK(posix_trace_mapping_getnext_np(trid, &mapping, &unavailable));
		if (unavailable)
			break;
		ck_assert_int_eq(mapping.pid, getpid());
		ck_assert_uint_lt(mapping.start, mapping.end);
		ck_assert_int_lt(mapping.from_ns, mapping.until_ns);
	}
	ck_assert_int_gt(paths, 2); /* the program, libposixtrace, libc */
	OK(posix_trace_mapping_rewind_np(trid));
	OK(posix_trace_mapping_getnext_np(trid, &mapping, &unavailable));
	ck_assert_int_eq(unavailable, 0);
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
	struct posix_trace_mapping_np mapping;
	int fd = log_file(), unavailable;
	trace_id_t trid = LOGGED(fd, .log_policy = POSIX_TRACE_APPEND);

	FAILS(EINVAL, posix_trace_mapping_getnext_np(trid, &mapping, &unavailable));
	FAILS(EINVAL, posix_trace_mapping_rewind_np(trid));
	FAILS(EINVAL, posix_trace_mapping_find_np(trid, 0, 0, 0, &mapping));
	shut(trid);
	trid = log_open(fd);
	FAILS(EINVAL, posix_trace_mapping_getnext_np(trid, NULL, &unavailable));
	FAILS(EINVAL, posix_trace_mapping_getnext_np(trid, &mapping, NULL));
	FAILS(EINVAL, posix_trace_mapping_find_np(trid, 0, 0, 0, NULL));
	FAILS(EINVAL, posix_trace_mapping_rewind_np(4711));
	FAILS(ENOENT, posix_trace_mapping_find_np(trid, getpid(), 1, INT64_MAX, &mapping));
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(a_plugin_that_came_and_went_is_found_at_its_time)
{
	trace_event_id_t id = type_of("a");
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = log_policies[_i], .log_size = 100000);
	struct plugin first, second;

	first = plugin_load("first");
	first.trace(id, 1);
	OK(posix_trace_flush(trid));
	dlclose(first.handle);
	OK(posix_trace_flush(trid));
	second = plugin_load("second");
	second.trace(id, 2);
	shut(trid);
	assert_log_whole(fd);
	assert_from(fd, 1, first.path);
	assert_from(fd, 2, second.path);
	dlclose(second.handle);
	close(fd);
}
END_TEST

/*
 * Two plugins are loaded and unloaded between two scans, at any positions. If the file of an
 * address cannot be known, no file is reported.
 */
START_TEST(plugins_between_two_scans_cause_no_wrong_answer)
{
	trace_event_id_t id = type_of("a");
	struct posix_trace_mapping_np mapping;
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND);
	char path[PATH_MAX], real[PATH_MAX];
	struct plugin plugin[5];

	for (int i = 0; i < 4; i++) {
		plugin[i] = plugin_load(i % 2 ? "second" : "first");
		plugin[i].trace(id, i);
		dlclose(plugin[i].handle);
		if (i == 1)
			OK(posix_trace_flush(trid));
	}
	/* The first plugin is mapped at two scans, but not all the time between them. */
	plugin[0] = plugin_load("first");
	OK(posix_trace_flush(trid));
	dlclose(plugin[0].handle);
	plugin[4] = plugin_load("second");
	plugin[4].trace(id, 4);
	dlclose(plugin[4].handle);
	plugin[0] = plugin_load("first");
	plugin[0].trace(id, 5);
	shut(trid);
	for (int i = 0; i < 5; i++) {
		if (!mapping_of(fd, i, &mapping, path))
			continue;
		ck_assert_ptr_nonnull(realpath(path, real));
		ck_assert_str_eq(real, plugin[i].path);
	}
	dlclose(plugin[0].handle);
	close(fd);
}
END_TEST

/*
 * The plugin was mapped at two scans, and no other file was mapped between them: it was mapped all
 * the time.
 */
START_TEST(a_plugin_that_stays_is_found_from_its_first_event_on)
{
	trace_event_id_t id = type_of("a");
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND);
	struct plugin first = plugin_load("first");

	first.trace(id, 1);
	OK(posix_trace_flush(trid));
	first.trace(id, 2);
	shut(trid);
	assert_from(fd, 1, first.path);
	assert_from(fd, 2, first.path);
	dlclose(first.handle);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("posix_trace_mapping_getnext_np", &tc);

	tcase_add_loop_test(tc, an_event_of_the_program_is_in_its_file, 0, 3);
	tcase_add_test(tc, bad_arguments_are_refused);
#ifdef __SANITIZE_THREAD__
	/*
	 * Each test runs in a child of a program with threads. The child scans its mappings from
	 * outside.
	 */
	return suite;
#endif
	tcase_add_loop_test(tc, a_plugin_that_came_and_went_is_found_at_its_time, 0, 3);
	tcase_add_test(tc, plugins_between_two_scans_cause_no_wrong_answer);
	tcase_add_test(tc, a_plugin_that_stays_is_found_from_its_first_event_on);
	return suite;
}

SUITE_MAIN_OF(build)
