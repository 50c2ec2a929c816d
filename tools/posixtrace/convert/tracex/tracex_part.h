/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracex_part.h - the steps of tracex_open(). Each relies on the checks of those before. */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_PART_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_PART_H

#include "convert/tracex/tracex.h"

int tracex_layout(struct tracex *dump, struct findings *findings);
int tracex_check_registry(const struct tracex *dump, struct findings *findings);
void tracex_check_entries(struct tracex *dump, const struct tracex_options *options,
			  struct findings *findings);
void tracex_check_time(struct tracex *dump, const struct tracex_options *options,
		       struct findings *findings);

#endif
