/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which file the address of an event of another process is in: a child, a target, one that executes. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "support/mapped.h"
#include "support/log.h"
#include "support/puppet.h"

START_TEST(a_child_that_ended_had_what_its_parent_had)
{
	trace_event_id_t id = type_of("a");
	int fd = log_file();
	trace_attr_t attr;
	trace_id_t trid;
	pid_t child;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_create_withlog(0, &attr, fd, &trid));
	OK(posix_trace_start(trid));
	child = fork();
	if (!child) {
		trace_number(id, 1);
		child = fork();
		if (!child) {
			trace_number(id, 2);
			_exit(0);
		}
		_exit(waitpid(child, NULL, 0) != child);
	}
	wait_well(child);
	shut(trid);
	OK(posix_trace_attr_destroy(&attr));
	assert_from(fd, 1, program_path());
	assert_from(fd, 2, program_path());
	close(fd);
}
END_TEST

/* The child waits until it is traced, and is there until its parent has seen everything. */
START_TEST(of_another_process_it_is_told_too)
{
	int fd = log_file(), go[2], stay[2];
	trace_id_t trid;
	trace_attr_t attr;
	pid_t child;
	char byte;

	ck_assert(pipe(go) == 0 && pipe(stay) == 0);
	child = fork();
	if (!child) {
		trace_event_id_t id = type_of("a");
		struct plugin first;

		close(go[1]);
		close(stay[0]);
		ck_assert_int_eq(write(stay[1], "", 1), 1);
		ck_assert_int_eq(read(go[0], &byte, 1), 1);
		trace_number(id, 1);
		first = plugin_load("first");
		first.trace(id, 2);
		ck_assert_int_eq(write(stay[1], "", 1), 1);
		ck_assert_int_eq(read(go[0], &byte, 1), 1);
		first.trace(id, 3);
		ck_assert_int_eq(write(stay[1], "", 1), 1);
		ck_assert_int_eq(read(go[0], &byte, 1), 0);
		_exit(0);
	}
	close(go[0]);
	close(stay[1]);
	ck_assert_int_eq(read(stay[0], &byte, 1), 1);
	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_create_withlog(child, &attr, fd, &trid));
	OK(posix_trace_start(trid));
	ck_assert_int_eq(write(go[1], "", 1), 1);
	ck_assert_int_eq(read(stay[0], &byte, 1), 1);
	OK(posix_trace_flush(trid));
	ck_assert_int_eq(write(go[1], "", 1), 1);
	ck_assert_int_eq(read(stay[0], &byte, 1), 1);
	shut(trid);
	close(go[1]);
	close(stay[0]);
	wait_well(child);
	OK(posix_trace_attr_destroy(&attr));
	assert_from(fd, 1, program_path());
	assert_from(fd, 3, realpath("posix/.libs/first.so", (char[PATH_MAX]){ 0 }));
	close(fd);
}
END_TEST

/* Nobody sees the plugins while they are there: the process itself says what came and went. */
START_TEST(what_another_process_tells_needs_no_look)
{
	int fd = log_file(), go[2], stay[2];
	trace_id_t trid;
	trace_attr_t attr;
	pid_t child;
	char byte;

	ck_assert(pipe(go) == 0 && pipe(stay) == 0);
	child = fork();
	if (!child) {
		trace_event_id_t id = type_of("a");
		struct plugin plugin;

		close(go[1]);
		close(stay[0]);
		OK(posix_trace_mapping_tell_np()); /* to nobody yet */
		ck_assert_int_eq(write(stay[1], "", 1), 1);
		ck_assert_int_eq(read(go[0], &byte, 1), 1);
		OK(posix_trace_mapping_tell_np());
		for (int i = 0; i < 4; i++) {
			plugin = plugin_load(i % 2 ? "second" : "first");
			plugin.trace(id, 1 + i);
			OK(posix_trace_mapping_tell_np());
			dlclose(plugin.handle);
			OK(posix_trace_mapping_tell_np());
		}
		plugin = plugin_load("first");
		plugin.trace(id, 5);
		OK(posix_trace_mapping_tell_np());
		_exit(0);
	}
	close(go[0]);
	close(stay[1]);
	ck_assert_int_eq(read(stay[0], &byte, 1), 1);
	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	OK(posix_trace_create_withlog(child, &attr, fd, &trid));
	OK(posix_trace_start(trid));
	ck_assert_int_eq(write(go[1], "", 1), 1);
	close(go[1]);
	wait_well(child);
	close(stay[0]);
	shut(trid);
	OK(posix_trace_attr_destroy(&attr));
	for (int i = 0; i < 5; i++)
		assert_from(fd, 1 + i,
			    realpath(i % 2 ? "posix/.libs/second.so" : "posix/.libs/first.so",
				     (char[PATH_MAX]){ 0 }));
	close(fd);
}
END_TEST

/*
 * The last that can be said is that the first plugin is there; then the second is. In one of the two runs, that
 * is: in the other it is that the first went.
 */
