/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_manifest.c - the XML manifest that an EventSource writes into a log.
 *
 * Events name their template, and fields their map, before or behind them in the text; so all of it
 * is gathered first and joined at the end. expat expands no external entity, and the text is
 * bounded by what one log can hold.
 */
#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "formats/etw_describe.h"

#define LIST_MAX 16384 /* events, templates and texts are looked up one by one */

struct template {
	char *id;
	struct etw_layout *layout;
	char *map[ETW_FIELDS_MAX]; /* of each field; NULL: none */
};

struct event {
	char *template, *name;
	unsigned id, version;
};

struct map_text {
	char *map, *message;    /* "$(string.ID)", or the text itself */
	uint32_t value;
	bool bits;
};

struct string {
	char *id, *text;
};

#define LIST(type, name) struct { type *at; size_t len; } name

struct manifest {
	char *provider;
	LIST(struct template *, templates);
	LIST(struct event, events);
	LIST(struct map_text, maps);
	LIST(struct string, strings);
	char *map;              /* whose values come */
	bool bits;
	int open_struct;        /* its index in the template; -1: none */
	const char *why;        /* what is wrong */
	bool no_memory;
	XML_Parser parser;
};

/* Room for one more element; NULL: no memory. */
static void *grow(void **at, size_t *len, size_t size, struct manifest *m)
{
	void *more = *at;

	if (*len == LIST_MAX) {
		m->why = "it has too many elements";
		return NULL;
	}
	if (!(*len & (*len - 1)))
		more = reallocarray(*at, *len ? 2 * *len : 1, size);
	if (!more) {
		m->no_memory = true;
		return NULL;
	}
	*at = more;
	memset((char *)more + *len * size, 0, size);
	return (char *)more + (*len)++ * size;
}

static const char *attribute(const char **attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

static char *copy(struct manifest *m, const char *text)
{
	char *to = text ? strdup(text) : NULL;

	if (text && !to)
		m->no_memory = true;
	return to;
}

static unsigned in_type(const char *text)
{
	static const struct { const char *name; unsigned in; } types[] = {
		{ "win:UnicodeString", ETW_IN_UTF16 }, { "win:AnsiString", ETW_IN_ANSI },
		{ "win:Int8", ETW_IN_S8 }, { "win:UInt8", ETW_IN_U8 },
		{ "win:Int16", ETW_IN_S16 }, { "win:UInt16", ETW_IN_U16 },
		{ "win:Int32", ETW_IN_S32 }, { "win:UInt32", ETW_IN_U32 },
		{ "win:Int64", ETW_IN_S64 }, { "win:UInt64", ETW_IN_U64 },
		{ "win:Float", ETW_IN_FLOAT }, { "win:Double", ETW_IN_DOUBLE },
		{ "win:Boolean", ETW_IN_BOOL32 }, { "win:Binary", ETW_IN_BINARY },
		{ "win:GUID", ETW_IN_GUID }, { "win:Pointer", ETW_IN_POINTER },
		{ "win:FILETIME", ETW_IN_FILETIME }, { "win:SYSTEMTIME", ETW_IN_SYSTEMTIME },
		{ "win:SID", ETW_IN_SID }, { "win:HexInt32", ETW_IN_HEX32 },
		{ "win:HexInt64", ETW_IN_HEX64 },
		{ "trace:SizeT", ETW_IN_SIZE }, { "trace:Port", ETW_IN_U16 },
		{ "trace:IPAddr", ETW_IN_U32 },
	};

	for (size_t i = 0; text && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, text))
			return types[i].in;
	return ETW_IN_REST_ANSI + 1000; /* which nothing can take */
}

