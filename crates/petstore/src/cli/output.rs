//! The output of commands.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, Write},
};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// Returns a count and its noun: `1 animal`, `2 animals`, `2 categories`.
pub(super) fn counted(count: u64, thing: &str) -> String {
    if count == 1 {
        return format!("1 {thing}");
    }
    match thing.strip_suffix("ry") {
        Some(stem) => format!("{count} {stem}ries"),
        None => format!("{count} {thing}s"),
    }
}

/// Writes a line for the user to standard error. If this fails, the command
/// continues.
pub(super) fn print_message(line: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(line));
}

/// Makes a text safe to print that may quote a file, a database or the command line.
/// Escapes control characters, and characters that change the direction of text, in
/// the form that JSON uses (`\u001b`).
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut visible_text = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(visible_text, "\\u{:04x}", u32::from(c));
        } else {
            visible_text.push(c);
        }
    }
    visible_text.into()
}

/// Returns a table with aligned columns; its first row is the heading.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or_default()
    });
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text
}

/// Writes the lines of a result to standard output. It is not an error if the reader
/// closes the pipe early.
pub(super) fn print(result: &str) -> anyhow::Result<()> {
    let lines: Vec<_> = result.split('\n').map(visible).collect();
    match print_all(&lines.join("\n")) {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        done => done,
    }
}

pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref()
        .is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes a result that must not be lost to standard output.
pub(super) fn print_all(result: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(result.as_bytes())
        .and_then(|()| out.flush())
        .context(NOT_WRITTEN)
}

/// A reason for a result that is not complete.
pub(super) const NOT_WRITTEN: &str = "cannot write to standard output";

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
        Self::new(
            what,
            total,
            "{human_pos} of {human_len} animals, {per_sec}, {eta} left",
        )
    }

    /// Counts bytes, up to `total`.
    pub(super) fn of_bytes(what: &'static str, total: u64) -> Self {
        Self::new(
            what,
            total,
            "{bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        )
    }

    pub(super) fn hidden() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            done: 0,
        }
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
