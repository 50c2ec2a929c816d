/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the events of a stream or log, and describes them as a line of text. */
#include "support/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES (1u << 20) /* the maximum data of an event in tests */

/*
 * Reads an event with the function `next` into *seen, by a buffer of READ_BYTES. Returns 1, or 0 if
 * there is no event.
 */
static int read_with(int (*next)(trace_id_t, struct posix_trace_event_info *restrict,
				 void *restrict, size_t, size_t *restrict, int *restrict),
		     trace_id_t trid, unsigned char *buffer, struct seen *seen)
{
	int unavailable = -1;
	int err;

	memset(seen, 0, sizeof(*seen));
	err = next(trid, &seen->info, buffer, READ_BYTES, &seen->len, &unavailable);
	if (err)
		ck_abort_msg("reading failed with error %d", err);
	if (unavailable)
		return 0;
	seen->data = malloc(seen->len ? seen->len : 1);
	memcpy(seen->data, buffer, seen->len);
	return 1;
}

static struct history *gather(int (*next)(trace_id_t, struct posix_trace_event_info *restrict,
					  void *restrict, size_t, size_t *restrict,
					  int *restrict),
			      trace_id_t trid)
{
	struct history *history = calloc(1, sizeof(*history));
	unsigned char *buffer = malloc(READ_BYTES);
	struct seen seen;

	while (read_with(next, trid, buffer, &seen)) {
		if (history->n == history->room) {
			history->room = history->room ? 2 * history->room : 64;
			history->event = realloc(history->event,
						 history->room * sizeof(*history->event));
		}
		history->event[history->n++] = seen;
	}
	free(buffer);
	return history;
}

int read_one(trace_id_t trid, struct seen *seen)
{
	unsigned char *buffer = malloc(READ_BYTES);
	int is_read = read_with(posix_trace_trygetnext_event, trid, buffer, seen);

	free(buffer);
	return is_read;
}

struct history *read_all(trace_id_t trid)
{
	return gather(posix_trace_trygetnext_event, trid);
}

struct history *read_log(trace_id_t trid)
{
	return gather(posix_trace_getnext_event, trid);
}

void history_free(struct history *history)
{
	for (size_t i = 0; i < history->n; i++)
		free(history->event[i].data);
	free(history->event);
	free(history);
}

size_t history_count(const struct history *history, trace_event_id_t id)
{
	size_t n = 0;

	for (size_t i = 0; i < history->n; i++)
		n += history->event[i].info.posix_event_id == id;
	return n;
}

/* Writes the names of a filter's members, in the order of the stream's list of types. */
static void put_set(FILE *out, trace_id_t trid, const unsigned char *bytes)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	const char *space = "";
	trace_event_set_t set;
	trace_event_id_t id;
	int end, member;

	memcpy(&set, bytes, sizeof(set));
	OK(posix_trace_eventtypelist_rewind(trid));
	for (;;) {
		OK(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
		if (end)
			break;
		OK(posix_trace_eventset_ismember(id, &set, &member));
		if (!member)
			continue;
		OK(posix_trace_eventid_get_name(trid, id, name));
		fprintf(out, "%s%s", space, name);
		space = " ";
	}
}

static int is_empty_set(const unsigned char *bytes)
{
	trace_event_set_t set, empty;

	memcpy(&set, bytes, sizeof(set));
	posix_trace_eventset_empty(&empty);
	return !memcmp(&set, &empty, sizeof(set));
}

static void put_event(FILE *out, trace_id_t trid, const struct seen *seen)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	switch (seen->info.posix_event_id) {
	case POSIX_TRACE_START:
		ck_assert_uint_eq(seen->len, sizeof(trace_event_set_t));
		fprintf(out, "START");
		if (is_empty_set(seen->data))
			break;
		fputc('{', out);
		put_set(out, trid, seen->data);
		fputc('}', out);
		break;
	case POSIX_TRACE_STOP:
		fprintf(out, "STOP(%d)", int_of(seen));
		break;
	case POSIX_TRACE_FILTER:
		ck_assert_uint_eq(seen->len, 2 * sizeof(trace_event_set_t));
		fprintf(out, "FILTER{");
		put_set(out, trid, seen->data);
		fprintf(out, "->");
		put_set(out, trid, seen->data + sizeof(trace_event_set_t));
		fputc('}', out);
		break;
	case POSIX_TRACE_ERROR:
		fprintf(out, "ERROR(%d)", int_of(seen));
		break;
	case POSIX_TRACE_OVERFLOW:
		fprintf(out, "OVERFLOW");
		break;
	case POSIX_TRACE_RESUME:
		fprintf(out, "RESUME");
		break;
	case POSIX_TRACE_FLUSH_START:
		fprintf(out, "FLUSH_START");
		break;
	case POSIX_TRACE_FLUSH_STOP:
		fprintf(out, "FLUSH_STOP");
		break;
	default:
		OK(posix_trace_eventid_get_name(
			trid, seen->info.posix_event_id, name));
		fprintf(out, "%s", name);
		if (seen->len == sizeof(int))
			fprintf(out, "=%d", int_of(seen));
	}
}

char *history_text(trace_id_t trid, const struct history *history)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < history->n; i++) {
		if (i)
			fputc(' ', out);
		put_event(out, trid, &history->event[i]);
	}
	fclose(out);
	return text;
}

void assert_events(const char *file, int line, trace_id_t trid, const char *expected)
{
	struct history *history = read_all(trid);
	char *text = history_text(trid, history);

	if (strcmp(text, expected))
		ck_abort_msg("%s:%d: events read: '%s', expected: '%s'", file, line, text,
			     expected);
	free(text);
	history_free(history);
}

void assert_type(const struct seen *seen, trace_event_id_t id)
{
	ck_assert_uint_eq(seen->info.posix_event_id, id);
}

void assert_gapless(const struct history *history, size_t index, int last)
{
	int number = number_of(&history->event[index]);

	for (; index < history->n; index++, number++)
		if (number_of(&history->event[index]) != number)
			ck_abort_msg("event %d is in the place of %d",
				     number_of(&history->event[index]), number);
	ck_assert_int_eq(number - 1, last);
}
