/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw.h - logs of Event Tracing for Windows: from a file's bytes to records in order of time.
 *
 * Memory    one buffer for each processor, and 32 bytes for each buffer of the file; where records
 *           of a processor are out of order, 40 bytes for each record.
 * Input     is hostile: every offset is checked before it is used, no allocation follows a field.
 * Errors    0 or an error number; findings name the fault and its place, by the codes E01 to E26.
 * Units     offsets and sizes in bytes; stamps in ticks of the log's clock; times in nanoseconds.
 * Order     everything in such a file is little endian.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_H
#define POSIXTRACE_CONVERT_ETW_ETW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/finding.h"

#define ETW_BUFFER_HEADER 72
#define ETW_GUID_BYTES 16
#define ETW_GUID_TEXT 37
#define ETW_NAME_BYTES 64       /* of an event type, NUL included */
#define ETW_PROCESSORS 2048
/* Least bytes of the log file header behind its record header, on 32-bit and 64-bit systems. */
#define ETW_LOG_HEADER32 0x110
#define ETW_LOG_HEADER64 0x118

struct etw_describe;

/* The file. read() is like pread(), but returns less than len only at the end; -1 is an error. */
struct etw_input {
	int64_t (*read)(void *arg, uint64_t at, void *to, size_t len);
	void *arg;
	uint64_t size;
};

enum etw_clock { ETW_CLOCK_PERFORMANCE = 1, ETW_CLOCK_SYSTEM = 2, ETW_CLOCK_CPU = 3 };

struct etw_options {
	uint64_t frequency;     /* 0: as the log says */
	unsigned clock;         /* 0: as the log says */
	bool resync;            /* a buffer without a size is taken to have that of the others */
};

/* The log file header, in the first record of the file. */
struct etw_log {
	bool wide;              /* written by a 64-bit system */
	uint32_t buffer_size;
	unsigned char version[4];
	uint32_t build;
	uint32_t processors;
	int64_t end_time;       /* FILETIME */
	uint32_t timer_resolution; /* of KernelTime, UserTime in 100 ns */
	uint32_t mode;
	uint32_t buffers_written;
	uint32_t pointer_size;
	uint32_t events_lost;
	uint32_t cpu_mhz;
	int64_t boot_time;
	int64_t frequency;
	int64_t start_time;     /* FILETIME of stamp0 */
	uint32_t clock;
	uint32_t buffers_lost;
	int64_t stamp0;
	size_t names_at;        /* in the record */
	unsigned char *record;  /* the first one, whole */
	size_t record_bytes;
};

struct etw_buffer {
	uint64_t at;            /* in the file */
	int64_t sequence;
	uint32_t size;
	uint32_t number;        /* in order of the file */
	uint16_t processor;
	bool compressed;
};

enum etw_kind {
	ETW_SYSTEM, ETW_COMPACT, ETW_FULL, ETW_INSTANCE, ETW_PERFINFO, ETW_EVENT, ETW_MESSAGE,
	ETW_SKIPPED             /* a kind that is not read */
};

#define ETW_NO_GROUP (-1)
#define ETW_NO_LEVEL (-1)

struct etw_record {
	const unsigned char *bytes;
	size_t size;
	size_t header;          /* bytes before the payload: header and extended items */
	uint64_t at;            /* in the file; of a compressed buffer that of the buffer */
	enum etw_kind kind;
	unsigned header_type;
	unsigned version;
	int group;
	unsigned type;          /* of the class, opcode */
	int level;
	unsigned id;            /* of EVENT and MESSAGE */
	unsigned flags;         /* of EVENT, MESSAGE */
	unsigned channel;
	unsigned task;
	bool has_ids, has_stamp, has_guid, has_cpu, bad_items;
	uint32_t pid, tid;
	uint32_t kernel, user;
	uint32_t component;     /* of MESSAGE without a guid */
	int64_t stamp;
	unsigned char guid[ETW_GUID_BYTES];
	const unsigned char *traits, *schema; /* of TraceLogging; NULL: none */
	size_t traits_bytes, schema_bytes;
	unsigned processor;
	int64_t sequence;
};

/* ---- functions that need no file */

/* Decompresses XPRESS. False: the result has not exactly to_size bytes. */
bool etw_xpress(const unsigned char *from, size_t from_size, unsigned char *to, size_t to_size);

