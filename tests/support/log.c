/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_MS 20000

void log_wish_attr(trace_attr_t *attr, const struct log_wish *wish)
{
	wish_attr(attr, &(struct wish){ .policy = wish->policy, .size = wish->size,
					.max_data = wish->max_data,
					.inheritance = wish->inheritance,
					.name = wish->name });
	/* PTX_LEVEL=1 in the environment of a suite compresses its logs. */
	if (getenv("PTX_LEVEL"))
		OK(posix_trace_attr_setlogcompression_np(attr, atoi(getenv("PTX_LEVEL"))));
	if (wish->log_policy)
		OK(posix_trace_attr_setlogfullpolicy(attr, wish->log_policy));
	if (wish->log_size)
		OK(posix_trace_attr_setlogsize(attr, wish->log_size));
}

trace_id_t log_attach(pid_t pid, int fd, const struct log_wish *wish)
{
	trace_attr_t attr;
	trace_id_t trid;

	log_wish_attr(&attr, wish);
	OK(posix_trace_create_withlog(pid, &attr, fd, &trid));
	OK(posix_trace_attr_destroy(&attr));
	return trid;
}

trace_id_t log_attach_started(pid_t pid, int fd, const struct log_wish *wish)
{
	trace_id_t trid = log_attach(pid, fd, wish);

	start(trid);
	return trid;
}

trace_id_t log_create(int fd, const struct log_wish *wish)
{
	return log_attach(0, fd, wish);
}

trace_id_t log_create_started(int fd, const struct log_wish *wish)
{
	return log_attach_started(0, fd, wish);
}

int log_file(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/posixtrace-test-XXXXXX", folder ? folder : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		ck_abort_msg("%s: %s", path, strerror(errno));
	unlink(path);
	return fd;
}

int log_file_again(int fd, int flags)
{
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, flags | O_CLOEXEC);
	if (again < 0)
		ck_abort_msg("%s: %s", path, strerror(errno));
	return again;
}

int log_file_of(const void *bytes, size_t len)
{
	int fd = log_file();

	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(fd, (const char *)bytes + done, len - done, (off_t)done);

		if (n <= 0)
			ck_abort_msg("writing a file: %s", strerror(errno));
		done += (size_t)n;
	}
	return fd;
}

struct stat log_stat(int fd)
{
	struct stat info;

	if (fstat(fd, &info))
		ck_abort_msg("fstat: %s", strerror(errno));
	return info;
}

unsigned char *log_bytes(int fd, size_t *len)
{
	size_t size = (size_t)log_stat(fd).st_size, done = 0;
	unsigned char *bytes = malloc(size + 1);

	while (done < size) {
		ssize_t n = pread(fd, bytes + done, size - done, (off_t)done);

		if (n <= 0)
			ck_abort_msg("reading a file: %s", strerror(errno));
		done += (size_t)n;
	}
	*len = size;
	return bytes;
}

trace_id_t log_open(int fd)
{
	trace_id_t trid;

	OK(posix_trace_open(fd, &trid));
	return trid;
}

void log_close(trace_id_t trid)
{
	OK(posix_trace_close(trid));
}

struct history *log_history(int fd)
{
	trace_id_t trid = log_open(fd);
	struct history *history = read_log(trid);

	log_close(trid);
	return history;
}

/* Removes the events that tests ignore if they do not test flushes. */
static void leave_flushes_out(struct history *history)
{
	size_t kept = 0;

	for (size_t i = 0; i < history->n; i++) {
		switch (history->event[i].info.posix_event_id) {
		case POSIX_TRACE_FLUSH_START:
		case POSIX_TRACE_FLUSH_STOP:
		case POSIX_TRACE_ERROR:
			free(history->event[i].data);
			break;
		default:
			history->event[kept++] = history->event[i];
		}
	}
	history->n = kept;
}

