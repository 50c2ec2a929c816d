/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh.h - the framed byte stream of the RKH framework (vortexmakes.com, "RKH trace"): frames,
 * arguments, names.
 *
 * In the files of this folder, a stream is such a stream of bytes. A frame has an id, a sequence
 * number, a timestamp, arguments and a checksum, and ends with the byte 7E. The sequence number,
 * the timestamp and the checksum are present only if a flag of the stream is set. The bytes 7E and
 * 7D within a frame are sent as 7D and the byte XOR 20. All numbers are little endian. The record
 * TCFG has the flags and the sizes of numbers that are valid from the next frame on.
 *
 * Memory    The size of the longest frame, and names up to a limit.
 * Errors    0 or an error number. After a fault of the input, the decoder continues at the next
 *           flag.
 */
#ifndef POSIXTRACE_CONVERT_RKH_RKH_H
#define POSIXTRACE_CONVERT_RKH_RKH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RKH_FLAG       0x7e
#define RKH_ESCAPE     0x7d
#define RKH_FLIP       0x20
#define RKH_FRAME_MAX  1024 /* bytes without escapes, unless rkh_open() gets another limit */
#define RKH_TCFG_BYTES 13

enum { /* ids */
	RKH_TUSR = 0xab, RKH_TCFG = 0xac, RKH_USER = 0xc0, RKH_USER_END = 0xe0,
	/* Reserved user events of the dialect of posixtrace. */
	RKH_EPOCH = 0xdc, RKH_CTX = 0xdd, RKH_XNAME = 0xde, RKH_MANY = 0xdf,
};

enum rkh_dialect {
	RKH_DIALECT_3,
	RKH_DIALECT_2,  /* flat ids, no TCFG, no user events */
	RKH_DIALECT_PTX /* posixtrace: RKH 3 with four reserved user events */
};

/* Flags of TCFG that change the form of frames. */
enum {
	RKH_HAS_SENDER = 1u << 0, RKH_HAS_QUEUE_MARK = 1u << 11, RKH_HAS_POOL_MARK = 1u << 12,
	RKH_HAS_NUMBER = 1u << 15, RKH_HAS_TIME = 1u << 16, RKH_HAS_SUM = 1u << 17,
};

/* Sizes in bytes. A target sends only the lower 4 bytes of a pointer of 8 bytes. */
struct rkh_config {
	unsigned sig, ts, ptr, fun, ntimer, nblock, nelem, esize, bsize;
	unsigned epools, version;
	uint32_t flags;
	uint32_t hz; /* 0: unknown */
};

enum rkh_kind {
	RKH_SYM, RKH_FUN, RKH_SIG, RKH_U8, RKH_U16, RKH_U32, RKH_NBLK, RKH_NELEM, RKH_BSIZE,
	RKH_ESIZE, RKH_NTICK, RKH_STR, RKH_SNDR, RKH_LWMNELEM, RKH_LWMNBLK
};

/* The filters of the target that apply to a record. */
enum {
	RKH_BY_EVENT = 1, RKH_BY_OBJECT = 2, RKH_BY_SIGNAL = 4
};

struct rkh_record {
	const char *group, *name; /* NULL: no such id */
	unsigned char levels;
	unsigned args;
	struct {
		const char *name;
		enum rkh_kind kind;
	} arg[7];
};

/* Made by rkh_table.awk from the tables of records; indexed by id. */
extern const struct rkh_record rkh2_records[256], rkh3_records[256];

/* The groups of ids of RKH 3. */
extern const char *const rkh_groups[8];

/* ------------------------------------------------------------------ frames */

enum rkh_anomaly {
	RKH_CHECKSUM, RKH_SHORT, RKH_ABORT, RKH_BAD_ESCAPE, RKH_OVERLONG, /* damage */
	RKH_TRUNCATED, RKH_NOISE, RKH_GAP, RKH_DUPLICATE, RKH_UNKNOWN, RKH_ARGS_SHORT,
	RKH_ARGS_TRAILING, RKH_ANOMALIES
};

extern const char *const rkh_anomaly_names[RKH_ANOMALIES];

