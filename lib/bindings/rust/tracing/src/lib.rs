// SPDX-License-Identifier: LGPL-2.1-or-later
//! Events and spans of the crate `tracing` as events of libposixtrace.
//!
//! ```no_run
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let stream = posixtrace::Stream::with_log("service.ptl")?;
//!     stream.start()?;
//!     tracing::subscriber::set_global_default(posixtrace_tracing::Subscriber::new())?;
//!     tracing::info!(fd = 3, "accepted");
//!     Ok(())
//! }
//! ```
//!
//! A program that has a registry of the crate `tracing-subscriber` adds a `Layer` to the registry.
//! `Layer` needs the feature `layer`.
//!
//! | in tracing                            | in the log                                          |
//! |---------------------------------------|-----------------------------------------------------|
//! | an event of the target `app::net`     | the type `app.net:LINE`, with the event's fields    |
//! | the text of an event                  | the field `message`                                 |
//! | entering the span `request`           | the type `request.begin`, with the span's fields    |
//! | leaving the span `request`            | the type `request.end`                              |
//! | the levels ERROR to TRACE             | the levels 1 to 5                                   |
//!
//! The span of a future begins and ends each time that an executor polls the future. The first
//! event of a line determines the types of its fields. A field without a value in the first event
//! has the type `str`. If a later event has no value for a field, the field is 0 or an empty text.
//!
//! A name of an event type has at most 63 bytes. The name of a span, by which readers pair its
//! begin and its end, has only printable characters of ASCII, without blanks and `;,{}|=@"\`. An
//! underscore replaces each other character, and a name that is too long loses its end. A name that
//! is changed in one of these ways gets a `~` and a checksum of the whole name, before `:LINE`,
//! `.begin` or `.end`. The name of a target that has a `.` gets them, too. So a name in the log
//! does not depend on other names in the program. Two names in the program have the same name in
//! the log only if their checksums of 32 bits are equal, or if one of them has the form of a
//! changed name itself.
//!
//! While the process is not traced, the values of events are not formatted. A `Layer` formats the
//! values of spans also then, because the process may be traced when a thread enters the span.
//! Recording never fails.

use std::collections::HashMap;
use std::fmt::{Debug, Formatter, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tracing_core::callsite::Identifier;
use tracing_core::field::{Field as Key, FieldSet, Visit};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Interest, Level, Metadata};

use posixtrace::{is_active, signature_of, Field, Payload, Site};

/// The value of a field.
#[derive(Clone, PartialEq)]
enum Value {
    Missing,
    Signed(i64),
    Unsigned(u64),
    Real(f64),
    Bool(bool),
    Text(String),
}

/// The type of a field. It never changes after the first event of the line.
#[derive(Clone, Copy)]
enum Kind {
    Signed,
    Unsigned,
    Real,
    Bool,
    Text,
}

impl Kind {
    fn of(value: &Value) -> Kind {
        match value {
            Value::Signed(_) => Kind::Signed,
            Value::Unsigned(_) => Kind::Unsigned,
            Value::Real(_) => Kind::Real,
            Value::Bool(_) => Kind::Bool,
            Value::Text(_) | Value::Missing => Kind::Text,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Signed => i64::NAME,
            Kind::Unsigned => u64::NAME,
            Kind::Real => f64::NAME,
            Kind::Bool => bool::NAME,
            Kind::Text => <&str>::NAME,
        }
    }

    /// Appends a value. If the value and the field have different types, a text field gets the
    /// value as text, and any other field gets 0.
    fn put(self, value: &Value, payload: &mut Payload) {
        match (self, value) {
            (Kind::Signed, Value::Signed(number)) => number.put(payload),
            (Kind::Signed, _) => 0i64.put(payload),
            (Kind::Unsigned, Value::Unsigned(number)) => number.put(payload),
            (Kind::Unsigned, _) => 0u64.put(payload),
            (Kind::Real, Value::Real(number)) => number.put(payload),
            (Kind::Real, _) => 0f64.put(payload),
            (Kind::Bool, Value::Bool(is)) => is.put(payload),
            (Kind::Bool, _) => false.put(payload),
            (Kind::Text, Value::Text(text)) => text.as_str().put(payload),
            (Kind::Text, Value::Missing) => "".put(payload),
            (Kind::Text, Value::Signed(number)) => number.to_string().as_str().put(payload),
            (Kind::Text, Value::Unsigned(number)) => number.to_string().as_str().put(payload),
            (Kind::Text, Value::Real(number)) => number.to_string().as_str().put(payload),
            (Kind::Text, Value::Bool(is)) => is.to_string().as_str().put(payload),
        }
    }
}

