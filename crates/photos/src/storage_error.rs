//! Shortens the errors of a storage for the log.

use std::{error::Error, io};

/// The maximum length of a sentence from the service of a bucket in an error, in characters.
const MAX_SENTENCE_LENGTH: usize = 200;

/// Shortens the error of a bucket to the code and the sentence in the response of its service.
/// Without a code, shortens the error to its root cause.
///
/// For example, a cause with the text `…<Code>NoSuchBucket</Code><Message>It is gone</Message>…`
/// becomes `NoSuchBucket: It is gone`.
pub(super) fn shorten_error(error: io::Error) -> io::Error {
    let Some(cause) = error.get_ref() else {
        return error;
    };
    let text = cause.to_string();
    let reason = match (xml_element(&text, "Code"), xml_element(&text, "Message")) {
        (Some(code), Some(sentence)) => format!("{code}: {sentence:.MAX_SENTENCE_LENGTH$}"),
        (Some(code), None) => code.to_owned(),
        (None, _) => root_cause(cause).to_string(),
    };
    io::Error::new(error.kind(), reason)
}

/// Returns the content of an element in the XML response of a bucket, if the text has such an
/// element.
fn xml_element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, content_and_end) = text.split_once(&format!("<{name}>"))?;
    let (content, _) = content_and_end.split_once(&format!("</{name}>"))?;
    Some(content)
}

/// Returns the error at the end of the chain of causes.
fn root_cause<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}
