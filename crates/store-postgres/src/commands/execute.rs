//! Carries out requests in groups, and splits a group that something holds up.
//!
//! A group reads the rows that the commands of all its requests need, decides about each request after the requests before
//! it, and writes the changes of all requests in one transaction.

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use petstore_store::ExecutionOutcome;
use tokio::time;

use super::{
    execution::Execution,
    group::{CalledExecution, Group},
};
use crate::{pool::Access, queue::Groups, runner::Runner};

/// The time for which a group holds up the next one. A group can wait longer for a standby, or for a
/// lock.
const GROUP_PATIENCE: Duration = Duration::from_millis(50);

/// Carries out the requests that wait, until no more can come.
pub(crate) async fn work(mut groups: Groups<Execution, ExecutionOutcome>, runner: Arc<Runner>) {
    // `Group::decide` limits the bytes, because most of them are in the rows.
    while let Some(requests) = groups.next(|_| 0).await {
        begin(&runner, requests).await;
    }
}

/// Begins to carry out requests, and waits for them unless this takes too long.
async fn begin(runner: &Arc<Runner>, requests: Vec<CalledExecution>) {
    let running = tokio::spawn(carry_out(Arc::clone(runner), Access::Command, requests));
    let _ = time::timeout(GROUP_PATIENCE, running).await;
}

/// Carries out requests. If another process, or a lock, gets in the way of several, this carries out each
/// half of them, and so on, so that one animal cannot hold up the other requests.
pub(crate) fn carry_out(
    runner: Arc<Runner>,
    access: Access,
    requests: Vec<CalledExecution>,
) -> BoxFuture<'static, ()> {
    async move {
        let mut group = Group { requests };
        let result = runner
            .run(access, &mut group, |connection, group| {
                group.attempt(connection).boxed()
            })
            .await;
        let mut remaining = group.requests;
        match result {
            Ok(()) if remaining.is_empty() => {}
            Ok(()) => {
                let second_half = remaining.split_off(remaining.len() / 2);
                begin(&runner, remaining).await;
                begin(&runner, second_half).await;
            }
            Err(error) => {
                for request in remaining {
                    let _ = request.caller.send(Err(error.clone()));
                }
            }
        }
    }
    .boxed()
}