static unsigned out_type(const char *text, const char *in)
{
	static const struct { const char *name; unsigned out; } types[] = {
		{ "xs:boolean", ETW_OUT_BOOL }, { "win:HexInt8", ETW_OUT_HEX8 },
		{ "win:HexInt16", 17 }, { "win:HexInt32", 18 }, { "win:HexInt64", ETW_OUT_HEX64 },
		{ "win:Port", ETW_OUT_PORT }, { "win:IPv4", ETW_OUT_IPV4 },
		{ "win:IPv6", ETW_OUT_IPV6 }, { "win:SocketAddress", ETW_OUT_SOCKET_ADDRESS },
		{ "win:Win32Error", ETW_OUT_WIN32_ERROR }, { "win:NTSTATUS", ETW_OUT_NTSTATUS },
		{ "win:HResult", ETW_OUT_HRESULT }, { "win:CodePointer", ETW_OUT_CODE_POINTER },
	};

	if (in && !strcmp(in, "trace:Port"))
		return ETW_OUT_PORT;
	if (in && !strcmp(in, "trace:IPAddr"))
		return ETW_OUT_IPV4;
	for (size_t i = 0; text && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, text))
			return types[i].out;
	return ETW_OUT_DEFAULT;
}

/* A number, or the name of an earlier field of the template. */
static void rule_of(const char *text, const struct etw_layout *layout, enum etw_rule *rule,
		    unsigned *value)
{
	char *end;
	unsigned long number;

	if (!text || !*text)
		return;
	number = strtoul(text, &end, 0);
	if (!*end) {
		*rule = ETW_RULE_FIXED;
		*value = number > UINT16_MAX ? UINT16_MAX : (unsigned)number;
		return;
	}
	for (unsigned i = 0; i < layout->fields; i++)
		if (!strcmp(layout->field[i].name, text)) {
			*rule = ETW_RULE_FIELD;
			*value = i;
			return;
		}
}

static void begin_field(struct manifest *m, const char **attributes, bool is_struct)
{
	struct template *t = m->templates.len ? m->templates.at[m->templates.len - 1] : NULL;
	const char *name = attribute(attributes, "name"), *in = attribute(attributes, "inType");
	struct etw_field *field;
	unsigned index;

	if (!t || !name) {
		m->why = "a field of it has no template or no name";
		return;
	}
	index = t->layout->fields;
	if (index == ETW_FIELDS_MAX) {
		m->why = "a template of it has too many fields";
		return;
	}
	field = etw_layout_add(t->layout, name, strlen(name));
	if (!field) {
		m->no_memory = true;
		return;
	}
	field->next = index + 1;
	rule_of(attribute(attributes, "count"), t->layout, &field->count_rule, &field->count);
	if (is_struct) {
		field->in = ETW_IN_STRUCT;
		field->first = index + 1;
		m->open_struct = (int)index;
	} else {
		field->in = in_type(in);
		field->out = out_type(attribute(attributes, "outType"), in);
		rule_of(attribute(attributes, "length"), t->layout, &field->length_rule,
			&field->length);
		t->map[index] = copy(m, attribute(attributes, "map"));
	}
	if (!is_struct && m->open_struct >= 0)
		t->layout->field[m->open_struct].members++;
	else
		t->layout->top++;
}

static void begin_template(struct manifest *m, const char **attributes)
{
	struct template **place, *t = calloc(1, sizeof(*t));

	if (t)
		t->layout = etw_layout_new();
	place = t && t->layout ? grow((void **)&m->templates.at, &m->templates.len,
				      sizeof(*place), m) : NULL;
	if (!place) {
		m->no_memory = !m->why;
		if (t)
			etw_layout_free(t->layout);
		free(t);
		return;
	}
	*place = t;
	t->id = copy(m, attribute(attributes, "tid"));
	m->open_struct = -1;
}

