/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* weave_traps.c - adds to a log where the files of functions were mapped that uprobes recorded. */
#include <string.h>

#include "live/kernel_traps.h"
#include "live/weave.h"

/* Adds the mappings of one file in one process. Returns 0 or an error number. */
static int put_module(struct weave *weave, const struct kernel_module *module,
		      const struct traps_file *file)
{
	int err = 0;

	for (unsigned i = 0; i < file->mappings && !err; i++) {
		struct posix_trace_mapping_np mapping = {
			.from_ns = module->from_ns, .until_ns = INT64_MAX,
			.start = file->mapping[i].start + module->bias,
			.end = file->mapping[i].end + module->bias,
			.offset = file->mapping[i].offset, .base = module->bias,
			.pid = module->pid, .path = file->path,
			.build_id_len = file->id_len,
		}, known;

		memcpy(mapping.build_id, file->id, file->id_len);
		if (posix_trace_mapping_find_np(weave->from, module->pid, mapping.start,
						module->from_ns, &known))
			err = posix_trace_compose_mapping_np(weave->to, &mapping);
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
