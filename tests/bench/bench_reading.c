/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_reading.c - the tool's reading commands on a log of ten million events, beside Babeltrace
 * 2: bench_reading DIRECTORY POSIXTRACE [EVENTS]
 *
 * Each command is a process of its own, and the best of three runs counts. Its output goes to
 * /dev/null; a run that is not timed counts the lines. Babeltrace 2 reads the same events as CTF,
 * once only because it is slow: with its counter for comparison with stat and query, as text for
 * comparison with dump.
 *
 * The law: dump prints a line for each event of the log, and dump --json an object; stat, query and
 * Babeltrace 2 count the same number; a window has the same number of lines as dump prints between
 * its times.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#include "bench.h"

#define EVENTS   "10000000"
#define RUNS     3
#define PEAK_KIB (64 * 1024)
#define ROWS     "select name, count(*) from events group by name"

struct cost {
	double wall_s, cpu_s;
	long peak_kib;
	bool good;
};

static char tool[4000], logfile[4000], ctf[4000];

/* ------------------------------------------------------------------ processes */

static pid_t start(const char *const argv[], int out)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork", errno);
	if (pid)
		return pid;
	dup2(out, STDOUT_FILENO);
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static struct cost wait_for(pid_t pid, double begin_ns)
{
	struct cost cost = { 0 };
	struct rusage usage;
	int status;

	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			bench_die("wait4", errno);
	cost.wall_s = (bench_now_ns() - begin_ns) / 1e9;
	cost.cpu_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	cost.peak_kib = usage.ru_maxrss;
	cost.good = WIFEXITED(status) && !WEXITSTATUS(status);
	return cost;
}

static struct cost run_once(const char *const argv[])
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	double begin_ns = bench_now_ns();
	struct cost cost = wait_for(start(argv, null), begin_ns);

	close(null);
	return cost;
}

static struct cost run_best(const char *const argv[])
{
	struct cost best = run_once(argv);

	for (int i = 1; i < RUNS; i++) {
		struct cost cost = run_once(argv);
		long peak_kib = cost.peak_kib > best.peak_kib ? cost.peak_kib : best.peak_kib;

		cost.good &= best.good;
		if (cost.wall_s > best.wall_s) {
			best.good = cost.good;
			cost = best;
		}
		cost.peak_kib = peak_kib;
		best = cost;
	}
	return best;
}

/* Reads the output line by line. Returns false if the command fails. */
static bool read_lines(const char *const argv[], void (*take)(void *arg, const char *line),
		       void *arg)
{
	char *line = NULL;
	size_t room = 0;
	int pipe_fd[2];
	FILE *from;
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC))
		bench_die("pipe", errno);
	pid = start(argv, pipe_fd[1]);
	close(pipe_fd[1]);
	from = fdopen(pipe_fd[0], "r");
	while (from && getline(&line, &room, from) > 0)
		take(arg, line);
	free(line);
	fclose(from);
	return wait_for(pid, 0).good;
}

/* ------------------------------------------------------------------ counts */

struct lines {
	uint64_t all, window;
	int64_t begin_ns, end_ns;
};

static void count_line(void *arg, const char *line)
{
	struct lines *lines = arg;
	int64_t time_ns = strtoll(line, NULL, 10);

	lines->all++;
	lines->window += time_ns >= lines->begin_ns && time_ns <= lines->end_ns;
}

static void count_object(void *arg, const char *line)
{
	*(uint64_t *)arg += *line == '{';
}

static void find_stat(void *arg, const char *line)
{
	const char *events = strstr(line, "\"events\":");

	if (events)
		sscanf(events, "\"events\":%" SCNu64, (uint64_t *)arg);
}

static void add_count(void *arg, const char *line)
{
	const char *comma = strrchr(line, ',');

	*(uint64_t *)arg += comma ? strtoull(comma + 1, NULL, 10) : 0;
}

static void find_counter(void *arg, const char *line)
{
	if (strstr(line, "Event messages"))
		*(uint64_t *)arg = strtoull(line, NULL, 10);
}

static void find_first(void *arg, const char *line)
{
	if (!*(uint64_t *)arg)
		*(uint64_t *)arg = strtoull(line, NULL, 10);
}

/* ------------------------------------------------------------------ the log */

static uint64_t write_log(const char *events)
{
	const char *const argv[] = { "./reading_log", logfile, events, NULL };
	uint64_t written = 0;

	if (!read_lines(argv, find_first, &written) || !written)
		bench_die("writing the log to be read", EIO);
	return written;
}

/* Finds the times of a thousandth of the log's events, in its middle. */
static void find_window(struct lines *lines, uint64_t events)
{
	struct posix_trace_event_np event;
	int fd = open(logfile, O_RDONLY | O_CLOEXEC), unavailable = 0;
	trace_id_t trid;
	int err = fd < 0 ? errno : posix_trace_open(fd, &trid);

	for (uint64_t i = 0; !err && !unavailable && i <= events / 2 + events / 1000; i++) {
		err = posix_trace_getnext_np(trid, &event, &unavailable);
		if (i == events / 2)
			lines->begin_ns = event.time_ns;
		lines->end_ns = event.time_ns;
	}
	if (err || unavailable)
		bench_die("reading the log", err ? err : EIO);
	posix_trace_close(trid);
	close(fd);
}

/* ------------------------------------------------------------------ the figures */

struct beside { /* Babeltrace 2 */
	bool is_there;
	struct cost text, count;
	uint64_t events;
};

