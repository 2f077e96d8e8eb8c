//! The request of a signed-in member, as staff pages receive it, and the idempotency keys of forms.

use maud::{Markup, html};
use petstore_app::App;
use petstore_domain::{
    IdempotencyKey, IdempotentRequest, Role, StaffId, WriteContext, store_area::Currency, text,
};
use petstore_store::Store;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use ring::hmac;
use sha2::{Digest, Sha256};

use super::{
    passwords::random_for_thread,
    session::Session,
    visit::{Form, Visit},
};

/// A request of a signed-in member, after the access checks of the page. Handlers of staff
/// pages get it in place of the [`Visit`].
pub(super) struct Desk<'r> {
    pub(super) visit: Visit<'r>,
    pub(super) session: Session,
    /// The number of the last change that this process knew when the request began, so the page
    /// includes it. The script of the open page asks for the changes after it.
    pub(super) position: i64,
    /// A random token for the idempotency keys of all forms on the page.
    token: String,
}

/// The idempotency key and the fingerprint of a submitted form. The two requests of a double
/// click have the same ones.
pub(super) struct FormIdentity {
    key: IdempotencyKey,
    fingerprint: [u8; 32],
}

/// The hidden form field with the idempotency key, by which the service recognizes a double click:
/// `TOKEN.OWNER-FORM`, such as `9f86d081884c7d659a2feaa0c55ad015.7-add`. The owner is the member
/// for whom the form was rendered.
pub(super) const KEY_FIELD: &str = "_key";

/// The length of the random token in [`KEY_FIELD`], in hexadecimal digits: 128 bits.
const KEY_DIGITS: usize = 32;

/// Returns the member for whom a form was rendered; `None` if its [`KEY_FIELD`] names none.
pub(super) fn owner_of(form: &Form) -> Option<StaffId> {
    let (_token, owner_and_form) = form.raw(KEY_FIELD).split_once('.')?;
    let (owner, _form_name) = owner_and_form.split_once('-')?;
    text::parse_integer(owner).map(StaffId)
}

/// Returns the form with this member as the owner in its [`KEY_FIELD`], as if the form had been
/// rendered for the member.
pub(super) fn with_owner(form: &Form, member: StaffId) -> Form {
    let mut fields = form.fields().to_vec();
    for (name, value) in &mut fields {
        if name == KEY_FIELD
            && let Some((token, owner_and_form)) = value.split_once('.')
        {
            let form_name = match owner_and_form.split_once('-') {
                Some((_, form_name)) => form_name,
                None => owner_and_form,
            };
            *value = format!("{token}.{member}-{form_name}");
        }
    }
    fields.into_iter().collect()
}

impl<'r> Desk<'r> {
    pub(super) fn new(visit: Visit<'r>, session: Session) -> Self {
        let bytes: [u8; KEY_DIGITS / 2] = visit.console.with_random(RngExt::random);
        let position = visit.console.app.journal.position();
        Self {
            visit,
            session,
            position,
            token: text::hex_digits(&bytes),
        }
    }

    pub(super) fn app(&self) -> &App {
        &self.visit.console.app
    }

    pub(super) fn store(&self) -> &dyn Store {
        self.app().store.as_ref()
    }

    pub(super) fn role(&self) -> Role {
        self.session.member.role
    }

    pub(super) fn currency(&self) -> Option<&Currency> {
        self.visit.facts.currency().value
    }

    /// Whether the member's role may change animals and orders.
    pub(super) fn may_write(&self) -> bool {
        self.role() >= Role::Clerk
    }

    /// Parses the path parameter as an id. `to_id` converts the number, and returns `None` if no id
    /// has this number.
    pub(super) fn path_id<T>(&self, to_id: impl FnOnce(i64) -> Option<T>) -> Option<T> {
        text::parse_integer(self.visit.parameter).and_then(to_id)
    }

    /// Renders the hidden [`KEY_FIELD`] that every form on the page needs: it makes submitting the
    /// form idempotent. `form_name` must be unique on the page.
    pub(super) fn key_field(&self, form_name: &str) -> Markup {
        let owner = self.session.member.id;
        html! { input type="hidden" name=(KEY_FIELD) value={ (self.token) "." (owner) "-" (form_name) }; }
    }

    /// Returns the context of a write by the member. If the form has a [`KEY_FIELD`], the write is
    /// idempotent: it happens once, no matter how often the form is submitted with the same values.
    pub(super) fn context(&self) -> WriteContext {
        self.context_of(self.form_identity())
    }

    /// Returns the context of a write by the member that happens once for each identity. Without an
    /// identity, every request writes.
    pub(super) fn context_of(&self, identity: Option<FormIdentity>) -> WriteContext {
        let owner = self.session.member.id.into();
        let idempotency = identity.map(|identity| IdempotentRequest {
            caller: owner,
            lineage: owner,
            operation: self.visit.route_id,
            key: identity.key,
            fingerprint: identity.fingerprint,
        });
        WriteContext {
            idempotency,
            ..self.visit.context_without_key(self.session.actor())
        }
    }

    /// Returns the identity of the form in this request; `None` if it has no [`KEY_FIELD`].
    pub(super) fn form_identity(&self) -> Option<FormIdentity> {
        let form = &self.visit.form;
        self.identity(form.raw(KEY_FIELD), form.bytes())
    }

    /// Returns the identity of this content with this key; `None` if the key is empty or invalid.
    /// The identity also covers the path of the request.
    ///
    /// The idempotency key is the given key with a digest of the content. If somebody goes back,
    /// edits the form and submits it again, it has the same key but another digest, so it counts as
    /// a new form.
    pub(super) fn identity(&self, key: &str, content: &[u8]) -> Option<FormIdentity> {
        if key.is_empty() {
            return None;
        }
        let hash = Sha256::new()
            .chain_update(self.visit.request.uri.path())
            .chain_update([0])
            .chain_update(content);
        let fingerprint: [u8; 32] = hash.finalize().into();
        let short_digest = text::hex_digits(&fingerprint[..8]);
        let key = IdempotencyKey::new(format!("{key}-{short_digest}"))?;
        Some(FormIdentity { key, fingerprint })
    }

    /// Returns a random number generator for the secrets that a form creates, such as an API key.
    ///
    /// It is seeded from the form, so every submission of the same form creates the same secret, in
    /// every process. After a double click, the response can therefore show the secret again,
    /// although the store has only its digest. Nobody can predict the secret without the random
    /// token in [`KEY_FIELD`], which is not stored. A form without a token gets a new seed each
    /// time.
    pub(super) fn random_from_form(&self) -> StdRng {
        let Visit {
            console,
            request,
            form,
            ..
        } = &self.visit;
        if form.raw(KEY_FIELD).len() < KEY_DIGITS {
            return console.with_random(random_for_thread);
        }
        let mut mac = hmac::Context::with_key(&self.visit.signing_key());
        mac.update(format!("form of staff {} ", self.session.member.id).as_bytes());
        mac.update(request.uri.path().as_bytes());
        mac.update(&[0]);
        mac.update(form.bytes());
        let mut seed = [0; 32];
        seed.copy_from_slice(mac.sign().as_ref());
        StdRng::from_seed(seed)
    }
}
