//! What a page for the staff gets: the request, and whose session it is.

use maud::{Markup, html};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use ring::hmac;
use sha2::{Digest, Sha256};

use super::{passwords::random_for_thread, session::Session, visit::Visit};
use crate::{
    domain::{IdempotencyKey, IdempotentRequest, WriteContext},
    text,
};

/// A request of a member of the staff who is signed in, and may use the page.
pub(super) struct PageCall<'r> {
    pub(super) visit: Visit<'r>,
    pub(super) session: Session,
}

/// The field of a form with the key by which a second click is recognized.
pub(super) const KEY_FIELD: &str = "_key";

/// The length of a value of [`KEY_FIELD`] without the name of its form: 128 bits.
const KEY_DIGITS: usize = 32;

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
            hash.update(form.raw());
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
        let bytes: [u8; 16] = self.visit.console.with_random(RngExt::random);
        bytes.iter().flat_map(|&byte| text::hex(byte)).map(char::from).collect()
    }

    /// The hidden field with such a value.
    pub(super) fn key_field(&self) -> Markup {
        html! { input type="hidden" name=(KEY_FIELD) value=(self.new_key()); }
    }

    /// A source for the secrets that a form makes: the same one each time that this form is sent, in
    /// every process. So a second click makes the same secret, which the store already has; and the
    /// secret can be shown again, although only its digest is stored. Nobody can predict it without
    /// the random [`KEY_FIELD`], which is not stored.
    pub(super) fn random_of_form(&self) -> StdRng {
        let Visit { console, request, form, .. } = &self.visit;
        if form.get(KEY_FIELD).len() < KEY_DIGITS {
            return console.with_random(random_for_thread);
        }
        let mut mac = hmac::Context::with_key(&self.visit.secret_key());
        mac.update(format!("form of staff {} ", self.session.member.id).as_bytes());
        mac.update(request.uri.path().as_bytes());
        mac.update(&[0]);
        mac.update(form.raw());
        let mut seed = [0; 32];
        seed.copy_from_slice(mac.sign().as_ref());
        StdRng::from_seed(seed)
    }
}
