//! A request for a page, with its form.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use hyper::{Method, header::HeaderValue, http::request::Parts};
use jiff::Timestamp;
use petstore_app::StoreFacts;
use petstore_domain::{NamedActor, WriteContext, text};
use ring::hmac;

use super::{origin::Visitor, state::Console};

/// The action of a form.
pub(super) struct FormAction<'p> {
    /// The words for the action, in the language of the request.
    pub(super) name: &'static str,
    /// The parameter in the path of the form.
    pub(super) parameter: &'p str,
    /// Whether the action is possible only shortly after a sign-in.
    pub(super) needs_recent_sign_in: bool,
}

/// A request for a page.
pub(super) struct Visit<'r> {
    pub(super) console: &'r Console,
    pub(super) request: &'r Parts,
    pub(super) request_id: &'r HeaderValue,
    /// What the store states about itself, such as its name and currency.
    pub(super) facts: StoreFacts,
    /// The name of the page.
    pub(super) page: &'static str,
    /// Whether the form of the page has pictures. The page reads them one by one, so `form` is empty.
    pub(super) has_pictures: bool,
    /// Finds the action of the form with a method and a path.
    pub(super) find_form_action: for<'p> fn(&Method, &'p str) -> Option<FormAction<'p>>,
    /// The parameter in the path, not decoded. Empty if the path has none.
    pub(super) parameter: &'r str,
    /// The body of a POST; otherwise empty.
    pub(super) form: Form,
    /// The fields of the query.
    pub(super) query: Form,
    /// The browser that sends the request, and its way to the console.
    pub(super) visitor: Visitor,
    /// The time of the request, in whole milliseconds.
    pub(super) now: Timestamp,
}

impl Visit<'_> {
    /// Returns the key of signatures: the secret from which entity tags are made. Every process on the
    /// database has it, and it is in no response.
    pub(super) fn secret_key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.console.app.store.etag_key())
    }

    /// Signs a text that a browser keeps. With the signature, the service knows later that it made the text.
    pub(super) fn sign(&self, text: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.secret_key(), text))
    }

    /// Whether a signature is the one that [`Visit::sign`] made for this text.
    pub(super) fn is_signature_of(&self, signature: &str, text: &[u8]) -> bool {
        match URL_SAFE_NO_PAD.decode(signature) {
            Ok(bytes) => hmac::verify(&self.secret_key(), text, &bytes).is_ok(),
            Err(_) => false,
        }
    }

    /// Returns the context of a change without an idempotency key: each time that its form is sent, the change
    /// is made.
    pub(super) fn context_without_key(&self, actor: NamedActor) -> WriteContext {
        let mut context = WriteContext::new(actor, self.now);
        context.request_id = self.request_id.to_str().ok().map(str::to_owned);
        context
    }
}

/// The number of fields that a form may have. The largest form that a page makes has some 300: 100 selected
/// animals with the filters of their list, a paste of 100 columns, or all fields of an animal, each with its
/// initial value.
pub(super) const MAX_FORM_FIELDS: usize = 1_000;

/// A form with more than [`MAX_FORM_FIELDS`] fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooManyFields;

/// The fields of a form as a browser sends it, or of a query.
#[derive(Debug, Clone, Default)]
pub(super) struct Form {
    /// The form as it was sent; empty if it was made of fields.
    bytes: Bytes,
    fields: Vec<(String, String)>,
}

impl FromIterator<(String, String)> for Form {
    /// Returns a form with these fields, without bytes.
    fn from_iter<I: IntoIterator<Item = (String, String)>>(fields: I) -> Self {
        Self {
            bytes: Bytes::new(),
            fields: fields.into_iter().collect(),
        }
    }
}

impl Form {
    /// Returns a form with these fields, and with the bytes that a browser would send for them.
    pub(super) fn from_encoded_pairs(fields: &[(&str, &str)]) -> Self {
        let mut serializer = form_urlencoded::Serializer::new(String::new());
        serializer.extend_pairs(fields);
        Self::from_own_bytes(serializer.finish().into())
    }

    /// Reads a form. Bytes that are not UTF-8 become replacement characters.
    pub(super) fn read(bytes: Bytes) -> Result<Self, TooManyFields> {
        let mut fields = Vec::new();
        for field in form_urlencoded::parse(&bytes).into_owned() {
            if fields.len() == MAX_FORM_FIELDS {
                return Err(TooManyFields);
            }
            fields.push(field);
        }
        Ok(Self { bytes, fields })
    }

    /// Reads a form that the service has made. With too many fields, which the service never writes, the form
    /// is empty.
    pub(super) fn from_own_bytes(bytes: Bytes) -> Self {
        Self::read(bytes).unwrap_or_default()
    }

    /// Reads a query. Like bytes that are not UTF-8, U+0000 becomes a replacement character: no text of a
    /// store has it, and PostgreSQL rejects it in a search.
    pub(super) fn from_query(query: &str) -> Result<Self, TooManyFields> {
        let mut form = Self::read(query.to_owned().into())?;
        for (name, value) in &mut form.fields {
            *name = name.replace('\0', "\u{fffd}");
            *value = value.replace('\0', "\u{fffd}");
        }
        Ok(form)
    }

    /// Returns a form with these fields, without bytes.
    pub(super) fn from_pairs(fields: &[(&str, &str)]) -> Self {
        fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    /// Returns the first text of this field; empty without it.
    pub(super) fn raw(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// Returns the first text of this field without space around it; empty without it.
    pub(super) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Returns all texts of this field.
    pub(super) fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        self.fields
            .iter()
            .filter(move |(field_name, _)| field_name == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the integer in this field.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        text::parse_integer(self.get(name))
    }

    /// Returns the names and texts of all fields, in the order of the form.
    pub(super) fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// Returns the form as it was sent; empty if it was made of fields.
    pub(super) fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}
