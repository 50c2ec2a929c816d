/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/export.h - the mark of a public function, at its definition.
 *
 * Everything else is hidden by -fvisibility=hidden; libposixtrace.map says it a second time and
 * gives the symbols their version.
 */
#ifndef PTX_BASE_EXPORT_H
#define PTX_BASE_EXPORT_H

#define PTX_EXPORT __attribute__((visibility("default")))

#endif
