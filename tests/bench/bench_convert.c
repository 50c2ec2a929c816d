/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_convert.c - posixtrace convert: bench_convert FOLDER TOOL LOG EVENTS
 *
 * LOG has EVENTS events. The tool converts it to CTF and to a database of SQLite in FOLDER, and to
 * Perfetto's format, JSON lines and a page of html in a pipe, whose bytes this program reads and
 * discards. Then the tool converts it to an RKH stream in FOLDER and reads that stream again. The
 * laws: the tool exits with 0; the JSON lines have one line for each event; the log that is made of
 * the RKH stream has each event, by its account.
 *
 * Three figures of processor time show what bounds the others. reading_s is the time of reading the
 * events of the log by the library, without any use of them. least_s in the line of the JSON lines
 * is the time of a process that makes as many lines of the same length, by copying a text and
 * replacing the digits of its times and of 8 bytes of data, and writes them into the pipe. least_s
 * in the line of SQLite is the time of a loop that inserts as many rows into the same tables by
 * prepared statements.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
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
	uint64_t bytes; /* that came through the pipe */
	uint64_t lines; /* the lines of events among them */
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
		run->bytes += (uint64_t)n;
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

/* Executes convert from in to the format to, or html; out NULL is standard output. */
static void execute_convert(const char *in, const char *to, const char *out)
{
	if (!strcmp(to, "html"))
		execl(tool, "posixtrace", "html", in, "-o", "-", (char *)NULL);
	else
		execl(tool, "posixtrace", "convert", in, "--to", to, "-o", out ? out : "-",
		      (char *)NULL);
	_exit(127);
}

/* Starts a child whose standard output is a pipe. Returns 0 in the child. */
static pid_t fork_into_pipe(int *from)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		bench_die("pipe", errno);
	pid = fork();
	if (pid < 0)
		bench_die("fork", errno);
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
	}
	close(ends[1]);
	*from = ends[0];
	return pid;
}

/* Reads the output of the child, and waits for its end. */
static struct run finish_run(pid_t pid, int from, double begin)
{
	struct run run = { 0 };
	struct rusage usage;
	int status;

	count_lines(&run, from);
	close(from);
	if (wait4(pid, &status, 0, &usage) != pid)
		bench_die("wait4", errno);
	run.seconds = (bench_now_ns() - begin) / 1e9;
	run.processor_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	run.peak_kib = usage.ru_maxrss;
	run.well = WIFEXITED(status) && !WEXITSTATUS(status);
	return run;
}

/* Runs convert from in to the format to, or html; out NULL writes into a pipe. */
static struct run convert(const char *in, const char *to, const char *out)
{
	double begin = bench_now_ns();
	int from;
	pid_t pid = fork_into_pipe(&from);

	if (!pid)
		execute_convert(in, to, out);
	return finish_run(pid, from, begin);
}

/* ------------------------------------------------------------------ what bounds the figures */

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The processor time of reading all events of the log. */
static double reading_seconds(void)
{
	struct posix_trace_event_np event;
	int fd = open(trace, O_RDONLY | O_CLOEXEC), unavailable = 0;
	double begin = processor_seconds();
	trace_id_t trid;
	uint64_t seen = 0;

	if (fd < 0 || posix_trace_open(fd, &trid))
		bench_die(trace, EIO);
	while (!posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable)
		seen++;
	posix_trace_close(trid);
	close(fd);
	if (seen != events)
		bench_die(trace, EIO);
	return processor_seconds() - begin;
}

/* Nine digits by pairs of digits. */
static void put_nine(char *to, const char pair[100][2], uint32_t value)
{
	for (int i = 7; i > 0; i -= 2, value /= 100)
		memcpy(to + i, pair[value % 100], 2);
	to[0] = (char)('0' + value);
}