struct rkh_trouble {
	enum rkh_anomaly anomaly;
	uint64_t offset;   /* offset of the frame's first byte in the stream */
	/* number of bytes of the frame or of the noise, or of bytes behind the arguments */
	uint64_t bytes;
	unsigned sum, expected, got, missing;
	/* for RKH_GAP: number of frames that were dropped since the last good frame */
	uint64_t damaged;
};

struct rkh_frame {
	uint64_t offset;
	unsigned id;
	bool has_seq, has_time;
	bool is_config;    /* the frame is a TCFG, whose values are already applied */
	bool raw;          /* the record is unknown, or the arguments do not fit it */
	unsigned seq;
	uint64_t ticks;
	const struct rkh_record *record; /* NULL: unknown, TCFG, or a user event */
	const unsigned char *args;
	size_t len;
	/*
	 * the first "used" of the "len" bytes are arguments; the record does not explain the rest
	 */
	size_t used;
};

struct rkh_counts {
	uint64_t frames, good, of[RKH_ANOMALIES], missing, noise;
};

/* Receives the results. If frame() returns false, the decoder stops. */
struct rkh_listener {
	void (*trouble)(void *arg, const struct rkh_trouble *trouble);
	bool (*frame)(void *arg, const struct rkh_frame *frame);
	void *arg;
};

struct rkh_decoder {
	/* the decoder changes between RKH_DIALECT_3 and RKH_DIALECT_PTX as the stream requires */
	enum rkh_dialect dialect;
	bool fixed;               /* the dialect is never changed */
	unsigned fun;             /* bytes of a function pointer; 0: the size of other pointers */
	struct rkh_config config;
	struct rkh_counts counts;
	struct rkh_listener listener;
	/* Private. */
	enum { RKH_HUNT, RKH_COLLECT, RKH_ESCAPED, RKH_SKIP } state;
	bool marked, has_last, after_config;
	uint64_t at, begin, damaged;
	unsigned last;
	size_t max, len, before_len;
	unsigned char *bytes, *before;
};

/* Sets the sizes that are valid before the first TCFG. */
void rkh_config_default(struct rkh_config *config);

/*
 * Makes a decoder. "max" is the size of the largest frame, in bytes without escapes. After this
 * call, the caller may set all members that are not private. Returns 0 or ENOMEM.
 */
int rkh_open(struct rkh_decoder *decoder, size_t max);
void rkh_close(struct rkh_decoder *decoder);

/*
 * Decodes the next bytes, in pieces of any size. Returns false if the listener has stopped the
 * decoder.
 */
bool rkh_feed(struct rkh_decoder *decoder, const unsigned char *bytes, size_t len);

/* Ends the input. If the last frame is not complete, reports this. */
void rkh_end(struct rkh_decoder *decoder);

/*
 * Returns whether the bytes are a stream of RKH. Such a stream begins with a flag, followed by a
 * configuration or at least two good frames.
 */
bool rkh_is(const unsigned char *bytes, size_t len);

/* ------------------------------------------------------------------ arguments */

/* Returns the number of bytes that a number of this kind has in a frame, or 0 for STR. */
unsigned rkh_size(const struct rkh_config *config, enum rkh_kind kind);
bool rkh_is_present(const struct rkh_config *config, enum rkh_kind kind);

/*
 * Reads a number of any size that a TCFG can have. If the number has more than 8 bytes, the lower 8
 * bytes are used.
 */
uint64_t rkh_number(const unsigned char *p, unsigned bytes);

/*
 * Sets *used to the number of bytes of the record's arguments. Returns false if "args" has fewer
 * bytes.
 */
bool rkh_measure(const struct rkh_config *config, const struct rkh_record *record,
		 const unsigned char *args, size_t len, size_t *used);

enum rkh_type { /* the type of an item of a user event */
	RKH_I8, RKH_UI8, RKH_I16, RKH_UI16, RKH_I32, RKH_UI32, RKH_X32, RKH_TEXT, RKH_MEM, RKH_OBJ,
	RKH_FUNCTION, RKH_ESIG, RKH_I64, RKH_U64, RKH_F32, RKH_F64
};

extern const char *const rkh_type_names[16];

struct rkh_item {
	enum rkh_type type;
	unsigned width;              /* display width, 0 to 15 */
	const unsigned char *value;  /* RKH_TEXT: without the NUL; RKH_MEM: without the length */
	size_t len;
};

