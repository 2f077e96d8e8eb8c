//! Background work.

use std::{
    future::{pending, ready},
    sync::Arc,
    time::{Duration, Instant},
};

use petstore_domain::{Clock, SystemClock};
use petstore_observe::{
    metrics::{Exposition, TaskMetrics},
    tasks::{Failure, Task, Tasks},
};
use tokio::{sync::mpsc, time};

/// What a run of [`Told`] does.
enum Run {
    Succeed,
    Fail,
    Panic,
    Hang,
}

/// A task that runs when it is told to.
struct Told {
    runs: mpsc::UnboundedReceiver<Run>,
    next: Option<Run>,
    finished: mpsc::UnboundedSender<()>,
}

impl Task for Told {
    async fn due(&mut self) {
        self.next = self.runs.recv().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        match self.next {
            Some(Run::Fail) => Err("broken".into()),
            Some(Run::Panic) => std::panic::panic_any("planted"),
            Some(Run::Hang) => pending().await,
            Some(Run::Succeed) | None => Ok(()),
        }
    }

    async fn finish(&mut self) -> Result<(), Failure> {
        let _ = self.finished.send(());
        pending().await
    }
}

struct Harness {
    tasks: Tasks,
    metrics: Arc<TaskMetrics>,
    runs: mpsc::UnboundedSender<Run>,
    finished: mpsc::UnboundedReceiver<()>,
}

impl Harness {
    fn start() -> Self {
        let metrics = Arc::<TaskMetrics>::default();
        let mut tasks = Tasks::new(Arc::new(SystemClock), Arc::clone(&metrics));
        let (runs, told) = mpsc::unbounded_channel();
        let (finishing, finished) = mpsc::unbounded_channel();
        let told = Told {
            runs: told,
            next: None,
            finished: finishing,
        };
        tasks.start("told", Duration::from_millis(20), told);
        Self {
            tasks,
            metrics,
            runs,
            finished,
        }
    }

    /// The last success, and how many runs failed.
    fn shown(&self) -> (i64, u64) {
        let mut page = Exposition::default();
        self.metrics.expose(&mut page);
        let page = page.finish();
        let value = |name: &str| {
            let start = format!("{name}{{task=\"told\"}} ");
            page.lines()
                .find_map(|line| line.strip_prefix(&start))
                .unwrap()
                .to_owned()
        };
        let last = value("petstore_task_last_success_timestamp_seconds")
            .parse()
            .unwrap();
        (last, value("petstore_task_failures_total").parse().unwrap())
    }

    async fn until(&self, reached: impl Fn((i64, u64)) -> bool) {
        let reached = async {
            while !reached(self.shown()) {
                tokio::task::yield_now().await;
            }
        };
        time::timeout(Duration::from_secs(10), reached)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_run_that_fails_hangs_or_panics_is_counted_and_the_next_one_follows() {
    let harness = Harness::start();
    assert_eq!(harness.shown(), (0, 0));
    for (run, failures) in [(Run::Fail, 1), (Run::Hang, 2), (Run::Panic, 3)] {
        harness.runs.send(run).unwrap();
        harness.until(|(_, counted)| counted == failures).await;
        assert_eq!(harness.shown().0, 0);
    }
    let before = SystemClock.now().as_second();
    harness.runs.send(Run::Succeed).unwrap();
    harness.until(|(last, _)| last >= before).await;
    assert_eq!(harness.shown().1, 3);
}

#[tokio::test]
async fn at_shutdown_a_task_finishes_within_its_limit_even_during_a_run() {
    let mut harness = Harness::start();
    harness.runs.send(Run::Hang).unwrap();
    // Its last work hangs as well.
    let shut_down = harness.tasks.shut_down();
    time::timeout(Duration::from_secs(10), shut_down)
        .await
        .unwrap();
    harness.finished.try_recv().unwrap();
    assert!(harness.runs.is_closed());
}

/// A task that is always due, always fails, and tells when.
struct AlwaysFails(mpsc::UnboundedSender<Instant>);

impl Task for AlwaysFails {
    fn due(&mut self) -> impl Future<Output = ()> + Send {
        ready(())
    }

    async fn run(&mut self) -> Result<(), Failure> {
        let _ = self.0.send(SystemClock.instant());
        Err("broken".into())
    }
}

#[tokio::test]
async fn a_task_that_fails_again_and_again_waits_longer_each_time() {
    let mut tasks = Tasks::new(Arc::new(SystemClock), Arc::default());
    let (sender, mut runs) = mpsc::unbounded_channel();
    tasks.start("fails", Duration::from_secs(1), AlwaysFails(sender));
    let mut last = runs.recv().await.unwrap();
    for pause in [100, 200, 400, 800] {
        let next = runs.recv().await.unwrap();
        assert!(
            next - last >= Duration::from_millis(pause),
            "{:?}",
            next - last
        );
        last = next;
    }
    tasks.shut_down().await;
}