/* Writes the lines: the beginning of a line, two times, 8 bytes in hexadecimal digits, the rest. */
static void write_lines(size_t line_bytes)
{
	static const char begins[] = "{\"event\":", digit[] = "0123456789abcdef";
	static char buffer[PIECE], line[1024], pair[100][2], hex[256][2];
	const size_t times = sizeof(begins) - 1;
	uint64_t data = 0x0123456789abcdef;
	size_t used = 0;

	for (int i = 0; i < 100; i++) {
		pair[i][0] = (char)('0' + i / 10);
		pair[i][1] = (char)('0' + i % 10);
	}
	for (int i = 0; i < 256; i++) {
		hex[i][0] = digit[i / 16];
		hex[i][1] = digit[i % 16];
	}
	memset(line, '-', sizeof(line));
	memcpy(line, begins, times);
	if (line_bytes > sizeof(line) || line_bytes < times + 40)
		_exit(1);
	line[line_bytes - 1] = '\n';
	fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20);
	for (uint64_t i = 0; i < events; i++, data += i) {
		char *to = buffer + used;

		if (used + line_bytes > sizeof(buffer)) {
			if (write(STDOUT_FILENO, buffer, used) != (ssize_t)used)
				_exit(1);
			used = 0;
			to = buffer;
		}
		memcpy(to, line, line_bytes);
		put_nine(to + times, pair, (uint32_t)(i % 1000000000));
		put_nine(to + times + 9, pair, (uint32_t)(i % 1000000000));
		for (int j = 0; j < 8; j++)
			memcpy(to + times + 18 + 2 * j, hex[data >> 8 * j & 255], 2);
		used += line_bytes;
	}
	_exit(write(STDOUT_FILENO, buffer, used) != (ssize_t)used);
}

static double lines_seconds(const struct run *run)
{
	double begin = bench_now_ns();
	int from;
	pid_t pid = fork_into_pipe(&from);

	if (!pid)
		write_lines((size_t)(run->bytes / events));
	return finish_run(pid, from, begin).processor_seconds;
}

/* The functions of libsqlite3, which is loaded only here. Their interface is stable. */
static struct {
	int (*open)(const char *path, void **db);
	int (*exec)(void *db, const char *sql, int (*row)(void *, int, char **, char **), void *arg,
		    char **error);
	int (*prepare_v2)(void *db, const char *sql, int len, void **statement, const char **tail);
	int (*bind_int64)(void *statement, int column, int64_t value);
	int (*bind_text)(void *statement, int column, const char *text, int len, void *release);
	int (*bind_blob)(void *statement, int column, const void *bytes, int len, void *release);
	int (*step)(void *statement);
	int (*reset)(void *statement);
	int (*finalize)(void *statement);
	int (*close)(void *db);
} sqlite;

static bool load_sqlite(void)
{
	void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);

	return library &&
	       (*(void **)&sqlite.open = dlsym(library, "sqlite3_open")) &&
	       (*(void **)&sqlite.exec = dlsym(library, "sqlite3_exec")) &&
	       (*(void **)&sqlite.prepare_v2 = dlsym(library, "sqlite3_prepare_v2")) &&
	       (*(void **)&sqlite.bind_int64 = dlsym(library, "sqlite3_bind_int64")) &&
	       (*(void **)&sqlite.bind_text = dlsym(library, "sqlite3_bind_text")) &&
	       (*(void **)&sqlite.bind_blob = dlsym(library, "sqlite3_bind_blob")) &&
	       (*(void **)&sqlite.step = dlsym(library, "sqlite3_step")) &&
	       (*(void **)&sqlite.reset = dlsym(library, "sqlite3_reset")) &&
	       (*(void **)&sqlite.finalize = dlsym(library, "sqlite3_finalize")) &&
	       (*(void **)&sqlite.close = dlsym(library, "sqlite3_close"));
}

/* Executes a statement of the export's schema in the database arg. */
static int copy_schema(void *arg, int columns, char **value, char **name)
{
	(void)columns;
	(void)name;
	return sqlite.exec(arg, value[0], NULL, NULL, NULL);
}

/*
 * Inserts a quarter of the rows that the export has: an event for each event of the log, and a span
 * for each four of them, with values of the same types and lengths.
 */
