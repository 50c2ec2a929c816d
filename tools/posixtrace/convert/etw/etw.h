/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw.h - logs of Event Tracing for Windows (ETL files): converts the bytes of a file to records in
 * order of time. The layouts come from Microsoft's evntrace.h and evntcons.h, and from observed
 * files. posixtrace-formats(7) lists the codes of findings.
 *
 * Memory    One buffer for each processor, 32 bytes for each buffer of the file, and the
 *           descriptions of payloads. If the records of a processor are out of order, also 40 bytes
 *           for each record, and all decompressed buffers. If these need more than 512 MiB, the
 *           reading fails with ENOMEM.
 * Input     Hostile. Every offset is checked before it is used. No field of the file alone decides
 *           how much memory is allocated.
 * Errors    Functions that can fail return 0 or an error number, unless their comments state other
 *           results. A finding has the code of a fault, E01 to E26, and the offset of the fault.
 * Units     Offsets and sizes in bytes; stamps in ticks of the log's clock; times in nanoseconds.
 * Order     All numbers in an ETL file are little endian.
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
#define ETW_NAME_BYTES 64       /* bytes of the name of an event type, with its NUL */
#define ETW_PROCESSORS 2048
/* The least size of the log file header after its record header, on 32-bit and 64-bit systems. */
#define ETW_LOG_HEADER32 0x110
#define ETW_LOG_HEADER64 0x118

struct etw_describe;

/*
 * The file. read() works as pread(), but it returns fewer than "len" bytes only at the end of the
 * file. After an error it returns -1.
 */
struct etw_input {
	int64_t (*read)(void *arg, uint64_t at, void *to, size_t len);
	void *arg;
	uint64_t size;
};

enum etw_clock { ETW_CLOCK_PERFORMANCE = 1, ETW_CLOCK_SYSTEM = 2, ETW_CLOCK_CPU = 3 };

struct etw_options {
	uint64_t frequency;     /* 0: as in the log */
	unsigned clock;         /* 0: as in the log */
	bool resync;            /* assume the usual size for a buffer with an impossible size */
};

/* The log file header, in the first record of the file. */
struct etw_log {
	bool wide;              /* a 64-bit system has written the log */
	uint32_t buffer_size;
	unsigned char version[4];
	uint32_t build;
	uint32_t processors;
	int64_t end_time;       /* FILETIME */
	uint32_t timer_resolution; /* unit of the CPU times, in 100 ns */
	uint32_t mode;
	uint32_t buffers_written;
	uint32_t pointer_size;
	uint32_t events_lost;
	uint32_t cpu_mhz;
	int64_t boot_time;
	int64_t frequency;
	int64_t start_time;     /* FILETIME of the stamp stamp0 */
	uint32_t clock;
	uint32_t buffers_lost;
	int64_t stamp0;
	size_t names_at;        /* offset of the names in the record */
	unsigned char *record;  /* the whole first record */
	size_t record_bytes;
};

struct etw_buffer {
	uint64_t at;            /* offset in the file */
	int64_t sequence;
	uint32_t size;
	uint32_t number;        /* number in the order of the file */
	uint16_t processor;
	bool compressed;
};

enum etw_kind {
	ETW_SYSTEM, ETW_COMPACT, ETW_FULL, ETW_INSTANCE, ETW_PERFINFO, ETW_EVENT, ETW_MESSAGE,
	ETW_SKIPPED             /* a kind that the reader skips */
};

#define ETW_NO_GROUP (-1)
#define ETW_NO_LEVEL (-1)

struct etw_record {
	const unsigned char *bytes;
	size_t size;
	size_t header;          /* bytes before the payload: header and extended items */
	/* offset of the record in the file; for a compressed buffer, the offset of the buffer */
	uint64_t at;
	enum etw_kind kind;
	unsigned header_type;
	unsigned version;
	int group;
	unsigned type;          /* type in the class; for the kind ETW_EVENT: the opcode */
	int level;
	unsigned id;            /* of ETW_EVENT and ETW_MESSAGE */
	unsigned flags;         /* of ETW_EVENT and ETW_MESSAGE */
	unsigned channel;
	unsigned task;
	bool has_ids, has_stamp, has_guid, has_cpu, bad_items;
	uint32_t pid, tid;
	uint32_t kernel, user;
	uint32_t component;     /* for an ETW_MESSAGE without a GUID */
	int64_t stamp;
	unsigned char guid[ETW_GUID_BYTES];
	const unsigned char *traits, *schema; /* items of TraceLogging; NULL: none */
	size_t traits_bytes, schema_bytes;
	unsigned processor;
	int64_t sequence;
};

/* ---- functions that need no file */

/* Decompresses XPRESS. Returns false if the result is not exactly "to_size" bytes. */
bool etw_xpress(const unsigned char *from, size_t from_size, unsigned char *to, size_t to_size);

/*
 * Reads the record at p, where "size" bytes are available. *record gets pointers into these bytes.
 * Returns 0, or 7 to 10 for the faults E07 to E10 with the reason in *why.
 */
