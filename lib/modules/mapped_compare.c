/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_compare.c - compares two looks at a process, and notes the difference.
 *
 * Between two looks a range may have had other files for a while. A time is given to a file only if
 * the file certainly was there. For this process this is often certain, because the dynamic linker
 * counts every object that was loaded or unloaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modules/mapped_set.h"

/* The set may be used again afterwards. */
void ptx_mapped_set_fini(struct ptx_mapped_set *set)
{
	free(set->range);
	free(set->text);
	set->range = NULL;
	set->text = NULL;
	set->count = 0;
}

/* Two reported ranges have no device and inode, so their addresses must be enough. */
static bool is_twin(const struct ptx_mapped_range *a, const struct ptx_mapped_range *b)
{
	const struct ptx_mapping *x = &a->mapping, *y = &b->mapping;

	/* Neither has a device or an inode. */
	if (a->is_told && b->is_told)
		return x->start == y->start && x->end == y->end;
	/*
	 * Identity and path are compared: a renamed file counts as another one, which
	 * does no harm.
	 */
	return x->start == y->start && x->end == y->end && x->offset == y->offset &&
	       a->device == b->device && a->inode == b->inode && !strcmp(x->path, y->path);
}

/* A linear search: a process has some hundred ranges at most, usually. */
const struct ptx_mapped_range *ptx_mapped_twin(const struct ptx_mapped_set *set,
					       const struct ptx_mapped_range *range)
{
	for (size_t i = 0; i < set->count; i++)
		if (is_twin(&set->range[i], range))
			return &set->range[i];
	return NULL;
}

/* Whether two ranges of addresses have a byte in common. */
static bool mapped_compare_overlap(const struct ptx_mapping *a, const struct ptx_mapping *b)
{
	return a->start < b->end && b->start < a->end;
}

/* Whether no range of the set overlaps the mapping. */
static bool is_free(const struct ptx_mapped_set *set, const struct ptx_mapping *mapping)
{
	for (size_t i = 0; i < set->count; i++)
		if (mapped_compare_overlap(mapping, &set->range[i].mapping))
			return false;
	return true;
}

/*
 * The linker adds objects at the end of its list. If n objects were loaded since the old look, the
 * last n objects of the list may be new. This holds even if they are at the same place: they may
 * have been unloaded and loaded again. An object before one that cannot be unloaded is older than
 * that one.
 */
static bool may_be_new(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set,
		       const struct ptx_mapped_range *range)
{
	/* This object and those behind it are set->objects - range->object objects. */
	return range->object > set->pinned &&
	       set->adds - old->adds >= set->objects - range->object;
}

/* Returns the old range of a file that stayed mapped between both looks, or NULL. */
static const struct ptx_mapped_range *mapped_compare_stayed(const struct ptx_mapped_set *old,
							    const struct ptx_mapped_set *set,
							    const struct ptx_mapped_range *range)
{
	/* adds is 0 for other processes: there equal ranges count as the same file. */
	if (set->adds && may_be_new(old, set, range))
		return NULL;
	return ptx_mapped_twin(old, range);
}

/* Whether the file of a range of the old look stayed mapped up to the new look. */
static bool mapped_compare_stays(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set,
				 const struct ptx_mapped_range *range)
{
	/* The range of the new look in the same place. */
	const struct ptx_mapped_range *twin = ptx_mapped_twin(set, range);

	/* A range that may be new is noted as gone, and then as new. */
	return twin && !(set->adds && may_be_new(old, set, twin));
}

/*
 * Whether the two looks show every object that was loaded or unloaded between them. If they do, the
 * counts of the linker have grown by the numbers of new and missing objects. Only this process has
 * such counts.
 */
