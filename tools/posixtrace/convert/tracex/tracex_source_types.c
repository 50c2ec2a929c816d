/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_source_types.c - finds event types by the ids of ThreadX. If posixtrace has written the
 * trace buffer, the name of a slot in the registry of objects has the ids of a process and thread.
 * tracex_source_thread() finds these ids in the name.
 */
#include <stdio.h>
#include <string.h>

#include "convert/tracex/tracex_schema.h"
#include "convert/tracex/tracex_source.h"

/*
 * sscanf(3) also accepts forms that posixtrace does not write, for example blanks. So the function
 * prints the name again from the ids and compares both names.
 */
bool tracex_source_thread(const struct tracex_slot *slot, uint32_t *pid, uint64_t *thread)
{
	char name[64], same[64];
	unsigned long long number;
	unsigned process;

	if (slot->type != TRACEX_THREAD || slot->name_len >= sizeof(name))
		return false;
	memcpy(name, slot->name, slot->name_len);
	name[slot->name_len] = '\0';
	if (sscanf(name, "%u:%llx", &process, &number) != 2)
		return false;
	snprintf(same, sizeof(same), "%u:%llx", process, number);
	if (strcmp(name, same) != 0)
		return false;
	*pid = process;
	*thread = number;
	return true;
}

/*
 * Sets phase and span of the events that ThreadX and USBX define as pairs, and writes the items of
 * their schema. "items" has 128 bytes, which the longest name does not fill.
 */
static void find_phase(unsigned id, struct fmt_type *type, char *items)
{
	static const struct {
		uint16_t begin, end;
		const char *span;
	} pairs[] = {
		{ 3, 4, "isr" },
		{ 681, 682, "ux_hc_cdc_acm_reception" },
		{ 772, 773, "ux_hc_prolific_reception" },
		{ 815, 816, "ux_hc_swar_reception" },
		{ 833, 834, "ux_hc_gser_reception" },
		{ 1030, 1031, "ux_dc_ccid_auto_seq" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (id != pairs[i].begin && id != pairs[i].end)
			continue;
		type->phase = id == pairs[i].begin ? FMT_BEGIN : FMT_END;
		type->span = pairs[i].span;
		sprintf(items, ";@%s %s;@key cpu,%s", type->phase == FMT_BEGIN ? "begin" : "end",
			type->span, id < 5 ? "ISR_number" : "class_instance");
	}
}

/* A type is made at its first use, since most of the 65536 ids do not occur. */
const struct fmt_type *tracex_source_type(struct tracex_source *im, uint32_t raw_id)
{
	static const char *const nothing[4] = { "", "", "", "" };
	unsigned id = tracex_id(raw_id);
	const struct tracex_event *known = tracex_event_of(id);
	struct fmt_type type = { .number = id, .level = -1 };
	char name[TRACE_EVENT_NAME_MAX + 1], schema[TRACEX_SCHEMA_BYTES], items[128] = "";
	const char *info[4];

	if (im->type[id])
		return im->type[id];
	memcpy(info, nothing, sizeof(info));
	type.name = name;
	type.schema = schema;
	if (tracex_is_user(&im->dump, raw_id)) {
		const struct tracex_name *given = tracex_names_find(&im->names, id);

		snprintf(name, sizeof(name), "tracex_user_%u", id);
		/*
		 * The user can give a file with names (tracex_names.h). A name of a predefined type
		 * in this file is not used, because a predefined type has other data.
		 */
		if (given && strncmp(given->name, "posix_trace_", 12) != 0)
			snprintf(name, sizeof(name), "%s", given->name);
		/* a field with one of the labels I1 to I4 has no name */
		for (int i = 0; given && i < 4; i++)
			info[i] = given->info[i][0] == 'I' && given->info[i][1] == '1' + i &&
				  !given->info[i][2] ? "" : given->info[i];
	} else if (known) {
		snprintf(name, sizeof(name), "%s", known->name);
		memcpy(info, known->info, sizeof(info));
		find_phase(id, &type, items);
	} else {
		snprintf(name, sizeof(name), "tx_event_%u", id);
	}
	tracex_schema_entry(&im->dump, info, items, schema);
	im->type[id] = fmt_type(im->flow, &type);
	return im->type[id];
}
