/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.h - an event through its template: what is printed of it.
 *
 * Whatever templates and events are, a run ends: calls within calls are counted, and so are the
 * turns of a loop and all steps together.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_RUN_H
#define POSIXTRACE_REPORT_TEMPLATE_RUN_H

#include "report/template/event.h"
#include "report/template/load.h"
#include "report/template/macros.h"
#include "report/template/prose.h"
#include "report/template/timers.h"

#define RUN_LOOP_TURNS 65536
#define RUN_STEPS      (1u << 22) /* of one event, then it ends as a loop that is too long */
#define RUN_STACK      1024
#define RUN_LOOPS      (32 * (TEMPLATE_CALLS + 1))

struct run_frame {
	uint32_t back;        /* the instruction behind the call */
	uint32_t parameters;  /* where they begin on the stack */
	uint32_t loops;       /* those that the caller is in */
	const char *separator;
	size_t separator_len;
};

struct run_loop {
	int64_t left;
	uint32_t turns;
};

/* One report. */
struct run {
	const struct templates *templates;
	const char *log_name;
	uint64_t printed;       /* events, so far */
	struct timers timers;
	bool stopped;           /* $STOP: this event was the last one */

	/* of the event at hand */
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
	uint32_t parameters;    /* those of the function that is run */
	uint32_t at;            /* the next instruction */
	uint64_t subject;       /* of a switch */
	const char *subject_string; /* or a text, of the data if this is NULL */
	int64_t subject_at;
	size_t subject_len;
	uint64_t bits;
	bool is_set;            /* the flag that was asked for last */
	uint32_t steps;
	bool ended, hidden;
};

/*
 * False: nothing of this event is printed. Otherwise the text is in prose. NULL: the built-in form.
 */
bool run_event(struct run *run, const struct template *template,
	       const struct template_event *event);

void run_init(struct run *run, const struct templates *templates, const char *log_name);
void run_fini(struct run *run);

/* run_macro.c */
uint64_t run_builtin(const struct run *run, enum macro_id id);
const char *run_string(const struct run *run, enum macro_id id);
void run_action(struct run *run, enum macro_id id);

/* run_text.c: what prints, and what reads texts. False: too little data is left. */
bool run_print_code(struct run *run, const struct code *code);
bool run_counted(struct run *run, unsigned width);
bool run_read_text(struct run *run, const struct code *code);
bool run_subject_is(struct run *run, const char *text, size_t len);
void run_body_of_builtin(struct run *run);

/* run.c: writes the field and ends the template. */
void run_end_with(struct run *run, const char *field);
void run_call(struct run *run, uint32_t start, unsigned arguments);

#endif
