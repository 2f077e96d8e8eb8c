//! The rows of the journal, which is the log of changes. Both stores share these statements and
//! types.

use petstore_domain::{
    NamedActor, PetId, WriteContext,
    store_area::{Change, ChangeType, Resource, StorePet},
};
use petstore_formats::json;

/// The maximum number of rows of the log that one page scans.
pub(super) const MAX_SCANNED_ROWS: i64 = 10_000;

/// Expands to the conditions with which the audit trail selects changes and acts, in SQLite and
/// PostgreSQL. A null parameter does not restrict the result. The conditions on `subject_id` and
/// `actor_id` have another form than the others, because these columns can be null.
///
/// The parameters are the type $3, a `LIKE` pattern for types $4 such as `pet.%`, the id of the
/// subject $5, the kind of the actor $6 and its id $7, and the time range from $8 (inclusive) to $9
/// (exclusive). They appear in ascending order, because SQLite numbers parameters by their first
/// appearance.
///
/// This and the following statements are macros because `concat!` takes no constants.
#[macro_export]
macro_rules! audit_conditions {
    () => {
        "type = coalesce($3, type) AND type LIKE coalesce($4, '%') \
         AND coalesce(subject_id = $5, $5 IS NULL) AND actor = coalesce($6, actor) \
         AND coalesce(actor_id = $7, $7 IS NULL) AND at >= coalesce($8, at) \
         AND at < coalesce($9, at + 1)"
    };
}

/// Expands to the statement that selects changes for the audit trail. `$from` is the table with the
/// condition on the numbers: above $1, and up to $2.
///
/// For example, `audited_changes!("changes WHERE seq > $1 AND seq <= $2", "DESC")` expands to:
///
/// ```sql
/// SELECT seq, … FROM changes WHERE seq > $1 AND seq <= $2 AND type = … ORDER BY seq DESC LIMIT $10
/// ```
#[macro_export]
macro_rules! audited_changes {
    ($from:expr, $order:literal) => {
        concat!(
            "SELECT ",
            $crate::journal_rows::change_columns!(),
            " FROM ",
            $from,
            " AND ",
            $crate::journal_rows::audit_conditions!(),
            " ORDER BY seq ",
            $order,
            " LIMIT $10"
        )
    };
}

/// Expands to the columns of a change, in the order in which readers expect them.
#[macro_export]
macro_rules! change_columns {
    () => {
        "seq, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, \
         before, after"
    };
}

/// Expands to the statement that selects at most $4 changes, of all types or only of the type $3.
/// `$from` is the table with the condition on the numbers: above $1, and up to $2.
///
/// For example, `changes_between!("changes WHERE seq > $1 AND seq <= $2")` expands to:
///
/// ```sql
/// SELECT seq, … FROM changes
/// WHERE seq > $1 AND seq <= $2 AND (… OR type = $3) ORDER BY seq LIMIT $4
/// ```
#[macro_export]
macro_rules! changes_between {
    ($from:expr) => {
        concat!(
            "SELECT ",
            $crate::journal_rows::change_columns!(),
            " FROM ",
            $from,
            " AND (CAST($3 AS text) IS NULL OR type = $3) ORDER BY seq LIMIT $4"
        )
    };
}

/// Expands to a subquery for the first change that any enabled webhook still has to read or
/// deliver. This change and all later ones must not be forgotten, so that each webhook gets them.
#[macro_export]
macro_rules! undelivered {
    () => {
        "(SELECT min(coalesce((SELECT min(seq) FROM webhook_waiting WHERE webhook_id = webhooks.id), \
         cursor + 1)) FROM webhooks WHERE disabled_reason IS NULL)"
    };
}

pub use {audit_conditions, audited_changes, change_columns, changes_between, undelivered};

/// The typical length of a representation in bytes, without its texts. It is the initial capacity
/// of the buffer.
const TYPICAL_LENGTH: usize = 256;

/// A change that is about to be logged.
#[derive(Debug)]
pub struct LogEntry {
    /// The type of the change.
    pub kind: ChangeType,
    /// The id of the resource that changes, or `None` for an import.
    pub subject: Option<i64>,
    /// The version of the resource after the change, or its last version if it is deleted.
    pub version: Option<i64>,
    /// The animal that the change concerns, even if the subject is an order.
    pub pet: Option<i64>,
    /// The representation of the resource before the change, or `None` if it did not exist.
    pub before: Option<String>,
    /// The representation of the resource after the change, or `None` if it is deleted.
    pub after: Option<String>,
}

