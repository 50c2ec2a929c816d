/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_spans.c - computes from entries the times in which threads ran and mutexes were held.
 * Entries are hostile and may be missing, so each step accepts any entry in any state. A
 * contradiction may end a span, but it never begins one.
 */
#include "convert/tracex/tracex_spans.h"

#include <stdlib.h>

enum { /* event ids */
	RESUME = 1, SUSPEND = 2, ISR_ENTER = 3, ISR_EXIT = 4, TIME_SLICE = 5, MUTEX_DELETE = 51,
	MUTEX_GET = 52, MUTEX_PUT = 57, RELINQUISH = 109,
};

#define STATE_MUTEX 13

struct cpu {
	uint64_t thread;     /* the running thread; 0: unknown */
	uint64_t since, isr; /* ticks */
	unsigned depth;      /* number of nested interrupts */
	uint64_t isr_since;
	bool has_next;       /* the thread in the member "next" runs after the interrupt */
	uint64_t next;
};

struct held {
	uint64_t mutex, owner; /* "owner" is 0 if the mutex is free or its owner is unknown */
	uint64_t since, put;   /* ticks; "put" is the time of the last release */
	bool was_put;
};

struct waiter {
	uint64_t thread, mutex;
	bool suspended;
};

struct tracex_spans {
	struct cpu cpu[TRACEX_CPUS];
	struct held held[TRACEX_HELD];
	struct waiter waiter[TRACEX_HELD];
	size_t mutexes, waiters;

	bool (*visit)(void *arg, const struct tracex_span *span);
	void *arg;
};

struct tracex_spans *tracex_spans_new(void)
{
	return calloc(1, sizeof(struct tracex_spans));
}

void tracex_spans_free(struct tracex_spans *spans)
{
	free(spans);
}

/* ------------------------------------------------------------------ who runs */

static bool is_thread(uint64_t context)
{
	return context != TRACEX_CONTEXT_NONE && context != TRACEX_CONTEXT_ISR &&
	       context != TRACEX_CONTEXT_INITIALIZE;
}

/*
 * Notes that the processor runs this thread from now on, or no thread if "thread" is 0. Ends the
 * span of the thread that ran before. Returns false if visit() returns false.
 */
static bool tracex_spans_run(struct tracex_spans *s, unsigned number, uint64_t thread,
			     uint64_t ticks)
{
	struct cpu *cpu = &s->cpu[number];
	struct tracex_span span = {
		.kind = TRACEX_RUN, .thread = cpu->thread, .cpu = number, .begin = cpu->since,
		.end = ticks, .isr = cpu->isr,
	};

	if (thread == cpu->thread)
		return true;
	cpu->thread = thread;
	cpu->since = ticks;
	cpu->isr = 0;
	return !span.thread || s->visit(s->arg, &span);
}

/*
 * Ends all nested interrupts together, because entries about their exits may be missing. If an
 * entry in the interrupt has named the next thread, this thread runs now.
 */
static bool leave_isr(struct tracex_spans *s, unsigned number, uint64_t ticks)
{
	struct cpu *cpu = &s->cpu[number];

	cpu->isr += ticks - cpu->isr_since;
	cpu->depth = 0;
	if (!cpu->has_next)
		return true;
	cpu->has_next = false;
	return tracex_spans_run(s, number, cpu->next, ticks);
}

static bool isr_entry(struct tracex_spans *s, unsigned number, const struct tracex_entry *e,
		      unsigned id)
{
	struct cpu *cpu = &s->cpu[number];

	if (!cpu->depth) {
		/* The priority word has the interrupted thread. */
		if (!tracex_spans_run(s, number, e->priority, e->ticks))
			return false;
		cpu->isr_since = e->ticks;
		cpu->depth = 1;
		return id != ISR_EXIT || leave_isr(s, number, e->ticks);
	}
	if (id == ISR_ENTER)
		cpu->depth++;
	else if (id == ISR_EXIT && !--cpu->depth)
		return leave_isr(s, number, e->ticks);
	return true;
}

/*
 * Finds the thread that runs next. *next becomes 0 if a thread suspends itself and the entry names
 * no next thread. Returns false if the entry does not change the running thread.
 */
static bool next_of(const struct tracex_entry *e, unsigned id, uint64_t *next)
{
	switch (id) {
	case RESUME:
	case SUSPEND:
		*next = e->info[3];
		return *next || (id == SUSPEND && e->info[0] == e->context);
	case TIME_SLICE:
		*next = e->info[0];
		return *next;
	case RELINQUISH:
		*next = e->info[1];
		return *next;
	}
	return false;
}

/*
 * Processes the context of an entry: an interrupt or a thread. An entry of a thread proves that
 * this thread runs and that its processor is not in an interrupt. Returns false if visit() returns
 * false.
 */
