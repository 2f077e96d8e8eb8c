//! A token for every create, which identifies the create if its connection breaks before the
//! response.

use parking_lot::Mutex;
use petstore_store::drivers::postgres::Failure;

use super::pool::Connection;

const NEXT_SERIES: &str = "SELECT nextval('pets_token_series')";

/// The binary logarithm of the number of tokens in a series: it has 2^32.
const SERIES_BITS: u32 = 32;

/// Tokens that are unique in the database: the number of a series, which the database gives to one
/// store only, and a counter. They ascend, so their index stays small, and insertions go to its
/// end.
#[derive(Default)]
pub(super) struct Tokens {
    /// The next token of the current series; `None` if there is no current series.
    next_token: Mutex<Option<i64>>,
}

impl Tokens {
    /// Returns the next token. Draws a series if there is none, or if it has ended.
    pub(super) async fn next(&self, connection: &mut Connection) -> Result<i64, Failure> {
        if let Some(token) = self.next_of_series() {
            return Ok(token);
        }
        let row = connection.query_one(NEXT_SERIES, &[]).await?;
        let first_token = row.try_get::<_, i64>(0)? << SERIES_BITS;
        *self.next_token.lock() = Some(first_token + 1);
        Ok(first_token)
    }

    /// Returns the next token of the current series; `None` if there is none, or if it has ended.
    fn next_of_series(&self) -> Option<i64> {
        let mut next_token = self.next_token.lock();
        let token = (*next_token)?;
        let is_last = (token + 1) >> SERIES_BITS != token >> SERIES_BITS;
        *next_token = if is_last { None } else { Some(token + 1) };
        Some(token)
    }

    /// Starts a new series. After a failover to a standby that lagged, the database may have given
    /// this series twice.
    pub(super) fn renew(&self) {
        *self.next_token.lock() = None;
    }
}
