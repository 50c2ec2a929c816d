/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format.h - the structures of a log file. log/FORMAT defines them. A number such as 3.1 beside
 * a structure is the section of FORMAT, and a letter with a number such as B5 is a rule of FORMAT.
 *
 * Readers and writers place these structures over bytes of the file. format_layout.c asserts the
 * offset and the size of each field, so a structure cannot differ from FORMAT without an error of
 * the compiler.
 */
#ifndef PTX_LOG_FORMAT_H
#define PTX_LOG_FORMAT_H

#include "log/log.h"

#define PTX_LOG_MAGIC         "PXTRLOG1"
#define PTX_LOG_BLOCK_MAGIC   UINT32_C(0x4b425850) /* "PXBK" on a little-endian machine */
#define PTX_LOG_END_MAGIC     "PXTREND1"
#define PTX_LOG_MAJOR         1
#define PTX_LOG_MINOR         2 /* the minor version of a log without compressed blocks */
#define PTX_LOG_MINOR_COMPRESSED 3
#define PTX_LOG_BYTE_ORDER    UINT64_C(0x0102030405060708)
#define PTX_LOG_HEADER_BYTES  4096
#define PTX_LOG_CLOSING_AT    3584
#define PTX_LOG_BLOCK_RECORDS 65536u                /* room for the records of most blocks */
#define PTX_LOG_PAYLOAD_MAX   (UINT32_C(1) << 29)   /* B5 */
#define PTX_LOG_WHOLE_MAX     (UINT32_C(1) << 20)   /* B8 */
#define PTX_LOG_OFFSET_MAX    (UINT64_C(1) << 48)   /* H5 */
#define PTX_LOG_BLOCK_HEADER_MAX 1024u              /* B2 */
#define PTX_LOG_INDEX_BLOCKS  1024u                 /* DATA blocks per INDEX block, 3.6 */

#define PTX_LOG_WRITING  "writing\n"
#define PTX_LOG_CLOSED   "closed\n\n"
#define PTX_LOG_STREAMED "streamed"

enum ptx_log_arrangement {
	PTX_LOG_SEQUENCE = 1,
	PTX_LOG_SLOTS = 2
};

enum ptx_log_type { /* 3.3 */
	PTX_LOG_DATA = 1,
	PTX_LOG_NAMES,
	PTX_LOG_INDEX,
	PTX_LOG_TOP,
	PTX_LOG_LEDGER,
	PTX_LOG_END,
	PTX_LOG_SCHEMAS,
	PTX_LOG_OBJECTS,
	PTX_LOG_MAPPINGS,
	PTX_LOG_SKIPS,
	PTX_LOG_TYPES
};

/* flag in flags_incompatible of a header: blocks may be compressed */
#define PTX_LOG_COMPRESSED_LOG 2u

/*
 * flag of NAMES, SCHEMAS, OBJECTS and MAPPINGS blocks: the block has all entries of its type, not
 * only the new ones
 */
#define PTX_LOG_ALL_NAMES 1u
#define PTX_LOG_COMPRESSED_BLOCK 2u /* flag of a block: struct ptx_log_compressed follows */

struct ptx_log_sum { /* 3.8 */
	struct ptx_log_status status;
	uint32_t spare;
	uint64_t blocks;
	uint64_t records;
	uint64_t record_bytes;
	int64_t time_first;
	int64_t time_last;
	uint64_t overwritten;
};

/* causes of losses in a line; the SKIPS block has the losses of the cause BUDGET */
#define PTX_LOG_CAUSES 10

struct ptx_log_line { /* 4.2 */
	uint64_t called;
	uint64_t reported;
	uint64_t unread;
	uint64_t lost[PTX_LOG_CAUSES];
};

struct ptx_log_closing { /* 2.2 */
	char state[8];
	uint32_t closing_crc;
	uint32_t spare0;
	struct ptx_log_sum sum;
	struct ptx_log_line total;
	uint32_t guardian_pid;
	uint32_t spare1;
	uint64_t guardian_start;
	uint8_t spare2[296];
};

