/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * why_aggregate.c - compares the slowest spans of a kind with the spans around the median, and
 * shows which causes need more time in the slowest spans.
 *
 * The groups are the slowest 1 % and the 10 % around the median. The times of a group are means per
 * span, so that groups of different sizes can be compared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/brief.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "why/why.h"

#define GROUP_MAX 1000 /* the greatest number of windows in a group */
#define SHOWN     20
#define OTHERS_LEAST 0.1 /* a mean number of other spans below this is not printed */

struct total { /* a cause in both groups */
	enum why_kind kind;
	char *label;
	double slow_ns, middle_ns;
};

/*
 * The causes of both groups. 'is_cut' means that a chain in one of the divisions reached a limit.
 */
struct aggregate {
	struct total *total;
	size_t count;
	bool is_cut;
};

/*
 * Orders windows by their length, the slowest first. Windows of equal length are in the order of
 * their begins, so that the groups are the same each time.
 */
static int by_time(const void *a, const void *b)
{
	const struct window *x = a, *y = b;
	const uint64_t p = window_ns(x), q = window_ns(y);

	return p == q ? (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns) :
			(p < q) - (p > q);
}

/*
 * Orders the causes by how much more time they have in the slowest spans than in the middle, the
 * greatest difference first. The first cause explains why the slowest spans are slow.
 */
static int by_difference(const void *a, const void *b)
{
	const struct total *x = a, *y = b;
	double p = x->slow_ns - x->middle_ns, q = y->slow_ns - y->middle_ns;

	return (p < q) - (p > q);
}

/*
 * Returns the total of a cause, and adds it if it is new; NULL if memory is lacking. The thread is
 * not compared: a cause that occurs in spans of several threads has one total. The label is copied,
 * since the division that has it is freed before the next span.
 */
static struct total *total_of(struct aggregate *aggregate, const struct why_cause *cause)
{
	struct total *total;

	/* Causes are few: they are places in the program, not events. */
	for (size_t i = 0; i < aggregate->count; i++)
		if (aggregate->total[i].kind == cause->kind &&
		    !strcmp(aggregate->total[i].label, cause->label))
			return &aggregate->total[i];
	if (!vec_grow(&aggregate->total, aggregate->count, 1))
		return NULL;
	total = &aggregate->total[aggregate->count];
	*total = (struct total){ .kind = cause->kind, .label = strdup(cause->label) };
	if (!total->label)
		return NULL;
	aggregate->count++;
	return total;
}

/* Adds the mean times of the causes in these windows. Returns 0 or ENOMEM. count is not 0. */
static int add_group(struct aggregate *aggregate, struct why *why, const struct window *window,
		     size_t count, bool is_slow)
{
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		struct division division;
		struct why_causes causes = { .count = 0 };

		err = division_make(&division, &why->history, window[i].thread, window[i].from_ns,
				    window[i].to_ns);
		if (!err && !why_causes(&causes, &division))
			err = ENOMEM;
		aggregate->is_cut |= division.is_cut;
		for (size_t n = 0; !err && n < causes.count; n++) {
			struct total *total = total_of(aggregate, &causes.cause[n]);

			if (!total)
				err = ENOMEM;
			else
				*(is_slow ? &total->slow_ns : &total->middle_ns) +=
					(double)causes.cause[n].ns / (double)count;
		}
		free(causes.cause);
		division_fini(&division);
	}
	return err;
}

static double mean_ns(const struct window *window, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)window_ns(&window[i]);
	return count ? sum / (double)count : 0;
}

/* ------------------------------------------------------------------ spans at the same time */

/*
 * The begin or end of a span. "open" is the number of open spans of the thread from here on, and
 * "sum" is the total time of all spans of the thread until here.
 */
struct edge {
	uint32_t thread;
	int32_t change;
	int64_t time_ns;
	int64_t open;
	double sum;
};

