//! Carries out requests in groups, and splits a group that conflicts with other transactions.
//!
//! A group reads the rows that the commands of all its requests need, decides each request on top of the
//! changes of the requests before it, and writes all changes in one transaction.

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use petstore_store::ExecutionOutcome;
use tokio::time;

use super::{
    execution::Execution,
    group::{CalledExecution, Group},
};
use crate::{pool::Access, queue::Groups, runner::Runner};

/// How long the next group waits for this one. A group that takes longer, because it waits for a standby
/// or a lock, continues in the background.
const GROUP_WAIT_LIMIT: Duration = Duration::from_millis(50);

/// Runs the worker of `Commands`: carries out the queued requests until the queue is closed.
pub(crate) async fn run_worker(
    mut groups: Groups<Execution, ExecutionOutcome>,
    runner: Arc<Runner>,
) {
    // Returning 0 disables the limit on the bytes of a group. Most bytes come from the rows, which are
    // not read yet, so `Group::decide` limits them instead.
    while let Some(requests) = groups.next(|_| 0).await {
        start_group(&runner, requests).await;
    }
}

/// Carries out requests as one group in a task of their own. Waits for the task for at most
/// [`GROUP_WAIT_LIMIT`].
async fn start_group(runner: &Arc<Runner>, requests: Vec<CalledExecution>) {
    let task = tokio::spawn(carry_out(Arc::clone(runner), Access::Command, requests));
    // After the limit, the task continues without being awaited.
    let _ = time::timeout(GROUP_WAIT_LIMIT, task).await;
}

/// Carries out requests as one group, and sends the outcomes to their callers.
///
/// If the group keeps failing because of a conflict or a lock, splits it into halves, which may be
/// split again. So contention for one animal does not delay the other requests. The future is boxed
/// because of this recursion.
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
                start_group(&runner, remaining).await;
                start_group(&runner, second_half).await;
            }
            Err(error) => {
                for request in remaining {
                    // If the caller is gone, nobody needs the error.
                    let _ = request.caller.send(Err(error.clone()));
                }
            }
        }
    }
    .boxed()
}
