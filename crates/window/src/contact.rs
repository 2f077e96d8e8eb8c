//! The links with which the public reaches the store.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use petstore_app::{Contact, StoreFacts};
use petstore_domain::{PetId, store_area::ContactPage};
use url::Url;

/// The characters of a mail address that a link has as they are (RFC 6068, section 2).
const MAILBOX: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'@')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_')
    .remove(b'+');

/// Returns the link for a question about an animal. A mail gets the subject.
pub(super) fn question_link(facts: &StoreFacts, id: PetId, subject: &str) -> Option<String> {
    let link = match facts.contact().value? {
        Contact::Page(page) => page_url(page, id),
        Contact::Email(email) => {
            let subject = utf8_percent_encode(subject, NON_ALPHANUMERIC);
            format!("{}?subject={subject}", mail_url(email.as_str()))
        }
        Contact::Telephone(number) => telephone_url(number.as_str()),
        Contact::Url(url) => url.question_url(subject),
    };
    Some(link)
}

/// Returns the link for a question that is not about an animal. It leads to a person, or else to the page of the store
/// without the part of its address that names an animal.
pub(super) fn general_link(facts: &StoreFacts) -> Option<String> {
    let profile = &facts.profile;
    if let Some(email) = &profile.email {
        return Some(mail_url(email.as_str()));
    }
    if let Some(number) = &profile.telephone {
        return Some(telephone_url(number.as_str()));
    }
    match facts.contact().value? {
        Contact::Page(page) => general_page_url(page),
        Contact::Email(email) => Some(mail_url(email.as_str())),
        Contact::Telephone(number) => Some(telephone_url(number.as_str())),
        Contact::Url(url) => Some(url.as_str().to_owned()),
    }
}

/// Returns the address for a question about an animal as a printed page has it. Returns `None` for a mail address or
/// telephone number, which the page has as text.
pub(super) fn printed_address(facts: &StoreFacts, id: PetId) -> Option<String> {
    match facts.contact().value? {
        Contact::Page(page) => Some(page_url(page, id)),
        Contact::Url(url) => Some(url.display_text().to_owned()),
        Contact::Email(_) | Contact::Telephone(_) => None,
    }
}

/// Returns the URL of the contact page for an animal.
///
/// Example: for the animal 7, the page `https://shop.example/ask/{id}` is `https://shop.example/ask/7`.
fn page_url(page: &ContactPage, id: PetId) -> String {
    ascii_url(&page.as_str().replace("{id}", &id.to_string()))
}

/// Returns the URL of the contact page up to the number of an animal, without a query and a fragment.
fn general_page_url(page: &ContactPage) -> Option<String> {
    let before_id = page.as_str().split("{id}").next().unwrap_or_default();
    let mut url = Url::parse(before_id).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    Some(url.into())
}

/// Returns a URL with nothing but ASCII, so that no character of it can reorder what people see.
pub(super) fn ascii_url(url: &str) -> String {
    // It was validated when somebody entered it.
    Url::parse(url).map(String::from).unwrap_or_default()
}

/// Returns the URL with which a browser writes a mail (RFC 6068).
pub(super) fn mail_url(address: &str) -> String {
    format!("mailto:{}", utf8_percent_encode(address, MAILBOX))
}

/// Returns the URL with which a telephone dials a number (RFC 3966). A zero in brackets is not dialled from abroad.
///
/// Example: `+49 (0)30 123` is `tel:+4930123`.
pub(super) fn telephone_url(number: &str) -> String {
    let is_global = number.trim_start().starts_with('+');
    let dialled_number = if is_global {
        number.replace("(0)", "")
    } else {
        number.to_owned()
    };
    let digits: String = dialled_number
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    format!("tel:{}{digits}", if is_global { "+" } else { "" })
}
