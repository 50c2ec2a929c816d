/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * changes.c - sorts the changes by process, descriptor and time, so that a look-up is a binary
 * search. Then it finds the names in the order of time, because a copy of a descriptor gets the
 * name that its source has at that time. The order of the log cannot be used, because late events
 * follow younger ones in a log.
 */
#include "log/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearly.h"
#include "base/vec.h"

/* a look-up follows at most this number of forks, so its time is limited */
#define ANCESTORS   32
/*
 * The changes need at most 128 MiB, and as much again while they are sorted. If a log has more
 * changes, there are no names after the time of the first change that does not fit, because this
 * change may be a close.
 */
#define CHANGES_MAX 4000000
#define TEXT_MAX    (64 << 20)

void changes_fini(struct changes *c)
{
	table_fini(&c->names);
	free(c->gap_ns);
	free(c->change);
	free(c->text);
}

/* Makes look-ups find no names from this time on, because the event of a close may be missing. */
static void forget_from(struct changes *c, int64_t time_ns)
{
	if (time_ns < c->incomplete_ns)
		c->incomplete_ns = time_ns;
}

static bool is_same_name(const void *array, uint32_t index, const void *key)
{
	return !strcmp((const char *)array + index, key);
}

uint32_t changes_name(struct changes *c, const char *name, int64_t time_ns)
{
	size_t len = strlen(name) + 1, at = c->text_bytes ? c->text_bytes : 1;
	/*
	 * The hash depends on the address of c, which is random. So a hostile log cannot cause many
	 * equal hashes.
	 */
	uint64_t hash = hash_bytes(hash_number(HASH_BEGIN, (uintptr_t)c), name, len);
	uint32_t known = *name ? table_find(&c->names, hash, is_same_name, c->text, name) : 0;

	if (known != TABLE_NONE)
		return known;
	if (at + len > TEXT_MAX || !vec_grow(&c->text, c->text_bytes, at + len - c->text_bytes) ||
	    !table_add(&c->names, hash, (uint32_t)at)) {
		forget_from(c, time_ns);
		return 0;
	}
	memcpy(c->text + at, name, len);
	c->text_bytes = at + len;
	return (uint32_t)at;
}

void changes_add(struct changes *c, struct change change)
{
	if (c->count == CHANGES_MAX || !vec_grow(&c->change, c->count, 1)) {
		forget_from(c, change.time_ns);
		return;
	}
	change.order = (uint32_t)c->count;
	c->change[c->count++] = change;
}

void changes_gap(struct changes *c, int64_t time_ns)
{
	if (c->gaps == CHANGES_MAX || !vec_grow(&c->gap_ns, c->gaps, 1))
		forget_from(c, time_ns);
	else
		c->gap_ns[c->gaps++] = time_ns;
}

/* ------------------------------------------------------------------ look-ups */

static int compare_times(const struct change *a, const struct change *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int changes_compare(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->fd != b->fd)
		return a->fd < b->fd ? -1 : 1;
	return compare_times(a, b);
}

static int compare_gaps(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return a < b ? -1 : a > b;
}

/*
 * Returns where the result of the last search for a descriptor is kept. A result of another
 * descriptor or of another log may be there. The result is only the place at which a search begins,
 * so a wrong one costs only time. The array may be static, because only one thread reads a log.
 */
static size_t *recent_of(const struct change *key)
{
	static size_t recent[256];
	uint64_t hash = hash_number((uint32_t)key->pid, (uint32_t)key->fd);

	return &recent[hash % (sizeof(recent) / sizeof(recent[0]))];
}

/*
 * Narrows the range of the search for the first change that is not before the key. Most keys follow
 * in the order of time, so this change is at most a few places behind the result of the last search
 * for the same descriptor. Then the search does not read the rest of the array.
 */
static void narrow_range(const struct changes *c, const struct change *key, size_t *low,
			 size_t *high)
{
	size_t at = *recent_of(key);

	if (at > c->count)
		return;
	if (at && changes_compare(&c->change[at - 1], key) >= 0) {
		*high = at - 1;
		return;
	}
	*low = at;
	for (size_t step = 1; at + step <= c->count; step *= 2) {
		if (changes_compare(&c->change[at + step - 1], key) >= 0) {
			*high = at + step - 1;
			return;
		}
		*low = at + step;
	}
}