static bool take_context(struct tracex_spans *s, const struct tracex_entry *e, unsigned id)
{
	unsigned number = tracex_cpu(e->raw_id);
	struct cpu *cpu = &s->cpu[number];
	uint64_t next;

	if (e->context == TRACEX_CONTEXT_ISR) {
		if (!isr_entry(s, number, e, id))
			return false;
	} else if (is_thread(e->context)) {
		if (cpu->depth && !leave_isr(s, number, e->ticks))
			return false;
		if (!tracex_spans_run(s, number, e->context, e->ticks))
			return false;
	}
	if (!next_of(e, id, &next))
		return true;
	if (!cpu->depth)
		return tracex_spans_run(s, number, next, e->ticks);
	cpu->has_next = true;
	cpu->next = next;
	return true;
}

/* ------------------------------------------------------------------ the owners of mutexes */

/*
 * Finds or adds a mutex. If TRACEX_HELD mutexes are known, a further mutex has no spans, and the
 * function returns NULL.
 */
static struct held *held_of(struct tracex_spans *s, uint64_t mutex)
{
	for (size_t i = 0; i < s->mutexes; i++)
		if (s->held[i].mutex == mutex)
			return &s->held[i];
	if (s->mutexes == TRACEX_HELD)
		return NULL;
	s->held[s->mutexes] = (struct held){ .mutex = mutex };
	return &s->held[s->mutexes++];
}

static struct waiter *waiter_of(struct tracex_spans *s, uint64_t thread)
{
	for (size_t i = 0; i < s->waiters; i++)
		if (s->waiter[i].thread == thread)
			return &s->waiter[i];
	return NULL;
}

/*
 * Removes the waiter. The last waiter of the array replaces it. This does no harm, because the
 * order of the array has no meaning.
 */
static void tracex_spans_forget(struct tracex_spans *s, struct waiter *waiter)
{
	*waiter = s->waiter[--s->waiters];
}

static void tracex_spans_hold(struct held *held, uint64_t owner, uint64_t ticks)
{
	held->owner = owner;
	held->since = ticks;
	held->was_put = false;
}

/*
 * Handles an entry by which a thread requests a mutex. info[3] is the number of gets of the owner
 * minus the number of its puts; 0 means that the mutex was free. If the mutex was not free, the
 * thread waits if it has requested to wait and is not the owner.
 */
static void tracex_spans_get(struct tracex_spans *s, const struct tracex_entry *e)
{
	struct held *held = held_of(s, e->info[0]);
	struct waiter *waiter = waiter_of(s, e->context);

	if (waiter) /* the new entry shows that the thread no longer waits */
		tracex_spans_forget(s, waiter);
	if (!held || !is_thread(e->context))
		return;
	if (!e->info[3])
		tracex_spans_hold(held, e->context, e->ticks);
	else if (e->info[2] != e->context && e->info[1] && s->waiters < TRACEX_HELD)
		s->waiter[s->waiters++] =
			(struct waiter){ .thread = e->context, .mutex = e->info[0] };
}

/* The span ends only at the put that undoes the first of several nested gets. */
static bool tracex_spans_put(struct tracex_spans *s, const struct tracex_entry *e)
{
	struct held *held = held_of(s, e->info[0]);
	struct tracex_span span = { .kind = TRACEX_MUTEX, .mutex = e->info[0], .end = e->ticks };

	if (!held || e->info[2] != 1)
		return true;
	span.thread = held->owner;
	span.begin = held->since;
	span.cpu = tracex_cpu(e->raw_id);
	held->owner = 0;
	held->put = e->ticks;
	held->was_put = true;
	return !span.thread || s->visit(s->arg, &span);
}

/*
 * Handles the entry that resumes a waiting thread. If the mutex was released and has no owner, the
 * thread owns the mutex now. Otherwise the time limit of the wait has passed, and the thread does
 * not own the mutex.
 */
static void tracex_spans_resumed(struct tracex_spans *s, const struct tracex_entry *e)
{
	struct waiter *waiter = waiter_of(s, e->info[0]);
	struct held *held;

	if (!waiter || e->info[1] != STATE_MUTEX)
		return;
	held = held_of(s, waiter->mutex);
	if (held && waiter->suspended && held->was_put && !held->owner)
		tracex_spans_hold(held, waiter->thread, held->put);
	tracex_spans_forget(s, waiter);
}

static bool take_mutex(struct tracex_spans *s, const struct tracex_entry *e, unsigned id)
{
	struct waiter *waiter;
	struct held *held;

	switch (id) {
	case MUTEX_GET:
		tracex_spans_get(s, e);
		break;
	case MUTEX_PUT:
		return tracex_spans_put(s, e);
	case MUTEX_DELETE:
		held = held_of(s, e->info[0]);
		if (held)
			*held = (struct held){ .mutex = e->info[0] };
		break;
	case SUSPEND:
		waiter = e->info[1] == STATE_MUTEX ? waiter_of(s, e->info[0]) : NULL;
		if (waiter)
			waiter->suspended = true;
		break;
	case RESUME:
		tracex_spans_resumed(s, e);
		break;
	}
	return true;
}

bool tracex_spans_take(struct tracex_spans *spans, const struct tracex_entry *entry,
		       bool (*visit)(void *arg, const struct tracex_span *span), void *arg)
{
	unsigned id = tracex_id(entry->raw_id);

	spans->visit = visit;
	spans->arg = arg;
	return take_mutex(spans, entry, id) && take_context(spans, entry, id);
}
