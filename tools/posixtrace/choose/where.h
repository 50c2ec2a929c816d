/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * where.h - chooses events by an expression, which can use the fields of the events' schemas.
 *
 * fd == 3 && duration > 1ms || op == "write" && !(event.pid == 7)
 *
 * The operators || && ! == != < <= > >= + - * / % & and parentheses have the meaning of C, but &
 * has the precedence of *. The operators ~ and !~ match a shell pattern. A name means a field, and
 * NAME[2] means an element of an array. Every event has event.name (also written event.event),
 * event.id, event.pid, event.tid, event.thread, event.time, event.len and event.address. Some
 * events have event.duration or event.level. The name duration means event.duration, unless the
 * event has a field of this name. Numbers may have a unit: ns, us, ms, s, or K, M, G. Texts are
 * quoted. If a number of a field is compared with a text, the label of the number is used. A name
 * that is not a field is the name of a value of the field on the other side of the operator, as in
 * flags & O_CREAT.
 *
 * A value that an event lacks is unknown. Each result that is computed from an unknown value is
 * unknown, too. An event is chosen only if the expression is known to be true.
 */
#ifndef POSIXTRACE_CHOOSE_WHERE_H
#define POSIXTRACE_CHOOSE_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <trace_np.h>

struct where;

struct where_event {
	const char *name;      /* name of the event type */
	size_t name_len;
	unsigned id;           /* number of the event type */
	int64_t pid, tid;
	uint64_t thread;       /* the pthread_t */
	int64_t time_ns;
	uint64_t address;
	const struct posix_trace_schema_np *schema; /* NULL: none */
	const void *data;
	size_t data_len;
	unsigned flags;        /* POSIX_TRACE_VALUES_*_NP */
	bool has_duration;
	uint64_t duration_ns;
};

/*
 * Parses an expression. After an error the function prints a message, with a caret below the place
 * of the error, and returns NULL. 'option' is the prefix of the message. Only one thread at a time
 * may use the expression, because it contains a cache of schemas.
 */
struct where *where_parse(const char *option, const char *text);
/*
 * Parses an expression that is quoted in a file. 'text' is the expression without the escapes of
 * the file. 'raw' is the same expression as it appears behind the quote in the file, with its
 * backslashes. 'column' is the column of the beginning of 'raw'. Messages begin with 'place', such
 * as rules:7, and with the column in the file.
 */
struct where *where_parse_at(const char *place, size_t column, const char *raw, const char *text);
/* Frees the expression; "where" may be NULL. */
void where_free(struct where *where);

/*
 * Evaluates the expression for an event. The key of the cache is the address of a schema. A schema
 * that is made after another one was freed may have the same address. So if the caller frees a
 * schema, it must call where_mark_names() for each schema that it makes later.
 */
enum where_answer { WHERE_UNKNOWN = -1, WHERE_NO, WHERE_YES };
enum where_answer where_match(struct where *where, const struct where_event *event);
/* Returns true if the expression is known to be true for the event. */
bool where_holds(struct where *where, const struct where_event *event);

/*
 * where_uses_duration() returns true if the expression contains durations. where_declare_duration()
 * declares that some events have a duration.
 */
bool where_uses_duration(const struct where *where);
void where_declare_duration(struct where *where);

/*
 * where_mark_names() marks the names of the expression that this schema has. The caller calls
 * where_mark_names() for all schemas, and then where_say_unknown(). If no schema has one of the
 * names, where_say_unknown() prints the first such name and returns true.
 */
void where_mark_names(struct where *where, const struct posix_trace_schema_np *schema);
bool where_say_unknown(const struct where *where);

#endif
