/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_layout.c - the tables of FORMAT as assertions, in the same order.
 *
 * tests/check_format.sh compares the assertions with FORMAT: each row here, except the row of the
 * member `closing`, is a row of a table there. The file makes no code. If a field moves, or a
 * compiler inserts padding, the build fails here. So no writer can be built that writes logs in
 * another layout.
 */
#include "log/format.h"

/* A row: the section of FORMAT, the structure, the field, its offset and its size in bytes. */
#define ROW(section, type, field, offset, bytes)                                                  \
	_Static_assert(offsetof(struct type, field) == (offset) &&                                \
		       sizeof(((struct type *)0)->field) == (bytes), "FORMAT " section " " #field);
/* The size of the whole structure: it shows that no padding follows the last field. */
#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type);

/* FORMAT 2.1 */
/*
 * The header: its identity and sizes (FORMAT H1 to H6), the writer (FORMAT R4), the attributes of
 * the stream, and the areas of an arrangement of slots. Fields that a later minor version adds use
 * the spare part.
 */
ROW("2.1", ptx_log_header, magic, 0, 8)
ROW("2.1", ptx_log_header, version_major, 8, 2)
ROW("2.1", ptx_log_header, version_minor, 10, 2)
ROW("2.1", ptx_log_header, header_bytes, 12, 4)
ROW("2.1", ptx_log_header, flags_incompatible, 16, 4)
ROW("2.1", ptx_log_header, flags_compatible, 20, 4)
ROW("2.1", ptx_log_header, byte_order, 24, 8)
ROW("2.1", ptx_log_header, word_bytes, 32, 1)
ROW("2.1", ptx_log_header, pthread_bytes, 33, 1)
ROW("2.1", ptx_log_header, event_set_bytes, 34, 2)
ROW("2.1", ptx_log_header, record_bytes, 36, 2)
ROW("2.1", ptx_log_header, block_bytes, 38, 2)
ROW("2.1", ptx_log_header, arrangement, 40, 4)
ROW("2.1", ptx_log_header, header_crc, 44, 4)
ROW("2.1", ptx_log_header, uuid, 48, 16)
ROW("2.1", ptx_log_header, log_id, 64, 8)
ROW("2.1", ptx_log_header, begin_time, 72, 8)
ROW("2.1", ptx_log_header, pid, 80, 4)
ROW("2.1", ptx_log_header, writer_pid, 84, 4)
ROW("2.1", ptx_log_header, writer_start, 88, 8)
ROW("2.1", ptx_log_header, writer_pid_space, 96, 8)
ROW("2.1", ptx_log_header, file_device, 104, 8)
ROW("2.1", ptx_log_header, file_inode, 112, 8)
ROW("2.1", ptx_log_header, boot_id, 120, 16)
ROW("2.1", ptx_log_header, clock_hz, 136, 8)
ROW("2.1", ptx_log_header, clock, 144, 32)
ROW("2.1", ptx_log_header, host, 176, 64)
ROW("2.1", ptx_log_header, stream_size, 240, 8)
ROW("2.1", ptx_log_header, max_data_size, 248, 8)
ROW("2.1", ptx_log_header, log_size, 256, 8)
ROW("2.1", ptx_log_header, inheritance, 264, 4)
ROW("2.1", ptx_log_header, stream_policy, 268, 4)
ROW("2.1", ptx_log_header, log_policy, 272, 4)
ROW("2.1", ptx_log_header, attr_flags, 276, 4)
ROW("2.1", ptx_log_header, clock_resolution, 280, 8)
ROW("2.1", ptx_log_header, creation_time, 288, 8)
ROW("2.1", ptx_log_header, name, 296, 64)
ROW("2.1", ptx_log_header, generation, 360, 64)
ROW("2.1", ptx_log_header, names_offset, 424, 8)
ROW("2.1", ptx_log_header, names_bytes, 432, 8)
ROW("2.1", ptx_log_header, slots_offset, 440, 8)
ROW("2.1", ptx_log_header, slot_bytes, 448, 8)
ROW("2.1", ptx_log_header, lists_offset, 456, 8)
ROW("2.1", ptx_log_header, lists_bytes, 464, 8)
ROW("2.1", ptx_log_header, compression, 472, 4)
ROW("2.1", ptx_log_header, spare, 476, 3108)

/* FORMAT 2.2 */
/*
 * The writer writes this area again without the rest of the header. The area has 512 bytes, like a
 * sector of a disk, so that a write of the area is not torn.
 */
ROW("2.2", ptx_log_closing, state, 0, 8)
ROW("2.2", ptx_log_closing, closing_crc, 8, 4)
ROW("2.2", ptx_log_closing, spare0, 12, 4)
ROW("2.2", ptx_log_closing, sum, 16, 80)
ROW("2.2", ptx_log_closing, total, 96, 104)
ROW("2.2", ptx_log_closing, guardian_pid, 200, 4)
ROW("2.2", ptx_log_closing, spare1, 204, 4)
ROW("2.2", ptx_log_closing, guardian_start, 208, 8)
ROW("2.2", ptx_log_closing, spare2, 216, 296)

/* FORMAT 3.1 */
/* Each block begins with these fields; the checksum of the header is the last field. */
ROW("3.1", ptx_log_block, magic, 0, 4)
ROW("3.1", ptx_log_block, type, 4, 2)
ROW("3.1", ptx_log_block, header_bytes, 6, 2)
ROW("3.1", ptx_log_block, flags, 8, 4)
ROW("3.1", ptx_log_block, payload_bytes, 12, 4)
/*
 * The field `number` gives the order of the blocks of a type; first_record counts the events before
 * the block (FORMAT D3).
 */
ROW("3.1", ptx_log_block, log_id, 16, 8)
ROW("3.1", ptx_log_block, number, 24, 8)
ROW("3.1", ptx_log_block, first_record, 32, 8)
ROW("3.1", ptx_log_block, oldest, 40, 8)
ROW("3.1", ptx_log_block, time_min, 48, 8)
ROW("3.1", ptx_log_block, time_max, 56, 8)
ROW("3.1", ptx_log_block, records, 64, 4)
ROW("3.1", ptx_log_block, sources, 68, 4)
ROW("3.1", ptx_log_block, record_bytes, 72, 4)
ROW("3.1", ptx_log_block, shapes, 76, 4)
ROW("3.1", ptx_log_block, payload_crc, 80, 4)
ROW("3.1", ptx_log_block, header_crc, 84, 4)

/* Only the header of a compressed block has these fields. */
ROW("3.1", ptx_log_compressed, whole_bytes, 0, 4)
ROW("3.1", ptx_log_compressed, frame_bytes, 4, 4)
SIZE(ptx_log_compressed, 8)

/* FORMAT 3.4 */
/* An entry of the table of threads, the last part of a DATA block, packed or plain. */
ROW("3.4", ptx_log_source, pid, 0, 4)
ROW("3.4", ptx_log_source, tid, 4, 4)
ROW("3.4", ptx_log_source, thread, 8, 8)

/* FORMAT 3.4 */
/* A shape is equal to the beginning of a record, so format_pack.c copies it into the record. */
ROW("3.4", ptx_log_shape, len_flags, 0, 4)
ROW("3.4", ptx_log_shape, type, 4, 2)
ROW("3.4", ptx_log_shape, source, 6, 2)
ROW("3.4", ptx_log_shape, address, 8, 8)

/* FORMAT 3.5 */
/*
 * The entries have a constant size, so the count in the header gives the length of the payload
 * (FORMAT N1).
 */
ROW("3.5", ptx_log_name, type, 0, 4)
ROW("3.5", ptx_log_name, spare, 4, 4)
ROW("3.5", ptx_log_name, name, 8, 64)

/* FORMAT 3.6 */
/* An entry of INDEX and of TOP; readers do a binary search, by time_top or first_record. */
ROW("3.6", ptx_log_place, offset, 0, 8)
ROW("3.6", ptx_log_place, first_record, 8, 8)
ROW("3.6", ptx_log_place, time_min, 16, 8)
ROW("3.6", ptx_log_place, time_top, 24, 8)

/* FORMAT 3.7 */
/*
 * The line of a type in the ledger. The ledger has the total, then the lines of types in rising
 * order, then the lines of threads.
 */
ROW("3.7", ptx_log_type_line, type, 0, 4)
ROW("3.7", ptx_log_type_line, spare, 4, 4)
ROW("3.7", ptx_log_type_line, line, 8, 104)

/* FORMAT 3.7 */
/* The lines of threads have no order; readers sort them if necessary. */
ROW("3.7", ptx_log_thread_line, pid, 0, 4)
ROW("3.7", ptx_log_thread_line, tid, 4, 4)
ROW("3.7", ptx_log_thread_line, thread, 8, 8)
ROW("3.7", ptx_log_thread_line, line, 16, 104)

/* FORMAT 3.8 */
/* In a complete log, the closing area and the END block have the same sum. */
ROW("3.8", ptx_log_sum, status, 0, 28)
ROW("3.8", ptx_log_sum, spare, 28, 4)
ROW("3.8", ptx_log_sum, blocks, 32, 8)
ROW("3.8", ptx_log_sum, records, 40, 8)
ROW("3.8", ptx_log_sum, record_bytes, 48, 8)
ROW("3.8", ptx_log_sum, time_first, 56, 8)
ROW("3.8", ptx_log_sum, time_last, 64, 8)
ROW("3.8", ptx_log_sum, overwritten, 72, 8)

/* FORMAT 3.9 */
/*
 * The fields end_offset and `magic` are last, so a reader finds the block from the end of the file
 * (FORMAT R2).
 */
ROW("3.9", ptx_log_end, sum, 0, 80)
/*
 * Because of these offsets, a reader of a complete log need not search for the parts of the tail
 * (FORMAT E2).
 */
ROW("3.9", ptx_log_end, names_offset, 80, 8)
ROW("3.9", ptx_log_end, ledger_offset, 88, 8)
ROW("3.9", ptx_log_end, top_offset, 96, 8)
ROW("3.9", ptx_log_end, lists_offset, 104, 8)
ROW("3.9", ptx_log_end, end_offset, 112, 8)
ROW("3.9", ptx_log_end, magic, 120, 8)

/* FORMAT 3.10 */
/* The head of an entry; the text and its padding follow it. */
ROW("3.10", ptx_log_schema, type, 0, 4)
ROW("3.10", ptx_log_schema, bytes, 4, 4)

/* FORMAT 3.11 */
/*
 * The list of objects in an arena has the same structure (record/object.h), so the log's writer
 * copies the entries without a change.
 */
ROW("3.11", ptx_object, kind, 0, 4)
ROW("3.11", ptx_object, pid, 4, 4)
ROW("3.11", ptx_object, pointer, 8, 8)
ROW("3.11", ptx_object, time_ns, 16, 8)
ROW("3.11", ptx_object, name, 24, 48)

/* FORMAT 3.12 */
/* The head of an entry; the path of a file and its padding follow it. */
ROW("3.12", ptx_log_mapping, kind, 0, 4)
ROW("3.12", ptx_log_mapping, pid, 4, 4)
ROW("3.12", ptx_log_mapping, start, 8, 8)
ROW("3.12", ptx_log_mapping, end, 16, 8)
ROW("3.12", ptx_log_mapping, file_offset, 24, 8)
ROW("3.12", ptx_log_mapping, base, 32, 8)
ROW("3.12", ptx_log_mapping, time_ns, 40, 8)
ROW("3.12", ptx_log_mapping, build_id_bytes, 48, 4)
ROW("3.12", ptx_log_mapping, path_bytes, 52, 4)
ROW("3.12", ptx_log_mapping, build_id, 56, 32)

/* FORMAT 3.13 */
/*
 * The lines of the ledger do not have the skipped events. So a reader that does not support SKIPS
 * blocks finds a ledger that adds up.
 */
ROW("3.13", ptx_log_skip, type, 0, 4)
ROW("3.13", ptx_log_skip, spare, 4, 4)
ROW("3.13", ptx_log_skip, events, 8, 8)

/* FORMAT 4.1 */
/*
 * The same structure as in a ring, but the fields `source` and `time` have other meanings in a log.
 */
ROW("4.1", ptx_record, len_flags, 0, 4)
ROW("4.1", ptx_record, type, 4, 2)
ROW("4.1", ptx_record, source, 6, 2)
ROW("4.1", ptx_record, address, 8, 8)
/* The time is in ticks in a ring, and in nanoseconds in a log. */
ROW("4.1", ptx_record, time, 16, 8)

/* FORMAT 4.2 */
/*
 * The field `lost` has ten causes. The cause BUDGET is not among them: a SKIPS block has the events
 * that a budget skipped (FORMAT 3.13).
 */
ROW("4.2", ptx_log_line, called, 0, 8)
ROW("4.2", ptx_log_line, reported, 8, 8)
ROW("4.2", ptx_log_line, unread, 16, 8)
ROW("4.2", ptx_log_line, lost, 24, 80)

/* FORMAT 4.3 */
/* The members of struct posix_trace_status_info of <trace.h>, as numbers of fixed size. */
ROW("4.3", ptx_log_status, stream_status, 0, 4)
ROW("4.3", ptx_log_status, stream_full, 4, 4)
ROW("4.3", ptx_log_status, stream_overrun, 8, 4)
ROW("4.3", ptx_log_status, flush_status, 12, 4)
ROW("4.3", ptx_log_status, flush_error, 16, 4)
ROW("4.3", ptx_log_status, log_overrun, 20, 4)
ROW("4.3", ptx_log_status, log_full, 24, 4)
/*
 * In the structure, the closing area is a field of the header. In FORMAT it has a table of its own.
 * Code that reads or writes only the closing area uses the offset PTX_LOG_CLOSING_AT.
 */
ROW("2.2", ptx_log_header, closing, PTX_LOG_CLOSING_AT, 512)
/*
 * The sizes. Structures are placed one behind the other, and each must begin at a multiple of 8
 * (FORMAT B1, B2). So each size is a multiple of 8, apart from that of ptx_log_status. That
 * structure occurs only in struct ptx_log_sum, which pads it.
 */
SIZE(ptx_log_header, PTX_LOG_HEADER_BYTES)
SIZE(ptx_log_closing, 512)
SIZE(ptx_log_block, 88)
SIZE(ptx_log_shape, 16)
SIZE(ptx_log_source, 16)
SIZE(ptx_log_name, 72)
SIZE(ptx_log_place, 32)
SIZE(ptx_log_type_line, 112)
SIZE(ptx_log_thread_line, 120)
SIZE(ptx_log_sum, 80)
SIZE(ptx_log_end, 128)
SIZE(ptx_log_mapping, 88)
SIZE(ptx_record, 24)
SIZE(ptx_log_line, 104)
SIZE(ptx_log_skip, 16)
SIZE(ptx_log_status, 28)
