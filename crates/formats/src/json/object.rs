//! A JSON object that is being written.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use itoa::Integer;
use jiff::{Timestamp, fmt::temporal::DateTimePrinter};
use petstore_domain::{
    PetId, PetName, PetStatus,
    store_area::{
        About, Address, Colour, Contact, ContactPage, Currency, Decimal, DisabledReason,
        EmailAddress, FieldKind, FieldName, Language, LinkLabel, LinkUrl, OrderId, OrderStatus,
        StoreKind, StoreName, TelephoneNumber, Text, WithdrawalReason,
    },
};

/// RFC 3339 in UTC with milliseconds.
static TIMES: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// A value that can be written.
pub(super) trait Show {
    fn show(&self, out: &mut Vec<u8>);
}

impl<T: Show> Show for Option<T> {
    fn show(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.show(out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

impl Show for Timestamp {
    fn show(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        // A write to memory cannot fail.
        let _ = TIMES.print_timestamp(self, &mut *out);
        out.push(b'"');
    }
}

impl Show for bool {
    fn show(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl<const MAX: usize, const MIN: usize> Show for Text<MAX, MIN> {
    fn show(&self, out: &mut Vec<u8>) {
        super::write_string(out, self.as_str());
    }
}

/// Declares values that are written as an integer or a text.
macro_rules! shows {
    ({$($integer:ty: |$number:ident| $of_number:expr;)+} $($text:ty),+) => {
        $(impl Show for $integer {
            fn show(&self, out: &mut Vec<u8>) {
                let $number = self;
                out.extend_from_slice(itoa::Buffer::new().format($of_number).as_bytes());
            }
        })+
        $(impl Show for $text {
            fn show(&self, out: &mut Vec<u8>) {
                super::write_string(out, self.as_str());
            }
        })+
    };
}

shows! {
    {
        i64: |number| *number;
        u32: |number| *number;
        PetId: |id| id.get();
        OrderId: |id| id.get();
    }
    PetName, PetStatus, OrderStatus, WithdrawalReason, FieldKind, FieldName, Contact, Decimal,
    DisabledReason, StoreName, Language, Currency, EmailAddress, TelephoneNumber, ContactPage, Address,
    About, Colour, StoreKind, LinkLabel, LinkUrl
}

/// A JSON object that is being written.
pub struct Object<'o>(pub(super) &'o mut Vec<u8>);

impl<'o> Object<'o> {
    pub fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self(out)
    }

    pub fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if self.0.last() != Some(&b'{') {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        self.0
    }

    pub fn integer(&mut self, name: &str, value: impl Integer) {
        self.name(name)
            .extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    pub fn text(&mut self, name: &str, value: &str) {
        super::write_string(self.name(name), value);
    }

    pub(super) fn put(&mut self, name: &str, value: &impl Show) {
        value.show(self.name(name));
    }

    pub(super) fn null(&mut self, name: &str) {
        self.name(name).extend_from_slice(b"null");
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

    pub fn time(&mut self, name: &str, value: Timestamp) {
        value.show(self.name(name));
    }

    /// Writes the value with `write`, or null.
    pub fn or_null<T>(&mut self, name: &str, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.null(name),
        }
    }

    pub fn text_or_null(&mut self, name: &str, value: Option<&str>) {
        self.or_null(name, value, |object, value| object.text(name, value));
    }

    /// Copies a value that is JSON already.
    pub(super) fn raw_or_null(&mut self, name: &str, value: Option<&str>) {
        self.name(name)
            .extend_from_slice(value.unwrap_or("null").as_bytes());
    }

    pub fn end(self) {
        self.0.push(b'}');
    }
}
