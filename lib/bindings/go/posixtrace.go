// SPDX-License-Identifier: LGPL-2.1-or-later

// Package posixtrace traces with libposixtrace: event types, spans, streams and logs.
//
// While no stream traces the process, an event costs one call of Go and a comparison of the type of
// each value, and of the sizes of arrays. Any goroutine may record. Recording returns no error: the
// library counts an event that it cannot record as lost. The events of a goroutine can be on several
// threads, so a span that blocks needs a key: use MustAsyncSpan.
package posixtrace

/*
#cgo pkg-config: posixtrace
#include <errno.h>
#include <stdlib.h>
#include <trace_np.h>

// A field of an event. One call of C gets all fields, because the call costs more than the event.
struct field {
	int form;
	unsigned long long number;
	double real;
	const char *text;
	size_t len;
};

static const volatile unsigned char *active(void)
{
	return posix_trace_active_np;
}

static int parse(const char *text, struct posix_trace_schema_np *schema)
{
	return posix_trace_schema_parse_np(text, schema);
}

// `text` has the strings and bytes of all fields, one behind the other.
static void record(trace_event_id_t id, const struct posix_trace_schema_np *schema,
		   const struct field *field, unsigned fields, const char *text)
{
	struct posix_trace_arg_np arg[POSIX_TRACE_FIELDS_MAX_NP];
	unsigned char payload[POSIX_TRACE_FIELDS_BYTES_NP];
	unsigned i;

	for (i = 0; i < fields && i < schema->fields; i++) {
		const int is_array = schema->field[i].is_array;
		const struct posix_trace_arg_np made = {
			is_array ? POSIX_TRACE_TYPE_BYTES_NP : schema->field[i].type,
			is_array ? (unsigned)field[i].len : schema->field[i].room,
			field[i].number, field[i].real, text, field[i].len
		};

		arg[i] = made;
		text += field[i].len;
		// A string has a NUL behind it, which `len` does not count.
		if (schema->field[i].type == POSIX_TRACE_TYPE_STR_NP)
			text++;
	}
	posix_trace_event_at_np(id, payload,
				posix_trace_fields_pack_np(payload, sizeof(payload), arg, i), NULL);
}

static int create(const char *path_or_null, int fd, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err && path_or_null)
		err = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	// Room for some 100,000 events until the library's thread writes them to the log.
	if (!err && path_or_null)
		err = posix_trace_attr_setstreamsize(&attr, 4 << 20);
	if (!err)
		err = path_or_null ? posix_trace_create_withlog(0, &attr, fd, trid) :
				     posix_trace_create(0, &attr, trid);
	posix_trace_attr_destroy(&attr);
	return err;
}

static int next(trace_id_t trid, struct posix_trace_event_np *event, int *none)
{
	return posix_trace_getnext_np(trid, event, none);
}

// Stores the next value, and also copies its number: cgo cannot access the members of an unnamed
// union. Returns 0 if there is no further value.
static int next_value(struct posix_trace_values_np *values, struct posix_trace_value_np *value,
		      unsigned long long *number, double *real)
{
	if (!posix_trace_field_next_np(values, value))
		return 0;
	*number = value->u64;
	*real = value->f64;
	return 1;
}

static size_t message(const struct posix_trace_schema_np *schema,
		      const struct posix_trace_event_np *event, char *text, size_t size)
{
	return posix_trace_message_print_np(schema, event->data, event->data_len, 0, text, size);
}
*/
import "C"

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

var active = (*uint8)(unsafe.Pointer(C.active()))

// IsActive returns whether a stream traces this process.
func IsActive() bool {
	return *active != 0
}

// check converts an error number of the library to an error.
func check(what string, err C.int) error {
	if err == 0 {
		return nil
	}
	return &os.PathError{Op: "posixtrace", Path: what, Err: syscall.Errno(err)}
}

// Event is an event type. Make it once for each name, as a variable of the package.
type Event struct {
	id     C.trace_event_id_t
	schema *C.struct_posix_trace_schema_np // in memory of C, because the structure points into itself
	inputs []input
}

