//! A history: what clients asked for and were told, each with the moments of
//! its call and its return.

use serde::Deserialize;

use super::store_area::{Command, Filter, Order, Outcome, Shown, StorePet};

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
    /// One page of animals of the store area.
    StorePets {
        filter: Filter,
        limit: usize,
        /// Name and id of the last animal on the page before.
        after: Option<(String, i64)>,
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
            Self::Create { .. } => true,
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
        let of_store = self.store_pets().into_iter().map(|pet| (pet.id, pet.name.as_str()));
        of_contract.chain(of_store).collect()
    }

    /// The animal that the operation was about, if it was there.
    pub(crate) fn changed_pet(&self) -> Option<i64> {
        match self {
            Self::Store { command, outcome, .. }
                if outcome.as_ref().is_none_or(|outcome| outcome.status != 404) =>
            {
                command.pet()
            }
            _ => None,
        }
    }

    /// Every animal of the store area in the response.
    pub(crate) fn store_pets(&self) -> Vec<&StorePet> {
        match self {
            Self::StorePets { page, .. } => page.iter().collect(),
            Self::Store { outcome: Some(Outcome { shown: Shown::Pet(pet), .. }), .. } => vec![pet],
            _ => vec![],
        }
    }

    /// Every order in the response.
    pub(crate) fn orders(&self) -> Vec<&Order> {
        match self {
            Self::Orders { page, .. } => page.iter().collect(),
            Self::Store { outcome: Some(Outcome { shown: Shown::Order(order), .. }), .. } => {
                vec![order]
            }
            _ => vec![],
        }
    }
}
