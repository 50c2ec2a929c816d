/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/export.h - the mark of a public function, at its definition.
 *
 * -fvisibility=hidden hides every other symbol. libposixtrace.map lists the public symbols once
 * more and gives them their version; tests/check_map.sh compares the two.
 */
#ifndef PTX_BASE_EXPORT_H
#define PTX_BASE_EXPORT_H

#define PTX_EXPORT __attribute__((visibility("default")))

#endif
