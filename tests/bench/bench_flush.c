/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_flush.c - a stream with log and policy FLUSH, one producer, to a file in the page cache:
 *
 *	bench_flush DIRECTORY [BESIDE_RATE BESIDE_LOST_PERCENT]    events of 8 bytes
 *	bench_flush --payloads DIRECTORY [BYTES=BESIDE_RATE...]    events of 512 to 4096 bytes
 *	bench_flush --tmpfs DIRECTORY                              the same in memory
 *	bench_flush --compressed DIRECTORY                         events of 8 bytes, by zstd
 *
 * The rate of larger events is also compared with the least work of a recorder whose producer and
 * flusher run on two processors: of_least. One thread stores the same events into a ring without
 * any header or check. Another thread writes this ring to a new file of the same folder, in blocks
 * of the log's size. write_MB_per_s is the rate of write(2) for a block that stays in the cache of
 * one processor, which no such recorder reaches. copies_MB_per_s is the rate of a flusher that also
 * does what a log with checksums needs: it copies the events out of the ring, so that the written
 * bytes cannot change, and computes a checksum of them.
 *
 * There are two figures of the events of 8 bytes: the share of events lost when the producer traces
 * without a pause, and the highest rate at which no event is lost. The producer keeps a rate by
 * waiting between batches. A binary search finds the rate, between one that lost no event and one
 * that lost some. The reported rate was kept once more for a longer time. The best of a few tries
 * counts, here and with LTTng-UST, because other load of the machine can disturb a try. BESIDE_*
 * are the figures of LTTng-UST with equal buffers, which ./run measures in the same run.
 *
 * Three figures beside the rate show what bounds it. producer_Mevents_per_s is the rate of the
 * producer's loop in a stream without a log. least_Mevents_per_s is the rate of two threads without
 * the library: one stores events around a reading of the counter into a ring, without a check; the
 * other packs each event into the bytes that it has in a log, and writes them. The rate of the
 * flusher alone is in the line "compressed" (plain_Mevents_per_s).
 *
 * Compressed logs are compared with zstd alone: zstd_Mevents_per_s is the rate of compressing the
 * plain log, at the same level and in blocks of the log's size.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "bench_least.h"
#include "bench_stream.h"

#define BATCH       64
#define TRY_NS      200e6
#define PROVE_NS    500e6
#define SEARCH_STEPS 6
#define TRIES        3
#define FULL_SPEED  1e12
#define LOSSLESS_FLOOR 60 /* million events per second */
#define PAYLOAD_MAX  4096
#define LARGE_BATCH  16
#define BLOCK_BYTES  (64 * 1024)
#define COMPRESSED_EVENTS 4000000
#define FLUSH_EVERY  20000
#define COMPRESSION_LEVEL 1 /* the default of posixtrace record --compress */
#define LEAST_FLOOR  0.8 /* "the speed of memory" for a file in memory */

struct outcome {
	double rate; /* events per second that the producer called */
	uint64_t calls;
	uint64_t lost;
	bool law;
};

static const char *directory;
static trace_event_id_t type;
static size_t payload = sizeof(uint64_t);

static uint64_t produce(double rate, double duration_ns, double *took_ns)
{
	double begin = bench_now_ns(), now = begin, due = begin, gap_ns;
	static uint64_t data[PAYLOAD_MAX / sizeof(uint64_t)];
	/* A batch of large events has at most 64 KiB, a small part of the stream. */
	int batch = payload > sizeof(uint64_t) ? LARGE_BATCH : BATCH;
	uint64_t n = 0;

	gap_ns = batch / rate * 1e9;
	while (now - begin < duration_ns) {
		for (int i = 0; i < batch; i++, n++) {
			data[0] = n;
			posix_trace_event(type, data, payload);
		}
		due += gap_ns;
		do
			now = bench_now_ns();
		while (now < due);
	}
	*took_ns = now - begin;
	return n;
}

