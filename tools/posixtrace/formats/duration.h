/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * duration.h - events that say how long something took, which ended where they stand: those whose schema
 * has a field of type ns, as posixtrace latency takes them. How long a lock was held is no such time of a
 * thread, which did other things meanwhile: types called ..._held are left alone.
 */
#ifndef POSIXTRACE_FORMATS_DURATION_H
#define POSIXTRACE_FORMATS_DURATION_H

#include "formats/format.h"

/* The field of such a type that says how long; -1: none. */
int duration_field(const struct fmt_type *type);

/* False: the event does not say it. */
bool duration_of(const struct fmt_event *event, int field, uint64_t *took_ns);

#endif