/* Returns the last change of the key's descriptor before the key, or NULL if there is none. */
static struct change *last_before(const struct changes *c, const struct change *key)
{
	size_t low = 0, high = c->count;

	narrow_range(c, key, &low, &high);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (changes_compare(&c->change[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*recent_of(key) = low;
	if (!low || c->change[low - 1].pid != key->pid || c->change[low - 1].fd != key->fd)
		return NULL;
	return &c->change[low - 1];
}

static struct change *last_of(const struct changes *c, struct change key, int32_t fd)
{
	key.fd = fd;
	return last_before(c, &key);
}

/* Returns whether events were lost later than after_ns and not later than until_ns. */
static bool has_gap(const struct changes *c, int64_t after_ns, int64_t until_ns)
{
	size_t low = 0, high = c->gaps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->gap_ns[middle] <= after_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->gaps && c->gap_ns[low] <= until_ns;
}

const struct change *changes_state(const struct changes *c, struct change key)
{
	int64_t at_ns = key.time_ns, executed_ns = INT64_MIN;

	if (key.fd < 0 || at_ns >= c->incomplete_ns)
		return NULL;
	for (unsigned i = 0; i < ANCESTORS; i++) {
		const struct change *change = last_before(c, &key);
		const struct change *executed = last_of(c, key, EXECUTED);
		const struct change *birth = last_of(c, key, FORKED);

		if (executed && executed->time_ns > executed_ns)
			executed_ns = executed->time_ns;
		/*
		 * A change before the birth of the process belongs to an older process with the
		 * same id.
		 */
		if (change && (!birth || compare_times(birth, change) < 0))
			return has_gap(c, change->time_ns, at_ns) ||
			       (change->closes_at_exec && executed_ns > change->time_ns)
				       ? NULL : change;
		/*
		 * If the process begins with the start of a program, posix_spawn() may have changed
		 * descriptors before exec. No event shows these changes. If the process has ended
		 * and no event shows the birth of a later one, its parent is unknown.
		 */
		if (!birth || birth->effect == STARTS || birth->effect == ENDS)
			return NULL;
		key.pid = birth->from;
		key.time_ns = birth->time_ns;
		key.order = birth->order;
	}
	return NULL;
}

/* ------------------------------------------------------------------ sorting */

#define DIGITS      8 /* of process and descriptor together */
#define DIGIT_RANGE 256

/*
 * Returns a number by which a change is sorted: its process and its descriptor. The marks FORKED
 * and EXECUTED become small numbers like those of most descriptors, so most digits are equal in all
 * changes.
 */
static uint64_t owner_of(const struct change *change)
{
	return (uint64_t)((uint32_t)change->pid ^ UINT32_C(0x80000000)) << 32 |
	       ((uint32_t)change->fd - (uint32_t)EXECUTED);
}

/*
 * Moves the changes to another array in the order of one digit. first[x] is the index in this array
 * at which the next change with the digit x is stored.
 */
static void move_by_digit(const struct change *from, size_t count, unsigned digit,
			  uint32_t first[DIGIT_RANGE], struct change *to)
{
	for (size_t i = 0; i < count; i++)
		to[first[owner_of(&from[i]) >> 8 * digit & (DIGIT_RANGE - 1)]++] = from[i];
}

/*
 * Sorts the changes by process and descriptor: by each digit of owner_of(), the lowest digit first.
 * Changes of the same descriptor remain in the order of the log. A digit that is the same in all
 * changes needs no move. In most logs only one or two digits differ, so this is much faster than
 * comparisons. If memory is lacking, the function changes nothing, and changes_sort() sorts the
 * changes by comparisons.
 */
static void group_changes(struct changes *c)
{
	uint32_t (*first)[DIGIT_RANGE] = calloc(DIGITS, sizeof(*first));
	struct change *other = NULL; /* one of the two arrays becomes c->change */

	if (!first || !vec_grow(&other, 0, c->count)) {
		free(first);
		return;
	}
	for (size_t i = 0; i < c->count; i++)
		for (unsigned digit = 0; digit < DIGITS; digit++)
			first[digit][owner_of(&c->change[i]) >> 8 * digit & (DIGIT_RANGE - 1)]++;
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		uint64_t any = owner_of(&c->change[0]) >> 8 * digit & (DIGIT_RANGE - 1);
		struct change *grouped = other;
		uint32_t sum = 0;

		if (first[digit][any] == c->count)
			continue;
		for (unsigned value = 0; value < DIGIT_RANGE; value++) {
			uint32_t changes = first[digit][value];

			first[digit][value] = sum;
			sum += changes;
		}
		move_by_digit(c->change, c->count, digit, first[digit], grouped);
		other = c->change;
		c->change = grouped;
	}
	free(other);
	free(first);
}

/* ------------------------------------------------------------------ names after the scan */

/*
 * Removes entries so that only one is left for each birth of a process. An event of the parent and
 * an event of the child may both describe the same birth. The start of a program counts as a birth
 * only if the log has neither of these events for the process, or if another process with the same
 * number has ended before it.
 */
static void remove_repeated(struct changes *c)
{
	const struct change *birth = NULL; /* the newest birth of the process */
	/* the event of the parent and the event of the child were seen for this birth */
	bool is_paired = false;
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct change *change = &c->change[i];

		if (change->fd == FORKED) {
			if (birth && birth->pid != change->pid)
				birth = NULL;
			if (change->effect == ENDS)
				birth = NULL;
			if (birth && change->effect == STARTS)
				continue;
			if (birth && change->effect == BEGINS && birth->effect == FORKS &&
			    birth->from == change->from && !is_paired) {
				is_paired = true;
				continue;
			}
			if (change->effect != ENDS)
				birth = &c->change[kept];
			is_paired = false;
		}
		c->change[kept++] = *change;
	}
	c->count = kept;
}

/*
 * The kernel gives a new descriptor a number that is free. If this number still has a name, the log
 * lacks the close of the older descriptor with this number. So it is not known until when the old
 * name was right, and the function drops the name.
 *
 * A change that extends a name (EXTENDS) does not say whether exec closes the descriptor, so the
 * function copies closes_at_exec from the change before.
 */
static void drop_unclosed(struct changes *c)
{
	for (size_t i = 1; i < c->count; i++) {
		struct change *older = &c->change[i - 1], *younger = &c->change[i];

		if (younger->effect == EXTENDS && older->pid == younger->pid &&
		    older->fd == younger->fd)
			younger->closes_at_exec = older->closes_at_exec;
		if (younger->creates && older->fd >= 0 && older->pid == younger->pid &&
		    older->fd == younger->fd && older->effect != CLOSES &&
		    changes_state(c, *younger) == older)
			older->effect = IS_UNKNOWN;
	}
}

/*
 * If the program changed the descriptor while the recorder looked for it, the program's change may
 * be younger than the name that the recorder found. So the function drops this name. Otherwise the
 * descriptor had the name since the recorder began to look, unless events were lost in this time.
 * The array remains sorted, because no other change of the descriptor is in this time.
 */
static void place_found(struct changes *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct change *older = i ? &c->change[i - 1] : NULL;
		struct change *found = &c->change[i];
		int64_t since_ns;

		if (found->effect != FOUND ||
		    __builtin_sub_overflow(found->time_ns, (int64_t)found->from * 1000, &since_ns))
			continue;
		if (older && older->pid == found->pid && older->fd == found->fd &&
		    older->time_ns >= since_ns) {
			found->effect = KEEPS;
			found->from = found->fd;
		} else if (!has_gap(c, since_ns, found->time_ns)) {
			found->time_ns = since_ns;
		}
	}
}

