//! The effective facts about a store, such as its name and currency.
//!
//! Each fact comes from the profile of the store, or else from an option of `serve`, or else is a
//! default.

use jiff::{Timestamp, civil::Date};
use petstore_domain::store_area::{
    ContactPage, ContactUrl, Currency, EmailAddress, Language, Profile, StoreKind, StoreName,
    StoreTimeZone, TelephoneNumber,
};
use petstore_store::{StoreError, StoreReader};

/// The options of `serve`, which are the fallback for facts that the profile does not state.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// The name of the store.
    pub name: Option<String>,
    /// The language of the window, and of members who have not chosen one.
    pub language: Option<Language>,
    /// The currency of all prices.
    pub currency: Option<Currency>,
    /// The URL at which the public can ask about an animal.
    pub contact: Option<ContactUrl>,
    /// The time zone in which the store counts days.
    pub time_zone: Option<StoreTimeZone>,
}

/// An effective value, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effective<T> {
    /// The effective value.
    pub value: T,
    /// Where the value comes from.
    pub source: Source,
}

/// Where an effective value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The profile of the store.
    Profile,
    /// An option of `serve`.
    Option,
    /// The default, because neither the profile nor an option has a value.
    Default,
}

/// How the public can ask about an animal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact<'a> {
    /// The contact page from the profile.
    Page(&'a ContactPage),
    /// The email address from the profile.
    Email(&'a EmailAddress),
    /// The telephone number from the profile.
    Telephone(&'a TelephoneNumber),
    /// The URL from the option.
    Url(&'a ContactUrl),
}

/// The profile of a store, with the options as a fallback for what it does not state.
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
    pub fn name(&self) -> Effective<Option<&str>> {
        let profile_name = self.profile.name.as_ref().map(StoreName::as_str);
        Effective::from_profile_or_option(profile_name, self.options.name.as_deref())
    }

    /// Returns the language of the window, and of members who have not chosen one.
    pub fn language(&self) -> Effective<Language> {
        let language =
            Effective::from_profile_or_option(self.profile.language, self.options.language);
        Effective {
            value: language.value.unwrap_or(Language::English),
            source: language.source,
        }
    }

    /// Returns the kind of the store, which determines what a sale is called, for example an
    /// adoption.
    pub fn kind(&self) -> StoreKind {
        self.profile.kind.unwrap_or(StoreKind::Shop)
    }

    /// Returns the currency of all prices.
    pub fn currency(&self) -> Effective<Option<&Currency>> {
        Effective::from_profile_or_option(
            self.profile.currency.as_ref(),
            self.options.currency.as_ref(),
        )
    }

    /// Returns the time zone of the store, if one is set.
    pub fn time_zone(&self) -> Effective<Option<&StoreTimeZone>> {
        Effective::from_profile_or_option(
            self.profile.time_zone.as_ref(),
            self.options.time_zone.as_ref(),
        )
    }

    /// Returns the time zone in which the store counts days; UTC if none is set.
    pub fn zone_of_days(&self) -> StoreTimeZone {
        self.time_zone().value.cloned().unwrap_or_default()
    }

    /// Returns the calendar day at the store at this time.
    pub fn day_of(&self, time: Timestamp) -> Date {
        self.zone_of_days().day_of(time)
    }

    /// Returns how the public can ask about an animal.
    ///
    /// The order of preference is the contact page, email address and telephone number of the
    /// profile, and then the URL of the option.
    pub fn contact(&self) -> Effective<Option<Contact<'_>>> {
        let page = self.profile.contact_page.as_ref().map(Contact::Page);
        let email = self.profile.email.as_ref().map(Contact::Email);
        let telephone = self.profile.telephone.as_ref().map(Contact::Telephone);
        let url = self.options.contact.as_ref().map(Contact::Url);
        Effective::from_profile_or_option(page.or(email).or(telephone), url)
    }
}

impl<T> Effective<Option<T>> {
    /// Returns the value of the profile, or else the value of the option, with its source.
    fn from_profile_or_option(profile_value: Option<T>, option_value: Option<T>) -> Self {
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
