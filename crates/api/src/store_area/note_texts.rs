//! The texts of notes in responses, which the store remembers without them.

use petstore_domain::store_area::{Change, Resource};
use petstore_formats::json;
use petstore_store::StoreError;

use super::{shared::StoreArea, wire};

/// Adds its text and its author to the response to a command about a note. The response is stored without them. If the
/// note was deleted before a repetition of the request, they stay null. `changes` are the changes that were just made.
pub(super) async fn add(
    area: &StoreArea,
    body: Vec<u8>,
    changes: &[Change],
) -> Result<Vec<u8>, StoreError> {
    let Some(id) = json::note_without_text(&body) else {
        return Ok(body);
    };
    let mut resources = changes.iter().filter_map(|change| change.after.as_ref());
    if let Some(changed_note) = resources.find_map(Resource::note) {
        return Ok(wire::render(|out| json::write_note(out, changed_note)));
    }
    let stored_note = area.app.store.get_note(id).await?;
    let Some(note) = stored_note else {
        return Ok(body);
    };
    Ok(wire::render(|out| json::write_note(out, &note)))
}
