/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* formats/table.c - the table of formats, made from list.h. */
#include <string.h>

#include "formats/format.h"

#define FORMAT(name) extern const struct format format_##name;
#include "formats/list.h"
#undef FORMAT

const struct format *const formats[] = {
#define FORMAT(name) &format_##name,
#include "formats/list.h"
#undef FORMAT
};

const size_t formats_count = sizeof(formats) / sizeof(formats[0]);

const struct format *fmt_by_name(const char *name)
{
	for (size_t i = 0; i < formats_count; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const struct format *fmt_detect(const struct fmt_head *head)
{
	for (size_t i = 0; i < formats_count; i++)
		if (formats[i]->detect && formats[i]->detect(head))
			return formats[i];
	return NULL;
}
