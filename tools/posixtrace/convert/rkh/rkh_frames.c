/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_frames.c - decodes bytes to frames and checks them, in this order: damage, configuration,
 * length, checksum, sequence number, arguments. A damaged frame is dropped as a whole, and decoding
 * continues at the next flag. The input is hostile, so the decoder relies only on the flags.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/octets.h"
#include "convert/rkh/rkh.h"

const char *const rkh_anomaly_names[RKH_ANOMALIES] = {
	"checksum", "short", "abort", "bad-escape", "overlong", "truncated", "noise", "gap",
	"duplicate", "unknown", "args-short", "args-trailing",
};

/*
 * Allocates two buffers of the size of the longest frame: one for the current frame, and one for
 * the last good frame, to detect a repetition.
 */
int rkh_open(struct rkh_decoder *decoder, size_t max)
{
	memset(decoder, 0, sizeof(*decoder));
	rkh_config_default(&decoder->config);
	decoder->max = max;
	decoder->bytes = malloc(max);
	decoder->before = malloc(max);
	if (decoder->bytes && decoder->before)
		return 0;
	rkh_close(decoder);
	return ENOMEM;
}

/* May be called for a decoder that is all zeros, or that rkh_open() could not complete. */
void rkh_close(struct rkh_decoder *decoder)
{
	free(decoder->bytes);
	free(decoder->before);
	decoder->bytes = decoder->before = NULL;
}

/* Counts and reports a fault. */
static void report_trouble(struct rkh_decoder *d, struct rkh_trouble trouble)
{
	d->counts.of[trouble.anomaly]++;
	if (trouble.anomaly <= RKH_OVERLONG) {
		d->counts.frames++;
		d->damaged++;
	}
	if (d->listener.trouble)
		d->listener.trouble(d->listener.arg, &trouble);
}

/* Reports the current frame as damaged. */
static void report_damage(struct rkh_decoder *d, enum rkh_anomaly anomaly, unsigned sum)
{
	report_trouble(
		d, (struct rkh_trouble){
			   .anomaly = anomaly, .offset = d->begin, .bytes = d->len, .sum = sum });
}

/* Returns the sum of bytes modulo 256. The sum of a whole frame with its checksum is 0. */
static unsigned sum_of(const unsigned char *bytes, size_t len)
{
	const uint64_t low = UINT64_C(0x00ff00ff00ff00ff);
	unsigned sum = 0;

	/*
	 * The loop adds eight bytes at a time, in four sums of 16 bits. Only the low bits of their
	 * total are used.
	 */
	for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t), bytes += sizeof(uint64_t)) {
		uint64_t sums, eight;

		memcpy(&eight, bytes, sizeof(eight));
		sums = (eight & low) + (eight >> 8 & low);
		sum += (unsigned)(sums + (sums >> 16) + (sums >> 32) + (sums >> 48));
	}
	for (size_t i = 0; i < len; i++)
		sum += bytes[i];
	return sum & 0xff;
}

/* ------------------------------------------------------------------ TCFG */

/*
 * Returns whether the frame is a TCFG. The settings of a TCFG are not applied yet when it arrives.
 * So the flags in the TCFG itself decide whether it has a checksum.
 */
static bool is_config(const struct rkh_decoder *d)
{
	uint32_t flags;

	if (d->dialect == RKH_DIALECT_2 || d->len < 1 + RKH_TCFG_BYTES || d->bytes[0] != RKH_TCFG)
		return false;
	flags = octets_u32(d->bytes + 3);
	if (flags & RKH_HAS_SUM)
		return d->len == 2 + RKH_TCFG_BYTES && !sum_of(d->bytes, d->len);
	return d->len == 1 + RKH_TCFG_BYTES;
}