static bool insert_rows(void *db)
{
	static const char fields[] = "{\"job\":1234567,\"fd\":3,\"bytes\":4095}";
	void *event, *span;
	bool well = true;

	if (sqlite.prepare_v2(db,
			      "INSERT INTO event VALUES (NULL,?1,?2,1,?3,NULL,0,0,0,?4,?5,NULL,1,"
			      "?6,?7,?8,NULL)", -1, &event, NULL) ||
	    sqlite.prepare_v2(db, "INSERT INTO spans VALUES (?1,?2,?3,?4,?5,NULL,?6,?6,?6,?7,?8)",
			      -1, &span, NULL))
		return false;
	for (uint64_t i = 0; well && i < events / 4; i++) {
		sqlite.bind_int64(event, 1, (int64_t)(1700000000000000000 + i * 100));
		sqlite.bind_int64(event, 2, (int64_t)(i % 4 + 1));
		sqlite.bind_int64(event, 3, 0x7f1234567890);
		sqlite.bind_blob(event, 4, fields, 14, NULL);
		sqlite.bind_text(event, 5, fields, sizeof(fields) - 1 - i % 2 * 16, NULL);
		sqlite.bind_int64(event, 6, (int64_t)(i / 4));
		sqlite.bind_int64(event, 7, (int64_t)(i % 7));
		sqlite.bind_int64(event, 8, (int64_t)(i % 4096));
		well = sqlite.step(event) == 101; /* SQLITE_DONE */
		sqlite.reset(event);
		if (i % 4)
			continue;
		sqlite.bind_text(span, 1, "job", 3, NULL);
		sqlite.bind_text(span, 2, "key", 3, NULL);
		sqlite.bind_int64(span, 3, (int64_t)(1700000000000000000 + i * 100));
		sqlite.bind_int64(span, 4, (int64_t)(1700000000000000400 + i * 100));
		sqlite.bind_int64(span, 5, 400);
		sqlite.bind_int64(span, 6, 12345);
		sqlite.bind_text(span, 7, "job_end", 7, NULL);
		sqlite.bind_text(span, 8, "convert.12345.ptl", 17, NULL);
		well &= sqlite.step(span) == 101;
		sqlite.reset(span);
	}
	sqlite.finalize(event);
	sqlite.finalize(span);
	return well;
}

/* Returns the processor time for all rows, or 0 if libsqlite3 cannot be loaded. */
static double rows_seconds(const char *made)
{
	char path[4200];
	double begin;
	void *from, *db;
	bool well;

	if (!load_sqlite())
		return 0;
	snprintf(path, sizeof(path), "%s.least", made);
	unlink(path);
	if (sqlite.open(made, &from) || sqlite.open(path, &db))
		bench_die(path, EIO);
	well = !sqlite.exec(db, "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
				"PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
				"PRAGMA cache_size = -16000; BEGIN", NULL, NULL, NULL) &&
	       !sqlite.exec(from, "SELECT sql FROM sqlite_master WHERE name IN "
				  "('event', 'event_ns', 'spans')", copy_schema, db, NULL);
	begin = processor_seconds();
	well = well && insert_rows(db) && !sqlite.exec(db, "COMMIT", NULL, NULL, NULL);
	begin = processor_seconds() - begin;
	sqlite.close(from);
	sqlite.close(db);
	unlink(path);
	if (!well)
		bench_die(path, EIO);
	return 4 * begin;
}

static void export(const char *to, const char *out, double floor, bool lines)
{
	struct run run = convert(trace, to, out);

	if (!run.well && !strcmp(to, "sqlite")) /* this build of the tool may lack it */
		return;
	bench_begin("convert_to_%s events=%llu seconds=%.2f processor_s=%.2f reading_s=%.2f "
		    "peak_KiB=%ld",
		    to, (unsigned long long)events, run.seconds, run.processor_seconds,
		    reading_seconds(), run.peak_kib);
	if (lines)
		printf(" least_s=%.2f", lines_seconds(&run));
	if (!strcmp(to, "sqlite"))
		printf(" least_s=%.2f", rows_seconds(out));
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
