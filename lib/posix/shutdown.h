/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/shutdown.h - shutting down every stream of the process, when it exits.
 */
#ifndef PTX_POSIX_SHUTDOWN_H
#define PTX_POSIX_SHUTDOWN_H

void ptx_posix_shutdown_all(void);

#endif
