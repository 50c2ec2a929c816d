/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pairing.c - joins events to spans. Each event type has a list of roles (roles.c); each role
 * begins a span, ends one, or is a whole span whose duration is in the data of the event.
 */
#include "spans/pairing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "log/integer.h"
#include "spans/life.h"
#include "spans/opened.h"
#include "spans/roles.h"

void pairing_init(struct pairing *pairing,
		  void (*take)(void *arg, const struct span *span,
			       const struct posix_trace_event_np *end_span),
		  void *arg)
{
	memset(pairing, 0, sizeof(*pairing));
	pairing->take = take;
	pairing->arg = arg;
	if (!opened_init(pairing))
		pairing->err = ENOMEM;
}

void pairing_fini(struct pairing *pairing)
{
	for (size_t i = 0; i < pairing->count; i++) {
		/* Spans refer to their series, so series exist until the end. */
		free(pairing->series[i]->name);
		free(pairing->series[i]);
	}
	free(pairing->series);
	roles_fini(pairing);
	opened_fini(pairing);
	nest_free(pairing->nest);
	life_fini(pairing);
}

const char *pairing_kind_name(enum series_kind kind)
{
	static const char *const name[] = {
		[SERIES_SPAN] = "span", [SERIES_PAIR] = "pair", [SERIES_EVENT] = "event",
	};

	return name[kind];
}

/* ------------------------------------------------------------------ spans */

/*
 * Returns a hash of the properties that a begin and its end share. A field that the data lacks does
 * not change the hash. So two events that both lack the field can be paired. The hash depends on
 * the number of earlier processes with the same pid, so a span of one process does not end in a
 * later process.
 */
static uint64_t key_of(const struct pairing *pairing, const struct role *role,
		       const struct log_type *type, const struct posix_trace_event_np *event)
{
	uint64_t hash = hash_number(role->series->index + 1, (uint64_t)event->info.posix_pid);
	struct posix_trace_value_np value;
	uint64_t number;
	const uint32_t life = life_of(pairing, event->info.posix_pid);

	if (life)
		hash = hash_number(hash, life);
	if (!role->keys) {
		hash = hash_number(hash, (uint64_t)event->info.posix_thread_id);
		return hash_number(hash, (uint64_t)event->tid);
	}
	for (unsigned i = 0; i < role->keys; i++) {
		/*
		 * --pair may name a field that this type lacks. If the types become known only with
		 * the events, the command reports this error at the end. Until then this function
		 * skips the field.
		 */
		if (role->key[i] >= type->schema->fields)
			continue;
		/*
		 * Most keys are integers at a constant offset in the data. Such a key is read
		 * without a call of the library.
		 */
		if (integer_at(&type->schema->field[role->key[i]], event->data, event->data_len,
			       &number)) {
			hash = hash_number(hash, number);
			continue;
		}
		if (!posix_trace_field_get_np(type->schema, role->key[i], 0, event->data,
					      event->data_len, 0, &value))
			continue;
		if (value.field->form == POSIX_TRACE_FORM_BYTES_NP)
			hash = hash_bytes(hash, value.data, value.len);
		else
			hash = hash_number(hash, value.u64);
	}
	return hash;
}

/*
 * Returns the series of an event's span. It is the series of the function if the function's name is
 * known, else the series of the role.
 */
static struct series *series_for(struct pairing *pairing, const struct role *role,
				 const struct log_type *type,
				 const struct posix_trace_event_np *event)
{
	struct posix_trace_value_np value;
	struct series *series = NULL;
	const char *name;

	if (role->has_function && pairing->name &&
	    posix_trace_field_get_np(type->schema, role->function, 0, event->data, event->data_len,
				     0, &value)) {
		name = pairing->name(pairing->name_arg, event->info.posix_pid, value.u64,
				     event->time_ns);
		series = name ? roles_function(pairing, role->series, name) : NULL;
	}
	return series ? series : role->series;
}

/*
 * Adds up the CPU times in the data. There are usually two such fields, for kernel mode and for
 * user mode. Returns false if the type has no such field, or if the data lacks one of them.
 */
static bool cpu_of(const struct role *role, const struct log_type *type,
		   const struct posix_trace_event_np *event, uint64_t *cpu_ns)
{
	struct posix_trace_value_np value;

	*cpu_ns = 0;
	for (unsigned i = 0; i < role->cpu_fields; i++) {
		if (!posix_trace_field_get_np(type->schema, role->cpu[i], 0, event->data,
					      event->data_len, 0, &value))
			return false;
		*cpu_ns += value.u64;
	}
	return role->cpu_fields != 0;
}

/* Adds the span that the event begins to the open spans. */
static void begin_span(struct pairing *pairing, const struct role *role,
		       const struct log_type *type, const struct posix_trace_event_np *event,
		       uint64_t ordinal)
{
	struct pairing_open *open = opened_add(pairing, key_of(pairing, role, type, event));

	if (!open)
		return;
	open->series = series_for(pairing, role, type, event);
	open->begin_ns = event->time_ns;
	open->tid = event->tid;
	open->ordinal = ordinal;
	open->has_cpu = cpu_of(role, type, event, &open->cpu_ns);
}

/*
 * Ends the youngest open span that has the key of the event, and passes the span to the caller's
 * function take().
 */