struct ptx_log_header { /* 2.1 */
	char magic[8];
	uint16_t version_major;
	uint16_t version_minor;
	uint32_t header_bytes;
	uint32_t flags_incompatible;
	uint32_t flags_compatible;
	uint64_t byte_order;
	uint8_t word_bytes;
	uint8_t pthread_bytes;
	uint16_t event_set_bytes;
	uint16_t record_bytes;
	uint16_t block_bytes;
	uint32_t arrangement;
	uint32_t header_crc;
	uint8_t uuid[16];
	uint64_t log_id;
	int64_t begin_time;
	uint32_t pid;
	uint32_t writer_pid;
	uint64_t writer_start;
	uint64_t writer_pid_space;
	uint64_t file_device;
	uint64_t file_inode;
	uint8_t boot_id[16];
	uint64_t clock_hz;
	char clock[32];
	char host[64];
	uint64_t stream_size;
	uint64_t max_data_size;
	uint64_t log_size;
	uint32_t inheritance;
	uint32_t stream_policy;
	uint32_t log_policy;
	uint32_t attr_flags;
	int64_t clock_resolution;
	int64_t creation_time;
	char name[PTX_NAME_BYTES];
	char generation[PTX_NAME_BYTES];
	uint64_t names_offset;
	uint64_t names_bytes;
	uint64_t slots_offset;
	uint64_t slot_bytes;
	uint64_t lists_offset;
	uint64_t lists_bytes;
	int32_t compression;
	uint8_t spare[3108];
	struct ptx_log_closing closing;
};

struct ptx_log_block { /* 3.1 */
	uint32_t magic;
	uint16_t type;
	uint16_t header_bytes;
	uint32_t flags;
	uint32_t payload_bytes;
	uint64_t log_id;
	uint64_t number;
	uint64_t first_record;
	uint64_t oldest;
	int64_t time_min;
	int64_t time_max;
	uint32_t records;
	uint32_t sources;
	uint32_t record_bytes;
	uint32_t shapes;
	uint32_t payload_crc;
	uint32_t header_crc;
};

struct ptx_log_compressed { /* 3.1; behind the header of a compressed block */
	uint32_t whole_bytes;
	uint32_t frame_bytes;
};

struct ptx_log_shape { /* 3.4; the beginning of a struct ptx_record */
	uint32_t len_flags;
	uint16_t type;
	uint16_t source;
	uint64_t address;
};

struct ptx_log_source { /* 3.4 */
	uint32_t pid;
	uint32_t tid;
	uint64_t thread;
};

struct ptx_log_name { /* 3.5 */
	uint32_t type;
	uint32_t spare;
	char name[PTX_TYPE_NAME_BYTES];
};

struct ptx_log_place { /* 3.6 */
	uint64_t offset;
	uint64_t first_record;
	int64_t time_min;
	int64_t time_top;
};

struct ptx_log_type_line { /* 3.7 */
	uint32_t type;
	uint32_t spare;
	struct ptx_log_line line;
};

struct ptx_log_thread_line { /* 3.7 */
	uint32_t pid;
	uint32_t tid;
	uint64_t thread;
	struct ptx_log_line line;
};

struct ptx_log_skip { /* 3.13 */
	uint32_t type;
	uint32_t spare;
	uint64_t events;
};

struct ptx_log_schema { /* 3.10; then the text, to a multiple of 8 */
	uint32_t type;
	uint32_t bytes;
};

/* An OBJECTS block (FORMAT 3.11) has entries of struct ptx_object, record/object.h. */

struct ptx_log_mapping { /* 3.12; then the path, to a multiple of 8 */
	uint32_t kind; /* enum ptx_mapping_kind */
	uint32_t pid;
	uint64_t start;
	uint64_t end;
	uint64_t file_offset;
	uint64_t base;
	int64_t time_ns;
	uint32_t build_id_bytes;
	uint32_t path_bytes;
	uint8_t build_id[PTX_MAPPING_ID_BYTES];
};

struct ptx_log_end { /* 3.9 */
	struct ptx_log_sum sum;
	uint64_t names_offset;
	uint64_t ledger_offset;
	uint64_t top_offset;
	uint64_t lists_offset;
	uint64_t end_offset;
	char magic[8];
};

#endif
