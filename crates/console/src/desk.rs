//! The arguments of a page for the staff: the request, and the session's member.

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

/// A request of a member of the staff who is signed in, and may use the page.
pub(super) struct Desk<'r> {
    pub(super) visit: Visit<'r>,
    pub(super) session: Session,
    /// The number of a change. The page shows this one and all before it.
    pub(super) position: i64,
    /// Random, for the keys of the forms of this page.
    token: String,
}

/// The identity of a form that was sent. A second click sends the same one.
pub(super) struct FormIdentity {
    key: IdempotencyKey,
    fingerprint: [u8; 32],
}

/// The field of a form with the key by which a second click is recognized.
pub(super) const KEY_FIELD: &str = "_key";

/// The length of a value of [`KEY_FIELD`] without the name of its form: 128 bits.
const KEY_DIGITS: usize = 32;

/// Returns the member to whom a form was shown, if the form says so.
pub(super) fn owner_of(form: &Form) -> Option<StaffId> {
    let (owner, _) = form.raw(KEY_FIELD).split_once('.')?.1.split_once('-')?;
    text::parse_integer(owner).map(StaffId)
}

/// Returns the form as if it had been shown to this member.
pub(super) fn given_to(form: &Form, member: StaffId) -> Form {
    let given = |(name, value): &(String, String)| match value.split_once('.') {
        Some((token, rest)) if name == KEY_FIELD => {
            let rest = rest.split_once('-').map_or(rest, |(_, rest)| rest);
            (name.clone(), format!("{token}.{member}-{rest}"))
        }
        _ => (name.clone(), value.clone()),
    };
    form.fields().iter().map(given).collect()
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

    pub(super) fn may_write(&self) -> bool {
        self.role() >= Role::Clerk
    }

    /// Returns the number in the path as an identifier.
    pub(super) fn id<T>(&self, id: impl FnOnce(i64) -> Option<T>) -> Option<T> {
        text::parse_integer(self.visit.parameter).and_then(id)
    }

    /// Shows the hidden field with the key of a form of this page, and with the member who fills it in. Forms
    /// with other names have other keys.
    pub(super) fn key(&self, form: &str) -> Markup {
        let owner = self.session.member.id;
        html! { input type="hidden" name=(KEY_FIELD) value={ (self.token) "." (owner) "-" (form) }; }
    }

    /// Returns the context of a change that the member makes now. If the form has a [`KEY_FIELD`], the change is
    /// made once, however often the form is sent. With other values, it is another form.
    pub(super) fn context(&self) -> WriteContext {
        self.context_of(self.form_identity())
    }

    /// Returns the context of a change that is made once for this identity. Without an identity, each request makes the
    /// change.
    pub(super) fn context_of(&self, identity: Option<FormIdentity>) -> WriteContext {
        let owner = self.session.member.id.into();
        let idempotency = identity.map(|identity| IdempotentRequest {
            caller: owner,
            lineage: owner,
            operation: self.visit.page,
            key: identity.key,
            fingerprint: identity.fingerprint,
        });
        WriteContext {
            idempotency,
            ..self.visit.context_without_key(self.session.actor())
        }
    }

    /// Returns what tells the form of this request from others; `None` if it has no [`KEY_FIELD`].
    pub(super) fn form_identity(&self) -> Option<FormIdentity> {
        let form = &self.visit.form;
        self.identity(form.raw(KEY_FIELD), form.bytes())
    }

    /// Returns what tells this content, which was sent to the path of this request with this key, from others. `None`
    /// if the key is empty, or no possible one.
    pub(super) fn identity(&self, key: &str, content: &[u8]) -> Option<FormIdentity> {
        if key.is_empty() {
            return None;
        }
        let hash = Sha256::new()
            .chain_update(self.visit.request.uri.path())
            .chain_update([0])
            .chain_update(content);
        let fingerprint: [u8; 32] = hash.finalize().into();
        let digits = text::hex_digits(&fingerprint[..8]);
        let key = IdempotencyKey::new(format!("{key}-{digits}"))?;
        Some(FormIdentity { key, fingerprint })
    }

    /// Returns a source for the secrets that a form makes: the same one each time that this form is sent, in
    /// every process. So a second click makes the same secret, which the store already has; and the
    /// secret can be shown again, although only its digest is stored. Nobody can predict it without
    /// the random [`KEY_FIELD`], which is not stored.
    pub(super) fn random_of_form(&self) -> StdRng {
        let Visit {
            console,
            request,
            form,
            ..
        } = &self.visit;
        if form.raw(KEY_FIELD).len() < KEY_DIGITS {
            return console.with_random(random_for_thread);
        }
        let mut mac = hmac::Context::with_key(&self.visit.secret_key());
        mac.update(format!("form of staff {} ", self.session.member.id).as_bytes());
        mac.update(request.uri.path().as_bytes());
        mac.update(&[0]);
        mac.update(form.bytes());
        let mut seed = [0; 32];
        seed.copy_from_slice(mac.sign().as_ref());
        StdRng::from_seed(seed)
    }
}
