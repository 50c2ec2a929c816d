/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/log.h - streams with log, and logs, for tests of the public interface.
 *
 * Every function here that can fail asserts that it does not. Files have no name, so they are
 * removed with their descriptor, with any end of the test.
 */
#ifndef PTX_TESTS_LOG_H
#define PTX_TESTS_LOG_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/stream.h"

/* Attributes of a stream with log; a member that is 0 means the default. */
struct log_wish {
	int policy; /* of the stream */
	int log_policy;
	size_t size;
	size_t log_size;
	size_t max_data;
	int inheritance;
	const char *name;
};

void log_wish_attr(trace_attr_t *attr, const struct log_wish *wish);

/* A stream of the calling process with its log in fd, suspended; LOGGED_STARTED() starts it. */
trace_id_t log_create(int fd, const struct log_wish *wish);
trace_id_t log_create_started(int fd, const struct log_wish *wish);
/* The same for another process. */
trace_id_t log_attach(pid_t pid, int fd, const struct log_wish *wish);
trace_id_t log_attach_started(pid_t pid, int fd, const struct log_wish *wish);
#define LOGGED(fd, ...)         log_create(fd, &(struct log_wish){ __VA_ARGS__ })
#define LOGGED_STARTED(fd, ...) log_create_started(fd, &(struct log_wish){ __VA_ARGS__ })

/* An empty regular file without a name, open for reading and writing; and a second open file of
 * it. */
int log_file(void);
int log_file_again(int fd, int flags);
/* A file with these bytes; a file's bytes (the caller frees them). */
int log_file_of(const void *bytes, size_t len);
unsigned char *log_bytes(int fd, size_t *len);
struct stat log_stat(int fd);

trace_id_t log_open(int fd);
void log_close(trace_id_t trid);

/* All events of the log in fd, from its beginning. */
struct history *log_history(int fd);

/*
 * The log's events as text of history_text(), without FLUSH_START, FLUSH_STOP and ERROR, or with
 * them. The caller frees it.
 */
char *log_text(int fd, bool with_flushes);
void assert_log(const char *file, int line, int fd, bool with_flushes, const char *expected);
#define ck_assert_log(fd, expected)     assert_log(__FILE__, __LINE__, fd, false, expected)
#define ck_assert_log_all(fd, expected) assert_log(__FILE__, __LINE__, fd, true, expected)

/* The numbers that are the data of one type's events, in their order. */
struct numbers {
	size_t n;
	int *number;
};
struct numbers numbers_of(const struct history *history, trace_event_id_t id);
/* Fails unless they are first, first + 1, ... */
void assert_numbers_from(const struct history *history, trace_event_id_t id, int first, size_t n);
/* The same for the log in fd. */
void assert_log_numbers(int fd, trace_event_id_t id, int first, size_t n);

/* posix_trace_check_np() finds the whole file in order: every checksum, length and equation. */
void assert_log_whole(int fd);

/* A file with a finished log: START n=0 ... n=count-1 STOP(0). */
int log_of(int count);

/* The number of an opened log's next user event, -1 at the end. */
int log_next_number(trace_id_t trid);

/* Waits until the log is marked as complete, after its writer's death. */
void log_wait_for_end(int fd);

/* The result of the check of the log in fd. */
struct posix_trace_loginfo_np log_info(int fd);
struct posix_trace_status_info log_status(int fd);

/*
 * A pipe and a thread that copies its output to a file, once it may. The pipe holds 64 KiB: enough
 * for the creation of a stream; a larger flush waits.
 */
struct siphon;
struct siphon *siphon_start(void);        /* stalled: no byte is read yet */
struct siphon *siphon_start_at(int from_fd);
int siphon_fd(const struct siphon *siphon); /* for writing; the caller may close it */
void siphon_release(struct siphon *siphon);
int siphon_finish(struct siphon *siphon); /* after the last writer closed: the file */

/* Waits until it returns true; the time limit of the test is the only limit. */
#define wait_until(condition)                \
	do {                                 \
		while (!(condition))         \
			usleep(1000);        \
	} while (0)

#endif
