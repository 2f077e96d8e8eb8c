//! [`Visit`]: a request to the console, with its parsed query and form. It also signs what the
//! browser stores, such as cookies. [`Form`] holds the fields of a form or of a query.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use hyper::{Method, header::HeaderValue, http::request::Parts};
use jiff::Timestamp;
use petstore_app::StoreFacts;
use petstore_domain::{NamedActor, WriteContext, text};
use ring::hmac;

use super::{origin::Visitor, state::Console};

/// The maximum number of fields in a form. The largest form that a page renders has some 300: 100
/// selected animals with the filters of their list, a paste of 100 columns, or all fields of an
/// animal, each with its initial value.
pub(super) const MAX_FORM_FIELDS: usize = 1_000;

/// What submitting a form does, for pages that mention the form, such as the page of a saved form.
pub(super) struct FormAction<'p> {
    /// The label of the action, in the language of the request.
    pub(super) name: &'static str,
    /// The parameter in the form's path, such as the number of an order.
    pub(super) parameter: &'p str,
    /// Whether the action requires a recent sign-in.
    pub(super) needs_recent_sign_in: bool,
}

/// A request to the console, without the member who sent it. For pages that require a session,
/// [`Desk`](super::desk::Desk) adds the member.
pub(super) struct Visit<'r> {
    pub(super) console: &'r Console,
    pub(super) request: &'r Parts,
    pub(super) request_id: &'r HeaderValue,
    /// What the store states about itself, such as its name and currency.
    pub(super) facts: StoreFacts,
    /// The id of the matching route. It is part of the idempotency key, so forms of different
    /// routes never share a key.
    pub(super) route_id: &'static str,
    /// Whether the form uploads pictures. The handler then streams the body, and `form` is empty.
    pub(super) has_pictures: bool,
    /// Returns what a request with this method and path does; `None` if the console has no such
    /// route. A function pointer, because this module cannot import the pages.
    pub(super) find_form_action: for<'p> fn(&Method, &'p str) -> Option<FormAction<'p>>,
    /// The path parameter, still percent-encoded; empty if the route has none.
    pub(super) parameter: &'r str,
    /// The form in the body of a POST; otherwise empty.
    pub(super) form: Form,
    /// The query parameters.
    pub(super) query: Form,
    /// The address of the browser, and the origin at which it reached the console.
    pub(super) visitor: Visitor,
    /// The time of the request, in whole milliseconds.
    pub(super) now: Timestamp,
}

/// The error for a form with more than [`MAX_FORM_FIELDS`] fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooManyFields;

/// The fields of a submitted form (`application/x-www-form-urlencoded`) or of a query, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Form {
    /// The encoded form as it was received; empty if the form was built from fields.
    bytes: Bytes,
    fields: Vec<(String, String)>,
}

impl Visit<'_> {
    /// Returns the HMAC key for signatures. It is the secret from which the service also makes
    /// entity tags. All processes that share the database have the same key, and no response
    /// reveals it.
    pub(super) fn signing_key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.console.app.store.etag_key())
    }

    /// Signs text that a browser stores, such as a cookie. When the browser sends the text back,
    /// [`Self::is_signature_of`] detects whether it was forged or modified.
    pub(super) fn sign(&self, text: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.signing_key(), text))
    }

    /// Whether [`Visit::sign`] returned this signature for this text. The comparison takes constant
    /// time.
    pub(super) fn is_signature_of(&self, signature: &str, text: &[u8]) -> bool {
        match URL_SAFE_NO_PAD.decode(signature) {
            Ok(bytes) => hmac::verify(&self.signing_key(), text, &bytes).is_ok(),
            Err(_) => false,
        }
    }

    /// Returns the context of a write without an idempotency key: if a form is submitted twice, it
    /// writes twice.
    pub(super) fn context_without_idempotency(&self, actor: NamedActor) -> WriteContext {
        let mut context = WriteContext::new(actor, self.now);
        context.request_id = self.request_id.to_str().ok().map(str::to_owned);
        context
    }
}

impl FromIterator<(String, String)> for Form {
    /// Builds a form from decoded fields. Its [`bytes`](Form::bytes) are empty.
    fn from_iter<I: IntoIterator<Item = (String, String)>>(fields: I) -> Self {
        Self {
            bytes: Bytes::new(),
            fields: fields.into_iter().collect(),
        }
    }
}

impl Form {
    /// Builds a form from these fields, with the encoded [`bytes`](Form::bytes) that a browser
    /// would send for them.
    pub(super) fn from_encoded_pairs(fields: &[(&str, &str)]) -> Self {
        let mut serializer = form_urlencoded::Serializer::new(String::new());
        serializer.extend_pairs(fields);
        Self::from_trusted_bytes(serializer.finish().into())
    }

    /// Parses an encoded form. Invalid UTF-8 becomes replacement characters. Fails if there are
    /// more than [`MAX_FORM_FIELDS`] fields.
    pub(super) fn parse(bytes: Bytes) -> Result<Self, TooManyFields> {
        let mut fields = Vec::new();
        for field in form_urlencoded::parse(&bytes).into_owned() {
            if fields.len() == MAX_FORM_FIELDS {
                return Err(TooManyFields);
            }
            fields.push(field);
        }
        Ok(Self { bytes, fields })
    }

    /// Parses a form that the service itself encoded. Such a form never has too many fields; if it
    /// had, the result would be an empty form.
    pub(super) fn from_trusted_bytes(bytes: Bytes) -> Self {
        Self::parse(bytes).unwrap_or_default()
    }

    /// Parses a query string. Replaces U+0000 like invalid UTF-8, because PostgreSQL rejects it in
    /// a search, and no stored text contains it.
    pub(super) fn from_query(query: &str) -> Result<Self, TooManyFields> {
        let mut form = Self::parse(query.to_owned().into())?;
        for (name, value) in &mut form.fields {
            *name = name.replace('\0', "\u{fffd}");
            *value = value.replace('\0', "\u{fffd}");
        }
        Ok(form)
    }

    /// Builds a form from these fields. Its [`bytes`](Form::bytes) are empty.
    pub(super) fn from_pairs(fields: &[(&str, &str)]) -> Self {
        fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    /// Returns the first value of this field as submitted; empty if the form does not have the
    /// field.
    pub(super) fn raw(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// Returns the first value of this field, trimmed; empty if the form does not have the field.
    pub(super) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Returns all values of this field.
    pub(super) fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        self.fields
            .iter()
            .filter(move |(field_name, _)| field_name == name)
            .map(|(_, value)| value.as_str())
    }

    /// Parses this field as an integer; `None` if it is missing or invalid.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        text::parse_integer(self.get(name))
    }

    /// Returns the names and values of all fields, in the order of the form.
    pub(super) fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// Returns the encoded form as it was received; empty if the form was built from fields.
    pub(super) fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}
