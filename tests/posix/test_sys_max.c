/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TRACE_SYS_MAX: the number of streams of a user on a host, in all processes together. The suite
 * has a runtime folder of its own, so that it counts only its own streams.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/log.h"
#include "support/miser.h"
#include "support/stream.h"

static int create_small(trace_id_t *trid)
{
	trace_attr_t attr;

	wish_attr(&attr, &(struct wish){ .size = 4096 });
	return KEEPS_ERRNO(posix_trace_create(0, &attr, trid));
}

/* CREATE-11, CREATE-12, SHUT-02 */
START_TEST(streams_of_all_processes_count_together)
{
	struct miser miser[MISERS + 1];

	miser_start_all(miser, MISERS + 1);
	ck_assert_int_eq(miser_create_all(miser, MISERS + 1), TRACE_SYS_MAX);
	for (int i = 0; i < MISERS + 1; i++)
		ck_assert_int_eq(miser_tell(&miser[i], MISER_CREATE), EAGAIN);
	ck_assert_int_eq(miser_tell(&miser[1], MISER_SHUT), 0);
	ck_assert_int_eq(miser_tell(&miser[MISERS], MISER_CREATE), 0);
	ck_assert_int_eq(miser_tell(&miser[1], MISER_CREATE), EAGAIN);
	ck_assert_int_eq(miser_tell(&miser[MISERS], MISER_SHUT), 0);
	ck_assert_int_eq(miser_tell(&miser[1], MISER_CREATE), 0);
	miser_end(miser, MISERS + 1);
	ck_assert_int_eq(miser_count_free(), TRACE_SYS_MAX);
}
END_TEST

/* CREATE-12: one controller can use all places, but not all for one target */
START_TEST(one_process_can_have_all_streams)
{
	struct miser miser[MISERS];
	trace_id_t *trid = calloc(TRACE_SYS_MAX + 1, sizeof(*trid)), none = 77;
	trace_attr_t attr;
	int count = 0;

	wish_attr(&attr, &(struct wish){ .size = 4096 });
	miser_start_all(miser, MISERS);
	for (int i = 0; i < MISERS; i++) {
		for (int n = 0; n < MISER_MAX; n++)
			OK(posix_trace_create(miser[i].pid, &attr, &trid[count++]));
		FAILS(EAGAIN, posix_trace_create(miser[i].pid, &attr, &none));
	}
	FAILS(EAGAIN, posix_trace_create(0, &attr, &none));
	ck_assert_uint_eq(none, 77);
	shut(trid[--count]);
	OK(posix_trace_create(0, &attr, &trid[count++]));
	FAILS(EAGAIN, posix_trace_create(0, &attr, &none));
	while (count--)
		shut(trid[count]);
	ck_assert_int_eq(miser_create_all(miser, MISERS), TRACE_SYS_MAX);
	miser_end(miser, MISERS);
	free(trid);
}
END_TEST

/* CREATE-13, EXIT-01, EXIT-03: the process ends by SIGKILL, exit() or _exit() */
START_TEST(a_process_that_ends_frees_its_places)
{
	for (int way = 0; way < 3; way++) {
		struct miser miser[MISERS];

		miser_start_all(miser, MISERS);
		ck_assert_int_eq(miser_create_all(miser, MISERS), TRACE_SYS_MAX);
		if (way == 0)
			miser_kill(&miser[0]);
		else
			miser_exit(&miser[0], way == 1 ? MISER_EXIT : MISER_EXIT_AT_ONCE);
		miser[0] = miser_start();
		ck_assert_int_eq(miser_tell(&miser[0], MISER_CREATE_ALL), MISER_MAX);
		miser_end(miser, MISERS);
	}
}
END_TEST

