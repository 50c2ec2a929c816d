/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/descriptors.h - whether a child may close the descriptors that it has from its parent.
 *
 * A child of clone(2) with CLONE_FILES has no copy of its parent's descriptors: both processes use
 * one table. If the child closed a descriptor, the parent would lose the descriptor, and with it
 * the record locks of the file. A descriptor that the child opened would remain in the parent.
 *
 * Threads   the functions are called while the process is set up, and by threads that close
 *           descriptors afterwards.
 * Signals   async-signal-safe. errno is preserved.
 */
#ifndef PTX_ARENA_DESCRIPTORS_H
#define PTX_ARENA_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Notes that the process has a table of its own, because it was executed or made by fork(). A
 * child of such a process begins without this note.
 */
void ptx_descriptors_note_own(void);

/*
 * Asks the kernel whether this process, a child without the note, has a table of its own. `parent`
 * is the id of the process that used this memory before. If the kernel gives no answer, the table
 * counts as shared. A quiet process makes no call, so its table counts as shared, too.
 */
void ptx_descriptors_look(uint32_t parent);

/* Returns whether this process may close descriptors that were opened by the library. */
bool ptx_descriptors_are_own(void);

#endif
