/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_read.c - reads a log of ten million 8-byte events with posix_trace_getnext_event():
 * bench_read DIRECTORY
 *
 * The program flushes before the stream can be full, so the log has every event. A new process
 * reads it. Its peak memory is compared with that of a process that reads a log of a tenth of the
 * size. The law: every event is read, in order, with its own data.
 *
 * least_Mevents_per_s is the rate of a loop that reads the bytes of the same file, computes their
 * checksum, and stores for each event the members of posix_trace_event_info and the data.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "bench_stream.h"

#define EVENTS      10000000
#define FLUSH_EVERY 20000
#define RUNS        3

static void write_log(const char *path, uint64_t events)
{
	trace_event_id_t type = bench_type("bench_read");
	trace_attr_t attr;
	trace_id_t trid;
	size_t each;
	bool law;
	int fd, err;

	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		bench_die(path, errno);
	posix_trace_attr_init(&attr);
	posix_trace_attr_getmaxusereventsize(&attr, sizeof(uint64_t), &each);
	trid = bench_stream(POSIX_TRACE_UNTIL_FULL, 2 * each * FLUSH_EVERY, fd);
	posix_trace_start(trid);
	for (uint64_t i = 0; i < events; i++) {
		posix_trace_event(type, &i, sizeof(i));
		if (i % FLUSH_EVERY == FLUSH_EVERY - 1) {
			err = posix_trace_flush(trid);
			if (err)
				bench_die("flush", err);
		}
	}
	law = bench_law(trid, type, events);
	err = posix_trace_shutdown(trid);
	if (err || !law)
		bench_die("writing the log to be read", err ? err : EIO);
	close(fd);
}

static long peak_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[200];
	long kib = 0;

	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "VmHWM: %ld", &kib);
	if (status)
		fclose(status);
	return kib;
}

/*
 * Runs in a process of its own. Prints events, seconds and peak memory. Exits with 1 if the law is
 * broken.
 */
static int read_log(const char *path, uint64_t expected)
{
	struct posix_trace_event_info info;
	uint64_t next = 0, value, best_events = 0;
	double best_ns = 1e18;
	bool in_order = true;
	trace_id_t trid;
	size_t len;
	int fd = open(path, O_RDONLY), unavailable, err;

	err = posix_trace_open(fd, &trid);
	if (err)
		bench_die("opening the log", err);
	for (int run = 0; run < RUNS; run++) {
		double begin = bench_now_ns(), took;
		uint64_t events = 0;

		posix_trace_rewind(trid);
		next = 0;
		for (;;) {
			err = posix_trace_getnext_event(trid, &info, &value, sizeof(value), &len,
							&unavailable);
			if (err || unavailable)
				break;
			events++;
			if (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
				continue;
			in_order &= value == next++ && len == sizeof(value);
		}
		took = bench_now_ns() - begin;
		in_order &= !err && next == expected;
		if (took < best_ns) {
			best_ns = took;
			best_events = events;
		}
	}
	posix_trace_close(trid);
	printf("%" PRIu64 " %.9f %ld\n", best_events, best_ns / 1e9, peak_kib());
	return !in_order;
}

#define BLOCK_BYTES (64 * 1024)

#if defined __x86_64__
__attribute__((target("sse4.2")))
#endif
static uint64_t add_checksum(uint64_t sum, uint64_t word)
{
#if defined __x86_64__
	return __builtin_ia32_crc32di(sum, word);
#else
	return sum + word;
#endif
}

/* The compiler must assume that the bytes are used. */
static void use_bytes(const void *bytes)
{
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

/* Returns the events per second of the loop, the best of a few runs. */
static double least_rate(const char *path, uint64_t events)
{
	static unsigned char block[BLOCK_BYTES + 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	double best_ns = 1e18;

	for (int run = 0; run < RUNS; run++) {
		struct posix_trace_event_info info = { 0 };
		double begin = bench_now_ns();
		uint64_t sum = 0, value, done = 0, bytes = (uint64_t)lseek(fd, 0, SEEK_END);
		ssize_t n;

		for (off_t at = 0; (n = pread(fd, block, BLOCK_BYTES, at)) > 0; at += n) {
			double share = (double)(at + n) / (double)bytes;
			uint64_t due = (uint64_t)(share * (double)events);

			for (ssize_t i = 0; i + 8 <= n; i += 8) {
				memcpy(&value, block + i, sizeof(value));
				sum = add_checksum(sum, value);
			}
			for (const unsigned char *p = block; done < due; done++, p += 11) {
				info.posix_event_id = p[0];
				info.posix_pid = (pid_t)sum;
				info.posix_prog_address = block;
				info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
				info.posix_timestamp.tv_nsec += p[1];
				if (info.posix_timestamp.tv_nsec >= 1000000000) {
					info.posix_timestamp.tv_nsec -= 1000000000;
					info.posix_timestamp.tv_sec++;
				}
				memcpy(&value, p + 3, sizeof(value));
				use_bytes(&info);
				use_bytes(&value);
				if (p > block + BLOCK_BYTES - 22)
					p = block;
			}
		}
		if (bench_now_ns() - begin < best_ns)
			best_ns = bench_now_ns() - begin;
	}
	close(fd);
	return (double)events / best_ns * 1e9;
}

static bool read_apart(const char *self, char *path, uint64_t events, double *rate, long *kib)
{
	char command[4000];
	uint64_t found = 0;
	double seconds = 1;
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s' read '%s' %" PRIu64, self, path, events);
	pipe = popen(command, "r");
	if (!pipe || fscanf(pipe, "%" SCNu64 " %lf %ld", &found, &seconds, kib) != 3)
		bench_die("the reading process", EIO);
	*rate = found / seconds;
	return pclose(pipe) == 0;
}

int main(int argc, char **argv)
{
	char small[4000], large[4000], self[4000];
	double small_rate, large_rate, least;
	long small_kib, large_kib;
	ssize_t len;
	bool law;

	if (argc == 4 && !strcmp(argv[1], "read"))
		return read_log(argv[2], strtoull(argv[3], NULL, 10));
	if (argc != 2) {
		fprintf(stderr, "usage: bench_read DIRECTORY\n");
		return 2;
	}
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		bench_die("/proc/self/exe", errno);
	self[len] = '\0';
	snprintf(small, sizeof(small), "%s/bench_read_small.%ld", argv[1], (long)getpid());
	snprintf(large, sizeof(large), "%s/bench_read_large.%ld", argv[1], (long)getpid());
	write_log(small, EVENTS / 10);
	write_log(large, EVENTS);
	law = read_apart(self, small, EVENTS / 10, &small_rate, &small_kib);
	law &= read_apart(self, large, EVENTS, &large_rate, &large_kib);
	least = least_rate(large, EVENTS);
	unlink(small);
	unlink(large);
	bench_begin("read events=%d payload_bytes=8 least_Mevents_per_s=%.1f", EVENTS, least / 1e6);
	bench_end_floor("Mevents_per_s", large_rate / 1e6, 80, law);
	bench_begin("read_memory events=%d peak_KiB=%ld", EVENTS, large_kib);
	bench_end_limit("more_KiB_than_a_tenth", large_kib - small_kib, 256, law);
	return bench_status();
}
