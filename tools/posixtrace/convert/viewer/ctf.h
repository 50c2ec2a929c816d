/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ctf.h - writes the Common Trace Format 1.8 (diamon.org/ctf/v1.8.3): a folder with a file
 * "metadata" and a file for each stream. Here a stream is a stream of CTF, a sequence of packets.
 *
 * All fields are aligned to bytes and in the byte order of this machine, which the metadata states.
 * In CTF, an event of a stream must not be earlier than the event before it. So each event goes to
 * the first stream whose last event is not later than this event. All streams have the same stream
 * class. Functions that return int return 0 or an error number, unless their comments state
 * otherwise.
 */
#ifndef POSIXTRACE_CONVERT_VIEWER_CTF_H
#define POSIXTRACE_CONVERT_VIEWER_CTF_H

#include "convert/format.h"

#define CTF_MAGIC        0xc1fc1fc1u
#define CTF_PACKET_BYTES (128 * 1024)
#define CTF_STREAMS_MAX  64

/* The packet header and packet context; ctf_metadata.c describes both to readers. */
struct ctf_packet_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_size;     /* number of bits */
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded; /* number of events since the stream's beginning */
} __attribute__((packed));

/* The header and context of an event; its payload follows. */
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
	uint8_t *bytes;            /* the current packet */
	size_t used, room;
	uint64_t number;           /* number of written packets */
	uint64_t begin, last;      /* times of the packet, by the trace's clock */
	bool any;                  /* the stream had an event */
	uint64_t discarded;        /* number of discarded events since the beginning */
};

struct ctf_kind {                  /* the event classes of an event type */
	const struct fmt_type *type;
	/* the class was used: [0] for data as bytes, [1] for data as fields */
	bool used[2];
};

struct ctf {
	struct fmt_flow *flow;
	const char *path;
	int folder;
	uint8_t uuid[16];
	struct fmt_facts facts;
	bool has_offset;
	int64_t offset_s;          /* offset of the trace's clock from 1970 */
	struct ctf_stream stream[CTF_STREAMS_MAX];
	unsigned streams;
	struct ctf_kind *kind;     /* one element for each type, at the type's index */
	size_t kinds;
	uint64_t gaps, discarded;
	/* a STOP or OVERFLOW has ended a packet, and no START or RESUME followed */
	bool in_gap;
	/* clamped: the time of an event was changed; ended: the metadata is complete */
	bool clamped, ended;
};

/*
 * In ctf_packet.c. ctf_flush() writes the current packet if it has events.
 */
int ctf_stream_open(struct ctf *ctf, struct ctf_stream *stream);
int ctf_flush(struct ctf *ctf, struct ctf_stream *stream);
void ctf_stream_close(struct ctf_stream *stream);

/*
 * Makes room of "bytes" bytes in the packet for an event with this time. If the packet has no event
 * yet, the packet begins at this time. *room is valid until the next call.
 */
int ctf_room(struct ctf *ctf, struct ctf_stream *stream, uint64_t time, size_t bytes,
	     uint8_t **room);

/*
 * Writes a packet that ends at this time and reports that "events" events were discarded since the
 * packet before it. If in_gap is true, the events in the current packet were recorded in the gap.
 * If the stream also has an earlier packet, these events are written in the packet that reports the
 * gap. In all other cases they are first written in a separate packet.
 */
int ctf_discard(struct ctf *ctf, struct ctf_stream *stream, uint64_t time, uint64_t events,
		bool in_gap);

/* In ctf_metadata.c: writes the metadata. Returns 0 or an error number. */
int ctf_metadata(struct ctf *ctf);

/*
 * In ctf_fields.c: ctf_fields() writes the fields of a schema in TSDL, the language of the
 * metadata. An event whose data the fields do not describe byte for byte (explained.h) belongs to a
 * second class with the same name. In this class the data is an array of bytes. ctf_literal()
 * writes a string literal.
 */
void ctf_fields(struct out *out, const struct posix_trace_schema_np *schema);
void ctf_literal(struct out *out, const char *text);

#endif
