//! A token for every create, which identifies the create if its connection breaks before the
//! response.

use parking_lot::Mutex;
use petstore_store::drivers::postgres::Failure;

use super::pool::Connection;

const NEXT_SERIES: &str = "SELECT nextval('pets_token_series')";

/// The number of tokens in a series: 2^32.
const SERIES_BITS: u32 = 32;

/// Tokens that are unique in the database: the number of a series, which the database gives to one
/// store only, and a counter. They ascend, so their index stays small, and insertions go to its
/// end.
#[derive(Default)]
pub(super) struct Tokens(Mutex<Option<i64>>);

impl Tokens {
    pub(super) async fn next(&self, connection: &mut Connection) -> Result<i64, Failure> {
        if let Some(token) = self.of_this_series() {
            return Ok(token);
        }
        let row = connection.query_one(NEXT_SERIES, &[]).await?;
        let first = row.try_get::<_, i64>(0)? << SERIES_BITS;
        *self.0.lock() = Some(first + 1);
        Ok(first)
    }

    fn of_this_series(&self) -> Option<i64> {
        let mut next = self.0.lock();
        let token = (*next)?;
        let following = token + 1;
        // After the end of a series, the next call starts a new one.
        *next = (following >> SERIES_BITS == token >> SERIES_BITS).then_some(following);
        Some(token)
    }

    /// Starts a new series. After a failover to a standby that lagged, the database may have given
    /// this series twice.
    pub(super) fn renew(&self) {
        *self.0.lock() = None;
    }
}
