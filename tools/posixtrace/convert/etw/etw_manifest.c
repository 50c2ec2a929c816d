/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_manifest.c - reads the XML manifest that an EventSource writes into a log (eventman.xsd).
 *
 * An event refers to its template by name, and a field refers to its map by name. The template or
 * the map may follow later in the text. So the functions of this file collect all elements, and
 * etw_manifest_join.c joins them. expat expands no external entities, on_entity() refuses declared
 * entities, and the size of a log's chunks limits the text.
 */
#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "convert/etw/etw_manifest.h"

#define LIST_MAX 16384 /* greatest number of elements of one kind */

/* A manifest while expat reads it. */
struct reading {
	struct manifest manifest;
	char *map;              /* the map to which the next values belong */
	bool bits;
	int open_struct;        /* index of the open struct in the template; -1: none */
	const char *why;        /* the fault */
	bool no_memory;
	XML_Parser parser;
};

/* Returns whether a list has got space for one more element. If not, stores the reason in *m. */
static bool has_grown(struct reading *m, size_t len, bool has_memory)
{
	if (len == LIST_MAX)
		m->why = "it has too many elements";
	else if (!has_memory)
		m->no_memory = true;
	return len < LIST_MAX && has_memory;
}

/*
 * Appends an element of all zeros to a list of the manifest; NULL: too many elements, or no memory.
 */
#define NEW(m, list) \
	(has_grown(m, (m)->manifest.list.len, \
		   vec_grow(&(m)->manifest.list.at, (m)->manifest.list.len, 1)) \
		 ? &(m)->manifest.list.at[(m)->manifest.list.len++] \
		 : NULL)

/*
 * Returns the last template that was begun, or NULL. The elements "data" and "struct" belong to
 * this template.
 */
static struct manifest_template *last_template(const struct reading *m)
{
	size_t len = m->manifest.templates.len;

	return len ? m->manifest.templates.at[len - 1] : NULL;
}

/* Returns the value of an attribute, or NULL. */
static const char *etw_manifest_attribute(const char **attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

/* Returns a copy of the text. Returns NULL if "text" is NULL, or if memory is lacking. */
static char *copy_text(struct reading *m, const char *text)
{
	char *to = text ? strdup(text) : NULL;

	if (text && !to)
		m->no_memory = true;
	return to;
}

/*
 * Returns the in-type for its name in a manifest. An EventSource uses only the names in this table.
 */
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
	/* Events with a field of an unknown type are not decoded. */
	return ETW_IN_REST_ANSI + 1000; /* etw_value_take() refuses this type */
}

/* Returns the out-type for its name. The in-types trace:Port and trace:IPAddr imply an out-type. */
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

/*
 * Reads a count or a length. The text is a number or the name of an earlier field of the template;
 * any other text is ignored.
 */
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

/* Adds a field or a struct to the last template. */
static void begin_field(struct reading *m, const char **attributes, bool is_struct)
{
	struct manifest_template *t = last_template(m);
	const char *name = etw_manifest_attribute(attributes, "name"),
		   *in = etw_manifest_attribute(attributes, "inType");
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
	rule_of(etw_manifest_attribute(attributes, "count"), t->layout, &field->count_rule,
		&field->count);
	if (is_struct) {
		field->in = ETW_IN_STRUCT;
		field->first = index + 1;
		m->open_struct = (int)index;
	} else {
		field->in = in_type(in);
		field->out = out_type(etw_manifest_attribute(attributes, "outType"), in);
		rule_of(etw_manifest_attribute(attributes, "length"), t->layout,
			&field->length_rule, &field->length);
		t->map[index] = copy_text(m, etw_manifest_attribute(attributes, "map"));
	}
	if (!is_struct && m->open_struct >= 0)
		t->layout->field[m->open_struct].members++;
	else
		t->layout->top++;
}

/* Begins a template. Following fields belong to it. */
static void begin_template(struct reading *m, const char **attributes)
{
	struct manifest_template **place, *t = calloc(1, sizeof(*t));

	if (t)
		t->layout = etw_layout_new();
	place = t && t->layout ? NEW(m, templates) : NULL;
	if (!place) {
		m->no_memory = !m->why;
		if (t)
			etw_layout_free(t->layout);
		free(t);
		return;
	}
	*place = t;
	t->id = copy_text(m, etw_manifest_attribute(attributes, "tid"));
	m->open_struct = -1;
}

/*
 * Adds an event. The function reduces the event's numbers to the bits that a record has for them.
 */
static void begin_event(struct reading *m, const char **attributes)
{
	const char *value = etw_manifest_attribute(attributes, "value"),
		   *version = etw_manifest_attribute(attributes, "version");
	const char *symbol = etw_manifest_attribute(attributes, "symbol");
	struct manifest_event *e = NEW(m, events);

	if (!e)
		return;
	e->id = value ? (unsigned)strtoul(value, NULL, 0) & UINT16_MAX : 0;
	e->version = version ? (unsigned)strtoul(version, NULL, 0) & UINT8_MAX : 0;
	e->template = copy_text(m, etw_manifest_attribute(attributes, "template"));
	e->name = copy_text(m, symbol ? symbol : etw_manifest_attribute(attributes, "task"));
}

