//! The settings of the window.

use bytes::Bytes;
use petstore_app::StoreOptions;
use petstore_web::edge::Origin;

/// The settings of the window, as the operator configured them.
#[derive(Debug, Clone, Default)]
pub struct WindowSettings {
    /// The public base URL of the window, without a trailing slash.
    pub url: String,
    /// Fallbacks for facts about the store that its profile does not state.
    pub store: StoreOptions,
    /// The operator's own style sheet. Pages link to it last, so its rules override theirs.
    pub style: Option<Style>,
    /// The origins that may show `/embed` in a frame.
    pub embed: Vec<Origin>,
}

/// A validated style sheet from the operator.
#[derive(Debug, Clone)]
pub struct Style(Bytes);

impl Style {
    /// The maximum length, in bytes.
    const MAX_LENGTH: usize = 256 << 10;

    /// Validates a style sheet. Fails if it is longer than 256 KiB, is not UTF-8, or contains a NUL
    /// byte. The error is a predicate for a message about the file: `is not UTF-8 text` completes `the
    /// style sheet a.css is not UTF-8 text`.
    pub fn new(sheet: Vec<u8>) -> Result<Self, &'static str> {
        if sheet.len() > Self::MAX_LENGTH {
            return Err("is larger than 256 KiB");
        }
        if std::str::from_utf8(&sheet).is_err() || sheet.contains(&0) {
            return Err("is not UTF-8 text");
        }
        Ok(Self(sheet.into()))
    }

    /// Returns the UTF-8 text of the style sheet.
    pub(super) fn sheet(&self) -> &Bytes {
        &self.0
    }
}