/*
 * Makes a new name from three parts: the name 'before', the text 'between', and the name of the
 * change. Returns the offset of the new name.
 */
static uint32_t changes_join(struct changes *c, const struct change *change, uint32_t before,
			     const char *between)
{
	char name[2 * NAME_BYTES + 2];

	snprintf(name, sizeof(name), "%s%s%s", before ? c->text + before : "", between,
		 change->name ? c->text + change->name : "");
	name[NAME_BYTES - 1] = '\0';
	return changes_name(c, name, change->time_ns);
}

/*
 * Finds the name that a descriptor has after a change. The names of all changes before that time
 * must be known.
 */
static void find_name(struct changes *c, struct change *change)
{
	const struct change *of;
	struct change key = *change;
	uint32_t before;

	if (change->fd < 0)
		return;
	if (change->effect == FOUND) {
		change->effect = IS_NAMED;
		return;
	}
	key.fd = change->from;
	of = changes_state(c, key);
	before = of && of->effect == IS_NAMED ? of->name : 0;
	switch (change->effect) {
	case CREATES:
		/* If the folder has a name, the new name is that name, a slash and the path. */
		if (before)
			change->name = changes_join(c, change, before, "/");
		break;
	case KEEPS:
	case COPIES:
		change->name = before;
		break;
	case EXTENDS:
		change->closes_at_exec = of && of->closes_at_exec;
		__attribute__((fallthrough));
	case ACCEPTS:
		change->name = changes_join(c, change, before, before ? "" : "socket");
		break;
	default:
		change->name = 0;
	}
	change->effect = IS_NAMED;
}

