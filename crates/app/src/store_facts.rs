//! The facts about a store that are in force: from its profile, or else from an option of `serve`, or else the default.

use jiff::{Timestamp, civil::Date};
use petstore_domain::store_area::{
    ContactPage, ContactUrl, Currency, EmailAddress, Language, Profile, StoreKind, StoreName,
    StoreTimeZone, TelephoneNumber,
};
use petstore_store::{StoreError, StoreReader};

/// The options of `serve` for facts that the profile does not have.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// The name of the store.
    pub name: Option<String>,
    /// The language of the window, and of members who chose none.
    pub language: Option<Language>,
    /// The currency of all prices.
    pub currency: Option<Currency>,
    /// The URL at which the public asks for an animal.
    pub contact: Option<ContactUrl>,
    /// The time zone of the days of the store.
    pub time_zone: Option<StoreTimeZone>,
}

/// A value, and its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InForce<T> {
    /// The value that is in force.
    pub value: T,
    /// The source of the value.
    pub source: Source,
}

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The profile of the store.
    Profile,
    /// An option of `serve`.
    Option,
    /// The default, because neither has a value.
    Default,
}

/// The way on which the public asks for an animal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact<'a> {
    /// A page of the profile.
    Page(&'a ContactPage),
    /// A mail address of the profile.
    Email(&'a EmailAddress),
    /// A telephone number of the profile.
    Telephone(&'a TelephoneNumber),
    /// The URL of the option.
    Url(&'a ContactUrl),
}

/// The profile of a store, and the options for what it does not say.
#[derive(Debug, Clone, Default)]
pub struct StoreFacts {
    /// The profile that a manager entered.
    pub profile: Profile,
    options: StoreOptions,
}

impl StoreFacts {
    /// Returns the facts of a store with this profile and these options.
    pub fn new(profile: Profile, options: &StoreOptions) -> Self {
        Self {
            profile,
            options: options.clone(),
        }
    }

    /// Reads the profile and returns the present facts.
    pub async fn read(store: &StoreReader, options: &StoreOptions) -> Result<Self, StoreError> {
        Ok(Self::new(store.profile().await?, options))
    }

    /// Returns the name of the store.
    pub fn name(&self) -> InForce<Option<&str>> {
        let profile_name = self.profile.name.as_ref().map(StoreName::as_str);
        InForce::from_first(profile_name, self.options.name.as_deref())
    }

    /// Returns the language of the window, and of members who chose none.
    pub fn language(&self) -> InForce<Language> {
        let language = InForce::from_first(self.profile.language, self.options.language);
        InForce {
            value: language.value.unwrap_or(Language::English),
            source: language.source,
        }
    }

    /// Returns the kind of the store, which decides what a sale is called.
    pub fn kind(&self) -> StoreKind {
        self.profile.kind.unwrap_or(StoreKind::Shop)
    }

    /// Returns the currency of all prices.
    pub fn currency(&self) -> InForce<Option<&Currency>> {
        InForce::from_first(
            self.profile.currency.as_ref(),
            self.options.currency.as_ref(),
        )
    }

    /// Returns the time zone that the store has chosen.
    pub fn time_zone(&self) -> InForce<Option<&StoreTimeZone>> {
        InForce::from_first(
            self.profile.time_zone.as_ref(),
            self.options.time_zone.as_ref(),
        )
    }

    /// Returns the time zone of the days of the store: UTC if it has chosen none.
    pub fn zone_of_days(&self) -> StoreTimeZone {
        self.time_zone().value.cloned().unwrap_or_default()
    }

    /// Returns the day of the store at a time.
    pub fn day_of(&self, time: Timestamp) -> Date {
        self.zone_of_days().day_of(time)
    }

    /// Returns the way on which the public asks. The option counts only if the profile names no way at all.
    pub fn contact(&self) -> InForce<Option<Contact<'_>>> {
        let page = self.profile.contact_page.as_ref().map(Contact::Page);
        let email = self.profile.email.as_ref().map(Contact::Email);
        let telephone = self.profile.telephone.as_ref().map(Contact::Telephone);
        let url = self.options.contact.as_ref().map(Contact::Url);
        InForce::from_first(page.or(email).or(telephone), url)
    }
}

impl<T> InForce<Option<T>> {
    /// Returns the value of the profile, or else the value of the option.
    fn from_first(profile_value: Option<T>, option_value: Option<T>) -> Self {
        let source = match (&profile_value, &option_value) {
            (Some(_), _) => Source::Profile,
            (None, Some(_)) => Source::Option,
            (None, None) => Source::Default,
        };
        Self {
            value: profile_value.or(option_value),
            source,
        }
    }
}
