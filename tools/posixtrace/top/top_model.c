/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* top_model.c - computes latencies and locks from events. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "top/top.h"

void top_init(struct top *top)
{
	memset(top, 0, sizeof(*top));
	top->open = calloc(TOP_OPEN, sizeof(*top->open));
}

/* Types own their schemas and latencies. */
void top_fini(struct top *top)
{
	for (size_t i = 0; i < top->types; i++) {
		free(top->type[i]->schema);
		free(top->type[i]->latency);
		free(top->type[i]);
	}
	free(top->type);
	free(top->by_id);
	free(top->thread);
	free(top->open);
}

/* Open spans continue, so their ends count after the reset. */
void top_reset(struct top *top)
{
	memset(top->lock, 0, sizeof(top->lock));
	top->locks = 0;
	for (size_t i = 0; i < top->types; i++)
		if (top->type[i]->latency)
			memset(top->type[i]->latency, 0, sizeof(*top->type[i]->latency));
}

struct top_type *top_type(struct top *top, trace_event_id_t id)
{
	struct top_type *type;

	if (id >= 65536 || !vec_reach(&top->by_id, &top->ids, id))
		return NULL;
	if (top->by_id[id])
		return top->by_id[id];
	type = calloc(1, sizeof(*type));
	if (!vec_grow(&top->type, top->types, 1) || !type) {
		free(type);
		return NULL;
	}
	type->id = id;
	type->time_field = type->lock_field = -1;
	top->type[top->types++] = type;
	top->by_id[id] = type;
	return type;
}

/* Returns true if the name ends with this text. */
static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && !strcmp(name + len - end_len, end);
}

/*
 * Finds the fields for latencies and locks. Types named ..._held record times of holding and not of
 * waiting.
 */
static void find_fields(struct top_type *type)
{
	for (unsigned i = 0; i < type->schema->fields; i++) {
		const struct posix_trace_field_np *field = &type->schema->field[i];

		if (field->type == POSIX_TRACE_TYPE_NS_NP && type->time_field < 0)
			type->time_field = (int)i;
		if (field->type == POSIX_TRACE_TYPE_PTR_NP && !strcmp(field->name, "lock") &&
		    !ends_with(type->name, "_held"))
			type->lock_field = (int)i;
	}
}

/* Looks for the schema of a type. An invalid schema counts as none. */
static void ask_for_schema(struct top_type *type, trace_id_t trid)
{
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];

	type->asked = true;
	if (type->schema || posix_trace_eventid_get_schema_np(trid, type->id, text, sizeof(text)))
		return;
	type->schema = malloc(sizeof(*type->schema));
	if (type->schema && posix_trace_schema_parse_np(text, type->schema)) {
		free(type->schema);
		type->schema = NULL;
	}
	if (type->schema)
		find_fields(type);
}

/*
 * Returns the number of the bucket of a duration: the three bits below the highest one select it.
 */
static unsigned bucket_of(uint64_t ns)
{
	unsigned power;

	if (ns < TOP_LATENCY_STEPS)
		return (unsigned)ns;
	power = 63 - (unsigned)__builtin_clzll(ns);
	return (power - 2) * TOP_LATENCY_STEPS + (unsigned)(ns >> (power - 3)) - TOP_LATENCY_STEPS;
}

/* Returns the greatest duration of a bucket. */
static uint64_t end_of_bucket(unsigned bucket)
{
	unsigned power = bucket / TOP_LATENCY_STEPS + 2;

	if (bucket < TOP_LATENCY_STEPS)
		return bucket;
	return (((uint64_t)TOP_LATENCY_STEPS + bucket % TOP_LATENCY_STEPS + 1) << (power - 3)) - 1;
}

/* The value is the end of its bucket, limited by the exact maximum. */
uint64_t top_percentile(const struct top_latency *latency, double part)
{
	uint64_t wanted = (uint64_t)((double)latency->count * part + 0.5), seen = 0;

	for (unsigned i = 0; i < sizeof(latency->bucket) / sizeof(latency->bucket[0]); i++) {
		seen += latency->bucket[i];
		if (seen && seen >= wanted)
			return end_of_bucket(i) < latency->max_ns ? end_of_bucket(i) :
								    latency->max_ns;
	}
	return latency->max_ns;
}

/* Adds a duration. Without memory the type has no latencies. */
static void add_latency(struct top_type *type, uint64_t ns)
{
	struct top_latency *latency = type->latency;

	if (!latency)
		latency = type->latency = calloc(1, sizeof(*latency));
	if (!latency)
		return;
	latency->count++;
	latency->total_ns += ns;
	if (ns > latency->max_ns)
		latency->max_ns = ns;
	latency->bucket[bucket_of(ns)]++;
}

