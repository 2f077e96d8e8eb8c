//! Background work. [`Tasks`] owns every task that the service repeats while it serves requests.

use std::{error::Error, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt;
use petstore_domain::Clock;
use tokio::{sync::watch, task::JoinSet, time};
use tracing::{field::debug, info, warn};

use crate::{
    log::chain,
    metrics::{TaskMetrics, TaskRuns},
};

/// The maximum time for [`Task::finish`].
const FINISH_LIMIT: Duration = Duration::from_secs(3);

/// The pause after a run that failed. After each further failure, it is twice as long, up to the
/// maximum, so that a failing task neither fills the log nor uses the machine.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The reason for a failed run.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Work that is repeated. Runs of one task never overlap. All its futures may be dropped.
///
/// Every present task may run in several processes on one database at the same time. A task that
/// may not will take a lease in the database at the beginning of `run`.
pub trait Task: Send + 'static {
    /// Completes when the next run is due: after an interval, or when there is work.
    fn due(&mut self) -> impl Future<Output = ()> + Send;

    /// Does the work once.
    fn run(&mut self) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Does the last work at shutdown. It may take as long as a run, and at most 3 seconds.
    fn finish(&mut self) -> impl Future<Output = Result<(), Failure>> + Send {
        async { Ok(()) }
    }
}

/// The running tasks. Dropping them ends them at once.
pub struct Tasks {
    clock: Arc<dyn Clock>,
    metrics: Arc<TaskMetrics>,
    stopping: watch::Sender<()>,
    running: JoinSet<()>,
}

impl Tasks {
    /// Returns a set without tasks. Their outcomes will be written to `metrics`.
    pub fn new(clock: Arc<dyn Clock>, metrics: Arc<TaskMetrics>) -> Self {
        Self {
            clock,
            metrics,
            stopping: watch::Sender::default(),
            running: JoinSet::new(),
        }
    }

    /// Starts to repeat `task`, with this name in the metrics and in the log. A run that takes longer
    /// than `run_limit` is dropped, and has failed.
    pub fn start(&mut self, name: &'static str, run_limit: Duration, task: impl Task) {
        let outcomes = Outcomes {
            task: name,
            clock: Arc::clone(&self.clock),
            runs: self.metrics.add(name),
            last_failure: None,
        };
        self.running
            .spawn(repeat(task, run_limit, outcomes, self.stopping.subscribe()));
    }

    /// Stops all tasks, and waits until each has finished, or has reached its limit.
    pub async fn shut_down(self) {
        drop(self.stopping);
        self.running.join_all().await;
    }
}

/// Runs `task` until the sender of `stopped` is dropped.
async fn repeat(
    mut task: impl Task,
    run_limit: Duration,
    mut outcomes: Outcomes,
    mut stopped: watch::Receiver<()>,
) {
    let mut pause = Duration::ZERO;
    loop {
        let run = async {
            if !pause.is_zero() {
                time::sleep(pause).await;
            }
            task.due().await;
            guarded(run_limit, task.run()).await
        };
        tokio::select! {
            biased;
            _ = stopped.changed() => break,
            outcome = run => {
                pause = if outcome.is_ok() { Duration::ZERO } else { pause_after(pause) };
                outcomes.note(outcome, Some(pause));
            }
        }
    }
    let outcome = guarded(run_limit.min(FINISH_LIMIT), task.finish()).await;
    if outcome.is_err() {
        outcomes.note(outcome, None);
    }
}

/// Returns the pause after a failed run that came after this pause.
fn pause_after(pause: Duration) -> Duration {
    (2 * pause).clamp(FIRST_PAUSE, LONGEST_PAUSE)
}

/// Returns the outcome of `work`, which fails after `limit`, or if it panics.
async fn guarded(
    limit: Duration,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    match AssertUnwindSafe(time::timeout(limit, work))
        .catch_unwind()
        .await
    {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(Interrupted::TooSlow(limit).into()),
        Err(_) => Err(Interrupted::Panicked.into()),
    }
}

#[derive(Debug, thiserror::Error)]
enum Interrupted {
    #[error("it took longer than {0:?}")]
    TooSlow(Duration),
    #[error("it panicked")]
    Panicked,
}

/// The metrics and the log of the outcomes of one task.
struct Outcomes {
    task: &'static str,
    clock: Arc<dyn Clock>,
    runs: Arc<TaskRuns>,
    /// The cause, if the last run failed.
    last_failure: Option<String>,
}

impl Outcomes {
    /// Counts the outcome of a run. Logs a failure with a new cause and the pause before the next attempt, and the recovery.
    fn note(&mut self, outcome: Result<(), Failure>, pause: Option<Duration>) {
        let task = self.task;
        match outcome {
            Ok(()) => {
                self.runs.note_success(self.clock.now());
                if self.last_failure.take().is_some() {
                    info!(task, "the background task succeeds again");
                }
            }
            Err(error) => {
                self.runs.count_failure();
                let cause = chain(error.as_ref());
                if self.last_failure.as_ref() != Some(&cause) {
                    let next_attempt_in = pause.map(debug);
                    warn!(task, cause, next_attempt_in, "a background task failed");
                    self.last_failure = Some(cause);
                }
            }
        }
    }
}
