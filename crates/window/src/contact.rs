//! How the public reaches the store.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use petstore_app::{Contact, StoreFacts};
use petstore_domain::{PetId, store_area::ContactPage};
use url::Url;

/// Characters that an address of mail has as they are (RFC 6068, section 2).
const MAILBOX: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'@')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_')
    .remove(b'+');

/// Where a question about an animal leads. A mail gets a subject.
pub(super) fn about(facts: &StoreFacts, id: PetId, subject: &str) -> Option<String> {
    Some(match facts.contact().value? {
        Contact::Page(page) => of_page(page, id),
        Contact::Email(email) => {
            let subject = utf8_percent_encode(subject, NON_ALPHANUMERIC);
            format!("{}?subject={subject}", mailto(email.as_str()))
        }
        Contact::Telephone(number) => tel(number.as_str()),
        Contact::Url(url) => url.about(subject),
    })
}

/// Where a question without an animal leads: to a person, else to the page without what it says of an animal.
pub(super) fn in_general(facts: &StoreFacts) -> Option<String> {
    let profile = &facts.profile;
    if let Some(email) = &profile.email {
        return Some(mailto(email.as_str()));
    }
    if let Some(number) = &profile.telephone {
        return Some(tel(number.as_str()));
    }
    Some(match facts.contact().value? {
        Contact::Page(page) => {
            let general = page.as_str().split("{id}").next().unwrap_or_default();
            let mut url = Url::parse(general).ok()?;
            url.set_query(None);
            url.set_fragment(None);
            url.into()
        }
        Contact::Email(email) => mailto(email.as_str()),
        Contact::Telephone(number) => tel(number.as_str()),
        Contact::Url(url) => url.as_str().to_owned(),
    })
}

/// The same as people write it, if the page does not have it as text.
pub(super) fn on_paper(facts: &StoreFacts, id: PetId) -> Option<String> {
    match facts.contact().value? {
        Contact::Page(page) => Some(of_page(page, id)),
        Contact::Url(url) => Some(url.shown().to_owned()),
        Contact::Email(_) | Contact::Telephone(_) => None,
    }
}

fn of_page(page: &ContactPage, id: PetId) -> String {
    encoded(&page.as_str().replace("{id}", &id.to_string()))
}

/// An address with nothing but ASCII, so that no character of it can reorder what people see.
pub(super) fn encoded(url: &str) -> String {
    // It was validated when somebody entered it.
    Url::parse(url).map(String::from).unwrap_or_default()
}

pub(super) fn mailto(address: &str) -> String {
    format!("mailto:{}", utf8_percent_encode(address, MAILBOX))
}

/// The number as a telephone dials it (RFC 3966). A zero in brackets is not dialled from abroad.
pub(super) fn tel(number: &str) -> String {
    let is_global = number.trim_start().starts_with('+');
    let dialled = if is_global {
        number.replace("(0)", "")
    } else {
        number.to_owned()
    };
    let digits: String = dialled.chars().filter(char::is_ascii_digit).collect();
    format!("tel:{}{digits}", if is_global { "+" } else { "" })
}
