//! What `petstore serve` does from time to time.

use std::time::Duration;

use tokio::time;
use tracing::warn;

use crate::{http::App, observe::log::chain};

/// How often the last uses of keys are written down.
const SAVE_USES_EVERY: Duration = Duration::from_secs(5);

/// How long writing them down may take.
const SAVE_USES_WITHIN: Duration = Duration::from_secs(1);

/// How often requests are forgotten that came with an `Idempotency-Key` and are old.
const FORGET_REQUESTS_EVERY: Duration = Duration::from_mins(1);

pub(super) async fn save_uses_forever(app: &App) {
    let mut times = time::interval(SAVE_USES_EVERY);
    loop {
        times.tick().await;
        save_uses(app).await;
    }
}

/// Does not wait long for a database that is away: the times are no more than
/// a help to the operator.
pub(super) async fn save_uses(app: &App) {
    match time::timeout(SAVE_USES_WITHIN, app.save_key_uses()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => warn!(cause = chain(&error), "cannot note the last use of keys"),
        Err(_) => warn!("cannot note the last use of keys in time"),
    }
}

pub(super) async fn forget_requests_forever(app: &App) {
    let mut times = time::interval(FORGET_REQUESTS_EVERY);
    loop {
        times.tick().await;
        // In small steps, each of which shares its commit with other writes.
        while forget_requests(app).await {}
    }
}

async fn forget_requests(app: &App) -> bool {
    app.forget_old_requests().await.unwrap_or_else(|error| {
        warn!(cause = chain(&error), "cannot forget old idempotency keys");
        false
    })
}
