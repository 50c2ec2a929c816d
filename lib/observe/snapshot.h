/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot.h - a stream as of one moment: a copy of its region in private memory, which a
 * drain can read to its end.
 *
 * The observer stops no process and delivers no event. The copy has what a reader would have got at
 * that moment: the undelivered events of every ring up to the moment, except those that were
 * overwritten while the copy was made. DESIGN 1 shows why no event is missing in between.
 *
 * Everything in the copy has been checked: the chunks of a ring are in order, each head is behind a
 * whole record, and links lead to younger chunks only. Records that had to be omitted are counted.
 *
 * Threads   any, each with a copy of its own.
 */
#ifndef PTX_OBSERVE_SNAPSHOT_H
#define PTX_OBSERVE_SNAPSHOT_H

#include "arena/arena.h"
#include "observe/image.h"
#include "observe/stream_info.h"

struct ptx_snapshot {
	struct ptx_control control; /* copies */
	struct ptx_lists lists;
	struct ptx_arena arena;     /* made of `control` and `lists`; it has no file */
	struct ptx_attachment attachment;
	struct ptx_stream_info info; /* the region's info, or defaults if that is not valid */
	struct ptx_calibration calibration; /* checked, or replaced by a usable one */
	struct ptx_anchor now;      /* the time of the copy; ticks 0: not known */
	struct ptx_rings rings;
	uint64_t moment;  /* no event in the copy is younger; UINT64_MAX: the copy has all events */
	uint64_t latest;  /* time of the latest event */
	uint64_t consumed; /* number of records that readers had delivered */
	uint64_t damaged; /* number of records that cannot be read */
	bool is_even;     /* the number of records up to the moment is exact */
};

/*
 * Copies the stream at the place `bit`. Returns ESRCH if the place does not have that generation
 * any more, EINVAL if the sizes of the stream are impossible, EAGAIN if the writers overwrote the
 * stream faster than it could be copied, EIO if the image cannot be read, or ENOMEM.
 * ptx_snapshot_drop() frees a copy.
 */
int ptx_snapshot_take(const struct ptx_image *image, unsigned bit, uint64_t generation,
		      struct ptx_snapshot **snapshot);
void ptx_snapshot_drop(struct ptx_snapshot *snapshot);

#endif
