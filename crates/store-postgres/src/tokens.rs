//! Generates a token for every create without an idempotency key. If the connection breaks before the
//! response, a retry finds the animal by its token.

use parking_lot::Mutex;
use petstore_store::drivers::postgres::Failure;

use super::connection::Connection;

/// The statement that draws the number of a new series.
const NEXT_SERIES: &str = "SELECT nextval('pets_token_series')";

/// The number of bits of the counter in a token: a series has 2^32 tokens.
const SERIES_BITS: u32 = 32;

/// A generator of tokens that are unique in the database.
///
/// A token consists of the number of a series, which the database gives to only one process, and a
/// counter. Because tokens ascend, each token is inserted at the end of its index, which keeps the index
/// small.
#[derive(Default)]
pub(super) struct TokenGenerator {
    /// The next token of the current series; `None` if there is no current series.
    next_token: Mutex<Option<i64>>,
}

impl TokenGenerator {
    /// Returns the next token. If there is no current series, or if it is used up, draws a new series
    /// from the database.
    pub(super) async fn next(&self, connection: &mut Connection) -> Result<i64, Failure> {
        if let Some(token) = self.next_in_series() {
            return Ok(token);
        }
        let row = connection.query_one(NEXT_SERIES, &[]).await?;
        let first_token = row.try_get::<_, i64>(0)? << SERIES_BITS;
        *self.next_token.lock() = Some(first_token + 1);
        Ok(first_token)
    }

    /// Returns the next token of the current series; `None` if there is none, or if it is used up.
    fn next_in_series(&self) -> Option<i64> {
        let mut next_token = self.next_token.lock();
        let token = (*next_token)?;
        // The token after the last one of a series would belong to the next series.
        let is_last = (token + 1) >> SERIES_BITS != token >> SERIES_BITS;
        *next_token = if is_last { None } else { Some(token + 1) };
        Some(token)
    }

    /// Discards the current series, so that the next token draws a new one. This is needed after a
    /// failover to a standby that lagged behind: it may give the same series to another process.
    pub(super) fn discard_series(&self) {
        *self.next_token.lock() = None;
    }
}
