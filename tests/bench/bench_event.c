/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_event.c - the cost of posix_trace_event() for its caller: running, stopped, filtered,
 * without a stream, into several streams, from two threads, and a new thread's first event.
 *
 * Every call goes through the shared library. Running streams are LOOP streams without a reader,
 * which is the steady state of a flight recorder with chunk switches and overwriting.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "bench_least.h"
#include "bench_stream.h"

#define CALLS         2000
#define STREAMS_MAX   4
#define FRESH_THREADS 300

struct emit {
	trace_event_id_t type;
	size_t len;
	unsigned char data[1024];
};

static void emit_loop(void *arg, long calls)
{
	const struct emit *emit = arg;

	for (long i = 0; i < calls; i++)
		posix_trace_event(emit->type, emit->data, emit->len);
}

static void point_loop(void *arg, long calls)
{
	const struct emit *emit = arg;

	for (long i = 0; i < calls; i++)
		posix_trace_point_np(emit->type, emit->data, emit->len);
}

/* A trace point in one line with four fields. */
static void line_loop(void *arg, long calls)
{
	const struct emit *emit = arg;

	for (long i = 0; i < calls; i++)
		POSIX_TRACE_EVENT_NP(bench_line, (s32, a, i), (u32, b, emit->type), (u64, c, i),
				     (u64, d, emit->len));
}

/* A message with two values, which readers format. */
static void log_loop(void *arg, long calls)
{
	(void)arg;
	for (long i = 0; i < calls; i++)
		POSIX_TRACE_LOG_NP("turn %ld of %d", i, CALLS);
}

static struct emit emit_of(const char *name, size_t len)
{
	struct emit emit = { .type = bench_type(name), .len = len };

	memset(emit.data, 0x5a, sizeof(emit.data));
	return emit;
}

/* bench_least_store() in a loop. There are as many rings as streams. */
struct least {
	const struct emit *emit;
	unsigned rings;
	struct bench_least ring[STREAMS_MAX];
};

static inline __attribute__((always_inline)) void
store_events(struct least *least, const unsigned rings, long calls)
{
	const struct emit *emit = least->emit;

	for (long i = 0; i < calls; i++)
		bench_least_store(least->ring, rings, emit->type, emit->data, emit->len);
}

static void least_loop(void *arg, long calls)
{
	struct least *least = arg;

	switch (least->rings) {
	case 1:
		store_events(least, 1, calls);
		break;
	case 2:
		store_events(least, 2, calls);
		break;
	case 3:
		store_events(least, 3, calls);
		break;
	default:
		store_events(least, STREAMS_MAX, calls);
	}
}

/* The memory of the rings: shared, as that of a stream, or private with huge pages. */
enum pages { SHARED, HUGE };

static uint64_t *map_ring(size_t bytes, enum pages pages)
{
	void *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_ANONYMOUS | (pages == SHARED ? MAP_SHARED : MAP_PRIVATE), -1, 0);

	if (ring == MAP_FAILED)
		bench_die("mmap", errno);
	if (pages == HUGE)
		madvise(ring, bytes, MADV_HUGEPAGE);
	memset(ring, 1, bytes);
	return ring;
}

/* Returns the least of a loop of the stores alone, in `rings` rings of so many bytes. */
static double measure_least(const struct emit *emit, unsigned rings, size_t bytes, enum pages pages)
{
	const size_t all = bytes + sizeof(uint64_t) * 4 + sizeof(emit->data);
	struct least least = { .emit = emit, .rings = rings };
	struct bench_figure cost;

	for (unsigned i = 0; i < rings; i++)
		least.ring[i] = (struct bench_least){ .ring = map_ring(all, pages),
						      .words = bytes / sizeof(uint64_t) };
	cost = bench_measure(least_loop, &least, CALLS);
	for (unsigned i = 0; i < rings; i++)
		munmap(least.ring[i].ring, all);
	return cost.min_ns;
}

/*
 * The cost of an event in a stream, which is started before and shut down afterwards. `warm` events
 * are recorded before the measurement.
 */
static struct bench_figure measure_emit(trace_id_t trid, struct emit *emit, long warm, bool *law)
{
	struct bench_figure cost;

	posix_trace_start(trid);
	emit_loop(emit, warm);
	cost = bench_measure(emit_loop, emit, CALLS);
	*law = bench_law(trid, emit->type, cost.calls + (uint64_t)warm);
	posix_trace_shutdown(trid);
	return cost;
}

/* limit: of the ratio to one clock_gettime() */
static double emit_running(size_t len, double limit)
{
	struct emit emit = emit_of("bench_emit", len);
	trace_id_t trid = bench_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES / 4, -1);
	double least_ns = measure_least(&emit, 1, BENCH_BUFFER_BYTES / 4, SHARED);
	struct bench_figure cost;
	bool law;

	cost = measure_emit(trid, &emit, 0, &law);
	bench_begin("emit threads=1 payload_bytes=%zu least_ns=%.2f ns=%.2f p50_ns=%.2f "
		    "U_ns=%.2f p50_ratio_U=%.3f",
		    len, least_ns, cost.min_ns, cost.median_ns, cost.unit_min_ns,
		    cost.median_ns / cost.unit_median_ns);
	bench_end_limit("ratio_U", cost.min_ns / cost.unit_min_ns, limit, law);
	return cost.min_ns;
}

