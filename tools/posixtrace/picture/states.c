/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* states.c - makes the states of threads from the events of the scheduler and of calls. */
#include "picture/states.h"

#include <errno.h>
#include <stdlib.h>

#include "log/descriptors.h"

/* A stay: a span of time in one state. */
struct states_stay {
	uint64_t begin, end;
	enum states_kind kind;
};

struct states_row {
	/* the stays whose reasons may still become known: a ring in the order of time */
	struct states_stay held[STATES_HELD];
	unsigned first, count;
	enum states_kind now;          /* STATES_KINDS: not known */
	uint64_t since, fault;         /* begin of the present state; time of the last page fault */
	bool has_fault;
	/*
	 * the stays that are being put together: ns[] is the time in each state from begin to end
	 */
	uint64_t begin, end, ns[STATES_KINDS];
};

/*
 * The words name the cause of a wait, because the page has no other explanation. Their order is the
 * order of the colors in page_items.js.
 */
const char *states_name(enum states_kind kind)
{
	static const char *const name[STATES_KINDS] = {
		[STATES_RUNS] = "running", [STATES_READY] = "runnable, waits for a processor",
		[STATES_LOCK] = "blocked by a lock", [STATES_FILE] = "blocked by a file or disk",
		[STATES_PEER] = "waits for another thread or process",
		[STATES_SLEEP] = "sleeping", [STATES_FAULT] = "blocked by a page fault",
		[STATES_BLOCKED] = "blocked, reason unknown", [STATES_STOPPED] = "stopped",
	};

	return name[kind];
}

/*
 * The stays within a bin are put together, and become at most one stay of each kind. So the number
 * of kept stays is at most about the limit.
 */
int states_begin(struct states *states, size_t rows, uint64_t length_ns, size_t limit)
{
	uint64_t bins = limit / (rows + 1) / (STATES_KINDS - 1);

	if (!states->changes)
		return 0;
	states->row = calloc(rows + 1, sizeof(*states->row));
	if (!states->row)
		return ENOMEM;
	states->rows = rows;
	for (size_t i = 0; i < rows; i++)
		states->row[i].now = STATES_KINDS;
	bins = bins < 1 ? 1 : bins > STATES_BINS ? STATES_BINS : bins;
	if (states->changes > limit)
		states->bin_ns = length_ns / bins + 1;
	return 0;
}

/* Keeps a stay whose place and kind are final. */
static void add_stay(struct states *states, size_t row, const struct states_stay *stay)
{
	states->total_ns[stay->kind] += stay->end - stay->begin;
	if (runs_add(&states->kept, &(const struct item){
		.ns = stay->begin, .value = stay->end - stay->begin, .row = (uint16_t)row,
		.kind = (uint16_t)stay->kind }))
		states->err = ENOMEM;
}

/* Keeps the stays that were put together. All stays in one state become one stay. */
static void keep_joined(struct states *states, size_t index)
{
	struct states_row *row = &states->row[index];
	uint64_t at = row->begin;

	for (int kind = 0; kind < STATES_KINDS; kind++) {
		if (row->ns[kind])
			add_stay(states, index, &(const struct states_stay){
				at, at + row->ns[kind], (enum states_kind)kind });
		at += row->ns[kind];
		row->ns[kind] = 0;
	}
	row->begin = row->end = 0;
}

/* Keeps a stay whose reason is final. The caller passes the stays of a row in their order. */
static void keep_stay(struct states *states, size_t index, const struct states_stay *stay)
{
	struct states_row *row = &states->row[index];

	if (!states->bin_ns) {
		add_stay(states, index, stay);
		return;
	}
	if (row->begin != row->end &&
	    (stay->begin != row->end || stay->end - row->begin > states->bin_ns))
		keep_joined(states, index);
	if (stay->end - stay->begin >= states->bin_ns) {
		add_stay(states, index, stay);
		return;
	}
	if (row->begin == row->end)
		row->begin = stay->begin;
	row->end = stay->end;
	row->ns[stay->kind] += stay->end - stay->begin;
}

/* Keeps the oldest held stay. */
static void release_stay(struct states *states, size_t index)
{
	struct states_row *row = &states->row[index];

	keep_stay(states, index, &row->held[row->first]);
	row->first = (row->first + 1) % STATES_HELD;
	row->count--;
}

/*
 * Ends the present state of a row, and begins another state. If "ns" is not behind the beginning of
 * the present state, the present state makes no stay.
 */
static void change_state(struct states *states, size_t index, uint64_t ns, enum states_kind kind)
{
	struct states_row *row = &states->row[index];

	if (ns < row->since)
		ns = row->since;
	if (row->now != STATES_KINDS && ns > row->since) {
		if (row->count == STATES_HELD)
			release_stay(states, index);
		row->held[(row->first + row->count++) % STATES_HELD] =
			(struct states_stay){ row->since, ns, row->now };
	}
	row->since = ns;
	row->now = kind;
}

/*
 * Returns the state of a thread that left its processor. The log of an unprivileged user lacks the
 * field "state". In such a log, a stopped thread counts as blocked for an unknown reason.
 */
