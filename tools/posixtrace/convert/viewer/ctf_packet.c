/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ctf_packet.c - the packets of a CTF stream (CTF 1.8, section 5).
 *
 * A packet is collected in memory and written as one piece, since its header contains its size and
 * the time of its last event.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "base/whole.h"
#include "convert/viewer/ctf.h"

/*
 * Creates the file of a stream. The function increases ctf->streams even if memory is lacking, so
 * that the file is closed and removed later.
 */
int ctf_stream_open(struct ctf *ctf, struct ctf_stream *stream)
{
	char name[32];

	snprintf(name, sizeof(name), "stream_%u", (unsigned)(stream - ctf->stream));
	stream->fd = openat(ctf->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (stream->fd < 0)
		return errno;
	stream->room = CTF_PACKET_BYTES;
	stream->used = sizeof(struct ctf_packet_head);
	stream->bytes = malloc(stream->room);
	ctf->streams++;
	return stream->bytes ? 0 : ENOMEM;
}

void ctf_stream_close(struct ctf_stream *stream)
{
	close(stream->fd);
	free(stream->bytes);
}

/*
 * Completes the header, writes the packet and begins the next packet. ctf_room() or ctf_discard()
 * sets the time of the next packet.
 */
static int write_packet(struct ctf *ctf, struct ctf_stream *stream)
{
	struct ctf_packet_head *head = (struct ctf_packet_head *)(void *)stream->bytes;
	int err;

	head->magic = CTF_MAGIC;
	memcpy(head->uuid, ctf->uuid, sizeof(head->uuid));
	head->stream_id = 0;
	head->stream_instance_id = (uint64_t)(stream - ctf->stream);
	head->timestamp_begin = stream->begin;
	head->timestamp_end = stream->last;
	/* Sizes are in bits. The packet has no padding. */
	head->content_size = head->packet_size = 8 * (uint64_t)stream->used;
	head->packet_seq_num = stream->number++;
	head->events_discarded = stream->discarded;
	err = whole_write(stream->fd, stream->bytes, stream->used);
	stream->used = sizeof(*head);
	/*
	 * If a large event has made the buffer grow, the buffer shrinks again, so that its memory
	 * remains constant.
	 */
	if (stream->room > CTF_PACKET_BYTES) {
		uint8_t *less = realloc(stream->bytes, CTF_PACKET_BYTES);

		if (less) {
			stream->bytes = less;
			stream->room = CTF_PACKET_BYTES;
		}
	}
	return err;
}

int ctf_flush(struct ctf *ctf, struct ctf_stream *stream)
{
	return stream->used > sizeof(struct ctf_packet_head) ? write_packet(ctf, stream) : 0;
}

int ctf_room(struct ctf *ctf, struct ctf_stream *stream, uint64_t time, size_t bytes,
	     uint8_t **room)
{
	if (bytes > stream->room - stream->used) {
		int err = ctf_flush(ctf, stream);

		if (err)
			return err;
	}
	/* The packet grows for an event that is larger than CTF_PACKET_BYTES. */
	if (!vec_reserve(&stream->bytes, &stream->room, stream->used, bytes))
		return ENOMEM;
	if (stream->used == sizeof(struct ctf_packet_head))
		stream->begin = time;
	*room = stream->bytes + stream->used;
	stream->used += bytes;
	stream->last = time;
	stream->any = true;
	return 0;
}

int ctf_discard(struct ctf *ctf, struct ctf_stream *stream, uint64_t time, uint64_t events,
		bool in_gap)
{
	bool has_events = stream->used > sizeof(struct ctf_packet_head);
	int err = has_events && !(in_gap && stream->number) ? write_packet(ctf, stream) : 0;

	if (err)
		return err;
	/*
	 * A reader computes how many events were discarded before a packet: the count in this
	 * packet minus the count in the packet before. So the first packet of a stream cannot
	 * report discarded events. If this packet would be the first, an empty packet is written
	 * before it.
	 */
	if (!stream->number) {
		stream->begin = stream->last = stream->any ? stream->last : time;
		err = write_packet(ctf, stream);
	}
	if (time > stream->last)
		stream->last = time;
	/* A packet without events begins at the time of its end. */
	if (stream->used == sizeof(struct ctf_packet_head))
		stream->begin = stream->last;
	stream->discarded += events;
	return err ? err : write_packet(ctf, stream);
}