/* Applies a TCFG, which begins a new stream. Returns false if the listener stops the decoder. */
static bool apply_config(struct rkh_decoder *d)
{
	const unsigned char *p = d->bytes + 1;
	struct rkh_frame frame = {
		.offset = d->begin, .id = RKH_TCFG, .is_config = true, .args = p,
		.len = RKH_TCFG_BYTES, .used = RKH_TCFG_BYTES,
	};

	d->config.version = octets_u16(p);
	d->config.flags = octets_u32(p + 2);
	d->config.sig = p[6] >> 4;
	d->config.ts = p[6] & 15;
	d->config.ptr = p[7] >> 4;
	d->config.fun = d->fun ? d->fun : d->config.ptr;
	d->config.ntimer = p[7] & 15;
	d->config.nblock = p[8] >> 4;
	d->config.nelem = p[8] & 15;
	d->config.esize = p[9] & 15;
	d->config.bsize = p[10] >> 4;
	d->config.epools = p[10] & 15;
	d->config.hz = octets_u16(p + 11);
	/*
	 * The sequence numbers start again after a TCFG, so the number of the next frame reports no
	 * gap.
	 */
	d->has_last = false;
	d->damaged = 0;
	d->after_config = true;
	if (!d->fixed)
		d->dialect = RKH_DIALECT_3;
	d->counts.frames++;
	d->counts.good++;
	return !d->listener.frame || d->listener.frame(d->listener.arg, &frame);
}

/* ------------------------------------------------------------------ the other frames */

/*
 * Checks the sequence number. Returns false if the frame repeats the frame before it, byte for
 * byte.
 */
static bool check_sequence(struct rkh_decoder *d, unsigned seq)
{
	unsigned expected = (d->last + 1) & 0xff;

	if (!d->has_last || seq == expected)
		return true;
	if (seq == d->last && d->len == d->before_len && !memcmp(d->bytes, d->before, d->len)) {
		d->counts.frames++;
		report_trouble(d, (struct rkh_trouble){ .anomaly = RKH_DUPLICATE,
							.offset = d->begin,
							.got = seq });
		return false;
	}
	d->counts.missing += (seq - expected) & 0xff;
	report_trouble(d, (struct rkh_trouble){ .anomaly = RKH_GAP,
						.offset = d->begin,
						.expected = expected,
						.got = seq,
						.missing = (seq - expected) & 0xff,
						.damaged = d->damaged });
	return true;
}

/*
 * Recognizes the dialect of posixtrace. In this dialect the TCFG has the frequency 0, and an epoch
 * follows it.
 */
static void recognize_dialect(struct rkh_decoder *d, const struct rkh_frame *frame)
{
	struct rkh_config config = d->config;
	struct rkh_item item;
	size_t at = 0;
	int items = 0;

	if (!d->after_config)
		return;
	d->after_config = false;
	if (d->fixed || config.hz || frame->id != RKH_EPOCH || frame->len != 15)
		return;
	while (rkh_item(&config, false, frame->args, frame->len, &at, &item) > 0)
		items += item.type == RKH_UI32;
	if (items == 3)
		d->dialect = RKH_DIALECT_PTX;
}

/*
 * Compares the arguments with the record, and reports a difference. The frame is kept in any case,
 * because its header is valid.
 */
static void explain_args(struct rkh_decoder *d, struct rkh_frame *frame)
{
	struct rkh_trouble trouble = { .offset = d->begin };
	bool user =
		d->dialect != RKH_DIALECT_2 && frame->id >= RKH_USER && frame->id < RKH_USER_END;
	bool fits = true;

	if (user) {
		struct rkh_item item;
		int more;

		do
			more = rkh_item(&d->config, d->dialect == RKH_DIALECT_PTX, frame->args,
					frame->len, &frame->used, &item);
		while (more > 0);
		fits = !more;
	} else if (frame->record) {
		fits = rkh_measure(&d->config, frame->record, frame->args, frame->len,
				   &frame->used);
	}
	frame->raw = !fits || (!user && !frame->record);
	if (!user && !frame->record) {
		trouble.anomaly = RKH_UNKNOWN;
		report_trouble(d, trouble);
	} else if (!fits) {
		trouble.anomaly = RKH_ARGS_SHORT;
		report_trouble(d, trouble);
	} else if (frame->used < frame->len) {
		trouble.anomaly = RKH_ARGS_TRAILING;
		trouble.bytes = frame->len - frame->used;
		report_trouble(d, trouble);
	}
	if (frame->raw)
		frame->used = 0;
}

