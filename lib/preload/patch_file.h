/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_file.h - maps and checks a plan, whose format is in patch_plan.h.
 *
 * Threads   one thread at a time.
 * Errors    errno may change.
 */
#ifndef PTX_PRELOAD_PATCH_FILE_H
#define PTX_PRELOAD_PATCH_FILE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/patch_plan.h"

struct shim_plan {
	const struct shim_plan_head *head; /* NULL: there is none */
	const struct shim_plan_module *module;
	const struct shim_plan_site *site;
	const struct shim_plan_type *type;
	const struct shim_plan_argument *argument;
	const char *text;
};

/*
 * Maps a plan. Returns NULL, or the reason why the plan cannot be used. In the second case nothing
 * remains mapped.
 */
const char *shim_plan_map(struct shim_plan *plan, const char *path);

/*
 * Like shim_plan_map(), for a plan that is in memory already. After an error the caller still owns
 * the memory.
 */
const char *shim_plan_take(struct shim_plan *plan, const void *memory, size_t bytes);

/* Returns whether a loaded object is this module, and not another build of it. */
bool shim_plan_is_module(const struct shim_plan_module *module, const struct dl_phdr_info *object);

/* Finds the part of the plan for a loaded object; NULL: there is none. */
const struct shim_plan_module *shim_plan_module_of(const struct shim_plan *plan,
						   const struct dl_phdr_info *object);

#endif
