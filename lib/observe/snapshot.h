/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot.h - a stream as of one moment: a copy of its region in private memory. A drain
 * can read all events of the copy.
 *
 * The observer stops no process and delivers no event. It chooses a moment shortly before the copy.
 * The copy has the events that a reader could have got at this moment. These are the undelivered
 * events of every ring up to the moment, except the events that were overwritten while the copy was
 * made. observe/DESIGN 1 shows why no other event is missing.
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
	struct ptx_arena arena;     /* refers to `control` and `lists`; it has no file */
	struct ptx_attachment attachment;
	/* the region's stream info, or defaults if that info is not valid */
	struct ptx_stream_info info;
	/* the region's calibration if it is valid; otherwise a replacement */
	struct ptx_calibration calibration;
	/* the clock's time when the copy was made; ticks 0: not known */
	struct ptx_anchor now;
	struct ptx_rings rings;
	uint64_t moment;  /* no event in the copy is younger; UINT64_MAX: the copy has all events */
	uint64_t latest;  /* time of the latest event */
	uint64_t consumed; /* number of records that readers had delivered before the copy */
	uint64_t damaged; /* number of records that cannot be read */
	bool is_even;     /* the counts in the copy are exact: no chunk or count is missing */
};

/*
 * Copies the stream at the place `bit` of the arena. Returns ESRCH if the place does not have the
 * generation `generation` any more, EINVAL if the sizes of the stream are impossible, EAGAIN if the
 * writers overwrote the stream faster than it could be copied, EIO if the image cannot be read, or
 * ENOMEM. ptx_snapshot_drop() frees a copy.
 */
int ptx_snapshot_take(const struct ptx_image *image, unsigned bit, uint64_t generation,
		      struct ptx_snapshot **snapshot);
void ptx_snapshot_drop(struct ptx_snapshot *snapshot);

#endif