int etw_record(const unsigned char *p, size_t size, struct etw_record *record, const char **why);

/* Returns whether the record is about the log itself, and is not an event. */
bool etw_is_about_log(const struct etw_record *record);

/* Stores a GUID, as a log contains it, as text: bbccf6c1-6cd1-48c4-80ff-839482e37671. */
void etw_guid_text(const unsigned char guid[ETW_GUID_BYTES], char text[ETW_GUID_TEXT]);

/* Returns the short name of a known class, or NULL. */
const char *etw_class_name(const unsigned char guid[ETW_GUID_BYTES]);
const char *etw_group_name(unsigned group);
/* Returns the name of a type, such as "start", or NULL for a type that has only a number. */
const char *etw_type_name(unsigned type);
/*
 * etw_class() stores the name of the class, etw_name() the name of the event type. A name that is
 * too long ends with its checksum.
 */
void etw_class(const struct etw_record *record, char name[ETW_GUID_TEXT]);
void etw_name(const struct etw_record *record, char name[ETW_NAME_BYTES]);
bool etw_is_classic(const struct etw_record *record);
/*
 * Returns whether the record has a class and a type of one byte. Such a record is an event of the
 * kernel or of another classic provider.
 */
bool etw_is_kernel(const struct etw_record *record);
/* Returns whether the record is an event of a provider with a manifest or TraceLogging. */
bool etw_is_provider(const struct etw_record *record);
/*
 * Returns the type of a record that reports a loss: 32 if an event was lost, 33 if a buffer was
 * lost, 34 if a file was lost. Returns 0 for all other records.
 */
unsigned etw_lost_type(const struct etw_record *record);

#define ETW_FILETIME_EPOCH INT64_C(116444736000000000)

/*
 * These functions return a time in nanoseconds since 1970, or the nearest value that fits into 64
 * bits.
 */
int64_t etw_filetime_ns(int64_t filetime);
int64_t etw_time_ns(const struct etw_log *log, int64_t stamp);

/*
 * Computes the CPU time that a thread used between two of its records. Returns false if it is not
 * known.
 */
bool etw_cpu_cost(const struct etw_log *log, const struct etw_record *from,
		  const struct etw_record *to, uint64_t *cost_ns);

/* ---- the file */

struct etw_file {
	struct etw_input input;
	struct etw_options options;
	struct etw_log log;
	struct etw_buffer *buffer; /* sorted by processor, sequence and offset */
	size_t buffers;

	/* found by etw_scan() */
	uint64_t records;       /* all records in the file */
	uint64_t events;
	uint64_t lost_records;
	size_t largest;         /* bytes of the largest record */
	int64_t first_ns, last_ns;
	bool ours;              /* an export of posixtrace, for etw_restore() */
	bool disordered;        /* the records of some processor are not in order of time */
	size_t pointer_bytes;   /* size of pointers in kernel events; 0: not known */
	struct etw_describe *describe; /* descriptions of payloads that the log contains */
};

/* Returns whether a file with these first bytes is a log of ETW. */
bool etw_is(const unsigned char *bytes, size_t size);

/*
 * Reads the header, lists the buffers and scans the records. Returns 0, or EINVAL if the file is
 * refused (a finding has the reason), EIO or ENOMEM. After an error the caller has nothing to
 * close.
 */
int etw_open(struct etw_file *file, const struct etw_input *input,
	     const struct etw_options *options, struct findings *findings);
void etw_close(struct etw_file *file);

/* Stores the names of the session and of its file in UTF-8, each shortened to "size" bytes. */
void etw_log_names(const struct etw_log *log, char *session, char *path, size_t size,
		   struct findings *findings);

/* One buffer, in memory. */
struct etw_content {
	unsigned char *bytes;   /* the buffer, with its header; NULL: not loaded */
	size_t filled;          /* offset of the end of the records */
	size_t next;            /* offset of the next record */
	int64_t stamp;          /* stamp of the last returned record */
};

/*
 * Loads a buffer. If the buffer has a fault, the content is shorter or empty, and the function
 * reports the fault if "findings" is not NULL. Returns 0, EIO or ENOMEM.
 */
int etw_content_load(const struct etw_file *file, const struct etw_buffer *buffer,
		     struct etw_content *content, struct findings *findings);
bool etw_content_next(const struct etw_file *file, const struct etw_buffer *buffer,
		      struct etw_content *content, struct etw_record *record,
		      struct findings *findings);
void etw_content_free(struct etw_content *content);

/* All records that are events, in order of time. */
struct etw_walk;
/*
 * Begins at the first event. The file must remain open until etw_walk_end(), which also accepts
 * NULL. Returns 0, ENOMEM or an error number of reading; after an error *walk is NULL.
 */
int etw_walk_begin(const struct etw_file *file, struct etw_walk **walk);
/*
 * Returns 1 with a record that is valid until the next call, 0 at the end, or -1 if memory is
 * lacking or if the file cannot be read.
 */
int etw_walk_next(struct etw_walk *walk, struct etw_record *record);
void etw_walk_end(struct etw_walk *walk);

#endif
