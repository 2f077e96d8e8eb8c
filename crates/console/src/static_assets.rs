//! The static assets of the pages: scripts, the style sheet and icons.

use std::sync::LazyLock;

use bytes::Bytes;
use petstore_languages::look;
use petstore_web::edge::{
    ApiError, Response,
    assets::{self, Asset},
};

/// The static assets of the pages.
pub(super) struct Assets {
    pub(super) style: Asset,
    /// The script of every page.
    pub(super) live_script: Asset,
    /// The default icon of a store without a logo.
    pub(super) icon: Asset,
    pub(super) favicon: Asset,
    pub(super) touch_icon: Asset,
    photos_script: Asset,
    passkeys_script: Asset,
    zones_script: Asset,
}

impl Assets {
    /// Returns all assets.
    fn all(&self) -> [&Asset; 8] {
        [
            &self.style,
            &self.live_script,
            &self.icon,
            &self.favicon,
            &self.touch_icon,
            &self.photos_script,
            &self.passkeys_script,
            &self.zones_script,
        ]
    }
}

/// The assets of this release. `%` in a path is a placeholder for a hash of the content, so that
/// browsers can cache the asset for long.
pub(super) static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: Asset::new(
        "/assets/style-%.css",
        "text/css; charset=utf-8",
        look::style() + include_str!("style.css"),
    ),
    live_script: script("/assets/live-%.js", include_bytes!("live.js")),
    icon: Asset::new(
        "/assets/icon-%.svg",
        "image/svg+xml",
        Bytes::from_static(look::ICON.as_bytes()),
    ),
    // Browsers and phones request these two paths even if no page links to them.
    favicon: Asset::new(
        "/favicon.ico",
        "image/x-icon",
        Bytes::from_static(look::FAVICON),
    ),
    touch_icon: Asset::new(
        "/apple-touch-icon.png",
        "image/png",
        Bytes::from_static(look::TOUCH_ICON),
    ),
    photos_script: script("/assets/photos-%.js", include_bytes!("photos.js")),
    passkeys_script: script("/assets/passkeys-%.js", include_bytes!("passkeys.js")),
    zones_script: script("/assets/zones-%.js", include_bytes!("zones.js")),
});

/// Returns the asset for a script.
fn script(path: &'static str, content: &'static [u8]) -> Asset {
    Asset::new(
        path,
        "text/javascript; charset=utf-8",
        Bytes::from_static(content),
    )
}

/// Returns the path of the script for pages that accept photo uploads.
pub(super) fn photos_script() -> &'static str {
    &ASSETS.photos_script.path
}

/// Returns the path of the script for pages with a passkey button.
pub(super) fn passkeys_script() -> &'static str {
    &ASSETS.passkeys_script.path
}

/// Returns the path of the script for the page with the time zone dropdown.
pub(super) fn zones_script() -> &'static str {
    &ASSETS.zones_script.path
}

/// Responds with the asset at this path. Fails with 404 if there is no such asset.
///
/// The hash in the path need not be the current one, because a page that was opened before an
/// upgrade requests the assets by the hashes of the earlier release.
pub(super) fn respond_with_asset(path: &str) -> Result<Response, ApiError> {
    assets::respond_at(ASSETS.all().into_iter(), path).ok_or_else(ApiError::no_such_path)
}