/// The values of an event or span, in the order of its fields.
struct Values {
    fields: &'static FieldSet,
    value: Vec<Value>,
}

impl Values {
    fn new(fields: &'static FieldSet) -> Values {
        Values { fields, value: vec![Value::Missing; fields.len()] }
    }

    fn set(&mut self, key: &Key, value: Value) {
        if let Some(index) = self.fields.iter().position(|field| field == *key) {
            self.value[index] = value;
        }
    }
}

impl Visit for Values {
    fn record_i64(&mut self, key: &Key, value: i64) {
        self.set(key, Value::Signed(value));
    }
    fn record_u64(&mut self, key: &Key, value: u64) {
        self.set(key, Value::Unsigned(value));
    }
    fn record_f64(&mut self, key: &Key, value: f64) {
        self.set(key, Value::Real(value));
    }
    fn record_bool(&mut self, key: &Key, value: bool) {
        self.set(key, Value::Bool(value));
    }
    fn record_str(&mut self, key: &Key, value: &str) {
        self.set(key, Value::Text(value.to_owned()));
    }
    fn record_debug(&mut self, key: &Key, value: &dyn Debug) {
        let mut text = String::new();
        // If the formatting of the value fails, the part of the text before the failure is kept.
        let _ = write!(text, "{value:?}");
        self.set(key, Value::Text(text));
    }
}

/// The most bytes of the name of an event type, a span or a field.
const NAME_MAX: usize = 63;
/// The bytes that the library may append to the name of an event type: `.2` to `.9`.
const VARIANT: usize = 2;

/// Returns the name in the events for `name`: `valid` and the suffix. If `is_changed`, or if both
/// have more than `most` bytes, the result has a checksum of `name` before the suffix, and `valid`
/// is cut as necessary. A line must get the same name in each run of the program. So the result
/// depends on the arguments alone, and not on the lines that the program has reached before.
fn name_of(name: &str, valid: &str, is_changed: bool, suffix: &str, most: usize) -> String {
    if !is_changed && valid.len() + suffix.len() <= most {
        return format!("{valid}{suffix}");
    }
    let end = format!("~{:08x}{suffix}", signature_of(&[name]));
    let mut len = valid.len().min(most.saturating_sub(end.len()));
    while !valid.is_char_boundary(len) {
        len -= 1;
    }
    format!("{}{end}", &valid[..len])
}

/// Converts a name to a valid name of an event type, which has no NUL.
fn type_name(name: &str) -> String {
    name.replace('\0', "_")
}

/// Converts a name to a valid name of a span in the attributes of a schema.
fn span_name(name: &str) -> String {
    let is_valid = |c: char| c.is_ascii_graphic() && !";,{}|=@\"\\".contains(c);
    let valid: String = name.chars().map(|c| if is_valid(c) { c } else { '_' }).collect();
    if valid.is_empty() { "_".to_owned() } else { valid }
}

/// Converts a name to a valid name of a field of a schema: letters, digits and _.
fn field_name(name: &str) -> String {
    let mut plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        plain.insert(0, '_');
    }
    // unique() may append `_` and a number of at most two digits.
    plain.truncate(NAME_MAX - 3);
    plain
}

/// Makes the names of the fields unique: the fields `a.b` and `a_b` become `a_b` and `a_b_2`.
fn unique(mut fields: Vec<(String, Kind)>) -> Vec<(String, Kind)> {
    for i in 1..fields.len() {
        let name = fields[i].0.clone();
        let mut number = 2;
        while fields[..i].iter().any(|(other, _)| *other == fields[i].0) {
            fields[i].0 = format!("{name}_{number}");
            number += 1;
        }
    }
    fields
}

