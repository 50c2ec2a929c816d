/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_memory.c - the time and memory that the creation of a stream needs:
 *
 *	bench_memory                    the lines of make bench
 *	bench_memory --sweep KIB MAX    the memory of a stream of KIB KiB with max-data-size MAX
 *	                                and 10 to 3000 threads, for each policy and pattern
 *
 * The limit for the time is a tenth of the time in which the kernel makes shared memory of the
 * stream's size present, in the same run: a stream's memory grows with its use. The memory is the
 * size of the process's memory file, compared with the size that the attributes request.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace.h>
#include <unistd.h>

#include "bench.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define ROUNDS 9
#define SLACK  (256.0 * 1024)

static double memory(void)
{
	struct stat file;
	double bytes = 0;

	for (int fd = 200; fd < 208; fd++)
		if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 0)
			bytes += (double)file.st_blocks * 512;
	return bytes;
}

/* Returns the milliseconds in which the kernel zeroes and maps so many bytes of shared memory. */
static double floor_ms(size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	double begin = bench_now_ns();

	if (map == MAP_FAILED)
		bench_die("mmap", errno);
	if (madvise(map, bytes, MADV_POPULATE_WRITE) != 0)
		for (size_t at = 0; at < bytes; at += 4096)
			((volatile char *)map)[at] = 0;
	begin = bench_now_ns() - begin;
	munmap(map, bytes);
	return begin / 1e6;
}

static trace_id_t create(size_t stream_size, size_t max_data_size, double *ms)
{
	trace_attr_t attr;
	trace_id_t trid;
	double begin;
	int err;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, stream_size);
	posix_trace_attr_setmaxdatasize(&attr, max_data_size);
	posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL);
	begin = bench_now_ns();
	err = posix_trace_create(0, &attr, &trid);
	*ms = (bench_now_ns() - begin) / 1e6;
	if (err)
		bench_die("posix_trace_create", err);
	posix_trace_attr_destroy(&attr);
	return trid;
}

static void measure_time(const char *name, size_t stream_size)
{
	double ours[ROUNDS], kernel[ROUNDS], ms;

	for (int i = 0; i < ROUNDS; i++) {
		kernel[i] = floor_ms(stream_size);
		posix_trace_shutdown(create(stream_size, 1024, &ours[i]));
	}
	ms = bench_median(ours, ROUNDS);
	bench_begin("create_%s create_ms=%.3f present_ms=%.3f", name, ms,
		    bench_median(kernel, ROUNDS));
	if (stream_size < 1 << 28)
		bench_end(true);
	else
		bench_end_limit("of_present", ms / kernel[ROUNDS / 2], 0.1, true);
}

static void measure_memory(const char *name, size_t stream_size, size_t max_data_size)
{
	const double largest = (double)max_data_size + 4096;
	double asked = 2 * largest > (double)stream_size ? 2 * largest : (double)stream_size,
	       before, at_first;
	char *data = calloc(1, max_data_size);
	trace_event_id_t type;
	trace_id_t trid;
	double ms;

	if (!data || posix_trace_eventid_open("bench", &type) != 0)
		bench_die(name, ENOMEM);
	before = memory();
	trid = create(stream_size, max_data_size, &ms);
	at_first = memory() - before;
	posix_trace_start(trid);
	for (size_t sent = 0; sent < 2 * (size_t)asked; sent += max_data_size)
		posix_trace_event(type, data, max_data_size);
	bench_begin("memory_%s created_kib=%.0f filled_kib=%.0f", name, at_first / 1024,
		    (memory() - before) / 1024);
	/* With one thread, at most twice the size that the attributes request. */
	bench_end_limit("of_allowed", (memory() - before) / (2 * asked + largest + SLACK), 1, true);
	posix_trace_shutdown(trid);
	free(data);
}

/* Threads that have recorded one small event each, and that wait until all have. */
static pthread_barrier_t recorded;
static trace_event_id_t one_of_many;

