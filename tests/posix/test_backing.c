/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_attr_setbacking_np(): a stream's memory in a file, and what is left in it. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/numbers.h"

static char path[64];

static void new_path(void)
{
	snprintf(path, sizeof(path), "/tmp/posixtrace-box-%d", (int)getpid());
	unlink(path);
}

static void backed_attr(trace_attr_t *attr, const struct wish *wish)
{
	wish_attr(attr, wish);
	OK(posix_trace_attr_setbacking_np(attr, path));
}

static trace_id_t create_backed(const struct wish *wish)
{
	trace_attr_t attr;
	trace_id_t trid;

	backed_attr(&attr, wish);
	OK(posix_trace_create(0, &attr, &trid));
	OK(posix_trace_attr_destroy(&attr));
	return trid;
}

#define BACKED(...) create_backed(&(struct wish){ __VA_ARGS__ })

struct recovery {
	int fd;  /* a log of the stream in the file; -1: none */
	int err; /* why not */
	unsigned faults;
};

static void recover_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	struct recovery *recovery = arg;
	int fd = log_file();

	recovery->err = posix_trace_snapshot_np(stream, fd);
	if (recovery->err)
		close(fd);
	else
		recovery->fd = fd;
}

static void count_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	struct recovery *recovery = arg;

	ck_assert_ptr_nonnull(fault->reason);
	recovery->faults++;
}

static struct recovery recover(void)
{
	struct recovery recovery = { .fd = -1 };
	int err, fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	err = posix_trace_look_file_np(fd, recover_stream, count_fault, &recovery);
	if (err)
		recovery.err = err;
	close(fd);
	return recovery;
}

static int recover_whole(void)
{
	struct recovery recovery = recover();

	ck_assert_int_eq(recovery.err, 0);
	ck_assert_uint_eq(recovery.faults, 0);
	ck_assert_int_ge(recovery.fd, 0);
	return recovery.fd;
}

START_TEST(a_stream_that_was_shut_down_is_in_its_file)
{
	trace_event_id_t early = type_of("early"), late;
	trace_id_t trid, log;
	trace_attr_t attr;
	char name[TRACE_NAME_MAX + 1];
	int fd;

	new_path();
	trid = BACKED(.policy = POSIX_TRACE_LOOP, .name = "box");
	start(trid);
	trace_number(early, 1);
	late = type_of("late");
	trace_number(late, 2);
	shut(trid);
	fd = recover_whole();
	ck_assert_log_all(fd, "START early=1 late=2 STOP(0)");
	assert_log_whole(fd);
	log = log_open(fd);
	OK(posix_trace_get_attr(log, &attr));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "box");
	log_close(log);
	ck_assert_int_eq(log_info(fd).pid, getpid());
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(one_that_goes_on_can_be_copied)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid;
	int fd;

	new_path();
	trid = BACKED(.policy = POSIX_TRACE_UNTIL_FULL);
	start(trid);
	trace_number(n, 1);
	fd = recover_whole();
	ck_assert_log_all(fd, "START n=1");
	close(fd);
	trace_number(n, 2);
	ck_assert_events(trid, "START n=1 n=2");
	shut(trid);
	unlink(path);
}
END_TEST

#define WRITERS 4

/* How far the threads of a child have come: what they have recorded, they say. */
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

/* Killed in the middle of an event, of a chunk, of counting what it overwrites. */
START_TEST(what_a_killed_process_had_recorded_is_there)
{
	struct numbered numbered;
	uint64_t events = 0;
	pid_t child;
	int fd;

	new_path();
	child = start_writers(POSIX_TRACE_LOOP);
	for (int i = 0; i < WRITERS; i++)
		wait_until(atomic_load(&told[i]) > 20000 + 777 * _i);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	fd = recover_whole();
	numbered = numbers_read(fd);
	for (int i = 0; i < WRITERS; i++) {
		int64_t last = atomic_load(&told[i]);

		/* A thread that ran long ago may have been overwritten; nobody's last is missing. */
		if (numbered.last[i] < 0) {
			events = 0;
			break;
		}
		ck_assert_int_ge(numbered.last[i], last);
		ck_assert_int_le(numbered.last[i], last + 1);
		events += (uint64_t)numbered.last[i] + 1;
	}
	/* START, which was overwritten, OVERFLOW and RESUME. */
	if (events)
		ck_assert_uint_eq(numbered.ledger.called, events + 3);
	close(fd);
	munmap((void *)told, 4096);
	unlink(path);
}
END_TEST

START_TEST(a_full_one_has_its_beginning)
{
	struct numbered numbered;
	pid_t child;
	int fd;

	new_path();
	child = start_writers(POSIX_TRACE_UNTIL_FULL);
	for (int i = 0; i < WRITERS; i++)
		wait_until(atomic_load(&told[i]) > 20000);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	fd = recover_whole();
	numbered = numbers_read(fd);
	ck_assert_uint_gt(numbered.ledger.lost[POSIX_TRACE_LOST_STREAM_FULL_NP], 0);
	ck_assert_int_eq(log_status(fd).posix_stream_full_status, POSIX_TRACE_FULL);
	close(fd);
	munmap((void *)told, 4096);
	unlink(path);
}
END_TEST

