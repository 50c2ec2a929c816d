/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spool.h - temporary files, for what cannot seek. Each function returns 0 or an error number.
 */
#ifndef POSIXTRACE_SPOOL_H
#define POSIXTRACE_SPOOL_H

/* A file without a name, in TMPDIR. */
int spool_create(int *fd);

/* All that from has from where it is, to the end. */
int spool_copy(int from, int to);

/*
 * A descriptor of the same bytes that is at the beginning and can seek: fd itself, or a copy, and
 * then fd is closed. On an error fd stays open.
 */
int spool_seekable(int fd, int *result);

#endif
