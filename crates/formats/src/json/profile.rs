//! The profile of a store as JSON.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use petstore_domain::store_area::{
    About, Address, Colour, ContactPage, ContractText, Currency, EmailAddress, Link, LinkLabel,
    LinkUrl, Links, Logo, Profile, ProfilePatch, StoreName, StoreTimeZone, TelephoneNumber,
};
use serde_json::{json, value::RawValue};

use super::{
    Invalid, Object,
    declared::Keywords,
    member_values::Version,
    members::{Body, Members, bodies, values},
};

/// The content of the file of a logo, which an export contains in base64.
struct LogoFile(Vec<u8>);

/// A profile in an export.
pub(crate) struct ExportedProfile {
    /// The profile, without its logo.
    pub(crate) profile: Profile,
    /// The content of the PNG file of its logo.
    pub(crate) logo: Option<Vec<u8>>,
}

bodies! {
    ProfilePatch: name, language, currency, email, telephone, contact_page as contactPage, address,
        hours, about, links, colour, kind, time_zone as timeZone, contract;
    Link: label, url;
}

values! {
    StoreName: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    EmailAddress: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    TelephoneNumber: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    ContactPage: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    Address: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    About: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    ContractText: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    Colour: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    StoreTimeZone: Self::RULE, |value| Self::from_name(&super::as_string(value)?), text_keywords();
    LinkLabel: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    LinkUrl: Self::RULE, |value| Self::new(super::as_string(value)?), text_keywords();
    Currency: "a code of three capital letters (ISO 4217), such as EUR",
        |value| Self::new(&super::as_string(value)?), text_keywords();
    LogoFile: "a PNG picture in base64",
        |value| STANDARD.decode(super::as_string(value)?).ok().map(Self);
    Links: "an array of at most 8 objects with a label (1 to 60 characters without control characters) and a url (an https URL of at most 500 characters)",
        |value| read_links(value),
        json!({ "type": "array", "maxItems": Links::MAX });
}

fn text_keywords() -> Keywords {
    json!({ "type": "string" })
}

fn read_links(value: &RawValue) -> Option<Links> {
    let mut links = Vec::new();
    for element in super::parse_elements(value.get().as_bytes()).ok()? {
        let object = element.get().as_bytes();
        let members = Members::parse(object, "The link", Link::NAMES).ok()?;
        links.push(members.read().ok()?);
    }
    Links::new(links)
}

/// Parses a profile that [`stored_profile_text`] wrote. Returns `None` if it is invalid.
pub fn parse_stored_profile(text: &str, version: i64) -> Option<Profile> {
    let members = Members::parse(text.as_bytes(), "The profile", ProfilePatch::NAMES).ok()?;
    let patch: ProfilePatch = members.read().ok()?;
    let mut profile = Profile::default().with_patch(&patch);
    profile.version = version;
    Some(profile)
}

/// Reads a profile from an export.
pub(crate) fn read_profile(object: &[u8]) -> Result<ExportedProfile, Invalid> {
    let names = [&["version", "logo"], ProfilePatch::NAMES].concat();
    let members = Members::parse(object, "The profile", &names)?;
    let Version(version) = members.required("version")?;
    let logo: Option<LogoFile> = members.optional("logo")?;

    let mut profile = Profile::default().with_patch(&members.read()?);
    profile.version = version;
    Ok(ExportedProfile {
        profile,
        logo: logo.map(|LogoFile(png)| png),
    })
}

/// Writes all members of a profile that clients can change. The caller writes the other members,
/// and ends the object.
fn begin_profile<'o>(out: &'o mut Vec<u8>, profile: &Profile) -> Object<'o> {
    let mut object = begin_stored_profile(out, profile);
    object.put("timeZone", &profile.time_zone);
    object.put("contract", &profile.contract);
    object
}

/// Writes the members of a profile that the database has as JSON. The caller ends the object.
fn begin_stored_profile<'o>(out: &'o mut Vec<u8>, profile: &Profile) -> Object<'o> {
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
    let links = profile.links.as_ref().map_or(&[][..], Links::all);
    write_links(object.begin_member("links"), links);
    object.put("colour", &profile.colour);
    object.put("kind", &profile.kind);
    object
}

fn write_links(out: &mut Vec<u8>, links: &[Link]) {
    out.push(b'[');
    for (index, link) in links.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let mut object = Object::begin(out);
        object.put("label", &link.label);
        object.put("url", &link.url);
        object.end();
    }
    out.push(b']');
}

/// Returns a profile as the database stores it, as a JSON object. The object lacks the logo, the
/// time zone, the contract and the version, which have their own columns.
pub fn stored_profile_text(profile: &Profile) -> String {
    let mut out = Vec::new();
    begin_stored_profile(&mut out, profile).end();
    // JSON is always UTF-8, so the conversion cannot fail.
    String::from_utf8(out).unwrap_or_default()
}

/// Writes a profile for an export. `logo` is the content of the file of its logo.
pub(crate) fn write_exported_profile(out: &mut Vec<u8>, profile: &Profile, logo: Option<&[u8]>) {
    let mut object = begin_profile(out, profile);
    if let Some(png) = logo {
        object.text("logo", &STANDARD.encode(png));
    }
    object.integer("version", profile.version);
    object.end();
}

/// Writes a profile for clients, with the path of its logo.
pub fn write_profile(out: &mut Vec<u8>, profile: &Profile) {
    let mut object = begin_profile(out, profile);
    let logo_path = profile.logo.map(Logo::path);
    object.text_or_null("logo", logo_path.as_deref());
    object.integer("version", profile.version);
    object.end();
}
