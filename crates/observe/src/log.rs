//! Logging to standard error: as text on a terminal, and otherwise as JSON.
//!
//! [`start`] sets the logging up. The rest of the file decides how a line is written, except
//! [`error_chain`], which the whole service uses to log errors.

use std::{
    error::Error,
    fmt,
    io::{self, IsTerminal},
};

use petstore_domain::named_enum::named_enum;
use tracing::{Event, Level, Subscriber, error, level_filters::LevelFilter};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::{
    field::{RecordFields, VisitOutput},
    filter::Targets,
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{DefaultVisitor, Writer},
    },
    layer::SubscriberExt,
    registry::LookupSpan,
    util::SubscriberInitExt,
};

named_enum! {
    /// The format of a log line.
    pub enum LogFormat {
        /// Lines of text.
        Text = "text",
        /// One JSON object per line.
        Json = "json",
    }
}

/// The `tracing` target of the lines that report changes. It has a level of its own, because a busy
/// store logs many such lines.
pub const CHANGES: &str = "petstore::changes";

/// Starts logging to standard error, and installs a panic hook that logs panics.
///
/// Without a `level`, lines at INFO and above are logged, except that a terminal does not get the
/// lines about changes ([`CHANGES`]). Without a `format`, a terminal gets text, and anything else
/// gets JSON.
///
/// A separate thread writes the lines, so that a slow reader of the log never delays a request. If
/// the thread cannot keep up, lines are dropped. Dropping the returned guard flushes the lines that
/// are still queued.
#[must_use = "lines are lost without the guard"]
pub fn start(format: Option<LogFormat>, level: Option<LevelFilter>) -> WorkerGuard {
    let is_terminal = io::stderr().is_terminal();
    let level_filters = level_filters(level, is_terminal);
    // The thread flushes once its queue is empty, so lines that were queued together cost one
    // system call.
    let (writer, guard) = tracing_appender::non_blocking(io::BufWriter::new(io::stderr()));
    let subscriber = tracing_subscriber::fmt()
        // The filters below decide about the levels.
        .with_max_level(LevelFilter::TRACE)
        .with_target(false)
        .with_writer(writer);
    // `JOURNAL_STREAM` is set only if systemd started the service.
    let journal_stream = std::env::var("JOURNAL_STREAM").ok();
    let to_journal = is_stderr_journal(journal_stream.as_deref());
    let default_format = if is_terminal {
        LogFormat::Text
    } else {
        LogFormat::Json
    };
    match format.unwrap_or(default_format) {
        LogFormat::Text => subscriber
            .with_ansi(is_terminal)
            .fmt_fields(EscapedFields)
            .map_event_format(|format| LineFormatter { format, to_journal })
            .finish()
            .with(level_filters)
            .init(),
        LogFormat::Json => subscriber
            .json()
            .flatten_event(true)
            .map_event_format(|format| LineFormatter { format, to_journal })
            .finish()
            .with(level_filters)
            .init(),
    }
    log_panics();
    guard
}

/// Installs a panic hook that logs each panic as an error. The default hook would write it in
/// another form.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string);
        error!(location, "{}", panic.payload_as_str().unwrap_or("panicked"));
    }));
}

/// Returns the minimum level of the lines of each target. It is `level` for all targets, or without
/// a `level` the default of the target.
fn level_filters(level: Option<LevelFilter>, is_terminal: bool) -> Targets {
    let default_for_changes = if is_terminal {
        LevelFilter::WARN
    } else {
        LevelFilter::INFO
    };
    Targets::new()
        .with_default(level.unwrap_or(LevelFilter::INFO))
        // The service reports the same failures itself, in one line each.
        .with_target("object_store", level.unwrap_or(LevelFilter::WARN))
        .with_target(CHANGES, level.unwrap_or(default_for_changes))
}

/// Whether standard error is connected to the journal of systemd.
///
/// `journal_stream` is the value of `JOURNAL_STREAM`, in which systemd names the stream to the
/// journal by device and inode, such as `9:25467` (systemd.exec(5)).
fn is_stderr_journal(journal_stream: Option<&str>) -> bool {
    let Ok(stderr) = rustix::fs::fstat(io::stderr()) else {
        return false;
    };
    let stderr_stream = format!("{}:{}", stderr.st_dev, stderr.st_ino);
    journal_stream == Some(stderr_stream.as_str())
}

/// A formatter that begins each line for the journal of systemd with its syslog priority, such as
/// `<4>` for a warning (sd-daemon(3)).
///
/// systemd strips the prefix and stores the priority, so that `journalctl -p warning` finds the
/// line.
struct LineFormatter<F> {
    /// The formatter of the rest of the line.
    format: F,
    /// Whether the lines go to the journal of systemd, and therefore need the prefix.
    to_journal: bool,
}

