//! Whether a history is linearizable: whether each operation can have happened
//! at one moment between its call and its return, with exactly the responses of a
//! sequential catalogue.
//!
//! This is a search for such an order, as those of Wing and Gong and of Lowe. It
//! goes through the calls and returns in the order of time. Work that was called
//! is done in the sequential catalogue only when a return needs it: then every
//! order of the work in progress is tried. A read is taken as soon as the
//! catalogue gives its response, because a read changes nothing for the others.
//! A situation that was met before is not searched again. So the time depends on
//! how much work is in progress at once, and hardly on the length of the history.
//! Work whose outcome is unknown stays in progress until it must have happened, so
//! a history should have few of it.
//!
//! The search leaves out no order: `agreement.rs` compares it with one that tries
//! all of them.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    rc::Rc,
};

use super::{
    catalogue::Catalogue,
    history::{Event, Moment, Operation},
};

/// In which order animals become visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// In that of their ids.
    OfIds,
    /// In any, as over PostgreSQL: an id is drawn a moment before the commit that
    /// makes its animal visible.
    Any,
}

/// How far one order of the operations has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Situation<'h> {
    /// How many of the calls and returns are past.
    past: usize,
    /// The operations that were called and have not happened yet.
    in_progress: Vec<usize>,
    catalogue: Rc<Catalogue<'h>>,
}

impl<'h> Situation<'h> {
    /// Goes on to the return of an operation that has not happened yet. Returns
    /// false if there is none.
    fn goes_on(&mut self, history: &'h [Event], moments: &[(Moment, Edge)]) -> bool {
        let catalogue = Rc::clone(&self.catalogue);
        let happens = |number: &usize| catalogue.explains(&history[*number].operation);
        self.in_progress.retain(|number| !happens(number));
        while let Some((_, edge)) = moments.get(self.past) {
            match edge {
                Edge::Call(number) if happens(number) => {}
                Edge::Call(number) => self.in_progress.push(*number),
                Edge::Return(number) if self.in_progress.contains(number) => return true,
                Edge::Return(_) => {}
            }
            self.past += 1;
        }
        false
    }

    /// The situations after one more operation in progress has done its work.
    fn followed_by(
        &self,
        history: &'h [Event],
        ids: &[Vec<Option<i64>>],
        order: Order,
    ) -> Vec<Self> {
        let works = self.in_progress.iter().enumerate();
        let works = works.flat_map(|(at, &work)| ids[work].iter().map(move |&id| (at, work, id)));
        let after = works.filter_map(|(at, work, id)| {
            let catalogue = Rc::new(self.catalogue.after(&history[work].operation, id, order)?);
            let mut next = Self {
                catalogue,
                ..self.clone()
            };
            next.in_progress.remove(at);
            Some(next)
        });
        after.collect()
    }
}

/// The call or the return of the operation with this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Call(usize),
    Return(usize),
}

/// Checks a history that ends with a walk through everything.
///
/// # Errors
///
/// The response that no order of the operations leads to, for people.
pub(crate) fn check(history: &[Event], order: Order) -> Result<(), String> {
    check_repeated(history)?;
    let mut moments: Vec<(Moment, Edge)> = Vec::new();
    for (number, event) in history.iter().enumerate() {
        moments.push((event.called, Edge::Call(number)));
        if event.returned < Moment::MAX {
            moments.push((event.returned, Edge::Return(number)));
        }
    }
    moments.sort_unstable();
    let ids = possible_ids(history);
    let mut known = HashSet::new();
    let mut furthest = Situation::default();
    let mut left = vec![Situation::default()];
    while let Some(mut situation) = left.pop() {
        if !situation.goes_on(history, &moments) {
            return Ok(());
        }
        if known.contains(&situation) {
            continue;
        }
        if situation.past > furthest.past {
            furthest = situation.clone();
        }
        left.extend(situation.followed_by(history, &ids, order));
        known.insert(situation);
    }
    Err(explanation(history, moments[furthest.past].1, &furthest))
}