static void *record_one(void *arg)
{
	posix_trace_event(one_of_many, "12345678", 8);
	pthread_barrier_wait(&recorded);
	return arg;
}

/* Beside the largest event, each of many threads has its tables. */
static void measure_threads(unsigned threads)
{
	const double tables = 256, size = 65536, largest = 24 + 1024 + 48;
	double before = memory(), ms;
	pthread_attr_t small;
	pthread_t thread;
	trace_id_t trid;
	int err;

	if (posix_trace_eventid_open("bench", &one_of_many) != 0)
		bench_die("posix_trace_eventid_open", ENOMEM);
	trid = create((size_t)size, 1024, &ms);
	posix_trace_start(trid);
	pthread_barrier_init(&recorded, NULL, threads + 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	for (unsigned i = 0; i < threads; i++) {
		err = pthread_create(&thread, &small, record_one, NULL);
		if (err)
			bench_die("pthread_create", err);
	}
	pthread_barrier_wait(&recorded);
	bench_begin("memory_threads_%u used_kib=%.0f", threads, (memory() - before) / 1024);
	bench_end_limit("of_allowed", (memory() - before) /
					      (2 * size + SLACK + threads * (largest + tables)),
			1, true);
	posix_trace_shutdown(trid);
}

/* ------------------------------------------------------------------ --sweep */

/* A case of the sweep. */
struct sweep {
	size_t stream, max_data; /* bytes */
	int policy;
	unsigned threads;
	bool alive;      /* the threads that have recorded rest until the memory is measured */
	size_t bytes[2]; /* of the data of the events of a thread, in turn */
	unsigned events; /* of each thread */
};

struct worker {
	const struct sweep *sweep;
	sem_t has_recorded;
	sem_t may_end;
};

static void *record_share(void *arg)
{
	static char data[8192];
	struct worker *worker = arg;

	for (unsigned i = 0; i < worker->sweep->events; i++)
		posix_trace_event(one_of_many, data, worker->sweep->bytes[i % 2]);
	sem_post(&worker->has_recorded);
	if (worker->sweep->alive)
		sem_wait(&worker->may_end);
	return NULL;
}

/*
 * Sets *allowed to the memory of posix_trace_attr_setstreamsize(3), without the two cases in which
 * the page allows more, and creates the stream.
 */
static trace_id_t create_for(const struct sweep *sweep, double *allowed, int *log)
{
	const bool is_loop = sweep->policy == POSIX_TRACE_LOOP;
	const double tables = is_loop && sweep->threads > 4080 ? 464 : 256;
	double asked = (double)sweep->stream;
	size_t largest, system;
	trace_attr_t attr;
	trace_id_t trid;
	int err;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, sweep->stream);
	posix_trace_attr_setmaxdatasize(&attr, sweep->max_data);
	posix_trace_attr_setstreamfullpolicy(&attr, sweep->policy);
	posix_trace_attr_getmaxusereventsize(&attr, sweep->max_data, &largest);
	posix_trace_attr_getmaxsystemeventsize(&attr, &system);
	largest = largest > system ? largest : system;
	*log = -1;
	if (sweep->policy == POSIX_TRACE_FLUSH) {
		*log = memfd_create("log", MFD_CLOEXEC);
		err = posix_trace_create_withlog(0, &attr, *log, &trid);
	} else {
		err = posix_trace_create(0, &attr, &trid);
	}
	if (err)
		bench_die("creating a stream", err);
	posix_trace_attr_destroy(&attr);
	if (asked < 2.0 * (double)largest)
		asked = 2.0 * (double)largest;
	*allowed = 2 * asked + SLACK + (double)sweep->threads * ((double)largest + tables);
	return trid;
}

/* Starts the threads, which record one after the other, so that each run does the same. */
static void start_workers(struct worker *worker, pthread_t *thread)
{
	const struct sweep *sweep = worker->sweep;
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (unsigned i = 0; i < sweep->threads; i++) {
		int err = pthread_create(&thread[i], &small, record_share, worker);

		if (err)
			bench_die("pthread_create", err);
		sem_wait(&worker->has_recorded);
		if (!sweep->alive)
			pthread_join(thread[i], NULL);
	}
}

