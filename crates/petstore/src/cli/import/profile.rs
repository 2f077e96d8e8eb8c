//! Imports the profile of the store.

use anyhow::anyhow;
use petstore_domain::store_area::{NewLogo, Profile};
use petstore_formats::files::InvalidRow;
use petstore_photos::{self as photos, make_logo};
use petstore_store::bulk::{self, Load, Value};

/// Makes the logo from the content of a PNG file.
pub(super) fn make_imported_logo(png: &[u8]) -> Result<NewLogo, InvalidRow> {
    make_logo(png, photos::Format::Png)
        .map_err(|reason| InvalidRow::new(format!("the logo cannot be used: {reason}")))
}

/// Sets the profile and the logo, unless the database already has a profile. Returns whether the
/// profile was set.
pub(super) fn set_profile(
    load: &mut dyn Load,
    profile: Profile,
    logo_file: Option<&[u8]>,
) -> anyhow::Result<bool> {
    // The first pass has accepted the logo, so this fails only if the file has changed since.
    let new_logo = match logo_file {
        Some(png) => {
            let made_logo = make_imported_logo(png);
            Some(made_logo.map_err(|invalid_row| anyhow!("{invalid_row}"))?)
        }
        None => None,
    };
    let profile_with_logo = Profile {
        logo: new_logo.as_ref().map(|made| made.logo),
        ..profile
    };
    if !load.fill_profile(&profile_with_logo)? {
        return Ok(false);
    }
    if let Some(NewLogo { logo, png }) = new_logo {
        let name = logo.to_string();
        let replaced_at = Value::Null;
        load.add_row(
            &bulk::LOGOS,
            &[Value::Text(&name), Value::Blob(&png), replaced_at],
        )?;
    }
    Ok(true)
}
