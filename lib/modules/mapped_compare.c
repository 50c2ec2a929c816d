/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* modules/mapped_compare.c - what came and went between two looks at a process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modules/mapped_set.h"

void ptx_mapped_set_fini(struct ptx_mapped_set *set)
{
	free(set->range);
	free(set->text);
	set->range = NULL;
	set->text = NULL;
	set->count = 0;
}

static bool is_twin(const struct ptx_mapped_range *a, const struct ptx_mapped_range *b)
{
	const struct ptx_mapping *x = &a->mapping, *y = &b->mapping;

	if (a->is_told && b->is_told)
		return x->start == y->start && x->end == y->end;
	return x->start == y->start && x->end == y->end && x->offset == y->offset &&
	       a->device == b->device && a->inode == b->inode && !strcmp(x->path, y->path);
}

const struct ptx_mapped_range *ptx_mapped_twin(const struct ptx_mapped_set *set,
					       const struct ptx_mapped_range *range)
{
	for (size_t i = 0; i < set->count; i++)
		if (is_twin(&set->range[i], range))
			return &set->range[i];
	return NULL;
}

static bool overlap(const struct ptx_mapping *a, const struct ptx_mapping *b)
{
	return a->start < b->end && b->start < a->end;
}

static bool is_free(const struct ptx_mapped_set *set, const struct ptx_mapping *mapping)
{
	for (size_t i = 0; i < set->count; i++)
		if (overlap(mapping, &set->range[i].mapping))
			return false;
	return true;
}

/*
 * The linker puts what it loads at the end of its list. What stands there may have come since the
 * old look, even if it was in the same place then: it may have gone and come again. Not so what
 * stands before something that stays.
 */
static bool may_be_new(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set,
		       const struct ptx_mapped_range *range)
{
	return range->object > set->pinned &&
	       set->adds - old->adds >= set->objects - range->object;
}

/* Of two looks, the new one's range that was there in the old one, and the other way. */
static const struct ptx_mapped_range *stayed(const struct ptx_mapped_set *old,
					     const struct ptx_mapped_set *set,
					     const struct ptx_mapped_range *range)
{
	if (set->adds && may_be_new(old, set, range))
		return NULL;
	return ptx_mapped_twin(old, range);
}

static bool stays(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set,
		  const struct ptx_mapped_range *range)
{
	const struct ptx_mapped_range *twin = ptx_mapped_twin(set, range);

	return twin && !(set->adds && may_be_new(old, set, twin));
}

/* Nothing came and went between the looks but what they show: of this process that can be told. */
static bool is_exact(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set)
{
	uint64_t came = 0, went = 0;

	if (!set->adds)
		return false;
	for (size_t i = 0; i < set->count; i++)
		came += set->range[i].heads && !ptx_mapped_twin(old, &set->range[i]);
	for (size_t i = 0; i < old->count; i++)
		went += old->range[i].heads && !ptx_mapped_twin(set, &old->range[i]);
	return set->adds - old->adds == came && set->subs - old->subs == went;
}

/* Never before it came: a file that was seen once was there for a moment. */
static void note_gone(const struct ptx_mapped_notes *notes, const struct ptx_mapping *mapping,
		      int64_t when_ns)
{
	struct ptx_mapping gone = *mapping;

	gone.kind = PTX_MAPPING_GONE;
	gone.path = NULL;
	gone.from_ns = when_ns > mapping->from_ns ? when_ns : mapping->from_ns + 1;
	notes->put(notes->to, &gone);
}

void ptx_mapped_compare(const struct ptx_mapped_notes *notes, const struct ptx_mapped_set *old,
			struct ptx_mapped_set *set)
{
	bool exact = is_exact(old, set);

	for (size_t i = 0; i < old->count; i++) {
		const struct ptx_mapping *gone = &old->range[i].mapping;

		if (!stays(old, set, &old->range[i]))
			note_gone(notes, gone, exact && is_free(set, gone) ? set->before_ns :
									       old->before_ns);
	}
	for (size_t i = 0; i < set->count; i++) {
		const struct ptx_mapped_range *twin = stayed(old, set, &set->range[i]);
		struct ptx_mapping *came = &set->range[i].mapping;

		if (twin) {
			came->from_ns = twin->mapping.from_ns;
			continue;
		}
		came->from_ns = exact && is_free(old, came) ? old->before_ns : set->after_ns;
		notes->put(notes->to, came);
	}
}

void ptx_mapped_first(const struct ptx_mapped_notes *notes, struct ptx_mapped_set *set,
		      int64_t since_ns)
{
	for (size_t i = 0; i < set->count; i++) {
		struct ptx_mapping *came = &set->range[i].mapping;

		came->from_ns = since_ns ? since_ns : set->after_ns;
		notes->put(notes->to, came);
	}
}

int ptx_mapped_set_report(struct ptx_mapped_set *set, const struct ptx_mapping *mapping)
{
	struct ptx_mapped_range *more;
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++)
		if (!overlap(&set->range[i].mapping, mapping))
			set->range[kept++] = set->range[i];
	set->count = kept;
	set->before_ns = mapping->from_ns;
	if (mapping->kind != PTX_MAPPING_FILE)
		return 0;
	more = realloc(set->range, (kept + 1) * sizeof *more);
	if (!more)
		return ENOMEM;
	set->range = more;
	more += set->count++;
	memset(more, 0, sizeof *more);
	more->mapping = *mapping;
	more->mapping.path = "";
	more->is_told = true;
	return 0;
}
