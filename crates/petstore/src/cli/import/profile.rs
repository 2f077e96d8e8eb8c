//! Imports the profile of the store.

use petstore_domain::store_area::{NewLogo, Profile};
use petstore_formats::files::InvalidRow;
use petstore_photos::{self as photos, make_logo};
use petstore_store::{
    StoreError,
    bulk::{self, Load, Value},
};

/// Makes the logo from the content of a PNG file.
pub(super) fn make_imported_logo(png: &[u8]) -> Result<NewLogo, InvalidRow> {
    make_logo(png, photos::Format::Png)
        .map_err(|reason| InvalidRow::new(format!("the logo cannot be used: {reason}")))
}

/// Sets the profile and the logo, unless the database already has a profile. Returns whether they were
/// set.
pub(super) fn set_profile(
    load: &mut dyn Load,
    profile: Profile,
    logo_file: Option<&[u8]>,
) -> Result<bool, StoreError> {
    // Cannot fail: the logo was validated in the first pass.
    let new_logo = logo_file.and_then(|file| make_imported_logo(file).ok());
    let profile_with_logo = Profile {
        logo: new_logo.as_ref().map(|new_logo| new_logo.logo),
        ..profile
    };
    if !load.fill_profile(&profile_with_logo)? {
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