START_TEST(what_could_not_be_told_makes_nothing_wrong_of_what_was)
{
	int fd = log_file(), go[2], stay[2];
	trace_id_t trid;
	trace_attr_t attr;
	pid_t child;
	char byte, path[PATH_MAX];
	struct posix_trace_mapping_np mapping;

	ck_assert(pipe(go) == 0 && pipe(stay) == 0);
	child = fork();
	if (!child) {
		trace_event_id_t id = type_of("a");
		struct plugin plugin;

		close(go[1]);
		close(stay[0]);
		OK(posix_trace_mapping_tell_np()); /* to nobody yet */
		ck_assert_int_eq(write(stay[1], "", 1), 1);
		ck_assert_int_eq(read(go[0], &byte, 1), 1);
		OK(posix_trace_mapping_tell_np());
		ck_assert(!_i || dlopen("libresolv.so.2", RTLD_NOW)); /* one more to say */
		for (int told = 0; !told;) {
			plugin = plugin_load("first");
			told = posix_trace_mapping_tell_np();
			dlclose(plugin.handle);
			told = told ? told : posix_trace_mapping_tell_np();
		}
		plugin = plugin_load("second");
		plugin.trace(id, 1);
		_exit(0);
	}
	close(go[0]);
	close(stay[1]);
	ck_assert_int_eq(read(stay[0], &byte, 1), 1);
	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	OK(posix_trace_create_withlog(child, &attr, fd, &trid));
	OK(posix_trace_start(trid));
	ck_assert_int_eq(write(go[1], "", 1), 1);
	close(go[1]);
	wait_well(child);
	close(stay[0]);
	shut(trid);
	OK(posix_trace_attr_destroy(&attr));
	if (mapping_of(fd, 1, &mapping, path))
		assert_from(fd, 1, realpath("posix/.libs/second.so", (char[PATH_MAX]){ 0 }));
	close(fd);
}
END_TEST

static int hold_linker(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	const int *held = arg;

	(void)object;
	(void)bytes;
	ck_assert_int_eq(write(held[1], "", 1), 1);
	for (;;)
		pause();
}

static void *hold_linker_for_good(void *arg)
{
	dl_iterate_phdr(hold_linker, arg);
	return NULL;
}

/* A log of its own, whose flush looks at what is mapped. */
static void log_something(void)
{
	struct posix_trace_mapping_np mapping;
	trace_event_id_t id = type_of("a");
	char path[PATH_MAX];
	int fd = log_file();
	trace_attr_t attr;
	trace_id_t trid;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_create_withlog(0, &attr, fd, &trid));
	OK(posix_trace_start(trid));
	trace_number(id, 1);
	shut(trid);
	OK(posix_trace_attr_destroy(&attr));
	assert_from(fd, 1, program_path());
	ck_assert(mapping_of(fd, 1, &mapping, path));
	close(fd);
}

#ifdef __SANITIZE_THREAD__
enum { WAYS_TO_END = 0 }; /* its children of threads may make none */
#else
enum { WAYS_TO_END = 2 };
#endif

static int is_without_lock;

#ifdef __SANITIZE_ADDRESS__
/* The sanitizer's search for leaks at exit takes that lock, too: it is asked to leave it here. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return is_without_lock;
}
#endif

/* It inherits the dynamic linker's lock from a thread that it has not; a fork that hangs is a timeout. */
START_TEST(a_child_ends_whatever_a_thread_of_its_parent_did_to_the_linker)
{
	int fd = log_file(), held[2];
	trace_attr_t attr;
	trace_id_t trid;
	pid_t child;
	char byte;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_create_withlog(0, &attr, fd, &trid));
	OK(posix_trace_start(trid));
	child = fork(); /* traced by another process from now on */
	if (!child) {
		pthread_t thread;

		ck_assert_int_eq(pipe(held), 0);
		ck_assert_int_eq(pthread_create(&thread, NULL, hold_linker_for_good, held), 0);
		ck_assert_int_eq(read(held[0], &byte, 1), 1);
		child = fork();
		if (!child) {
			is_without_lock = 1;
			if (_i)
				log_something();
			exit(0);
		}
		wait_well(child);
		_exit(0);
	}
	wait_well(child);
	shut(trid);
	OK(posix_trace_attr_destroy(&attr));
	close(fd);
}
END_TEST

/* Seen while it lives, or gone before anybody looked: what it was before, it is not any more. */
START_TEST(a_target_that_executes_has_the_files_of_its_new_program)
{
	struct puppet puppet = puppet_start();
	struct posix_trace_mapping_np mapping;
	char path[PATH_MAX];
	int fd = log_file();
	trace_attr_t attr;
	trace_id_t trid;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	OK(posix_trace_create_withlog(puppet.pid, &attr, fd, &trid));
	OK(posix_trace_start(trid));
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_EXEC);
	for (int i = 0; i < 3; i++)
		puppet_tell(&puppet, PUPPET_ONE);
	if (_i)
		puppet_end(&puppet);
	shut(trid);
	if (!_i)
		puppet_end(&puppet);
	OK(posix_trace_attr_destroy(&attr));
	assert_from(fd, 1, program_path());
	ck_assert(mapping_of(fd, 3, &mapping, path));
	ck_assert_str_ne(path, program_path());
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("posix_trace_mapping_getnext_np: other processes", &tc);

	tcase_add_test(tc, a_child_that_ended_had_what_its_parent_had);
	tcase_add_test(tc, of_another_process_it_is_told_too);
	tcase_add_test(tc, what_another_process_tells_needs_no_look);
	tcase_add_loop_test(tc, what_could_not_be_told_makes_nothing_wrong_of_what_was, 0, 2);
	tcase_add_loop_test(tc, a_child_ends_whatever_a_thread_of_its_parent_did_to_the_linker, 0,
			    WAYS_TO_END);
	tcase_add_loop_test(tc, a_target_that_executes_has_the_files_of_its_new_program, 0, 2);
	return suite;
}

SUITE_MAIN_OF(build)
