/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/label.h - the label of a value: names of values, bits, errors and signals.
 *
 * Threads   no state; all functions may run concurrently.
 * Signals   async-signal-safe.
 */
#ifndef PTX_POSIX_LABEL_H
#define PTX_POSIX_LABEL_H

#include <stddef.h>

#include <trace_np.h>

/*
 * Writes the label with its NUL to `label`, which has POSIX_TRACE_LABEL_MAX_NP + 1 bytes. Returns
 * the length of the label, or 0 if the value has no label.
 */
size_t ptx_label(const struct posix_trace_value_np *value, char *label);

#endif
