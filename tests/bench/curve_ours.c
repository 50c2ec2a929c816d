/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * curve_ours.c - the curves of posix_trace_event(): curve_ours FOLDER
 *
 * curve_ours --new-chunk prints only the line of `make bench` about changes of chunks.
 *
 * Streams are LOOP streams without a reader. The throughput of the drain is measured with a stream
 * of policy FLUSH with a log in FOLDER.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "bench_least.h"
#include "bench_stream.h"
#include "curve.h"

#define STREAMS_MAX 8
#define TYPES_MAX   1024
#define PRODUCE_NS  300e6
#define TRIES       3

static trace_event_id_t type[TYPES_MAX];
static trace_id_t stream[STREAMS_MAX];
static unsigned streams;

static void trace(unsigned types, const void *data, size_t len, long calls)
{
	if (types == 1)
		for (long i = 0; i < calls; i++)
			posix_trace_event(type[0], data, len);
	else
		for (long i = 0; i < calls; i++)
			posix_trace_event(type[i % types], data, len);
}

/* For the first type of the first stream. The equation of the total covers the others. */
static bool law(uint64_t calls)
{
	return bench_law(stream[0], type[0], calls);
}

static bool law_of_total(uint64_t calls)
{
	struct posix_trace_ledger_np total;

	return posix_trace_get_ledger_np(stream[0], &total) == 0 &&
	       total.called == total.reported + total.unread + bench_lost(&total) &&
	       total.called >= calls;
}

static void open_stream(int policy, size_t bytes, int fd)
{
	stream[streams] = bench_stream_of(policy, bytes, CURVE_DATA_MAX, fd);
	if (posix_trace_start(stream[streams]))
		bench_die("starting a stream", EINVAL);
	streams++;
}

static void close_streams(void)
{
	while (streams)
		posix_trace_shutdown(stream[--streams]);
}

static const struct curve_tracer tracer = { "posixtrace", "clock", trace, law };

static void by(void (*curve)(const struct curve_tracer *tracer))
{
	open_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES, -1);
	curve(&tracer);
	close_streams();
}

static void by_streams(void)
{
	for (unsigned n = 1; n <= STREAMS_MAX; n++) {
		struct curve_cost cost;

		while (streams < n)
			open_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES / 4, -1);
		cost = curve_measure(&tracer, 1, 1, 8);
		curve_point("streams", n, tracer.series, cost.median, cost.low, "ns",
			    law(cost.calls));
		close_streams();
	}
}

static void by_size(void)
{
	for (size_t kib = 64; kib <= 65536; kib *= 4) {
		struct curve_cost cost;

		open_stream(POSIX_TRACE_LOOP, kib << 10, -1);
		cost = curve_measure(&tracer, 1, 1, 8);
		curve_point("size", kib, tracer.series, cost.median, cost.low, "ns",
			    law(cost.calls));
		close_streams();
	}
}

static void by_types(void)
{
	for (unsigned n = 1; n <= TYPES_MAX && type[n - 1]; n *= 4) {
		struct curve_cost cost;

		open_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES, -1);
		cost = curve_measure(&tracer, 1, n, 8);
		curve_point("types", n, tracer.series, cost.median, cost.low, "ns",
			    law_of_total(cost.calls));
		close_streams();
	}
}

static double produce(size_t len, uint64_t *calls)
{
	static const unsigned char data[CURVE_DATA_MAX];
	double begin = bench_now_ns(), took;

	*calls = 0;
	do {
		trace(1, data, len, 256);
		*calls += 256;
		took = bench_now_ns() - begin;
	} while (took < PRODUCE_NS);
	return took;
}

/*
 * Prints the share of the events of a producer at full speed that is in the log; the best of a few
 * tries.
 */
