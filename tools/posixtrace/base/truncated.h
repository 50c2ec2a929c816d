/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * truncated.h - survives the truncation of a file that is mapped.
 *
 * libelf and libdw map the files that they read. If another process truncates such a file, as a
 * linker or an installer may do, an access behind the new end raises SIGBUS. SIGBUS would end the
 * command record, and the trace with it.
 */
#ifndef POSIXTRACE_BASE_TRUNCATED_H
#define POSIXTRACE_BASE_TRUNCATED_H

/*
 * From this call on, such an access reads zeros. libelf and libdw check all that they read. If they
 * read zeros, they find fewer names in the file, or none. If neither of them made the mapping, the
 * signal ends this process as before. The handler recognizes their mappings by the permissions: the
 * first mappings of this process's own libraries are read-only, and the mappings of streams are
 * shared. If the signal is ignored or has a handler, the function does nothing.
 *
 * execve(2) resets the handler, so programs that the tool starts are not affected.
 */
void truncated_survive(void);

#endif