static void end_span(struct pairing *pairing, const struct role *role, const struct log_type *type,
		     const struct posix_trace_event_np *event, uint64_t ordinal)
{
	struct pairing_open open;
	struct series *series = series_for(pairing, role, type, event);
	struct span span = {
		.series = series, .end_ns = event->time_ns, .pid = event->info.posix_pid,
		.tid = event->tid, .end_ordinal = ordinal,
	};
	uint64_t cpu_ns;

	if (!opened_take(pairing, key_of(pairing, role, type, event), series, &open)) {
		series->no_begin++;
		return;
	}
	/*
	 * The end may be older than the begin, because the clocks of two processors may differ, and
	 * because a damaged log may have any times.
	 */
	if (open.begin_ns > event->time_ns) {
		series->backwards++;
		return;
	}
	span.begin_ns = open.begin_ns;
	span.time_ns = (uint64_t)event->time_ns - (uint64_t)open.begin_ns;
	span.begin_tid = open.tid;
	span.begin_ordinal = open.ordinal;
	/*
	 * If another thread ends the span, the CPU time of that thread may be less than the CPU
	 * time at the begin. In that case the span has no CPU time.
	 */
	span.has_cpu = cpu_of(role, type, event, &cpu_ns) && open.has_cpu && cpu_ns >= open.cpu_ns;
	if (span.has_cpu)
		span.cpu_ns = cpu_ns - open.cpu_ns;
	series->spans++;
	pairing->take(pairing->arg, &span, event);
}

/*
 * Makes a span from a single event, which has the duration in its data, and passes the span to the
 * caller's function take(). The time of the event is the end of the span.
 */
static void whole_span(struct pairing *pairing, const struct role *role,
		       const struct log_type *type, const struct posix_trace_event_np *event,
		       uint64_t ordinal)
{
	struct posix_trace_value_np time, depth;
	struct series *series = series_for(pairing, role, type, event);
	struct span span = {
		.series = series, .end_ns = event->time_ns, .pid = event->info.posix_pid,
		.begin_tid = event->tid, .tid = event->tid, .end_ordinal = ordinal,
	};

	/*
	 * A field of type ns is an integer. The library is called only if the field has no constant
	 * offset, because it is behind a text.
	 */
	if (!integer_at(&type->schema->field[role->time], event->data, event->data_len,
			&span.time_ns)) {
		if (!posix_trace_field_get_np(type->schema, role->time, 0, event->data,
					      event->data_len, 0, &time))
			return;
		span.time_ns = time.u64;
	}
	/* A hostile log may have a duration that is so long that the begin is out of range. */
	if (span.time_ns > INT64_MAX ||
	    __builtin_sub_overflow(event->time_ns, (int64_t)span.time_ns, &span.begin_ns))
		span.begin_ns = INT64_MIN;
	if (role->has_depth && posix_trace_field_get_np(type->schema, role->depth, 0, event->data,
							event->data_len, 0, &depth))
		span.begin_ns = nest_begin(&pairing->nest, span.pid, span.tid, depth.u64,
					   span.begin_ns, span.end_ns);
	span.has_cpu = cpu_of(role, type, event, &span.cpu_ns);
	series->spans++;
	pairing->take(pairing->arg, &span, event);
}

/* ------------------------------------------------------------------ events */

/*
 * The stream recorded no events for some time before START. Events were lost before OVERFLOW,
 * before RESUME, and before an event that follows damage.
 */
bool pairing_is_loss(const struct posix_trace_event_np *event)
{
	return event->info.posix_event_id == POSIX_TRACE_START ||
	       event->info.posix_event_id == POSIX_TRACE_OVERFLOW ||
	       event->info.posix_event_id == POSIX_TRACE_RESUME ||
	       (event->flags & POSIX_TRACE_EVENT_GAP_NP);
}

void pairing_cut(struct pairing *pairing)
{
	struct series *series;

	while ((series = opened_drop(pairing)))
		series->cut++;
	nest_free(pairing->nest);
	pairing->nest = NULL;
}

/*
 * If the options exclude an event that ends a span, removes the open span. The begin was chosen
 * only because the duration of the span was still unknown.
 */
static void remove_begins(struct pairing *pairing, const struct log_type *type,
		      const struct posix_trace_event_np *event)
{
	struct pairing_open open;

	for (const struct role *role = roles_of(pairing, type); role; role = role->next)
		if (role->phase == POSIX_TRACE_END_NP)
			opened_take(pairing, key_of(pairing, role, type, event),
				    series_for(pairing, role, type, event), &open);
}

void pairing_event(struct pairing *pairing, const struct log_type *type,
		   const struct posix_trace_event_np *event, uint64_t ordinal, bool is_wanted)
{
	const struct role *role;

	if (pairing->err)
		return;
	/*
	 * If events were lost before this event, all open spans are cut, even if this event is not
	 * wanted.
	 */
	if (pairing_is_loss(event))
		pairing_cut(pairing);
	life_note(pairing, type, event);
	if (!is_wanted) {
		if (pairing->takes_back)
			remove_begins(pairing, type, event);
		return;
	}
	for (role = roles_of(pairing, type); role; role = role->next) {
		if (role->phase == POSIX_TRACE_BEGIN_NP)
			begin_span(pairing, role, type, event, ordinal);
		else if (role->phase == POSIX_TRACE_END_NP)
			end_span(pairing, role, type, event, ordinal);
		else
			whole_span(pairing, role, type, event, ordinal);
	}
}

void pairing_end(struct pairing *pairing)
{
	struct series *series;

	while ((series = opened_drop(pairing)))
		series->no_end++;
}