/// The ids under which each operation can have added an animal or an order; `None`
/// for one that adds nothing. Without a response, it is the id under which somebody
/// saw the animal; or one that only changes and removals name, if nobody saw it
/// before those. An animal with any other id would be in the last walk.
fn possible_ids(history: &[Event]) -> Vec<Vec<Option<i64>>> {
    let mut seen_as: HashMap<&str, BTreeSet<i64>> = HashMap::new();
    let mut worked_on: BTreeSet<i64> = BTreeSet::new();
    for event in history {
        for (id, name) in event.operation.seen() {
            seen_as.entry(name).or_default().insert(id);
            worked_on.insert(id);
        }
        worked_on.extend(event.operation.changed_pets());
    }
    let names = history.iter().filter_map(|event| match &event.operation {
        Operation::Create { name, .. } => Some(name.as_str()),
        _ => None,
    });
    for id in names.filter_map(|name| seen_as.get(name)).flatten() {
        worked_on.remove(id);
    }
    let orders = possible_order_ids(history);
    let ids = history.iter().map(|event| match &event.operation {
        Operation::Create {
            response: Some(animal),
            ..
        } => vec![Some(animal.id)],
        Operation::Create { name, .. } => {
            let ids = seen_as.get(name.as_str()).unwrap_or(&worked_on);
            ids.iter().copied().map(Some).collect()
        }
        operation => operation.placed().map_or_else(
            || vec![None],
            |(_, note)| {
                orders
                    .get(note)
                    .into_iter()
                    .flatten()
                    .copied()
                    .map(Some)
                    .collect()
            },
        ),
    });
    ids.collect()
}

/// The ids under which somebody saw an order with each note; or those of which
/// nobody saw the note, as the order by which an animal is reserved.
fn possible_order_ids(history: &[Event]) -> HashMap<&str, BTreeSet<i64>> {
    let mut seen_as: HashMap<&str, BTreeSet<i64>> = HashMap::new();
    for order in history.iter().flat_map(|event| event.operation.orders()) {
        seen_as
            .entry(order.note.as_deref().unwrap_or_default())
            .or_default()
            .insert(order.id);
    }
    let known: BTreeSet<i64> = seen_as.values().flatten().copied().collect();
    let pets = || {
        history
            .iter()
            .flat_map(|event| event.operation.store_pets())
    };
    for event in history {
        if let Some((pet_id, note)) = event.operation.placed() {
            let of_pet = pets()
                .filter(|pet| pet.id == pet_id)
                .filter_map(|pet| pet.order_id);
            seen_as
                .entry(note)
                .or_insert_with(|| of_pet.filter(|id| !known.contains(id)).collect());
        }
    }
    seen_as
}

/// Fails if one version of an animal or an order was shown with two contents, or
/// one request got two responses: also the times that the catalogue does not know
/// must be the same.
fn check_repeated(history: &[Event]) -> Result<(), String> {
    let mut first: HashMap<String, String> = HashMap::new();
    for event in history {
        let operation = &event.operation;
        let pets = operation.store_pets().into_iter().map(|pet| {
            (
                format!("version {} of the animal {}", pet.version, pet.id),
                format!("{pet:?}"),
            )
        });
        let orders = operation.orders().into_iter().map(|order| {
            (
                format!("version {} of the order {}", order.version, order.id),
                format!("{order:?}"),
            )
        });
        let response = match operation {
            Operation::Store {
                key: Some(key),
                outcome: Some(outcome),
                ..
            } if outcome.status < 300 => Some((
                format!("the response to the request {key}"),
                format!("{outcome:?}"),
            )),
            Operation::Batch {
                key,
                outcome: Some(Ok(shown)),
                ..
            } => Some((
                format!("the response to the request {key}"),
                format!("{shown:?}"),
            )),
            _ => None,
        };
        for (what, shown) in pets.chain(orders).chain(response) {
            if let Some(before) = first.get(&what).filter(|before| **before != shown) {
                return Err(format!(
                    "{what} was shown as\n  {before}\nand as\n  {shown}"
                ));
            }
            first.insert(what, shown);
        }
    }
    Ok(())
}

fn explanation(history: &[Event], edge: Edge, furthest: &Situation<'_>) -> String {
    let (Edge::Call(number) | Edge::Return(number)) = edge;
    let others = furthest
        .in_progress
        .iter()
        .filter(|&&other| other != number);
    let others: Vec<String> = others
        .map(|&other| format!("\n  {:?}", history[other]))
        .collect();
    format!(
        "no order of the operations leads to this response:\n  {:?}\n\
         One order of those that returned before leads to this catalogue:\n{}\
         while these were in progress:{}",
        history[number],
        furthest.catalogue,
        others.concat()
    )
}
