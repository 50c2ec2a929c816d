/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file that contains the address of an event of another process: a child, a target, or a
 * process that executes a program.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "support/mapped.h"
#include "support/log.h"
#include "support/puppet.h"

/*
 * One of two processes, the test and its child. Each process can wait for a message of the other
 * process.
 */
struct side {
	pid_t child; /* 0 in the child */
	int hears, says;
};

static struct side part(void)
{
	int down[2], up[2];
	pid_t child;

	ck_assert(pipe(down) == 0 && pipe(up) == 0);
	child = fork();
	if (!child) {
		close(down[1]);
		close(up[0]);
		return (struct side){ 0, down[0], up[1] };
	}
	close(down[0]);
	close(up[1]);
	return (struct side){ child, up[0], down[1] };
}

static void say(const struct side *side)
{
	ck_assert_int_eq(write(side->says, "", 1), 1);
}

static void hear(const struct side *side)
{
	char byte;

	ck_assert_int_eq(read(side->hears, &byte, 1), 1);
}

/*
 * Sends no more messages and waits for the child's end. The child reads the end of the closed pipe.
 */
static void leave(const struct side *side)
{
	close(side->says);
	close(side->hears);
	wait_well(side->child);
}

static void hear_of_leaving(const struct side *side)
{
	char byte;

	ck_assert_int_eq(read(side->hears, &byte, 1), 0);
}

static trace_id_t log_inherited(int fd)
{
	return LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_APPEND,
			      .inheritance = POSIX_TRACE_INHERITED);
}

static trace_id_t log_until_full(pid_t pid, int fd)
{
	return log_attach_started(pid, fd, &(struct log_wish){ .policy = POSIX_TRACE_UNTIL_FULL,
							       .log_policy = POSIX_TRACE_APPEND });
}

START_TEST(a_child_that_ended_had_what_its_parent_had)
{
	trace_event_id_t id = type_of("a");
	int fd = log_file();
	trace_id_t trid = log_inherited(fd);
	pid_t child = fork();

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
	assert_from(fd, 1, program_path());
	assert_from(fd, 2, program_path());
	close(fd);
}
END_TEST

/* The child waits until it is traced, and lives until its parent has examined everything. */
START_TEST(it_is_reported_for_another_process_too)
{
	int fd = log_file();
	struct side side = part();
	trace_id_t trid;

	if (!side.child) {
		trace_event_id_t id = type_of("a");
		struct plugin first;

		say(&side);
		hear(&side);
		trace_number(id, 1);
		first = plugin_load("first");
		first.trace(id, 2);
		say(&side);
		hear(&side);
		first.trace(id, 3);
		say(&side);
		hear_of_leaving(&side);
		_exit(0);
	}
	hear(&side);
	trid = log_attach_started(side.child, fd,
				  &(struct log_wish){ .log_policy = POSIX_TRACE_APPEND });
	say(&side);
	hear(&side);
	OK(posix_trace_flush(trid));
	say(&side);
	hear(&side);
	shut(trid);
	leave(&side);
	assert_from(fd, 1, program_path());
	assert_from_plugin(fd, 3, "first");
	close(fd);
}
END_TEST

/*
 * No other process scans the child's mappings while the plugins are loaded. The child itself
 * reports when they were loaded and unloaded.
 */
START_TEST(reports_of_another_process_need_no_scan)
{
	int fd = log_file();
	struct side side = part();
	trace_id_t trid;

	if (!side.child) {
		trace_event_id_t id = type_of("a");
		struct plugin plugin;

		OK(posix_trace_mapping_publish_np()); /* no controller reads it yet */
		say(&side);
		hear(&side);
		OK(posix_trace_mapping_publish_np());
		for (int i = 0; i < 4; i++) {
			plugin = plugin_load(i % 2 ? "second" : "first");
			plugin.trace(id, 1 + i);
			OK(posix_trace_mapping_publish_np());
			dlclose(plugin.handle);
			OK(posix_trace_mapping_publish_np());
		}
		plugin = plugin_load("first");
		plugin.trace(id, 5);
		OK(posix_trace_mapping_publish_np());
		_exit(0);
	}
	hear(&side);
	trid = log_until_full(side.child, fd);
	say(&side);
	leave(&side);
	shut(trid);
	for (int i = 0; i < 5; i++)
		assert_from_plugin(fd, 1 + i, i % 2 ? "second" : "first");
	close(fd);
}
END_TEST

/*
 * In one of the two runs, the last report before the list is full is that the first plugin is
 * loaded; the second plugin is loaded afterwards. In the other run, the last report is that the
 * first plugin was unloaded.
 */
