//! A token for every create, by which it is known again when its connection
//! broke before the answer came.

use std::sync::{Mutex, PoisonError};

use super::{errors::Failure, pool::Connection};

const NEXT_SERIES: &str = "SELECT nextval('pets_token_series')";

/// How many tokens a series has: 2^32.
const SERIES_BITS: u32 = 32;

/// Tokens that no other store has: the number of a series, which the database
/// gives to one store alone, and a count. They ascend, which keeps their index
/// small and its insertions in one place.
#[derive(Default)]
pub(super) struct Tokens(Mutex<Option<i64>>);

impl Tokens {
    /// A token that was never used.
    pub(super) async fn next(&self, connection: &mut Connection) -> Result<i64, Failure> {
        if let Some(token) = self.of_this_series() {
            return Ok(token);
        }
        let row = connection.query_one(NEXT_SERIES, &[]).await?;
        let first = row.try_get::<_, i64>(0)? << SERIES_BITS;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(first + 1);
        Ok(first)
    }

    fn of_this_series(&self) -> Option<i64> {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let token = (*next)?;
        let following = token + 1;
        // At the end of a series another one begins.
        *next = (following >> SERIES_BITS == token >> SERIES_BITS).then_some(following);
        Some(token)
    }

    /// Begins another series. After a failover to a standby that lagged
    /// behind, the database may have given this one twice.
    pub(super) fn renew(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
