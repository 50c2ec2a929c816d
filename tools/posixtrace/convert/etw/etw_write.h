/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_write.h - writes a log of ETW: buffers one after the other, all of one processor.
 *
 * The first buffer has the log's header. etw_writer_end() writes this buffer after all others,
 * since the header has the number of buffers.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_WRITE_H
#define POSIXTRACE_CONVERT_ETW_ETW_WRITE_H

#include "convert/etw/etw.h"

/* further bytes of a name are not used when a class is computed from the name */
#define ETW_CLASS_NAME_MAX 4096
#define ETW_WRITE_BUFFER 65536u
#define ETW_RECORD_MAX 65456u   /* records of exports are shorter */
#define ETW_FULL_BYTES 48

/* The names of the classes that only exports of posixtrace have. */
#define ETW_CLASS_REGISTRY "posixtrace-registry"
#define ETW_CLASS_STREAM "posixtrace-stream"

enum etw_registry { /* types of the registry's class */
	ETW_REGISTRY_TYPE = 10,
	ETW_REGISTRY_STREAM = 11,
	ETW_REGISTRY_STATUS = 12,
	ETW_REGISTRY_SCHEMA = 13,
	ETW_REGISTRY_LOST = 14,
};

/* size of the prefix before the data in version 1: type, truncation, thread, address */
#define ETW_PREFIX_BYTES 24

/* Makes a UUID of version 5 from the first ETW_CLASS_NAME_MAX bytes of the name. */
void etw_guid_of_name(const char *name, size_t len, unsigned char guid[ETW_GUID_BYTES]);

struct etw_writer {
	int fd;
	unsigned char *buffer;
	size_t size;            /* size of each buffer */
	size_t filled;          /* bytes in the open buffer; 0: no buffer is open */
	uint32_t buffers;       /* number of buffers so far, including the first */
	int64_t stamp;          /* stamp of the last record */
};

/*
 * Makes a writer that writes the file from its beginning. "size" is the size of a buffer in bytes
 * and must be a multiple of 8. Returns 0 or ENOMEM.
 */
int etw_writer_init(struct etw_writer *writer, int fd, size_t size);
void etw_writer_fini(struct etw_writer *writer);

/*
 * Appends a record of two pieces. Returns 0 or an error number, which is EMSGSIZE if the record
 * does not fit into a buffer.
 */
int etw_writer_add(struct etw_writer *writer, int64_t stamp, const void *header, size_t header_len,
		   const void *payload, size_t payload_len);

/*
 * Writes the open buffer, which is the last in the file. Then writes the first buffer of the file,
 * which has the record of the log. Returns 0 or an error number.
 */
int etw_writer_end(struct etw_writer *writer, const void *log_record, size_t len);

/*
 * The fields of a FULL_HEADER64, which has 48 bytes. etw_put_full() stores such a header; its
 * parameter "size" is the size of the whole record.
 */
struct etw_full {
	unsigned type, level, version;
	uint32_t tid, pid;
	int64_t stamp;
	unsigned char guid[ETW_GUID_BYTES];
};
void etw_put_full(unsigned char header[ETW_FULL_BYTES], const struct etw_full *full, size_t size);

/*
 * etw_put_log() stores the first record of an export, which describes the log, and returns its
 * size. The names of session and file are in UTF-8.
 */
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

/*
 * Converts UTF-8 to UTF-16 with a NUL, in at most "room" bytes. Bytes that are not UTF-8 become
 * U+FFFD. Returns the number of bytes.
 */
size_t etw_put_utf16(const char *text, unsigned char *to, size_t room);

/* the first stamp of exports whose stamps are not FILETIMEs; leaves room for earlier stamps */
#define ETW_STAMP0 1000000000

#endif
