// SPDX-License-Identifier: LGPL-2.1-or-later
//! Logs as iterators. The C library parses schemas and finds the values in the data.

use super::*;
use std::collections::HashMap;

/// struct posix_trace_values_np
#[repr(C)]
struct Values {
    schema: *const c_void,
    data: *const u8,
    len: usize,
    field: c_uint,
    index: c_uint,
    flags: c_uint,
    reserved: [c_uint; 5],
}

/// The first members of struct posix_trace_field_np. This crate does not use the other members.
#[repr(C)]
struct FieldHead {
    name: *const c_char,
    kind: c_int,
    form: c_int,
    size: c_uint,
    count: c_uint,
    is_array: c_int,
}

/// struct posix_trace_value_np
#[repr(C)]
struct RawValue {
    field: *const FieldHead,
    index: c_uint,
    flags: c_uint,
    number: u64,
    data: *const u8,
    len: usize,
}

extern "C" {
    fn posix_trace_schema_parse_sized_np(
        text: *const c_char, schema: *mut c_void, size: usize,
    ) -> c_int;
    fn posix_trace_values_begin_np(
        values: *mut Values, schema: *const c_void, data: *const c_void, len: usize, flags: c_uint,
    );
    fn posix_trace_field_next_sized_np(
        values: *mut Values, value: *mut RawValue, size: usize,
    ) -> c_int;
    fn posix_trace_message_print_sized_np(
        schema: *const c_void, schema_size: usize, data: *const c_void, len: usize, flags: c_uint,
        text: *mut c_char, size: usize,
    ) -> usize;
}

/// The room for a struct posix_trace_schema_np, in words of 8 bytes. This crate does not read it.
const SCHEMA_WORDS: usize = 2048;

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A bool.
    Bool(bool),
    /// An unsigned integer, a character, or a pointer.
    Unsigned(u64),
    /// A signed integer, a time, or an error number.
    Signed(i64),
    /// A floating-point number.
    Real(f64),
    /// A string. U+FFFD replaces bytes that are not UTF-8.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// The elements of an array.
    List(Vec<Value>),
}

/// An event of a log.
#[derive(Clone, Debug)]
pub struct Record {
    /// The name of the event type.
    pub name: String,
    /// The time: CLOCK_REALTIME in nanoseconds.
    pub time_ns: i64,
    /// The process ID.
    pub pid: i32,
    /// The thread ID of Linux, or 0 if the event has no thread.
    pub tid: i32,
    /// The fields, in the order of the schema.
    pub fields: Vec<(String, Value)>,
    /// The message, at most 4095 bytes of it, if the schema has a @format. None if the message is
    /// empty.
    pub message: Option<String>,
    /// The data of the event as it was recorded.
    pub data: Vec<u8>,
}

impl Record {
    /// Returns the value of a field.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|field| field.0 == name).map(|field| &field.1)
    }
}

struct Type {
    name: String,
    schema: Option<Box<[u64; SCHEMA_WORDS]>>,
}