impl<S, N, F> FormatEvent<S, N> for LineFormatter<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if self.to_journal {
            write!(writer, "<{}>", syslog_priority(*event.metadata().level()))?;
        }
        self.format.format_event(context, writer, event)
    }
}

/// A formatter that escapes the message and the fields of a text line. Text from outside can
/// therefore neither start another line nor hide or reorder what a reader of the log sees.
struct EscapedFields;

impl<'writer> FormatFields<'writer> for EscapedFields {
    fn format_fields<R: RecordFields>(
        &self,
        mut writer: Writer<'writer>,
        fields: R,
    ) -> fmt::Result {
        let mut escaping_writer = EscapingWriter {
            writer: &mut writer,
        };
        // No field was written yet, so the first one needs no space before it.
        let is_empty = true;
        let mut visitor = DefaultVisitor::new(Writer::new(&mut escaping_writer), is_empty);
        fields.record(&mut visitor);
        visitor.finish()
    }
}

/// A writer that escapes control characters, Unicode line separators and bidirectional formatting
/// characters: U+000A becomes `\n`, and U+202E becomes `\u{202e}`.
struct EscapingWriter<'a, 'writer> {
    writer: &'a mut Writer<'writer>,
}

impl fmt::Write for EscapingWriter<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if is_deceptive(character) {
                write!(self.writer, "{}", character.escape_default())?;
            } else {
                self.writer.write_char(character)?;
            }
        }
        Ok(())
    }
}

/// Whether a character can start a new line, or hide or reorder the text around it.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Returns the syslog priority of a level (the severity of RFC 5424, section 6.2.1).
fn syslog_priority(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    }
}

/// Returns the messages of an error and of all its causes, joined by colons, such as
/// `cannot read the keys: disk I/O error`.
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next_cause = error.source();
    while let Some(cause) = next_cause {
        let message = cause.to_string();
        // Some errors end with the message of their cause.
        if !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        next_cause = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text lines that `log` causes to be written.
    fn text_lines(log: impl FnOnce()) -> String {
        let (sender, receiver) = std::sync::mpsc::channel();
        let writer = move || ChannelWriter(sender.clone());
        let subscriber = tracing_subscriber::fmt()
            .with_writer(writer)
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .fmt_fields(EscapedFields)
            .finish();
        tracing::subscriber::with_default(subscriber, log);
        receiver.into_iter().collect()
    }

    /// A writer that sends each line to a channel.
    struct ChannelWriter(std::sync::mpsc::Sender<String>);

    impl io::Write for ChannelWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0
                .send(String::from_utf8_lossy(bytes).into_owned())
                .unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_text_from_outside_cannot_leave_its_line() {
        const OUTSIDE: &str = "a\nINFO b\r\u{85}\u{2028}\u{202e}\u{2066}\u{1b}[31m\u{0}\u{7f}\tc";
        #[derive(Debug, thiserror::Error)]
        #[error("{0}")]
        struct Deceptive(&'static str);
        let error = Deceptive(OUTSIDE);
        let cause: &(dyn Error + 'static) = &error;
        let lines = [
            text_lines(|| error!("{OUTSIDE}")),
            text_lines(|| error!(text = OUTSIDE, "said")),
            text_lines(|| error!(text = %OUTSIDE, "said")),
            text_lines(|| error!(text = ?OUTSIDE, "said")),
            text_lines(|| error!(cause, "said")),
            text_lines(|| error!(%error, "said")),
        ];
        for line in lines {
            let text = line.strip_suffix('\n').unwrap();
            assert!(
                text.starts_with("ERROR ") && text.contains("a\\nINFO b"),
                "{line}"
            );
            assert!(!text.contains(is_deceptive), "{line}");
        }
    }

    #[test]
    fn other_texts_are_logged_as_they_are() {
        let line = text_lines(|| error!(name = %"Zoë 🐕\u{200d}🦺", "a\\b \"c\""));
        assert_eq!(line, "ERROR a\\b \"c\" name=Zoë 🐕\u{200d}🦺\n");
    }

    #[test]
    fn standard_error_is_the_journal_only_if_systemd_says_so() {
        let stderr = rustix::fs::fstat(io::stderr()).unwrap();
        let stream = format!("{}:{}", stderr.st_dev, stderr.st_ino);
        assert!(is_stderr_journal(Some(&stream)));
        for other in [None, Some(""), Some("0:0")] {
            assert!(!is_stderr_journal(other), "{other:?}");
        }
    }
}