/// A trace point in a line of the program: its event types and the types of its fields.
struct Line {
    name: String,
    fields: Vec<(String, Kind)>,
    attributes: String,
    site: Site,
    /// For a span: the name, the schema and the site of its end.
    end: Option<(String, String, Site)>,
}

impl Line {
    fn new(metadata: &Metadata<'_>, values: &Values) -> Line {
        let fields = metadata.fields().iter().zip(&values.value);
        let fields = unique(
            fields.map(|(key, value)| (field_name(key.name()), Kind::of(value))).collect(),
        );
        let level = match *metadata.level() {
            Level::ERROR => 1,
            Level::WARN => 2,
            Level::INFO => 3,
            Level::DEBUG => 4,
            Level::TRACE => 5,
        };
        if metadata.is_span() {
            let full = metadata.name();
            let (word, name) = (span_name(full), type_name(full));
            let word = name_of(full, &word, word != full, "", NAME_MAX);
            // The names of both event types end with a suffix of at most 6 bytes.
            let most = NAME_MAX - VARIANT - ".begin".len();
            let name = name_of(full, &name, name != full, "", most);
            let end = (format!("{name}.end"), format!("@end {word};@level {level}"), Site::new());
            Line {
                name: format!("{name}.begin"),
                fields,
                attributes: format!("@begin {word};@level {level}"),
                site: Site::new(),
                end: Some(end),
            }
        } else {
            let line = metadata.line().map_or(String::new(), |line| format!(":{line}"));
            let full = format!("{}{line}", metadata.target());
            let target = type_name(&metadata.target().replace("::", "."));
            let is_changed = full.contains(&['.', '\0']);
            Line {
                name: name_of(&full, &target, is_changed, &line, NAME_MAX - VARIANT),
                fields,
                attributes: format!("@level {level}"),
                site: Site::new(),
                end: None,
            }
        }
    }

    fn record(&self, values: &Values) {
        self.site.record(
            &self.name,
            || {
                let fields = self.fields.iter();
                let fields: String =
                    fields.map(|(name, kind)| format!("{} {name};", kind.name())).collect();
                fields + &self.attributes
            },
            |payload| {
                for ((_, kind), value) in self.fields.iter().zip(&values.value) {
                    kind.put(value, payload);
                }
            },
        );
    }

    fn record_end(&self) {
        if let Some((name, schema, site)) = &self.end {
            site.record(name, || schema.clone(), |_| {});
        }
    }
}

/// A span between its creation and the drop of its last handle.
struct Span {
    handles: usize,
    line: Arc<Line>,
    values: Values,
}

const SHARDS: usize = 16;

/// The lines that have recorded an event, and the spans that exist.
#[derive(Default)]
struct Recorder {
    lines: RwLock<HashMap<Identifier, Arc<Line>>>,
    /// The spans by their ids. Threads whose spans are in different shards do not share a lock.
    spans: [Mutex<HashMap<u64, Span>>; SHARDS],
}

