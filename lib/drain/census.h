/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/census.h - visits each undelivered event of a stream once, and delivers none of them.
 *
 * Threads   the caller holds the stream's lock.
 */
#ifndef PTX_DRAIN_CENSUS_H
#define PTX_DRAIN_CENSUS_H

#include "drain/drain.h"

struct ptx_census {
	struct ptx_drain *drain;
	/*
	 * number of records that the rings had published when the census began, including those
	 * that were delivered
	 */
	uint64_t published;
	/*
	 * how many more chunks the census may copy; enough for any pool, and a bound if the chain
	 * of chunks is hostile
	 */
	uint64_t looks_left;
	void *arg;
	/* Called for each event. `control` is true if the event is in the controller's ring. */
	void (*event)(void *arg, const struct ptx_record *record, const struct ptx_ident *ident,
		      bool control);
};

/*
 * Calls event() for each undelivered event that was published when the census began. Returns 0 or
 * ENOMEM.
 */
int ptx_census_take(struct ptx_census *census);

/*
 * The states of the stream at times that delivery has not reached, in the order of time. They are
 * made from the marks that change the state.
 */
struct ptx_moments {
	size_t count;
	struct ptx_moment {
		uint64_t ticks; /* the stream is in this state from this time on */
		bool running, full;
	} *moment;          /* moment[0] is the state that delivery has reached */
};

/* ptx_moments_make() returns false if memory is lacking. */
bool ptx_moments_make(const struct ptx_drain *drain, struct ptx_moments *moments);
void ptx_moments_free(struct ptx_moments *moments);
/* Returns the index of the last moment that is not later than `ticks`. */
size_t ptx_moments_at(const struct ptx_moments *moments, uint64_t ticks);

#endif
