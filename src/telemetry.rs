//! Logs: lines for people at a terminal, JSON otherwise, on standard error.

use std::{
    error::Error,
    io::{self, IsTerminal},
};

use clap::ValueEnum;
use tracing::{error, level_filters::LevelFilter};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::fmt;

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Begins to log. Lines are written by a thread of their own, so that a slow
/// reader of the log never holds up a request; what it cannot keep up with is
/// dropped. Lines still under way are written when the guard is dropped.
#[must_use = "lines are lost without the guard"]
pub fn start(format: Option<LogFormat>, level: LevelFilter) -> WorkerGuard {
    let terminal = io::stderr().is_terminal();
    let (writer, guard) = tracing_appender::non_blocking(io::stderr());
    let lines = fmt().with_max_level(level).with_target(false).with_writer(writer);
    match format.unwrap_or(if terminal { LogFormat::Text } else { LogFormat::Json }) {
        LogFormat::Text => lines.with_ansi(terminal).init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string);
        error!(location, "{}", panic.payload_as_str().unwrap_or("panicked"));
    }));
    guard
}

/// An error and all that lies behind it, in one line.
#[must_use]
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
