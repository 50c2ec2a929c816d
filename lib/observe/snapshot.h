/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot.h - a stream as it was at one moment: a copy of its region in private memory,
 * which a drain can read to the end.
 *
 * Nobody is stopped and nothing is read away. What the copy holds is what a reader would have got
 * at that moment: of every ring what was not taken yet, up to the moment, and back to where it was
 * overwritten while the copy was made. DESIGN 1 says why that has no hole.
 *
 * Everything in it has been checked: chunks are in the order of their rings, heads lie behind whole
 * records, links lead on. What had to be left out is counted.
 *
 * Threads   all, each with a copy of its own.
 */
#ifndef PTX_OBSERVE_SNAPSHOT_H
#define PTX_OBSERVE_SNAPSHOT_H

#include "arena/arena.h"
#include "observe/image.h"
#include "observe/stream_info.h"

struct ptx_snapshot {
	struct ptx_control control; /* copies */
	struct ptx_lists lists;
	struct ptx_arena arena;     /* of these two: no file */
	struct ptx_attachment attachment;
	struct ptx_stream_info info; /* what the region says of itself, or what can be guessed */
	struct ptx_calibration calibration; /* such that it can be counted with */
	struct ptx_anchor now;      /* ticks 0: not known */
	struct ptx_rings rings;
	uint64_t moment;  /* no event is younger; UINT64_MAX: all there are */
	uint64_t latest;  /* time of the latest event */
	uint64_t taken;   /* records that readers had taken */
	uint64_t damaged; /* records that cannot be read */
	bool is_even;     /* how many records there were up to the moment is certain */
};

/*
 * The stream at bit, if that still is of that generation (ESRCH). ENOMEM; EINVAL: it is none;
 * EAGAIN: it was overwritten again and again before it could be copied; EIO: it cannot be read.
 */
int ptx_snapshot_take(const struct ptx_image *image, unsigned bit, uint64_t generation,
		      struct ptx_snapshot **snapshot);
void ptx_snapshot_drop(struct ptx_snapshot *snapshot);

#endif
