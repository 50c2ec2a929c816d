/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rkh_write.c - writes frames: escapes, sequence number and checksum. */
#include "convert/octets.h"
#include "convert/rkh/rkh.h"
#include "convert/rkh/rkh_sink.h"

/* The sum and the length of the frame are computed over the bytes without escapes. */
void rkh_write_bytes(struct rkh_writer *writer, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	writer->len += len;
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = p[i];

		writer->sum += byte;
		if (byte == RKH_FLAG || byte == RKH_ESCAPE) {
			out_char(writer->out, RKH_ESCAPE);
			byte ^= RKH_FLIP;
		}
		out_char(writer->out, (char)byte);
	}
}

/* Writes a number in little endian, in 1 to 8 bytes. */
void rkh_write_number(struct rkh_writer *writer, uint64_t value, unsigned bytes)
{
	unsigned char number[8];

	octets_put(number, value, bytes);
	rkh_write_bytes(writer, number, bytes);
}

/* Writes a number as an item. The sink sends only numbers of 4 or 8 bytes in this way. */
void rkh_write_item(struct rkh_writer *writer, unsigned type, uint64_t value)
{
	rkh_write_number(writer, type, 1);
	rkh_write_number(writer, value, type == RKH_U64 ? 8 : 4);
}

/* The sequence number after 255 is 0. The checksum includes all bytes from the id on. */
void rkh_write_begin(struct rkh_writer *writer, unsigned id, uint32_t ticks)
{
	writer->sum = 0;
	writer->len = 0;
	rkh_write_number(writer, id, 1);
	rkh_write_number(writer, writer->number++, 1);
	rkh_write_number(writer, ticks, 4);
}

/*
 * The checksum is the number that makes the sum of all bytes 0 modulo 256. The flag ends the frame.
 */
void rkh_write_end(struct rkh_writer *writer)
{
	rkh_write_number(writer, (unsigned char)-writer->sum, 1);
	out_char(writer->out, RKH_FLAG);
	if (writer->len > writer->longest)
		writer->longest = writer->len;
}
