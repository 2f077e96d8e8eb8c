//! `petstore audit`: prints the audit trail.

use std::io::{self, BufWriter, Write};

use anyhow::Context;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use petstore_domain::{
    Actor, NamedActor,
    store_area::{AuditEntry, AuditQuery, AuditType, JournalSubject},
};
use petstore_formats::json;
use petstore_store::{OpenMode, Store};

use super::{
    args::DatabaseArgs,
    output::{NOT_WRITTEN, escape_hidden, is_broken_pipe},
};

/// The number of entries that are read at once.
const ENTRIES_PER_READ: u32 = 500;

/// Show who changed what, the oldest first
///
/// The audit trail has all changes of animals, orders and categories, and the acts
/// of administration, such as the creation of a key.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore audit --subject pet:7\n",
    "  petstore audit --since 2026-11-01T00:00:00Z --format ndjson > november.ndjson"
))]
pub(super) struct Audit {
    /// The format of the output: a line of text for each entry, or a JSON
    /// object as in GET /v1/store/audit
    #[arg(
        long,
        value_enum,
        env = "PETSTORE_AUDIT_FORMAT",
        default_value = "text"
    )]
    format: Format,

    /// Show only entries about this subject, such as pet:7, order:3 or key:2
    #[arg(long, value_name = "SUBJECT", env = "PETSTORE_AUDIT_SUBJECT", value_parser = parse_subject)]
    subject: Option<JournalSubject>,

    /// Show only entries of this actor: key:3, staff:1, clock, command or database
    #[arg(long, value_name = "ACTOR", env = "PETSTORE_AUDIT_ACTOR", value_parser = parse_actor)]
    actor: Option<Actor>,

    /// Show only entries of this type, such as pet.changed or key.created
    #[arg(long = "type", value_name = "TYPE", env = "PETSTORE_AUDIT_TYPE", value_parser = parse_type)]
    kind: Option<AuditType>,

    /// Show only entries at or after this time, such as 2026-11-01T00:00:00Z
    #[arg(long, value_name = "TIME", env = "PETSTORE_AUDIT_SINCE", value_parser = parse_time)]
    since: Option<Timestamp>,

    /// Show only entries before this time
    #[arg(long, value_name = "TIME", env = "PETSTORE_AUDIT_UNTIL", value_parser = parse_time)]
    until: Option<Timestamp>,

    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Ndjson,
}

impl Audit {
    /// Prints the entries of the audit trail.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let mut out = BufWriter::new(io::stdout().lock());
        match self.write_entries(store.as_ref(), &mut out).await {
            // The reader closed the pipe early, as `head` does.
            Err(error) if is_broken_pipe(&error) => Ok(()),
            result => result,
        }
    }

    /// Writes all entries that match the options, the oldest first.
    async fn write_entries(&self, store: &dyn Store, out: &mut impl Write) -> anyhow::Result<()> {
        let mut query = AuditQuery {
            subject: self.subject.clone(),
            actor: self.actor,
            kind: self.kind,
            since: self.since,
            until: self.until,
            limit: ENTRIES_PER_READ,
            ..AuditQuery::default()
        };
        let mut line = Vec::new();
        loop {
            let (entries, next_cursor) = store
                .list_audit(&query)
                .await
                .context("cannot read the audit trail")?;
            for entry in &entries {
                line.clear();
                self.format.write_line(&mut line, entry);
                out.write_all(&line).context(NOT_WRITTEN)?;
            }
            if next_cursor.is_none() {
                return out.flush().context(NOT_WRITTEN);
            }
            query.after = next_cursor;
        }
    }
}

impl Format {
    /// Appends an entry to `line` in this format, with the end of the line.
    fn write_line(self, line: &mut Vec<u8>, entry: &AuditEntry) {
        match self {
            Self::Text => {
                let text = render_entry(entry);
                line.extend_from_slice(escape_hidden(&text).as_bytes());
            }
            Self::Ndjson => json::write_audit_entry(line, entry),
        }
        line.push(b'\n');
    }
}

/// Renders an entry as a line of text, such as
/// `2026-11-26T04:00:00.000Z  pet.changed  pet:7  by key:3 (till)  version 2  request 5f0c`.
fn render_entry(entry: &AuditEntry) -> String {
    let (mut line, request_id) = match entry {
        AuditEntry::Change(change) => {
            let kind = change.kind.as_str();
            let mut line = begin_line(change.at, kind, &change.subject, &change.actor);
            if let Some(version) = change.version {
                push_detail(&mut line, "version", &version.to_string());
            }
            (line, &change.request_id)
        }
        AuditEntry::Act {
            at,
            act,
            actor,
            request_id,
            ..
        } => {
            let mut line = begin_line(*at, act.kind.as_str(), &act.subject, actor);
            for (name, value) in &act.details {
                push_detail(&mut line, name, value);
            }
            (line, request_id)
        }
    };
    if let Some(request_id) = request_id {
        push_detail(&mut line, "request", request_id);
    }
    line
}

/// Returns the beginning of the line of every entry: the time, the type, the subject and the actor.
fn begin_line(time: Timestamp, kind: &str, subject: &JournalSubject, actor: &NamedActor) -> String {
    let mut line = format!("{time:.3}  {kind}  {subject}  by {}", actor.actor);
    if let Some(name) = &actor.name {
        line.extend([" (", name, ")"]);
    }
    line
}

/// Appends a detail of an entry, such as `  version 2`.
fn push_detail(line: &mut String, name: &str, value: &str) {
    line.extend(["  ", name, " ", value]);
}

/// Parses a subject, such as `pet:7`.
fn parse_subject(text: &str) -> Result<JournalSubject, String> {
    JournalSubject::parse(text)
        .ok_or_else(|| "a subject has the form pet:7, order:3 or key:2".to_owned())
}

/// Parses an actor, such as `key:3` or `clock`.
fn parse_actor(text: &str) -> Result<Actor, String> {
    Actor::parse(text).ok_or_else(|| {
        "an actor is a key such as key:3, a member of the staff such as staff:1, or clock, command \
         or database"
            .to_owned()
    })
}

/// Parses the type of an entry, such as `pet.changed`.
fn parse_type(text: &str) -> Result<AuditType, String> {
    AuditType::parse(text).ok_or_else(|| {
        let all_types: Vec<&str> = AuditType::all().map(AuditType::as_str).collect();
        format!("it must be one of {}", all_types.join(", "))
    })
}

/// Parses a time, such as `2026-11-01T00:00:00Z`.
fn parse_time(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|_| "a time has the form 2026-11-01T00:00:00Z".to_owned())
}
