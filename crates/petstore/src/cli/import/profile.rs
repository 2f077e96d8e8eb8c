//! Imports the profile of the store.

use petstore_domain::store_area::{NewLogo, Profile};
use petstore_formats::files::InvalidRow;
use petstore_photos::{self as photos, make_logo};
use petstore_store::{
    StoreError,
    bulk::{self, Load, Value},
};

/// Makes the logo from the content of a PNG file.
pub(super) fn logo_of(png: &[u8]) -> Result<NewLogo, InvalidRow> {
    make_logo(png, photos::Format::Png)
        .map_err(|reason| InvalidRow::new(format!("the logo cannot be used: {reason}")))
}

/// Sets the profile and the logo, if the profile of the database is empty. Returns whether it was.
pub(super) fn set_profile(
    load: &mut dyn Load,
    profile: Profile,
    logo: Option<&[u8]>,
) -> Result<bool, StoreError> {
    // Cannot fail: the logo was validated in the first pass.
    let new_logo = logo.and_then(|png| logo_of(png).ok());
    let logo = new_logo.as_ref().map(|new_logo| new_logo.logo);
    if !load.set_profile(&Profile { logo, ..profile })? {
        return Ok(false);
    }
    if let Some(NewLogo { logo, png }) = new_logo {
        let name = logo.to_string();
        load.add_row(
            &bulk::LOGOS,
            &[Value::Text(&name), Value::Blob(&png), Value::Null],
        )?;
    }
    Ok(true)
}
