/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ctf.h - a trace in the Common Trace Format 1.8 being written: a folder with a file "metadata" and
 * a file for each stream.
 *
 * Everything is aligned to bytes and in the byte order of this machine. The times of a stream may
 * not fall in CTF; an event that is older than the one before it goes to the next stream whose last
 * event is not younger. All streams are of one class.
 */
#ifndef POSIXTRACE_CONVERT_VIEWER_CTF_H
#define POSIXTRACE_CONVERT_VIEWER_CTF_H

#include "convert/format.h"

#define CTF_MAGIC        0xc1fc1fc1u
#define CTF_PACKET_BYTES (128 * 1024)
#define CTF_STREAMS_MAX  64

/* What stands before the events of a packet; ctf_metadata.c describes it. */
struct ctf_packet_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_size;     /* in bits */
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded; /* in the stream so far */
} __attribute__((packed));

/* Before the payload of an event. */
struct ctf_event_head {
	uint32_t id;
	uint64_t timestamp;
	uint32_t pid, tid;
	uint64_t thread;
	uint64_t address;
	int32_t cpu;
	uint8_t truncated, late, after_damage;
} __attribute__((packed));

struct ctf_stream {
	int fd;
	uint8_t *bytes;            /* the packet */
	size_t used, room;
	uint64_t number;           /* of packets before */
	uint64_t begin, last;      /* times, in the trace's clock */
	bool any;                  /* an event was in it */
	uint64_t discarded;
};

struct ctf_kind {                  /* of an event type */
	const struct fmt_type *type;
	bool used[2];              /* as bytes, as fields */
};

struct ctf {
	struct fmt_flow *flow;
	const char *path;
	int folder;
	uint8_t uuid[16];
	struct fmt_facts facts;
	bool has_offset;
	int64_t offset_s;          /* of the clock */
	struct ctf_stream stream[CTF_STREAMS_MAX];
	unsigned streams;
	struct ctf_kind *kind;     /* by index of the type */
	size_t kinds;
	uint64_t gaps, discarded;
	bool in_gap;               /* a packet ended where it began */
	bool clamped, ended;
};

/* ctf_packet.c. Each 0 or an error number. */
int ctf_stream_open(struct ctf *ctf, struct ctf_stream *stream);
int ctf_flush(struct ctf *ctf, struct ctf_stream *stream);
void ctf_stream_close(struct ctf_stream *stream);

/* Room for that many bytes more in the packet, which begins at that time if it has no event yet. */
int ctf_room(struct ctf *ctf, struct ctf_stream *stream, uint64_t time, size_t bytes,
	     uint8_t **room);

/*
 * A packet that ends at that time: from the packet before it on, so many events were discarded. Of
 * events that wait for their packet, those in the gap are in this one, others before it.
 */
int ctf_discard(struct ctf *ctf, struct ctf_stream *stream, uint64_t time, uint64_t events,
		bool in_gap);

/* convert/viewer/ctf_metadata.c */
int ctf_metadata(struct ctf *ctf);

/*
 * ctf_fields.c. A schema's fields as TSDL. An event whose data is not explained by them,
 * byte for byte (explained.h), is of another class of the same name, with its data as bytes.
 */
void ctf_fields(struct out *out, const struct posix_trace_schema_np *schema);
void ctf_literal(struct out *out, const char *text);

#endif
