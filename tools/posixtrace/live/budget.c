/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * budget.c - decides which types a recording can afford.
 *
 * The budget has a credit in nanoseconds. The recorder adds the share of the processor time that
 * the program has used, and subtracts the cost of the calls. If the credit is negative, the stream
 * skips types. A look is the regular examination of the counts. If the credit is enough to record a
 * type until the next look, the stream records that type again. The credit is limited to the budget
 * of one second. Otherwise a program that was idle could collect credit for minutes and spend it in
 * one burst.
 *
 * A debt is limited, too. Otherwise the stream would skip types for hours after one burst. The
 * limit is the credit of DEBT_S seconds. Even a frequent type makes a smaller debt between two
 * looks, and this debt is repaid in full.
 *
 * The number of recorded events is exact. Their types are known only from a sample of the newest
 * events, so the cost may be attributed to wrong types for a moment. The numbers of skipped calls
 * are exact, so the rate of a type is known while the stream skips it. Two costs remain whatever
 * the stream skips: a skipped call costs a few nanoseconds, and each start of a program loads the
 * preload library. For these two costs, a look subtracts at most half of the budget of the time
 * since the last look, so that the other half remains for events.
 *
 * The processor time of the process and its descendants is from /proc. If the kernel does not list
 * children, their time counts only when they have ended. Until then the budget is smaller than it
 * could be.
 */
#include "live/budget.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/say.h"
#include "base/text.h"
#include "base/until.h"
#include "live/budget_cost.h"
#include "log/preload_types.h"
#include "spans/by_name.h"

#define TYPES	    1024 /* numbers of event types */
#define FIRST_USER  64
#define CPU_LOOK_NS INT64_C(100000000)
#define DEPTH	    64 /* the most generations of descendants whose time counts */
/* children of more threads are not counted, so that a look does not take long */
#define MOST_THREADS 256
#define DEBT_S	    10
#define OWN_TYPES   "posixtrace_"
/* the preload library records this event when a program has loaded the library at its start */
#define START_TYPE  "process.start"
/*
 * A type that costs less than 1/MANY of half of the budget is never skipped, whatever the other
 * types cost.
 */
#define MANY	    64
/*
 * The initial credit is the share of this processor time. Because of this credit, no type is turned
 * off at the first events.
 */
#define FIRST_NS    2e8

struct budget_type {
	uint64_t skipped;   /* as of the last look */
	double rate;	    /* calls a second */
	double cost_ns;	    /* cost of one recorded call; 0: not known yet */
	int64_t changed_ns; /* CLOCK_MONOTONIC: when it was turned on or off */
	bool is_off;
	/* the recorder itself records these events, so they cost the program nothing */
	bool is_own;
	bool stays;	    /* never skipped, because other events need it */
	bool is_start;	    /* each event is the start of a program */
};

/* The beginnings of the names of types that stay on. */
static const char *const staying[] = { "process.", "thread.", "dl." };

struct budget {
	pid_t pid;
	double share;
	struct budget_cost cost;
	int64_t look_ns, cpu_look_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ticks, recorded;
	double cpu_rate; /* processors that the program uses */
	/* spent_ns includes skipping_ns and starting_ns */
	double credit_ns, spent_ns, skipping_ns, starting_ns, used_ns;
	double look_s; /* seconds between the last two looks */
	struct budget_type type[TYPES];
	unsigned recent[TYPES];
	uint64_t skipped[TYPES];
};

bool budget_take(double *share, const char *where, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end != text && (!*end || !strcmp(end, "%")) && percent > 0 && percent <= 100) {
		*share = percent / 100;
		return true;
	}
	say("%s %s: not a share of the processor time such as 1%% or 0.5%%", where,
	    text_given(text));
	return false;
}

static uint64_t ticks_of(pid_t pid, int depth);

/*
 * Returns the processor time of the children that a thread has created, and of their descendants.
 */