static int new_file(void)
{
	char path[4000];
	int fd;

	snprintf(path, sizeof(path), "%s/bench_flush.%ld", directory, (long)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		bench_die(path, errno);
	unlink(path);
	return fd;
}

static struct outcome run(double rate, double duration_ns)
{
	struct posix_trace_ledger_np line;
	struct outcome outcome;
	double took_ns;
	trace_id_t trid;
	int fd = new_file(), err;

	trid = bench_stream_of(POSIX_TRACE_FLUSH, BENCH_BUFFER_BYTES,
			       payload > sizeof(uint64_t) ? PAYLOAD_MAX : 0, fd);
	posix_trace_start(trid);
	outcome.calls = produce(rate, duration_ns, &took_ns);
	outcome.rate = outcome.calls / took_ns * 1e9;
	posix_trace_stop(trid);
	posix_trace_flush(trid);
	outcome.law = bench_law(trid, type, outcome.calls);
	err = posix_trace_get_ledger_type_np(trid, type, &line);
	if (err)
		bench_die("reading the ledger", err);
	outcome.lost = bench_lost(&line);
	outcome.law &= line.unread == 0 && line.reported + outcome.lost == outcome.calls;
	err = posix_trace_shutdown(trid);
	if (err)
		bench_die("shutdown", err);
	err = posix_trace_open(fd, &trid);
	if (err)
		bench_die("opening the log", err);
	outcome.law &= bench_law(trid, type, outcome.calls);
	posix_trace_close(trid);
	close(fd);
	return outcome;
}

/* Returns the first try that lost no event, or the one that lost the fewest. */
static struct outcome best_of(int tries, double rate, double duration_ns, bool *law)
{
	struct outcome best = run(rate, duration_ns);

	*law &= best.law;
	while (best.lost && --tries) {
		struct outcome outcome = run(rate, duration_ns);

		*law &= outcome.law;
		if ((double)outcome.lost / outcome.calls < (double)best.lost / best.calls)
			best = outcome;
	}
	return best;
}

/* Keeps the rate for a longer time, and a lower rate each time that events are lost. */
static struct outcome prove(double rate, double factor, bool *law)
{
	struct outcome outcome;

	for (int i = 0; i < 10; i++, rate *= factor) {
		outcome = best_of(TRIES, rate, PROVE_NS, law);
		if (!outcome.lost)
			break;
	}
	return outcome;
}

static struct outcome lossless(const struct outcome *at_full_speed, bool *law)
{
	double low = 1e6, high = at_full_speed->rate;

	if (!at_full_speed->lost)
		return *at_full_speed; /* no search is necessary */
	for (int i = 0; low < high && i < SEARCH_STEPS; i++) {
		double middle = (low + high) / 2;

		if (best_of(TRIES, middle, TRY_NS, law).lost)
			high = middle;
		else
			low = middle;
	}
	return prove(low, 0.9, law);
}

/* The rate of the producer's loop in a LOOP stream without a log, the best of a few tries. */
static double producer_rate(void)
{
	double best = 0;

	for (int try = 0; try < TRIES; try++) {
		trace_id_t trid = bench_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES, -1);
		double took_ns;
		uint64_t calls;

		posix_trace_start(trid);
		calls = produce(FULL_SPEED, TRY_NS, &took_ns);
		best = fmax(best, (double)calls / took_ns * 1e9);
		posix_trace_shutdown(trid);
	}
	return best;
}

/* The ring between the two threads of least_rate(): the producer's bytes, and the written bytes. */
static _Alignas(8) unsigned char least_ring[BENCH_BUFFER_BYTES];
static _Atomic uint64_t least_head, least_tail;
static atomic_bool least_done;

static void *least_producer(void *arg)
{
	static const unsigned char data[PAYLOAD_MAX];
	uint64_t head = 0;

	(void)arg;
	bench_pin(0);
	while (!atomic_load_explicit(&least_done, memory_order_relaxed)) {
		if (head - atomic_load_explicit(&least_tail, memory_order_acquire) +
			    BLOCK_BYTES > sizeof(least_ring))
			continue;
		for (size_t at = 0; at < BLOCK_BYTES; at += payload)
			memcpy(least_ring + (head + at) % sizeof(least_ring), data, payload);
		head += BLOCK_BYTES;
		atomic_store_explicit(&least_head, head, memory_order_release);
	}
	return NULL;
}

/* How write_blocks() gets its bytes. */
enum source {
	OWN,    /* one block of its own */
	BESIDE, /* the ring of least_producer() */
	COPIED, /* a copy of the ring, with a checksum */
};

/* The checksum of a log's block. Other processors than x86 add the words. */
#if defined __x86_64__
__attribute__((target("sse4.2")))
#endif
static uint64_t checksum_of(const unsigned char *block)
{
	uint64_t sum = 0, word;

	for (size_t at = 0; at < BLOCK_BYTES; at += sizeof(word)) {
		memcpy(&word, block + at, sizeof(word));
#if defined __x86_64__
		sum = __builtin_ia32_crc32di(sum, word);
#else
		sum += word;
#endif
	}
	return sum;
}

