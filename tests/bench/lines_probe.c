/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lines_probe.c - threads that record into one stream, for the simulation of their caches: see
 * ./lines.
 *
 *	lines_probe run POLICY THREADS STREAM_KIB PAYLOAD_BYTES CHUNKS
 *	lines_probe transfer
 *
 * "run" prints the addresses of the parts of shared memory, and then records: each thread fills
 * CHUNKS chunks in the measured part. The threads take turns of TURN events, so that the trace of
 * memory accesses of one program contains accesses of many threads in a fair order. lines.h says
 * how the trace shows the turns.
 *
 * "transfer" measures how long a cache line takes from the processor that wrote it to another one.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace.h>
#include <trace_np.h>

#include "arena/arena.h"
#include "arena/process_block.h"
#include "bench.h"
#include "lines.h"
#include "point/view.h"

#define THREADS LINES_THREADS
#define TURN    16 /* events, on average */

static volatile unsigned char *turn; /* lines.h */

static sem_t may_run[THREADS];
static trace_event_id_t type;
static unsigned threads;
static size_t payload_bytes;
static unsigned long warm_turns, turns;

static void *record(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	unsigned char payload[4096] = { 0 };
	unsigned seed = me;

	for (unsigned long n = 0; n < warm_turns + turns; n++) {
		sem_wait(&may_run[me]);
		if (me == 0 && n == warm_turns)
			turn[LINES_MEASURE] = 1;
		turn[me] = 1;
		/* Turns of different lengths: the threads do not change chunks in a fixed order. */
		for (int i = 1 + rand_r(&seed) % (2 * TURN - 1); i > 0; i--)
			turn[LINES_EVENT] = 1, posix_trace_event(type, payload, payload_bytes);
		turn[LINES_TURN_END] = 1;
		sem_post(&may_run[(me + 1) % threads]);
	}
	return NULL;
}

static void map(const char *name, const void *at, size_t bytes)
{
	printf("MAP %s %" PRIuPTR " %zu\n", name, (uintptr_t)at, bytes);
}

/* Prints the parts of the stream's region, the smaller ones first where they overlap. */
static void print_region(const struct ptx_rings *rings)
{
	static const char *const hints[] = { "free", "small", "closed", "idle" };
	const struct ptx_geometry *g = &rings->geometry;
	const struct ptx_region *region = rings->region;
	char name[64];

	map("filter_and_state", region->admit, PTX_CACHE_LINE);
	map("counts_of_chunks", &region->free_chunks, PTX_CACHE_LINE);
	for (int kind = 0; kind < PTX_HINTS; kind++)
		for (int tier = 0; tier < PTX_TIERS; tier++) {
			size_t places = rings->geometry.hint_last[kind][tier] + 1;

			snprintf(name, sizeof(name), "queue_%s_head", hints[kind]);
			map(name, &region->hints[kind][tier].head, PTX_CACHE_LINE);
			snprintf(name, sizeof(name), "queue_%s_tail", hints[kind]);
			map(name, &region->hints[kind][tier].tail, PTX_CACHE_LINE);
			snprintf(name, sizeof(name), "queue_%s", hints[kind]);
			map(name, rings->queue[kind][tier], places * sizeof(uint64_t));
		}
	map("searched_at", &region->searched_at, PTX_CACHE_LINE);
	map("cut", &region->cut, PTX_CACHE_LINE);
	map("skipped_types", region->skip, PTX_CACHE_LINE * 2);
	map("lost_by_type", region->lost_type, sizeof(region->lost_type));
	map("calibration", &region->calibration, sizeof(region->calibration));
	map("words", rings->word, g->chunks_max * sizeof(uint64_t));
	map("claimed", rings->claimed, g->chunks_max * sizeof(uint64_t));
	map("present", rings->present, g->chunks_max * sizeof(uint32_t));
	map("rings", rings->ring, g->rings * sizeof(struct ptx_ring));
	map("slots", rings->slot, g->rings * sizeof(struct ptx_slot));
	printf("CHUNKS %" PRIuPTR " %zu %u %zu\n", (uintptr_t)rings->chunk, g->chunk_bytes,
	       g->large, g->small_bytes);
	map("region", region, g->bytes);
}

