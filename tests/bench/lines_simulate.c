/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lines_simulate.c - counts the cache lines that move between processors: see ./lines.
 *
 *	lines_simulate MAP NANOSECONDS <TRACE
 *
 * MAP is the output of lines_probe, TRACE that of valgrind's tool lackey. NANOSECONDS is how
 * long a line needs from one processor to another. Each thread has a processor of its own with a
 * cache of any size. A line is valid in the caches of several processors, or was changed by one. A
 * load moves the line if another processor has stored into it since this processor's last access. A
 * store moves it if the line is valid in another cache. The first accesses to a line, by its first
 * processor, move nothing.
 *
 * A processor waits for each move at most once, so all moves of an event are a bound of their cost.
 * Other moves of the same line wait for this one. So the line that moves most often bounds the rate
 * of all threads together.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define THREADS LINES_THREADS
#define WORDS   (THREADS / 64)
#define LINE    64
#define TABLE   (1u << 22) /* lines; a power of two */
#define PARTS   128

struct line {
	uint64_t number; /* address / LINE + 1; 0: unused */
	uint64_t valid[WORDS];
	uint64_t moves; /* in the measured part */
};

struct part {
	char name[40];
	uint64_t loads, stores, moves;
	uint64_t most; /* moves of the line of this part that moved most often */
};

static struct line table[TABLE];
static struct part part[PARTS];
static unsigned parts;
static uint64_t chunks_at, chunk_bytes, large, small_bytes;
static unsigned threads, events_a_chunk;

static struct part *part_named(const char *name)
{
	for (unsigned i = 0; i < parts; i++)
		if (strcmp(part[i].name, name) == 0)
			return &part[i];
	if (parts == PARTS)
		abort();
	snprintf(part[parts].name, sizeof(part[parts].name), "%s", name);
	return &part[parts++];
}

struct range {
	struct part *part;
	uint64_t from, to;
};
static struct range range[PARTS];
static unsigned ranges;

static void read_map(const char *path)
{
	FILE *file = fopen(path, "r");
	char text[256], name[40];
	uint64_t at, bytes;

	if (!file) {
		perror(path);
		exit(2);
	}
	while (fgets(text, sizeof(text), file)) {
		if (sscanf(text, "MAP %39s %" SCNu64 " %" SCNu64, name, &at, &bytes) == 3) {
			if (ranges < PARTS)
				range[ranges++] = (struct range){ part_named(name), at,
								  at + bytes };
			continue;
		}
		sscanf(text, "CHUNKS %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &chunks_at,
		       &chunk_bytes, &large, &small_bytes);
		sscanf(text, "RUN threads=%u events_a_chunk=%u", &threads, &events_a_chunk);
	}
	fclose(file);
	part_named("chunk_header");
	part_named("chunk_records");
	part_named("other");
}

/* Returns the part of the program's memory; NULL: the thread's own stack and the like. */
static struct part *part_of(uint64_t at)
{
	for (unsigned i = 0; i < ranges; i++)
		if (at >= range[i].from && at < range[i].to) {
			if (strcmp(range[i].part->name, "region") || at < chunks_at)
				return range[i].part;
			if (at < chunks_at + large * chunk_bytes)
				at = (at - chunks_at) % chunk_bytes;
			else
				at = (at - chunks_at - large * chunk_bytes) % small_bytes;
			return part_named(at < LINE ? "chunk_header" : "chunk_records");
		}
	return part_named("other");
}

static struct line *line_of(uint64_t at)
{
	uint64_t number = at / LINE + 1, i = number * UINT64_C(0x9e3779b97f4a7c15) >> 42;

	while (table[i].number && table[i].number != number)
		i = (i + 1) % TABLE;
	table[i].number = number;
	return &table[i];
}

static bool is_measured;

