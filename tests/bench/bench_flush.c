/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_flush.c - a stream with log and policy FLUSH, 8-byte events, one producer, to a file in
 * the page cache: bench_flush DIRECTORY [BESIDE_RATE BESIDE_LOST_PERCENT]
 *
 * Two figures: the share of events lost when the producer traces without a pause, and the highest
 * rate at which no event is lost. The producer keeps a rate by waiting between batches of 64
 * events. A binary search finds the rate, between one that lost no event and one that lost some.
 * The reported rate was kept once more for a longer time. The best of a few tries counts, here and
 * with LTTng-UST, because other load of the machine can disturb a try. BESIDE_* are the figures of
 * LTTng-UST with equal buffers, which ./run measures in the same run.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "bench_stream.h"

#define BATCH       64
#define TRY_NS      200e6
#define PROVE_NS    500e6
#define SEARCH_STEPS 6
#define TRIES        3
#define FULL_SPEED  1e12
#define LOSSLESS_FLOOR 60 /* million events per second */

struct outcome {
	double rate; /* events per second that the producer called */
	uint64_t calls;
	uint64_t lost;
	bool law;
};

static const char *directory;
static trace_event_id_t type;

static uint64_t produce(double rate, double duration_ns, double *took_ns)
{
	double begin = bench_now_ns(), now = begin, due = begin, gap_ns = BATCH / rate * 1e9;
	uint64_t n = 0;

	while (now - begin < duration_ns) {
		for (int i = 0; i < BATCH; i++, n++)
			posix_trace_event(type, &n, sizeof(n));
		due += gap_ns;
		do
			now = bench_now_ns();
		while (now < due);
	}
	*took_ns = now - begin;
	return n;
}

static struct outcome run(double rate, double duration_ns)
{
	char path[4000];
	struct posix_trace_ledger_np line;
	struct outcome outcome;
	double took_ns;
	trace_id_t trid;
	int fd, err;

	snprintf(path, sizeof(path), "%s/bench_flush.%ld", directory, (long)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		bench_die(path, errno);
	unlink(path);
	trid = bench_stream(POSIX_TRACE_FLUSH, BENCH_BUFFER_BYTES, fd);
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

static struct outcome lossless(const struct outcome *at_full_speed, bool *law)
{
	double low = 1e6, high = at_full_speed->rate;
	struct outcome outcome = *at_full_speed;

	if (!outcome.lost)
		return outcome; /* no search is necessary */
	for (int i = 0; low < high && i < SEARCH_STEPS; i++) {
		double middle = (low + high) / 2;

		if (best_of(TRIES, middle, TRY_NS, law).lost)
			high = middle;
		else
			low = middle;
	}
	for (int i = 0; i < 10; i++, low *= 0.9) {
		outcome = best_of(TRIES, low, PROVE_NS, law);
		if (!outcome.lost)
			break;
	}
	return outcome;
}

int main(int argc, char **argv)
{
	double beside_rate = 0, beside_lost = 0, lost_percent;
	struct outcome full, best;
	bool law = true;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: bench_flush DIRECTORY [BESIDE_RATE BESIDE_LOST_PERCENT]\n");
		return 2;
	}
	directory = argv[1];
	if (argc == 4) {
		beside_rate = atof(argv[2]);
		beside_lost = atof(argv[3]);
	}
	type = bench_type("bench_flush");
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
	bench_begin("flush_lossless_rate payload_bytes=8");
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
