/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_place.h - decides how the places of USDT probes can be patched.
 *
 * A probe is a NOP. A NOP of 5 bytes is replaced by a jump. For a NOP of a single byte there are
 * two ways:
 *
 * 	move   the jump also replaces instructions behind the NOP, or before it; these run
 * 	       elsewhere. Nothing may lead into them: no branch of the file, no table, pointer,
 * 	       symbol or landing pad.
 * 	byte   only the NOP is replaced, by the first byte of a jump. The bytes behind the
 * 	       NOP remain and become the distance of the jump. So the memory at the target of the
 * 	       jump must be free, which depends on the process. But nothing needs to be proven
 * 	       about the code.
 */
#ifndef POSIXTRACE_FUNCTIONS_PROBE_PLACE_H
#define POSIXTRACE_FUNCTIONS_PROBE_PLACE_H

#include "functions/patchable.h"

struct probe_place {
	struct binary_probe probe;
	enum patch_method method;
	const char *why;             /* for PATCH_REFUSED: the reason */
	/* for all other methods: the plan of the probe's site, without arguments */
	struct shim_plan_site site;
	/* the member "before" is valid; it is the site of the instructions before the place */
	bool has_before;
	struct shim_plan_site before;
};

/*
 * Decides how all places of a file can be patched. The places must be in the order of their
 * addresses. The function examines them together, so that the whole file is decoded only once.
 */
void probe_places(struct binary_file *file, struct probe_place *place, size_t count);

/*
 * Shortens the moved code of a site to the instructions before "end", which is the place of a probe
 * within the site. Returns false if this is impossible; in this case the site is unchanged.
 */
bool probe_place_cut(const struct binary_file *file, struct shim_plan_site *site, uint64_t end);

#endif
