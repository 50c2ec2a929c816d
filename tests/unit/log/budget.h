/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/log/budget.h - lets a write stop at any byte.
 *
 * The writing functions of base/io.h are wrapped (link with wrap_writes): with a budget set, they
 * write that much and then fail with ENOSPC.
 */
#ifndef PTX_TESTS_UNIT_LOG_BUDGET_H
#define PTX_TESTS_UNIT_LOG_BUDGET_H

#include <stddef.h>
#include <stdint.h>

extern size_t budget; /* in bytes; SIZE_MAX, as at first: no limit */

#endif