/*
 * Checks a complete frame and passes it to the listener. Returns false if the listener has stopped
 * the decoder.
 */
static bool judge_frame(struct rkh_decoder *d)
{
	const struct rkh_record *records =
		d->dialect == RKH_DIALECT_2 ? rkh2_records : rkh3_records;
	bool has_sum = d->config.flags & RKH_HAS_SUM;
	struct rkh_frame frame = {
		.offset = d->begin,
		.has_seq = d->config.flags & RKH_HAS_NUMBER,
		.has_time = d->config.flags & RKH_HAS_TIME,
	};
	size_t head = 1u + frame.has_seq + (frame.has_time ? d->config.ts : 0);
	const unsigned char *p = d->bytes;
	unsigned char *swap;

	/* At a wrong escape, bytes are missing or damaged, so the whole frame is dropped. */
	if (d->marked) {
		report_damage(d, RKH_BAD_ESCAPE, 0);
		return true;
	}
	if (is_config(d))
		return apply_config(d);
	if (d->len < head + has_sum) {
		report_damage(d, RKH_SHORT, 0);
		return true;
	}
	/* The rest of this function relies on the checksum, if the stream has checksums. */
	if (has_sum && sum_of(d->bytes, d->len)) {
		report_damage(d, RKH_CHECKSUM, sum_of(d->bytes, d->len));
		return true;
	}
	frame.id = *p++;
	frame.seq = frame.has_seq ? *p++ : 0;
	if (frame.has_time)
		frame.ticks = rkh_number(p, d->config.ts);
	if (frame.has_seq && !check_sequence(d, frame.seq))
		return true;
	frame.args = d->bytes + head;
	frame.len = d->len - head - has_sum;
	if (records[frame.id].name)
		frame.record = &records[frame.id];
	recognize_dialect(d, &frame);
	explain_args(d, &frame);
	d->counts.frames++;
	d->counts.good++;
	d->has_last = true;
	d->last = frame.seq;
	d->damaged = 0;
	/* The buffers are exchanged, so that the next frame can be compared with this one. */
	swap = d->before;
	d->before = d->bytes;
	d->before_len = d->len;
	d->bytes = swap;
	return !d->listener.frame || d->listener.frame(d->listener.arg, &frame);
}

/* ------------------------------------------------------------------ bytes */

/* Reports the bytes before the first flag, which belong to no frame. */
static void report_noise(struct rkh_decoder *d)
{
	if (d->counts.noise)
		report_trouble(
			d, (struct rkh_trouble){ .anomaly = RKH_NOISE, .bytes = d->counts.noise });
}

/* Begins a frame after a flag. */
static void start_frame(struct rkh_decoder *d)
{
	d->state = RKH_COLLECT;
	d->begin = d->at + 1;
	d->len = 0;
	d->marked = false;
}

/*
 * Handles a flag, which ends the current frame, if any. Returns false if the listener stops the
 * decoder.
 */
static bool handle_flag(struct rkh_decoder *d)
{
	bool more = true;

	if (d->state == RKH_HUNT)
		report_noise(d);
	else if (d->state == RKH_ESCAPED)
		report_damage(d, RKH_ABORT, 0);
	else if (d->state == RKH_COLLECT && d->len)
		more = judge_frame(d);
	start_frame(d);
	return more;
}

/*
 * Adds a byte. If the frame is too long, the decoder skips the input up to the next flag, so that
 * the memory for a frame is bounded.
 */
static void append_byte(struct rkh_decoder *d, unsigned char byte)
{
	if (d->len == d->max) {
		report_damage(d, RKH_OVERLONG, 0);
		d->state = RKH_SKIP;
		return;
	}
	d->bytes[d->len++] = byte;
}

/*
 * Returns whether one of eight bytes has that value. The exclusive or makes such a byte zero. The
 * subtraction then sets its highest bit, which was not set before. In any other byte, the
 * subtraction sets this bit only if a lower byte borrows from it, and only a zero byte borrows.
 * Therefore the result is exact.
 */
