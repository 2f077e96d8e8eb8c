//! Photos of animals as JSON.

use memchr::{memchr, memmem};
use petstore_domain::{
    PetId,
    clock::timestamp_from_milliseconds,
    store_area::{AltText, Focus, Photo, PhotoFile, PhotoId, PhotoPatch, Photos},
};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{
    Object, as_integer,
    members::{bodies, values},
    number::parse_scaled,
    parse_elements,
};

/// The beginning of the member `urls` of a photo, as [`write_photo`] writes it.
const URLS_START: &[u8] = br#""urls":{"small":"/photos/"#;

bodies! {
    PhotoPatch: alt, focus, position;
}

values! {
    // A position of a photo. No other member has this type.
    usize: "an integer of at least 0; 0 is the portrait",
        |value| as_integer(value)?.try_into().ok(),
        json!({ "type": "integer", "format": "int64", "minimum": 0 });
    Focus: "two numbers from 0 to 1 with at most four decimals, such as [0.5, 0.35]: how far from the left \
            and from the top; or null for this default",
        |value| read_focus_array(value),
        json!({
            "type": "array", "minItems": 2, "maxItems": 2,
            "items": { "type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.0001 }
        });
}

/// Reads the focus of a photo from a JSON array of its two distances.
fn read_focus_array(array: &RawValue) -> Option<Focus> {
    let distances: Vec<&RawValue> = parse_elements(array.get().as_bytes()).ok()?;
    match distances[..] {
        [left, top] => read_focus([left.get(), top.get()]),
        _ => None,
    }
}

/// Reads the focus of a photo from its distances from the left and from the top, two JSON numbers
/// from 0 to 1 with at most four decimals. `0.5` and `0.35` become 5000 and 3500 ten-thousandths.
pub fn read_focus(point: [&str; 2]) -> Option<Focus> {
    let [left, top] = point;
    Focus::new([parse_ten_thousandths(left)?, parse_ten_thousandths(top)?])
}

/// Parses a JSON number with at most four decimals: 5000 for `0.5`.
fn parse_ten_thousandths(number: &str) -> Option<u16> {
    u16::try_from(parse_scaled(number, 4)?).ok()
}

/// A photo as the database stores it: with its focus in ten-thousandths, and its time in
/// milliseconds since 1970.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredPhoto<'s> {
    id: &'s str,
    alt: Option<String>,
    width: u32,
    height: u32,
    focus: Option<[u16; 2]>,
    added_at: i64,
}

impl StoredPhoto<'_> {
    /// Returns the photo, or `None` if a member of the JSON object is invalid.
    fn into_photo(self) -> Option<Photo> {
        let alt = match self.alt {
            Some(text) => Some(AltText::new(text)?),
            None => None,
        };
        let focus = match self.focus {
            Some(point) => Some(Focus::new(point)?),
            None => None,
        };
        Some(Photo {
            id: PhotoId::parse(self.id)?,
            alt,
            width: self.width,
            height: self.height,
            focus,
            added_at: timestamp_from_milliseconds(self.added_at)?,
        })
    }
}

/// Reads the photos of an animal as the database stores them. Returns `None` if the service cannot
/// have written this text.
pub fn read_photos(stored: &str) -> Option<Photos> {
    let stored_photos: Vec<StoredPhoto<'_>> = serde_json::from_str(stored).ok()?;
    let photos: Option<Vec<Photo>> = stored_photos
        .into_iter()
        .map(StoredPhoto::into_photo)
        .collect();
    Some(Photos::from_stored(photos?, stored.to_owned()))
}

/// A photo as [`write_photo`] writes it: with its focus as fractions, and its time in RFC 3339. Its
/// URLs, its position and its animal are not read, because they follow from the context.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoggedPhoto<'l> {
    id: &'l str,
    alt: Option<String>,
    width: u32,
    height: u32,
    #[serde(borrow)]
    focus: Option<[&'l RawValue; 2]>,
    added_at: &'l str,
}

impl LoggedPhoto<'_> {
    /// Returns the photo, or `None` if a member of the JSON object is invalid.
    fn into_photo(self) -> Option<Photo> {
        let alt = match self.alt {
            Some(text) => Some(AltText::new(text)?),
            None => None,
        };
        let focus = match self.focus {
            Some([left, top]) => Some(read_focus([left.get(), top.get()])?),
            None => None,
        };
        Some(Photo {
            id: PhotoId::parse(self.id)?,
            alt,
            width: self.width,
            height: self.height,
            focus,
            added_at: self.added_at.parse().ok()?,
        })
    }
}

/// Reads the photos of an animal from the log of changes. Returns `None` for any other text.
pub(super) fn read_logged_photos(array: &str) -> Option<Photos> {
    let logged_photos: Vec<LoggedPhoto<'_>> = serde_json::from_str(array).ok()?;
    let photos: Option<Vec<Photo>> = logged_photos
        .into_iter()
        .map(LoggedPhoto::into_photo)
        .collect();
    Some(Photos::new(photos?))
}

/// Inserts `prefix` before the paths of all photos in JSON. Returns `None` if there are no photos.
///
/// The JSON is not parsed: a search is sufficient, because the quotes of `"urls":{` would be
/// escaped in a value that a client sends.
///
/// With the prefix `https://shop.example`, `"urls":{"small":"/photos/1-small.jpg"}` becomes
/// `"urls":{"small":"https://shop.example/photos/1-small.jpg"}`.
pub fn with_photo_prefix(prefix: &str, json: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut unread = json;
    while let Some(position) = memmem::find(unread, URLS_START) {
        let (before_urls, from_urls) = unread.split_at(position);
        // The service has written the JSON, so the object always ends.
        let (urls, after_urls) = from_urls.split_at(memchr(b'}', from_urls)?);
        let urls = String::from_utf8_lossy(urls);
        let prefixed_urls = urls.replace("\"/photos/", &format!("\"{prefix}/photos/"));
        out.extend_from_slice(before_urls);
        out.extend_from_slice(prefixed_urls.as_bytes());
        unread = after_urls;
    }
    // The text before the first `urls` is never empty, so nothing was found.
    if out.is_empty() {
        return None;
    }
    out.extend_from_slice(unread);
    Some(out)
}

/// Writes the photo that has this position among the photos of an animal.
pub fn write_photo(out: &mut Vec<u8>, pet: PetId, position: usize, photo: &Photo) {
    let mut object = Object::begin(out);
    object.text("id", &photo.id.to_string());
    object.integer("petId", pet.get());
    object.integer("position", position);
    object.put("alt", &photo.alt);
    object.integer("width", photo.width);
    object.integer("height", photo.height);
    object.raw_or_null(
        "focus",
        photo.focus.map(|focus| focus.to_string()).as_deref(),
    );
    object.time("addedAt", photo.added_at);
    let mut urls = Object::begin(object.begin_member("urls"));
    for file in PhotoFile::all(photo.id) {
        urls.text(file.size.as_str(), &file.path());
    }
    urls.end();
    object.end();
}

/// Writes the photos of an animal as an array, in the same order.
pub(super) fn write_photos(out: &mut Vec<u8>, pet: PetId, photos: &Photos) {
    out.push(b'[');
    for (position, photo) in photos.all().iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_photo(out, pet, position, photo);
    }
    out.push(b']');
}
