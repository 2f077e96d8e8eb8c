//! A photo of an animal as JSON.

use memchr::{memchr, memmem};
use petstore_domain::{
    PetId,
    clock::timestamp_from_milliseconds,
    store_area::{AltText, Focus, Photo, PhotoFile, PhotoId, PhotoPatch, Photos},
};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{
    Object, elements, integer,
    members::{bodies, values},
    scaled_in,
};

values! {
    // The only one is the position of a photo.
    usize: "an integer from 0 on; 0 is the portrait", |value| integer(value)?.try_into().ok(),
        json!({ "type": "integer", "format": "int64", "minimum": 0 });
    Focus: "two numbers from 0 to 1 with at most four decimals, such as [0.5, 0.35]: how far from the left \
            and from the top; or null for this default",
        |value| match elements(value.get().as_bytes()).ok()?[..] {
            [x, y] => read_focus([x.get(), y.get()]),
            _ => None,
        },
        json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": { "type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.0001 } });
}

/// Of two JSON numbers from 0 to 1 with at most four decimals.
pub fn read_focus(point: [&str; 2]) -> Option<Focus> {
    let [x, y] = point.map(|part| u16::try_from(scaled_in(part, 4)?).ok());
    Focus::new([x?, y?])
}

bodies! {
    PhotoPatch: alt, focus, position;
}

/// A photo as a store keeps it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stored<'s> {
    id: &'s str,
    alt: Option<String>,
    width: u32,
    height: u32,
    focus: Option<[u16; 2]>,
    added_at: i64,
}

/// Returns the photos of an animal as a store keeps them. `None` if the service has never written
/// this.
pub fn read_photos(stored: &str) -> Option<Photos> {
    let photo = |stored: Stored<'_>| {
        let alt = match stored.alt {
            Some(alt) => Some(AltText::new(alt)?),
            None => None,
        };
        Some(Photo {
            id: PhotoId::parse(stored.id)?,
            alt,
            width: stored.width,
            height: stored.height,
            focus: match stored.focus {
                Some(point) => Some(Focus::new(point)?),
                None => None,
            },
            added_at: timestamp_from_milliseconds(stored.added_at)?,
        })
    };
    let all: Vec<Stored<'_>> = serde_json::from_str(stored).ok()?;
    let all = all.into_iter().map(photo).collect::<Option<_>>()?;
    Some(Photos::from_stored(all, stored.to_owned()))
}

/// A photo as [`write_photo`] writes it. Its URLs, position and animal follow from where it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Logged<'l> {
    id: &'l str,
    alt: Option<String>,
    width: u32,
    height: u32,
    #[serde(borrow)]
    focus: Option<[&'l RawValue; 2]>,
    added_at: &'l str,
}

/// Reads the photos of an animal as the log of changes has them. `None` if this is something else.
pub(super) fn read_logged_photos(array: &str) -> Option<Photos> {
    let logged: Vec<Logged<'_>> = serde_json::from_str(array).ok()?;
    let photos = logged.into_iter().map(read_logged_photo);
    Some(Photos::new(photos.collect::<Option<_>>()?))
}

fn read_logged_photo(logged: Logged<'_>) -> Option<Photo> {
    let alt = match logged.alt {
        Some(alt) => Some(AltText::new(alt)?),
        None => None,
    };
    let focus = match logged.focus {
        Some([x, y]) => Some(read_focus([x.get(), y.get()])?),
        None => None,
    };
    Some(Photo {
        id: PhotoId::parse(logged.id)?,
        alt,
        width: logged.width,
        height: logged.height,
        focus,
        added_at: logged.added_at.parse().ok()?,
    })
}

/// Returns the same JSON with the paths of photos below `prefix`; `None` if there are none. No
/// value of a client is an object behind `"urls":`.
pub fn with_photos_below(prefix: &str, json: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = json;
    while let Some(at) = memmem::find(rest, br#""urls":{"small":"/photos/"#) {
        let (before, urls) = rest.split_at(at);
        let (urls, after) = urls.split_at(memchr(b'}', urls)?);
        let urls =
            String::from_utf8_lossy(urls).replace("\"/photos/", &format!("\"{prefix}/photos/"));
        out.extend([before, urls.as_bytes()].concat());
        rest = after;
    }
    (rest.len() < json.len()).then(|| [&out, rest].concat())
}

/// The photo of an animal at this position.
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
    let mut urls = Object::begin(object.name("urls"));
    for file in PhotoFile::all(photo.id) {
        urls.text(file.size.as_str(), &file.path());
    }
    urls.end();
    object.end();
}

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