/*
 * The same limit for other sizes of the stream and of its largest event. The stream is filled
 * first: in its steady state each page of it is present.
 */
static void emit_stream(size_t stream_kib, size_t data_bytes, size_t len, double limit)
{
	struct emit emit = emit_of("bench_emit", len);
	trace_id_t trid = bench_stream_of(POSIX_TRACE_LOOP, stream_kib << 10, data_bytes, -1);
	bool law;
	const long warm = 2 * (long)(stream_kib << 10) / (long)(24 + (len + 7) / 8 * 8);
	struct bench_figure cost = measure_emit(trid, &emit, warm, &law);

	bench_begin("emit_stream stream_KiB=%zu max_data=%zu payload_bytes=%zu least_ns=%.2f "
		    "least_huge_ns=%.2f ns=%.2f p50_ns=%.2f",
		    stream_kib, data_bytes, len,
		    measure_least(&emit, 1, stream_kib << 10, SHARED),
		    measure_least(&emit, 1, stream_kib << 10, HUGE), cost.min_ns, cost.median_ns);
	bench_end_limit("ratio_U", cost.min_ns / cost.unit_min_ns, limit, law);
}

/*
 * A function of four instructions in another library. The compilers know labs(), but not this name
 * for it, so they do not replace the call.
 */
extern long call_empty(long value) __asm__("imaxabs");

static void call_loop(void *arg, long calls)
{
	(void)arg;
	for (long i = 0; i < calls; i++)
		call_empty(i);
}

static void emit_nowhere(void)
{
	struct emit emit = emit_of("bench_emit", 8);
	struct bench_figure call = bench_measure(call_loop, NULL, CALLS);
	struct bench_figure cost = bench_measure(emit_loop, &emit, CALLS);

	struct bench_figure point = bench_measure(point_loop, &emit, CALLS);
	struct bench_figure line = bench_measure(line_loop, &emit, CALLS);

	bench_begin("no_stream payload_bytes=8 call_ns=%.2f p50_ns=%.2f", call.min_ns,
		    cost.median_ns);
	bench_end_limit("ns", cost.min_ns, 2.0, true);
	bench_begin("no_stream_point_np payload_bytes=8 p50_ns=%.2f", point.median_ns);
	bench_end_limit("ns", point.min_ns, 2.0, true);
	bench_begin("no_stream_line fields=4 p50_ns=%.2f", line.median_ns);
	bench_end_limit("ns", line.min_ns, 2.0, true);
}

/*
 * A trace point in one line registers its type by itself, so the law is that of the total. The data
 * of its events has `len` bytes.
 */
static void emit_lines(const char *name, size_t len, bench_loop *loop, double limit)
{
	struct emit emit = emit_of("bench_emit", 8), least = emit_of("bench_emit", len);
	trace_id_t trid = bench_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES / 4, -1);
	struct posix_trace_ledger_np total;
	struct bench_figure cost;
	bool law;

	posix_trace_start(trid);
	cost = bench_measure(loop, &emit, CALLS);
	/* The START event and the calls of the loop. */
	law = posix_trace_get_ledger_np(trid, &total) == 0 && total.called == cost.calls + 1;
	posix_trace_shutdown(trid);
	bench_begin("%s least_ns=%.2f ns=%.2f p50_ns=%.2f U_ns=%.2f p50_ratio_U=%.3f", name,
		    measure_least(&least, 1, BENCH_BUFFER_BYTES / 4, SHARED), cost.min_ns,
		    cost.median_ns, cost.unit_min_ns, cost.median_ns / cost.unit_median_ns);
	bench_end_limit("ratio_U", cost.min_ns / cost.unit_min_ns, limit, law);
}

/* A call of an empty function of another library (call_ns) is the least that it can cost. */
static void emit_refused(bool filtered)
{
	struct emit emit = emit_of("bench_refused", 8);
	trace_id_t trid = bench_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES / 4, -1);
	struct bench_figure call = bench_measure(call_loop, NULL, CALLS), cost;
	trace_event_set_t set;
	bool law;

	posix_trace_start(trid);
	emit_loop(&emit, 1); /* so that the library attaches the thread */
	if (filtered) {
		posix_trace_eventset_empty(&set);
		posix_trace_eventset_add(emit.type, &set);
		posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	} else {
		posix_trace_stop(trid);
	}
	cost = bench_measure(emit_loop, &emit, CALLS);
	law = bench_law(trid, emit.type, 1);
	posix_trace_shutdown(trid);
	bench_begin("%s payload_bytes=8 call_ns=%.2f p50_ns=%.2f",
		    filtered ? "filtered" : "stopped", call.min_ns, cost.median_ns);
	bench_end_limit("ns", cost.min_ns, 2.5, law);
}

