//! The output of commands: messages, results, tables and progress bars.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, Write},
};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// The error message for an incomplete result.
pub(super) const NOT_WRITTEN: &str = "cannot write to standard output";

/// The number of steps between two updates of a progress bar. An update is slow compared with a
/// step.
const STEPS_PER_UPDATE: u64 = 4096;

/// Returns a count and its noun, such as `1 animal`, `2 animals` or `2 categories`. `noun` is
/// singular.
pub(super) fn counted(count: u64, noun: &str) -> String {
    if count == 1 {
        return format!("1 {noun}");
    }
    match noun.strip_suffix("ry") {
        Some(stem) => format!("{count} {stem}ries"),
        None => format!("{count} {noun}s"),
    }
}

/// Writes a line for the user to standard error. A failure is ignored, so that the command
/// continues.
pub(super) fn print_message(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_hidden(line));
}

/// Escapes a text that may quote a file, a database or the command line, so that it is safe to
/// print on a terminal. Escapes control characters and bidirectional formatting characters as in
/// JSON: `\u001b`.
pub(super) fn escape_hidden(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut visible_text = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            // Writing to a string cannot fail.
            let _ = write!(visible_text, "\\u{:04x}", u32::from(character));
        } else {
            visible_text.push(character);
        }
    }
    visible_text.into()
}

/// Whether a character is invisible on a terminal but changes what the terminal shows: a control
/// character, a line separator, or a character that sets the direction of the text.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Renders a table with aligned columns. The first row is the heading.
pub(super) fn render_table<const N: usize>(rows: &[[String; N]]) -> String {
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
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text
}

/// Writes the lines of a result to standard output, escaped. Does not fail if the reader closes the
/// pipe early, as `head` does.
pub(super) fn print(result: &str) -> anyhow::Result<()> {
    let lines: Vec<_> = result.split('\n').map(escape_hidden).collect();
    match print_completely(&lines.join("\n")) {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        outcome => outcome,
    }
}

/// Whether an error means that the reader of the output has closed the pipe.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref()
        .is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes a result that must not be lost, such as a new key, to standard output. Fails if not all
/// of it is written.
pub(super) fn print_completely(result: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(result.as_bytes())
        .and_then(|()| out.flush())
        .context(NOT_WRITTEN)
}

/// A progress bar on standard error, with the rate and the time left. It is hidden if standard
/// error is not a terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    /// The number of steps so far, such as animals or rows.
    step_count: u64,
}

impl Progress {
    /// Returns a bar that counts animals, up to `total`.
    pub(super) fn of_animals(message: &'static str, total: u64) -> Self {
        Self::new(
            message,
            total,
            "{human_pos} of {human_len} animals, {per_sec}, {eta} left",
        )
    }

    /// Returns a bar that counts bytes, up to `total`.
    pub(super) fn of_bytes(message: &'static str, total: u64) -> Self {
        Self::new(
            message,
            total,
            "{bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        )
    }

    /// Returns a bar that is never visible.
    pub(super) fn hidden() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            step_count: 0,
        }
    }

    /// Returns a bar with `message` before it. `position_template` is the template of indicatif for
    /// the text after it.
    fn new(message: &'static str, total: u64, position_template: &str) -> Self {
        // The bar hides itself if there is no terminal.
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr())
            .with_finish(ProgressFinish::AndClear)
            .with_message(message);
        // An invalid template, which tests would show, leaves the style of indicatif.
        if let Ok(style) =
            ProgressStyle::with_template(&format!("{{msg}} {{wide_bar}} {position_template}"))
        {
            bar.set_style(style);
        }
        Self { bar, step_count: 0 }
    }

    /// Counts a step. `position` returns the position of the bar for the number of steps so far.
    pub(super) fn step(&mut self, position: impl FnOnce(u64) -> u64) {
        self.step_count += 1;
        if self.step_count.is_multiple_of(STEPS_PER_UPDATE) {
            self.bar.set_position(position(self.step_count));
        }
    }

    /// Counts an animal.
    pub(super) fn count_animal(&mut self) {
        self.step(|step_count| step_count);
    }

    /// Hides the bar while `print` writes to standard error.
    pub(super) fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }
}