static enum states_kind kind_of_out(const struct states_row *row, const struct plan *plan,
				    const struct log_type *type,
				    const struct posix_trace_event_np *event, uint64_t ns)
{
	const uint64_t state = classify_number(type, event, plan->more);

	if (classify_number(type, event, plan->key))
		return STATES_READY;
	if (row->has_fault && ns >= row->fault && ns - row->fault < CLASSIFY_FAULT_NS)
		return STATES_FAULT;
	if (state & CLASSIFY_STOPPED_OR_TRACED)
		return STATES_STOPPED;
	return state == CLASSIFY_UNINTERRUPTIBLE ? STATES_FILE : STATES_BLOCKED;
}

/*
 * Returns whether a call waits for a file. It does if it has a path but no descriptor, such as
 * open(), or if it is possible only on files. Otherwise the name of the descriptor decides. The
 * function looks up this name for each call, because another file can get the number of a closed
 * descriptor.
 */
static bool is_of_file(const struct logfile *log, const struct plan *plan,
		       const struct log_type *type, const struct posix_trace_event_np *event)
{
	const char *name;

	if ((plan->has_path && plan->fd_kind == FD_OTHER) || classify_needs_file(type))
		return true;
	name = plan->key < 0 ? NULL :
	       descriptors_find(log->descriptors, event, type->schema->field[plan->key].name,
				(int32_t)classify_number(type, event, plan->key));
	return name && *name == '/';
}

/*
 * Returns the kind of wait in a call, as the command why does. A page shows each call for itself:
 * it does not search for the calls that continue a wait, nor for the answer to a request.
 */
static enum states_kind kind_of_call(const struct logfile *log, const struct plan *plan,
				     const struct log_type *type,
				     const struct posix_trace_event_np *event)
{
	const enum cause cause = classify_cause(plan, type, event);
	const int32_t error = (int32_t)classify_number(type, event, plan->error);
	const bool may_be_file = cause == CAUSE_READ || cause == CAUSE_WRITE ||
				 cause == CAUSE_FILE;
	/* If a poll returned 0, its time limit ended it. */
	const bool is_vain = cause == CAUSE_POLL ? !classify_number(type, event, plan->result) :
			     classify_timed_out(cause, plan->has_id, error);

	switch (classify_kind(cause, may_be_file && is_of_file(log, plan, type, event),
			      is_vain)) {
	case WHY_LOCK:
		return STATES_LOCK;
	case WHY_FILE:
		return STATES_FILE;
	case WHY_SLEEP:
		return STATES_SLEEP;
	default:
		return STATES_PEER;
	}
}

/*
 * Sets the reason of the blocked stays whose middle is within a call. The ends of a stay are not
 * compared, because the scheduler's times may have an error. Inner calls end first, so a stay that
 * already has a reason keeps this reason. Only a page fault is replaced by a call.
 */
static void explain_stays(struct states_row *row, uint64_t begin, uint64_t end,
			  enum states_kind kind)
{
	for (unsigned i = row->count; i-- > 0;) {
		struct states_stay *stay = &row->held[(row->first + i) % STATES_HELD];
		const uint64_t middle = stay->begin + (stay->end - stay->begin) / 2;

		if (stay->end <= begin)
			break;
		if (middle >= begin && middle <= end &&
		    (stay->kind == STATES_BLOCKED || stay->kind == STATES_FAULT))
			stay->kind = kind;
	}
}

void states_event(struct states *states, size_t index, const struct logfile *log,
		  const struct plan *plan, const struct log_type *type,
		  const struct posix_trace_event_np *event, uint64_t ns)
{
	struct states_row *row = index < states->rows ? &states->row[index] : NULL;
	uint64_t took;

	if (!row)
		return;
	switch (plan->kind) {
	case PLAN_IN:
		change_state(states, index, ns, STATES_RUNS);
		break;
	case PLAN_OUT:
		change_state(states, index, ns, kind_of_out(row, plan, type, event, ns));
		break;
	case PLAN_WAKE:
		/* A wake-up does not change the state of a running thread. */
		if (row->now != STATES_RUNS)
			change_state(states, index, ns, STATES_READY);
		break;
	case PLAN_EXIT:
		change_state(states, index, ns, STATES_KINDS);
		break;
	case PLAN_FAULT:
		row->fault = ns;
		row->has_fault = true;
		break;
	default:
		/*
		 * Most calls contain no held stay. The function does not search the descriptors of
		 * such calls.
		 */
		took = classify_number(type, event, plan->time);
		if (row->count && row->held[(row->first + row->count - 1) % STATES_HELD].end +
				  took >= ns)
			explain_stays(row, took < ns ? ns - took : 0, ns,
				      kind_of_call(log, plan, type, event));
		break;
	}
}

/*
 * A thread that has not exited keeps its state until the end of its log. Rows of other logs have no
 * present state, so the function does not change them. The next log may begin before "ns".
 */
void states_end_log(struct states *states, uint64_t ns)
{
	for (size_t i = 0; i < states->rows; i++) {
		if (states->row[i].now != STATES_KINDS)
			change_state(states, i, ns, STATES_KINDS);
		while (states->row[i].count)
			release_stay(states, i);
		keep_joined(states, i);
	}
}

int states_end(struct states *states)
{
	return states->err || runs_end(&states->kept) ? ENOMEM : 0;
}

void states_fini(struct states *states)
{
	free(states->row);
	runs_fini(&states->kept);
}
