//! The texts of notes in responses. Remembered responses do not contain them, so that deleting a note
//! deletes its text everywhere.

use petstore_domain::store_area::{Change, Resource};
use petstore_formats::json;
use petstore_store::StoreError;

use super::{shared::StoreArea, wire};

/// Adds the text and the author of the note to `body`, the response to a command on a note.
///
/// `changes` are the changes that the command has just made. It is empty for a retry. If the note was deleted
/// before the retry, the text and the author stay null.
pub(super) async fn add_text(
    area: &StoreArea,
    body: Vec<u8>,
    changes: &[Change],
) -> Result<Vec<u8>, StoreError> {
    let Some(id) = json::redacted_note_id(&body) else {
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