/* Writes blocks to a new file for TRY_NS. Returns the bytes per second. */
static double write_blocks(enum source source)
{
	static unsigned char own[BLOCK_BYTES];
	double begin = bench_now_ns(), took;
	uint64_t bytes = 0;
	int fd = new_file();

	do {
		const unsigned char *block = own;

		if (source != OWN) {
			while (atomic_load_explicit(&least_head, memory_order_acquire) == bytes)
				;
			block = least_ring + bytes % sizeof(least_ring);
		}
		if (source == COPIED) {
			block = memcpy(own, block, BLOCK_BYTES);
			/* The compiler must assume that the checksum is used. */
			__asm__ volatile("" : : "r"(checksum_of(block)));
		}
		if (write(fd, block, BLOCK_BYTES) != BLOCK_BYTES)
			bench_die("write", errno);
		bytes += BLOCK_BYTES;
		atomic_store_explicit(&least_tail, bytes, memory_order_release);
		took = bench_now_ns() - begin;
	} while (took < TRY_NS);
	close(fd);
	return bytes / took * 1e9;
}

/* The bytes per second of write(2) alone to a new file, the best of a few tries. */
static double write_rate(void)
{
	double best = 0;

	for (int try = 0; try < TRIES; try++)
		best = fmax(best, write_blocks(OWN));
	return best;
}

/* Runs the flusher beside the producer, which fills the ring, and returns its rate. */
static double beside_producer(void *(*producer_main)(void *), double (*flusher)(void))
{
	pthread_t producer;
	double rate;

	atomic_store(&least_head, 0);
	atomic_store(&least_tail, 0);
	atomic_store(&least_done, false);
	if (pthread_create(&producer, NULL, producer_main, NULL))
		bench_die("pthread_create", EAGAIN);
	rate = flusher();
	atomic_store(&least_done, true);
	pthread_join(producer, NULL);
	return rate;
}

static double write_beside(void)
{
	return write_blocks(BESIDE);
}

static double write_copied(void)
{
	return write_blocks(COPIED);
}

/* The rate of write(2) beside a thread that stores the bytes, the best of a few tries. */
static double least_rate(double (*flusher)(void))
{
	double best = 0;

	for (int try = 0; try < TRIES; try++)
		best = fmax(best, beside_producer(least_producer, flusher));
	return best;
}

/* An event in the ring of least_event_rate(): 8 bytes of data behind three words. */
#define LEAST_EVENT_BYTES 32
#define LEAST_GROUP       256 /* events that the flusher takes at a time */

static void *least_event_producer(void *arg)
{
	struct bench_least least = { .ring = (uint64_t *)(void *)least_ring,
				     .words = sizeof(least_ring) / 8 - LEAST_EVENT_BYTES / 8 };
	uint64_t head = 0;

	(void)arg;
	bench_pin(0);
	while (!atomic_load_explicit(&least_done, memory_order_relaxed)) {
		if (head - atomic_load_explicit(&least_tail, memory_order_acquire) +
			    LEAST_GROUP * LEAST_EVENT_BYTES > sizeof(least_ring))
			continue;
		for (int i = 0; i < LEAST_GROUP; i++) {
			bench_least_store(&least, 1, type, &head, sizeof(head));
			if (least.at == sizeof(least_ring) / 8)
				least.at = 0;
			head += LEAST_EVENT_BYTES;
			atomic_store_explicit(&least_head, head, memory_order_release);
		}
	}
	return NULL;
}

/* Packs and writes the events for TRY_NS. Returns the events per second. */
static double write_events(void)
{
	static unsigned char packed[BLOCK_BYTES];
	double begin = bench_now_ns(), took;
	uint64_t bytes = 0, last = 0;
	size_t used = 0;
	int fd = new_file();

	do {
		while (atomic_load_explicit(&least_head, memory_order_acquire) - bytes <
		       LEAST_GROUP * LEAST_EVENT_BYTES)
			;
		for (int i = 0; i < LEAST_GROUP; i++, bytes += LEAST_EVENT_BYTES) {
			uint64_t word[LEAST_EVENT_BYTES / 8];

			/* the type, the time since the last event, the data */
			memcpy(word, least_ring + bytes % sizeof(least_ring), sizeof(word));
			packed[used] = (unsigned char)word[1];
			last = word[2] - last;
			memcpy(packed + used + 1, &last, 2);
			memcpy(packed + used + 3, &word[3], 8);
			last = word[2];
			used += 11;
			if (used + 11 > sizeof(packed)) {
				if (write(fd, packed, used) != (ssize_t)used)
					bench_die("write", errno);
				used = 0;
			}
		}
		atomic_store_explicit(&least_tail, bytes, memory_order_release);
		took = bench_now_ns() - begin;
	} while (took < TRY_NS);
	close(fd);
	return (double)bytes / LEAST_EVENT_BYTES / took * 1e9;
}

