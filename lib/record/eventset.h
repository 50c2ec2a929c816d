/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/eventset.h - a set of event types. A program has it as a trace_event_set_t. The data of
 * START and FILTER events and the log have it in the same layout.
 *
 * A set is plain data: the magic word, then one bit for each type from 0 to 1023. Type 0 is never
 * set. The layout is ABI and part of the log format.
 *
 * Threads   a set has one caller at a time. Signals: async-signal-safe.
 */
#ifndef PTX_RECORD_EVENTSET_H
#define PTX_RECORD_EVENTSET_H

#include <stdbool.h>
#include <string.h>

#include <trace.h>

#include "record/record.h"

#define PTX_EVENTSET_MAGIC UINT64_C(0x0074657374766500) /* "\0evtset\0" */
#define PTX_EVENTSET_WORDS (PTX_TYPE_MAX / 64)

_Static_assert(sizeof(trace_event_set_t) == 136, "an event set is part of the log format");
_Static_assert(sizeof(((trace_event_set_t *)0)->__bits) * 8 == PTX_TYPE_MAX,
	       "an event set has a bit for every event type");

/*
 * Returns whether posix_trace_eventset_empty() or posix_trace_eventset_fill() has initialized the
 * set.
 */
static inline bool ptx_eventset_is_valid(const trace_event_set_t *set)
{
	return set && set->__magic == PTX_EVENTSET_MAGIC;
}

/*
 * The functions _has(), _add() and _del() require 0 < type < PTX_TYPE_MAX. All functions below
 * require valid sets, except _empty(), _fill() and _system(), which make a set valid.
 */
static inline bool ptx_eventset_has(const trace_event_set_t *set, unsigned type)
{
	return set->__bits[type / 64] >> (type % 64) & 1;
}

static inline void ptx_eventset_add(trace_event_set_t *set, unsigned type)
{
	set->__bits[type / 64] |= UINT64_C(1) << (type % 64);
}

static inline void ptx_eventset_del(trace_event_set_t *set, unsigned type)
{
	set->__bits[type / 64] &= ~(UINT64_C(1) << (type % 64));
}

static inline void ptx_eventset_empty(trace_event_set_t *set)
{
	memset(set, 0, sizeof(*set));
	set->__magic = PTX_EVENTSET_MAGIC;
}

/* Puts every type into the set, also those that have no name yet (CH-41). */
static inline void ptx_eventset_fill(trace_event_set_t *set)
{
	memset(set, 0xff, sizeof(*set));
	set->__magic = PTX_EVENTSET_MAGIC;
	ptx_eventset_del(set, 0);
}

/*
 * Makes the set of the system event types. The set also has the ids that are reserved for system
 * event types of later versions.
 */
static inline void ptx_eventset_system(trace_event_set_t *set)
{
	ptx_eventset_empty(set);
	for (unsigned type = 1; type < PTX_TYPE_UNNAMED; type++)
		ptx_eventset_add(set, type);
}

static inline void ptx_eventset_unite(trace_event_set_t *set, const trace_event_set_t *more)
{
	for (unsigned i = 0; i < PTX_EVENTSET_WORDS; i++)
		set->__bits[i] |= more->__bits[i];
}

static inline void ptx_eventset_subtract(trace_event_set_t *set, const trace_event_set_t *less)
{
	for (unsigned i = 0; i < PTX_EVENTSET_WORDS; i++)
		set->__bits[i] &= ~less->__bits[i];
}

#endif