static void begin_event(struct manifest *m, const char **attributes)
{
	const char *value = attribute(attributes, "value"),
		   *version = attribute(attributes, "version");
	const char *symbol = attribute(attributes, "symbol");
	struct event *e = grow((void **)&m->events.at, &m->events.len, sizeof(*e), m);

	if (!e)
		return;
	e->id = value ? (unsigned)strtoul(value, NULL, 0) & UINT16_MAX : 0;
	e->version = version ? (unsigned)strtoul(version, NULL, 0) & UINT8_MAX : 0;
	e->template = copy(m, attribute(attributes, "template"));
	e->name = copy(m, symbol ? symbol : attribute(attributes, "task"));
}

static void begin_map_value(struct manifest *m, const char **attributes)
{
	const char *value = attribute(attributes, "value");
	struct map_text *text = grow((void **)&m->maps.at, &m->maps.len, sizeof(*text), m);

	if (!text)
		return;
	text->map = copy(m, m->map);
	text->message = copy(m, attribute(attributes, "message"));
	text->value = value ? (uint32_t)strtoul(value, NULL, 0) : 0;
	text->bits = m->bits;
}

static void begin_string(struct manifest *m, const char **attributes)
{
	struct string *string = grow((void **)&m->strings.at, &m->strings.len, sizeof(*string), m);

	if (!string)
		return;
	string->id = copy(m, attribute(attributes, "id"));
	string->text = copy(m, attribute(attributes, "value"));
}

static void XMLCALL on_begin(void *arg, const char *element, const char **attributes)
{
	struct manifest *m = arg;

	if (!strcmp(element, "provider") && !m->provider) {
		m->provider = copy(m, attribute(attributes, "name"));
	} else if (!strcmp(element, "event")) {
		begin_event(m, attributes);
	} else if (!strcmp(element, "template")) {
		begin_template(m, attributes);
	} else if (!strcmp(element, "data")) {
		begin_field(m, attributes, false);
	} else if (!strcmp(element, "struct")) {
		begin_field(m, attributes, true);
	} else if (!strcmp(element, "valueMap") || !strcmp(element, "bitMap")) {
		free(m->map);
		m->map = copy(m, attribute(attributes, "name"));
		m->bits = *element == 'b';
	} else if (!strcmp(element, "map")) {
		begin_map_value(m, attributes);
	} else if (!strcmp(element, "string")) {
		begin_string(m, attributes);
	}
	if (m->why || m->no_memory)
		XML_StopParser(m->parser, XML_FALSE);
}

static void XMLCALL on_end(void *arg, const char *element)
{
	struct manifest *m = arg;
	struct template *t = m->templates.len ? m->templates.at[m->templates.len - 1] : NULL;

	if (strcmp(element, "struct") != 0 || !t || m->open_struct < 0)
		return;
	t->layout->field[m->open_struct].next = t->layout->fields;
	m->open_struct = -1;
}

/* An entity can grow a text without bound, and no manifest needs one. */
static void XMLCALL on_entity(void *arg, const char *name, int is_parameter, const char *value,
			      int length, const char *base, const char *system, const char *public,
			      const char *notation)
{
	struct manifest *m = arg;

	(void)name, (void)is_parameter, (void)value, (void)length, (void)base, (void)system;
	(void)public, (void)notation;
	m->why = "it declares an entity";
	XML_StopParser(m->parser, XML_FALSE);
}

static const char *message_text(const struct manifest *m, const char *message)
{
	size_t len = message ? strlen(message) : 0;

	if (len < 11 || strncmp(message, "$(string.", 9) != 0)
		return message;
	for (size_t i = 0; i < m->strings.len; i++) {
		const struct string *s = &m->strings.at[i];

		if (s->id && s->text && strlen(s->id) == len - 10 &&
		    !strncmp(s->id, message + 9, len - 10))
			return s->text;
	}
	return NULL;
}