/// An opened log: an iterator over its events. If the log is damaged or incomplete, the iterator
/// yields the events of all intact blocks.
pub struct Log {
    id: c_ulong,
    types: HashMap<c_uint, Type>,
    _file: File,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Log").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Log {
    /// Opens a log. The text of an error has the path, and the reason why the file is no log. Its
    /// [`io::Error::kind`] is that of the system, [`io::Error::raw_os_error`] is `None`.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Log> {
        let path = path.as_ref();
        Self::open_file(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    fn open_file(path: &Path) -> io::Result<Log> {
        let file = File::open(path)?;
        let mut id = 0;
        // POSIX_TRACE_OPEN_SALVAGE_NP
        let opened = check(unsafe { sys::posix_trace_open_np(file.as_raw_fd(), 1, &mut id) });
        if let Err(error) = opened {
            let why = unsafe { sys::posix_trace_open_fault_np(file.as_raw_fd()) };
            if why.is_null() {
                return Err(error);
            }
            let why = unsafe { CStr::from_ptr(why) }.to_string_lossy();
            return Err(io::Error::new(error.kind(), why));
        }
        Ok(Log { id, types: HashMap::new(), _file: file })
    }

    /// Reads the name and the schema of a type. In a log they do not change, so `types` keeps them.
    fn load_type(id: c_ulong, event: c_uint) -> Type {
        let mut name = [0 as c_char; 64];
        let mut text = [0 as c_char; 1024];
        let mut schema = Box::new([0u64; SCHEMA_WORDS]);
        let size = std::mem::size_of::<[u64; SCHEMA_WORDS]>();
        unsafe {
            sys::posix_trace_eventid_get_name(id, event, name.as_mut_ptr());
            let has_schema =
                sys::posix_trace_eventid_get_schema_np(id, event, text.as_mut_ptr(), 1024) == 0
                    && posix_trace_schema_parse_sized_np(
                        text.as_ptr(), schema.as_mut_ptr().cast(), size) == 0;
            Type {
                name: CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned(),
                schema: has_schema.then_some(schema),
            }
        }
    }
}

/// Converts one value. <trace_schema_np.h> has the numbers of `form` and `kind`.
unsafe fn convert(value: &RawValue) -> Value {
    let field = &*value.field;
    match field.form {
        2 => Value::Signed(value.number as i64),
        3 => Value::Real(f64::from_bits(value.number)),
        4 => {
            let bytes = std::slice::from_raw_parts(value.data, value.len);
            if field.kind == 21 {
                Value::Text(String::from_utf8_lossy(bytes).into_owned())
            } else {
                Value::Bytes(bytes.to_vec())
            }
        }
        _ if field.kind == 15 => Value::Bool(value.number != 0),
        _ => Value::Unsigned(value.number),
    }
}

unsafe fn fields_of(schema: *const c_void, event: &sys::Event) -> Vec<(String, Value)> {
    let mut fields: Vec<(String, Value)> = Vec::new();
    let mut values = std::mem::zeroed::<Values>();
    let mut value = std::mem::zeroed::<RawValue>();
    posix_trace_values_begin_np(&mut values, schema, event.data, event.data_len, 0);
    let size = std::mem::size_of::<RawValue>();
    while posix_trace_field_next_sized_np(&mut values, &mut value, size) != 0 {
        let one = convert(&value);
        let field = &*value.field;
        if field.is_array == 0 {
            fields.push((CStr::from_ptr(field.name).to_string_lossy().into_owned(), one));
        } else if value.index == 0 {
            let name = CStr::from_ptr(field.name).to_string_lossy().into_owned();
            fields.push((name, Value::List(vec![one])));
        } else if let Some((_, Value::List(list))) = fields.last_mut() {
            list.push(one);
        }
    }
    fields
}

unsafe fn message_of(schema: *const c_void, event: &sys::Event) -> Option<String> {
    let size = std::mem::size_of::<[u64; SCHEMA_WORDS]>();
    let mut text = [0u8; 4096];
    let len = posix_trace_message_print_sized_np(
        schema, size, event.data, event.data_len, 0, text.as_mut_ptr().cast(), text.len());
    (len > 0).then(|| String::from_utf8_lossy(&text[..len.min(text.len() - 1)]).into_owned())
}

impl Iterator for Log {
    type Item = Record;

    /// Returns None at the end of the log, or if the rest of the log cannot be read.
    fn next(&mut self) -> Option<Record> {
        let mut none = 0;
        unsafe {
            let mut event = std::mem::zeroed::<sys::Event>();
            let size = std::mem::size_of::<sys::Event>();
            if sys::posix_trace_getnext_sized_np(self.id, &mut event, size, &mut none) != 0
                || none != 0
            {
                return None;
            }
            let id = self.id;
            let of = self
                .types
                .entry(event.info.event_id)
                .or_insert_with(|| Log::load_type(id, event.info.event_id));
            let schema = of.schema.as_ref().map(|schema| schema.as_ptr().cast::<c_void>());
            let data = match event.data_len {
                0 => Vec::new(),
                len => std::slice::from_raw_parts(event.data.cast::<u8>(), len).to_vec(),
            };
            Some(Record {
                name: of.name.clone(),
                time_ns: event.time_ns,
                pid: event.info.pid,
                tid: event.tid,
                fields: schema.map_or_else(Vec::new, |schema| fields_of(schema, &event)),
                message: schema.and_then(|schema| message_of(schema, &event)),
                data,
            })
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        unsafe { sys::posix_trace_close(self.id) };
    }
}
