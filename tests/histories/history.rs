//! A history: what clients asked for and were told, each with the moments of
//! its call and its return.

use serde::Deserialize;

/// An animal as the contract shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Animal {
    pub(crate) id: i64,
    /// Two creates with the same name are the same request, sent again.
    pub(crate) name: String,
    pub(crate) category_id: i64,
    pub(crate) status: String,
}

/// What a client asked for, and the answer.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Create {
        name: String,
        category_id: i64,
        status: &'static str,
        /// `None` if the client went away before the answer: the animal may
        /// come at any time later, or never.
        answered: Option<Animal>,
    },
    Get {
        id: i64,
        found: Option<Animal>,
    },
    /// One page. A walk is several requests, and between two of them anything
    /// may happen: each page is an operation of its own.
    List {
        status: Option<&'static str>,
        limit: usize,
        /// The last id on the page before; 0 for a first page.
        after: i64,
        page: Vec<Animal>,
        /// Whether there was a link to a next page.
        more: bool,
    },
}

/// A moment of the history. Every call and every return has its own.
pub(crate) type Moment = u64;

/// One operation of one client.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) called: Moment,
    pub(crate) returned: Moment,
    pub(crate) operation: Operation,
}

impl Event {
    /// Every animal in the answer.
    pub(crate) fn seen(&self) -> &[Animal] {
        match &self.operation {
            Operation::Create { answered: one, .. } | Operation::Get { found: one, .. } => {
                one.as_slice()
            }
            Operation::List { page, .. } => page,
        }
    }

    /// Whether this is a create of that animal.
    pub(crate) fn asks_for(&self, animal: &Animal) -> bool {
        matches!(&self.operation, Operation::Create { name, category_id, status, .. }
            if *name == animal.name && *category_id == animal.category_id && *status == animal.status)
    }
}