static void run_babeltrace(struct beside *beside)
{
	const char *const version[] = { "babeltrace2", "--version", NULL };
	const char *const convert[] = { tool, "convert", "--to", "ctf", "-o", ctf, logfile, NULL };
	const char *const count[] = { "babeltrace2", ctf, "-c", "sink.utils.counter", NULL };
	const char *const text[] = { "babeltrace2", ctf, NULL };
	double begin_ns;

	if (!run_once(version).good)
		return;
	if (!run_once(convert).good)
		bench_die("posixtrace convert", EIO);
	begin_ns = bench_now_ns();
	beside->is_there = read_lines(count, find_counter, &beside->events);
	beside->count.wall_s = (bench_now_ns() - begin_ns) / 1e9;
	beside->text = run_once(text);
}

/* On a busy machine the processor time says more than the elapsed time. */
static void begin_line(const char *name, uint64_t events, const struct cost *cost,
		       const struct beside *beside, const struct cost *other)
{
	bench_begin("%s events=%" PRIu64 " wall_s=%.3f cpu_s=%.3f M_per_cpu_s=%.1f peak_KiB=%ld",
		    name, events, cost->wall_s, cost->cpu_s,
		    cost->cpu_s > 0 ? (double)events / cost->cpu_s / 1e6 : 0.0, cost->peak_kib);
	if (beside->is_there && other)
		printf(" babeltrace_s=%.3f times_babeltrace=%.1f", other->wall_s,
		       other->wall_s / cost->wall_s);
}

static void measure(uint64_t events, struct lines *lines)
{
	char begin[40], end[40];
	const char *const dump[] = { tool, "dump", logfile, NULL };
	const char *const json[] = { tool, "dump", "--json", logfile, NULL };
	const char *const dump_raw[] = { tool, "dump", "--raw", "--fields", "time", logfile, NULL };
	const char *const stat[] = { tool, "stat", "--json", logfile, NULL };
	const char *const query[] = { tool, "query", "--csv", logfile, ROWS, NULL };
	const char *const window[] = { tool, "dump", "--raw", "--begin", begin, "--end", end,
				       logfile, NULL };
	struct beside beside = { 0 };
	struct cost full, cost;
	struct lines shown = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX };
	uint64_t counted = 0, rows = 0, objects = 0;
	long peak_kib;
	bool law;

	snprintf(begin, sizeof(begin), "%" PRId64 ".%09" PRId64, lines->begin_ns / 1000000000,
		 lines->begin_ns % 1000000000);
	snprintf(end, sizeof(end), "%" PRId64 ".%09" PRId64, lines->end_ns / 1000000000,
		 lines->end_ns % 1000000000);
	run_babeltrace(&beside);
	law = !beside.is_there || beside.events == events;

	full = run_best(dump);
	law &= full.good && read_lines(dump_raw, count_line, lines) && lines->all == events;
	peak_kib = full.peak_kib;
	begin_line("reading_dump", events, &full, &beside, &beside.text);
	bench_end_floor("Mlines_per_s", (double)events / full.wall_s / 1e6, 15, law);

	cost = run_best(json);
	law = cost.good && read_lines(json, count_object, &objects) && objects == events;
	peak_kib = cost.peak_kib > peak_kib ? cost.peak_kib : peak_kib;
	begin_line("reading_json", events, &cost, &beside, &beside.text);
	bench_end_floor("Mlines_per_s", (double)events / cost.wall_s / 1e6, 10, law);

	cost = run_best(stat);
	law = cost.good && read_lines(stat, find_stat, &counted) && counted == events;
	peak_kib = cost.peak_kib > peak_kib ? cost.peak_kib : peak_kib;
	begin_line("reading_stat", events, &cost, &beside, &beside.count);
	bench_end_floor("Mevents_per_s", (double)events / cost.wall_s / 1e6, 10, law);

	cost = run_best(query);
	if (cost.good) { /* this build of the tool may lack query */
		law = read_lines(query, add_count, &rows) && rows == events;
		peak_kib = cost.peak_kib > peak_kib ? cost.peak_kib : peak_kib;
		begin_line("reading_query", events, &cost, &beside, &beside.count);
		bench_end_floor("Mrows_per_s", (double)events / cost.wall_s / 1e6, 14.3, law);
	}

	cost = run_best(window);
	law = cost.good && read_lines(window, count_line, &shown) && shown.all == lines->window;
	peak_kib = cost.peak_kib > peak_kib ? cost.peak_kib : peak_kib;
	begin_line("reading_window", shown.all, &cost, &beside, NULL);
	bench_end_limit("percent_of_dump", 100 * cost.wall_s / full.wall_s, 1, law);

	bench_begin("reading_memory events=%" PRIu64, events);
	bench_end_limit("peak_KiB", (double)peak_kib, PEAK_KIB, true);
}

static void remove_files(void)
{
	const char *const argv[] = { "rm", "-rf", logfile, ctf, NULL };

	run_once(argv);
}

int main(int argc, char **argv)
{
	struct lines lines = { 0 };
	uint64_t events;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: bench_reading DIRECTORY POSIXTRACE [EVENTS]\n");
		return 2;
	}
	snprintf(tool, sizeof(tool), "%s", argv[2]);
	snprintf(logfile, sizeof(logfile), "%s/bench_reading.%ld", argv[1], (long)getpid());
	snprintf(ctf, sizeof(ctf), "%s/bench_reading.%ld.ctf", argv[1], (long)getpid());
	atexit(remove_files);
	events = write_log(argc == 4 ? argv[3] : EVENTS);
	find_window(&lines, events);
	measure(events, &lines);
	return bench_status();
}
