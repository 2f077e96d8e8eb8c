//! The progress bar of a command at a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// The number of steps between two updates of the bar.
const EVERY: u64 = 4096;

/// A bar on standard error, with the rate and the time left. Hidden if standard error
/// is not a terminal.
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

    pub(super) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), done: 0 }
    }

    fn new(what: &'static str, total: u64, numbers: &str) -> Self {
        // The bar hides itself if there is no terminal.
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr())
            .with_finish(ProgressFinish::AndClear)
            .with_message(what);
        if let Ok(style) = ProgressStyle::with_template(&format!("{{msg}} {{wide_bar}} {numbers}"))
        {
            bar.set_style(style);
        }
        Self { bar, done: 0 }
    }

    /// Counts a step; `position` maps the number of steps to the position of the bar.
    pub(super) fn step(&mut self, position: impl FnOnce(u64) -> u64) {
        self.done += 1;
        if self.done.is_multiple_of(EVERY) {
            self.bar.set_position(position(self.done));
        }
    }

    pub(super) fn animal(&mut self) {
        self.step(|done| done);
    }

    /// Hides the bar while `print` writes to standard error.
    pub(super) fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }
}
