//! The attempts of writes. A write must not take effect twice, even if the response to an earlier
//! attempt was lost.

use petstore_store::{
    admin::{Parameters, Sql, Work, WorkOutcome},
    drivers::postgres::Failure,
};

use super::{connection::Connection, transaction::Transaction};

/// The statement that claims the token of a write, as a remembered request with caller 0. It waits for a
/// concurrent attempt of the same write, and inserts no row if that attempt commits.
const CLAIM_TOKEN: &str = "
    INSERT INTO requests (caller, key, operation, fingerprint, status, body, created_at, mark)
    SELECT 0, $1, 'administration', decode(repeat('00', 32), 'hex'), 0, '',
        floor(extract(epoch FROM now()))::bigint, coalesce(max(number), 0) FROM idempotency_marks
    ON CONFLICT (caller, key) DO NOTHING";
/// The statement that stores the number that a write returned, with the token of the write. It uses
/// the column `location`, because such a request has no location.
const SAVE_RESULT: &str = "UPDATE requests SET location = $2 WHERE caller = 0 AND key = $1";
/// The query for the number that [`SAVE_RESULT`] has stored.
const READ_RESULT: &str = "SELECT location::bigint FROM requests WHERE caller = 0 AND key = $1";

/// The constraint that a write violates if another request has the same key.
const KEY_CONSTRAINT: &str = "requests_pkey";

/// A write that takes effect only once, even if it is attempted several times.
pub(super) struct TokenWrite<I> {
    pub(super) input: I,
    /// The random token under which the write and its result are remembered.
    pub(super) token: String,
}

impl<I> TokenWrite<I> {
    /// Runs `work` in a transaction, unless an earlier attempt has already committed it.
    ///
    /// `work` returns a number, such as the id of a new row, which is stored with the token. From this
    /// number, `read_result` reads the result, even in a retry. A refusal by `work` rolls back.
    pub(super) async fn attempt<T, R>(
        &self,
        connection: &mut Connection,
        work: Work<Connection, I, WorkOutcome<i64, R>>,
        read_result: Work<Connection, i64, T>,
    ) -> Result<WorkOutcome<T, R>, Failure> {
        let transaction = Transaction::begin(connection, "BEGIN").await?;
        let token: Parameters<'_> = &[&self.token];
        let claimed_rows = transaction.connection.execute(CLAIM_TOKEN, token).await?;
        let number = if claimed_rows == 0 {
            // An earlier attempt has committed, perhaps without waiting for the standby.
            transaction.connection.confirm().await?;
            transaction.connection.number(READ_RESULT, token).await?
        } else {
            match self.run_and_save(transaction.connection, work).await? {
                WorkOutcome::Done(number) => number,
                WorkOutcome::Refused(refusal) => {
                    transaction.roll_back().await?;
                    // The refusal may be due to another write, which the standby must have before the
                    // caller learns of it.
                    connection.confirm().await?;
                    return Ok(WorkOutcome::Refused(refusal));
                }
            }
        };

        let result = read_result(transaction.connection, &number).await?;
        transaction.commit().await?;
        Ok(WorkOutcome::Done(result))
    }

    /// Runs `work`, and stores the number that it returns with the claimed token.
    async fn run_and_save<R>(
        &self,
        connection: &mut Connection,
        work: Work<Connection, I, WorkOutcome<i64, R>>,
    ) -> Result<WorkOutcome<i64, R>, Failure> {
        let outcome = match work(connection, &self.input).await {
            Ok(outcome) => outcome,
            // The next attempt finds the other request.
            Err(failure) if failure.is_duplicate(KEY_CONSTRAINT) => return Err(Failure::Raced),
            Err(failure) => return Err(failure),
        };
        if let WorkOutcome::Done(number) = outcome {
            let result: Parameters<'_> = &[&self.token, &number.to_string()];
            connection.execute(SAVE_RESULT, result).await?;
        }
        Ok(outcome)
    }
}

/// A write that needs no token, because running it again has the same effect.
pub(super) struct RetriedWrite<I> {
    input: I,
    /// Whether there was an earlier attempt. It may have committed.
    is_retry: bool,
}

impl<I: Sync> RetriedWrite<I> {
    /// Creates a write that was not attempted yet.
    pub(super) fn new(input: I) -> Self {
        Self {
            input,
            is_retry: false,
        }
    }

    /// Runs `work` in a transaction. A retry first waits until the standby has the rows of the earlier
    /// attempts, because it may return them, and a failover must not lose what was returned.
    pub(super) async fn attempt<T>(
        &mut self,
        connection: &mut Connection,
        work: Work<Connection, I, T>,
    ) -> Result<T, Failure> {
        let transaction = Transaction::begin(connection, "BEGIN").await?;
        if self.is_retry {
            transaction.connection.confirm().await?;
        }
        self.is_retry = true;
        let value = work(transaction.connection, &self.input).await?;
        transaction.commit().await?;
        Ok(value)
    }
}