static void by_drain(const char *folder)
{
	static const size_t lens[] = { 8, 32, 128, 512, 2048, 4096 };

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		double best = 0, least = 100;
		bool lawful = true;

		for (int try = 0; try < TRIES; try++) {
			struct posix_trace_ledger_np line;
			char path[4000];
			uint64_t calls;
			double took, kept;
			int fd;

			snprintf(path, sizeof(path), "%s/curve.%ld", folder, (long)getpid());
			fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
			if (fd < 0)
				bench_die(path, errno);
			unlink(path);
			open_stream(POSIX_TRACE_FLUSH, BENCH_BUFFER_BYTES, fd);
			took = produce(lens[i], &calls);
			posix_trace_stop(stream[0]);
			posix_trace_flush(stream[0]);
			lawful &= law(calls);
			posix_trace_get_ledger_type_np(stream[0], type[0], &line);
			lawful &= line.unread == 0 && line.reported + bench_lost(&line) == calls;
			kept = (double)line.reported / took * 1e3;
			if (kept > best)
				best = kept;
			if (100.0 * (double)bench_lost(&line) / (double)calls < least)
				least = 100.0 * (double)bench_lost(&line) / (double)calls;
			close_streams();
			close(fd);
		}
		curve_point("drain", (double)lens[i], tracer.series, best, best, "Mevents/s",
			    lawful);
		curve_point("drain_lost", (double)lens[i], tracer.series, least, least, "%",
			    lawful);
	}
}

/*
 * Two tracers without streams. Each thread stores events into a chunk of a ring of 4 MiB, and takes
 * the next chunk of the ring when its chunk is full. A change of chunks in a LOOP stream of two
 * threads moves LINES cache lines (make bench-lines). So the thread then adds 1 to each of LINES
 * words that all threads change, and whose cache lines thus move to its processor. The second
 * tracer also reads the first word of each event that it is about to overwrite, which is the least
 * that counts the losses by type.
 */
#define CHUNK_WORDS 2040 /* 510 events of 4 words */
#define CHUNKS      256
#define LINES       15

static inline __attribute__((always_inline)) void
change_chunks(bool counts, const void *some, long calls)
{
	static struct {
		_Alignas(64) _Atomic uint64_t word;
	} line[LINES];
	static uint64_t ring[CHUNKS][CHUNK_WORDS];
	static _Thread_local struct bench_least least = { .words = CHUNK_WORDS - 1 };

	for (long i = 0; i < calls; i++) {
		if (!least.at) {
			uint64_t taken = atomic_fetch_add(&line[0].word, 1), same = 0;

			least.ring = ring[taken % CHUNKS];
			for (unsigned j = 1; j < LINES; j++)
				atomic_fetch_add(&line[j].word, 1);
			for (size_t at = 0; counts && at < CHUNK_WORDS; at += 4)
				same += least.ring[at] == least.ring[0];
			/* The compiler must assume that the count is used. */
			__asm__ volatile("" : : "r"(same));
		}
		bench_least_store(&least, 1, type[0], some, 8);
	}
}

static void change_only(unsigned types, const void *some, size_t len, long calls)
{
	(void)types;
	(void)len;
	change_chunks(false, some, calls);
}

static void change_and_count(unsigned types, const void *some, size_t len, long calls)
{
	(void)types;
	(void)len;
	change_chunks(true, some, calls);
}

/* The default max-data-size has smaller chunks than the streams of the curves. */
static void new_chunk(void)
{
	static const struct curve_tracer change = { .trace = change_only },
					 count = { .trace = change_and_count };

	stream[streams++] = bench_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES, -1);
	posix_trace_start(stream[0]);
	curve_new_chunk(&tracer, "new_chunk", 0.3, &change, &count);
	close_streams();
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: curve_ours FOLDER | --new-chunk\n");
		return 2;
	}
	bench_cpus(); /* before bench_pin(), which changes the answer */
	for (unsigned i = 0; i < TYPES_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "curve%u", i);
		if (posix_trace_eventid_open(name, &type[i]) ||
		    type[i] == POSIX_TRACE_UNNAMED_USEREVENT) {
			type[i] = 0; /* this machine has no more CPUs */
			break;
		}
	}
	if (!strcmp(argv[1], "--new-chunk")) {
		new_chunk();
		return bench_status();
	}
	by(curve_threads);
	by(curve_payload);
	by_streams();
	by_size();
	by_types();
	by_drain(argv[1]);
	by(curve_latency);
	return 0;
}