/* EXIT-01, EXIT-02: also a controller with more streams than can trace one process */
START_TEST(a_process_that_exits_completes_all_its_logs)
{
	enum { MORE = 16, LOGS = MISER_MAX + MORE };
	struct miser miser = miser_start();
	trace_attr_t attr;
	trace_id_t trid;
	int fd[LOGS];
	pid_t child;

	log_wish_attr(&attr, &(struct log_wish){ .policy = POSIX_TRACE_LOOP, .size = 4096 });
	for (int i = 0; i < LOGS; i++)
		fd[i] = log_file();
	child = fork();
	if (child == 0) {
		for (int i = 0; i < LOGS; i++)
			if (posix_trace_create_withlog(i < MORE ? miser.pid : 0, &attr, fd[i],
						       &trid) ||
			    posix_trace_start(trid))
				_exit(1);
		exit(0);
	}
	wait_well(child);
	for (int i = 0; i < LOGS; i++) {
		ck_assert_log(fd[i], "START STOP(0)");
		ck_assert_int_eq(log_status(fd[i]).posix_stream_flush_error, 0);
		close(fd[i]);
	}
	miser_end(&miser, 1);
}
END_TEST

/* CREATE-13, EXEC-06 */
START_TEST(a_process_that_executes_a_program_frees_its_places)
{
	for (int way = 0; way < 2; way++) {
		struct miser miser[MISERS], other;

		miser_start_all(miser, MISERS);
		ck_assert_int_eq(miser_create_all(miser, MISERS), TRACE_SYS_MAX);
		ck_assert_int_eq(miser_tell(&miser[0], way ? MISER_EXEC_PLAIN : MISER_EXEC), 0);
		other = miser_start();
		ck_assert_int_eq(miser_tell(&other, MISER_CREATE_ALL), MISER_MAX);
		if (way == 0) {
			ck_assert_int_eq(miser_tell(&miser[0], MISER_CREATE), EAGAIN);
			ck_assert_int_eq(miser_tell(&other, MISER_SHUT), 0);
			ck_assert_int_eq(miser_tell(&miser[0], MISER_CREATE), 0);
		}
		miser_kill(&miser[0]);
		miser_end(&other, 1);
		miser_end(&miser[1], MISERS - 1);
	}
}
END_TEST

/* CREATE-13, CREATE-21, FORK-08 */
START_TEST(children_have_no_places_of_their_parents)
{
	struct miser miser[MISERS];

	NEEDS("wipe");
	miser_start_all(miser, MISERS);
	/* A child that lives occupies none of its parent's places. */
	ck_assert_int_eq(miser_create_all(miser, MISERS), TRACE_SYS_MAX);
	ck_assert_int_eq(miser_tell(&miser[0], MISER_FORK), 0);
	miser_kill(&miser[0]);
	miser[0] = miser_start();
	ck_assert_int_eq(miser_tell(&miser[0], MISER_CREATE_ALL), MISER_MAX);
	/*
	 * A child that creates a stream and ends frees none of its parent's places, even without a
	 * fork handler.
	 */
	ck_assert_int_eq(miser_tell(&miser[0], MISER_CLONE), EAGAIN);
	ck_assert_int_eq(miser_tell(&miser[1], MISER_SHUT), 0);
	ck_assert_int_eq(miser_tell(&miser[0], MISER_CLONE), 0);
	ck_assert_int_eq(miser_tell(&miser[1], MISER_CREATE), 0);
	ck_assert_int_eq(miser_count_free(), 0);
	miser_end(miser, MISERS);
}
END_TEST

/* CREATE-15 */
START_TEST(a_creation_that_fails_takes_no_place)
{
	struct miser miser = miser_start();

	ck_assert_int_eq(miser_tell(&miser, MISER_FAIL), 0);
	ck_assert_int_eq(miser_count_free(), TRACE_SYS_MAX);
	ck_assert_int_eq(miser_tell(&miser, MISER_CREATE), 0);
	ck_assert_int_eq(miser_tell(&miser, MISER_FAIL), 0);
	ck_assert_int_eq(miser_count_free(), TRACE_SYS_MAX - 1);
	miser_end(&miser, 1);
}
END_TEST

/*
 * CREATE-12: a program that closes descriptors that it has not opened acquires its places again at
 * its next creation
 */
START_TEST(places_are_taken_again_when_the_program_closed_their_file)
{
	struct miser miser[MISERS];

	miser_start_all(miser, MISERS);
	ck_assert_int_eq(miser_create_all(miser, MISERS), TRACE_SYS_MAX);
	ck_assert_int_eq(miser_tell(&miser[0], MISER_CLOSE), 0);
	ck_assert_int_eq(miser_tell(&miser[0], MISER_SHUT), 0);
	ck_assert_int_eq(miser_tell(&miser[0], MISER_CREATE), 0);
	ck_assert_int_eq(miser_count_free(), 0);
	for (int i = 0; i < MISER_MAX; i++)
		ck_assert_int_eq(miser_tell(&miser[0], MISER_SHUT), 0);
	ck_assert_int_eq(miser_count_free(), MISER_MAX);
	miser_end(miser, MISERS);
}
END_TEST

