/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pick_part.h - what pick.c knows and pick_put.c asks. */
#ifndef POSIXTRACE_PICK_PART_H
#define POSIXTRACE_PICK_PART_H

#include "pick.h"

/* The number of a column's field in a schema, -1: it does not have it. */
int pick_field(struct pick *pick, const struct posix_trace_schema_np *schema, unsigned column);

#endif
