//! What is in force of a store: what its profile says, else an option of `serve`, else the default.

use petstore_domain::store_area::{
    ContactPage, ContactUrl, Currency, EmailAddress, Language, Profile, StoreKind, StoreName,
    TelephoneNumber,
};
use petstore_store::{StoreError, StoreReader};

/// What holds if the profile does not say it.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// The name of the store.
    pub name: Option<String>,
    /// The language of the window, and of members who chose none.
    pub language: Option<Language>,
    /// The currency of all prices.
    pub currency: Option<Currency>,
    /// How the public asks for an animal.
    pub contact: Option<ContactUrl>,
}

/// A value, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InForce<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub from: Source,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// From the profile.
    Profile,
    /// From an option of `serve`.
    Option,
    /// From neither.
    Default,
}

/// How the public asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact<'a> {
    /// On a page.
    Page(&'a ContactPage),
    /// By mail.
    Email(&'a EmailAddress),
    /// By telephone.
    Telephone(&'a TelephoneNumber),
    /// That of the option.
    Url(&'a ContactUrl),
}

/// The profile with the options behind it. Members without an option are those of the profile.
#[derive(Debug, Clone, Default)]
pub struct StoreFacts {
    /// What was entered.
    pub profile: Profile,
    options: StoreOptions,
}

impl StoreFacts {
    /// Returns the profile with these options behind it.
    pub fn new(profile: Profile, options: &StoreOptions) -> Self {
        Self {
            profile,
            options: options.clone(),
        }
    }

    /// Returns those of now.
    pub async fn read(store: &StoreReader, options: &StoreOptions) -> Result<Self, StoreError> {
        Ok(Self::new(store.profile().await?, options))
    }

    /// Returns the name of the store.
    pub fn name(&self) -> InForce<Option<&str>> {
        let entered = self.profile.name.as_ref().map(StoreName::as_str);
        first(entered, self.options.name.as_deref())
    }

    /// Returns the language of the window, and of members who chose none.
    pub fn language(&self) -> InForce<Language> {
        let InForce { value, from } = first(self.profile.language, self.options.language);
        InForce {
            value: value.unwrap_or(Language::English),
            from,
        }
    }

    /// What a sale is called.
    pub fn kind(&self) -> StoreKind {
        self.profile.kind.unwrap_or(StoreKind::Shop)
    }

    /// Returns the currency of all prices.
    pub fn currency(&self) -> InForce<Option<&Currency>> {
        first(
            self.profile.currency.as_ref(),
            self.options.currency.as_ref(),
        )
    }

    /// Where a question leads. The option holds only if the profile names no way at all.
    pub fn contact(&self) -> InForce<Option<Contact<'_>>> {
        let Profile {
            contact_page,
            email,
            telephone,
            ..
        } = &self.profile;
        let entered = contact_page.as_ref().map(Contact::Page);
        let entered = entered.or(email.as_ref().map(Contact::Email));
        let entered = entered.or(telephone.as_ref().map(Contact::Telephone));
        first(entered, self.options.contact.as_ref().map(Contact::Url))
    }
}

/// Returns the first of both that is there.
fn first<T>(entered: Option<T>, option: Option<T>) -> InForce<Option<T>> {
    let from = match (&entered, &option) {
        (Some(_), _) => Source::Profile,
        (None, Some(_)) => Source::Option,
        (None, None) => Source::Default,
    };
    InForce {
        value: entered.or(option),
        from,
    }
}