/* Returns true if the access moves the line to the thread's processor. */
static bool access_line(struct line *line, unsigned thread, bool is_store)
{
	uint64_t own = UINT64_C(1) << thread % 64, others = 0, all = 0;
	bool moves;

	for (unsigned i = 0; i < WORDS; i++) {
		all |= line->valid[i];
		others |= line->valid[i] & ~(i == thread / 64 ? own : 0);
	}
	if (is_store) {
		moves = others != 0;
		memset(line->valid, 0, sizeof(line->valid));
	} else {
		moves = all && !(line->valid[thread / 64] & own);
	}
	line->valid[thread / 64] |= own;
	return moves;
}

static void count(uint64_t at, unsigned thread, bool is_load, bool is_store)
{
	struct part *to = is_measured ? part_of(at) : NULL;
	struct line *line = line_of(at);
	bool moves = access_line(line, thread, is_store);

	if (!to)
		return;
	to->loads += is_load && !is_store;
	to->stores += is_store;
	to->moves += moves;
	line->moves += moves;
	if (line->moves > to->most)
		to->most = line->moves;
}

static void report(uint64_t events, double move_ns)
{
	double n = (double)events, chunks = n / events_a_chunk, moves = 0, most = 0;
	const char *busiest = "none";

	printf("%-20s %10s %10s %10s %10s %12s\n", "part", "loads", "stores", "moves", "moves",
	       "its busiest");
	printf("%-20s %10s %10s %10s %10s %12s\n", "", "an event", "an event", "an event",
	       "a chunk", "line, a chunk");
	for (unsigned i = 0; i < parts; i++) {
		if (part[i].moves == 0)
			continue;
		moves += (double)part[i].moves;
		if ((double)part[i].most > most) {
			most = (double)part[i].most;
			busiest = part[i].name;
		}
		printf("%-20s %10.4f %10.4f %10.4f %10.2f %12.2f\n", part[i].name,
		       (double)part[i].loads / n, (double)part[i].stores / n,
		       (double)part[i].moves / n, (double)part[i].moves / chunks,
		       (double)part[i].most / chunks);
	}
	printf("moves cost at most %.1f ns an event\n", moves / n * move_ns);
	if (most > 0)
		printf("all threads together: at most %.0f million events/s, by a line of %s\n",
		       n / most / move_ns * 1000, busiest);
}

/*
 * A load that waits for the next access. lackey shows an atomic addition as a load and a
 * modification of the same place, which a processor does as one.
 */
static struct access {
	uint64_t at;
	unsigned thread;
	bool is_load;
} last;

static void settle(void)
{
	if (last.is_load)
		count(last.at, last.thread, true, false);
	last.is_load = false;
}

static void access_memory(uint64_t at, unsigned thread, char kind)
{
	if (kind != 'L' && last.is_load && last.at == at) {
		kind = 'M';
		last.is_load = false;
	}
	settle();
	if (kind == 'L')
		last = (struct access){ at, thread, true };
	else
		count(at, thread, kind == 'M', true);
}

int main(int argc, char **argv)
{
	uint64_t events = 0;
	unsigned thread = THREADS;
	char text[128];

	if (argc != 3)
		return 2;
	while (fgets(text, sizeof(text), stdin)) {
		uint64_t at;
		unsigned size;

		if (text[0] != ' ' || !strchr("LSM", text[1]) ||
		    sscanf(text + 2, " %" SCNx64 ",%u", &at, &size) != 2)
			continue;
		if (at >= LINES_AT && at < LINES_AT + LINES_BYTES) {
			unsigned which = (unsigned)(at - LINES_AT);

			/* lines_probe has written the map before the first turn. */
			if (ranges == 0)
				read_map(argv[1]);
			settle();
			if (which <= LINES_TURN_END)
				thread = which;
			else if (which == LINES_MEASURE)
				is_measured = true;
			else
				events += is_measured;
		} else if (thread < THREADS) {
			access_memory(at, thread, text[1]);
		}
	}
	if (events == 0) {
		fputs("lines_simulate: the trace has no measured events\n", stderr);
		return 1;
	}
	printf("events %" PRIu64 ", threads %u, events of a chunk %u\n", events, threads,
	       events_a_chunk);
	report(events, strtod(argv[2], NULL));
	return 0;
}
