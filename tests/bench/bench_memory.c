/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_memory.c - the time and memory that the creation of a stream needs.
 *
 * The limit for the time is a tenth of the time in which the kernel makes shared memory of the
 * stream's size present, in the same run: a stream's memory grows with its use. The memory is the
 * size of the process's memory file, compared with the size that the attributes request.
 */
#include <errno.h>
#include <pthread.h>
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

int main(void)
{
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