/*
 * All threads try at the same time. The threads that got a place free it when all have tried. The
 * test repeats this.
 */
enum { RACERS = 16, PLACES = 5, ROUNDS = 100 };

struct race {
	pthread_barrier_t begin, end;
	atomic_int winners;
};

static void *run(void *arg)
{
	struct race *race = arg;
	trace_id_t trid;

	for (int round = 0; round < ROUNDS; round++) {
		int err;

		pthread_barrier_wait(&race->begin);
		err = create_small(&trid);
		ck_assert(err == 0 || err == EAGAIN);
		if (!err)
			atomic_fetch_add(&race->winners, 1);
		pthread_barrier_wait(&race->end);
		if (!err)
			OK(posix_trace_shutdown(trid));
	}
	return NULL;
}

static struct race *prepare_race(struct miser miser[MISERS])
{
	pthread_barrierattr_t shared;
	struct race *race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(race, MAP_FAILED);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&race->begin, &shared, RACERS);
	pthread_barrier_init(&race->end, &shared, RACERS);
	miser_start_all(miser, MISERS);
	ck_assert_int_eq(miser_create_all(miser, MISERS), TRACE_SYS_MAX);
	for (int i = 0; i < PLACES; i++)
		ck_assert_int_eq(miser_tell(&miser[i % MISERS], MISER_SHUT), 0);
	return race;
}

/* CREATE-12 */
START_TEST(processes_that_race_get_every_place_once)
{
	struct miser miser[MISERS];
	struct race *race = prepare_race(miser);
	pid_t racer[RACERS];

	for (int i = 0; i < RACERS; i++) {
		racer[i] = fork();
		if (racer[i] == 0) {
			run(race);
			_exit(0);
		}
	}
	for (int i = 0; i < RACERS; i++)
		wait_well(racer[i]);
	ck_assert_int_eq(race->winners, ROUNDS * PLACES);
	miser_end(miser, MISERS);
}
END_TEST

/* CREATE-12 */
START_TEST(threads_that_race_get_every_place_once)
{
	struct miser miser[MISERS];
	struct race *race = prepare_race(miser);
	pthread_t racer[RACERS];

	for (int i = 0; i < RACERS; i++)
		racer[i] = spawn(run, race);
	for (int i = 0; i < RACERS; i++)
		join(racer[i]);
	ck_assert_int_eq(race->winners, ROUNDS * PLACES);
	miser_end(miser, MISERS);
}
END_TEST

/* SHUT-02 */
START_TEST(a_process_keeps_nothing_open_without_streams)
{
	int before = support_descriptors();
	trace_id_t trid[2];

	OK(create_small(&trid[0]));
	OK(create_small(&trid[1]));
	shut(trid[0]);
	ck_assert_int_eq(support_descriptors(), before + 1);
	shut(trid[1]);
	ck_assert_int_eq(support_descriptors(), before);
}
END_TEST

SUITE_NEEDS("exec");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("TRACE_SYS_MAX", &tc);

	tcase_add_checked_fixture(tc, folder_clear, NULL);
	tcase_add_test(tc, streams_of_all_processes_count_together);
	tcase_add_test(tc, one_process_can_have_all_streams);
	tcase_add_test(tc, a_process_that_ends_frees_its_places);
	tcase_add_test(tc, a_process_that_exits_completes_all_its_logs);
	tcase_add_test(tc, a_process_that_executes_a_program_frees_its_places);
	tcase_add_test(tc, children_have_no_places_of_their_parents);
	tcase_add_test(tc, a_creation_that_fails_takes_no_place);
	tcase_add_test(tc, places_are_taken_again_when_the_program_closed_their_file);
	tcase_add_test(tc, processes_that_race_get_every_place_once);
	tcase_add_test(tc, threads_that_race_get_every_place_once);
	tcase_add_test(tc, a_process_keeps_nothing_open_without_streams);
	return suite;
}

int main(int argc, char **argv)
{
	miser_main(argc, argv);
	return folder_run(build, argv);
}