static uint64_t ticks_of_children(pid_t pid, pid_t tid, int depth)
{
	char path[64], text[PROCFILE_BYTES];
	uint64_t ticks = 0;
	char *at, *end;
	long child;

	/* The folder also has the entries "." and "..", which are not threads. */
	if (tid <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	if (!procfile_read(path, text, sizeof(text)))
		return 0;
	for (at = text; (child = strtol(at, &end, 10)) > 0 && end != at; at = end)
		ticks += ticks_of((pid_t)child, depth - 1);
	return ticks;
}

/* Returns the processor time of a process and of its descendants, in clock ticks. */
static uint64_t ticks_of(pid_t pid, int depth)
{
	struct procfile_stat stat;
	uint64_t ticks;
	DIR *threads;

	if (!procfile_stat(pid, &stat))
		return 0;
	ticks = stat.ticks;
	threads = depth > 0 ? procfile_threads(pid) : NULL;
	/*
	 * The kernel lists a child with the thread that created it, so the children of all threads
	 * are added.
	 */
	for (int i = 0; i < MOST_THREADS; i++) {
		const pid_t tid = procfile_next_thread(threads);

		if (!tid)
			break;
		ticks += ticks_of_children(pid, tid, depth);
	}
	procfile_end_threads(threads);
	return ticks;
}

struct budget *budget_begin(pid_t pid, double share)
{
	struct budget *budget = calloc(1, sizeof(*budget));

	if (!budget) {
		say("--budget: %s", strerror(ENOMEM));
		return NULL;
	}
	budget->pid = pid;
	budget->share = share;
	budget->credit_ns = share * FIRST_NS;
	budget->cpu_rate = 1; /* until it is measured */
	budget_cost_measure(&budget->cost);
	budget->look_ns = budget->cpu_look_ns = until_now_ns();
	/*
	 * A process that already runs has used processor time before the recording. This time must
	 * not count.
	 */
	budget->cpu_ticks = ticks_of(pid, DEPTH);
	return budget;
}

void budget_end(struct budget *budget)
{
	free(budget);
}

/* Adds the share of the processor time since the last call to the credit. */
static void earn_credit(struct budget *budget, int64_t now_ns)
{
	uint64_t ticks;
	double cpu_ns = 0, passed_ns = (double)(now_ns - budget->cpu_look_ns), most_ns;

	if (passed_ns < (double)CPU_LOOK_NS)
		return;
	ticks = ticks_of(budget->pid, DEPTH);
	/*
	 * If a process ends and its parent does not wait for it, the time of the process is lost,
	 * so the sum may become less.
	 */
	if (ticks > budget->cpu_ticks)
		cpu_ns = (double)(ticks - budget->cpu_ticks) * 1e9 / (double)sysconf(_SC_CLK_TCK);
	budget->cpu_ticks = ticks;
	budget->cpu_look_ns = now_ns;
	/* Ticks are coarse, so the rate is smoothed. */
	budget->cpu_rate += (cpu_ns / passed_ns - budget->cpu_rate) / 4;
	budget->used_ns += cpu_ns;
	budget->credit_ns += cpu_ns * budget->share;
	most_ns = budget->cpu_rate * budget->share * 1e9;
	if (budget->credit_ns > most_ns)
		budget->credit_ns = most_ns;
	else if (budget->credit_ns < -DEBT_S * most_ns)
		budget->credit_ns = -DEBT_S * most_ns;
}

/*
 * Returns how many nanoseconds per second the program saves while the type is skipped, or would
 * save if the type were skipped.
 */
static double load_of(const struct budget *budget, const struct budget_type *type)
{
	double more_ns = type->cost_ns - budget->cost.skip_ns;

	return type->rate * (more_ns > 0 ? more_ns : 0);
}

/*
 * by_name() calls this function to ask whether a type with this name exists. Such a type may appear
 * later, so the answer is always true.
 */
static bool find_any(void *arg, const char *name, size_t len)
{
	(void)arg;
	(void)name;
	(void)len;
	return true;
}

/*
 * Returns whether events of the type begin or end spans. If the stream skipped only the begins or
 * only the ends for a time, the begin of one span would be paired with the end of another span.
 */
static bool is_half_span(trace_id_t trid, trace_event_id_t id, const char *name)
{
	static struct posix_trace_schema_np schema;
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	bool is_described = !posix_trace_eventid_get_schema_np(trid, id, text, sizeof(text)) &&
			    !posix_trace_schema_parse_np(text, &schema);
	size_t stem;

	if (is_described && schema.role != POSIX_TRACE_POINT_NP)
		return true;
	return by_name_applies(id, is_described ? &schema : NULL) &&
	       by_name(name, strlen(name), find_any, NULL, &stem) != POSIX_TRACE_POINT_NP;
}

/*
 * Finds the facts about a type when its first event appears. Returns false if the type has no name
 * yet.
 */
static bool read_type(const struct budget *budget, struct budget_type *type, trace_id_t trid,
		      trace_event_id_t id)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	if (type->cost_ns > 0)
		return true;
	if (posix_trace_eventid_get_name(trid, id, name))
		return false;
	type->cost_ns = preload_types_has(name) ? budget->cost.call_ns : budget->cost.point_ns;
	type->is_own = !strncmp(name, OWN_TYPES, strlen(OWN_TYPES));
	type->is_start = !strcmp(name, START_TYPE);
	for (size_t i = 0; i < sizeof(staying) / sizeof(*staying); i++)
		type->stays |= !strncmp(name, staying[i], strlen(staying[i]));
	type->stays |= is_half_span(trid, id, name);
	return true;
}

