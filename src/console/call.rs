//! What a page gets: the request, its form, and whose session it is.

use bytes::Bytes;
use hyper::{header::HeaderValue, http::request::Parts};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::{Console, origin::Visitor, routes::Route, session::Session};
use crate::{
    domain::{IdempotencyKey, IdempotentRequest, WriteContext},
    text,
};

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

/// A request of a member of the staff who is signed in, and may use the page.
pub(super) struct PageCall<'r> {
    pub(super) visit: Visit<'r>,
    pub(super) session: Session,
}

/// The field of a form with the key by which a second click is recognized.
pub(super) const KEY_FIELD: &str = "_key";

impl PageCall<'_> {
    /// The circumstances of a change that the member makes now. If the form has a [`KEY_FIELD`], the
    /// change is made once, however often the form is sent.
    pub(super) fn context(&self) -> WriteContext {
        let Visit { request, route, form, now, .. } = &self.visit;
        let owner = self.session.member.id.into();
        let idempotency = IdempotencyKey::new(form.get(KEY_FIELD).to_owned()).map(|key| {
            let mut hash = Sha256::new();
            hash.update(request.uri.path());
            hash.update([0]);
            hash.update(&form.raw);
            let fingerprint = hash.finalize().into();
            IdempotentRequest {
                caller: owner,
                lineage: owner,
                operation: route.id,
                key,
                fingerprint,
            }
        });
        let request_id = self.visit.request_id.to_str().ok().map(str::to_owned);
        WriteContext { actor: self.session.actor(), now: *now, request_id, idempotency }
    }

    /// A new value of [`KEY_FIELD`], for a form of this page.
    pub(super) fn new_key(&self) -> String {
        let bytes: [u8; 16] = self.visit.console.with_random(rand::RngExt::random);
        bytes.iter().flat_map(|&byte| text::hex(byte)).map(char::from).collect()
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
