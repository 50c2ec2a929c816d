/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/plain.h - included before everything else in each file of the shim (-include).
 *
 * The shim defines open() beside open64(), and read() beside __read_chk(). These macros would
 * make the headers of the C library rename or replace them. They are undefined here because an -U
 * in the Makefile would precede the -D of CPPFLAGS or CFLAGS, by which distributions set them.
 */
#ifndef PTX_PRELOAD_PLAIN_H
#define PTX_PRELOAD_PLAIN_H

#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS

#endif
