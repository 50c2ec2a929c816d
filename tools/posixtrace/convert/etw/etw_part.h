/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_part.h - the steps of etw_open(). Each step relies on the checks of the steps before it. */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_PART_H
#define POSIXTRACE_CONVERT_ETW_ETW_PART_H

#include "convert/etw/etw.h"

#define ETW_FLAG_EVENTS_LOST 0x02
#define ETW_FLAG_BUFFER_LOST 0x04
#define ETW_FLAG_PROCESSOR   0x20
#define ETW_FLAG_COMPRESSED  0x40

#define ETW_MODE_CIRCULAR   0x2u
#define ETW_MODE_COMPRESSED 0x4000000u

/* Offsets in the header of a buffer (WMI_BUFFER_HEADER). */
#define ETW_BUFFER_SIZE 0x00
#define ETW_BUFFER_SAVED 0x04
#define ETW_BUFFER_SEQUENCE 0x18
#define ETW_BUFFER_PROCESSOR 0x28
#define ETW_BUFFER_STATE 0x2c
#define ETW_BUFFER_OFFSET 0x30
#define ETW_BUFFER_FLAG 0x34

/* Reads exactly len bytes. Returns 0 or EIO. */
int etw_read(const struct etw_file *file, uint64_t at, void *to, size_t len);

/*
 * Shortens a name that is too long for an event type. A checksum replaces the rest of the name, so
 * that long names with the same beginning differ.
 */
void etw_shorten(const char *full, char name[ETW_NAME_BYTES]);
/*
 * Stores the beginning of "shown", and adds the checksum of "full" even if "shown" is short enough.
 */
void etw_shorten_always(const char *shown, const char *full, char name[ETW_NAME_BYTES]);

/*
 * The steps of etw_open(): read the header of the log, list its buffers, and scan the records. They
 * return 0, EINVAL if they refuse the file, EIO or ENOMEM.
 */
int etw_read_log(struct etw_file *file, struct findings *findings);
int etw_list_buffers(struct etw_file *file, struct findings *findings);
int etw_scan(struct etw_file *file, struct findings *findings);

#endif
