//! `Accept`: which of two kinds of media type a client prefers.

use hyper::{HeaderMap, header};
use petstore_web::edge::compression::weight;

/// Whether `Accept` names one of the `wanted` media types with a higher weight than any of the
/// `usual` ones (RFC 9110, section 12.5.1). A range such as `*/*` names none.
pub(super) fn prefers(request: &HeaderMap, wanted: &[&str], usual: &[&str]) -> bool {
    let (mut of_wanted, mut of_usual) = (0.0_f32, 0.0_f32);
    for field in request.get_all(header::ACCEPT) {
        for element in field
            .to_str()
            .unwrap_or_default()
            .to_ascii_lowercase()
            .split(',')
        {
            let mut parts = element.split(';');
            let name = parts.next().unwrap_or_default().trim();
            let named = if wanted.contains(&name) {
                &mut of_wanted
            } else if usual.contains(&name) {
                &mut of_usual
            } else {
                continue;
            };
            *named = named.max(parts.find_map(weight).unwrap_or(1.0));
        }
    }
    of_wanted > of_usual
}