/* FNV-1a. */
static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * Returns a hash of the properties that a begin and its end share: the span, the process, and the
 * key fields or the thread. 0 marks free places.
 */
static uint64_t key_of(const struct top_type *type, const struct posix_trace_event_np *event)
{
	const struct posix_trace_schema_np *schema = type->schema;
	uint64_t hash = mix_bytes(UINT64_C(0xcbf29ce484222325), schema->span, strlen(schema->span));
	struct posix_trace_value_np value;

	hash = mix_bytes(hash, &event->info.posix_pid, sizeof(event->info.posix_pid));
	if (!schema->keys)
		hash = mix_bytes(hash, &event->info.posix_thread_id,
				 sizeof(event->info.posix_thread_id));
	for (unsigned i = 0; i < schema->keys; i++)
		if (posix_trace_field_get_np(schema, schema->key[i], 0, event->data,
					     event->data_len, 0, &value)) {
			if (value.field->form == POSIX_TRACE_FORM_BYTES_NP)
				hash = mix_bytes(hash, value.data, value.len);
			else
				hash = mix_bytes(hash, &value.u64, sizeof(value.u64));
		}
	return hash ? hash : 1;
}

/*
 * Returns the place of a key. Single entries are never deleted; an entry with the time INT64_MIN
 * has ended.
 */
static struct top_begin *place_of(struct top *top, uint64_t key)
{
	size_t i = key & (TOP_OPEN - 1);

	while (top->open[i].key && top->open[i].key != key)
		i = (i + 1) & (TOP_OPEN - 1);
	return &top->open[i];
}

/* Begins or ends a span. A full table is cleared: most of its begins have no end. */
static void take_span(struct top *top, struct top_type *type,
		      const struct posix_trace_event_np *event)
{
	struct top_begin *begin;

	if (!top->open)
		return;
	if (top->opened > TOP_OPEN / 4 * 3) { /* begins without ends: forget them */
		memset(top->open, 0, TOP_OPEN * sizeof(*top->open));
		top->opened = 0;
	}
	begin = place_of(top, key_of(type, event));
	if (type->schema->role == POSIX_TRACE_BEGIN_NP) {
		if (!begin->key) {
			begin->key = key_of(type, event);
			top->opened++;
		}
		begin->time_ns = event->time_ns;
	} else if (begin->key && begin->time_ns != INT64_MIN) {
		if (event->time_ns >= begin->time_ns)
			add_latency(type, (uint64_t)event->time_ns - (uint64_t)begin->time_ns);
		begin->time_ns = INT64_MIN; /* it has ended; the place is for its next begin */
	}
}

/*
 * Adds the time that a thread waited for a lock. If the table is full, further locks are ignored.
 */
static void take_lock(struct top *top, const struct top_type *type,
		      const struct posix_trace_event_np *event, uint64_t pointer, uint64_t ns)
{
	uint64_t hash = mix_bytes(UINT64_C(0xcbf29ce484222325), &pointer, sizeof(pointer));
	size_t i = (hash + (uint64_t)event->info.posix_pid) % TOP_LOCKS;
	struct top_lock *lock;

	for (;; i = (i + 1) % TOP_LOCKS) {
		lock = &top->lock[i];
		if (!lock->waits ||
		    (lock->pid == event->info.posix_pid && lock->pointer == pointer))
			break;
	}
	if (!lock->waits && top->locks++ >= TOP_LOCKS / 4 * 3) {
		top->locks--;
		return;
	}
	lock->pid = event->info.posix_pid;
	lock->pointer = pointer;
	lock->type = type;
	lock->waits++;
	lock->total_ns += ns;
	if (ns > lock->max_ns)
		lock->max_ns = ns;
}

/* Types without a schema are the majority; they end here. */
void top_event(struct top *top, trace_id_t trid, const struct posix_trace_event_np *event)
{
	struct top_type *type = top_type(top, event->info.posix_event_id);
	struct posix_trace_value_np time, lock;

	if (!type)
		return;
	if (!type->asked)
		ask_for_schema(type, trid);
	if (!type->schema)
		return;
	if (type->schema->role != POSIX_TRACE_POINT_NP)
		take_span(top, type, event);
	if (type->time_field < 0 ||
	    !posix_trace_field_get_np(type->schema, (unsigned)type->time_field, 0, event->data,
				      event->data_len, 0, &time))
		return;
	if (type->schema->role == POSIX_TRACE_POINT_NP)
		add_latency(type, time.u64);
	if (type->lock_field >= 0 &&
	    posix_trace_field_get_np(type->schema, (unsigned)type->lock_field, 0, event->data,
				     event->data_len, 0, &lock))
		take_lock(top, type, event, lock.u64, time.u64);
}