/* The rate of the two threads without the library, the best of a few tries. */
static double least_event_rate(void)
{
	double best = 0;

	for (int try = 0; try < TRIES; try++)
		best = fmax(best, beside_producer(least_event_producer, write_events));
	return best;
}

/* The highest rate without a loss, found between two rates whose ratio shrinks. */
static struct outcome lossless_below(double high, bool *law)
{
	double low = high / 64;

	for (int i = 0; i < 2 * SEARCH_STEPS; i++) {
		double middle = sqrt(low * high);

		if (best_of(TRIES, middle, TRY_NS, law).lost)
			high = middle;
		else
			low = middle;
		if (high / low < 1.02)
			break;
	}
	return prove(low, 0.9, law);
}

/* beside: the texts BYTES=RATE */
static double rate_beside(char **beside, size_t bytes)
{
	for (; *beside; beside++) {
		char *end;

		if (strtoul(*beside, &end, 10) == bytes && *end == '=')
			return atof(end + 1);
	}
	return 0;
}

/* One line for each size. beside is NULL for a folder in memory. */
static void flush_payloads(char **beside)
{
	static const size_t sizes[] = { 512, 1024, 2048, 4096 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double written = write_rate(), least, copied, other, of_least;
		struct outcome best;
		bool law = true;

		payload = sizes[i];
		least = least_rate(write_beside);
		copied = least_rate(write_copied);
		best = lossless_below(2 * least / payload, &law);
		of_least = best.lost ? 0 : best.rate * payload / least;
		bench_begin("flush_%s payload_bytes=%zu lost=%" PRIu64 " MB_per_s=%.0f "
			    "write_MB_per_s=%.0f least_MB_per_s=%.0f copies_MB_per_s=%.0f "
			    "Mevents_per_s=%.3f",
			    beside ? "payload" : "tmpfs", payload, best.lost,
			    best.rate * payload / 1e6, written / 1e6, least / 1e6, copied / 1e6,
			    best.rate / 1e6);
		if (!beside) {
			bench_end_floor("of_least", of_least, LEAST_FLOOR, law);
			continue;
		}
		printf(" of_least=%.2f", of_least);
		other = rate_beside(beside, payload);
		if (other > 0) {
			bench_end_floor("times_lttng", best.lost ? 0 : best.rate / other, 2, law);
		} else {
			printf(" verdict=unmeasured reason=nothing_beside_it");
			bench_end(law);
		}
	}
}

struct compressed {
	double seconds; /* the processor time of the calls of posix_trace_flush() */
	uint64_t bytes; /* of the log */
	bool law;
};

static double thread_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Returns the processor time of zstd for the whole log, or 0 if libzstd cannot be loaded. The
 * functions are those of its stable interface.
 */
static double zstd_seconds(int log, int level)
{
	static unsigned char plain[BLOCK_BYTES], packed[2 * BLOCK_BYTES];
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL), *context;
	void *(*create)(void);
	size_t (*compress)(void *, void *, size_t, const void *, size_t, int);
	double seconds = 0;
	ssize_t n;

	if (!library)
		return 0;
	*(void **)&create = dlsym(library, "ZSTD_createCCtx");
	*(void **)&compress = dlsym(library, "ZSTD_compressCCtx");
	context = create ? create() : NULL;
	if (!context || !compress)
		return 0;
	for (off_t at = 0; (n = pread(log, plain, sizeof(plain), at)) > 0; at += n) {
		double begin = thread_seconds();

		compress(context, packed, sizeof(packed), plain, (size_t)n, level);
		seconds += thread_seconds() - begin;
	}
	return seconds;
}

/* Flushes before the stream is full, so that each event is in the log, which is the file fd. */
static struct compressed flush_compressed(int level, int fd)
{
	struct compressed result = { .seconds = 0 };
	struct posix_trace_ledger_np line;
	int err;
	trace_id_t trid = bench_stream_compressed(POSIX_TRACE_UNTIL_FULL, BENCH_BUFFER_BYTES, level,
						  fd);

	posix_trace_start(trid);
	for (uint64_t n = 0; n < COMPRESSED_EVENTS; n++) {
		double begin;

		posix_trace_event(type, &n, sizeof(n));
		if (n % FLUSH_EVERY != FLUSH_EVERY - 1)
			continue;
		begin = thread_seconds();
		err = posix_trace_flush(trid);
		if (err)
			bench_die("flush", err);
		result.seconds += thread_seconds() - begin;
	}
	posix_trace_stop(trid);
	posix_trace_flush(trid);
	result.law = bench_law(trid, type, COMPRESSED_EVENTS);
	posix_trace_get_ledger_type_np(trid, type, &line);
	result.law &= line.reported == COMPRESSED_EVENTS;
	posix_trace_shutdown(trid);
	result.bytes = (uint64_t)lseek(fd, 0, SEEK_END);
	return result;
}

