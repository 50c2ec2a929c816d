/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_tail.h - finds the original ETW record, which is behind the decoded fields of an imported
 * event.
 *
 * The importer stores the record in the event's data so that the exporter can restore the ETW log
 * exactly. The last eight bytes of the data are the size of the record and a mark, both little
 * endian. Commands that print fields omit the record, since the record repeats the fields.
 */
#ifndef POSIXTRACE_LOG_ETW_TAIL_H
#define POSIXTRACE_LOG_ETW_TAIL_H

#include <stddef.h>
#include <stdint.h>

#define ETW_TAIL_BYTES 8
#define ETW_TAIL_MARK UINT32_C(0x52575445) /* "ETWR" */

/*
 * Returns how many bytes at the end of data are a record with its size and mark, or 0 if there is
 * no record. It checks only the mark and the size, not the contents of the record.
 */
static inline size_t etw_tail(const void *data, size_t len)
{
	const unsigned char *end = (const unsigned char *)data + len;
	uint32_t size, mark;

	if (len < ETW_TAIL_BYTES)
		return 0;
	size = end[-8] | (uint32_t)end[-7] << 8 | (uint32_t)end[-6] << 16 | (uint32_t)end[-5] << 24;
	mark = end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24;
	if (mark != ETW_TAIL_MARK || size > len - ETW_TAIL_BYTES)
		return 0;
	return size + ETW_TAIL_BYTES;
}

#endif
