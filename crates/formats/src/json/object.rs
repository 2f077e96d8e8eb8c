//! Writes JSON objects, member by member.

use itoa::Integer;
use jiff::{Timestamp, fmt::temporal::DateTimePrinter};
use petstore_domain::{
    PetId, PetName, PetStatus,
    store_area::{
        About, Address, Colour, Contact, ContactPage, ContractText, Currency, Decimal,
        DisabledReason, EmailAddress, FieldKind, FieldName, Language, LinkLabel, LinkUrl, NoteId,
        NoteText, OrderId, OrderStatus, StoreKind, StoreName, StoreTimeZone, TelephoneNumber, Text,
        WithdrawalReason,
    },
};

/// The format of times: RFC 3339 in UTC with milliseconds.
static TIME_PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// A type whose values can be written as JSON.
pub(super) trait WriteJson {
    fn write_json(&self, out: &mut Vec<u8>);
}

impl<T: WriteJson> WriteJson for Option<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write_json(out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

impl WriteJson for Timestamp {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        // A write to memory cannot fail.
        let _ = TIME_PRINTER.print_timestamp(self, &mut *out);
        out.push(b'"');
    }
}

impl WriteJson for bool {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl<const MAX: usize, const MIN: usize> WriteJson for Text<MAX, MIN> {
    fn write_json(&self, out: &mut Vec<u8>) {
        super::write_string(out, self.as_str());
    }
}

/// Implements [`WriteJson`] for types whose values are written as an integer. Each line has a type,
/// and the integer of a value: `PetId: |id| id.get();`.
macro_rules! write_as_integer {
    ($($type:ty: |$value:ident| $number:expr;)+) => {
        $(impl WriteJson for $type {
            fn write_json(&self, out: &mut Vec<u8>) {
                let $value = self;
                out.extend_from_slice(itoa::Buffer::new().format($number).as_bytes());
            }
        })+
    };
}

/// Implements [`WriteJson`] for types whose values are written as the string that `as_str` returns.
macro_rules! write_as_text {
    ($($type:ty),+ $(,)?) => {
        $(impl WriteJson for $type {
            fn write_json(&self, out: &mut Vec<u8>) {
                super::write_string(out, self.as_str());
            }
        })+
    };
}

write_as_integer! {
    i64: |number| *number;
    u32: |number| *number;
    u16: |number| *number;
    PetId: |id| id.get();
    OrderId: |id| id.get();
    NoteId: |id| id.get();
}

write_as_text!(
    PetName,
    PetStatus,
    OrderStatus,
    WithdrawalReason,
    FieldKind,
    FieldName,
    Contact,
    NoteText,
    Decimal,
    DisabledReason,
    StoreName,
    Language,
    Currency,
    EmailAddress,
    TelephoneNumber,
    ContactPage,
    Address,
    About,
    Colour,
    StoreKind,
    StoreTimeZone,
    ContractText,
    LinkLabel,
    LinkUrl,
);

/// A writer of a JSON object. Each method writes a member, and [`Object::end`] completes the
/// object.
///
/// `Object::begin(&mut out)`, `object.integer("id", 7)`, `object.text("name", "Luke")` and
/// `object.end()` write `{"id":7,"name":"Luke"}`.
pub struct Object<'o> {
    pub(super) out: &'o mut Vec<u8>,
}

impl<'o> Object<'o> {
    /// Begins an object, which is written to `out`.
    pub fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out }
    }

    /// Writes the name of a member, and returns the buffer to which its value must be written.
    pub fn begin_member(&mut self, name: &str) -> &mut Vec<u8> {
        if self.out.last() != Some(&b'{') {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// Writes a member whose value is an integer.
    pub fn integer(&mut self, name: &str, value: impl Integer) {
        self.begin_member(name)
            .extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// Writes a member whose value is a string.
    pub fn text(&mut self, name: &str, value: &str) {
        super::write_string(self.begin_member(name), value);
    }

    /// Writes a member of any type that implements [`WriteJson`].
    pub(super) fn put(&mut self, name: &str, value: &impl WriteJson) {
        value.write_json(self.begin_member(name));
    }

    /// Writes a member whose value is null.
    pub(super) fn null(&mut self, name: &str) {
        self.begin_member(name).extend_from_slice(b"null");
    }

    /// Writes an array of strings, which must have at least one element.
    pub(super) fn texts<'t>(&mut self, name: &str, values: impl Iterator<Item = &'t str>) {
        let out = self.begin_member(name);
        for (index, value) in values.enumerate() {
            out.push(if index == 0 { b'[' } else { b',' });
            super::write_string(out, value);
        }
        out.push(b']');
    }

    /// Writes a member whose value is a time.
    pub fn time(&mut self, name: &str, value: Timestamp) {
        value.write_json(self.begin_member(name));
    }

    /// Writes a member with `write`, or the value null if there is no value.
    pub fn or_null<T>(
        &mut self,
        name: &str,
        value: Option<T>,
        write: impl FnOnce(&mut Self, &str, T),
    ) {
        match value {
            Some(value) => write(self, name, value),
            None => self.null(name),
        }
    }

    /// Writes a member whose value is a string, or null if there is no value.
    pub fn text_or_null(&mut self, name: &str, value: Option<&str>) {
        self.or_null(name, value, Object::text);
    }

    /// Writes a value that is already JSON, or null if there is none.
    pub(super) fn raw_or_null(&mut self, name: &str, value: Option<&str>) {
        self.begin_member(name)
            .extend_from_slice(value.unwrap_or("null").as_bytes());
    }

    /// Completes the object.
    pub fn end(self) {
        self.out.push(b'}');
    }
}