static void *write_few(void *arg)
{
	numbers_write(*(trace_event_id_t *)arg, 0, 0, 0);
	return NULL;
}

/* Further rings bring memory of their own, which is allocated in the file then. */
START_TEST(many_threads_have_room)
{
	trace_event_id_t n = type_of("n");
	pthread_t thread[60];
	struct history *history;
	trace_id_t trid;
	int fd;

	new_path();
	trid = BACKED(.policy = POSIX_TRACE_LOOP);
	start(trid);
	for (int i = 0; i < 60; i++)
		thread[i] = spawn(write_few, &n);
	for (int i = 0; i < 60; i++)
		join(thread[i]);
	shut(trid);
	fd = recover_whole();
	history = log_history(fd);
	ck_assert_uint_eq(history_count(history, n), 60);
	history_free(history);
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(the_file_is_new_and_its_owners_alone)
{
	trace_attr_t attr;
	trace_id_t trid, other;
	struct stat st;
	char other_path[80];

	new_path();
	trid = BACKED();
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert(S_ISREG(st.st_mode));
	backed_attr(&attr, &(struct wish){ .name = "second" });
	FAILS(EEXIST, posix_trace_create(0, &attr, &other));
	shut(trid);
	FAILS(EEXIST, posix_trace_create(0, &attr, &other)); /* it is evidence by now */
	/* A link is not followed, wherever it leads. */
	snprintf(other_path, sizeof(other_path), "%s.else", path);
	unlink(path);
	ck_assert_int_eq(symlink(other_path, path), 0);
	FAILS(EEXIST, posix_trace_create(0, &attr, &other));
	ck_assert_int_ne(access(other_path, F_OK), 0);
	unlink(path);
}
END_TEST

START_TEST(what_cannot_be_had_leaves_no_file)
{
	struct rlimit limit, small;
	trace_attr_t attr;
	trace_id_t trid;

	new_path();
	backed_attr(&attr, &(struct wish){ .inheritance = POSIX_TRACE_INHERITED });
	FAILS(ENOTSUP, posix_trace_create(0, &attr, &trid));
	backed_attr(&attr, &(struct wish){ .name = "another's" });
	FAILS(ENOTSUP, posix_trace_create(getppid(), &attr, &trid));
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 1 << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	FAILS(EFBIG, posix_trace_create(0, &attr, &trid));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
	OK(posix_trace_attr_setbacking_np(&attr, "/nowhere/at/all"));
	FAILS(ENOENT, posix_trace_create(0, &attr, &trid));
}
END_TEST

START_TEST(a_full_disk_is_told_at_creation)
{
	const char *folder = small_device(256 * 1024);
	trace_attr_t attr;
	trace_id_t trid;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/box", folder);
	backed_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_LOOP });
	FAILS(ENOSPC, posix_trace_create(0, &attr, &trid));
	ck_assert_int_ne(access(path, F_OK), 0);
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

	new_path();
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
	fd = recover_whole();
	ck_assert_log_all(fd, "START n=1 n=3 STOP(0)");
	close(fd);
	unlink(path);
}
END_TEST

static uint64_t random_state;

static uint64_t random_below(uint64_t end)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (random_state >> 17) % end;
}

/* Where something is: the beginning, the lists, the region's words, its chunks. */
static uint64_t random_place(uint64_t bytes)
{
	static const uint64_t part[] = { 256, 16384, 65536 };
	uint64_t choice = random_below(5);

	if (choice < 3)
		return random_below(part[choice]);
	return (1 << 20) + random_below(choice == 3 ? 1 << 18 : bytes - (1 << 20));
}

static void damage(uint64_t bytes)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	for (uint64_t i = random_below(20) + 1; i > 0; i--) {
		uint64_t at = random_place(bytes);
		unsigned char byte;

		if (pread(fd, &byte, 1, (off_t)at) != 1)
			continue;
		byte = random_below(2) ? (unsigned char)(byte ^ 1u << random_below(8)) :
					 (unsigned char)random_below(256);
		ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
	}
	if (random_below(4) == 0)
		ck_assert_int_eq(ftruncate(fd, (off_t)random_below(bytes)), 0);
	close(fd);
}

