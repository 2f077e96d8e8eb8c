//! Content negotiation with `Accept`.

use hyper::{HeaderMap, header};
use petstore_web::edge::compression::parse_weight;

/// Whether the client prefers one of `media_types` to all of `usual_types`. It does if `Accept` gives the
/// type a higher weight (RFC 9110, section 12.5.1).
///
/// Ranges such as `*/*` are ignored, so the client must name the type.
///
/// Example: `text/html, application/json;q=0.9` prefers `text/html` to `application/json`.
pub(super) fn prefers(request: &HeaderMap, media_types: &[&str], usual_types: &[&str]) -> bool {
    let mut highest_weight = 0.0_f32;
    let mut highest_usual_weight = 0.0_f32;
    for value in request.get_all(header::ACCEPT) {
        let elements = value.to_str().unwrap_or_default().to_ascii_lowercase();
        for element in elements.split(',') {
            let mut parts = element.split(';');
            let media_type = parts.next().unwrap_or_default().trim();
            let weight = parts.find_map(parse_weight).unwrap_or(1.0);
            if media_types.contains(&media_type) {
                highest_weight = highest_weight.max(weight);
            } else if usual_types.contains(&media_type) {
                highest_usual_weight = highest_usual_weight.max(weight);
            }
        }
    }
    highest_weight > highest_usual_weight
}
