//! `petstore audit`.

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
    output::{NOT_WRITTEN, is_broken_pipe, visible},
};

/// How many entries are read at once.
const STEP: u32 = 500;

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
    #[arg(long, value_name = "SUBJECT", env = "PETSTORE_AUDIT_SUBJECT", value_parser = subject)]
    subject: Option<JournalSubject>,

    /// Show only entries of this actor: key:3, staff:1, clock, command or database
    #[arg(long, value_name = "ACTOR", env = "PETSTORE_AUDIT_ACTOR", value_parser = actor)]
    actor: Option<Actor>,

    /// Show only entries of this type, such as pet.changed or key.created
    #[arg(long = "type", value_name = "TYPE", env = "PETSTORE_AUDIT_TYPE", value_parser = kind)]
    kind: Option<AuditType>,

    /// Show only entries at or after this time, such as 2026-11-01T00:00:00Z
    #[arg(long, value_name = "TIME", env = "PETSTORE_AUDIT_SINCE", value_parser = time)]
    since: Option<Timestamp>,

    /// Show only entries before this time
    #[arg(long, value_name = "TIME", env = "PETSTORE_AUDIT_UNTIL", value_parser = time)]
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
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        match self
            .write(store.as_ref(), &mut BufWriter::new(io::stdout().lock()))
            .await
        {
            Err(error) if is_broken_pipe(&error) => Ok(()),
            done => done,
        }
    }

    async fn write(&self, store: &dyn Store, out: &mut impl Write) -> anyhow::Result<()> {
        let mut query = AuditQuery {
            subject: self.subject.clone(),
            actor: self.actor,
            kind: self.kind,
            since: self.since,
            until: self.until,
            limit: STEP,
            ..AuditQuery::default()
        };
        let mut line = Vec::new();
        loop {
            let (entries, next) = store
                .list_audit(&query)
                .await
                .context("cannot read the audit trail")?;
            for entry in &entries {
                line.clear();
                match self.format {
                    Format::Text => line.extend_from_slice(visible(&text(entry)).as_bytes()),
                    Format::Ndjson => json::write_audit_entry(&mut line, entry),
                }
                line.push(b'\n');
                out.write_all(&line).context(NOT_WRITTEN)?;
            }
            if next.is_none() {
                return out.flush().context(NOT_WRITTEN);
            }
            query.after = next;
        }
    }
}

/// Returns an entry for people: when, what, about what, who, by which request, and what else is
/// known.
fn text(entry: &AuditEntry) -> String {
    match entry {
        AuditEntry::Change(change) => {
            let kind = change.kind.as_str();
            let mut line = beginning(change.at, kind, &change.subject, &change.actor);
            if let Some(version) = change.version {
                line.extend(["  version ", &version.to_string()]);
            }
            push_request_id(&mut line, change.request_id.as_deref());
            line
        }
        AuditEntry::Act {
            at,
            act,
            actor,
            request_id,
            ..
        } => {
            let mut line = beginning(*at, act.kind.as_str(), &act.subject, actor);
            for (name, detail) in &act.details {
                line.extend(["  ", name, " ", detail]);
            }
            push_request_id(&mut line, request_id.as_deref());
            line
        }
    }
}

/// Returns what the line of each entry begins with.
fn beginning(time: Timestamp, kind: &str, subject: &JournalSubject, actor: &NamedActor) -> String {
    let mut line = format!("{time:.3}  {kind}  {subject}  by {}", actor.actor);
    if let Some(name) = &actor.name {
        line.extend([" (", name, ")"]);
    }
    line
}

fn push_request_id(line: &mut String, request_id: Option<&str>) {
    if let Some(request_id) = request_id {
        line.extend(["  request ", request_id]);
    }
}

fn subject(text: &str) -> Result<JournalSubject, String> {
    JournalSubject::parse(text)
        .ok_or_else(|| "a subject has the form pet:7, order:3 or key:2".to_owned())
}

fn actor(text: &str) -> Result<Actor, String> {
    let form = "an actor is a key such as key:3, a member of the staff such as staff:1, or clock, command \
                or database";
    Actor::parse(text).ok_or_else(|| form.to_owned())
}

fn kind(text: &str) -> Result<AuditType, String> {
    AuditType::parse(text).ok_or_else(|| {
        let all: Vec<_> = AuditType::all().map(AuditType::as_str).collect();
        format!("it must be one of {}", all.join(", "))
    })
}

fn time(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|_| "a time has the form 2026-11-01T00:00:00Z".to_owned())
}