static void emit_streams(int streams, double alone_ns)
{
	struct emit emit = emit_of("bench_emit", 8);
	trace_id_t trid[STREAMS_MAX];
	struct bench_figure cost;
	bool law = true;

	for (int i = 0; i < streams; i++) {
		trid[i] = bench_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES / 4, -1);
		posix_trace_start(trid[i]);
	}
	cost = bench_measure(emit_loop, &emit, CALLS);
	for (int i = 0; i < streams; i++) {
		law &= bench_law(trid[i], emit.type, cost.calls);
		posix_trace_shutdown(trid[i]);
	}
	bench_begin("streams streams=%d payload_bytes=8 least_ns=%.2f ns=%.2f p50_ns=%.2f", streams,
		    measure_least(&emit, (unsigned)streams, BENCH_BUFFER_BYTES / 4, SHARED),
		    cost.min_ns, cost.median_ns);
	bench_end_limit("further_stream_U",
			(cost.min_ns - alone_ns) / (streams - 1) / cost.unit_min_ns, 0.15, law);
}

static void emit_two_threads(void)
{
	struct emit emit = emit_of("bench_emit", 8);
	trace_id_t trid = bench_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES / 4, -1);
	struct bench_pair pair;
	bool law;

	posix_trace_start(trid);
	pair = bench_measure_pair(emit_loop, &emit, CALLS);
	law = bench_law(trid, emit.type, pair.calls);
	posix_trace_shutdown(trid);
	bench_begin("two_threads threads=2 payload_bytes=8");
	bench_end_pair(&pair, 1.05, law);
}

static void *fresh_main(void *arg)
{
	static const unsigned char data[8];
	double *cost_ns = arg;
	double begin;

	bench_now_ns();
	begin = bench_now_ns();
	posix_trace_event((trace_event_id_t)cost_ns[1], data, sizeof(data));
	cost_ns[0] = bench_now_ns() - begin;
	return NULL;
}

static void first_event(void)
{
	trace_event_id_t type = bench_type("bench_fresh");
	trace_id_t trid = bench_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES / 4, -1);
	double cost[FRESH_THREADS], clock_ns = bench_clock_cost_ns(), median;
	bool law;

	posix_trace_start(trid);
	posix_trace_event(type, NULL, 0); /* attaches the process */
	for (int i = 0; i < FRESH_THREADS; i++) {
		double answer[2] = { 0, type };
		pthread_t thread;

		pthread_create(&thread, NULL, fresh_main, answer);
		pthread_join(thread, NULL);
		cost[i] = answer[0] - clock_ns;
	}
	law = bench_law(trid, type, FRESH_THREADS + 1);
	posix_trace_shutdown(trid);
	median = bench_median(cost, FRESH_THREADS);
	bench_begin("first_event threads=%d min_us=%.2f p90_us=%.2f", FRESH_THREADS,
		    cost[0] / 1000, cost[FRESH_THREADS * 9 / 10] / 1000);
	bench_end_limit("p50_us", median / 1000, 3.0, law);
}

/* Every path of the copy, and the sizes between which the cost rises with the bytes. */
static const struct {
	size_t bytes;
	double limit;
} sizes[] = {
	{ 0, 0.48 }, { 4, 0.48 }, { 16, 0.50 }, { 24, 0.50 }, { 32, 0.50 }, { 40, 0.52 },
	{ 64, 0.54 }, { 128, 0.58 }, { 256, 0.66 }, { 512, 0.82 }, { 1024, 1.2 },
};

/* The ends of the ranges for which the limits of `sizes` hold; the largest event of each stream. */
static const struct {
	size_t stream_kib, data_bytes, len;
	double limit;
} streams_of[] = {
	{ 64, 64, 8, 0.48 },     { 64, 64, 64, 0.54 },      { 64, 8192, 8, 0.48 },
	{ 64, 8192, 1024, 1.2 }, { 65536, 64, 8, 0.48 },    { 65536, 64, 64, 0.54 },
	{ 65536, 8192, 8, 0.48 }, { 65536, 8192, 1024, 1.2 },
};

int main(void)
{
	double alone_ns;

	emit_two_threads(); /* before pinning */
	bench_pin(0);
	emit_nowhere();
	alone_ns = emit_running(8, 0.48);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		emit_running(sizes[i].bytes, sizes[i].limit);
	for (size_t i = 0; i < sizeof(streams_of) / sizeof(streams_of[0]); i++)
		emit_stream(streams_of[i].stream_kib, streams_of[i].data_bytes, streams_of[i].len,
			    streams_of[i].limit);
	emit_lines("line_np fields=4", 24, line_loop, 0.65);
	emit_lines("log_np values=2", 12, log_loop, 2.0);
	emit_refused(false);
	emit_refused(true);
	for (int streams = 2; streams <= STREAMS_MAX; streams++)
		emit_streams(streams, alone_ns);
	first_event();
	return bench_status();
}
