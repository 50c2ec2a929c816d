/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * where.h - which events are wanted, as an expression over the fields of their schemas.
 *
 *	fd == 3 && duration > 1ms || op == "write" && !(event.pid == 7)
 *
 * || && ! == != < <= > >= + - * / % & and parentheses as in C; ~ and !~ match a shell pattern.
 * Names are of fields, NAME[2] of an element; event.name event.pid event.tid event.time event.len
 * event.address are known of every event, event.duration of some; duration is that, unless the
 * event has a field of that name. Numbers may be of ns, us, ms, s, or of K, M, G; text stands in
 * quotes.
 * Text is also compared with what a field's value is called.
 *
 * What an event does not have is unknown: so is what is calculated with it or compared with it, and
 * an event is wanted only for what is known to be true.
 */
#ifndef POSIXTRACE_CHOOSE_WHERE_H
#define POSIXTRACE_CHOOSE_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <trace_np.h>

struct where;

struct where_event {
	const char *name;      /* of the event type */
	size_t name_len;
	int64_t pid, tid;
	int64_t time_ns;
	uint64_t address;
	const struct posix_trace_schema_np *schema; /* NULL: none */
	const void *data;
	size_t data_len;
	unsigned flags;        /* POSIX_TRACE_VALUES_*_NP */
	bool has_duration;
	uint64_t duration_ns;
};

/* NULL: it is none, or there is no memory; that has been said, with a caret below what is wrong. */
struct where *where_parse(const char *option, const char *text);
/*
 * The same of a text in a file, as it stands there behind a quote, with backslashes: what is wrong
 * is told with the place, such as rules:7, and the column of each word; column is that of the text.
 */
struct where *where_parse_at(const char *place, size_t column, const char *raw, const char *text);
void where_free(struct where *where);

/* A schema must stay where it is as long as the expression is asked about its events. */
enum where_answer { WHERE_UNKNOWN = -1, WHERE_NO, WHERE_YES };
enum where_answer where_ask(struct where *where, const struct where_event *event);
bool where_holds(struct where *where, const struct where_event *event);

/* Whether it matters how long what an event tells of took; and that some events tell. */
bool where_asks_duration(const struct where *where);
void where_know_duration(struct where *where);

/*
 * Marks the fields that this schema has. When it was asked of all schemas, where_say_unknown() is
 * true and has said so if one of the expression's names is in none of them.
 */
void where_learn(struct where *where, const struct posix_trace_schema_np *schema);
bool where_say_unknown(const struct where *where);

#endif