static int by_thread(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Returns two edges for each span, or NULL if memory is lacking. The caller frees them. */
static struct edge *make_edges(const struct why *why)
{
	const size_t count = 2 * why->windows;
	struct edge *edge = calloc(count, sizeof(*edge));

	for (size_t i = 0; edge && i < count; i++) {
		const struct window *window = &why->window[i / 2];

		edge[i].thread = window->thread;
		edge[i].change = i % 2 ? -1 : 1;
		edge[i].time_ns = i % 2 ? window->to_ns : window->from_ns;
	}
	if (!edge)
		return NULL;
	qsort(edge, count, sizeof(*edge), by_thread);
	for (size_t i = 0; i < count; i++) {
		const struct edge *before = i && edge[i - 1].thread == edge[i].thread ?
					    &edge[i - 1] : NULL;

		edge[i].open = (before ? before->open : 0) + edge[i].change;
		edge[i].sum = before ? before->sum + (double)before->open *
			      ((double)edge[i].time_ns - (double)before->time_ns) : 0;
	}
	return edge;
}

/* Returns the total time of all spans of a thread until the begin or end of one of them. */
static double sum_until(const struct edge *edge, size_t count, uint32_t thread, int64_t time_ns)
{
	const struct edge wanted = { .thread = thread, .time_ns = time_ns };
	const struct edge *found = bsearch(&wanted, edge, count, sizeof(*edge), by_thread);

	return found ? found->sum : 0;
}

/*
 * Returns how many other spans of the same thread were open at the same time as a span of the
 * group, as a mean over the time of the group. Such spans share the time of their thread.
 */
static double others_mean(const struct why *why, const struct edge *edge,
			  const struct window *window, size_t count)
{
	const size_t edges = 2 * why->windows;
	double all = 0, own = 0;

	for (size_t i = 0; i < count; i++) {
		all += sum_until(edge, edges, window[i].thread, window[i].to_ns) -
		       sum_until(edge, edges, window[i].thread, window[i].from_ns);
		own += (double)window_ns(&window[i]);
	}
	return own > 0 && all > own ? all / own - 1 : 0;
}

/*
 * Returns the number of spans in a group: at least one, so that a log with few spans gives an
 * answer, and at most GROUP_MAX.
 */
static size_t group_size(size_t count, size_t parts)
{
	size_t size = count / parts;

	return !size ? 1 : size > GROUP_MAX ? GROUP_MAX : size;
}

static void put_json(struct out *out, const struct why *why, const struct aggregate *aggregate,
		     double slow_ns, double middle_ns, const double others[2])
{
	struct json json = json_begin(out);

	json_object(&json, NULL);
	json_unsigned(&json, "spans", why->windows);
	json_real(&json, "slow_ns", "%.0f", slow_ns);
	json_real(&json, "median_ns", "%.0f", middle_ns);
	json_real(&json, "slow_others", "%.3f", others[0]);
	json_real(&json, "median_others", "%.3f", others[1]);
	json_array(&json, "causes");
	for (size_t i = 0; i < aggregate->count; i++) {
		const struct total *total = &aggregate->total[i];

		json_object(&json, NULL);
		json_string_member(&json, "kind", division_kind_name(total->kind));
		json_string_member(&json, "what", total->label);
		json_real(&json, "slow_ns", "%.0f", total->slow_ns);
		json_real(&json, "median_ns", "%.0f", total->middle_ns);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_line(&json);
}

static void put_text(struct out *out, const struct why *why, const struct aggregate *aggregate,
		     const size_t size[2], double slow_ns, double middle_ns,
		     const double others[2])
{
	char slow[BRIEF_BYTES], middle[BRIEF_BYTES], more[BRIEF_BYTES];

	text_name(out, why->window[0].name, strlen(why->window[0].name));
	out_printf(out, ": %zu span%s. The slowest %zu took %s, those around the median (%zu) took "
		   "%s.\n", why->windows, text_plural(why->windows), size[0],
		   brief_ns(slow, slow_ns), size[1], brief_ns(middle, middle_ns));
	if (aggregate->count && aggregate->total[0].slow_ns > aggregate->total[0].middle_ns) {
		out_printf(out, "Cause: the slowest have %s more of: ",
			   brief_ns(more, aggregate->total[0].slow_ns -
				    aggregate->total[0].middle_ns));
		text_safe(out, aggregate->total[0].label, strlen(aggregate->total[0].label));
		out_str(out, ".\n");
	}
	if (others[0] >= OTHERS_LEAST || others[1] >= OTHERS_LEAST)
		out_printf(out, "The thread had other spans open at the same time, which share "
			   "these times: %.1f with the\nslowest and %.1f with those around the "
			   "median, on average.\n", others[0], others[1]);
	out_str(out, "\n   slowest     median  cause (means)\n");
	for (size_t i = 0; i < aggregate->count && i < SHOWN; i++) {
		const struct total *total = &aggregate->total[i];

		out_printf(out, "%10s %10s  ", brief_ns(slow, total->slow_ns),
			   brief_ns(middle, total->middle_ns));
		text_safe(out, total->label, strlen(total->label));
		out_char(out, '\n');
	}
	why_text_end(out, why, aggregate->is_cut);
}

/*
 * why->windows is not 0, and the windows are sorted here. Groups may overlap if there are few
 * spans.
 */
int why_aggregate(struct out *out, struct why *why)
{
	struct aggregate aggregate = { .count = 0 };
	size_t size[2] = { group_size(why->windows, 100), group_size(why->windows, 10) };
	/*
	 * The middle group is around the median. If it cannot be exactly in the middle, it is one
	 * place nearer to the faster spans. If there are only two spans, the slower one is
	 * therefore compared with the faster one, and not with itself.
	 */
	size_t middle = (why->windows - size[1] + 1) / 2;
	double slow_ns, middle_ns, others[2] = { 0 };
	struct edge *edge = make_edges(why);
	int err;

	qsort(why->window, why->windows, sizeof(*why->window), by_time);
	slow_ns = mean_ns(why->window, size[0]);
	middle_ns = mean_ns(why->window + middle, size[1]);
	if (edge) {
		others[0] = others_mean(why, edge, why->window, size[0]);
		others[1] = others_mean(why, edge, why->window + middle, size[1]);
	}
	err = edge ? add_group(&aggregate, why, why->window, size[0], true) : ENOMEM;
	free(edge);
	if (!err)
		err = add_group(&aggregate, why, why->window + middle, size[1], false);
	if (aggregate.count)
		qsort(aggregate.total, aggregate.count, sizeof(*aggregate.total), by_difference);
	if (!err && why->json)
		put_json(out, why, &aggregate, slow_ns, middle_ns, others);
	else if (!err)
		put_text(out, why, &aggregate, size, slow_ns, middle_ns, others);
	for (size_t i = 0; i < aggregate.count; i++)
		free(aggregate.total[i].label);
	free(aggregate.total);
	return err;
}