// NewEvent registers an event type with a schema, such as "s32 fd; str peer; @level 4".
func NewEvent(name, schema string) (*Event, error) {
	// A string of C would end at the NUL, and the event type would have another name.
	if strings.IndexByte(name, 0) >= 0 || strings.IndexByte(schema, 0) >= 0 {
		return nil, fmt.Errorf("posixtrace: the name %q or its schema has a NUL", name)
	}
	event := &Event{schema: (*C.struct_posix_trace_schema_np)(
		C.calloc(1, C.sizeof_struct_posix_trace_schema_np))}
	cname, cschema := C.CString(name), C.CString(schema)
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(cschema))
	// record would omit the fields for which there is no room.
	if why := C.posix_trace_schema_fault_np(cschema, C.POSIX_TRACE_FIELDS_BYTES_NP); why != nil {
		C.free(unsafe.Pointer(event.schema))
		return nil, fmt.Errorf("posixtrace: the schema of %s cannot be recorded: %s: %s",
			name, C.GoString(why), schema)
	}
	if schema != "" {
		C.parse(cschema, event.schema)
	}
	event.inputs = newInputs(event.schema)
	err := C.posix_trace_eventid_open(cname, &event.id)
	if err == 0 && schema != "" && event.id != C.POSIX_TRACE_UNNAMED_USEREVENT {
		err = C.posix_trace_eventid_describe_np(event.id, cschema)
	}
	if err != 0 {
		C.free(unsafe.Pointer(event.schema))
	}
	// For this error number, the system's message speaks of files. So the error has its own
	// text.
	if err == C.EEXIST {
		return nil, fmt.Errorf("posixtrace: the event type %s has another schema", name)
	}
	if err != 0 {
		return nil, check(name, err)
	}
	return event, nil
}

// MustEvent is NewEvent for variables of a package. It panics if NewEvent returns an error.
func MustEvent(name, schema string) *Event {
	event, err := NewEvent(name, schema)
	if err != nil {
		panic(err)
	}
	return event
}

// Record records an event with a value for each field. A value may have a type of the program, such as
// time.Duration for a field of the type ns. A field of the type f32 or f64 also accepts an integer or
// a bool. An array needs a []byte with all its elements. Record panics if the number, the types or the
// sizes of the values do not match the schema, or if NewEvent did not make the Event, also while the
// process is not traced: a test finds the mistake, and a trace never ends a program that ran before.
func (event *Event) Record(values ...interface{}) {
	if event == nil || event.schema == nil || len(values) != len(event.inputs) {
		event.refuse(len(values))
	}
	if *active != 0 {
		event.record(values)
		return
	}
	for i := range values {
		input := &event.inputs[i]
		if atomic.LoadPointer(&input.known) != typeOf(&values[i]) || input.size != 0 {
			input.learn(values[i])
		}
	}
}

// input is what a field of an event accepts. Goroutines may record at the same time, so known is read
// and written by atomic operations only.
type input struct {
	of    *C.struct_posix_trace_field_np
	size  int            // the bytes that a value must have; 0: any number
	known unsafe.Pointer // the type of the last value that learn accepted; at first no type
}

// newInputs returns the inputs of the fields of a schema.
func newInputs(schema *C.struct_posix_trace_schema_np) []input {
	inputs := make([]input, int(schema.fields))
	for i := range inputs {
		of := &schema.field[i]
		// The address of an input is the type of no value. Null is the type of nil.
		inputs[i] = input{of, sizeOf(of), unsafe.Pointer(&inputs[i])}
	}
	return inputs
}

// typeOf returns the first word of an interface, which points to the type. A comparison of values of
// reflect.Type takes much longer.
func typeOf(value *interface{}) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(value))
}

// learn panics if the field cannot have the value, and otherwise keeps its type. Of a value with the
// known type only the size is compared.
func (input *input) learn(value interface{}) {
	var field C.struct_field

	if atomic.LoadPointer(&input.known) == typeOf(&value) {
		input.mustHaveSize(reflect.ValueOf(value).Len())
		return
	}
	input.mustFit(&field, value)
	atomic.StorePointer(&input.known, typeOf(&value))
}

// refuse panics with the reason why the event cannot have this number of values.
func (event *Event) refuse(values int) {
	if event == nil || event.schema == nil {
		panic("posixtrace: an Event must be made by NewEvent or MustEvent")
	}
	panic(fmt.Sprintf("posixtrace: the event has %d fields, not %d", len(event.inputs), values))
}