char *log_text(int fd, bool with_flushes)
{
	trace_id_t trid = log_open(fd);
	struct history *history = read_log(trid);
	char *text;

	if (!with_flushes)
		leave_flushes_out(history);
	text = history_text(trid, history);
	history_free(history);
	log_close(trid);
	return text;
}

void assert_log(const char *file, int line, int fd, bool with_flushes, const char *expected)
{
	char *text = log_text(fd, with_flushes);

	if (strcmp(text, expected))
		ck_abort_msg("%s:%d: the log holds: '%s', expected: '%s'", file, line, text,
			     expected);
	free(text);
}

struct numbers numbers_of(const struct history *history, trace_event_id_t id)
{
	struct numbers numbers = { 0, calloc(history->n + 1, sizeof(int)) };

	for (size_t i = 0; i < history->n; i++)
		if (history->event[i].info.posix_event_id == id)
			numbers.number[numbers.n++] = number_of(&history->event[i]);
	return numbers;
}

void assert_numbers_from(const struct history *history, trace_event_id_t id, int first, size_t n)
{
	struct numbers numbers = numbers_of(history, id);

	ck_assert_uint_eq(numbers.n, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(numbers.number[i], first + (int)i);
	free(numbers.number);
}

void assert_log_numbers(int fd, trace_event_id_t id, int first, size_t n)
{
	struct history *history = log_history(fd);

	assert_numbers_from(history, id, first, n);
	history_free(history);
}

static void name_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	(void)arg;
	ck_abort_msg("fault at %llu, %llu bytes: %s", (unsigned long long)fault->offset,
		     (unsigned long long)fault->bytes, fault->reason);
}

void assert_log_whole(int fd)
{
	struct posix_trace_check_np result;

	memset(&result, 0xa5, sizeof(result));
	OK(posix_trace_check_np(fd, name_fault, NULL, &result));
	ck_assert_uint_eq(result.faults, 0);
	ck_assert_int_ne(result.complete, 0);
	ck_assert_uint_eq(result.bytes, (uint64_t)log_stat(fd).st_size);
}

struct posix_trace_loginfo_np log_info(int fd)
{
	trace_id_t trid = log_open(fd);
	struct posix_trace_loginfo_np info;

	memset(&info, 0xa5, sizeof(info));
	OK(posix_trace_get_loginfo_np(trid, &info));
	log_close(trid);
	return info;
}

struct posix_trace_status_info log_status(int fd)
{
	trace_id_t trid = log_open(fd);
	struct posix_trace_status_info status = status_of(trid);

	log_close(trid);
	return status;
}

int log_of(int count)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND, .size = 1 << 20,
					 .name = "finished");

	for (int i = 0; i < count; i++)
		trace_number(type_of("n"), i);
	shut(trid);
	return fd;
}

int log_next_number(trace_id_t trid)
{
	struct posix_trace_event_info info;
	int number = -1, unavailable = -1;
	char data[sizeof(trace_event_set_t)];
	size_t len;

	do {
		OK(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
					     &unavailable));
		if (unavailable)
			return -1;
	} while (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT);
	memcpy(&number, data, sizeof(number));
	return number;
}

void log_wait_for_end(int fd)
{
	for (int ms = 0; ms < END_MS; ms++) {
		trace_id_t trid;

		if (posix_trace_open(fd, &trid) == 0) {
			struct posix_trace_loginfo_np info;

			OK(posix_trace_get_loginfo_np(trid, &info));
			OK(posix_trace_close(trid));
			if (info.complete)
				return;
		}
		usleep(1000);
	}
	ck_abort_msg("the log was not completed");
}

void make_slow_guardian(char *program, const char *go)
{
	int fd = mkstemp(program);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(
		dprintf(fd, "#!/bin/sh\nuntil test -e %s; do sleep 0.01; done\nexec %s \"$@\"\n",
			go, getenv("POSIXTRACE_GUARDIAN")),
		0);
	ck_assert_int_eq(fchmod(fd, 0700), 0);
	close(fd);
}
