/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ctf_metadata.c - writes the metadata: text in TSDL (CTF 1.8, section 7 and appendix C) that
 * describes all other files.
 *
 * The metadata is written after all other files, because it depends on all event types and on the
 * used classes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "convert/viewer/ctf.h"

/*
 * Writes a string literal. Bytes that are not UTF-8, and unsafe characters, become text such as
 * \xff. Returns false if the text was changed.
 */
static bool put_literal(struct out *out, const char *text, size_t len)
{
	const unsigned char *from = (const unsigned char *)text, *end = from + len;
	bool exact = true;

	out_char(out, '"');
	while (from < end) {
		char *p = out_room(out);
		uint32_t c;
		size_t n = text_character(from, (size_t)(end - from), &c);

		if (n && !text_is_unsafe(c)) {
			if (c == '"' || c == '\\')
				*p++ = '\\';
			memcpy(p, from, n);
			p += n;
		} else {
			exact = false;
			n = 1;
			memcpy(p, "\\\\x", 3);
			p = put_hex(p + 3, *from, 2);
		}
		out_done(out, p);
		from += n;
	}
	out_char(out, '"');
	return exact;
}

void ctf_literal(struct out *out, const char *text)
{
	put_literal(out, text, strlen(text));
}

/* Writes an entry of env, the description of the trace, unless the text is empty. */
static void put_env_text(struct out *out, const char *key, const char *text)
{
	if (!*text)
		return;
	out_printf(out, "\t%s = ", key);
	put_literal(out, text, strlen(text));
	out_str(out, ";\n");
}

/*
 * If a string literal cannot represent a name exactly, writes the bytes of the name in hexadecimal
 * digits, so that they are not lost. Names of more than 4096 bytes get no such entry.
 */
static void put_env_names(struct out *out, const struct ctf *ctf)
{
	for (size_t i = 0; i < ctf->kinds; i++) {
		const struct fmt_type *type = ctf->kind[i].type;
		/*
		 * This literal is not written to the file. It is only a test whether a literal can
		 * represent the name exactly.
		 */
		static struct out scratch = { .fd = -1 };

		scratch.used = 0;
		if (type->name_len > 4096 || put_literal(&scratch, type->name, type->name_len))
			continue;
		out_printf(out, "\tevent_name_%zu_hex = \"", i);
		out_hex(out, type->name, type->name_len);
		out_str(out, "\";\n");
	}
}

/* The names hostname, trace_name and tracer_name are those that Babeltrace shows. */
static void put_env(struct out *out, const struct ctf *ctf)
{
	const struct fmt_facts *facts = &ctf->facts;

	out_str(out, "env {\n");
	put_env_text(out, "hostname", facts->host);
	put_env_text(out, "trace_name", facts->name);
	put_env_text(out, "tracer_name", "posixtrace");
	put_env_text(out, "generation", facts->generation);
	put_env_text(out, "event_clock", facts->clock);
	out_printf(out, "\tpid = %u;\n", facts->pid);
	if (facts->has_creation)
		out_printf(out, "\tcreation_ns = \"%lld\";\n", (long long)facts->creation_ns);
	put_env_names(out, ctf);
	out_str(out, "};\n\n");
}

