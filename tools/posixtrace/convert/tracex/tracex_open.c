/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_open.c - opens one dump of a file, and finds the next dump behind it.
 *
 * Some firmware appends the buffer to the same file each time it is full. Between two dumps there
 * can be further bytes of the target's memory, but fewer bytes than an entry has.
 */
#include <errno.h>
#include <string.h>

#include "convert/tracex/tracex_part.h"

/* Returns the offset behind the last whole entry of this dump. */
static size_t end_of(const struct tracex *d)
{
	return d->entries_at + d->entries * d->entry_bytes;
}

/*
 * Returns the offset of the next dump, or the size if there is no further dump. Dumps are aligned
 * to 4 bytes.
 */
static size_t find_next(const struct tracex *d)
{
	size_t end = end_of(d);

	for (size_t slack = 0; slack < d->entry_bytes && end + slack < d->size; slack += 4)
		if (tracex_is(d->bytes + end + slack, d->size - end - slack))
			return end + slack;
	return d->size;
}

/*
 * Reports another dump, or other bytes, behind this dump. Fewer bytes than TRACEX_ENTRY_BYTES are
 * not reported. Behind an incomplete dump there are no bytes, because the file ends within the
 * dump.
 */
static void check_surplus(const struct tracex *d, unsigned part, struct findings *f)
{
	size_t end = end_of(d), next = find_next(d);

	if (d->entries < d->entries_wanted || d->size - end < TRACEX_ENTRY_BYTES)
		return;
	if (next < d->size)
		finding(f, FINDING_WARNING, "T21", d->at + next,
			"another dump follows: --part=%u reads it", part + 1);
	else
		finding(f, FINDING_WARNING, "T21", d->at + end,
			"bytes behind the buffer are not read: %zu", d->size - end);
}

/*
 * Skips the dumps before the selected dump. The function finds their sizes, but does not report
 * their faults. Each step moves forward by at least an entry, so a hostile file cannot make the
 * loop endless.
 */
static int skip_parts(struct tracex *d, unsigned parts, struct findings *f)
{
	for (unsigned i = 0; i < parts; i++) {
		struct tracex skipped = *d;
		size_t next;

		if (tracex_layout(&skipped, NULL))
			return finding(f, FINDING_REFUSAL, "T21", d->at,
				       "part %u cannot be read, so the parts behind it cannot be "
				       "found",
				       i + 1);
		next = find_next(&skipped);
		if (next == d->size)
			return finding(f, FINDING_REFUSAL, "T21", d->at,
				       "the file has no part %u; its last one is %u", parts + 1,
				       i + 1);
		d->bytes += next;
		d->size -= next;
		d->at += next;
	}
	return 0;
}

/*
 * Calls the steps in the order of tracex_part.h, because each step relies on the checks of the
 * steps before it. The steps after tracex_layout() never refuse the dump.
 */
int tracex_open(struct tracex *d, const unsigned char *bytes, size_t size,
		const struct tracex_options *options, struct findings *f)
{
	unsigned part = options->part ? options->part : 1;

	memset(d, 0, sizeof(*d));
	d->bytes = bytes;
	d->size = size;
	if (skip_parts(d, part - 1, f) || tracex_layout(d, f))
		return EINVAL;
	if (tracex_check_registry(d, f))
		return ENOMEM;
	tracex_check_entries(d, options, f);
	tracex_check_time(d, options, f);
	check_surplus(d, part, f);
	return 0;
}
