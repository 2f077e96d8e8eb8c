//! Runs the background tasks, which the service repeats while it serves requests.
//!
//! A [`Task`] is the work of one of them, and [`Tasks`] owns and repeats all of them.

use std::{error::Error, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt;
use petstore_domain::Clock;
use tokio::{sync::watch, task::JoinSet, time};
use tracing::{field::debug, info, warn};

use crate::{
    log::error_chain,
    metrics::{TaskMetrics, TaskRuns},
};

/// How long [`Task::finish`] may take, so that no task delays a shutdown for long.
const FINISH_LIMIT: Duration = Duration::from_secs(3);

/// The backoff after the first failed run. It doubles with each further failure, up to
/// [`MAX_BACKOFF`], so that a failing task neither floods the log nor keeps the machine busy.
const MIN_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// The error of a failed run.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Work that is repeated in the background. Runs of one task never overlap.
///
/// The futures must be cancel-safe: shutdown drops `due` and `run`, and a time limit drops `run`
/// and `finish`.
///
/// Several processes can serve one database, and each of them runs all tasks. Every task must
/// allow that. A task that must run in only one process at a time has to take a lease in the
/// database at the start of `run`.
pub trait Task: Send + 'static {
    /// Completes when the next run is due: after an interval, or when there is work.
    fn due(&mut self) -> impl Future<Output = ()> + Send;

    /// Does the work once.
    fn run(&mut self) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Does the remaining work at shutdown, such as saving what is only in memory. This may take as
    /// long as a run, but at most 3 seconds.
    fn finish(&mut self) -> impl Future<Output = Result<(), Failure>> + Send {
        async { Ok(()) }
    }
}

/// The running tasks. Dropping this aborts them; [`Tasks::shut_down`] lets them finish.
pub struct Tasks {
    clock: Arc<dyn Clock>,
    metrics: Arc<TaskMetrics>,
    /// Dropped to tell the tasks to stop.
    stop_sender: watch::Sender<()>,
    running: JoinSet<()>,
}

impl Tasks {
    /// Returns an empty set. The outcomes of the tasks that are started in it are recorded in
    /// `metrics`.
    pub fn new(clock: Arc<dyn Clock>, metrics: Arc<TaskMetrics>) -> Self {
        Self {
            clock,
            metrics,
            stop_sender: watch::Sender::default(),
            running: JoinSet::new(),
        }
    }

    /// Starts repeating `task`, which the metrics and the log call `name`. A run that takes longer
    /// than `run_limit` is cancelled and counts as failed.
    pub fn start(&mut self, name: &'static str, run_limit: Duration, task: impl Task) {
        let recorder = OutcomeRecorder {
            task: name,
            clock: Arc::clone(&self.clock),
            runs: self.metrics.register(name),
            last_failure: None,
        };
        self.running.spawn(repeat(
            task,
            run_limit,
            recorder,
            self.stop_sender.subscribe(),
        ));
    }

    /// Tells all tasks to stop, and waits until each has finished or has reached its time limit.
    pub async fn shut_down(self) {
        drop(self.stop_sender);
        self.running.join_all().await;
    }
}

/// Runs `task` each time it is due, until the sender of `stop_signal` is dropped. Then lets it
/// finish.
async fn repeat(
    mut task: impl Task,
    run_limit: Duration,
    mut recorder: OutcomeRecorder,
    mut stop_signal: watch::Receiver<()>,
) {
    let mut backoff = Duration::ZERO;
    loop {
        let next_run = async {
            if !backoff.is_zero() {
                time::sleep(backoff).await;
            }
            task.due().await;
            run_guarded(run_limit, task.run()).await
        };
        tokio::select! {
            biased;
            _ = stop_signal.changed() => break,
            outcome = next_run => {
                backoff = match outcome {
                    Ok(()) => Duration::ZERO,
                    Err(_) => next_backoff(backoff),
                };
                recorder.record(outcome, Some(backoff));
            }
        }
    }
    let outcome = run_guarded(run_limit.min(FINISH_LIMIT), task.finish()).await;
    if outcome.is_err() {
        recorder.record(outcome, None);
    }
}

/// Returns the backoff after a failed run, given the `backoff` before that run.
fn next_backoff(backoff: Duration) -> Duration {
    (2 * backoff).clamp(MIN_BACKOFF, MAX_BACKOFF)
}

/// Runs `work`, and returns its outcome. Fails if `work` takes longer than `limit`, or if it
/// panics.
async fn run_guarded(
    limit: Duration,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let work_within_limit = AssertUnwindSafe(time::timeout(limit, work));
    let Ok(finished_work) = work_within_limit.catch_unwind().await else {
        return Err(Interrupted::Panicked.into());
    };
    match finished_work {
        Ok(outcome) => outcome,
        Err(_elapsed) => Err(Interrupted::TooSlow(limit).into()),
    }
}

/// The reason why a run ended without an outcome of its own.
#[derive(Debug, thiserror::Error)]
enum Interrupted {
    #[error("it took longer than {0:?}")]
    TooSlow(Duration),
    #[error("it panicked")]
    Panicked,
}

/// The recorder of the outcomes of one task, in the metrics and in the log.
struct OutcomeRecorder {
    task: &'static str,
    clock: Arc<dyn Clock>,
    runs: Arc<TaskRuns>,
    /// The cause of the last failure, which is forgotten once a run succeeds.
    last_failure: Option<String>,
}

impl OutcomeRecorder {
    /// Records the outcome of a run. Logs a failure, unless the last failure had the same cause.
    /// Logs a success only after a failure.
    ///
    /// `backoff` is the time before the next run. It is `None` at shutdown, when there is no next
    /// run.
    fn record(&mut self, outcome: Result<(), Failure>, backoff: Option<Duration>) {
        let task = self.task;
        match outcome {
            Ok(()) => {
                self.runs.record_success(self.clock.now());
                if self.last_failure.take().is_some() {
                    info!(task, "the background task succeeds again");
                }
            }
            Err(error) => {
                self.runs.count_failure();
                let cause = error_chain(error.as_ref());
                if self.last_failure.as_ref() != Some(&cause) {
                    let next_attempt_in = backoff.map(debug);
                    warn!(task, cause, next_attempt_in, "a background task failed");
                    self.last_failure = Some(cause);
                }
            }
        }
    }
}