/*
 * Reads the item at *at and moves *at behind the item. Returns 1, 0 at the end, or -1 if the rest
 * is not an item.
 */
int rkh_item(const struct rkh_config *config, bool wide, const unsigned char *args, size_t len,
	     size_t *at, struct rkh_item *item);

/* ------------------------------------------------------------------ names */

/* RKH_SCHEMAS has the schemas of user events, which only the dialect of posixtrace sends. */
enum rkh_space { RKH_ADDRESSES, RKH_SIGNALS, RKH_POOLS, RKH_EVENTS, RKH_SCHEMAS };

struct rkh_names;

/*
 * rkh_names_new() returns an empty table, or NULL if memory is lacking. rkh_names_clear() removes
 * all names, after which the table can be used again. rkh_names_free() accepts NULL.
 */
struct rkh_names *rkh_names_new(void);
void rkh_names_free(struct rkh_names *names);
void rkh_names_clear(struct rkh_names *names);

/*
 * Sets the name of a value. This name replaces an earlier name. Returns 0, ENOMEM, or ENOSPC if
 * there are too many names.
 */
int rkh_names_set(struct rkh_names *names, enum rkh_space space, uint32_t value, const char *name);

/*
 * Keeps the name of a dictionary record. Removes all names if the frame is a configuration. Ignores
 * other records. Returns errors as rkh_names_set().
 */
int rkh_names_read(struct rkh_names *names, const struct rkh_config *config,
		   const struct rkh_frame *frame);

/*
 * Returns the name without a leading &, or NULL. The name is valid until the next rkh_names_set()
 * or rkh_names_read().
 */
const char *rkh_names_find(const struct rkh_names *names, enum rkh_space space, uint32_t value);

/* Returns the name exactly as in the stream, even with a leading &. */
const char *rkh_names_whole(const struct rkh_names *names, enum rkh_space space, uint32_t value);

/* ------------------------------------------------------------------ filters */

/*
 * The filter imitates the filters of the target, in which a set bit lets a record pass. There are
 * three levels of filters: group and event, active object, and signal. A record must pass each
 * level that applies to its type. The rules of one level apply in their order. A level without
 * rules lets all records pass. In a level with rules, the first rule also decides about records
 * that no rule names. If the first rule is a "pass" rule, these records are dropped. If it is a
 * "drop" rule, these records pass.
 */
struct rkh_filter;

/*
 * rkh_filter_new() returns a filter that lets every record pass, or NULL if memory is lacking.
 * rkh_filter_free() accepts NULL.
 */
struct rkh_filter *rkh_filter_new(void);
void rkh_filter_free(struct rkh_filter *filter);

/*
 * Adds rules, which are separated by commas. A rule is the word "pass" or "drop", a blank, and one
 * of these: "all"; GROUP (only the bit of the group); GROUP.* (the bit of the group and all its
 * events); GROUP.NAME or GROUP.NUMBER; ao=NAME or sig=NAME, where NAME may also be a number or *.
 * Returns 0, EINVAL or ENOMEM.
 */
int rkh_filter_add(struct rkh_filter *filter, const char *rules);

/* Returns whether the record of a frame passes. "names" has the names to which rules refer. */
bool rkh_filter_passes(const struct rkh_filter *filter, const struct rkh_decoder *decoder,
		       const struct rkh_names *names, const struct rkh_frame *frame);

/* Returns whether a user event with this number in its group passes. "name" may be NULL. */
bool rkh_filter_passes_user(const struct rkh_filter *filter, const char *name, uint32_t number);

/* ------------------------------------------------------------------ the listing */

struct rkh_text {
	char *bytes;
	size_t len, room;
	bool failed; /* no memory */
};

/* Each function replaces the text by one line without a line end. */
void rkh_list_frame(struct rkh_text *text, const struct rkh_frame *frame,
		    const struct rkh_decoder *decoder, const struct rkh_names *names);
void rkh_list_trouble(struct rkh_text *text, const struct rkh_trouble *trouble);
void rkh_list_counts(struct rkh_text *text, const struct rkh_counts *counts);

#endif
