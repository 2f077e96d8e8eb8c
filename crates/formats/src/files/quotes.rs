//! Validates the quotes of CSV (RFC 4180).

/// Whether every quote of a record encloses a field, or is doubled within a quoted field (RFC 4180,
/// section 2, rules 5 to 7): valid in `"a ""b""",c`, and invalid in `a "b",c`.
pub(super) fn is_well_quoted(record: &[u8], separator: u8) -> bool {
    let mut unread = record;
    loop {
        let after_field = match unread.strip_prefix(b"\"") {
            Some(content) => after_closing_quote(content),
            None => after_unquoted_field(unread, separator),
        };
        match after_field {
            Some([]) => return true,
            Some([next, next_field @ ..]) if *next == separator => unread = next_field,
            _ => return false,
        }
    }
}

/// Returns the bytes after a field without quotes. Returns `None` if the field contains a quote.
fn after_unquoted_field(text: &[u8], separator: u8) -> Option<&[u8]> {
    let end = text
        .iter()
        .position(|&byte| byte == separator)
        .unwrap_or(text.len());
    let (field, after_field) = text.split_at(end);
    if field.contains(&b'"') {
        return None;
    }
    Some(after_field)
}

/// Returns the bytes after the quote that closes a field. `content` begins after the opening quote.
/// Returns `None` if no quote closes the field.
fn after_closing_quote(content: &[u8]) -> Option<&[u8]> {
    let mut unread = content;
    loop {
        let quote = unread.iter().position(|&byte| byte == b'"')?;
        let after_quote = &unread[quote + 1..];
        match after_quote.strip_prefix(b"\"") {
            Some(after_doubled_quote) => unread = after_doubled_quote,
            None => return Some(after_quote),
        }
    }
}