/* BACKING_CASES more for a longer look. */
START_TEST(of_a_damaged_file_there_is_a_whole_log_or_an_error)
{
	const char *more = getenv("BACKING_CASES");
	int cases = more ? atoi(more) : 30;

	for (int i = 0; i < cases; i++) {
		struct recovery recovery;
		trace_id_t trid;

		new_path();
		random_state = (uint64_t)(i + 1) * 977;
		trid = BACKED(.policy = i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
			      .size = 1 << 14, .max_data = 64);
		start(trid);
		numbers_write(type_of("n"), 0, 0, 5000);
		shut(trid);
		damage(2 << 20);
		recovery = recover();
		if (recovery.fd >= 0) {
			assert_log_whole(recovery.fd);
			close(recovery.fd);
		} else {
			ck_assert_int_ne(recovery.err, -1);
		}
		unlink(path);
	}
}
END_TEST

static void leave_box(void)
{
	trace_id_t trid = BACKED(.policy = POSIX_TRACE_LOOP, .size = 1 << 16, .max_data = 64);

	start(trid);
	numbers_write(type_of("n"), 0, 0, 5000);
	shut(trid);
}

/* Counters everywhere: no sum of them wraps, and what was left out is told. */
START_TEST(counts_that_cannot_be_are_left_out)
{
	for (unsigned i = 0; i < 10; i++) {
		struct recovery recovery;
		int fd;

		new_path();
		leave_box();
		random_state = (i + 1) * 977;
		fd = open(path, O_WRONLY | O_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		for (int n = 0; n < 300; n++) {
			unsigned char byte = (unsigned char)random_below(256);
			off_t at = (off_t)((1 << 20) + 512 + random_below(190000));

			ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		}
		close(fd);
		recovery = recover();
		ck_assert_int_ge(recovery.fd, 0);
		ck_assert_uint_gt(recovery.faults, 0);
		assert_log_whole(recovery.fd);
		close(recovery.fd);
		unlink(path);
	}
}
END_TEST

static uint64_t events_in(int fd)
{
	trace_id_t trid = log_open(fd);
	uint64_t events = ledger_total(trid).reported;

	log_close(trid);
	return events;
}

/* Memory that holds events comes last in the file: where it was cut, what is before the cut is there. */
START_TEST(of_a_file_that_was_cut_the_rest_is_there)
{
	uint64_t all, before;
	unsigned parts = 0;
	struct stat st;
	int fd;

	new_path();
	leave_box();
	fd = recover_whole();
	all = before = events_in(fd);
	close(fd);
	ck_assert_int_eq(stat(path, &st), 0);
	for (off_t bytes = st.st_size; bytes > 0; bytes -= 16384) {
		struct recovery recovery;
		uint64_t events;

		ck_assert_int_eq(truncate(path, bytes), 0);
		recovery = recover();
		if (recovery.fd < 0)
			break;
		assert_log_whole(recovery.fd);
		events = events_in(recovery.fd);
		close(recovery.fd);
		ck_assert_uint_le(events, before);
		if (events < all) {
			ck_assert_uint_gt(recovery.faults, 0);
			parts += events > 0;
		}
		before = events;
	}
	ck_assert_uint_gt(parts, 0);
	unlink(path);
}
END_TEST

START_TEST(what_is_no_backing_file_is_told)
{
	struct recovery recovery;
	int fd;

	new_path();
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	recovery = recover();
	ck_assert_int_eq(recovery.err, EINVAL);
	ck_assert_uint_eq(recovery.faults, 1);
	ck_assert_int_eq(ftruncate(fd, 4 << 20), 0);
	recovery = recover();
	ck_assert_int_eq(recovery.err, EINVAL);
	FAILS(EINVAL, posix_trace_look_file_np(fd, NULL, NULL, NULL));
	close(fd);
	FAILS(EBADF, posix_trace_look_file_np(fd, recover_stream, NULL, &recovery));
	unlink(path);
}
END_TEST

static Suite *backing_suite(void)
{
	TCase *tc;
	Suite *suite = support_suite("posix_trace_attr_setbacking_np", &tc);

	tcase_add_test(tc, a_stream_that_was_shut_down_is_in_its_file);
	tcase_add_test(tc, one_that_goes_on_can_be_copied);
	tcase_add_loop_test(tc, what_a_killed_process_had_recorded_is_there, 0, 10);
	tcase_add_test(tc, a_full_one_has_its_beginning);
	tcase_add_test(tc, many_threads_have_room);
	tcase_add_test(tc, the_file_is_new_and_its_owners_alone);
	tcase_add_test(tc, what_cannot_be_had_leaves_no_file);
	tcase_add_test(tc, a_full_disk_is_told_at_creation);
	tcase_add_test(tc, the_attribute_is_a_path);
	tcase_add_test(tc, a_child_has_no_part_in_it);
	tcase_add_test(tc, of_a_damaged_file_there_is_a_whole_log_or_an_error);
	tcase_add_test(tc, counts_that_cannot_be_are_left_out);
	tcase_add_test(tc, of_a_file_that_was_cut_the_rest_is_there);
	tcase_add_test(tc, what_is_no_backing_file_is_told);
	return suite;
}

SUITE_MAIN_OF(backing_suite)
