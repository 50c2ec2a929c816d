/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_attr_setbacking_np(): a stream's memory in a file, and the events that remain in
 * it. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/box.h"
#include "support/numbers.h"
#include "support/small_device.h"

START_TEST(a_stream_that_was_shut_down_is_in_its_file)
{
	trace_event_id_t early = type_of("early"), late;
	trace_id_t trid, log;
	trace_attr_t attr;
	char name[TRACE_NAME_MAX + 1];
	int fd;

	box_new_path();
	trid = BACKED(.policy = POSIX_TRACE_LOOP, .name = "box");
	start(trid);
	trace_number(early, 1);
	late = type_of("late");
	trace_number(late, 2);
	shut(trid);
	fd = box_recover_whole();
	ck_assert_log_all(fd, "START early=1 late=2 STOP(0)");
	assert_log_whole(fd);
	log = log_open(fd);
	OK(posix_trace_get_attr(log, &attr));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "box");
	log_close(log);
	ck_assert_int_eq(log_info(fd).pid, getpid());
	close(fd);
	unlink(box_path);
}
END_TEST

START_TEST(one_that_goes_on_can_be_copied)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid;
	int fd;

	box_new_path();
	trid = BACKED(.policy = POSIX_TRACE_UNTIL_FULL);
	start(trid);
	trace_number(n, 1);
	fd = box_recover_whole();
	ck_assert_log_all(fd, "START n=1");
	close(fd);
	trace_number(n, 2);
	ck_assert_events(trid, "START n=1 n=2");
	shut(trid);
	unlink(box_path);
}
END_TEST

#define WRITERS 4

/*
 * The progress of the threads of a child: each thread stores the number of its last recorded event.
 */
static _Atomic int64_t *told;

static void *write_and_tell(void *arg)
{
	uint64_t thread = (uint64_t)(uintptr_t)arg;
	trace_event_id_t id;

	if (posix_trace_eventid_open("number", &id))
		_exit(1);
	for (uint64_t i = 0;; i++) {
		numbers_write(id, thread, i, i);
		atomic_store(&told[thread], (int64_t)i);
	}
	return NULL;
}

static pid_t start_writers(int policy)
{
	pid_t child;

	told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(told, MAP_FAILED);
	for (int i = 0; i < WRITERS; i++)
		atomic_store(&told[i], -1);
	child = fork();
	if (child == 0) {
		start(BACKED(.policy = policy, .size = 1 << 18));
		for (uintptr_t i = 0; i < WRITERS; i++)
			spawn(write_and_tell, (void *)i);
		for (;;)
			pause();
	}
	return child;
}

/* The child is killed while it records an event, changes chunks, or counts overwritten events. */
START_TEST(events_of_a_killed_process_are_there)
{
	struct numbered numbered;
	uint64_t events = 0;
	pid_t child;
	int fd;

	box_new_path();
	child = start_writers(POSIX_TRACE_LOOP);
	for (int i = 0; i < WRITERS; i++)
		wait_until(atomic_load(&told[i]) > 20000 + 777 * _i);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	fd = box_recover_whole();
	numbered = numbers_read(fd);
	for (int i = 0; i < WRITERS; i++) {
		int64_t last = atomic_load(&told[i]);

		/*
		 * The events of a thread that ran long ago may be overwritten. The file has the
		 * last event of every other thread.
		 */
		if (numbered.last[i] < 0) {
			events = 0;
			break;
		}
		ck_assert_int_ge(numbered.last[i], last);
		ck_assert_int_le(numbered.last[i], last + 1);
		events += (uint64_t)numbered.last[i] + 1;
	}
	/* START, which was overwritten, and OVERFLOW and RESUME. */
	if (events)
		ck_assert_uint_eq(numbered.ledger.called, events + 3);
	close(fd);
	munmap((void *)told, 4096);
	unlink(box_path);
}
END_TEST

START_TEST(a_full_one_has_its_beginning)
{
	struct numbered numbered;
	pid_t child;
	int fd;

	box_new_path();
	child = start_writers(POSIX_TRACE_UNTIL_FULL);
	for (int i = 0; i < WRITERS; i++)
		wait_until(atomic_load(&told[i]) > 20000);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	fd = box_recover_whole();
	numbered = numbers_read(fd);
	ck_assert_uint_gt(numbered.ledger.lost[POSIX_TRACE_LOST_STREAM_FULL_NP], 0);
	ck_assert_int_eq(log_status(fd).posix_stream_full_status, POSIX_TRACE_FULL);
	close(fd);
	munmap((void *)told, 4096);
	unlink(box_path);
}
END_TEST

static void *write_few(void *arg)
{
	numbers_write(*(trace_event_id_t *)arg, 0, 0, 0);
	return NULL;
}

/*
 * Further rings have memory of their own. The file gets the blocks for this memory when a ring
 * needs it.
 */
START_TEST(many_threads_have_room)
{
	trace_event_id_t n = type_of("n");
	pthread_t thread[60];
	struct history *history;
	trace_id_t trid;
	int fd;

	box_new_path();
	trid = BACKED(.policy = POSIX_TRACE_LOOP);
	start(trid);
	for (int i = 0; i < 60; i++)
		thread[i] = spawn(write_few, &n);
	for (int i = 0; i < 60; i++)
		join(thread[i]);
	shut(trid);
	fd = box_recover_whole();
	history = log_history(fd);
	ck_assert_uint_eq(history_count(history, n), 60);
	history_free(history);
	close(fd);
	unlink(box_path);
}
END_TEST

