//! The sequential catalogue: what one operation after the other does, and which
//! responses it gives.

use std::{collections::BTreeMap, fmt};

use super::{
    checker::Order,
    history::{Animal, Operation},
    rules::{self, CategoryEntry, Decision, Effect, Entry, OrderEntry, Response, Shows},
    store_area::{Category, Command, Shown},
};

/// Everything that was ever added, by id, and the responses that are remembered,
/// by key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Catalogue<'h> {
    pets: BTreeMap<i64, Entry<'h>>,
    orders: BTreeMap<i64, OrderEntry<'h>>,
    responses: BTreeMap<&'h str, Response<'h>>,
    batches: BTreeMap<&'h str, Vec<Shows<'h>>>,
    categories: BTreeMap<i64, CategoryEntry<'h>>,
}

impl Entry<'_> {
    fn is_shown_by_contract(&self, animal: &Animal) -> bool {
        (
            animal.name.as_str(),
            animal.category_id,
            animal.status.as_str(),
        ) == (self.name, self.category_id, self.status)
    }
}

/// Whether a page has the first of those that are due, and says whether more are.
fn is_page<I, T>(
    page: &[T],
    limit: usize,
    more: bool,
    mut due: impl Iterator<Item = I>,
    is_shown_by: impl Fn(&I, &T) -> bool,
) -> bool {
    page.len() <= limit
        && page
            .iter()
            .all(|shown| due.next().is_some_and(|due| is_shown_by(&due, shown)))
        && due.next().is_some() == more
        && (!more || page.len() == limit)
}

impl<'h> Catalogue<'h> {
    /// Whether `operation` can happen now with its response, and changes nothing.
    #[expect(clippy::too_many_lines, reason = "one arm for each operation")]
    pub(crate) fn explains(&self, operation: &'h Operation) -> bool {
        match operation {
            Operation::Create {
                name,
                category_id,
                status,
                response,
            } => response.as_ref().is_some_and(|animal| {
                let is_of_create = (&animal.name, animal.category_id, animal.status.as_str())
                    == (name, *category_id, status);
                let added = self.pets.get(&animal.id);
                is_of_create && added.is_some_and(|entry| entry.created_as == name)
            }),
            Operation::Get { id, found } => match (self.there(*id), found) {
                (Some(entry), Some(animal)) => {
                    animal.id == *id && entry.is_shown_by_contract(animal)
                }
                (there, found) => there.is_none() && found.is_none(),
            },
            Operation::List {
                status,
                limit,
                after,
                page,
                more,
            } => {
                let due = self.pets.range(after + 1..).filter(|(_, entry)| {
                    entry.withdrawn.is_none() && status.is_none_or(|status| status == entry.status)
                });
                is_page(page, *limit, *more, due, |(id, entry), animal| {
                    **id == animal.id && entry.is_shown_by_contract(animal)
                })
            }
            Operation::Store {
                command,
                key,
                outcome,
            } => outcome.as_ref().is_some_and(|outcome| {
                let known = key.as_deref().and_then(|key| self.responses.get(key));
                known.map_or_else(
                    || {
                        let (response, effect) = self.decide(command, 0);
                        let is_remembered = key.is_some() && response.is_success();
                        effect == Effect::default() && !is_remembered && response.is(outcome)
                    },
                    |known| known.is(outcome),
                )
            }),
            Operation::Batch {
                commands,
                key,
                outcome,
            } => {
                outcome.as_ref().is_some_and(|outcome| {
                    match (self.batches.get(key.as_str()), outcome) {
                        (Some(known), Ok(shown)) => are(known, shown),
                        // One that succeeds is remembered, so it changes something.
                        (None, Err((index, told))) => self
                            .batch(commands, 0)
                            .is_err_and(|(at, response)| at == *index && response.is(told)),
                        _ => false,
                    }
                })
            }
            Operation::Label {
                id,
                version,
                label,
                outcome,
            } => {
                let present = self.categories.get(id);
                let decided = rules::label(present.copied(), *version, label.as_deref());
                let told = decided.err().zip(outcome.as_ref());
                told.is_some_and(|(status, (told, shown))| {
                    let current = present.filter(|_| status == 412);
                    *told == status && is_category(*id, current, shown.as_ref())
                })
            }
            Operation::Categories { page } => is_page(
                page,
                page.len(),
                false,
                self.categories.iter(),
                |(id, entry), shown| is_category(**id, Some(entry), Some(shown)),
            ),
            Operation::StorePets {
                filter,
                limit,
                after,
                page,
                more,
            } => {
                let due = self.pets.range(after + 1..).filter(|(_, entry)| {
                    entry.withdrawn.is_some() == filter.withdrawn
                        && filter.status.is_none_or(|status| status == entry.status)
                        && filter.name.is_none_or(|part| is_found(entry.name, part))
                });
                is_page(page, *limit, *more, due, |(id, entry), pet| {
                    entry.is_shown_by(**id, pet)
                })
            }
            Operation::Orders {
                status,
                pet_id,
                limit,
                after,
                page,
                more,
            } => {
                let due = self.orders.range(after + 1..).filter(|(_, entry)| {
                    status.is_none_or(|status| status == entry.status)
                        && pet_id.is_none_or(|pet_id| pet_id == entry.pet_id)
                });
                is_page(page, *limit, *more, due, |(id, entry), order| {
                    entry.is_shown_by(**id, order)
                })
            }
        }
    }

