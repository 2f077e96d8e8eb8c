//! A history: what clients asked for and were told, each with the moments of
//! its call and its return.

use std::slice;

use serde::Deserialize;

use super::store_area::{BatchOutcome, Category, Command, Filter, Order, Outcome, Shown, StorePet};

/// An animal as the contract shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Animal {
    pub(crate) id: i64,
    /// Two creates with the same name are the same request, sent again. No other
    /// two requests of a history use the same name.
    pub(crate) name: String,
    pub(crate) category_id: i64,
    pub(crate) status: String,
}

/// What a change sets; `None` keeps what is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Patch {
    pub(crate) name: Option<String>,
    pub(crate) category_id: Option<i64>,
    pub(crate) status: Option<&'static str>,
}

/// What a client asked for, and the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    Create {
        name: String,
        category_id: i64,
        status: &'static str,
        /// The animal as it was when it was added, also if it has changed since.
        /// `None` if the client left before the response: the animal may be
        /// added at any time later, or never.
        response: Option<Animal>,
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
    Store {
        command: Command,
        /// The idempotency key. Commands with the same key are the same request,
        /// sent again.
        key: Option<String>,
        /// `None` if the client left before the response.
        outcome: Option<Outcome>,
    },
    /// Several commands, at most one of which places an order: all of them or none.
    Batch {
        commands: Vec<Command>,
        key: String,
        /// `None` if the client left before the response.
        outcome: Option<BatchOutcome>,
    },
    /// Makes, changes or deletes the label of a category.
    Label {
        id: i64,
        /// The version that the request requires; 0 if the category must not exist.
        version: i64,
        /// `None` to delete it. No two requests of a history have the same one.
        label: Option<String>,
        /// The status, and what the body shows. `None` if the client left before the response.
        outcome: Option<(u16, Option<Category>)>,
    },
    /// The categories, which are all on one page.
    Categories {
        page: Vec<Category>,
    },
    /// One page of animals of the store area.
    StorePets {
        filter: Filter,
        limit: usize,
        /// The last id on the page before; 0 for a first page.
        after: i64,
        page: Vec<StorePet>,
        more: bool,
    },
    /// One page of orders.
    Orders {
        status: Option<&'static str>,
        pet_id: Option<i64>,
        limit: usize,
        /// The last id on the page before; 0 for a first page.
        after: i64,
        page: Vec<Order>,
        more: bool,
    },
}

/// A moment of the history. Every call and every return has its own.
pub(crate) type Moment = u64;

/// One operation of one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) called: Moment,
    /// [`Moment::MAX`] if the outcome is unknown.
    pub(crate) returned: Moment,
    pub(crate) operation: Operation,
}

impl Operation {
    pub(crate) fn is_write(&self) -> bool {
        match self {
            Self::Create { .. } | Self::Batch { .. } | Self::Label { .. } => true,
            Self::Store { command, .. } => command.is_write(),
            _ => false,
        }
    }

    /// Id and name of every animal in the response.
    pub(crate) fn seen(&self) -> Vec<(i64, &str)> {
        let of_contract: &[Animal] = match self {
            Self::Create { response: one, .. } | Self::Get { found: one, .. } => one.as_slice(),
            Self::List { page, .. } => page,
            _ => &[],
        };
        let of_contract = of_contract.iter().map(|pet| (pet.id, pet.name.as_str()));
        let of_store = self
            .store_pets()
            .into_iter()
            .map(|pet| (pet.id, pet.name.as_str()));
        of_contract.chain(of_store).collect()
    }

    /// The commands of a request to the store area.
    pub(crate) fn commands(&self) -> &[Command] {
        match self {
            Self::Store { command, .. } => slice::from_ref(command),
            Self::Batch { commands, .. } => commands,
            _ => &[],
        }
    }

    /// The animal for which it places an order, and the note of the order.
    pub(crate) fn placed(&self) -> Option<(i64, &str)> {
        self.commands().iter().find_map(|command| match command {
            Command::Place { pet_id, note, .. } => Some((*pet_id, note.as_str())),
            _ => None,
        })
    }

    /// The animals that the operation was about, if they can have been there.
    pub(crate) fn changed_pets(&self) -> impl Iterator<Item = i64> {
        let is_missing = matches!(
            self,
            Self::Store {
                outcome: Some(Outcome { status: 404, .. }),
                ..
            }
        );
        self.commands()
            .iter()
            .filter_map(Command::pet)
            .filter(move |_| !is_missing)
    }

    /// What the response to commands of the store area shows.
    fn shown(&self) -> &[Shown] {
        match self {
            Self::Store {
                outcome: Some(Outcome { shown, .. }),
                ..
            }
            | Self::Batch {
                outcome: Some(Err((_, Outcome { shown, .. }))),
                ..
            } => slice::from_ref(shown),
            Self::Batch {
                outcome: Some(Ok(shown)),
                ..
            } => shown,
            _ => &[],
        }
    }

    /// Every animal of the store area in the response.
    pub(crate) fn store_pets(&self) -> Vec<&StorePet> {
        let page: &[StorePet] = if let Self::StorePets { page, .. } = self {
            page
        } else {
            &[]
        };
        let shown = self.shown().iter().filter_map(|shown| match shown {
            Shown::Pet(pet) => Some(&**pet),
            _ => None,
        });
        page.iter().chain(shown).collect()
    }

    /// Every order in the response.
    pub(crate) fn orders(&self) -> Vec<&Order> {
        let page: &[Order] = if let Self::Orders { page, .. } = self {
            page
        } else {
            &[]
        };
        let shown = self.shown().iter().filter_map(|shown| match shown {
            Shown::Order(order) => Some(&**order),
            _ => None,
        });
        page.iter().chain(shown).collect()
    }
}
