/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_resource.c - a Resource for each process of each log, and an InstrumentationScope for each
 * provider of events.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "convert/otlp/otlp.h"
#include "convert/plain.h"
#include "log/logfile.h"
#include "log/preload_types.h"
#include "show/merge_part.h"

/* value of service.name that the semantic conventions define */
#define UNKNOWN_SERVICE "unknown_service"
#define RECORDER        "posixtrace"      /* scope of the events about the stream itself */
#define RECORDERS       "posix_trace_"    /* prefix of the names of these events */
#define PRELOAD         "libposixtrace-preload"

#ifndef PACKAGE_VERSION
# define PACKAGE_VERSION "unknown"
#endif

int otlp_thread(struct otlp *otlp, const struct fmt_thread *thread)
{
	struct thread *known = threads_of(&otlp->names, thread->pid, thread->tid, thread->thread);
	char *name, number[32];
	uint32_t index;

	/*
	 * For a thread or process without a name, scan_names.c makes a name from its number. Such a
	 * name is not kept, because the number is known anyway.
	 */
	snprintf(number, sizeof(number), "%s %u", thread->tid ? "thread" : "process",
		 thread->tid ? thread->tid : thread->pid);
	if (!known || (thread->name_len == strlen(number) &&
		       !memcmp(thread->name, number, thread->name_len)))
		return 0;
	name = plain_copy(thread->name, thread->name_len);
	if (!name)
		return ENOMEM;
	index = nameset_index(&otlp->texts, name);
	free(name);
	if (index == TABLE_NONE)
		return ENOMEM;
	known->mark = index + 1;
	return 0;
}

const char *otlp_name(struct otlp *otlp, uint32_t pid, uint32_t tid, uint64_t handle)
{
	const struct thread *known = threads_of(&otlp->names, pid, tid, handle);

	return known && known->mark ? otlp->texts.name[known->mark - 1] : NULL;
}

/* ------------------------------------------------------------------ resources */

int otlp_resource(struct otlp *otlp, uint32_t pid, unsigned source, uint32_t *index)
{
	struct thread *process = threads_of(&otlp->processes, pid, source + 1, 0);

	*index = 0;
	/* Processes beyond the limit of threads.h use the first resource. */
	if (!process)
		return otlp->resources ? 0 : ENOMEM;
	if (!process->mark) {
		if (!vec_grow(&otlp->resource, otlp->resources, 1))
			return ENOMEM;
		otlp->resource[otlp->resources] = (struct otlp_resource){ pid, source };
		process->mark = ++otlp->resources;
	}
	*index = (uint32_t)process->mark - 1;
	return 0;
}

/* Writes a text of a fixed size, unless it is empty. */
static void put_fixed(struct proto *p, const char *key, const char *text, size_t room)
{
	size_t len = strnlen(text, room);

	if (len)
		otlp_text(p, RESOURCE_ATTRIBUTES, key, text, len);
}

/*
 * Writes the greatest error of the log's times in comparison with clocks of other hosts. The error
 * within one host is smaller, as posixtrace-select(7) explains.
 */
static void put_clock_error(const struct otlp *otlp, struct proto *p, const struct logfile *log)
{
	static const struct merge none = { .error = NULL };
	const struct merge *clocks = otlp->flow->clocks ? otlp->flow->clocks : &none;

	otlp_number(p, RESOURCE_ATTRIBUTES, "posixtrace.clock.error_ns",
		    merge_error_of(clocks, log));
}

/* Writes the facts that only a log has. */
static void put_log(const struct otlp *otlp, struct proto *p, const struct logfile *log)
{
	char uuid[2 * sizeof(log->info.uuid)];
	const char *end = put_hex_bytes(uuid, log->info.uuid, sizeof(log->info.uuid));

	if (otlp->host)
		otlp_string(p, RESOURCE_ATTRIBUTES, "host.name", otlp->host);
	else
		put_fixed(p, "host.name", log->info.host, sizeof(log->info.host));
	otlp_text(p, RESOURCE_ATTRIBUTES, "posixtrace.log.uuid", uuid, (size_t)(end - uuid));
	put_fixed(p, "posixtrace.clock.name", log->info.clock, sizeof(log->info.clock));
	otlp_number(p, RESOURCE_ATTRIBUTES, "posixtrace.clock.resolution_ns",
		    log->info.resolution_ns);
	put_clock_error(otlp, p, log);
}

void otlp_resource_put(struct otlp *otlp, struct proto *p, uint32_t index)
{
	const struct otlp_resource *resource = &otlp->resource[index];
	const struct fmt_facts *facts = &otlp->facts;
	const char *name = otlp_name(otlp, resource->pid, 0, 0);
	const char *source = NULL;

	otlp_string(p, RESOURCE_ATTRIBUTES, "service.name", name ? name : UNKNOWN_SERVICE);
	if (resource->pid)
		otlp_number(p, RESOURCE_ATTRIBUTES, "process.pid", resource->pid);
	otlp_string(p, RESOURCE_ATTRIBUTES, "process.executable.name", name);
	if (resource->source < otlp->flow->sources)
		source = fmt_source_name(otlp->flow, resource->source);
	if (resource->source == otlp->flow->sources) {
		/* The resource of all logs together has no host and no clock. */
	} else if (otlp->flow->logs) {
		put_log(otlp, p, otlp->flow->logs[resource->source]);
	} else {
		put_fixed(p, "host.name", facts->host, sizeof(facts->host));
		put_fixed(p, "posixtrace.clock.name", facts->clock, sizeof(facts->clock));
		if (facts->resolution_ns)
			otlp_number(p, RESOURCE_ATTRIBUTES, "posixtrace.clock.resolution_ns",
				    facts->resolution_ns);
	}
	if (facts->relative)
		otlp_bool(p, RESOURCE_ATTRIBUTES, "posixtrace.clock.relative", true);
	put_fixed(p, "posixtrace.stream.name", facts->name, sizeof(facts->name));
	put_fixed(p, "posixtrace.generation", facts->generation, sizeof(facts->generation));
	if (source)
		put_fixed(p, "posixtrace.log.name", source, strlen(source));
}

/* ------------------------------------------------------------------ scopes */

/*
 * The scope is the provider of the event type. It is the library that wraps calls, the recorder
 * itself, or the part of the name before the first colon, as in provider:event. All other types
 * belong to the traced program, whose scope has no name.
 */
uint32_t otlp_scope(struct otlp *otlp, const char *type)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "";
	size_t len = strcspn(type, ":");

	if (preload_types_has(type))
		return nameset_index(&otlp->scopes, PRELOAD);
	if (!strncmp(type, RECORDERS, strlen(RECORDERS)))
		return nameset_index(&otlp->scopes, RECORDER);
	if (type[len] && len < sizeof(name) && text_is_utf8(type, len))
		memcpy(name, type, len);
	return nameset_index(&otlp->scopes, name);
}

/*
 * The version is written only for scopes of this project, because the versions of other scopes are
 * unknown.
 */
void otlp_scope_put(const struct otlp *otlp, struct proto *p, uint32_t index)
{
	const char *name = otlp->scopes.name[index];

	proto_text(p, SCOPE_NAME, name);
	if (!strcmp(name, RECORDER) || !strcmp(name, PRELOAD))
		proto_text(p, SCOPE_VERSION, PACKAGE_VERSION);
}