    /// What the catalogue becomes if `operation` does its work now, if it can. A
    /// create or an order gets the id `added`.
    pub(crate) fn after(
        &self,
        operation: &'h Operation,
        added: Option<i64>,
        order: Order,
    ) -> Option<Self> {
        let (id, entry) = match operation {
            Operation::Store {
                command,
                key,
                outcome,
            } => {
                let key = key.as_deref();
                let places = operation.placed().is_some();
                if key.is_some_and(|key| self.responses.contains_key(key))
                    || places && !is_new(&self.orders, added?, order)
                {
                    return None;
                }
                let (response, effect) = self.decide(command, added.unwrap_or(0));
                let writes = effect != Effect::default() || key.is_some() && response.is_success();
                let is_told = outcome.as_ref().is_none_or(|outcome| response.is(outcome));
                if !(writes && is_told) {
                    return None;
                }
                let mut after = self.clone();
                after.write(effect);
                after.remember(key, response);
                return Some(after);
            }
            Operation::Batch {
                commands,
                key,
                outcome,
            } => {
                let places = operation.placed().is_some();
                if self.batches.contains_key(key.as_str())
                    || places && !is_new(&self.orders, added?, order)
                {
                    return None;
                }
                let (mut after, shows) = self.batch(commands, added.unwrap_or(0)).ok()?;
                let is_told = outcome
                    .as_ref()
                    .is_none_or(|outcome| outcome.as_ref().is_ok_and(|shown| are(&shows, shown)));
                after.batches.insert(key, shows);
                return is_told.then_some(after);
            }
            Operation::Label {
                id,
                version,
                label,
                outcome,
            } => {
                let present = self.categories.get(id).copied();
                let (status, entry) = rules::label(present, *version, label.as_deref()).ok()?;
                let is_told = outcome.as_ref().is_none_or(|(told, shown)| {
                    *told == status && is_category(*id, entry.as_ref(), shown.as_ref())
                });
                let mut after = self.clone();
                after.categories.remove(id);
                after.categories.extend(entry.map(|entry| (*id, entry)));
                return is_told.then_some(after);
            }
            Operation::Create {
                name,
                category_id,
                status,
                response,
            } => {
                let id = added?;
                let entry = Entry {
                    created_as: name,
                    name,
                    category_id: *category_id,
                    status,
                    version: 1,
                    reserved_by: None,
                    sold_by: None,
                    withdrawn: None,
                };
                let is_first = self.pets.values().all(|entry| entry.created_as != name);
                let is_shown = response
                    .as_ref()
                    .is_none_or(|animal| entry.is_shown_by_contract(animal));
                if !(is_new(&self.pets, id, order) && is_first && is_shown) {
                    return None;
                }
                (id, entry)
            }
            _ => return None,
        };
        let mut after = self.clone();
        after.pets.insert(id, entry);
        Some(after)
    }

