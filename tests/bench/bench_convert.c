/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_convert.c - posixtrace convert: bench_convert FOLDER TOOL LOG EVENTS
 *
 * LOG has EVENTS events. The tool converts it to CTF and to a database of SQLite in FOLDER, and to
 * Perfetto's format, JSON lines and a page of html in a pipe, whose bytes this program reads and
 * discards. Then the tool converts it to an RKH stream in FOLDER and reads that stream again. The
 * laws: the tool exits with 0; the JSON lines have one line for each event; the log that is made of
 * the RKH stream has each event, by its account.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#include "bench.h"

#define EVENTS_FLOOR 1e6
#define LINES_FLOOR  10e6 /* of JSON lines */
#define PAGE_FLOOR   5e6
#define BYTES_FLOOR  50e6
#define PIECE        (1 << 16)

struct run {
	double seconds, processor_seconds;
	long peak_kib;
	uint64_t lines; /* lines of events that came through the pipe */
	bool well;
};

static const char *folder, *tool, *trace;
static uint64_t events;

/* The beginning of an event's line. Only these bytes of each line are examined. */
static void count_lines(struct run *run, int fd)
{
	static const char begins[] = "{\"event\":";
	static char bytes[PIECE];
	size_t at = 0; /* position in begins; sizeof(begins): the rest of the line is skipped */
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		for (char *p = bytes, *end = bytes + n; p < end;) {
			if (at < sizeof(begins) - 1) {
				at = *p++ == begins[at] ? at + 1 : sizeof(begins);
				run->lines += at == sizeof(begins) - 1;
				continue;
			}
			p = memchr(p, '\n', (size_t)(end - p));
			if (!p)
				break;
			p++;
			at = 0;
		}
	}
}

/* Runs convert from in to the format to, or html; out NULL writes into a pipe. */
static struct run convert(const char *in, const char *to, const char *out)
{
	struct run run = { 0 };
	struct rusage usage;
	double begin = bench_now_ns();
	int status, pipe_fd[2];
	pid_t pid;

	if (pipe(pipe_fd))
		bench_die("pipe", errno);
	pid = fork();
	if (pid < 0)
		bench_die("fork", errno);
	if (!pid) {
		dup2(pipe_fd[1], STDOUT_FILENO);
		close(pipe_fd[0]);
		close(pipe_fd[1]);
		if (!strcmp(to, "html"))
			execl(tool, "posixtrace", "html", in, "-o", "-", (char *)NULL);
		else
			execl(tool, "posixtrace", "convert", in, "--to", to, "-o",
			      out ? out : "-", (char *)NULL);
		_exit(127);
	}
	close(pipe_fd[1]);
	count_lines(&run, pipe_fd[0]);
	close(pipe_fd[0]);
	if (wait4(pid, &status, 0, &usage) != pid)
		bench_die("wait4", errno);
	run.seconds = (bench_now_ns() - begin) / 1e9;
	run.processor_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	run.peak_kib = usage.ru_maxrss;
	run.well = WIFEXITED(status) && !WEXITSTATUS(status);
	return run;
}

static void export(const char *to, const char *out, double floor, bool lines)
{
	struct run run = convert(trace, to, out);

	if (!run.well && !strcmp(to, "sqlite")) /* this build of the tool may lack it */
		return;
	bench_begin("convert_to_%s events=%llu processor_s=%.2f peak_KiB=%ld", to,
		    (unsigned long long)events, run.processor_seconds, run.peak_kib);
	bench_end_floor("events_per_s", (double)events / run.seconds, floor,
			run.well && (!lines || run.lines == events));
	bench_begin("convert_to_%s", to);
	bench_end_limit("peak_KiB", (double)run.peak_kib, 64 * 1024, run.well);
}

static uint64_t reported(const char *path)
{
	struct posix_trace_ledger_np ledger = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	trace_id_t trid;

	if (fd < 0 || posix_trace_open(fd, &trid))
		return 0;
	posix_trace_get_ledger_np(trid, &ledger);
	posix_trace_close(trid);
	close(fd);
	return ledger.reported;
}

static void import(const char *stream, const char *out)
{
	struct run there = convert(trace, "rkh", stream), back;
	struct stat st;

	if (stat(stream, &st))
		bench_die(stream, errno);
	back = convert(stream, "log", out);
	bench_begin("convert_from_rkh bytes=%lld processor_s=%.2f peak_KiB=%ld",
		    (long long)st.st_size, back.processor_seconds, back.peak_kib);
	bench_end_floor("bytes_per_s", (double)st.st_size / back.seconds, BYTES_FLOOR,
			there.well && back.well && reported(out) == events);
}

int main(int argc, char **argv)
{
	char ctf[4096], stream[4096], out[4096], base[4096], rm[4200];

	if (argc != 5) {
		fprintf(stderr, "usage: bench_convert FOLDER TOOL LOG EVENTS\n");
		return 2;
	}
	folder = argv[1];
	tool = argv[2];
	trace = argv[3];
	events = strtoull(argv[4], NULL, 10);
	snprintf(ctf, sizeof(ctf), "%s/bench.%d.ctf", folder, (int)getpid());
	snprintf(stream, sizeof(stream), "%s/bench.%d.rkh", folder, (int)getpid());
	snprintf(out, sizeof(out), "%s/bench.%d.ptl", folder, (int)getpid());
	snprintf(base, sizeof(base), "%s/bench.%d.db", folder, (int)getpid());
	export("ctf", ctf, EVENTS_FLOOR, false);
	snprintf(rm, sizeof(rm), "rm -rf '%s'", ctf);
	if (system(rm))
		bench_die(ctf, EIO);
	export("perfetto", NULL, EVENTS_FLOOR, false);
	export("jsonl", NULL, LINES_FLOOR, true);
	export("html", NULL, PAGE_FLOOR, false);
	export("sqlite", base, EVENTS_FLOOR, false);
	unlink(base);
	import(stream, out);
	unlink(stream);
	unlink(out);
	return bench_status();
}