impl LogEntry {
    /// Makes the entry for an added animal.
    pub fn pet_added(pet: &StorePet) -> Self {
        let id = Some(pet.id.get());
        let name_length = pet.name.as_str().len();
        let representation = render_json(name_length, |out| json::write_store_pet(out, pet));
        Self {
            kind: ChangeType::PetAdded,
            subject: id,
            version: Some(pet.version),
            pet: id,
            before: None,
            after: Some(representation),
        }
    }

    /// Makes the single entry for an import, which summarizes all added animals.
    pub fn pets_imported(summary: ImportSummary) -> Self {
        let representation = render_json(0, |out| write_import(out, summary));
        Self {
            kind: ChangeType::PetsImported,
            subject: None,
            version: None,
            pet: None,
            before: None,
            after: Some(representation),
        }
    }

    /// Makes the entry for a change that a command made.
    pub(super) fn from_change(change: &Change) -> Self {
        // A change that deletes a resource has no state after it.
        let latest = change.after.as_ref().or(change.before.as_ref());
        Self {
            kind: change.kind,
            subject: latest.map(Resource::id),
            version: latest.map(Resource::version),
            pet: latest.and_then(Resource::pet_id).map(PetId::get),
            before: change.before.as_ref().map(render_resource),
            after: change.after.as_ref().map(render_resource),
        }
    }

    /// Returns the total length of both representations in bytes.
    pub fn length(&self) -> usize {
        let before_length = self.before.as_ref().map_or(0, String::len);
        let after_length = self.after.as_ref().map_or(0, String::len);
        before_length + after_length
    }
}

/// A summary of an import: the number and the range of its animals, and whether it has any other
/// resource.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportSummary {
    /// The lowest identifier of an animal, or 0 if there are no animals.
    pub first: i64,
    /// The highest identifier of an animal, or 0 if there are no animals.
    pub last: i64,
    /// The number of animals.
    pub count: u64,
    /// Whether the import has an order, a category or a note.
    has_other_resources: bool,
}

impl ImportSummary {
    /// Whether the import has no resource.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && !self.has_other_resources
    }

    /// Adds a resource to the summary. An animal is counted, and any other resource is only noted.
    pub fn add_resource(&mut self, resource: &Resource) {
        match resource {
            Resource::Pet(pet) => self.add_pet(pet.id.get()),
            Resource::Order(_) | Resource::Category(_) | Resource::Note(_) => {
                self.has_other_resources = true;
            }
        }
    }

    /// Counts an animal, and extends the range of identifiers to it.
    pub fn add_pet(&mut self, id: i64) {
        self.first = if self.count == 0 {
            id
        } else {
            self.first.min(id)
        };
        self.last = self.last.max(id);
        self.count += 1;
    }
}

/// The origin of a change or an act: the actor, the time and the request.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'c> {
    /// The time in milliseconds.
    pub at: i64,
    /// The actor who is responsible.
    pub actor: &'c NamedActor,
    /// The id of the request, if a request caused the change or the act.
    pub request_id: Option<&'c str>,
}

impl<'c> From<&'c WriteContext> for Origin<'c> {
    fn from(context: &'c WriteContext) -> Self {
        Self {
            at: context.now.as_millisecond(),
            actor: &context.actor,
            request_id: context.request_id.as_deref(),
        }
    }
}

/// Writes the summary of an import, such as `{"firstId":1,"lastId":3,"count":3}`. The identifiers
/// are `null` if the import has no animals.
fn write_import(out: &mut Vec<u8>, summary: ImportSummary) {
    let [first, last] = if summary.count > 0 {
        [Some(summary.first), Some(summary.last)]
    } else {
        [None, None]
    };

    let mut object = json::Object::begin(out);
    object.or_null("firstId", first, |object, name, id| {
        object.integer(name, id);
    });
    object.or_null("lastId", last, |object, name, id| {
        object.integer(name, id);
    });
    object.integer("count", summary.count);
    object.end();
}

/// Returns the representation of a resource as JSON for the log. The representation of a note omits
/// its text.
pub(super) fn render_resource(resource: &Resource) -> String {
    render_json(0, |out| json::write_resource(out, resource))
}

/// Returns the JSON that `write` produces. `text_length` is the approximate number of bytes in its
/// texts, for the capacity of the buffer.
pub(super) fn render_json(text_length: usize, write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::with_capacity(TYPICAL_LENGTH + text_length);
    write(&mut out);
    // This cannot fail: JSON is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}
