/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave_traps.c - adds to a log the probes that uprobes have recorded, and the mappings of the
 * files of functions and probes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/kernel_traps.h"
#include "live/weave.h"

/*
 * Adds the mappings of one file in one process, unless the old log has them. Returns 0 or an error
 * number.
 */
static int put_module(struct weave *weave, const struct kernel_module *module,
		      const struct traps_file *file)
{
	const pid_t pid = kernel_inner_process(weave->kernel, module->pid);
	int err = 0;

	for (unsigned i = 0; i < file->mappings && !err; i++) {
		struct posix_trace_mapping_np mapping = {
			.from_ns = module->from_ns, .until_ns = INT64_MAX,
			.start = file->mapping[i].start + module->bias,
			.end = file->mapping[i].end + module->bias,
			.offset = file->mapping[i].offset, .base = module->bias,
			.pid = pid, .path = file->path,
			.build_id_len = file->id_len,
		}, known;

		memcpy(mapping.build_id, file->id, file->id_len);
		if (posix_trace_mapping_find_np(weave->from, pid, mapping.start,
						module->from_ns, &known))
			err = weave_compose_mapping(weave, &mapping);
	}
	return err;
}

int weave_traps_mappings(struct weave *weave)
{
	const struct kernel *kernel = weave->kernel;
	int err = 0;

	for (size_t i = 0; kernel->traps && i < kernel->traps->modules && !err; i++) {
		const struct kernel_module *module = &kernel->traps->module[i];

		err = put_module(weave, module, &kernel->plan.traps->file[module->file]);
	}
	return err;
}

void weave_traps_identify(const struct weave *weave, struct posix_trace_mapping_np *mapping)
{
	const struct kernel *kernel = weave->kernel;
	const size_t files = kernel->traps ? kernel->plan.traps->files : 0;

	for (size_t i = 0; i < files && !mapping->build_id_len && mapping->path; i++) {
		const struct traps_file *file = &kernel->plan.traps->file[i];

		if (strcmp(file->path, mapping->path) != 0)
			continue;
		mapping->build_id_len = file->id_len;
		memcpy(mapping->build_id, file->id, file->id_len);
	}
}

int weave_traps_types(struct weave *weave)
{
	const struct kernel *kernel = weave->kernel;
	const size_t types = kernel->traps ? kernel->plan.traps->types : 0;
	int err = 0;

	weave->probe_id = calloc(types + 1, sizeof(*weave->probe_id));
	if (!weave->probe_id)
		return ENOMEM;
	for (size_t i = 0; i < types && !err; i++) {
		const struct traps_type *type = &kernel->plan.traps->type[i];

		err = weave_compose_type(weave, type->name, type->schema, &weave->probe_id[i]);
	}
	return err;
}

int weave_traps_put(struct weave *weave, const struct kernel_item *item)
{
	uint32_t type;

	memcpy(&type, item->data, sizeof(type));
	return weave_put(weave, weave->probe_id[type], &item->record, item->event.address,
			 item->data + sizeof(type), item->event.bytes - sizeof(type));
}
