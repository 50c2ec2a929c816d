/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe_known.h - the fields of probes of well-known programs, which their files do not have. */
#ifndef POSIXTRACE_FUNCTIONS_PROBE_KNOWN_H
#define POSIXTRACE_FUNCTIONS_PROBE_KNOWN_H

/*
 * Returns the fields of a probe, such as "str file; str function; s32 line". Returns NULL if the
 * probe is not known. The types are the types that a user may write (probes.c).
 */
const char *probe_known(const char *provider, const char *name);

#endif