/*
 * The array of changes, which compare_places() needs. qsort() cannot pass it as an argument. The
 * variable may be static, because only one thread reads a log.
 */
static const struct change *sorted; /* set by find_names() */

static int compare_places(const void *x, const void *y)
{
	return compare_times(&sorted[*(const uint32_t *)x], &sorted[*(const uint32_t *)y]);
}

/*
 * Stores the places of the changes in the order of time. 'added' is the number of changes that
 * were added; some of them have been removed since. 'place' has room for so many places.
 */
static void sort_places(const struct changes *c, size_t added, uint32_t *place)
{
	size_t count = 0;

	/* The order in which the changes were added is nearly the order of time. */
	memset(place, 0xff, added * sizeof(*place));
	for (size_t i = 0; i < c->count; i++)
		place[c->change[i].order] = (uint32_t)i;
	for (size_t i = 0; i < added; i++)
		if (place[i] != UINT32_MAX)
			place[count++] = place[i];
	sorted = c->change;
	nearly_sort(place, count, sizeof(*place), compare_places);
}

/*
 * Finds all names in the order of time. So the name of a descriptor is known before the names of
 * its copies are found, and a long chain of copies needs no recursion.
 */
static void find_names(struct changes *c, size_t added)
{
	uint32_t *place = malloc(added * sizeof(*place));

	if (!place) {
		forget_from(c, INT64_MIN);
		return;
	}
	sort_places(c, added, place);
	for (size_t i = 0; i < c->count; i++)
		find_name(c, &c->change[place[i]]);
	free(place);
}

void changes_sort(struct changes *c)
{
	const size_t added = c->count;

	if (!c->count)
		return;
	if (c->gaps)
		qsort(c->gap_ns, c->gaps, sizeof(*c->gap_ns), compare_gaps);
	group_changes(c);
	_Static_assert(sizeof(*c->change) <= NEARLY_SIZE_MAX, "nearly_sort() can move a change");
	nearly_sort(c->change, c->count, sizeof(*c->change), changes_compare);
	/*
	 * The order of these calls is necessary: drop_unclosed() needs the births of processes
	 * without repetitions, and find_names() must not copy the names that drop_unclosed() and
	 * place_found() drop.
	 */
	remove_repeated(c);
	place_found(c);
	drop_unclosed(c);
	find_names(c, added);
}

unsigned changes_at(const struct changes *c, struct change key)
{
	const struct change *change;
	unsigned count = 0;

	key.order = UINT32_MAX;
	change = last_before(c, &key);
	/*
	 * The loop ends at 2, because the caller distinguishes only between no change, one change
	 * and more than one.
	 */
	for (; change && change->time_ns == key.time_ns && count < 2; count++) {
		key.order = change->order;
		change = last_before(c, &key);
	}
	return count;
}
