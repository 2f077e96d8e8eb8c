//! The settings of the window.

use bytes::Bytes;
use petstore_app::StoreOptions;
use petstore_web::edge::Origin;

/// The settings of the window that an operator can choose.
#[derive(Debug, Clone, Default)]
pub struct WindowSettings {
    /// Where the public reaches the window, without a slash at its end.
    pub url: String,
    /// What holds if the profile of the store does not say it.
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
    const MAX: usize = 256 << 10;

    /// Fails if the sheet is too long, or not text.
    pub fn new(sheet: Vec<u8>) -> Result<Self, &'static str> {
        if sheet.len() > Self::MAX {
            return Err("is larger than 256 KiB");
        }
        if std::str::from_utf8(&sheet).is_err() || sheet.contains(&0) {
            return Err("is not UTF-8 text");
        }
        Ok(Self(sheet.into()))
    }

    pub(super) fn sheet(&self) -> &Bytes {
        &self.0
    }
}
