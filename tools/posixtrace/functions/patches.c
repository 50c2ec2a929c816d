/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patches.c - selects functions by patterns and writes their plan.
 *
 * The sites of a module follow each other in plan->site; module.first and module.sites say where.
 * The whole plan is made before the program starts or is attached, so that the shim needs no
 * decision.
 */
#include "functions/patches.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/say.h"
#include "base/vec.h"
#include "symbols/demangle.h"

/*
 * The last @ begins the module, so that the glob may contain one. The text of the module is not
 * copied: it is part of argv.
 */
bool patches_add(struct patches *plan, const char *text)
{
	const char *at = strrchr(text, '@');
	struct patches_pattern pattern = {
		.glob = at ? strndup(text, (size_t)(at - text)) : strdup(text),
		.module = at ? at + 1 : NULL,
	};

	if (!*text || at == text || (at && !at[1])) {
		say("--function %s: not GLOB or GLOB@MODULE", text);
		free(pattern.glob);
		return false;
	}
	if (!pattern.glob || !vec_grow(&plan->pattern, plan->patterns, 1)) {
		say("%s", strerror(ENOMEM));
		free(pattern.glob);
		return false;
	}
	plan->pattern[plan->patterns++] = pattern;
	return true;
}

/*
 * Compares with the linker's name first. The parameters of a C++ function need not be in the
 * pattern. A name that cannot be demangled, also for lack of memory, matches only as it is.
 */
bool patches_matches(const char *glob, const char *name)
{
	char *source, *end;
	bool matches = fnmatch(glob, name, 0) == 0;

	if (matches || strncmp(name, "_Z", 2) != 0)
		return matches;
	source = demangle(name);
	if (!source)
		return false;
	matches = fnmatch(glob, source, 0) == 0;
	end = strchr(source, '(');
	if (!matches && end) {
		*end = '\0';
		matches = fnmatch(glob, source, 0) == 0;
	}
	free(source);
	return matches;
}

/* Returns whether a pattern's module is the file, by its path or by its name in its folder. */
static bool is_of_module(const struct patches_pattern *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');

	return !pattern->module || fnmatch(pattern->module, path, 0) == 0 ||
	       fnmatch(pattern->module, slash ? slash + 1 : path, 0) == 0;
}

/* Returns whether a pattern selects the function. by_name: only patterns that name the module. */
static bool is_selected(const struct patches *plan, const char *path, const char *name,
			bool by_name)
{
	for (size_t i = 0; i < plan->patterns; i++) {
		const struct patches_pattern *pattern = &plan->pattern[i];

		if ((!by_name || pattern->module) && is_of_module(pattern, path) &&
		    patches_matches(pattern->glob, name))
			return true;
	}
	return false;
}

/*
 * Counts a refusal. Returns false without memory. The texts are constants, and there are few of
 * them, so a linear search is enough.
 */
static bool note_refusal(struct patches *plan, const char *why)
{
	plan->refused++;
	for (size_t i = 0; i < plan->reasons; i++)
		if (!strcmp(plan->reason[i].why, why)) {
			plan->reason[i].count++;
			return true;
		}
	if (!vec_grow(&plan->reason, plan->reasons, 1))
		return false;
	plan->reason[plan->reasons++] = (struct patches_reason){ why, 1 };
	return true;
}

/* Returns false without memory. The shim refuses a plan with more than SHIM_PLAN_SITES. */
static bool add_site(struct patches *plan, const struct patchable *is)
{
	if (plan->sites == SHIM_PLAN_SITES)
		return note_refusal(plan, "there are too many");
	if (!vec_grow(&plan->site, plan->sites, 1))
		return false;
	plan->site[plan->sites++] = is->site;
	plan->functions += is->site.kind == SHIM_SITE_FUNCTION;
	return true;
}

/* The hook of a function that leaves frames for good; SHIM_SITE_FUNCTION: it is none. */
static enum shim_site_kind kind_of(const char *name)
{
	if (!strcmp(name, "__cxa_throw") || !strcmp(name, "__cxa_rethrow") ||
	    !strcmp(name, "_Unwind_ForcedUnwind"))
		return SHIM_SITE_THROW;
	if (!strcmp(name, "siglongjmp") || !strcmp(name, "__longjmp_chk"))
		return SHIM_SITE_JUMP;
	return strcmp(name, "__cxa_begin_catch") ? SHIM_SITE_FUNCTION : SHIM_SITE_CATCH;
}

/*
 * Plans the selected functions. Functions of one address, which follow each other, have one site.
 * Functions that handle exceptions are patched for their hooks; if that is not safe, the functions
 * that an exception leaves have no end. by_name: refusals are noted only for patterns that name the
 * module. Returns false without memory.
 */
static bool patches_functions(struct patches *plan, struct binary_file *file, bool by_name)
{
	size_t count;
	const struct binary_function *function = binary_functions(file, &count);
	uint64_t last = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		enum shim_site_kind kind = kind_of(function[i].name);
		struct patchable is;

		if (function[i].address == last ||
		    (kind == SHIM_SITE_FUNCTION &&
		     !is_selected(plan, binary_path(file), function[i].name, by_name)))
			continue;
		is = patchable_of(file, &function[i], kind);
		if (is.method == PATCH_REFUSED) {
			if (kind == SHIM_SITE_FUNCTION && !note_refusal(plan, is.why))
				return false;
			continue;
		}
		last = function[i].address;
		if (!add_site(plan, &is))
			return false;
	}
	return true;
}

bool patches_file(struct patches *plan, const char *path)
{
	struct binary_file *file = binary_open(path);
	struct shim_plan_module module = { .first = (uint32_t)plan->sites };
	size_t functions = plan->functions;
	bool good = file != NULL;

	if (good)
		good = patches_functions(plan, file, patchable_lack(file) != NULL);
	if (good && plan->sites > module.first) {
		module.sites = (uint32_t)plan->sites - module.first;
		/* The other sites are of functions that are called from other files. */
		unsigned vectors = plan->functions > functions ? binary_vectors(file) : 0;

		plan->vectors = vectors > plan->vectors ? vectors : plan->vectors;
		binary_identity(file, &module);
		good = vec_grow(&plan->module, plan->modules, 1);
		if (good)
			plan->module[plan->modules++] = module;
	}
	binary_close(file);
	return good;
}

/* Writes all bytes. Returns false and errno after an error. */
static bool put(int fd, const void *from, size_t bytes)
{
	const char *p = from;

	while (bytes) {
		ssize_t n = write(fd, p, bytes);

		if (n < 0 && errno != EINTR)
			return false;
		p += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* A memory file, so that nothing remains on disk after a kill. A partial plan is never returned. */
int patches_write(const struct patches *plan)
{
	const struct shim_plan_head head = {
		.magic = SHIM_PLAN_MAGIC, .modules = (uint32_t)plan->modules,
		.sites = (uint32_t)plan->sites, .vectors = plan->vectors,
	};
	int fd = memfd_create("posixtrace-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	/* Sealed, so that it does not change after the shim has checked it. */
	if (fd >= 0 && put(fd, &head, sizeof(head)) &&
	    put(fd, plan->module, plan->modules * sizeof(*plan->module)) &&
	    put(fd, plan->site, plan->sites * sizeof(*plan->site)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void patches_fini(struct patches *plan)
{
	for (size_t i = 0; i < plan->patterns; i++)
		free(plan->pattern[i].glob);
	free(plan->pattern);
	free(plan->module);
	free(plan->site);
	free(plan->reason);
	memset(plan, 0, sizeof(*plan));
}
