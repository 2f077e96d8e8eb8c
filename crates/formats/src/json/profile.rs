//! The profile of a store as JSON.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use petstore_domain::store_area::{
    About, Address, Colour, ContactPage, Currency, EmailAddress, Link, LinkLabel, LinkUrl, Links,
    Profile, ProfilePatch, StoreName, TelephoneNumber,
};
use serde_json::{json, value::RawValue};

use super::{
    Invalid, Object,
    members::{Body, Members, Version, bodies, values},
};

bodies! {
    ProfilePatch: name, language, currency, email, telephone, contact_page as contactPage, address,
        hours, about, links, colour, kind;
    Link: label, url;
}

/// Declares texts with a rule.
macro_rules! texts {
    ($($text:ty),+) => {
        values! {
            $($text: Self::RULE, |value| Self::new(super::string(value)?), json!({ "type": "string" });)+
        }
    };
}

texts!(
    StoreName,
    EmailAddress,
    TelephoneNumber,
    ContactPage,
    Address,
    About,
    Colour,
    LinkLabel,
    LinkUrl
);

values! {
    Currency: "a code of three capital letters (ISO 4217), such as EUR",
        |value| Self::new(&super::string(value)?), json!({ "type": "string" });
    File: "a PNG picture in base64", |value| {
        STANDARD.decode(super::string(value)?).ok().map(Self)
    };
    Links: "an array of at most 8 objects with a label (1 to 60 characters without control characters) and a url (an https URL of at most 500 characters)",
        |value| links(value), json!({ "type": "array", "maxItems": Links::MAX });
}

fn links(value: &RawValue) -> Option<Links> {
    let elements = super::elements(value.get().as_bytes()).ok()?;
    let link = |element: &RawValue| {
        Members::of(element.get().as_bytes(), "The link", Link::NAMES)
            .ok()?
            .read()
            .ok()
    };
    Links::new(elements.into_iter().map(link).collect::<Option<_>>()?)
}

/// Returns the profile in its text in the database.
pub fn stored_profile(text: &str, version: i64) -> Option<Profile> {
    let members = Members::of(text.as_bytes(), "The profile", ProfilePatch::NAMES).ok()?;
    let patch: ProfilePatch = members.read().ok()?;
    Some(Profile {
        version,
        ..Profile::default().with_patch(&patch)
    })
}

/// The file of a logo, in a file.
struct File(Vec<u8>);

/// Returns the profile in a file, and the file of its logo.
pub(crate) fn read_profile(object: &[u8]) -> Result<(Profile, Option<Vec<u8>>), Invalid> {
    let names = [&["version", "logo"], ProfilePatch::NAMES].concat();
    let members = Members::of(object, "The profile", &names)?;
    let Version(version) = members.required("version")?;
    let logo: Option<File> = members.optional("logo")?;
    let profile = Profile {
        version,
        ..Profile::default().with_patch(&members.read()?)
    };
    Ok((profile, logo.map(|File(png)| png)))
}

/// Returns the members of a profile that can be changed, as an object that is not at its end.
fn begin<'o>(out: &'o mut Vec<u8>, profile: &Profile) -> Object<'o> {
    let mut object = Object::begin(out);
    object.put("name", &profile.name);
    object.put("language", &profile.language);
    object.put("currency", &profile.currency);
    object.put("email", &profile.email);
    object.put("telephone", &profile.telephone);
    object.put("contactPage", &profile.contact_page);
    object.put("address", &profile.address);
    object.put("hours", &profile.hours);
    object.put("about", &profile.about);
    let links = object.name("links");
    links.push(b'[');
    for (at, link) in profile.links.iter().flat_map(Links::all).enumerate() {
        if at > 0 {
            links.push(b',');
        }
        let mut object = Object::begin(links);
        object.put("label", &link.label);
        object.put("url", &link.url);
        object.end();
    }
    links.push(b']');
    object.put("colour", &profile.colour);
    object.put("kind", &profile.kind);
    object
}

/// Returns the text of a profile in the database.
pub fn store_profile(profile: &Profile) -> String {
    let mut out = Vec::new();
    begin(&mut out, profile).end();
    String::from_utf8(out).unwrap_or_default()
}

/// The profile in a file, with the file of its logo.
pub(crate) fn write_whole_profile(out: &mut Vec<u8>, profile: &Profile, logo: Option<&[u8]>) {
    let mut object = begin(out, profile);
    if let Some(png) = logo {
        super::write_string(object.name("logo"), &STANDARD.encode(png));
    }
    object.integer("version", profile.version);
    object.end();
}

/// The profile for clients.
pub fn write_profile(out: &mut Vec<u8>, profile: &Profile) {
    let mut object = begin(out, profile);
    match profile.logo {
        Some(logo) => super::write_string(object.name("logo"), &logo.path()),
        None => object.name("logo").extend_from_slice(b"null"),
    }
    object.integer("version", profile.version);
    object.end();
}
