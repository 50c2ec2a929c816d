/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stack_plan.c - parses --stack and passes it to the preload library. */
#include "live/stack_plan.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/say.h"
#include "base/vec.h"
#include "live/capture.h"
#include "log/preload_types.h"
#include "../../../lib/preload/stack_copy.h" /* the names in the list of families, and the limits */

#define LEAST_BYTES 1024
#define STREAM_SIZE ((size_t)32 << 20) /* memory that is never used costs nothing */

enum { STACK_GLOB = 1300, STACK_BYTES };

const struct option_row stack_rows[] = {
	{ "stack", STACK_GLOB, "[=GLOB]",
		"record also the call stack of each call whose event type matches; without a "
		"pattern of all calls; may be repeated",
		OPTION_EVENT, CAPTURE_PATTERNS },
	{ "stack-bytes", STACK_BYTES, "BYTES",
		"the bytes of a stack that a call copies for --stack: 8K, or from 1K to 32K" },
	OPTION_END
};

/*
 * A pattern that matches no type is an error, because it is probably mistyped. A pattern with a
 * comma, or one that is too long, cannot be passed on in the list of families.
 */
static bool stack_take_glob(struct stack_plan *plan, const char *glob)
{
	const char *const *type = preload_types;

	if (!SHIM_STACK_REGISTERS) {
		say("--stack: stacks are not recorded on this processor");
		return false;
	}
	while (*type && fnmatch(glob, *type, 0))
		type++;
	if (!*type || strchr(glob, ',') || strlen(glob) >= SHIM_STACK_PATTERN) {
		say("--stack=%s: no event type of a call matches; there are " CAPTURE_PATTERNS,
		    glob);
		return false;
	}
	if (!vec_grow(&plan->glob, plan->globs, 1)) {
		say("--stack: %s", strerror(ENOMEM));
		return false;
	}
	plan->glob[plan->globs++] = glob;
	return true;
}

static bool stack_take_bytes(struct stack_plan *plan, const char *text)
{
	if (!quantity_bytes("--stack-bytes", text, &plan->bytes))
		return false;
	if (plan->bytes >= LEAST_BYTES && plan->bytes <= SHIM_STACK_MAX)
		return true;
	say("--stack-bytes %s: from %d to %d bytes of a stack can be copied", text, LEAST_BYTES,
	    SHIM_STACK_MAX);
	return false;
}

int stack_take_option(struct stack_plan *plan, int option, const char *arg)
{
	switch (option) {
	case STACK_GLOB:
		return stack_take_glob(plan, arg ? arg : "*") ? 1 : -1;
	case STACK_BYTES:
		return stack_take_bytes(plan, arg) ? 1 : -1;
	}
	return 0;
}

bool stack_is_planned(const struct stack_plan *plan, const char *type)
{
	for (size_t i = 0; i < plan->globs; i++)
		if (!fnmatch(plan->glob[i], type, 0))
			return true;
	return false;
}

bool stack_add(const struct stack_plan *plan, const char **families, struct capture_plan *capture)
{
	const size_t bytes = plan->bytes ? plan->bytes : SHIM_STACK_BYTES;

	for (size_t i = 0; i <= plan->globs; i++) {
		const char *list = *families ? *families : "default";
		char *longer;
		int len = i < plan->globs ?
			  asprintf(&longer, "%s," SHIM_STACK_NAME "%s", list, plan->glob[i]) :
			  asprintf(&longer, "%s," SHIM_STACK_BYTES_NAME "%zu", list, bytes);

		if (len < 0) {
			say("%s", strerror(ENOMEM));
			return false;
		}
		free((void *)*families);
		*families = longer;
	}
	capture->content += bytes + sizeof(struct shim_stack_copy) + sizeof(struct shim_stack_end);
	if (capture->stream_size == CAPTURE_STREAM_SIZE)
		capture->stream_size = STREAM_SIZE;
	return true;
}