/*
 * Stores the message of a value. "$(string.ID)" refers to a string, which has the name of the
 * value. Any other text is the name itself.
 */
static void begin_message(struct reading *m, struct manifest_map_value *value, const char *message)
{
	static const char prefix[] = "$(string.";
	size_t len = message ? strlen(message) : 0;

	value->is_id = len > sizeof(prefix) && !strncmp(message, prefix, sizeof(prefix) - 1);
	if (value->is_id)
		message += sizeof(prefix) - 1;
	value->message = copy_text(m, message);
	/* Removes the parenthesis at the end. */
	if (value->is_id && value->message)
		value->message[len - sizeof(prefix)] = '\0';
}

/* Adds a value to the list of all maps, with the name of the map that is open. */
static void begin_map_value(struct reading *m, const char **attributes)
{
	const char *value = etw_manifest_attribute(attributes, "value");
	struct manifest_map_value *text = NEW(m, maps);

	if (!text)
		return;
	text->map = copy_text(m, m->map);
	begin_message(m, text, etw_manifest_attribute(attributes, "message"));
	text->value = value ? (uint32_t)strtoul(value, NULL, 0) : 0;
	text->bits = m->bits;
}

/* Adds a string of the localization. Messages refer to the string by its identifier. */
static void begin_string(struct reading *m, const char **attributes)
{
	struct manifest_string *string = NEW(m, strings);

	if (!string)
		return;
	string->id = copy_text(m, etw_manifest_attribute(attributes, "id"));
	string->text = copy_text(m, etw_manifest_attribute(attributes, "value"));
}

/*
 * expat calls this function for each element. Unknown elements are ignored. An error stops the
 * parser.
 */
static void XMLCALL on_begin(void *arg, const char *element, const char **attributes)
{
	struct reading *m = arg;

	if (!strcmp(element, "provider") && !m->manifest.provider) {
		m->manifest.provider = copy_text(m, etw_manifest_attribute(attributes, "name"));
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
		m->map = copy_text(m, etw_manifest_attribute(attributes, "name"));
		m->bits = *element == 'b';
	} else if (!strcmp(element, "map")) {
		begin_map_value(m, attributes);
	} else if (!strcmp(element, "string")) {
		begin_string(m, attributes);
	}
	if (m->why || m->no_memory)
		XML_StopParser(m->parser, XML_FALSE);
}

/* The function handles only the end of a struct, which ends the list of its members. */
static void XMLCALL on_end(void *arg, const char *element)
{
	struct reading *m = arg;
	struct manifest_template *t = last_template(m);

	if (strcmp(element, "struct") != 0 || !t || m->open_struct < 0)
		return;
	t->layout->field[m->open_struct].next = t->layout->fields;
	m->open_struct = -1;
}

/*
 * Refuses declared entities. With such entities, a short text could grow without limit. Manifests
 * do not need them.
 */
static void XMLCALL on_entity(void *arg, const char *name, int is_parameter, const char *value,
			      int length, const char *base, const char *system, const char *public,
			      const char *notation)
{
	struct reading *m = arg;

	(void)name, (void)is_parameter, (void)value, (void)length, (void)base, (void)system;
	(void)public, (void)notation;
	m->why = "it declares an entity";
	XML_StopParser(m->parser, XML_FALSE);
}

/* Frees all elements and the layouts of the templates. Events have copies of these layouts. */
static void free_manifest(struct manifest *m)
{
	for (size_t i = 0; i < m->templates.len; i++) {
		struct manifest_template *t = m->templates.at[i];

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
}

/*
 * Parses the text in one call and joins its elements. If the manifest has a fault, *why describes
 * the fault. If memory is lacking, *why becomes NULL.
 */
bool etw_manifest(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
		  const char *text, size_t size, const char **why)
{
	struct reading m = { .open_struct = -1, .parser = XML_ParserCreate("UTF-8") };
	bool ok = m.parser != NULL;

	*why = NULL;
	if (!ok)
		return false;
	/* Some writers end the text with NULs. */
	while (size && !text[size - 1])
		size--;
	XML_SetUserData(m.parser, &m);
	XML_SetElementHandler(m.parser, on_begin, on_end);
	XML_SetEntityDeclHandler(m.parser, on_entity);
	if (XML_Parse(m.parser, text, (int)size, XML_TRUE) != XML_STATUS_OK) {
		ok = false;
		if (!m.no_memory && XML_GetErrorCode(m.parser) != XML_ERROR_NO_MEMORY)
			*why = m.why ? m.why : "it is not XML";
	}
	XML_ParserFree(m.parser);
	ok = ok && etw_manifest_join(&m.manifest, describe, guid);
	free_manifest(&m.manifest);
	free(m.map);
	return ok;
}