/* The best of a few tries, plain and compressed by turns. */
static void flush_by_level(void)
{
	struct compressed plain = { .seconds = 1e9 }, packed = { .seconds = 1e9 };
	double zstd = 1e9;
	bool law = true;

	for (int try = 0; try < TRIES; try++) {
		int log = new_file(), packed_log = new_file();
		struct compressed now = flush_compressed(0, log);

		law &= now.law;
		plain = now.seconds < plain.seconds ? now : plain;
		zstd = fmin(zstd, zstd_seconds(log, COMPRESSION_LEVEL));
		now = flush_compressed(COMPRESSION_LEVEL, packed_log);
		law &= now.law;
		packed = now.seconds < packed.seconds ? now : packed;
		close(log);
		close(packed_log);
	}
	bench_begin("log_bytes payload_bytes=8 plain=%.2f",
		    (double)plain.bytes / COMPRESSED_EVENTS);
	bench_end_limit("an_event", (double)packed.bytes / COMPRESSED_EVENTS, 5, law);
	bench_begin("compressed payload_bytes=8 plain_Mevents_per_s=%.1f zstd_Mevents_per_s=%.1f "
		    "Mevents_per_s=%.1f",
		    COMPRESSED_EVENTS / plain.seconds / 1e6, COMPRESSED_EVENTS / zstd / 1e6,
		    COMPRESSED_EVENTS / packed.seconds / 1e6);
	bench_end_floor("of_plain", plain.seconds / packed.seconds, 0.8, law);
}

int main(int argc, char **argv)
{
	double beside_rate = 0, beside_lost = 0, lost_percent;
	struct outcome full, best;
	bool law = true;

	type = bench_type("bench_flush");
	directory = argc > 2 ? argv[2] : NULL;
	if (argc > 2 && !strcmp(argv[1], "--payloads")) {
		flush_payloads(argv + 3);
		return bench_status();
	}
	if (argc == 3 && !strcmp(argv[1], "--tmpfs")) {
		flush_payloads(NULL);
		return bench_status();
	}
	if (argc == 3 && !strcmp(argv[1], "--compressed")) {
		flush_by_level();
		return bench_status();
	}
	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: bench_flush DIRECTORY [BESIDE_RATE BESIDE_LOST_PERCENT]\n"
				"       bench_flush --payloads DIRECTORY [BYTES=BESIDE_RATE...]\n"
				"       bench_flush --tmpfs | --compressed DIRECTORY\n");
		return 2;
	}
	directory = argv[1];
	if (argc == 4) {
		beside_rate = atof(argv[2]);
		beside_lost = atof(argv[3]);
	}
	run(FULL_SPEED, TRY_NS); /* warms up */
	full = best_of(2 * TRIES, FULL_SPEED, PROVE_NS, &law);
	lost_percent = 100.0 * full.lost / full.calls;
	bench_begin("flush_full_speed payload_bytes=8 Mevents_per_s=%.1f kept_Mevents_per_s=%.1f",
		    full.rate / 1e6, full.rate * (1 - lost_percent / 100) / 1e6);
	if (argc == 4) {
		bench_end_limit("lost_percent", lost_percent, beside_lost, law);
	} else {
		printf(" lost_percent=%.4g verdict=unmeasured reason=nothing_beside_it",
		       lost_percent);
		bench_end(law);
	}
	best = lossless(&full, &law);
	bench_begin("flush_lossless_rate payload_bytes=8 producer_Mevents_per_s=%.2f "
		    "least_Mevents_per_s=%.2f",
		    producer_rate() / 1e6, least_event_rate() / 1e6);
	bench_end_floor("Mevents_per_s", best.lost ? 0 : best.rate / 1e6, LOSSLESS_FLOOR, law);
	bench_begin("flush_lossless payload_bytes=8 lost=%" PRIu64 " Mevents_per_s=%.2f", best.lost,
		    best.rate / 1e6);
	if (argc == 4 && beside_rate > 0) {
		bench_end_floor("times_lttng", best.lost ? 0 : best.rate / beside_rate, 3, law);
	} else {
		printf(" verdict=unmeasured reason=nothing_beside_it");
		bench_end(law);
	}
	return bench_status();
}
