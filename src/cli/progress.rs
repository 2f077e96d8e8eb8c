//! How far a command has come, for whoever watches it at a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// How often the bar is told how far it is, in steps.
const EVERY: u64 = 4096;

/// A bar on standard error, with the rate and the time left; nothing if that
/// is no terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    done: u64,
}

impl Progress {
    /// Counts animals, up to `total`.
    pub(super) fn of_animals(what: &'static str, total: u64) -> Self {
        Self::new(what, total, "{human_pos} of {human_len} animals, {per_sec}, {eta} left")
    }

    /// Counts bytes, up to `total`.
    pub(super) fn of_bytes(what: &'static str, total: u64) -> Self {
        Self::new(what, total, "{bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
    }

    /// Shows nothing.
    pub(super) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), done: 0 }
    }

    fn new(what: &'static str, total: u64, figures: &str) -> Self {
        // It hides itself where there is no terminal.
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr())
            .with_finish(ProgressFinish::AndClear)
            .with_message(what);
        if let Ok(style) = ProgressStyle::with_template(&format!("{{msg}} {{wide_bar}} {figures}"))
        {
            bar.set_style(style);
        }
        Self { bar, done: 0 }
    }

    /// One step more; `position` says how far that is.
    pub(super) fn step(&mut self, position: impl FnOnce(u64) -> u64) {
        self.done += 1;
        if self.done.is_multiple_of(EVERY) {
            self.bar.set_position(position(self.done));
        }
    }

    /// One animal more.
    pub(super) fn animal(&mut self) {
        self.step(|done| done);
    }

    /// Lets `say` write to standard error without the bar in between.
    pub(super) fn suspend(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }
}
