//! What clients ask of the store area, and the responses.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::history::Patch;

/// An animal as the store area shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StorePet {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) category_id: i64,
    pub(crate) status: String,
    pub(crate) version: i64,
    pub(crate) created_at: Option<String>,
    pub(crate) updated_at: Option<String>,
    /// The open order.
    pub(crate) order_id: Option<i64>,
    pub(crate) withdrawn: Option<Withdrawal>,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) photos: Vec<serde_json::Value>,
    pub(crate) listed: bool,
}

/// The values of an animal's fields: each change of its name gives the new name to `breed`, too.
pub(crate) fn values(created_as: &str, name: &str) -> BTreeMap<String, String> {
    let is_changed = name != created_as;
    is_changed
        .then(|| ("breed".to_owned(), name.to_owned()))
        .into_iter()
        .collect()
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Withdrawal {
    pub(crate) at: String,
    pub(crate) reason: String,
    pub(crate) note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) id: i64,
    pub(crate) pet_id: i64,
    pub(crate) status: String,
    pub(crate) reference: Option<String>,
    /// No two orders of a history have the same one, and it never changes.
    pub(crate) note: Option<String>,
    pub(crate) reason: Option<String>,
    /// In UTC with milliseconds, so that texts are in the order of times.
    pub(crate) expires_at: Option<String>,
    pub(crate) created_at: String,
    pub(crate) closed_at: Option<String>,
    pub(crate) version: i64,
    pub(crate) price: Option<String>,
    pub(crate) contact: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Category {
    pub(crate) id: i64,
    pub(crate) label: String,
    pub(crate) version: i64,
}

/// The version that a change requires; `None` for any.
pub(crate) type IfMatch = Option<i64>;

/// A read or a write of the store area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    ReadPet {
        id: i64,
    },
    PatchPet {
        id: i64,
        version: IfMatch,
        patch: Patch,
    },
    Withdraw {
        id: i64,
        version: IfMatch,
        reason: &'static str,
    },
    Restore {
        id: i64,
        version: IfMatch,
    },
    ReadOrder {
        id: i64,
    },
    Place {
        pet_id: i64,
        note: String,
        /// The end of the reservation; `None` for a sale.
        until: Option<String>,
    },
    PatchOrder {
        id: i64,
        version: IfMatch,
        reference: Option<String>,
        until: Option<String>,
    },
    Complete {
        id: i64,
        version: IfMatch,
    },
    Cancel {
        id: i64,
        version: IfMatch,
    },
    Return {
        id: i64,
        version: IfMatch,
    },
    Reopen {
        id: i64,
        version: IfMatch,
        until: String,
    },
    /// Takes back a change of an animal that no other change of the log belongs to, and that is about no order.
    Revert {
        /// The number of the change.
        seq: i64,
        id: i64,
        /// The version after the change.
        version: i64,
        before: Content,
        after: Content,
    },
    /// What a sweeper whose clock shows `at` does with an order.
    Expire {
        id: i64,
        at: String,
    },
}

/// What a change of an animal can change, before it or after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) name: String,
    pub(crate) category_id: i64,
    pub(crate) status: String,
    /// Why the animal is withdrawn.
    pub(crate) withdrawn: Option<String>,
    /// The value of its breed.
    pub(crate) breed: Option<String>,
}

impl Command {
    pub(crate) fn is_write(&self) -> bool {
        !matches!(self, Self::ReadPet { .. } | Self::ReadOrder { .. })
    }

    /// Those of the commands that can be one batch of a history. Behind one that places an order,
    /// no other is about an order: nobody knows the id of an order that was undone.
    pub(crate) fn batch_of(mut commands: Vec<Self>) -> Vec<Self> {
        let mut has_placed = false;
        commands.retain(|command| {
            let places = matches!(command, Self::Place { .. });
            let other = matches!(
                command,
                Self::PatchOrder { .. } | Self::Revert { .. } | Self::Expire { .. }
            );
            let is_about_order = places || command.order().is_some();
            let is_kept = command.is_write() && !other && !(has_placed && is_about_order);
            has_placed |= places;
            is_kept
        });
        commands
    }

    /// The order that it names.
    pub(crate) fn order(&self) -> Option<i64> {
        match self {
            Self::ReadOrder { id }
            | Self::PatchOrder { id, .. }
            | Self::Complete { id, .. }
            | Self::Cancel { id, .. }
            | Self::Return { id, .. }
            | Self::Reopen { id, .. }
            | Self::Expire { id, .. } => Some(*id),
            _ => None,
        }
    }

    /// The version that it requires.
    pub(crate) fn version(&self) -> IfMatch {
        match self {
            Self::PatchPet { version, .. }
            | Self::Withdraw { version, .. }
            | Self::Restore { version, .. }
            | Self::PatchOrder { version, .. }
            | Self::Complete { version, .. }
            | Self::Cancel { version, .. }
            | Self::Return { version, .. }
            | Self::Reopen { version, .. } => *version,
            _ => None,
        }
    }

    /// The animal that it names.
    pub(crate) fn pet(&self) -> Option<i64> {
        match self {
            Self::ReadPet { id }
            | Self::PatchPet { id, .. }
            | Self::Withdraw { id, .. }
            | Self::Restore { id, .. }
            | Self::Revert { id, .. }
            | Self::Place { pet_id: id, .. } => Some(*id),
            _ => None,
        }
    }
}

/// A response of the store area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: u16,
    /// The code of an error; empty without one.
    pub(crate) code: String,
    /// The body, or `current` of an error.
    pub(crate) shown: Shown,
}

/// What the commands of a batch led to; or the place of the command that was refused, and the
/// refusal. Behind other commands, it shows nothing: their effect, which it would show, is undone.
pub(crate) type BatchOutcome = Result<Vec<Shown>, (usize, Outcome)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    Pet(Box<StorePet>),
    Order(Box<Order>),
}

/// Which animals a list of the store area has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) status: Option<&'static str>,
    /// The beginning of the name. A list with it is in the order of names.
    pub(crate) name: Option<&'static str>,
    pub(crate) withdrawn: bool,
}
