//! A request for a page, with its form.

use bytes::Bytes;
use hyper::{header::HeaderValue, http::request::Parts};
use jiff::Timestamp;
use ring::hmac;

use super::{Console, origin::Visitor, routes::Route};

/// A request for a page.
pub(super) struct Visit<'r> {
    pub(super) console: &'r Console,
    pub(super) request: &'r Parts,
    pub(super) request_id: &'r HeaderValue,
    pub(super) route: &'static Route,
    /// The parameter in the path, not decoded. Empty if the path has none.
    pub(super) parameter: &'r str,
    /// What the form contains; of a GET, the query.
    pub(super) form: Form,
    /// From where the request comes.
    pub(super) visitor: Visitor,
    pub(super) now: Timestamp,
}

impl Visit<'_> {
    /// A key that every process on the database has, and that is in no response.
    pub(super) fn secret_key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.console.app.store.etag_key())
    }
}

/// A form as a browser sends it, or a query.
#[derive(Debug, Clone, Default)]
pub(super) struct Form {
    raw: Bytes,
    fields: Vec<(String, String)>,
}

impl Form {
    /// Reads a form. Bytes that are not UTF-8 become replacement characters.
    pub(super) fn of(raw: Bytes) -> Self {
        let fields = form_urlencoded::parse(&raw);
        let fields = fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        Self { raw, fields }
    }

    /// The first value of this field; empty without it.
    pub(super) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// All values of this field.
    pub(super) fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        self.fields.iter().filter(move |(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// All fields with their values, in their order.
    pub(super) fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// The form as it was sent.
    pub(super) fn raw(&self) -> &Bytes {
        &self.raw
    }
}
