//! The profile of the store in a file.

use petstore_domain::store_area::{NewLogo, Profile};
use petstore_formats::files::InvalidRow;
use petstore_photos::{self as photos, make_logo};
use petstore_store::{
    StoreError,
    bulk::{self, Load, Value},
};

/// Returns the logo with this file.
pub(super) fn logo_of(png: &[u8]) -> Result<NewLogo, InvalidRow> {
    make_logo(png, photos::Format::Png)
        .map_err(|reason| InvalidRow::new(format!("the logo cannot be used: {reason}")))
}

/// Replaces the profile, if it says nothing. Returns whether it did.
pub(super) fn set_profile(
    load: &mut dyn Load,
    profile: Profile,
    logo: Option<&[u8]>,
) -> Result<bool, StoreError> {
    // The whole file was validated before.
    let new = logo.and_then(|png| logo_of(png).ok());
    let logo = new.as_ref().map(|new| new.logo);
    if !load.set_profile(&Profile { logo, ..profile })? {
        return Ok(false);
    }
    if let Some(NewLogo { logo, png }) = new {
        let name = logo.to_string();
        load.add_row(
            &bulk::LOGOS,
            &[Value::Text(&name), Value::Blob(&png), Value::Null],
        )?;
    }
    Ok(true)
}
