//! [`Desk`]: the request of a signed-in member, as staff pages receive it. It makes the idempotency
//! keys of forms, by which the service recognizes a double click.

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

/// The hidden form field with the idempotency key, by which the service recognizes a double click:
/// `TOKEN.OWNER-FORM`, such as `9f86d081884c7d659a2feaa0c55ad015.7-add`. The owner is the member
/// for whom the form was rendered.
pub(super) const KEY_FIELD: &str = "_key";

/// The length of the random token in [`KEY_FIELD`], in hexadecimal digits: 128 bits.
const KEY_DIGITS: usize = 32;

/// The length of the digest of the content in an idempotency key, in bytes. It only has to differ
/// between the versions of one form, so 64 bits are enough.
const SHORT_DIGEST_BYTES: usize = 8;

/// A request of a signed-in member, after the access checks of the page. Handlers of staff
/// pages get it in place of the [`Visit`].
pub(super) struct Desk<'r> {
    pub(super) visit: Visit<'r>,
    pub(super) session: Session,
    /// The number of the last change in the journal that this process knew when the request began.
    /// The page includes this change, and its script asks for the changes after it.
    pub(super) journal_position: i64,
    /// A random token for the idempotency keys of all forms on the page.
    token: String,
}

/// The idempotency key and the fingerprint of a submitted form. Both requests of a double click
/// have the same key and the same fingerprint.
pub(super) struct FormIdentity {
    key: IdempotencyKey,
    /// The SHA-256 digest of the path and the content. The store rejects a key that comes again
    /// with another fingerprint.
    fingerprint: [u8; 32],
}

/// The parts of a value of [`KEY_FIELD`].
struct KeyParts<'k> {
    token: &'k str,
    owner: &'k str,
    form_name: &'k str,
}

impl<'k> KeyParts<'k> {
    /// Splits a value of [`KEY_FIELD`]. Returns `None` if it does not have the three parts.
    fn split(key: &'k str) -> Option<Self> {
        let (token, owner_and_form) = key.split_once('.')?;
        let (owner, form_name) = owner_and_form.split_once('-')?;
        Some(Self {
            token,
            owner,
            form_name,
        })
    }
}

/// Returns the member for whom a form was rendered; `None` if its [`KEY_FIELD`] names none.
pub(super) fn owner_of(form: &Form) -> Option<StaffId> {
    let parts = KeyParts::split(form.raw(KEY_FIELD))?;
    text::parse_integer(parts.owner).map(StaffId)
}

/// Returns the form as if it had been rendered for this member: with the member as the owner in its
/// [`KEY_FIELD`].
pub(super) fn with_owner(form: &Form, member: StaffId) -> Form {
    let mut fields = form.fields().to_vec();
    for (name, value) in &mut fields {
        if name == KEY_FIELD
            && let Some(parts) = KeyParts::split(value)
        {
            *value = format!("{}.{member}-{}", parts.token, parts.form_name);
        }
    }
    fields.into_iter().collect()
}

impl<'r> Desk<'r> {
    /// Returns the desk for a visit in this session, with a new token for the forms of the page.
    pub(super) fn new(visit: Visit<'r>, session: Session) -> Self {
        let bytes: [u8; KEY_DIGITS / 2] = visit.console.with_random(RngExt::random);
        let journal_position = visit.console.app.journal.position();
        Self {
            visit,
            session,
            journal_position,
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

    /// Returns the store's currency; `None` if the store has not chosen one.
    pub(super) fn currency(&self) -> Option<&Currency> {
        self.visit.facts.currency().value
    }

    /// Whether the member's role may change animals and orders.
    pub(super) fn may_write(&self) -> bool {
        self.role() >= Role::Clerk
    }

    /// Parses the path parameter as an id; `None` if it is not an id. `to_id` converts the number,
    /// and returns `None` for a number that no id can have.
    pub(super) fn path_id<T>(&self, to_id: impl FnOnce(i64) -> Option<T>) -> Option<T> {
        let number = text::parse_integer(self.visit.parameter)?;
        to_id(number)
    }

    /// Renders the hidden [`KEY_FIELD`], which makes submitting a form idempotent. Every form on
    /// the page needs one. `form_name` must be unique on the page.
    pub(super) fn idempotency_field(&self, form_name: &str) -> Markup {
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
            ..self.visit.context_without_idempotency(self.session.actor())
        }
    }

    /// Returns the identity of the form in this request; `None` if it has no [`KEY_FIELD`].
    pub(super) fn form_identity(&self) -> Option<FormIdentity> {
        let form = &self.visit.form;
        self.identity_of(form.raw(KEY_FIELD), form.bytes())
    }

    /// Returns the identity of a form with this [`KEY_FIELD`] and this content; `None` if the field
    /// is empty or invalid. The fingerprint also covers the path of the request.
    ///
    /// The idempotency key consists of the form's key and a digest of the content. If somebody goes
    /// back, edits the form and submits it again, the digest differs. The edited form then counts
    /// as a new one.
    pub(super) fn identity_of(&self, form_key: &str, content: &[u8]) -> Option<FormIdentity> {
        if form_key.is_empty() {
            return None;
        }
        let hash = Sha256::new()
            .chain_update(self.visit.request.uri.path())
            // The end of the path, which contains no zero byte.
            .chain_update([0])
            .chain_update(content);
        let fingerprint: [u8; 32] = hash.finalize().into();
        let short_digest = text::hex_digits(&fingerprint[..SHORT_DIGEST_BYTES]);
        let key = IdempotencyKey::new(format!("{form_key}-{short_digest}"))?;
        Some(FormIdentity { key, fingerprint })
    }

    /// Returns a random number generator for the secrets that a form creates, such as an API key.
    ///
    /// The seed is derived from the form, so every submission of the same form creates the same
    /// secret, in every process. After a double click, the response can therefore show the secret
    /// again, although the store has only its digest. Nobody can predict the secret without the
    /// random token in [`KEY_FIELD`], which is not stored. A form without a token gets a new seed
    /// each time.
    pub(super) fn random_from_form(&self) -> StdRng {
        let Visit {
            console,
            request,
            form,
            ..
        } = &self.visit;
        // The field begins with the token, so a shorter field has no complete token.
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
