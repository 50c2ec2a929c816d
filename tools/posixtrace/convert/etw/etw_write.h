/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_write.h - a log of ETW that is written: buffers one after the other, all of one processor.
 *
 * The first buffer, with the log's header, is written last, since it has the number of buffers.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_WRITE_H
#define POSIXTRACE_CONVERT_ETW_ETW_WRITE_H

#include "convert/etw/etw.h"

#define ETW_CLASS_NAME_MAX 4096 /* bytes of a name that its class is made of */
#define ETW_WRITE_BUFFER 65536u
#define ETW_RECORD_MAX 65456u   /* a record that we make is shorter */
#define ETW_FULL_BYTES 48

/* Classes of our own exports. */
#define ETW_CLASS_REGISTRY "posixtrace-registry"
#define ETW_CLASS_STREAM "posixtrace-stream"

enum etw_registry { /* types of the registry's class */
	ETW_REGISTRY_TYPE = 10,
	ETW_REGISTRY_STREAM = 11,
	ETW_REGISTRY_STATUS = 12,
	ETW_REGISTRY_SCHEMA = 13,
	ETW_REGISTRY_LOST = 14,
};

#define ETW_PREFIX_BYTES 24 /* in a payload of version 1: ids, truncation, address */

/* UUID of version 5; at most ETW_CLASS_NAME_MAX bytes count. */
void etw_guid_of_name(const char *name, size_t len, unsigned char guid[ETW_GUID_BYTES]);

struct etw_writer {
	int fd;
	unsigned char *buffer;
	size_t size;            /* of a buffer */
	size_t filled;          /* of the one that is open; 0: none is */
	uint32_t buffers;       /* that were begun, the first one included */
	int64_t stamp;          /* of the last record */
};

/* ENOMEM. A buffer has size bytes, a multiple of 8. */
int etw_writer_init(struct etw_writer *writer, int fd, size_t size);
void etw_writer_fini(struct etw_writer *writer);

/* Appends a record: its bytes, in pieces. It must fit into a buffer. 0 or an error number. */
int etw_writer_add(struct etw_writer *writer, int64_t stamp, const void *header, size_t header_len,
		   const void *payload, size_t payload_len);

/* Writes the open buffer, the last of the file, and the first one with that record. */
int etw_writer_end(struct etw_writer *writer, const void *log_record, size_t len);

/* A FULL_HEADER64 of 48 bytes for size bytes in all. */
struct etw_full {
	unsigned type, level, version;
	uint32_t tid, pid;
	int64_t stamp;
	unsigned char guid[ETW_GUID_BYTES];
};
void etw_put_full(unsigned char header[ETW_FULL_BYTES], const struct etw_full *full, size_t size);

/* The log's record, for our own exports. names: session and file, in UTF-8. Returns its size. */
#define ETW_LOG_RECORD_MAX 4096
struct etw_new_log {
	bool filetime;          /* stamps are FILETIMEs */
	uint32_t pid;
	int64_t start, end;     /* FILETIME */
	uint32_t buffers;
	uint32_t events_lost;
	const char *session, *file;
};
size_t etw_put_log(unsigned char record[ETW_LOG_RECORD_MAX], const struct etw_new_log *log);

/* UTF-8 as UTF-16 with a NUL, at most room bytes; what is no UTF-8 is U+FFFD. Returns the bytes. */
size_t etw_put_utf16(const char *text, unsigned char *to, size_t room);

#define ETW_STAMP0 1000000000 /* h0 of our own exports */

#endif
