/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.h - runs the template of an event and prints its text.
 *
 * A run always ends, whatever the templates and events are: nested calls, the turns of a loop and
 * the number of all steps are limited.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_RUN_H
#define POSIXTRACE_REPORT_TEMPLATE_RUN_H

#include "report/template/event.h"
#include "report/template/load.h"
#include "report/template/macros.h"
#include "report/template/prose.h"
#include "report/template/timers.h"

#define RUN_LOOP_TURNS 65536
/* greatest number of steps for one event; its text ends at this limit */
#define RUN_STEPS      (1u << 22)
#define RUN_STACK      1024
#define RUN_LOOPS      (32 * (TEMPLATE_CALLS + 1))

struct run_frame {
	uint32_t back;        /* the instruction behind the call */
	uint32_t parameters;  /* the member of struct run before the call */
	uint32_t loops;       /* number of loops that the caller is in */
	const char *separator;
	size_t separator_len;
};

struct run_loop {
	int64_t left;
	uint32_t turns;
};

/* The state of one report. */
struct run {
	const struct templates *templates;
	const char *log_name;
	uint64_t printed;       /* number of events printed so far */
	struct timers timers;
	bool stopped;           /* $STOP was executed, so no further event is printed */

	/* members for the present event */
	const struct template_event *event;
	struct prose prose;
	struct reader reader;
	uint64_t place[TEMPLATE_PLACES];
	uint64_t stack[RUN_STACK];
	size_t depth;
	struct run_frame frame[TEMPLATE_CALLS];
	unsigned frames;
	struct run_loop loop[RUN_LOOPS];
	unsigned loops;
	uint32_t parameters;    /* index on the stack: first parameter of the running function */
	uint32_t at;            /* the next instruction */
	uint64_t subject;       /* the subject of a switch that is a number */
	const char *subject_string; /* a subject that is a text; NULL: the text is in the data */
	int64_t subject_at;
	size_t subject_len;
	uint64_t bits;
	bool is_set;            /* whether the flag that was tested last is set */
	uint32_t steps;
	bool ended, hidden;
};

/*
 * Runs the template of an event. If "template" is NULL, the event gets the built-in form. Returns
 * false if the event is not printed. Otherwise run->prose has the text.
 */
bool run_event(struct run *run, const struct template *template,
	       const struct template_event *event);

/*
 * run_init() prepares to print events by these templates, which must outlive the run. run_fini()
 * frees the timers.
 */
void run_init(struct run *run, const struct templates *templates, const char *log_name);
void run_fini(struct run *run);

/*
 * In run_macro.c: run_builtin() returns the value of a predefined macro that is a number, and
 * run_string() that of one that is a text. run_action() performs the action of a macro that has no
 * value.
 */
uint64_t run_builtin(const struct run *run, enum macro_id id);
const char *run_string(const struct run *run, enum macro_id id);
void run_action(struct run *run, enum macro_id id);

/*
 * In run_text.c: functions that print, and that read and compare texts. A function that reads data
 * returns false if too little data is left. run_subject_is() returns whether the subject of the
 * switch equals the text.
 */
bool run_print_code(struct run *run, const struct code *code);
bool run_counted(struct run *run, unsigned width);
bool run_read_text(struct run *run, const struct code *code);
bool run_subject_is(struct run *run, const char *text, size_t len);
void run_body_of_builtin(struct run *run);

/* In run.c: run_end_with() writes the field and ends the event's text. */
void run_end_with(struct run *run, const char *field);
void run_call(struct run *run, uint32_t start, unsigned arguments);

#endif
