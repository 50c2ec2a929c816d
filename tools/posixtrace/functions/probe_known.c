/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_known.c - the fields of well-known probes. The note of a probe has the sizes of its
 * arguments. It lacks their names, and does not mark pointers that are texts. The names and types
 * here are from the documentation of the programs.
 */
#include "functions/probe_known.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

/* The member "name" is a pattern (glob). The first row that matches is used. */
static const struct {
	const char *provider, *name, *fields;
} known[] = {
	/* CPython: "Instrumenting CPython with DTrace and SystemTap" */
	{ "python", "function__*", "str file; str function; s32 line" },
	{ "python", "line", "str file; str function; s32 line" },
	{ "python", "import__find__load__start", "str module" },
	{ "python", "import__find__load__done", "str module; s32 found" },
	{ "python", "audit", "str event; ptr arguments" },
	{ "python", "gc__start", "s32 generation" },
	{ "python", "gc__done", "s64 collected" },
	/* PostgreSQL: "Dynamic Tracing" */
	{ "postgresql", "transaction__*", "u32 local_transaction" },
	{ "postgresql", "query__start", "str query" },
	{ "postgresql", "query__done", "str query" },
	{ "postgresql", "query__parse__*", "str query" },
	{ "postgresql", "query__rewrite__*", "str query" },
	{ "postgresql", "statement__status", "str query" },
	{ "postgresql", "lwlock__release", "str tranche" },
	{ "postgresql", "lwlock__*", "str tranche; s32 mode" },
	{ "postgresql", "checkpoint__start", "x32 flags" },
	{ "postgresql", "checkpoint__done",
	  "s32 written; s32 buffers; s32 segments_added; s32 segments_removed; "
	  "s32 segments_recycled" },
	{ "postgresql", "sort__start",
	  "s32 kind; bool unique; s32 columns; s32 memory_kb; bool random; s32 parallel" },
	{ "postgresql", "sort__done", "bool external; s64 used" },
	/* The C++ library: "Static markers" */
	{ "libstdcxx", "throw", "ptr object; ptr type" },
	{ "libstdcxx", "rethrow", "ptr object; ptr type" },
	{ "libstdcxx", "catch", "ptr object; ptr type" },
};

const char *probe_known(const char *provider, const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].provider, provider) && !fnmatch(known[i].name, name, 0))
			return known[i].fields;
	return NULL;
}