static void put_uuid(struct out *out, const uint8_t *id)
{
	for (int i = 0; i < 16; i++)
		out_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

/*
 * Writes the aliases of types and the trace block. Readers find the byte order in the trace block
 * and by the magic number.
 */
static void put_trace(struct out *out, const struct ctf *ctf)
{
	static const uint16_t one = 1;

	out_str(out,
		"/* CTF 1.8 */\n\n"
		"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
		"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
		"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
		"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
		"typealias integer { size = 8; align = 8; signed = true; } := s8;\n"
		"typealias integer { size = 16; align = 8; signed = true; } := s16;\n"
		"typealias integer { size = 32; align = 8; signed = true; } := s32;\n"
		"typealias integer { size = 64; align = 8; signed = true; } := s64;\n"
		"typealias integer { size = 8; align = 8; signed = false; base = 16; } := x8;\n"
		"typealias integer { size = 16; align = 8; signed = false; base = 16; } := x16;\n"
		"typealias integer { size = 32; align = 8; signed = false; base = 16; } := x32;\n"
		"typealias integer { size = 64; align = 8; signed = false; base = 16; } := x64;\n"
		"typealias integer { size = 8; align = 8; signed = false; base = 8; } := o8;\n"
		"typealias integer { size = 16; align = 8; signed = false; base = 8; } := o16;\n"
		"typealias integer { size = 32; align = 8; signed = false; base = 8; } := o32;\n"
		"typealias integer { size = 64; align = 8; signed = false; base = 8; } := o64;\n"
		"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := f32;\n"
		"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n\n"
		"trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	put_uuid(out, ctf->uuid);
	out_printf(out, "\";\n\tbyte_order = %s;\n", *(const uint8_t *)&one ? "le" : "be");
	out_str(out, "\tpacket.header := struct {\n"
		     "\t\tu32 magic;\n"
		     "\t\tu8 uuid[16];\n"
		     "\t\tu32 stream_id;\n"
		     "\t\tu64 stream_instance_id;\n"
		     "\t};\n"
		     "};\n\n");
}

/*
 * Writes the clock and the common class of all streams. In the metadata, the packet header and the
 * packet context together must have the fields of struct ctf_packet_head. The event header and the
 * event context together must have the fields of struct ctf_event_head.
 */
static void put_stream(struct out *out, const struct ctf *ctf)
{
	out_str(out, "clock {\n\tname = realtime;\n\tdescription = \"CLOCK_REALTIME\";\n"
		     "\tfreq = 1000000000;\n");
	out_printf(out, "\toffset_s = %lld;\n\toffset = 0;\n\tabsolute = true;\n};\n\n",
		   (long long)ctf->offset_s);
	out_str(out, "typealias integer {\n"
		     "\tsize = 64; align = 8; signed = false; map = clock.realtime.value;\n"
		     "} := time_t;\n\n"
		     "stream {\n"
		     "\tid = 0;\n"
		     "\tevent.header := struct {\n"
		     "\t\tu32 id;\n"
		     "\t\ttime_t timestamp;\n"
		     "\t};\n"
		     "\tevent.context := struct {\n"
		     "\t\tu32 _pid;\n"
		     "\t\tu32 _tid;\n"
		     "\t\tx64 _thread;\n"
		     "\t\tx64 _address;\n"
		     "\t\ts32 _cpu;\n"
		     "\t\tu8 _truncated;\n"
		     "\t\tu8 _late;\n"
		     "\t\tu8 _after_damage;\n"
		     "\t};\n"
		     "\tpacket.context := struct {\n"
		     "\t\ttime_t timestamp_begin;\n"
		     "\t\ttime_t timestamp_end;\n"
		     "\t\tu64 content_size;\n"
		     "\t\tu64 packet_size;\n"
		     "\t\tu64 packet_seq_num;\n"
		     "\t\tu64 events_discarded;\n"
		     "\t};\n"
		     "};\n\n");
}

/*
 * Returns the loglevel of LTTng for a level: 2 critical, 3 error, 4 warning, 6 information, 14
 * debug. Babeltrace prints loglevels. Returns -1 for a type without a level.
 */
static int loglevel_of(int level)
{
	static const int levels[] = { 2, 3, 4, 6, 14 };

	return level >= 1 && level <= 5 ? levels[level - 1] : -1;
}

/*
 * Writes an event class: a type with one of the two forms of its data. Both classes of a type have
 * the same name.
 */
static void put_event_class(struct out *out, const struct fmt_type *type, bool typed)
{
	out_str(out, "event {\n\tname = ");
	put_literal(out, type->name, type->name_len < 4096 ? type->name_len : 4096);
	out_printf(out, ";\n\tid = %zu;\n\tstream_id = 0;\n", 2 * type->index + typed);
	if (loglevel_of(type->level) >= 0)
		out_printf(out, "\tloglevel = %d;\n", loglevel_of(type->level));
	out_str(out, "\tfields := struct {\n");
	if (typed)
		ctf_fields(out, type->fields);
	else
		out_str(out, "\t\tu32 _data_length;\n\t\tx8 _data[_data_length];\n");
	out_str(out, "\t};\n};\n\n");
}

int ctf_metadata(struct ctf *ctf)
{
	struct out *out = calloc(1, sizeof(*out));
	int err;

	if (!out)
		return ENOMEM;
	/*
	 * The folder is new. If the file exists nevertheless, another process has made it, and the
	 * call fails because of O_EXCL.
	 */
	out->fd = openat(ctf->folder, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out->fd < 0) {
		err = errno;
		free(out);
		return err;
	}
	put_trace(out, ctf);
	put_env(out, ctf);
	put_stream(out, ctf);
	for (size_t i = 0; i < ctf->kinds; i++)
		for (int typed = 0; typed < 2; typed++)
			if (ctf->kind[i].used[typed])
				put_event_class(out, ctf->kind[i].type, typed);
	err = out_flush(out);
	close(out->fd);
	free(out);
	return err;
}
