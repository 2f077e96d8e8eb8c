//! A JSON object that is being written.

use jiff::{Timestamp, fmt::temporal::DateTimePrinter};

/// RFC 3339 in UTC with milliseconds.
static TIMES: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// A JSON object that is being written.
pub(crate) struct Object<'o>(pub(super) &'o mut Vec<u8>);

impl<'o> Object<'o> {
    pub(crate) fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self(out)
    }

    pub(crate) fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if self.0.last() != Some(&b'{') {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        self.0
    }

    pub(crate) fn integer(&mut self, name: &str, value: impl itoa::Integer) {
        self.name(name).extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        super::write_string(self.name(name), value);
    }

    pub(super) fn boolean(&mut self, name: &str, value: bool) {
        self.name(name).extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Writes an array, which has one element at least.
    pub(super) fn texts<'t>(&mut self, name: &str, values: impl Iterator<Item = &'t str>) {
        let out = self.name(name);
        for (at, value) in values.enumerate() {
            out.push(if at == 0 { b'[' } else { b',' });
            super::write_string(out, value);
        }
        out.push(b']');
    }

    pub(crate) fn time(&mut self, name: &str, value: Timestamp) {
        let out = self.name(name);
        out.push(b'"');
        // A write to memory cannot fail.
        let _ = TIMES.print_timestamp(&value, &mut *out);
        out.push(b'"');
    }

    /// Writes the value with `write`, or null.
    pub(crate) fn or_null<T>(
        &mut self,
        name: &str,
        value: Option<T>,
        write: impl FnOnce(&mut Self, T),
    ) {
        match value {
            Some(value) => write(self, value),
            None => self.name(name).extend_from_slice(b"null"),
        }
    }

    pub(crate) fn text_or_null(&mut self, name: &str, value: Option<&str>) {
        self.or_null(name, value, |object, value| object.text(name, value));
    }

    pub(super) fn time_or_null(&mut self, name: &str, value: Option<Timestamp>) {
        self.or_null(name, value, |object, value| object.time(name, value));
    }

    /// Copies a value that is JSON already.
    pub(super) fn raw_or_null(&mut self, name: &str, value: Option<&str>) {
        self.name(name).extend_from_slice(value.unwrap_or("null").as_bytes());
    }

    pub(crate) fn end(self) {
        self.0.push(b'}');
    }
}