// sizeOf returns the number of bytes that a value of a field must have, or 0 if it may have any.
func sizeOf(of *C.struct_posix_trace_field_np) int {
	switch {
	case of.is_array != 0:
		return int(of.size) * int(of.count) // the bytes of all elements
	case of._type == C.POSIX_TRACE_TYPE_STR_NP:
		return 0
	}
	return int(of.room)
}

// mustHaveSize panics if a value of the field must have another number of bytes.
func (input *input) mustHaveSize(size int) {
	if input.size != 0 && size != input.size {
		panic(fmt.Sprintf("posixtrace: the field %s has %d bytes, not %d",
			C.GoString(input.of.name), input.size, size))
	}
}

// mustFit stores the number or the length of a value in field. It panics if the input cannot have
// this value.
func (input *input) mustFit(field *C.struct_field, value interface{}) {
	is := C.enum_posix_trace_form_np(C.POSIX_TRACE_FORM_UNSIGNED_NP)
	of := input.of
	// A type of the program, such as time.Duration, counts as its underlying type.
	switch value := reflect.ValueOf(value); value.Kind() {
	case reflect.Bool:
		if value.Bool() {
			field.number = 1
		}
		field.real = C.double(field.number)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		field.number, field.real = C.ulonglong(value.Int()), C.double(value.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Uintptr:
		field.number, field.real = C.ulonglong(value.Uint()), C.double(value.Uint())
	case reflect.Float32, reflect.Float64:
		field.real, is = C.double(value.Float()), C.POSIX_TRACE_FORM_FLOAT_NP
	case reflect.String:
		field.len, is = C.size_t(value.Len()), C.POSIX_TRACE_FORM_BYTES_NP
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			field.len, is = C.size_t(value.Len()), C.POSIX_TRACE_FORM_BYTES_NP
		} else {
			is = 0
		}
	default:
		is = 0
	}
	form := of.form
	switch {
	case of.is_array != 0:
		form = C.POSIX_TRACE_FORM_BYTES_NP
	case form == C.POSIX_TRACE_FORM_SIGNED_NP,
		form == C.POSIX_TRACE_FORM_FLOAT_NP && is == C.POSIX_TRACE_FORM_UNSIGNED_NP:
		form = C.POSIX_TRACE_FORM_UNSIGNED_NP
	}
	if is != form {
		panic(fmt.Sprintf("posixtrace: the field %s cannot be a %T", C.GoString(of.name), value))
	}
	input.mustHaveSize(int(field.len))
}

func (event *Event) record(values []interface{}) {
	var fields [C.POSIX_TRACE_FIELDS_MAX_NP]C.struct_field
	text := make([]byte, 0, 256)

	for i, value := range values {
		of := event.inputs[i].of
		event.inputs[i].mustFit(&fields[i], value)
		switch value := reflect.ValueOf(value); value.Kind() {
		case reflect.String:
			text = append(text, value.String()...)
		case reflect.Slice:
			text = append(text, value.Bytes()...)
		}
		if of._type == C.POSIX_TRACE_TYPE_STR_NP && of.is_array == 0 {
			text = append(text, 0)
		}
	}
	text = append(text, 0)
	C.record(event.id, event.schema, &fields[0], C.uint(len(values)),
		(*C.char)(unsafe.Pointer(&text[0])))
}

// Span is a kind of span. Its events are NAME.begin and NAME.end.
type Span struct {
	begin, end *Event
	last       *uint64 // the number of the youngest span of this name; nil: the spans have no numbers
}

// lasts has the member last of each name of MustAsyncSpan.
var lasts sync.Map

// MustSpan registers a kind of span. It panics if an event type cannot be registered.
func MustSpan(name string) *Span {
	return &Span{
		begin: MustEvent(name+".begin", "@begin "+name),
		end:   MustEvent(name+".end", "@end "+name),
	}
}

// MustAsyncSpan is MustSpan for spans that may begin and end on different threads, or overlap. Each
// span has a number, the field id of both events. By this key, readers find the end of a span.
func MustAsyncSpan(name string) *Span {
	last, _ := lasts.LoadOrStore(name, new(uint64))
	return &Span{
		begin: MustEvent(name+".begin", "u64 id; @begin "+name+"; @key id"),
		end:   MustEvent(name+".end", "u64 id; @end "+name+"; @key id"),
		last:  last.(*uint64),
	}
}

