/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * choice.c - selects the events of a conversion, and computes the ledger of the selected events.
 *
 * The functions of choose/wanted.h process the options for events of logs. Therefore paired.h
 * converts the types and events of any source to types and events of a log.
 */
#include "convert/choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "convert/flow.h"
#include "log/stacks.h"

int choice_init(struct choice *choice, struct fmt_flow *flow, struct wanted *wanted)
{
	int err;

	memset(choice, 0, sizeof(*choice));
	choice->flow = flow;
	choice->wanted = wanted;
	err = paired_init(&choice->paired, flow, NULL, NULL);
	if (err)
		return err;
	threads_init(&choice->of_thread, true, 0);
	choice->durations = calloc(flow->sources, sizeof(*choice->durations));
	/*
	 * Each log has its own durations, because no span begins in one log and ends in another. If
	 * keeps_begins is true, an event that begins a span is selected, although the duration of
	 * the span is not known yet.
	 */
	for (unsigned i = 0; choice->durations && i < flow->sources; i++) {
		durations_begin_open(&choice->durations[i], wanted);
		choice->durations[i].keeps_begins = true;
	}
	return choice->durations ? 0 : ENOMEM;
}

void choice_fini(struct choice *choice)
{
	for (unsigned i = 0; choice->durations && i < choice->flow->sources; i++)
		durations_end(&choice->durations[i]);
	free(choice->durations);
	free(choice->of_type);
	threads_fini(&choice->of_thread);
	paired_fini(&choice->paired);
}

/* Stops the conversion with the status and returns false. The caller has printed the reason. */
static bool stop_choice(struct choice *choice, int status)
{
	choice->flow->stopped = true;
	choice->flow->status = tool_worse(choice->flow->status, status);
	return false;
}

/*
 * Returns the struct log_type of the type. The first call for a type sets the members "chosen" and
 * "index". "index" is 1 when "chosen" is valid. If memory is lacking, the function stops the flow
 * and returns NULL.
 */
static struct log_type *type_of(struct choice *choice, const struct fmt_type *from)
{
	struct log_type *type = paired_type(&choice->paired, from);

	if (!type) {
		flow_answer(choice->flow, ENOMEM);
		return NULL;
	}
	if (type->index)
		return type;
	type->index = 1;
	type->chosen = choose_type(&choice->wanted->choose, from->name);
	/*
	 * --where compares numbers in this machine's order. The values of data in the other order
	 * would be wrong, so types of such data have no fields here.
	 */
	if (choice->other_order)
		type->schema = NULL;
	if (type->schema && choice->wanted->where)
		where_mark_names(choice->wanted->where, type->schema);
	return type;
}

/*
 * Calls type_of() for all types of the flow, and lists these types in choice->log for the functions
 * that print messages. Returns false if memory is lacking.
 */
static bool list_all_types(struct choice *choice)
{
	for (size_t i = 0; i < fmt_types(choice->flow); i++)
		if (!type_of(choice, fmt_type_at(choice->flow, i)))
			return false;
	/* If the input is several logs, the list has the types of all these logs. */
	choice->log.path = choice->flow->sources > 1 ? "these logs"
						     : fmt_input_name(choice->flow->input);
	choice->log.list = choice->paired.type;
	choice->log.types = choice->paired.types;
	return true;
}

/*
 * A name in the options that no event type has is probably a mistake. The function prints the
 * patterns that match no type. It refuses such a name in an option for durations or in --where, and
 * returns false.
 */
static bool names_fit(struct choice *choice)
{
	struct wanted *wanted = choice->wanted;
	bool fits = true;

	if (!list_all_types(choice))
		return false;
	choose_say_unknown(&wanted->choose, &(const struct logfile *){ &choice->log }, 1);
	for (unsigned i = 0; fits && i < choice->flow->sources; i++)
		fits = durations_fits(&choice->durations[i], wanted, &choice->log);
	if (!fits || (wanted->where && where_say_unknown(wanted->where)))
		return stop_choice(choice, TOOL_USAGE);
	return true;
}

/*
 * Returns whether the source has listed all its types before the first event, as logs do. Other
 * sources define types as they appear. For such a source, choice_end() checks the names in the
 * options.
 */
static bool knows_types(const struct choice *choice)
{
	return !strcmp(choice->flow->from->name, "log");
}

/*
 * Returns whether the sink needs the events that have call stacks. A sink needs such events if it
 * writes the stacks of the selected events, or if a reader of the new log will search these stacks.
 */
static bool sink_needs_stacks(const struct fmt_flow *flow)
{
	return fmt_sink_is(flow, "log") || fmt_sink_is(flow, "perfetto") ||
	       (fmt_sink_is(flow, "folded") && fmt_option(flow, "stacks"));
}

/*
 * Returns whether the source may have a type whose events have stacks. Any source but a log may
 * have such a type, because only a log lists its types.
 */
static bool source_has_stacks(const struct choice *choice)
{
	for (size_t i = 0; i < fmt_types(choice->flow); i++) {
		const struct fmt_type *type = fmt_type_at(choice->flow, i);

		if (stacks_is_type(type->name, type->fields))
			return true;
	}
	return !knows_types(choice);
}

