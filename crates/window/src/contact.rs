//! Links with which visitors contact the store.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use petstore_app::{Contact, StoreFacts};
use petstore_domain::{PetId, store_area::ContactPage};
use url::Url;

/// The characters to percent-encode in the address of a `mailto:` link (RFC 6068, section 2): all but
/// letters, digits and `@.-_+`.
const MAILBOX: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'@')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_')
    .remove(b'+');

/// Returns the link for a question about an animal. If the link opens an email, `subject` is its subject
/// line. Returns `None` if the store names no way to contact it.
pub(super) fn question_link(facts: &StoreFacts, id: PetId, subject: &str) -> Option<String> {
    let link = match facts.contact().value? {
        Contact::Page(page) => page_url(page, id),
        Contact::Email(email) => {
            let encoded_subject = utf8_percent_encode(subject, NON_ALPHANUMERIC);
            format!("{}?subject={encoded_subject}", mail_url(email.as_str()))
        }
        Contact::Telephone(number) => telephone_url(number.as_str()),
        Contact::Url(url) => url.question_url(subject),
    };
    Some(link)
}

/// Returns the link for a general question, which is not about an animal: the email address or
/// telephone number of the profile. If the profile has neither, the link leads to the configured
/// contact. The link to a contact page ends before `{id}`, which stands for the id of an animal.
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

/// Returns the URL for a question about an animal as text for the printed page, on which links do not
/// work. Returns `None` if the store has no contact, or if the contact is an email address or telephone
/// number, because the page shows those as text anyway.
pub(super) fn printed_address(facts: &StoreFacts, id: PetId) -> Option<String> {
    match facts.contact().value? {
        Contact::Page(page) => Some(page_url(page, id)),
        Contact::Url(url) => Some(url.display_text().to_owned()),
        Contact::Email(_) | Contact::Telephone(_) => None,
    }
}

/// Returns the URL of the contact page for an animal: the page with the animal's id in place of
/// `{id}`.
///
/// Example: for the animal 7, `https://shop.example/ask/{id}` becomes `https://shop.example/ask/7`.
fn page_url(page: &ContactPage, id: PetId) -> String {
    ascii_url(&page.as_str().replace("{id}", &id.to_string()))
}

/// Returns the URL of the contact page up to its `{id}` placeholder, without query and fragment.
/// Returns `None` if this part is not a URL.
///
/// Example: `https://shop.example/ask/{id}` becomes `https://shop.example/ask/`.
fn general_page_url(page: &ContactPage) -> Option<String> {
    let before_id = page.as_str().split("{id}").next().unwrap_or_default();
    let mut url = Url::parse(before_id).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    Some(url.into())
}

/// Returns a URL in its ASCII form, with Punycode and percent-encoding, so that no character in it
/// can reorder the text around it.
pub(super) fn ascii_url(url: &str) -> String {
    // Parsing cannot fail: the URL was validated when it was entered.
    Url::parse(url).map(String::from).unwrap_or_default()
}

/// Returns the `mailto:` URL of an email address (RFC 6068).
pub(super) fn mail_url(address: &str) -> String {
    format!("mailto:{}", utf8_percent_encode(address, MAILBOX))
}

/// Returns the `tel:` URL of a telephone number (RFC 3966). In an international number, removes a
/// trunk prefix `(0)`, which must not be dialled after the country code.
///
/// Example: `+49 (0)30 123` becomes `tel:+4930123`.
pub(super) fn telephone_url(number: &str) -> String {
    let is_international = number.trim_start().starts_with('+');
    let dialled_number = if is_international {
        number.replace("(0)", "")
    } else {
        number.to_owned()
    };
    let digits: String = dialled_number
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    format!("tel:{}{digits}", if is_international { "+" } else { "" })
}
