/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_compare.c - compares two looks at a process, and notes the difference.
 *
 * Between two looks a range may have had other files for a while. The notes give a span of time to
 * a file only if the file certainly was there. For this process this is often certain, because the
 * dynamic linker counts every object that was loaded or unloaded.
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

/*
 * Returns true if two ranges are the same file at the same addresses. A reported range may lack the
 * path, the device and the inode. So for two reported ranges only the addresses are compared.
 */
static bool is_same_mapping(const struct ptx_mapped_range *a, const struct ptx_mapped_range *b)
{
	const struct ptx_mapping *x = &a->mapping, *y = &b->mapping;

	/* One of the two may lack what the comparison below needs. */
	if (a->is_reported && b->is_reported)
		return x->start == y->start && x->end == y->end;
	/*
	 * Identity and path are compared: a renamed file counts as another file, which does no
	 * harm.
	 */
	return x->start == y->start && x->end == y->end && x->offset == y->offset &&
	       a->device == b->device && a->inode == b->inode && !strcmp(x->path, y->path);
}

/* The search is linear, because a process usually has at most some hundred ranges. */
const struct ptx_mapped_range *ptx_mapped_find_same(const struct ptx_mapped_set *set,
						    const struct ptx_mapped_range *range)
{
	for (size_t i = 0; i < set->count; i++)
		if (is_same_mapping(&set->range[i], range))
			return &set->range[i];
	return NULL;
}

/* Returns true if two ranges of addresses have a byte in common. */
static bool mapped_compare_overlap(const struct ptx_mapping *a, const struct ptx_mapping *b)
{
	return a->start < b->end && b->start < a->end;
}

/* Returns true if no range of the set overlaps the mapping. */
static bool is_free(const struct ptx_mapped_set *set, const struct ptx_mapping *mapping)
{
	for (size_t i = 0; i < set->count; i++)
		if (mapped_compare_overlap(mapping, &set->range[i].mapping))
			return false;
	return true;
}

/*
 * Returns true if the object of the range may have been loaded since the old look. The linker adds
 * objects at the end of its list. If n objects were loaded since the old look, the last n objects
 * of the list may be new. This holds even if they are at the same place: they may have been
 * unloaded and loaded again. The object at position set->pinned is never unloaded and was already
 * loaded at the old look. The objects before it in the list are at least as old, so none of them is
 * new.
 */
static bool may_be_new(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set,
		       const struct ptx_mapped_range *range)
{
	/* The list has set->objects - range->object objects from this object to its end. */
	return range->object > set->pinned &&
	       set->adds - old->adds >= set->objects - range->object;
}

/* Returns the old range of a file that stayed mapped between both looks, or NULL. */
static const struct ptx_mapped_range *mapped_compare_stayed(const struct ptx_mapped_set *old,
							    const struct ptx_mapped_set *set,
							    const struct ptx_mapped_range *range)
{
	/* For other processes `adds` is 0. For them an equal range counts as the same file. */
	if (set->adds && may_be_new(old, set, range))
		return NULL;
	return ptx_mapped_find_same(old, range);
}

/* Returns true if the file of a range of the old look stayed mapped until the new look. */
static bool mapped_compare_stays(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set,
				 const struct ptx_mapped_range *range)
{
	/* The range of the new look in the same place. */
	const struct ptx_mapped_range *same = ptx_mapped_find_same(set, range);

	/*
	 * If the range may be new, the result is false: the file is noted as gone and then as new.
	 */
	return same && !(set->adds && may_be_new(old, set, same));
}

/*
 * Returns true if the two looks show every object that was loaded or unloaded between them. If they
 * do, the counts of the linker have grown by the numbers of new and missing objects. Only this
 * process has such counts.
 */
static bool is_exact(const struct ptx_mapped_set *old, const struct ptx_mapped_set *set)
{
	uint64_t loaded = 0, unloaded = 0;

	/* For another process there are no counts. */
	if (!set->adds)
		return false;
	for (size_t i = 0; i < set->count; i++)
		/* Each object is counted once, at its first range. */
		loaded +=
			set->range[i].is_object_start && !ptx_mapped_find_same(old, &set->range[i]);
	for (size_t i = 0; i < old->count; i++)
		/* Each object that was unloaded is counted once, too. */
		unloaded +=
			old->range[i].is_object_start && !ptx_mapped_find_same(set, &old->range[i]);
	return set->adds - old->adds == loaded && set->subs - old->subs == unloaded;
}

/*
 * Notes that a file is gone. The time is at least a nanosecond after the time from which on the
 * file was there.
 */
static void note_gone(const struct ptx_mapped_notes *notes, const struct ptx_mapping *mapping,
		      int64_t when_ns)
{
	struct ptx_mapping gone = *mapping;

	gone.kind = PTX_MAPPING_GONE;
	gone.path = NULL;
	/* If the file was seen only once, it counts as mapped for a nanosecond. */
	gone.from_ns = when_ns > mapping->from_ns ? when_ns : mapping->from_ns + 1;
	notes->put(notes->to, &gone);
}

/*
 * is_exact() and is_free() show whether another file can have been in a range between the looks. If
 * that is possible, a file that is gone is noted as mapped until the old look, and a new file as
 * mapped since the new look. Otherwise, a file that is gone is noted as mapped until the new look,
 * and a new file as mapped since the old look.
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
		const struct ptx_mapped_range *same =
			mapped_compare_stayed(old, set, &set->range[i]);
		struct ptx_mapping *added = &set->range[i].mapping;

		/* The file keeps the time from which on it is known. */
		if (same) {
			added->from_ns = same->mapping.from_ns;
			continue;
		}
		added->from_ns = exact && is_free(old, added) ? old->before_ns : set->after_ns;
		notes->put(notes->to, added);
	}
}

/*
 * Called for a process that was not looked at before. If since_ns is 0, its ranges count as mapped
 * since set->after_ns.
 */
void ptx_mapped_first(const struct ptx_mapped_notes *notes, struct ptx_mapped_set *set,
		      int64_t since_ns)
{
	for (size_t i = 0; i < set->count; i++) {
		struct ptx_mapping *added = &set->range[i].mapping;

		/* since_ns is 0 if it is unknown when the mapping began. */
		added->from_ns = since_ns ? since_ns : set->after_ns;
		notes->put(notes->to, added);
	}
}

/*
 * A report replaces all ranges that it overlaps. The set does not keep the path of the report,
 * because the report in the log has the path. After ENOMEM the overlapped ranges are removed, and
 * the set does not have the reported range.
 */
int ptx_mapped_set_report(struct ptx_mapped_set *set, const struct ptx_mapping *mapping)
{
	struct ptx_mapped_range *more;
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++)
		/* The report is newer than every range that it overlaps. */
		if (!mapped_compare_overlap(&set->range[i].mapping, mapping))
			/*
			 * The copy within the array is safe, because `kept` is never greater than
			 * `i`.
			 */
			set->range[kept++] = set->range[i];
	set->count = kept;
	/* The report counts as a look that the process made at itself at this time. */
	set->before_ns = mapping->from_ns;
	/* A report of kind GONE only removes ranges. */
	if (mapping->kind != PTX_MAPPING_FILE)
		return 0;
	/* The array grows by one range only, because reports are rare. */
	more = realloc(set->range, (kept + 1) * sizeof *more);
	if (!more)
		return ENOMEM;
	set->range = more;
	more += set->count++;
	memset(more, 0, sizeof *more);
	more->mapping = *mapping;
	/* The path of the report is not in memory of the set. */
	more->mapping.path = "";
	more->is_reported = true;
	return 0;
}