static trace_id_t make_stream(int policy, size_t kib)
{
	trace_attr_t attr;
	trace_id_t trid;
	int err;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, kib << 10);
	posix_trace_attr_setmaxdatasize(&attr, payload_bytes < 64 ? 64 : payload_bytes);
	posix_trace_attr_setstreamfullpolicy(&attr, policy);
	err = posix_trace_create(0, &attr, &trid);
	if (!err)
		err = posix_trace_eventid_open("lines", &type);
	if (!err)
		err = posix_trace_start(trid);
	if (err)
		bench_die("a stream", err);
	return trid;
}

static int run(char **argv)
{
	int policy = strcmp(argv[2], "loop") ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP;
	size_t kib = strtoul(argv[4], NULL, 0), chunk_events, record_bytes;
	unsigned long chunks = strtoul(argv[6], NULL, 0);
	const struct ptx_view *view = NULL;
	pthread_t thread[THREADS];

	threads = (unsigned)strtoul(argv[3], NULL, 0);
	payload_bytes = strtoul(argv[5], NULL, 0);
	if (threads == 0 || threads > THREADS || payload_bytes > 4096)
		bench_die("lines_probe", EINVAL);
	turn = mmap((void *)LINES_AT, LINES_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (turn == MAP_FAILED)
		bench_die("mmap", errno);
	make_stream(policy, kib);
	for (int bit = 0; bit < PTX_STREAMS && !view; bit++)
		view = atomic_load(&ptx_private.view[bit]);
	if (!view)
		bench_die("the view of the stream", ENOENT);
	record_bytes = sizeof(struct ptx_record) + ((payload_bytes + 7) & ~(size_t)7);
	chunk_events = view->rings.geometry.chunk_room / record_bytes;
	turns = chunks * chunk_events / TURN + 1;
	/* A LOOP stream has all its memory before the measured part: twice its size. */
	warm_turns = 4;
	if (policy == POSIX_TRACE_LOOP)
		warm_turns = 9 * (kib << 10) / record_bytes / 4 / TURN / threads + 1;
	print_region(&view->rings);
	map("control", &ptx_control_page, sizeof(ptx_control_page));
	map("process", &ptx_private_block, sizeof(ptx_private_block));
	printf("RUN threads=%u events_a_chunk=%zu\n", threads, chunk_events);
	fflush(stdout);
	for (unsigned i = 0; i < threads; i++)
		sem_init(&may_run[i], 0, i == 0);
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, record, (void *)(uintptr_t)i))
			bench_die("pthread_create", EAGAIN);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* Two processors increase one number in turns. */
static _Alignas(64) _Atomic uint64_t ball;
#define BOUNCES 100000

static void *bounce(void *arg)
{
	uint64_t mine = (uintptr_t)arg;

	bench_pin((int)mine);
	for (uint64_t n = mine; n < BOUNCES; n += 2) {
		while (atomic_load_explicit(&ball, memory_order_acquire) != n)
			;
		atomic_store_explicit(&ball, n + 1, memory_order_release);
	}
	return NULL;
}

/* A bounce moves the line twice: the waiting load moves it, and then the store. */
static int transfer(void)
{
	double least = 1e18;

	if (bench_cpus() < 2) {
		printf("SKIP: one processor\n");
		return 77;
	}
	for (int round = 0; round < 20; round++) {
		pthread_t other;
		double begin;

		atomic_store(&ball, 0);
		if (pthread_create(&other, NULL, bounce, (void *)1))
			bench_die("pthread_create", EAGAIN);
		begin = bench_now_ns();
		bounce(NULL);
		pthread_join(other, NULL);
		begin = bench_now_ns() - begin;
		if (begin < least)
			least = begin;
	}
	printf("a line moves in %.0f ns\n", least / BOUNCES / 2);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "transfer") == 0)
		return transfer();
	if (argc == 7 && strcmp(argv[1], "run") == 0)
		return run(argv);
	fprintf(stderr, "usage: lines_probe run POLICY THREADS STREAM_KIB PAYLOAD_BYTES CHUNKS\n");
	return 2;
}
