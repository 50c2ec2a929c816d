/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which file the address of an event is in: the program, plugins that come and go, children, others. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "support/log.h"
#include "support/puppet.h"

static const int log_policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

static const char *program(void)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	ck_assert_int_gt(len, 0);
	path[len] = '\0';
	return path;
}

/* The event with that number in the log, and what is known of its address; false: nothing. */
static bool mapping_of(int fd, int number, struct posix_trace_mapping_np *mapping, char *path)
{
	struct posix_trace_event_np event;
	trace_id_t trid = log_open(fd);
	int unavailable, value, err;
	bool found = false;

	for (;;) {
		OK(posix_trace_getnext_np(trid, &event, &unavailable));
		ck_assert_msg(!unavailable, "there is no event %d", number);
		if (event.data_len != sizeof(value) ||
		    event.info.posix_event_id <= POSIX_TRACE_FLUSH_STOP)
			continue;
		memcpy(&value, event.data, sizeof(value));
		if (value == number)
			break;
	}
	err = posix_trace_mapping_find_np(trid, event.info.posix_pid,
					  (uintptr_t)event.info.posix_prog_address, event.time_ns,
					  mapping);
	if (err != ENOENT) {
		ck_assert_int_eq(err, 0);
		found = true;
		ck_assert_uint_le(mapping->start, (uintptr_t)event.info.posix_prog_address);
		ck_assert_uint_gt(mapping->end, (uintptr_t)event.info.posix_prog_address);
		snprintf(path, PATH_MAX, "%s", mapping->path);
	}
	log_close(trid);
	return found;
}

static void assert_from(int fd, int number, const char *expected)
{
	struct posix_trace_mapping_np mapping;
	char path[PATH_MAX], real[PATH_MAX];

	ck_assert_msg(mapping_of(fd, number, &mapping, path), "nothing is known of event %d", number);
	ck_assert_ptr_nonnull(realpath(path, real));
	ck_assert_str_eq(real, expected);
}

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

struct plugin {
	void *handle;
	void (*trace)(trace_event_id_t id, int number);
	char path[PATH_MAX];
};

static struct plugin load(const char *name)
{
	struct plugin plugin;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "posix/.libs/%s.so", name);
	ck_assert_ptr_nonnull(realpath(path, plugin.path));
	plugin.handle = dlopen(path, RTLD_NOW); /* from the working folder: the log has it whole */
	ck_assert_msg(plugin.handle, "%s", dlerror());
	*(void **)&plugin.trace = dlsym(plugin.handle, "plugin_trace");
	ck_assert_ptr_nonnull(plugin.trace);
	return plugin;
}

START_TEST(a_plugin_that_came_and_went_is_found_at_its_time)
{
	trace_event_id_t id = type_of("a");
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = log_policies[_i], .log_size = 100000);
	struct plugin first, second;

	first = load("first");
	first.trace(id, 1);
	OK(posix_trace_flush(trid));
	dlclose(first.handle);
	OK(posix_trace_flush(trid));
	second = load("second");
	second.trace(id, 2);
	shut(trid);
	assert_log_whole(fd);
	assert_from(fd, 1, first.path);
	assert_from(fd, 2, second.path);
	dlclose(second.handle);
	close(fd);
}
END_TEST

/* Wherever the dynamic linker put them: where it cannot be told, nothing is. */
START_TEST(of_plugins_between_two_looks_nothing_wrong_is_told)
{
	trace_event_id_t id = type_of("a");
	struct posix_trace_mapping_np mapping;
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND);
	char path[PATH_MAX], real[PATH_MAX];
	struct plugin plugin[5];

	for (int i = 0; i < 4; i++) {
		plugin[i] = load(i % 2 ? "second" : "first");
		plugin[i].trace(id, i);
		dlclose(plugin[i].handle);
		if (i == 1)
			OK(posix_trace_flush(trid));
	}
	/* It is there at two looks, but not in between. */
	plugin[0] = load("first");
	OK(posix_trace_flush(trid));
	dlclose(plugin[0].handle);
	plugin[4] = load("second");
	plugin[4].trace(id, 4);
	dlclose(plugin[4].handle);
	plugin[0] = load("first");
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

/* It came between two looks, and nothing else did: it was there all the time. */
START_TEST(a_plugin_that_stays_is_found_from_its_first_event_on)
{
	trace_event_id_t id = type_of("a");
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND);
	struct plugin first = load("first");

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
	assert_from(fd, 1, program());
	assert_from(fd, 2, program());
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
		first = load("first");
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
	assert_from(fd, 1, program());
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
			plugin = load(i % 2 ? "second" : "first");
			plugin.trace(id, 1 + i);
			OK(posix_trace_mapping_tell_np());
			dlclose(plugin.handle);
			OK(posix_trace_mapping_tell_np());
		}
		plugin = load("first");
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
			plugin = load("first");
			told = posix_trace_mapping_tell_np();
			dlclose(plugin.handle);
			told = told ? told : posix_trace_mapping_tell_np();
		}
		plugin = load("second");
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
	assert_from(fd, 1, program());
	ck_assert(mapping_of(fd, 1, &mapping, path));
	close(fd);
}

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
	assert_from(fd, 1, program());
	ck_assert(mapping_of(fd, 3, &mapping, path));
	ck_assert_str_ne(path, program());
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("posix_trace_mapping_getnext_np", &tc);

	tcase_add_loop_test(tc, an_event_of_the_program_is_in_its_file, 0, 3);
	tcase_add_test(tc, bad_arguments_are_refused);
	tcase_add_loop_test(tc, a_plugin_that_came_and_went_is_found_at_its_time, 0, 3);
	tcase_add_test(tc, of_plugins_between_two_looks_nothing_wrong_is_told);
	tcase_add_test(tc, a_plugin_that_stays_is_found_from_its_first_event_on);
	tcase_add_test(tc, a_child_that_ended_had_what_its_parent_had);
	tcase_add_test(tc, of_another_process_it_is_told_too);
	tcase_add_test(tc, what_another_process_tells_needs_no_look);
	tcase_add_loop_test(tc, what_could_not_be_told_makes_nothing_wrong_of_what_was, 0, 2);
	tcase_add_loop_test(tc, a_child_ends_whatever_a_thread_of_its_parent_did_to_the_linker, 0,
			    2);
	tcase_add_loop_test(tc, a_target_that_executes_has_the_files_of_its_new_program, 0, 2);
	return suite;
}

SUITE_MAIN_OF(build)
