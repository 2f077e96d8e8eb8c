//! The sequential catalogue: what one operation after the other does, and which
//! responses it gives.

use std::{collections::BTreeMap, fmt};

use super::{
    checker::Order,
    history::{Animal, Operation, Patch},
};

/// Every animal that was ever added, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Catalogue<'h>(BTreeMap<i64, Entry<'h>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Entry<'h> {
    /// The name in the create that added it.
    created_as: &'h str,
    now: Content<'h>,
    is_removed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Content<'h> {
    name: &'h str,
    category_id: i64,
    status: &'h str,
}

impl<'h> Content<'h> {
    fn is_shown_by(&self, animal: &Animal) -> bool {
        (animal.name.as_str(), animal.category_id, animal.status.as_str())
            == (self.name, self.category_id, self.status)
    }

    fn with(self, patch: &'h Patch) -> Self {
        Self {
            name: patch.name.as_deref().unwrap_or(self.name),
            category_id: patch.category_id.unwrap_or(self.category_id),
            status: patch.status.unwrap_or(self.status),
        }
    }
}

impl<'h> Catalogue<'h> {
    /// Whether `operation` can happen now with its response, and changes nothing.
    pub(crate) fn explains(&self, operation: &'h Operation) -> bool {
        match operation {
            Operation::Create { name, category_id, status, response } => {
                let first = Content { name, category_id: *category_id, status };
                response.as_ref().is_some_and(|animal| {
                    let added = self.0.get(&animal.id);
                    added.is_some_and(|entry| entry.created_as == name) && first.is_shown_by(animal)
                })
            }
            Operation::Get { id, found } => match (self.there(*id), found) {
                (Some(entry), Some(animal)) => animal.id == *id && entry.now.is_shown_by(animal),
                (there, found) => there.is_none() && found.is_none(),
            },
            Operation::List { status, limit, after, page, more } => {
                let mut due = self.0.range(after + 1..).filter(|(_, entry)| {
                    !entry.is_removed && status.is_none_or(|status| status == entry.now.status)
                });
                let is_due = |animal: &Animal| {
                    due.next().is_some_and(|(&id, entry)| {
                        id == animal.id && entry.now.is_shown_by(animal)
                    })
                };
                page.len() <= *limit
                    && page.iter().all(is_due)
                    && due.next().is_some() == *more
                    && (!more || page.len() == *limit)
            }
            Operation::Change { id, expected, done: Some(false), .. } => {
                !self.is_as_expected(*id, expected.as_deref())
            }
            Operation::Remove { id, done: Some(false) } => self.there(*id).is_none(),
            Operation::Restore { id, done: Some(false) } => !self.is_removed(*id),
            Operation::Change { .. } | Operation::Remove { .. } | Operation::Restore { .. } => {
                false
            }
        }
    }

    /// What the catalogue becomes if `operation` does its work now, if it can. A
    /// create adds the animal `added`.
    pub(crate) fn after(
        &self,
        operation: &'h Operation,
        added: Option<i64>,
        order: Order,
    ) -> Option<Self> {
        let (id, entry) = match operation {
            Operation::Create { name, category_id, status, response } => {
                let id = added?;
                let now = Content { name, category_id: *category_id, status };
                let is_new = match order {
                    Order::OfIds => self.0.last_key_value().is_none_or(|(&last, _)| last < id),
                    Order::Any => !self.0.contains_key(&id),
                };
                let is_first = self.0.values().all(|entry| entry.created_as != name);
                let is_shown = response.as_ref().is_none_or(|animal| now.is_shown_by(animal));
                if !(is_new && is_first && is_shown) {
                    return None;
                }
                (id, Entry { created_as: name, now, is_removed: false })
            }
            Operation::Change { id, patch, expected, done: None | Some(true) }
                if self.is_as_expected(*id, expected.as_deref()) =>
            {
                let entry = self.there(*id)?;
                (*id, Entry { now: entry.now.with(patch), ..*entry })
            }
            Operation::Remove { id, done: None | Some(true) } => {
                (*id, Entry { is_removed: true, ..*self.there(*id)? })
            }
            Operation::Restore { id, done: None | Some(true) } if self.is_removed(*id) => {
                (*id, Entry { is_removed: false, ..*self.0.get(id)? })
            }
            _ => return None,
        };
        let mut after = self.clone();
        after.0.insert(id, entry);
        Some(after)
    }

    fn there(&self, id: i64) -> Option<&Entry<'h>> {
        self.0.get(&id).filter(|entry| !entry.is_removed)
    }

    fn is_removed(&self, id: i64) -> bool {
        self.0.get(&id).is_some_and(|entry| entry.is_removed)
    }

    fn is_as_expected(&self, id: i64, expected: Option<&str>) -> bool {
        self.there(id).is_some_and(|entry| expected.is_none_or(|name| name == entry.now.name))
    }
}

/// An animal a line.
impl fmt::Display for Catalogue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, Entry { now, is_removed, .. }) in &self.0 {
            let removed = if *is_removed { " (removed)" } else { "" };
            writeln!(f, "  {id}: {}, {}, {}{removed}", now.name, now.category_id, now.status)?;
        }
        Ok(())
    }
}