// Begin begins a span and returns a function that ends the span: defer span.Begin()().
func (span *Span) Begin() func() {
	if span == nil || span.begin == nil {
		panic("posixtrace: a Span must be made by MustSpan or MustAsyncSpan")
	}
	if *active == 0 {
		return func() {}
	}
	if span.last != nil {
		id := atomic.AddUint64(span.last, 1)
		span.begin.Record(id)
		return func() { span.end.Record(id) }
	}
	span.begin.Record()
	return func() { span.end.Record() }
}

// Stream is an active stream that traces this process.
type Stream struct {
	id   C.trace_id_t
	file *os.File
}

// NewStream makes a stream with a log in the file path, whose former content is removed. If path is
// empty, the stream has no log.
func NewStream(path string) (*Stream, error) {
	stream := &Stream{}
	var cpath *C.char
	fd := -1
	if path != "" {
		file, err := os.Create(path)
		if err != nil {
			return nil, err
		}
		stream.file, fd = file, int(file.Fd())
		cpath = C.CString(path)
		defer C.free(unsafe.Pointer(cpath))
	}
	if err := C.create(cpath, C.int(fd), &stream.id); err != 0 {
		if stream.file != nil {
			stream.file.Close()
		}
		return nil, check(path, err)
	}
	return stream, nil
}

// Start starts the stream.
func (stream *Stream) Start() error { return check("start", C.posix_trace_start(stream.id)) }

// Stop stops the stream.
func (stream *Stream) Stop() error { return check("stop", C.posix_trace_stop(stream.id)) }

// Flush writes the unread events to the log.
func (stream *Stream) Flush() error { return check("flush", C.posix_trace_flush(stream.id)) }

// Level excludes event types whose level, 1 to 5, is greater than max. 0 admits the types of all
// levels.
func (stream *Stream) Level(max int) error {
	return check("level", C.posix_trace_set_level_np(stream.id, C.int(max)))
}

// Shutdown ends the stream and completes its log.
func (stream *Stream) Shutdown() error {
	err := check("shutdown", C.posix_trace_shutdown(stream.id))
	// The library may give this id to another stream. So the id becomes 0, and a second call
	// returns EINVAL.
	stream.id = 0
	if stream.file != nil {
		stream.file.Close()
	}
	return err
}

// Field is a field of a record: a bool, int64, uint64, float64, string, []byte, or a slice of these
// as []interface{}.
type Field struct {
	Name  string
	Value interface{}
}

// Record is an event of a log.
type Record struct {
	Name     string
	TimeNs   int64 // CLOCK_REALTIME
	Pid, Tid int
	Fields   []Field
	Message  string // at most 4095 bytes; empty if the schema has no @format
	Data     []byte
}

// Get returns the value of a field, or nil if the event does not have the field.
func (record *Record) Get(name string) interface{} {
	for _, field := range record.Fields {
		if field.Name == name {
			return field.Value
		}
	}
	return nil
}

type kind struct {
	name   string
	schema *C.struct_posix_trace_schema_np // nil: none
}

// Log is an opened log. Only one goroutine at a time may use it.
type Log struct {
	id    C.trace_id_t
	file  *os.File
	kinds map[C.trace_event_id_t]*kind
}

// Open opens a log.
func Open(path string) (*Log, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	log := &Log{file: file, kinds: map[C.trace_event_id_t]*kind{}}
	if err := C.posix_trace_open_np(C.int(file.Fd()), C.POSIX_TRACE_OPEN_SALVAGE_NP,
		&log.id); err != 0 {
		defer file.Close()
		// The text of EINVAL says nothing about the file.
		reason := C.posix_trace_open_fault_np(C.int(file.Fd()))
		if reason == nil {
			return nil, check(path, err)
		}
		return nil, &os.PathError{Op: "posixtrace", Path: path,
			Err: fmt.Errorf("%s: %w", C.GoString(reason), syscall.Errno(err))}
	}
	return log, nil
}

// Close closes the log.
func (log *Log) Close() {
	C.posix_trace_close(log.id)
	log.id = 0
	log.file.Close()
	for _, kind := range log.kinds {
		C.free(unsafe.Pointer(kind.schema))
	}
	log.kinds = nil
}