START_TEST(a_lost_report_makes_no_earlier_report_wrong)
{
	struct posix_trace_mapping_np mapping;
	char path[PATH_MAX];
	int fd = log_file();
	struct side side = part();
	trace_id_t trid;

	if (!side.child) {
		trace_event_id_t id = type_of("a");
		struct plugin plugin;

		OK(posix_trace_mapping_publish_np()); /* no controller reads it yet */
		say(&side);
		hear(&side);
		OK(posix_trace_mapping_publish_np());
		ck_assert(!_i || dlopen("libresolv.so.2", RTLD_NOW)); /* a further report */
		for (int told = 0; !told;) {
			plugin = plugin_load("first");
			told = posix_trace_mapping_publish_np();
			dlclose(plugin.handle);
			told = told ? told : posix_trace_mapping_publish_np();
		}
		plugin = plugin_load("second");
		plugin.trace(id, 1);
		_exit(0);
	}
	hear(&side);
	trid = log_until_full(side.child, fd);
	say(&side);
	leave(&side);
	shut(trid);
	if (mapping_of(fd, 1, &mapping, path))
		assert_from_plugin(fd, 1, "second");
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

/* Flushes a log of this process. The flush scans the mappings. */
static void log_something(void)
{
	struct posix_trace_mapping_np mapping;
	trace_event_id_t id = type_of("a");
	char path[PATH_MAX];
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_APPEND);

	trace_number(id, 1);
	shut(trid);
	assert_from(fd, 1, program_path());
	ck_assert(mapping_of(fd, 1, &mapping, path));
	close(fd);
}

#ifdef __SANITIZE_THREAD__
enum { WAYS_TO_END = 0 }; /* a child of a thread may create no threads there */
#else
enum { WAYS_TO_END = 2 };
#endif

#ifdef __SANITIZE_ADDRESS__
static int is_without_lock;

/*
 * At exit, the leak check of the sanitizer also acquires the linker's lock, unless this function
 * returns 1.
 */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return is_without_lock;
}

static void exit_without_lock(void)
{
	is_without_lock = 1;
	exit(0);
}
#else
static void exit_without_lock(void)
{
	exit(0);
}
#endif

/*
 * The child inherits the dynamic linker's lock in the state that a thread of the parent has left.
 * The child does not have this thread. If the fork hangs, the test times out.
 */
START_TEST(a_child_ends_whatever_a_thread_of_its_parent_did_to_the_linker)
{
	int fd = log_file(), held[2];
	trace_id_t trid = log_inherited(fd);
	pid_t child = fork(); /* another process traces the child from now on */
	char byte;

	if (!child) {
		pthread_t thread;

		ck_assert_int_eq(pipe(held), 0);
		ck_assert_int_eq(pthread_create(&thread, NULL, hold_linker_for_good, held), 0);
		ck_assert_int_eq(read(held[0], &byte, 1), 1);
		child = fork();
		if (!child) {
			if (_i)
				log_something();
			exit_without_lock();
		}
		wait_well(child);
		_exit(0);
	}
	wait_well(child);
	shut(trid);
	close(fd);
}
END_TEST

/*
 * The process was scanned while it lived, or it ended before any scan. After exec it has other
 * files.
 */
START_TEST(a_target_that_executes_has_the_files_of_its_new_program)
{
	struct puppet puppet = puppet_start();
	struct posix_trace_mapping_np mapping;
	char path[PATH_MAX];
	int fd = log_file();
	trace_id_t trid = log_until_full(puppet.pid, fd);

	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_EXEC);
	for (int i = 0; i < 3; i++)
		puppet_tell(&puppet, PUPPET_ONE);
	if (_i)
		puppet_end(&puppet);
	shut(trid);
	if (!_i)
		puppet_end(&puppet);
	assert_from(fd, 1, program_path());
	ck_assert(mapping_of(fd, 3, &mapping, path));
	ck_assert_str_ne(path, program_path());
	close(fd);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("posix_trace_mapping_getnext_np: other processes", &tc);

	tcase_add_test(tc, a_child_that_ended_had_what_its_parent_had);
	tcase_add_test(tc, it_is_reported_for_another_process_too);
	tcase_add_test(tc, reports_of_another_process_need_no_scan);
	tcase_add_loop_test(tc, a_lost_report_makes_no_earlier_report_wrong, 0, 2);
	tcase_add_loop_test(tc, a_child_ends_whatever_a_thread_of_its_parent_did_to_the_linker, 0,
			    WAYS_TO_END);
	tcase_add_loop_test(tc, a_target_that_executes_has_the_files_of_its_new_program, 0, 2);
	return suite;
}

SUITE_MAIN_OF(build)