static void end_workers(struct worker *worker, pthread_t *thread)
{
	for (unsigned i = 0; i < worker->sweep->threads; i++)
		sem_post(&worker->may_end);
	for (unsigned i = 0; i < worker->sweep->threads; i++)
		pthread_join(thread[i], NULL);
}

static void sweep_case(const struct sweep *sweep)
{
	static const char *const names[] = { [POSIX_TRACE_LOOP] = "LOOP",
					     [POSIX_TRACE_UNTIL_FULL] = "UNTIL_FULL",
					     [POSIX_TRACE_FLUSH] = "FLUSH" };
	struct worker worker = { .sweep = sweep };
	pthread_t *thread = calloc(sweep->threads, sizeof(*thread));
	double before = memory(), allowed, used;
	trace_id_t trid;
	int log;

	if (!thread)
		bench_die("threads", ENOMEM);
	trid = create_for(sweep, &allowed, &log);
	posix_trace_start(trid);
	sem_init(&worker.has_recorded, 0, 0);
	sem_init(&worker.may_end, 0, 0);
	start_workers(&worker, thread);
	used = memory() - before;
	if (sweep->alive)
		end_workers(&worker, thread);
	posix_trace_shutdown(trid);
	if (log >= 0)
		close(log);
	free(thread);
	bench_begin("memory_sweep stream_KiB=%zu max_data=%zu policy=%s threads=%u alive=%d "
		    "bytes=%zu,%zu events=%u used_KiB=%.0f of_size=%.2f",
		    sweep->stream >> 10, sweep->max_data, names[sweep->policy], sweep->threads,
		    sweep->alive, sweep->bytes[0], sweep->bytes[1], sweep->events, used / 1024,
		    used / (double)sweep->stream);
	bench_end_limit("of_allowed", used / allowed, 1, true);
}

/* Each thread records one small event, or so many that all together exceed the stream's size. */
static void sweep_patterns(struct sweep *sweep)
{
	const size_t sizes[][2] = { { 8, 8 }, { sweep->max_data, sweep->max_data },
				    { sweep->max_data, sweep->max_data / 20 } };

	for (int i = -1; i < 3; i++) {
		const size_t *bytes = sizes[i < 0 ? 0 : i];
		const size_t all = sweep->threads * (24 + (bytes[0] + bytes[1]) / 2);

		sweep->bytes[0] = bytes[0];
		sweep->bytes[1] = bytes[1];
		sweep->events = i < 0 ? 1 : 12 + (unsigned)(3 * sweep->stream / all);
		sweep_case(sweep);
	}
}

static void sweep_all(size_t stream, size_t max_data)
{
	static const unsigned threads[] = { 10, 100, 1000, 3000 };
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					POSIX_TRACE_FLUSH };
	const int cases = 3 * 4 * 2;

	for (int i = 0; i < cases; i++) {
		struct sweep sweep = { .stream = stream, .max_data = max_data,
				       .policy = policies[i / 2 / 4],
				       .threads = threads[i / 2 % 4], .alive = i % 2 };

		sweep_patterns(&sweep);
	}
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--sweep")) {
		if (posix_trace_eventid_open("bench", &one_of_many) != 0)
			bench_die("posix_trace_eventid_open", ENOMEM);
		sweep_all((size_t)atol(argv[2]) << 10, (size_t)atol(argv[3]));
		return bench_status();
	}
	measure_time("64k", (size_t)1 << 16);
	measure_time("1m", (size_t)1 << 20);
	measure_time("64m", (size_t)1 << 26);
	measure_time("1g", (size_t)1 << 30);
	measure_memory("64k", (size_t)1 << 16, 1024);
	measure_memory("1m", (size_t)1 << 20, 1024);
	measure_memory("4m_of_data", (size_t)1 << 16, (size_t)4 << 20);
	measure_threads(100);
	measure_threads(1000);
	measure_threads(3000);
	return bench_status();
}
