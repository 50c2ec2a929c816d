/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* run_macro.c - the values of macros, and the actions of some of them. */
#include <stdio.h>
#include <string.h>

#include "report/template/macros.h"
#include "report/template/print.h"
#include "report/template/run.h"

#define SECOND_NS INT64_C(1000000000)

/* Returns the seconds, rounded down even before 1970, so that the rest is 0 to 999,999,999 ns. */
static int64_t run_macro_seconds(int64_t time_ns)
{
	return time_ns / SECOND_NS - (time_ns % SECOND_NS < 0);
}

/*
 * Some macros of AIX have no value in a log. They are constants here; posixtrace-template(5) lists
 * them.
 */
uint64_t run_builtin(const struct run *run, enum macro_id id)
{
	const struct template_event *event = run->event;

	switch (id) {
	case MACRO_DATAPOINTER:
		return (uint64_t)reader_pointer(&run->reader);
	case MACRO_BASEPOINTER:
		return (uint64_t)run->reader.base;
	case MACRO_BITS:
		return 64;
	case MACRO_WORDSIZE:
		return 8;
	case MACRO_HL:
		return event->data_len;
	case MACRO_HT:
		return 0x8000;
	case MACRO_D1:
	case MACRO_D2:
	case MACRO_D3:
	case MACRO_D4:
	case MACRO_D5:
		return reader_data_word(&run->reader, (unsigned)(id - MACRO_D1) + 1);
	case MACRO_TRACEID:
		return event->id;
	case MACRO_PID:
		return (uint64_t)event->pid;
	case MACRO_TID:
		return event->tid;
	case MACRO_PROGADDR:
		return event->address;
	case MACRO_TRUNC:
		return event->truncated;
	case MACRO_SEC:
		return (uint64_t)run_macro_seconds(event->time_ns);
	case MACRO_NSEC:
		return (uint64_t)event->time_ns -
		       (uint64_t)run_macro_seconds(event->time_ns) * SECOND_NS;
	case MACRO_RELLINENO:
		return run->printed + 1;
	default:
		return 0;
	}
}

/* The strings are valid up to the end of the event. */
const char *run_string(const struct run *run, enum macro_id id)
{
	switch (id) {
	case MACRO_EVENT:
		return run->event->shown;
	case MACRO_LOGFILE:
		return run->log_name;
	default: /* $EXECPATH: no log has it */
		return "?";
	}
}

/*
 * Writes the field of $ERROR. The name of the log may have any length, so the field is written
 * piece by piece and without a buffer.
 */
static void error_field(struct run *run)
{
	char id[PRINT_BYTES];
	size_t len = print_id(id, run->event->id);
	struct prose *prose = &run->prose;

	prose_begin_field(prose);
	for (const char *p = "<error "; *p; p++)
		prose_byte(prose, (unsigned char)*p);
	for (const char *p = run->log_name; *p; p++)
		prose_byte(prose, (unsigned char)*p);
	prose_byte(prose, ' ');
	for (size_t i = 0; i < len; i++)
		prose_byte(prose, (unsigned char)id[i]);
	prose_byte(prose, '>');
	prose_end_field(prose, true);
}

/* The template @* may contain $DEFAULT itself. The limit of calls ends this recursion. */
static void default_body(struct run *run)
{
	const struct template *others = templates_find(run->templates,
						       &(struct key){ .kind = KEY_OTHERS });

	if (others)
		run_call(run, others->start, 0);
	else
		run_body_of_builtin(run);
}

/* After $STOP the event is printed with its text so far, and the caller ends the report. */
void run_action(struct run *run, enum macro_id id)
{
	switch (id) {
	case MACRO_NOPRINT:
		run->hidden = true;
		break;
	case MACRO_SKIP:
		run->hidden = run->ended = true;
		break;
	case MACRO_BREAK:
		run->ended = true;
		break;
	case MACRO_STOP:
		run->ended = run->stopped = true;
		break;
	case MACRO_ERROR:
		error_field(run);
		run->ended = true;
		break;
	default:
		default_body(run);
		break;
	}
}
