/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/log.h - streams with log, and logs, for tests of the public interface.
 *
 * Every function here that can fail asserts that it does not. The files of the logs have no name,
 * so the kernel removes them when their descriptors are closed, however the test ends.
 */
#ifndef PTX_TESTS_LOG_H
#define PTX_TESTS_LOG_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/stream.h"

/* Attributes of a stream with log; a member that is 0 means the default. */
struct log_wish {
	int policy; /* the policy of the stream */
	int log_policy;
	size_t size;
	size_t log_size;
	size_t max_data;
	int inheritance;
	const char *name;
};

void log_wish_attr(trace_attr_t *attr, const struct log_wish *wish);

/* log_create() creates a stream of the calling process with its log in fd. The stream is suspended.
 * log_create_started() also starts it. */
trace_id_t log_create(int fd, const struct log_wish *wish);
trace_id_t log_create_started(int fd, const struct log_wish *wish);
/* These functions do the same for a stream of the process `pid`. */
trace_id_t log_attach(pid_t pid, int fd, const struct log_wish *wish);
trace_id_t log_attach_started(pid_t pid, int fd, const struct log_wish *wish);
#define LOGGED(fd, ...)         log_create(fd, &(struct log_wish){ __VA_ARGS__ })
#define LOGGED_STARTED(fd, ...) log_create_started(fd, &(struct log_wish){ __VA_ARGS__ })

/* log_file() makes an empty regular file without a name, open for reading and writing.
 * log_file_again() opens the file of fd a second time. */
int log_file(void);
int log_file_again(int fd, int flags);
/* log_file_of() makes a file with these bytes. log_bytes() returns the bytes of a file, which the
 * caller frees. */
int log_file_of(const void *bytes, size_t len);
unsigned char *log_bytes(int fd, size_t *len);
struct stat log_stat(int fd);

trace_id_t log_open(int fd);
void log_close(trace_id_t trid);

/* Returns all events of the log in fd, from its beginning. */
struct history *log_history(int fd);

/*
 * Returns the log's events as the text of history_text(). If `with_flushes` is true, the text
 * includes FLUSH_START, FLUSH_STOP and ERROR. The caller frees the text.
 */
char *log_text(int fd, bool with_flushes);
void assert_log(const char *file, int line, int fd, bool with_flushes, const char *expected);
#define ck_assert_log(fd, expected)     assert_log(__FILE__, __LINE__, fd, false, expected)
#define ck_assert_log_all(fd, expected) assert_log(__FILE__, __LINE__, fd, true, expected)

/* The numbers in the data of the events of one type, in the order of the events. */
struct numbers {
	size_t n;
	int *number;
};
struct numbers numbers_of(const struct history *history, trace_event_id_t id);
/* Fails unless the `n` numbers are `first`, `first` + 1 and so on. */
void assert_numbers_from(const struct history *history, trace_event_id_t id, int first, size_t n);
/* Does the same for the events of the log in fd. */
void assert_log_numbers(int fd, trace_event_id_t id, int first, size_t n);

/*
 * Fails unless posix_trace_check_np() accepts the whole file: each checksum, length and equation.
 */
void assert_log_whole(int fd);

/* Makes a file with a complete log: START n=0 ... n=count-1 STOP(0). */
int log_of(int count);

/* Returns the number of the next user event of an opened log, -1 at the end. */
int log_next_number(trace_id_t trid);

/* After the death of the log's writer, waits until the log is marked as complete. */
void log_wait_for_end(int fd);

/* Return the facts and the status of the log in fd, as posix_trace_check_np() reports them. */
struct posix_trace_loginfo_np log_info(int fd);
struct posix_trace_status_info log_status(int fd);

/*
 * A pipe, and a thread that copies the bytes of the pipe to a file. The thread begins only after
 * siphon_release(). The pipe has room for 64 KiB. This is enough for the creation of a stream, but
 * a larger flush waits.
 */
struct siphon;
struct siphon *siphon_start(void);
struct siphon *siphon_start_at(int from_fd);
int siphon_fd(const struct siphon *siphon); /* the end for writing; the caller may close it */
void siphon_release(struct siphon *siphon);
int siphon_finish(struct siphon *siphon); /* copies until no writer is left; returns the file */

/* Waits until the condition is true. Only the time limit of the test ends the waiting. */
#define wait_until(condition)                \
	do {                                 \
		while (!(condition))         \
			usleep(1000);        \
	} while (0)

/*
 * Makes a guardian's program that waits until the file "go" exists. `program` is a template for
 * mkstemp() and becomes the path of the program.
 */
void make_slow_guardian(char *program, const char *go);

#endif
