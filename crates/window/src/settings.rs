//! The settings of the window.

use bytes::Bytes;
use petstore_app::StoreOptions;
use petstore_web::edge::Origin;

/// The settings of the window that an operator can choose.
#[derive(Debug, Clone, Default)]
pub struct WindowSettings {
    /// The URL at which the public reaches the window, without a slash at its end.
    pub url: String,
    /// The facts about the store that its profile does not name.
    pub store: StoreOptions,
    /// The style sheet that the pages use after their own.
    pub style: Option<Style>,
    /// The sites that may show `/embed` in a frame.
    pub embed: Vec<Origin>,
}

/// A style sheet of the store.
#[derive(Debug, Clone)]
pub struct Style(Bytes);

impl Style {
    /// The maximum length, in bytes.
    const MAX_LENGTH: usize = 256 << 10;

    /// Checks a style sheet. Fails if it is too long, or not UTF-8 text.
    pub fn new(sheet: Vec<u8>) -> Result<Self, &'static str> {
        if sheet.len() > Self::MAX_LENGTH {
            return Err("is larger than 256 KiB");
        }
        if std::str::from_utf8(&sheet).is_err() || sheet.contains(&0) {
            return Err("is not UTF-8 text");
        }
        Ok(Self(sheet.into()))
    }

    /// Returns the text of the style sheet.
    pub(super) fn sheet(&self) -> &Bytes {
        &self.0
    }
}