impl Debug for Recorder {
    fn fmt(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    fn line(&self, metadata: &Metadata<'_>, values: &Values) -> Arc<Line> {
        let key = metadata.callsite();
        // A panic leaves the map intact even if the thread holds the lock, so poison is ignored.
        let lines = self.lines.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = lines.get(&key) {
            return line.clone();
        }
        drop(lines);
        let mut lines = self.lines.write().unwrap_or_else(PoisonError::into_inner);
        lines.entry(key).or_insert_with(|| Arc::new(Line::new(metadata, values))).clone()
    }

    fn spans(&self, id: &Id) -> MutexGuard<'_, HashMap<u64, Span>> {
        let shard = id.into_u64() as usize % SHARDS;
        self.spans[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, event: &Event<'_>) {
        let mut values = Values::new(event.metadata().fields());
        event.record(&mut values);
        self.line(event.metadata(), &values).record(&values);
    }

    fn new_span(&self, attributes: &Attributes<'_>, id: &Id) {
        let mut values = Values::new(attributes.metadata().fields());
        attributes.record(&mut values);
        let line = self.line(attributes.metadata(), &values);
        self.spans(id).insert(id.into_u64(), Span { handles: 1, line, values });
    }

    fn set_values(&self, id: &Id, record: &Record<'_>) {
        // The values are formatted without the lock, because the formatting code may enter spans.
        let fields = self.spans(id).get(&id.into_u64()).map(|span| span.values.fields);
        let fields = match fields {
            Some(fields) => fields,
            None => return,
        };
        let mut new = Values::new(fields);
        record.record(&mut new);
        if let Some(span) = self.spans(id).get_mut(&id.into_u64()) {
            for (place, value) in span.values.value.iter_mut().zip(new.value) {
                if value != Value::Missing {
                    *place = value;
                }
            }
        }
    }

    fn enter(&self, id: &Id) {
        if is_active() {
            if let Some(span) = self.spans(id).get(&id.into_u64()) {
                span.line.record(&span.values);
            }
        }
    }

    fn exit(&self, id: &Id) {
        if is_active() {
            if let Some(span) = self.spans(id).get(&id.into_u64()) {
                span.line.record_end();
            }
        }
    }

    fn close(&self, id: &Id) {
        // Drops the span after the release of the lock.
        let closed = self.spans(id).remove(&id.into_u64());
        drop(closed);
    }
}

/// A subscriber of `tracing` that records events and spans into the streams of this process.
#[derive(Debug, Default)]
pub struct Subscriber {
    recorder: Recorder,
    last_id: AtomicU64,
}

impl Subscriber {
    /// Makes a subscriber without spans.
    pub fn new() -> Subscriber {
        Subscriber::default()
    }
}

impl tracing_core::Subscriber for Subscriber {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // A stream may be created or stopped at any time, so enabled() must be asked each time.
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        is_active()
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = Id::from_u64(self.last_id.fetch_add(1, Ordering::Relaxed) + 1);
        self.recorder.new_span(attributes, &id);
        id
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        self.recorder.set_values(id, values);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.recorder.event(event);
    }

    fn enter(&self, id: &Id) {
        self.recorder.enter(id);
    }

    fn exit(&self, id: &Id) {
        self.recorder.exit(id);
    }

    fn clone_span(&self, id: &Id) -> Id {
        if let Some(span) = self.recorder.spans(id).get_mut(&id.into_u64()) {
            span.handles += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut is_last = false;
        if let Some(span) = self.recorder.spans(&id).get_mut(&id.into_u64()) {
            span.handles -= 1;
            is_last = span.handles == 0;
        }
        if is_last {
            self.recorder.close(&id);
        }
        is_last
    }
}

/// A layer for a registry of `tracing-subscriber`: `registry().with(Layer::new())`.
#[cfg(feature = "layer")]
#[derive(Debug, Default)]
pub struct Layer {
    recorder: Recorder,
}

#[cfg(feature = "layer")]
mod layer {
    use super::*;
    use tracing_subscriber::layer::Context;

    impl Layer {
        /// Makes a layer without spans.
        pub fn new() -> Layer {
            Layer::default()
        }
    }

    // enabled() keeps its default, because other layers may record an event that no stream records.
    impl<S: tracing_core::Subscriber> tracing_subscriber::Layer<S> for Layer {
        fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
            self.recorder.new_span(attributes, id);
        }

        fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
            self.recorder.set_values(id, values);
        }

        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            if is_active() {
                self.recorder.event(event);
            }
        }

        fn on_enter(&self, id: &Id, _: Context<'_, S>) {
            self.recorder.enter(id);
        }

        fn on_exit(&self, id: &Id, _: Context<'_, S>) {
            self.recorder.exit(id);
        }

        fn on_close(&self, id: Id, _: Context<'_, S>) {
            self.recorder.close(&id);
        }
    }
}