static bool is_exact(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set)
{
	uint64_t came = 0, went = 0;

	/* Another process: nothing counts its objects. */
	if (!set->adds)
		return false;
	for (size_t i = 0; i < set->count; i++)
		/* Each object is counted once, at its first range. */
		came += set->range[i].heads && !ptx_mapped_twin(old, &set->range[i]);
	for (size_t i = 0; i < old->count; i++)
		/* Each object that was unloaded is counted once, too. */
		went += old->range[i].heads && !ptx_mapped_twin(set, &old->range[i]);
	return set->adds - old->adds == came && set->subs - old->subs == went;
}

/* Notes that a file is gone, at least a nanosecond after it was there. */
static void note_gone(const struct ptx_mapped_notes *notes, const struct ptx_mapping *mapping,
		      int64_t when_ns)
{
	struct ptx_mapping gone = *mapping;

	gone.kind = PTX_MAPPING_GONE;
	gone.path = NULL;
	/* A file that was seen once was mapped for a moment. */
	gone.from_ns = when_ns > mapping->from_ns ? when_ns : mapping->from_ns + 1;
	notes->put(notes->to, &gone);
}

/*
 * A file that is gone was there until the old look, or until the new one if nothing else can have
 * been in its range. A new file is there since the new look, or since the old look if nothing else
 * can have been in its range.
 */
void ptx_mapped_compare(const struct ptx_mapped_notes *notes, const struct ptx_mapped_set *old,
			struct ptx_mapped_set *set)
{
	bool exact = is_exact(old, set);

	for (size_t i = 0; i < old->count; i++) {
		const struct ptx_mapping *gone = &old->range[i].mapping;

		/* The notes that files are gone come first: new files may use their ranges. */
		if (!mapped_compare_stays(old, set, &old->range[i]))
			note_gone(notes, gone, exact && is_free(set, gone) ? set->before_ns :
									       old->before_ns);
	}
	/* Files that stay keep their time; the others are new. */
	for (size_t i = 0; i < set->count; i++) {
		const struct ptx_mapped_range *twin =
			mapped_compare_stayed(old, set, &set->range[i]);
		struct ptx_mapping *came = &set->range[i].mapping;

		/* The file keeps the time from which on it is known. */
		if (twin) {
			came->from_ns = twin->mapping.from_ns;
			continue;
		}
		came->from_ns = exact && is_free(old, came) ? old->before_ns : set->after_ns;
		notes->put(notes->to, came);
	}
}

/* Called for a process that was not looked at before. Its ranges were mapped at set->after_ns. */
void ptx_mapped_first(const struct ptx_mapped_notes *notes, struct ptx_mapped_set *set,
		      int64_t since_ns)
{
	for (size_t i = 0; i < set->count; i++) {
		struct ptx_mapping *came = &set->range[i].mapping;

		/* since_ns is 0 if it is unknown when the mapping began. */
		came->from_ns = since_ns ? since_ns : set->after_ns;
		notes->put(notes->to, came);
	}
}

/*
 * A report replaces all ranges that it overlaps. The path is not kept: the report itself is in the
 * log. On ENOMEM the range is unknown.
 */
int ptx_mapped_set_report(struct ptx_mapped_set *set, const struct ptx_mapping *mapping)
{
	struct ptx_mapped_range *more;
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++)
		/* The report is newer than every range that it overlaps. */
		if (!mapped_compare_overlap(&set->range[i].mapping, mapping))
			/* In place: kept is never greater than i. */
			set->range[kept++] = set->range[i];
	set->count = kept;
	/* The report is a look of the process at itself at this time. */
	set->before_ns = mapping->from_ns;
	/* A report of kind GONE only removes ranges. */
	if (mapping->kind != PTX_MAPPING_FILE)
		return 0;
	/* One more range; reports are rare. */
	more = realloc(set->range, (kept + 1) * sizeof *more);
	if (!more)
		return ENOMEM;
	set->range = more;
	more += set->count++;
	memset(more, 0, sizeof *more);
	more->mapping = *mapping;
	/* The path of the report is not the set's memory. */
	more->mapping.path = "";
	more->is_told = true;
	return 0;
}
