/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/calls.h - shared by the files of calls: the streams, and the model of each.
 *
 *	calls.c         an input's words, in their order
 *	calls_life.c    streams and logs are created and end
 *	calls_event.c   events are recorded, until a stream is full, and by children
 *	calls_read.c    reads of events
 *	calls_ask.c     status, attributes, types and filters
 *	calls_account.c ledgers
 *	calls_log.c     reads of a log that lost events
 */
#ifndef PTX_TESTS_FUZZ_CALLS_H
#define PTX_TESTS_FUZZ_CALLS_H

#include <errno.h>
#include <string.h>
#include <trace_np.h>

#include "fuzz/fuzz.h"
#include "fuzz/model.h"

#define STREAMS   4
#define NAMES     8
#define EVENTS_MAX 300 /* of an input, without floods: few enough to fit into each stream */
#define STREAM_BYTES 65536u
#define LOG_BYTES    (4 * STREAM_BYTES)
#define SMALL_LOG_BYTES 4096u /* it is full after some dozens of events */
#define STREAM_NAME  "fuzz"
#define READ_BYTES (2 * sizeof(trace_event_set_t))

extern struct model_stream model[STREAMS];
extern trace_id_t trid[STREAMS];
extern int log_fd[STREAMS];
extern trace_event_id_t type_of[NAMES]; /* 0: not opened yet */
extern unsigned number, events, floods;

/* Checks the result of a call, and that errno did not change. */
#define SAYS(expected, call) says(#call, expected, (errno = 4711, call))
void says(const char *call, int expected, int said);

bool active(unsigned s);
int if_active(unsigned s);
int if_any(unsigned s);
int if_kind(unsigned s, enum model_kind kind);

void create(unsigned s, unsigned policy, unsigned max_data, bool inherited);
void create_withlog(unsigned s, unsigned policies, unsigned max_data);
void shut_down(unsigned s);
void reopen(unsigned s);
void close_log(unsigned s);

void make_event(unsigned which, unsigned len);
void flood(unsigned s);
void have_child(unsigned which);

struct read {
	struct posix_trace_event_info info;
	unsigned char data[READ_BYTES];
	size_t len;
	int unavailable;
};
extern struct read got;

/* Reads the next event. Returns false if there is none. */
bool get(unsigned s, size_t room);
void skip_overwritten(unsigned s, size_t room, bool overflow, bool resume);
bool is_item(const struct model_item *item);

/*
 * For a log that lost events or was flushed automatically: moves the model to the event that was
 * read, which is compared then. Returns false if the log itself made the event.
 */
bool find_in_log(unsigned s);
void end_of_log(unsigned s);

void compare_set(const struct model_set *set, const void *data);
void read_some(unsigned s, unsigned most, size_t room);

void flush(unsigned s);

/*
 * Compares the model's account with the ledgers. adopt_account() copies the numbers that the model
 * cannot know from them.
 */
void ask_account(unsigned s);
void adopt_account(unsigned s);
uint64_t lost_by_log(unsigned s);
void compare_reported(unsigned s);

void ask_status(unsigned s);
void ask_attr(unsigned s);
void open_name(unsigned which, unsigned s, bool by_stream);
void list_types(unsigned s);
void filter(unsigned s, unsigned how, unsigned first, unsigned second);
void do_wrong(unsigned s, unsigned what);

#endif
