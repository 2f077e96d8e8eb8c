//! Helpers for writing XML, shared by the feed and the sitemaps.

use std::{io, sync::Arc};

use petstore_store::StoreError;
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};

/// A writer for an XML document, or a part of one, in memory.
pub(super) type XmlWriter = Writer<Vec<u8>>;

/// Writes the XML declaration, `<?xml version="1.0" encoding="utf-8"?>`.
pub(super) fn write_declaration(writer: &mut XmlWriter) -> io::Result<()> {
    let declaration = BytesDecl::new("1.0", Some("utf-8"), None);
    writer.write_event(Event::Decl(declaration))
}

/// Writes an element that contains only text. Escapes markup, and replaces characters that XML 1.0
/// does not allow with U+FFFD, because `quick-xml` would write them unchanged.
///
/// Example: `a<\u{1}` in the element `title` becomes `<title>a&lt;\u{fffd}</title>`.
pub(super) fn write_text(writer: &mut XmlWriter, element: &str, text: &str) -> io::Result<()> {
    let allowed_text = text.replace(is_forbidden, "\u{fffd}");
    writer
        .create_element(element)
        .write_text_content(BytesText::new(&allowed_text))?;
    Ok(())
}

/// Whether XML 1.0 forbids or discourages a character.
fn is_forbidden(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        _ => character.is_control(),
    }
}

/// Converts an error of the XML writer into an internal error of the service.
pub(super) fn internal_error(error: io::Error) -> StoreError {
    StoreError::Internal(Arc::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_xml_is_never_markup_and_always_allowed() {
        for (text, expected) in [
            ("<a b=\"&\">", "<t>&lt;a b=&quot;&amp;&quot;&gt;</t>"),
            ("a\u{1}\u{fffe}\nb🐕", "<t>a\u{fffd}\u{fffd}\nb🐕</t>"),
        ] {
            let mut writer = XmlWriter::new(Vec::new());
            write_text(&mut writer, "t", text).unwrap();
            assert_eq!(String::from_utf8(writer.into_inner()).unwrap(), expected);
        }
    }
}