bool choice_begin(struct choice *choice, struct fmt_facts *facts)
{
	struct choose *choose = &choice->wanted->choose;

	/* The number of selected events is not known before the end. */
	facts->has_events = false;
	choice->other_order = facts->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	/*
	 * The facts of a log have its first and last time. For a source without these times,
	 * compute_bounds() computes the bounds at the first event.
	 */
	if (facts->has_span && facts->first_ns) {
		choice->knows_times = true;
		wanted_begin(choice->wanted, facts->first_ns, facts->last_ns);
		/*
		 * A source with an index may skip events outside of the bounds. If the sink needs
		 * stacks, the source must not skip the beginning, because the stack of an event may
		 * have been recorded long before the event.
		 */
		if (choose->begin_ns > facts->first_ns &&
		    !(sink_needs_stacks(choice->flow) && source_has_stacks(choice)))
			choice->flow->seek_ns = choose->begin_ns;
		choice->flow->until_ns = choose->end_ns;
	}
	return !knows_types(choice) || names_fit(choice);
}

/*
 * Computes the bounds in time at the first event, for a source whose first and last time were not
 * known before. The function refuses a bound that counts back from the last event, because the time
 * of the last event is not known yet. After a refusal it returns false.
 */
static bool compute_bounds(struct choice *choice, int64_t first_ns)
{
	const struct wanted *wanted = choice->wanted;

	choice->knows_times = true;
	wanted_begin(choice->wanted, first_ns, first_ns);
	if (wanted->begin.kind != BOUND_BEFORE_LAST && wanted->end.kind != BOUND_BEFORE_LAST)
		return true;
	say("%s: a time such as -200ms counts from the last event, which is known only at the end",
	    fmt_input_name(choice->flow->input));
	return stop_choice(choice, TOOL_USAGE);
}

/*
 * Counts a selected event for the ledger: in total, by type and by thread. threads_of() keeps a
 * limited number of threads. keep_threads() later adds the events of all further threads to the
 * line without a process. Returns false if memory is lacking.
 */
static bool count_selected(struct choice *choice, const struct fmt_event *from)
{
	struct thread *thread = threads_of(&choice->of_thread, from->pid, from->tid, from->thread);

	if (!vec_reach(&choice->of_type, &choice->types, from->type->index))
		return flow_answer(choice->flow, ENOMEM);
	choice->events++;
	choice->of_type[from->type->index]++;
	if (thread)
		thread->mark++;
	return true;
}

/*
 * Returns whether the event has a call stack that the sink needs. A selected event may have only
 * the number of a stack, and another event has the stack. The other event must be kept, even if it
 * is not selected. If a pattern of -x matches the event, the result is false.
 */
static bool is_needed_stack(const struct choice *choice, const struct fmt_event *from)
{
	const struct fmt_flow *flow = choice->flow;

	return sink_needs_stacks(flow) &&
	       stacks_is_type(from->type->name, from->type->fields) &&
	       !choose_excludes(&choice->wanted->choose, from->type->name);
}

bool choice_event(struct choice *choice, const struct fmt_event *from)
{
	struct log_type *type = type_of(choice, from->type);
	struct posix_trace_event_np event;

	if (!type || (!choice->knows_times && !compute_bounds(choice, from->time_ns)))
		return false;
	paired_event(from, type, &event);
	event.info.posix_prog_address = (void *)(uintptr_t)from->address;
	/*
	 * durations_event() gets the event before the selection. A selected event may end a span
	 * whose begin is not selected.
	 */
	durations_event(&choice->durations[from->source], type, &event);
	if (is_needed_stack(choice, from)) {
		choice->flow->stacks++;
		return count_selected(choice, from);
	}
	return type->chosen &&
	       wanted_event(choice->wanted, &event, from->type->name, type->schema,
			    &choice->durations[from->source]) &&
	       count_selected(choice, from);
}

/* Returns whether the list has the number. An empty list has all numbers. */
static bool is_among(const struct choose_numbers *numbers, uint32_t number)
{
	for (size_t i = 0; i < numbers->count; i++)
		if ((uint32_t)numbers->number[i] == number)
			return true;
	return !numbers->count;
}

/*
 * An unknown type, process or thread of a loss counts as selected, because the loss may concern
 * selected events.
 */
bool choice_lost(struct choice *choice, const struct fmt_lost *lost)
{
	const struct choose *choose = &choice->wanted->choose;
	const struct log_type *type = lost->type ? type_of(choice, lost->type) : NULL;

	return (!type || type->chosen) && (!lost->pid || is_among(&choose->pid, lost->pid)) &&
	       (!lost->tid || is_among(&choose->tid, lost->tid));
}

/*
 * Subtracts the unread and the lost events of a line that is not selected. A damaged ledger may
 * have lines that exceed its total, so no difference goes below 0.
 */
static void take_off(struct posix_trace_ledger_np *from, const struct posix_trace_ledger_np *line)
{
	from->unread -= line->unread < from->unread ? line->unread : from->unread;
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		from->lost[i] -= line->lost[i] < from->lost[i] ? line->lost[i] : from->lost[i];
}