static bool add_maps(struct etw_describe *describe, const unsigned char *guid,
		     const struct manifest *m)
{
	for (size_t i = 0; i < m->maps.len;) {
		const struct map_text *first = &m->maps.at[i];
		struct etw_map *map = calloc(1, sizeof(*map));

		if (!map)
			return false;
		map->bits = first->bits;
		for (; i < m->maps.len && m->maps.at[i].map && first->map &&
		       !strcmp(m->maps.at[i].map, first->map); i++) {
			const char *text = message_text(m, m->maps.at[i].message);

			if (text && !etw_map_add(map, m->maps.at[i].value, text)) {
				etw_map_free(map);
				return false;
			}
		}
		if (!first->map) {
			etw_map_free(map);
			i++;
		} else if (!etw_describe_map(describe, guid, first->map, map)) {
			return false;
		}
	}
	return true;
}

/* A layout of the event's own, with the fields of its template, if it has one. */
static bool add_event(struct etw_describe *describe, const unsigned char *guid,
		      const struct manifest *m, const struct event *e)
{
	const struct template *t = NULL;
	struct etw_layout *layout = etw_layout_new();

	if (!layout)
		return false;
	for (size_t i = 0; e->template && i < m->templates.len && !t; i++)
		if (m->templates.at[i]->id && !strcmp(m->templates.at[i]->id, e->template))
			t = m->templates.at[i];
	for (unsigned i = 0; t && i < t->layout->fields; i++) {
		const struct etw_field *from = &t->layout->field[i];
		struct etw_field *field = etw_layout_add(layout, from->name, strlen(from->name));
		char *name;

		if (!field ||
		    (t->map[i] && !etw_describe_use_map(describe, guid, layout, i, t->map[i]))) {
			etw_describe_drop(describe, layout);
			return false;
		}
		name = field->name;
		*field = *from;
		field->name = name;
	}
	layout->top = t ? t->layout->top : 0;
	layout->provider = m->provider ? strndup(m->provider, ETW_NAME_CHARS) : NULL;
	layout->event = e->name ? strndup(e->name, ETW_NAME_CHARS) : NULL;
	return etw_describe_add(describe, guid, e->id, e->version, layout);
}

static void free_manifest(struct manifest *m)
{
	for (size_t i = 0; i < m->templates.len; i++) {
		struct template *t = m->templates.at[i];

		for (unsigned field = 0; field < t->layout->fields; field++)
			free(t->map[field]);
		etw_layout_free(t->layout);
		free(t->id);
		free(t);
	}
	for (size_t i = 0; i < m->events.len; i++) {
		free(m->events.at[i].template);
		free(m->events.at[i].name);
	}
	for (size_t i = 0; i < m->maps.len; i++) {
		free(m->maps.at[i].map);
		free(m->maps.at[i].message);
	}
	for (size_t i = 0; i < m->strings.len; i++) {
		free(m->strings.at[i].id);
		free(m->strings.at[i].text);
	}
	free(m->templates.at);
	free(m->events.at);
	free(m->maps.at);
	free(m->strings.at);
	free(m->provider);
	free(m->map);
}

bool etw_manifest(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
		  const char *text, size_t size, const char **why)
{
	struct manifest m = { .open_struct = -1, .parser = XML_ParserCreate("UTF-8") };
	bool ok = m.parser != NULL;

	*why = NULL;
	if (!ok)
		return false;
	/* The texts are written with a NUL and a byte order mark by some. */
	while (size && !text[size - 1])
		size--;
	XML_SetUserData(m.parser, &m);
	XML_SetElementHandler(m.parser, on_begin, on_end);
	XML_SetEntityDeclHandler(m.parser, on_entity);
	if (XML_Parse(m.parser, text, (int)size, XML_TRUE) != XML_STATUS_OK) {
		ok = false;
		if (!m.no_memory && XML_GetErrorCode(m.parser) != XML_ERROR_NO_MEMORY)
			*why = m.why ? m.why : "it is no XML";
	}
	XML_ParserFree(m.parser);
	ok = ok && add_maps(describe, guid, &m);
	for (size_t i = 0; ok && i < m.events.len; i++)
		ok = add_event(describe, guid, &m, &m.events.at[i]);
	free_manifest(&m);
	return ok;
}