static bool has_byte(uint64_t eight, unsigned char byte)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t zero_if_same = eight ^ ones * byte;

	return (zero_if_same - ones) & ~zero_if_same & ones << 7;
}

/*
 * Adds bytes up to the next flag or escape, but no more than fit into the frame, and returns how
 * many bytes it has added. Most bytes are not flags or escapes.
 */
static size_t append_run(struct rkh_decoder *d, const unsigned char *bytes, size_t len)
{
	size_t room = d->max - d->len, most = len < room ? len : room, n = 0;
	unsigned char *to = d->bytes + d->len;

	for (; most - n >= sizeof(uint64_t); n += sizeof(uint64_t)) {
		uint64_t eight;

		memcpy(&eight, bytes + n, sizeof(eight));
		if (has_byte(eight, RKH_FLAG) || has_byte(eight, RKH_ESCAPE))
			break;
		memcpy(to + n, &eight, sizeof(eight));
	}
	/*
	 * This loop handles the rest. Fewer than eight bytes are left, or one of the next eight
	 * bytes ends the run.
	 */
	while (n < most && bytes[n] != RKH_FLAG && bytes[n] != RKH_ESCAPE) {
		to[n] = bytes[n];
		n++;
	}
	d->len += n;
	return n;
}

/*
 * Memory and time are bounded for any input: each byte is handled once, and a frame has at most
 * "max" bytes. Most bytes are handled in append_run().
 */
bool rkh_feed(struct rkh_decoder *d, const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++, d->at++) {
		unsigned char byte;

		if (d->state == RKH_COLLECT) {
			size_t run = append_run(d, bytes + i, len - i);

			i += run;
			d->at += run;
			if (i == len)
				break;
		}
		byte = bytes[i];
		if (byte == RKH_FLAG) {
			if (!handle_flag(d))
				return false;
			continue;
		}
		switch (d->state) {
		case RKH_HUNT:
			d->counts.noise++;
			break;
		case RKH_COLLECT:
			if (byte == RKH_ESCAPE)
				d->state = RKH_ESCAPED;
			else
				append_byte(d, byte);
			break;
		case RKH_ESCAPED:
			d->state = RKH_COLLECT;
			/*
			 * Only the flag and the escape itself may be escaped. If another byte is
			 * escaped, the frame is wrong. It is read to its end, so that the decoder
			 * finds the next frame.
			 */
			d->marked |=
				byte != (RKH_FLAG ^ RKH_FLIP) && byte != (RKH_ESCAPE ^ RKH_FLIP);
			append_byte(d, byte ^ RKH_FLIP);
			break;
		case RKH_SKIP:
			break;
		}
	}
	return true;
}

/* Afterwards the decoder can be used for another stream. */
void rkh_end(struct rkh_decoder *d)
{
	if (d->state == RKH_HUNT)
		report_noise(d);
	else if (d->state == RKH_ESCAPED || (d->state == RKH_COLLECT && d->len))
		report_damage(d, RKH_TRUNCATED, 0);
	d->state = RKH_HUNT;
}

/* Ends the decoding at a configuration, which proves that the bytes are a stream. */
static bool find_config(void *arg, const struct rkh_frame *frame)
{
	bool *is_config = arg;

	*is_config |= frame->is_config;
	return !frame->is_config;
}

/*
 * Examines at most 4096 bytes, because detection reads no more bytes from a pipe. Noise before the
 * first flag is not accepted, since other formats would match.
 */
bool rkh_is(const unsigned char *bytes, size_t len)
{
	struct rkh_decoder decoder;
	bool is, has_config = false;

	/* Two frames with valid checksums are unlikely in other data. */
	if (len < 2 || bytes[0] != RKH_FLAG || rkh_open(&decoder, RKH_FRAME_MAX))
		return false;
	decoder.listener = (struct rkh_listener){ .frame = find_config, .arg = &has_config };
	rkh_feed(&decoder, bytes, len < 4096 ? len : 4096);
	is = has_config || (decoder.counts.good - decoder.counts.of[RKH_UNKNOWN] > 1 &&
			    decoder.damaged <= decoder.counts.good);
	rkh_close(&decoder);
	return is;
}