START_TEST(the_file_is_new_and_its_owners_alone)
{
	trace_attr_t attr;
	trace_id_t trid, other;
	struct stat st;
	char other_path[80];

	box_new_path();
	trid = BACKED();
	ck_assert_int_eq(stat(box_path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert(S_ISREG(st.st_mode));
	box_attr(&attr, &(struct wish){ .name = "second" });
	FAILS(EEXIST, posix_trace_create(0, &attr, &other));
	shut(trid);
	FAILS(EEXIST, posix_trace_create(0, &attr, &other)); /* the file is evidence now and must
							      * not change */
	/* The library does not follow a symbolic link, whatever its target is. */
	snprintf(other_path, sizeof(other_path), "%s.else", box_path);
	unlink(box_path);
	ck_assert_int_eq(symlink(other_path, box_path), 0);
	FAILS(EEXIST, posix_trace_create(0, &attr, &other));
	ck_assert_int_ne(access(other_path, F_OK), 0);
	unlink(box_path);
}
END_TEST

START_TEST(a_failed_creation_leaves_no_file)
{
	struct rlimit limit, small;
	trace_attr_t attr;
	trace_id_t trid;

	box_new_path();
	box_attr(&attr, &(struct wish){ .inheritance = POSIX_TRACE_INHERITED });
	FAILS(ENOTSUP, posix_trace_create(0, &attr, &trid));
	box_attr(&attr, &(struct wish){ .name = "another's" });
	FAILS(ENOTSUP, posix_trace_create(getppid(), &attr, &trid));
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 1 << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	FAILS(EFBIG, posix_trace_create(0, &attr, &trid));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_ne(access(box_path, F_OK), 0);
	OK(posix_trace_attr_setbacking_np(&attr, "/nowhere/at/all"));
	FAILS(ENOENT, posix_trace_create(0, &attr, &trid));
}
END_TEST

START_TEST(a_full_disk_is_reported_at_creation)
{
	const char *folder = small_device(256 * 1024);
	trace_attr_t attr;
	trace_id_t trid;

	if (!folder)
		return;
	snprintf(box_path, sizeof(box_path), "%s/box", folder);
	box_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_LOOP });
	FAILS(ENOSPC, posix_trace_create(0, &attr, &trid));
	ck_assert_int_ne(access(box_path, F_OK), 0);
}
END_TEST

START_TEST(the_attribute_is_a_path)
{
	char text[POSIX_TRACE_BACKING_MAX_NP + 2], got[POSIX_TRACE_BACKING_MAX_NP + 1];
	trace_attr_t attr;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_getbacking_np(&attr, got));
	ck_assert_str_eq(got, "");
	OK(posix_trace_attr_setbacking_np(&attr, "box"));
	OK(posix_trace_attr_getbacking_np(&attr, got));
	ck_assert_str_eq(got, "box");
	memset(text, 'x', sizeof(text));
	text[POSIX_TRACE_BACKING_MAX_NP + 1] = '\0';
	FAILS(ENAMETOOLONG, posix_trace_attr_setbacking_np(&attr, text));
	text[POSIX_TRACE_BACKING_MAX_NP] = '\0';
	OK(posix_trace_attr_setbacking_np(&attr, text));
	OK(posix_trace_attr_getbacking_np(&attr, got));
	ck_assert_str_eq(got, text);
	OK(posix_trace_attr_setbacking_np(&attr, NULL));
	OK(posix_trace_attr_getbacking_np(&attr, got));
	ck_assert_str_eq(got, "");
	FAILS(EINVAL, posix_trace_attr_getbacking_np(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setbacking_np(NULL, "box"));
	OK(posix_trace_attr_destroy(&attr));
	FAILS(EINVAL, posix_trace_attr_setbacking_np(&attr, "box"));
	FAILS(EINVAL, posix_trace_attr_getbacking_np(&attr, got));
}
END_TEST

START_TEST(a_child_has_no_part_in_it)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid;
	pid_t child;
	int fd;

	box_new_path();
	trid = BACKED();
	start(trid);
	trace_number(n, 1);
	child = fork();
	if (child == 0) {
		trace_number(n, 2);
		type_of("the child's");
		_exit(0);
	}
	wait_well(child);
	trace_number(n, 3);
	shut(trid);
	fd = box_recover_whole();
	ck_assert_log_all(fd, "START n=1 n=3 STOP(0)");
	close(fd);
	unlink(box_path);
}
END_TEST

static Suite *backing_suite(void)
{
	TCase *tc;
	Suite *suite = support_suite("posix_trace_attr_setbacking_np", &tc);

	tcase_add_test(tc, a_stream_that_was_shut_down_is_in_its_file);
	tcase_add_test(tc, one_that_goes_on_can_be_copied);
	tcase_add_loop_test(tc, events_of_a_killed_process_are_there, 0, 10);
	tcase_add_test(tc, a_full_one_has_its_beginning);
	tcase_add_test(tc, many_threads_have_room);
	tcase_add_test(tc, the_file_is_new_and_its_owners_alone);
	tcase_add_test(tc, a_failed_creation_leaves_no_file);
	tcase_add_test(tc, a_full_disk_is_reported_at_creation);
	tcase_add_test(tc, the_attribute_is_a_path);
	tcase_add_test(tc, a_child_has_no_part_in_it);
	return suite;
}

SUITE_MAIN_OF(backing_suite)