/*
 * Reads the record at p, where size bytes are. Returns 0, or 7 to 10 for the faults E07 to E10 with
 * the reason in *why.
 */
int etw_record(const unsigned char *p, size_t size, struct etw_record *record, const char **why);

/* Whether the record describes the log and is no event. */
bool etw_is_about_log(const struct etw_record *record);

void etw_guid_text(const unsigned char guid[ETW_GUID_BYTES], char text[ETW_GUID_TEXT]);
bool etw_guid_parse(const char *text, unsigned char guid[ETW_GUID_BYTES]);

/* The short name of a known class, or NULL. */
const char *etw_class_name(const unsigned char guid[ETW_GUID_BYTES]);
const char *etw_group_name(unsigned group);
/* "start" and the like; NULL: it has only its number. */
const char *etw_type_name(unsigned type);
/* The name of the class, and of the event type; a name that is too long ends in its checksum. */
void etw_class(const struct etw_record *record, char name[ETW_GUID_TEXT]);
void etw_name(const struct etw_record *record, char name[ETW_NAME_BYTES]);
bool etw_is_classic(const struct etw_record *record);
/* An event of a class: of the kernel or another classic provider. */
bool etw_is_kernel(const struct etw_record *record);
/* An event of a manifest or of TraceLogging. */
bool etw_is_provider(const struct etw_record *record);
/* The type of a record of lost data: 32 an event, 33 a buffer, 34 a file; 0: another record. */
unsigned etw_lost_type(const struct etw_record *record);

#define ETW_FILETIME_EPOCH INT64_C(116444736000000000)

/* Nanoseconds since 1970, INT64_MIN or INT64_MAX if 64 bits are not enough. */
int64_t etw_filetime_ns(int64_t filetime);
int64_t etw_time_ns(const struct etw_log *log, int64_t stamp);

/* CPU time between two records of one thread; false: it is not known. */
bool etw_cpu_cost(const struct etw_log *log, const struct etw_record *from,
		  const struct etw_record *to, uint64_t *cost_ns);

/* ---- the file */

struct etw_file {
	struct etw_input input;
	struct etw_options options;
	struct etw_log log;
	struct etw_buffer *buffer; /* by processor, sequence, offset, once it is open */
	size_t buffers;

	/* what etw_scan() has found */
	uint64_t records;       /* of the file */
	uint64_t events;
	uint64_t lost_records;
	size_t largest;         /* record */
	int64_t first_ns, last_ns;
	bool ours;              /* an export of posixtrace, which etw_restore() can read */
	bool disordered;        /* a processor's records are not in order of time */
	size_t pointer_bytes;   /* in kernel events; 0: not known */
	struct etw_describe *describe; /* descriptions of payloads in the log */
};

/* Whether the first bytes of a file are those of such a log. */
bool etw_is(const unsigned char *bytes, size_t size);

/* EINVAL when it is refused, EIO, ENOMEM. */
int etw_open(struct etw_file *file, const struct etw_input *input,
	     const struct etw_options *options, struct findings *findings);
void etw_close(struct etw_file *file);

/* The names of the log and of its file in UTF-8, with room for size bytes each. */
void etw_log_names(const struct etw_log *log, char *session, char *path, size_t size,
		   struct findings *findings);

/* One buffer, in memory. */
struct etw_content {
	unsigned char *bytes;   /* from the buffer's header on; NULL: not loaded */
	size_t filled;          /* where the records end */
	size_t next;            /* offset of the next record */
	int64_t stamp;          /* of the record before */
};

/* Loads a buffer; a fault leaves it shorter or empty and is reported if findings is not NULL. */
int etw_content_load(const struct etw_file *file, const struct etw_buffer *buffer,
		     struct etw_content *content, struct findings *findings);
bool etw_content_next(const struct etw_file *file, const struct etw_buffer *buffer,
		      struct etw_content *content, struct etw_record *record,
		      struct findings *findings);
void etw_content_free(struct etw_content *content);

/* All records that are events, in order of time. */
struct etw_walk;
int etw_walk_begin(const struct etw_file *file, struct etw_walk **walk);
/* 1: a record, valid until the next call; 0: the end; -1: no memory, or the file is unreadable. */
int etw_walk_next(struct etw_walk *walk, struct etw_record *record);
void etw_walk_end(struct etw_walk *walk);

#endif