/* Subtracts the cost of the calls since the last look, and computes the rates. */
static int spend_credit(struct budget *budget, trace_id_t trid, int64_t now_ns)
{
	double passed_s = (double)(now_ns - budget->look_ns) / 1e9, each, sampled = 0;
	uint64_t recorded;
	int err = posix_trace_get_load_np(trid, &recorded, budget->recent, budget->skipped, TYPES);
	double skipping = 0, starting = 0; /* the cost of skipped calls, and of starts */

	if (err || passed_s <= 0)
		return err;
	for (trace_event_id_t id = 0; id < TYPES; id++)
		sampled += budget->recent[id];
	/*
	 * Not every writer has events in the sample. The function assumes that the other writers
	 * record the same types.
	 */
	each = recorded > budget->recorded && sampled > 0 ?
		       (double)(recorded - budget->recorded) / sampled : 0;
	for (trace_event_id_t id = FIRST_USER; id < TYPES; id++) {
		struct budget_type *type = &budget->type[id];
		double calls = each * budget->recent[id], skipped = 0, cost_ns;

		if (budget->skipped[id] > type->skipped)
			skipped = (double)(budget->skipped[id] - type->skipped);
		type->skipped = budget->skipped[id];
		type->rate += ((calls + skipped) / passed_s - type->rate) / 2;
		if (calls + skipped <= 0 || !read_type(budget, type, trid, id) || type->is_own)
			continue;
		cost_ns = calls * type->cost_ns;
		budget->credit_ns -= cost_ns;
		budget->spent_ns += cost_ns;
		skipping += skipped * budget->cost.skip_ns;
		/*
		 * The start of a program is in the sample of its own writer, so writers without a
		 * sample add no starts.
		 */
		if (type->is_start)
			starting += budget->recent[id] * budget->cost.start_ns;
	}
	budget->spent_ns += skipping + starting;
	budget->skipping_ns += skipping;
	budget->starting_ns += starting;
	budget->credit_ns -= fmin(skipping + starting,
				  budget->share * budget->cpu_rate * passed_s * 1e9 / 2);
	budget->recorded = recorded;
	budget->look_s = passed_s;
	budget->look_ns = now_ns;
	return 0;
}

/*
 * Returns the type that costs most, among the types that can be turned off. Returns 0 if none of
 * them costs anything. *all becomes the number of nanoseconds per second that the program would
 * save if the stream skipped all of these types.
 */
static unsigned find_most_expensive(const struct budget *budget, double *all)
{
	unsigned expensive = 0;

	*all = 0;
	for (unsigned id = FIRST_USER; id < TYPES; id++) {
		const struct budget_type *type = &budget->type[id];
		double load = type->is_own || type->stays ? 0 : load_of(budget, type);

		if (type->is_off || load <= 0)
			continue;
		*all += load;
		if (!expensive || load > load_of(budget, &budget->type[expensive]))
			expensive = id;
	}
	return expensive;
}

/* Returns the type that has been off for the longest time, or 0 if none is off. */
static unsigned find_longest_off(const struct budget *budget)
{
	unsigned longest = 0;

	for (unsigned id = FIRST_USER; id < TYPES; id++)
		if (budget->type[id].is_off &&
		    (!longest || budget->type[id].changed_ns < budget->type[longest].changed_ns))
			longest = id;
	return longest;
}