// kindOf reads the name and the schema of an event type once. In a log they do not change.
func (log *Log) kindOf(id C.trace_event_id_t) *kind {
	var name [C.TRACE_EVENT_NAME_MAX + 1]C.char
	var text [C.POSIX_TRACE_SCHEMA_MAX_NP + 1]C.char

	if known := log.kinds[id]; known != nil {
		return known
	}
	made := &kind{}
	if C.posix_trace_eventid_get_name(log.id, id, &name[0]) == 0 {
		made.name = C.GoString(&name[0])
	}
	if C.posix_trace_eventid_get_schema_np(log.id, id, &text[0], C.size_t(len(text))) == 0 {
		made.schema = (*C.struct_posix_trace_schema_np)(
			C.calloc(1, C.sizeof_struct_posix_trace_schema_np))
		if C.parse(&text[0], made.schema) != 0 {
			C.free(unsafe.Pointer(made.schema))
			made.schema = nil
		}
	}
	log.kinds[id] = made
	return made
}

// Next returns the next event, or nil at the end of the log.
func (log *Log) Next() (*Record, error) {
	var event C.struct_posix_trace_event_np
	var none C.int

	if err := C.next(log.id, &event, &none); err != 0 {
		return nil, check("next", err)
	}
	if none != 0 {
		return nil, nil
	}
	kind := log.kindOf(event.info.posix_event_id)
	record := &Record{
		Name: kind.name, TimeNs: int64(event.time_ns), Pid: int(event.info.posix_pid),
		Tid: int(event.tid), Data: C.GoBytes(event.data, C.int(event.data_len)),
	}
	if kind.schema != nil {
		record.Fields = fieldsOf(kind.schema, &event)
		if kind.schema.format != nil {
			var text [4096]C.char
			C.message(kind.schema, &event, &text[0], C.size_t(len(text)))
			record.Message = C.GoString(&text[0])
		}
	}
	return record, nil
}

// All returns an iterator over all events of the log, from the first one. A loop over it needs Go 1.23:
//
//	for record, err := range log.All() {
//
// An error is yielded once, with a nil record, and ends the loop. Loops over one Log share its position:
// for a loop in a loop, open the log twice.
func (log *Log) All() func(yield func(*Record, error) bool) {
	return func(yield func(*Record, error) bool) {
		if err := check("rewind", C.posix_trace_rewind(log.id)); err != nil {
			yield(nil, err)
			return
		}
		for {
			record, err := log.Next()
			if record == nil && err == nil || !yield(record, err) || err != nil {
				return
			}
		}
	}
}

func fieldsOf(schema *C.struct_posix_trace_schema_np, event *C.struct_posix_trace_event_np) []Field {
	values := (*C.struct_posix_trace_values_np)(C.calloc(1, C.sizeof_struct_posix_trace_values_np))
	value := (*C.struct_posix_trace_value_np)(C.calloc(1, C.sizeof_struct_posix_trace_value_np))
	defer C.free(unsafe.Pointer(values))
	defer C.free(unsafe.Pointer(value))
	var number C.ulonglong
	var real C.double
	var fields []Field

	C.posix_trace_values_begin_np(values, schema, event.data, event.data_len, 0)
	for C.next_value(values, value, &number, &real) != 0 {
		var is interface{}
		switch {
		case value.field.form == C.POSIX_TRACE_FORM_SIGNED_NP:
			is = int64(number)
		case value.field.form == C.POSIX_TRACE_FORM_FLOAT_NP:
			is = float64(real)
		case value.field._type == C.POSIX_TRACE_TYPE_STR_NP:
			is = C.GoStringN((*C.char)(value.data), C.int(value.len))
		case value.field.form == C.POSIX_TRACE_FORM_BYTES_NP:
			is = C.GoBytes(value.data, C.int(value.len))
		case value.field._type == C.POSIX_TRACE_TYPE_BOOL_NP:
			is = number != 0
		default:
			is = uint64(number)
		}
		name := C.GoString(value.field.name)
		if value.field.is_array == 0 {
			fields = append(fields, Field{name, is})
		} else if value.index == 0 {
			fields = append(fields, Field{name, []interface{}{is}})
		} else {
			last := &fields[len(fields)-1]
			last.Value = append(last.Value.([]interface{}), is)
		}
	}
	return fields
}
