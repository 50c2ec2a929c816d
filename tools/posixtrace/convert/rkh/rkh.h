/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh.h - the framed byte stream of the RKH framework: frames, arguments, names.
 *
 * A frame is id, sequence number, timestamp, arguments and checksum, its end the byte 7E; 7E and 7D
 * inside go out as 7D and the byte XOR 20. All numbers are little-endian. The record TCFG tells the
 * sizes that hold from the next frame on.
 *
 * Memory    what the longest frame needs, and names up to a limit.
 * Errors    ENOMEM alone: whatever the bytes are, the decoder goes on with the next flag.
 */
#ifndef POSIXTRACE_CONVERT_RKH_RKH_H
#define POSIXTRACE_CONVERT_RKH_RKH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RKH_FLAG       0x7e
#define RKH_ESCAPE     0x7d
#define RKH_FLIP       0x20
#define RKH_FRAME_MAX  1024 /* unstuffed, unless the decoder is told another limit */
#define RKH_TCFG_BYTES 13

enum { /* ids */
	RKH_TUSR = 0xab, RKH_TCFG = 0xac, RKH_USER = 0xc0, RKH_USER_END = 0xe0,
	/* Reserved user events of our own dialect. */
	RKH_EPOCH = 0xdc, RKH_CTX = 0xdd, RKH_XNAME = 0xde, RKH_MANY = 0xdf,
};

enum rkh_dialect {
	RKH_DIALECT_3,
	RKH_DIALECT_2,  /* flat ids, no TCFG, no user events */
	RKH_DIALECT_PTX /* ours: RKH 3 with four reserved user events */
};

enum { /* flags of TCFG that change what frames look like */
	RKH_HAS_SENDER = 1u << 0, RKH_HAS_QUEUE_MARK = 1u << 11, RKH_HAS_POOL_MARK = 1u << 12,
	RKH_HAS_NUMBER = 1u << 15, RKH_HAS_TIME = 1u << 16, RKH_HAS_SUM = 1u << 17,
};

/* Sizes in bytes. A pointer of 8 has 4 on the wire: the target cuts it. */
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

enum { /* of filters that a record goes through at the target */
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

/* Made from the tables of the format's description; by id. */
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
	enum rkh_anomaly what;
	uint64_t offset;   /* of the frame's first byte */
	uint64_t bytes;    /* of the frame, unstuffed; of the noise; left over */
	unsigned sum, expected, got, missing;
	uint64_t damaged;  /* GAP: frames that were dropped since the last good one */
};

struct rkh_frame {
	uint64_t offset;
	unsigned id;
	bool has_seq, has_time;
	bool is_config;    /* TCFG, and config what it says: it holds from the next frame on */
	bool raw;          /* the arguments do not fit the record, or it is unknown */
	unsigned seq;
	uint64_t ticks;
	const struct rkh_record *record; /* NULL: unknown, TCFG, or a user event */
	const unsigned char *args;
	size_t len;
	size_t used;       /* of len; the rest is left over */
};

struct rkh_counts {
	uint64_t frames, good, of[RKH_ANOMALIES], missing, noise;
};

/* The second is false: stop. */
struct rkh_listener {
	void (*trouble)(void *arg, const struct rkh_trouble *trouble);
	bool (*frame)(void *arg, const struct rkh_frame *frame);
	void *arg;
};