/*
 * Sets the number of reported events. "called" becomes the sum of the reported, the unread and the
 * lost events.
 */
static void set_reported(struct posix_trace_ledger_np *line, uint64_t events)
{
	line->reported = events;
	line->called = events + line->unread;
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		line->called += line->lost[i];
}

/*
 * Limits each count of losses to the same count of the other ledger. A ledger does not have the
 * types of a thread's lost events, so the smaller of the two counts is the best upper bound.
 */
static void keep_least(struct posix_trace_ledger_np *of, const struct posix_trace_ledger_np *other)
{
	if (other->unread < of->unread)
		of->unread = other->unread;
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (other->lost[i] < of->lost[i])
			of->lost[i] = other->lost[i];
	set_reported(of, of->reported);
}

/* Returns the number of selected events of a thread, or 0 if the thread has none. */
static uint64_t events_of(struct choice *choice, const struct posix_trace_thread_np *line)
{
	const struct thread *thread = threads_of(&choice->of_thread, (uint32_t)line->pid,
						 (uint32_t)line->tid, (uint64_t)line->thread);

	return thread ? thread->mark : 0;
}

/*
 * Copies the lines of selected types and subtracts the lines of all other types from the total.
 * Unreadable events without a type remain, because they may be selected.
 */
static void keep_types(struct choice *choice, struct fmt_end *end, struct fmt_type_line *type,
		       struct posix_trace_ledger_np *total)
{
	size_t types = 0;

	for (size_t i = 0; i < end->types; i++) {
		const struct log_type *of = type_of(choice, end->type[i].type);
		size_t index = end->type[i].type->index;

		if (!of || !of->chosen) {
			take_off(total, &end->type[i].ledger);
			end->unreadable -= end->type[i].unreadable;
			continue;
		}
		type[types] = end->type[i];
		set_reported(&type[types++].ledger,
			     index < choice->types ? choice->of_type[index] : 0);
	}
	end->type = type;
	end->types = types;
}

/*
 * Copies the lines of selected threads and subtracts the lines of all other threads from the total.
 * The line with process 0 has the losses of unknown threads. This line is kept, since these threads
 * may be selected.
 */
static void keep_threads(struct choice *choice, struct fmt_end *end, struct fmt_thread_line *thread,
			 struct posix_trace_ledger_np *total)
{
	const struct choose *choose = &choice->wanted->choose;
	size_t threads = 0, rest = SIZE_MAX;
	uint64_t events = 0;

	for (size_t i = 0; i < end->threads; i++) {
		const struct posix_trace_thread_np *line = &end->thread[i].thread;

		if (line->pid && (!is_among(&choose->pid, (uint32_t)line->pid) ||
				  !is_among(&choose->tid, (uint32_t)line->tid))) {
			take_off(total, &end->thread[i].ledger);
			continue;
		}
		thread[threads] = end->thread[i];
		if (!line->pid)
			rest = threads;
		set_reported(&thread[threads].ledger, line->pid ? events_of(choice, line) : 0);
		events += thread[threads++].ledger.reported;
	}
	/* The remaining selected events belong to threads beyond the limit of threads_of(). */
	if (rest < threads && events < choice->events)
		set_reported(&thread[rest].ledger, choice->events - events);
	end->thread = thread;
	end->threads = threads;
}

static void keep_lines(struct choice *choice, struct fmt_end *end, struct fmt_type_line *type,
		       struct fmt_thread_line *thread)
{
	/*
	 * The total is computed twice: without the types that are not selected, and without the
	 * threads that are not selected. Each result is an upper bound of the true total.
	 */
	struct posix_trace_ledger_np by_type = end->ledger, by_thread = end->ledger;

	keep_types(choice, end, type, &by_type);
	keep_threads(choice, end, thread, &by_thread);
	if (!end->has_ledger)
		return;
	end->ledger = by_type;
	keep_least(&end->ledger, &by_thread);
	set_reported(&end->ledger, choice->events);
	for (size_t i = 0; i < end->types; i++)
		keep_least(&type[i].ledger, &end->ledger);
	for (size_t i = 0; i < end->threads; i++)
		keep_least(&thread[i].ledger, &end->ledger);
}

bool choice_end(struct choice *choice, struct fmt_end *end)
{
	struct fmt_type_line *type = calloc(end->types + 1, sizeof(*type));
	struct fmt_thread_line *thread = calloc(end->threads + 1, sizeof(*thread));

	if (!type || !thread) {
		free(type);
		free(thread);
		/*
		 * *end becomes an end without lines, so that choice_free_end() finds nothing to
		 * free.
		 */
		*end = (struct fmt_end){ .complete = false };
		return flow_answer(choice->flow, ENOMEM);
	}
	keep_lines(choice, end, type, thread);
	return !choice->flow->stopped && (knows_types(choice) || names_fit(choice));
}

void choice_free_end(struct fmt_end *end)
{
	free((void *)(uintptr_t)end->type);
	free((void *)(uintptr_t)end->thread);
}
