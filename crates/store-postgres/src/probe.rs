//! The readiness probe: checks whether an animal could be added now.

use petstore_store::drivers::postgres::Failure;
use tokio_postgres::SimpleQueryMessage;

use super::connection::Connection;

/// The statements of the probe. They succeed under the same conditions as a create, but add no row and draw
/// no id.
///
/// - PostgreSQL checks the privileges and takes the table locks of each INSERT, even without rows to
///   insert.
/// - Because a row is locked, the commit waits for the disk and the standby, like the commit of a create.
///   Nothing blocks this lock while the service runs.
/// - A standby, which is read-only, rejects these statements.
/// - The lock timeout ends the wait for a locked table before the probe's callers time out.
const PROBE: &str = "SET LOCAL lock_timeout = '1s';
    WITH request AS (
        INSERT INTO requests
            (caller, key, operation, fingerprint, status, location, body, created_at, mark)
        SELECT caller, key, operation, fingerprint, status, location, body, created_at, mark
        FROM requests WHERE FALSE ON CONFLICT (caller, key) DO NOTHING RETURNING caller
    ), as_before AS (
        INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
        SELECT api_key_id, key, fingerprint, pet_id, created_at FROM idempotency_keys WHERE FALSE
    ), pet AS (
        INSERT INTO pets (id, name, category_id, status, token)
        SELECT id, name, category_id, status, token FROM pets WHERE FALSE
    ), change AS (
        INSERT INTO changes (id, at, type, actor) SELECT id, at, type, actor FROM changes WHERE FALSE
    )
    SELECT has_sequence_privilege('pets_ids', 'USAGE, UPDATE')
        AND has_sequence_privilege('pets_token_series', 'USAGE, UPDATE')
        AND has_sequence_privilege('change_ids', 'USAGE, UPDATE')
    FROM petstore_schema FOR KEY SHARE OF petstore_schema";

/// Checks that an animal could be added now. Fails with the reason if not.
pub(super) async fn check_writable(connection: &mut Connection) -> Result<(), Failure> {
    let messages = connection.simple_query(PROBE).await?;
    let may_draw_ids = messages.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("t"),
        _ => false,
    });
    if may_draw_ids {
        Ok(())
    } else {
        Err(Failure::Forbidden("use the sequences: GRANT USAGE"))
    }
}