/* The arguments of a change. */
struct change {
	struct budget *budget;
	trace_id_t trid;
	void (*note)(void *arg, const void *data, size_t len);
	void *arg;
	int64_t now_ns;
	bool any; /* a type was turned on or off, and the stream must get the new filter */
};

/*
 * Turns a type on or off, and calls note() for the change. set_skipped() then applies the change to
 * the stream.
 */
static void turn_type(struct change *change, unsigned id, bool is_off)
{
	struct budget_type *type = &change->budget->type[id];
	char name[TRACE_EVENT_NAME_MAX + 1] = "";
	unsigned char data[20 + sizeof(name)];
	const uint32_t recorded = !is_off;
	const uint64_t rate = (uint64_t)type->rate, cost = (uint64_t)type->cost_ns;
	size_t len;

	type->is_off = is_off;
	type->changed_ns = change->now_ns;
	change->any = true;
	posix_trace_eventid_get_name(change->trid, id, name);
	len = strlen(name) + 1;
	memcpy(data, &recorded, 4);
	memcpy(data + 4, &rate, 8);
	memcpy(data + 12, &cost, 8);
	memcpy(data + 20, name, len);
	change->note(change->arg, data, 20 + len);
}

/* Lets the stream skip exactly the types that are off. */
static int set_skipped(const struct change *change)
{
	trace_event_set_t set;
	int err = change->any ? posix_trace_eventset_empty(&set) : 0;

	if (!change->any)
		return 0;
	for (unsigned id = FIRST_USER; !err && id < TYPES; id++)
		if (change->budget->type[id].is_off)
			err = posix_trace_eventset_add(id, &set);
	return err ? err : posix_trace_set_skipped_np(change->trid, &set);
}

int budget_look(struct budget *budget, trace_id_t trid,
		void (*note)(void *arg, const void *data, size_t len), void *arg)
{
	struct change change = { budget, trid, note, arg, until_now_ns(), false };
	double room, all, look_ns;
	unsigned id;
	int err;

	earn_credit(budget, change.now_ns);
	err = spend_credit(budget, trid, change.now_ns);
	if (err)
		return err;
	/*
	 * While there is a debt, all types that can be turned off may together cost this much in a
	 * second. The limit is half of the budget, so the other half repays the debt.
	 */
	room = budget->share * budget->cpu_rate * 1e9 / 2;
	while (budget->credit_ns < 0 &&
	       (id = find_most_expensive(budget, &all)) != 0 && all > room &&
	       load_of(budget, &budget->type[id]) > room / MANY)
		turn_type(&change, id, true);
	id = find_longest_off(budget);
	/*
	 * A type is turned on only if the credit is enough to record it until the next look. The
	 * credit is at most the budget of a second, and a type may cost more than this between two
	 * looks. When the credit has nearly reached its limit, such a type is turned on for the
	 * time of one look.
	 */
	look_ns = id ? load_of(budget, &budget->type[id]) * budget->look_s : 0;
	if (id && budget->credit_ns > 0 &&
	    budget->credit_ns >= fmin(look_ns, budget->share * budget->cpu_rate * 0.8e9))
		turn_type(&change, id, false);
	return set_skipped(&change);
}

void budget_say(const struct budget *budget)
{
	double spent, skipping, starting;

	if (budget->used_ns <= 0)
		return;
	spent = 100 * budget->spent_ns / budget->used_ns;
	skipping = 100 * budget->skipping_ns / budget->used_ns;
	starting = 100 * budget->starting_ns / budget->used_ns;
	say("budget %.3g%%: events cost an estimate of %.2f%% of %.1f s of processor time, %.2f%% "
	    "by skipped calls, %.2f%% by starts of programs (a call %.0f ns, a trace point %.0f "
	    "ns, a skipped one %.0f ns, a start %.0f us)",
	    100 * budget->share, spent, budget->used_ns / 1e9, skipping, starting,
	    budget->cost.call_ns, budget->cost.point_ns, budget->cost.skip_ns,
	    budget->cost.start_ns / 1000);
	if (skipping > 100 * budget->share)
		say("skipped calls alone cost more than the budget: leave out families by "
		    "--trace");
	if (starting > 100 * budget->share)
		say("starts of programs alone cost more than the budget: --no-follow leaves out "
		    "children");
}