struct rkh_decoder {
	enum rkh_dialect dialect; /* RKH_DIALECT_3 becomes PTX and back where the stream tells */
	bool fixed;               /* it does not */
	unsigned fun;             /* bytes of a function pointer; 0: as TCFG says of others */
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

/* What holds before any TCFG. */
void rkh_config_default(struct rkh_config *config);

/* max: the most bytes of a frame, unstuffed. What is not private may be set behind it. */
int rkh_open(struct rkh_decoder *decoder, size_t max);
void rkh_close(struct rkh_decoder *decoder);

/* The next bytes, in pieces of any size. False: the listener wants no more. */
bool rkh_feed(struct rkh_decoder *decoder, const unsigned char *bytes, size_t len);

/* There are no more. */
void rkh_end(struct rkh_decoder *decoder);

/*
 * What tells a stream apart: it begins with a flag, and a configuration or two good frames follow.
 */
bool rkh_is(const unsigned char *bytes, size_t len);

/* ------------------------------------------------------------------ arguments */

/* Bytes on the wire of a number of that kind; for STR 0. */
unsigned rkh_size(const struct rkh_config *config, enum rkh_kind kind);
bool rkh_is_present(const struct rkh_config *config, enum rkh_kind kind);

/* A number of any size of TCFG: of more than 8 bytes the lower 8. */
uint64_t rkh_number(const unsigned char *p, unsigned bytes);

/* How many bytes the record's arguments take; false: there are too few. */
bool rkh_measure(const struct rkh_config *config, const struct rkh_record *record,
		 const unsigned char *args, size_t len, size_t *used);

enum rkh_type { /* of an item of a user event */
	RKH_I8, RKH_UI8, RKH_I16, RKH_UI16, RKH_I32, RKH_UI32, RKH_X32, RKH_TEXT, RKH_MEM, RKH_OBJ,
	RKH_FUNCTION, RKH_ESIG, RKH_I64, RKH_U64, RKH_F32, RKH_F64
};

extern const char *const rkh_type_names[16];

struct rkh_item {
	enum rkh_type type;
	unsigned width;              /* of display, 0 to 15 */
	const unsigned char *value;  /* TEXT: without the NUL; MEM: without the length */
	size_t len;
};

/* The item at *at, which moves on. 0: no more, 1: one, -1: the rest is no items. */
int rkh_item(const struct rkh_config *config, bool wide, const unsigned char *args, size_t len,
	     size_t *at, struct rkh_item *item);

/* ------------------------------------------------------------------ names */

/* SCHEMAS: of our own dialect, what the data of user events means. */
enum rkh_space { RKH_ADDRESSES, RKH_SIGNALS, RKH_POOLS, RKH_EVENTS, RKH_SCHEMAS };

struct rkh_names;

struct rkh_names *rkh_names_new(void);
void rkh_names_free(struct rkh_names *names);
void rkh_names_clear(struct rkh_names *names);

/* ENOMEM, or ENOSPC: too many names. */
int rkh_names_set(struct rkh_names *names, enum rkh_space space, uint32_t value, const char *name);

/* What a dictionary record says; other records are left alone. Fails as rkh_names_set(). */
int rkh_names_learn(struct rkh_names *names, const struct rkh_config *config,
		    const struct rkh_frame *frame);

/* NULL: none. Without the leading &; valid until the next record is learned. */
const char *rkh_names_find(const struct rkh_names *names, enum rkh_space space, uint32_t value);

/* With it. */
const char *rkh_names_whole(const struct rkh_names *names, enum rkh_space space, uint32_t value);

/* ------------------------------------------------------------------ filters */

/*
 * Rules as the target's filters have them, by what a set bit there means: a record passes when its
 * group and event pass, its active object passes, and its signal passes, as far as it goes through
 * these levels. Rules of a level count in their order. A level without a rule lets all pass; else
 * everything is dropped before a first rule that passes, and passes before one that drops.
 */
struct rkh_filter;

struct rkh_filter *rkh_filter_new(void);
void rkh_filter_free(struct rkh_filter *filter);

/*
 * pass or drop, and then all; GROUP (its bit alone); GROUP.* (its bit and its events); GROUP.NAME
 * or GROUP.NUMBER; ao=NAME, sig=NAME, or a number, or *. Several with commas between. EINVAL;
 * ENOMEM.
 */
int rkh_filter_add(struct rkh_filter *filter, const char *rules);

bool rkh_filter_passes(const struct rkh_filter *filter, const struct rkh_decoder *decoder,
		       const struct rkh_names *names, const struct rkh_frame *frame);

/* A user event of that number in its group; name may be NULL. */
bool rkh_filter_passes_user(const struct rkh_filter *filter, const char *name, uint32_t number);

/* ------------------------------------------------------------------ the listing */

struct rkh_text {
	char *bytes;
	size_t len, room;
	bool failed; /* no memory */
};

/* A line without its end, in place of what text had. */
void rkh_list_frame(struct rkh_text *text, const struct rkh_frame *frame,
		    const struct rkh_decoder *decoder, const struct rkh_names *names);
void rkh_list_trouble(struct rkh_text *text, const struct rkh_trouble *trouble);
void rkh_list_counts(struct rkh_text *text, const struct rkh_counts *counts);

#endif