    /// The response to a command without a known key, and what it writes.
    pub(super) fn decide(&self, command: &'h Command, new_order: i64) -> Decision<'h> {
        let pet = |id| self.pets.get(&id).copied();
        rules::decide(command, pet, |id| self.orders.get(&id).copied(), new_order)
    }

    /// The catalogue after all commands of a batch, and what each shows; or the first refusal.
    fn batch(
        &self,
        commands: &'h [Command],
        new_order: i64,
    ) -> Result<(Self, Vec<Shows<'h>>), (usize, Box<Response<'h>>)> {
        let (mut after, mut shows) = (self.clone(), Vec::new());
        for (index, command) in commands.iter().enumerate() {
            let (response, effect) = after.decide(command, new_order);
            if !response.is_success() {
                let shows = if index == 0 {
                    response.shows
                } else {
                    Shows::Nothing
                };
                return Err((index, Box::new(Response { shows, ..response })));
            }
            after.write(effect);
            shows.push(response.shows);
        }
        Ok((after, shows))
    }

    pub(super) fn write(&mut self, effect: Effect<'h>) {
        self.pets.extend(effect.pet);
        self.orders.extend(effect.order);
    }

    pub(super) fn remembered(&self, key: &str) -> Option<Response<'h>> {
        self.responses.get(key).copied()
    }

    /// Errors are not remembered.
    pub(super) fn remember(&mut self, key: Option<&'h str>, response: Response<'h>) {
        self.responses.extend(
            key.filter(|_| response.is_success())
                .map(|key| (key, response)),
        );
    }

    fn there(&self, id: i64) -> Option<&Entry<'h>> {
        self.pets.get(&id).filter(|entry| entry.withdrawn.is_none())
    }
}

/// Whether the response to a batch shows this.
fn are(shows: &[Shows<'_>], told: &[Shown]) -> bool {
    shows.len() == told.len() && shows.iter().zip(told).all(|(shows, told)| shows.is(told))
}

fn is_category(id: i64, entry: Option<&CategoryEntry<'_>>, shown: Option<&Category>) -> bool {
    let shown = shown.map(|shown| (shown.id, (shown.label.as_str(), shown.version)));
    entry.map(|entry| (id, *entry)) == shown
}

fn is_new<T>(entries: &BTreeMap<i64, T>, id: i64, order: Order) -> bool {
    match order {
        Order::OfIds => entries.last_key_value().is_none_or(|(&last, _)| last < id),
        Order::Any => !entries.contains_key(&id),
    }
}

/// An animal or an order a line.
impl fmt::Display for Catalogue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, entry) in &self.pets {
            let Entry {
                name,
                category_id,
                status,
                version,
                withdrawn,
                ..
            } = entry;
            let withdrawn = withdrawn.map_or(String::new(), |reason| format!(" ({reason})"));
            writeln!(
                f,
                "  {id}: {name}, {category_id}, {status}, version {version}{withdrawn}"
            )?;
        }
        for (
            id,
            OrderEntry {
                pet_id,
                status,
                version,
                ..
            },
        ) in &self.orders
        {
            writeln!(f, "  order {id}: for {pet_id}, {status}, version {version}")?;
        }
        for (id, (label, version)) in &self.categories {
            writeln!(f, "  category {id}: {label}, version {version}")?;
        }
        Ok(())
    }
}

/// Whether a search for `part` finds a name: a word of it and those after it begin so. Words are separated
/// by dots here.
fn is_found(name: &str, part: &str) -> bool {
    let part = part.replace('.', "");
    let words: Vec<&str> = name.split('.').collect();
    (0..words.len()).any(|word| words[word..].concat().starts_with(&part))
}
