//! Whether a history is linearizable: whether each operation can have happened
//! at one moment between its call and its return, so that all the answers are
//! those of a sequential catalogue.
//!
//! The search for such moments takes exponential time in general. Here ids
//! ascend and nothing changes or goes away, so every state of the catalogue is
//! "all animals up to some id", and an answer says two things alone: the animal
//! `i` was there already, and the animal `j` was not there yet. What is left is
//! to find a moment for the coming of each animal, in the order of the ids.
//! That takes one pass, and misses nothing: `proofs.rs` compares it with the
//! exhaustive search.

use std::collections::{BTreeMap, HashMap};

use super::history::{Animal, Event, Moment, Operation};

/// When an animal came: after the one, before the other. Each with the event
/// that says so.
struct Coming<'h> {
    after: Option<(Moment, &'h Event)>,
    before: Option<(Moment, &'h Event)>,
}

impl<'h> Coming<'h> {
    /// It was not there yet at the call of `event`.
    fn is_after_call(&mut self, event: &'h Event) {
        if self.after.is_none_or(|(moment, _)| moment < event.called) {
            self.after = Some((event.called, event));
        }
    }

    /// It was there at the return of `event`.
    fn is_before_return(&mut self, event: &'h Event) {
        if self.before.is_none_or(|(moment, _)| moment > event.returned) {
            self.before = Some((event.returned, event));
        }
    }
}

/// In which order animals become visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// In that of their ids.
    OfIds,
    /// In any, as over PostgreSQL: an id is drawn a moment before the commit that
    /// makes its animal visible. Each animal is checked by itself then.
    Any,
}

/// Checks a history that ends with a walk through everything.
///
/// # Errors
///
/// Which answers no sequential catalogue gives, for people.
pub(crate) fn check(history: &[Event], order: Order) -> Result<(), String> {
    let asked = creates(history);
    let known = animals(history, &asked)?;
    let mut comings: BTreeMap<i64, Coming<'_>> =
        known.keys().map(|&id| (id, Coming { after: None, before: None })).collect();
    let id_of: HashMap<&str, i64> =
        known.values().map(|animal| (animal.name.as_str(), animal.id)).collect();
    for event in history {
        let (there, not_yet) = match &event.operation {
            Operation::Create { name, .. } => {
                let id = id_of.get(name.as_str()).copied();
                // It comes after the first request for it, and not again.
                let is_first = asked[name.as_str()].called == event.called;
                (Vec::from_iter(id), Vec::from_iter(id.filter(|_| is_first)))
            }
            Operation::Get { id, found: Some(_) } => (vec![*id], vec![]),
            Operation::Get { id, found: None } => (vec![], vec![*id]),
            Operation::List { .. } if order == Order::Any => parts_of_page(event, &known)?,
            Operation::List { .. } => {
                let (there, not_yet) = bounds_of_page(event, &known)?;
                (Vec::from_iter(there), Vec::from_iter(not_yet))
            }
        };
        for id in there {
            comings.entry(id).and_modify(|coming| coming.is_before_return(event));
        }
        for id in not_yet {
            comings.entry(id).and_modify(|coming| coming.is_after_call(event));
        }
    }
    in_order(&comings, order)
}

/// The first request for each animal, by the animal's name.
fn creates(history: &[Event]) -> HashMap<&str, &Event> {
    let mut first: HashMap<&str, &Event> = HashMap::new();
    for event in history {
        if let Operation::Create { name, .. } = &event.operation {
            let known = first.entry(name).or_insert(event);
            if event.called < known.called {
                *known = event;
            }
        }
    }
    first
}

/// Every animal that anybody saw, by id.
fn animals<'h>(
    history: &'h [Event],
    asked: &HashMap<&str, &Event>,
) -> Result<BTreeMap<i64, &'h Animal>, String> {
    let mut by_id: BTreeMap<i64, &Animal> = BTreeMap::new();
    let mut by_name: HashMap<&str, i64> = HashMap::new();
    for event in history {
        for animal in event.seen() {
            let same = by_id.entry(animal.id).or_insert(animal);
            if *same != animal {
                return Err(format!("one id for two animals: {same:?} and {animal:?}"));
            }
            let id = *by_name.entry(&animal.name).or_insert(animal.id);
            if id != animal.id {
                return Err(format!("one create gave two animals, {id} and {animal:?}"));
            }
            if !asked.get(animal.name.as_str()).is_some_and(|event| event.asks_for(animal)) {
                return Err(format!("nobody asked for {animal:?}"));
            }
        }
        let other = |id: i64| event.seen().iter().any(|animal| animal.id != id);
        let wrong = match &event.operation {
            Operation::Create { name, .. } => event.seen().iter().any(|seen| seen.name != *name),
            Operation::Get { id, .. } => other(*id),
            Operation::List { .. } => false,
        };
        if wrong {
            return Err(format!("another animal than the one asked for: {event:?}"));
        }
    }
    Ok(by_id)
}

/// The last animal that was there when this page was read, and the first that
/// was not there yet.
fn bounds_of_page(
    event: &Event,
    known: &BTreeMap<i64, &Animal>,
) -> Result<(Option<i64>, Option<i64>), String> {
    let Operation::List { status, limit, after, page, more } = &event.operation else {
        return Ok((None, None));
    };
    let mut due = known
        .range(after + 1..)
        .filter(|(_, animal)| status.is_none_or(|status| status == animal.status))
        .map(|(&id, _)| id);
    for animal in page {
        if due.next() != Some(animal.id) {
            return Err(format!("{} is not the next one on the page of {event:?}", animal.id));
        }
    }
    let last = page.last().map(|animal| animal.id);
    let next = due.next();
    match (more, page.len().cmp(limit)) {
        (_, std::cmp::Ordering::Greater) => Err(format!("more than the limit: {event:?}")),
        (true, std::cmp::Ordering::Less) => {
            Err(format!("a next page after a short one: {event:?}"))
        }
        (true, _) if next.is_none() => Err(format!("a next page, and no animal for it: {event:?}")),
        (true, _) => Ok((next, None)),
        (false, _) => Ok((last, next)),
    }
}

/// All animals that were there when this page was read, and all that were not
/// there yet, if they may come in any order.
fn parts_of_page(
    event: &Event,
    known: &BTreeMap<i64, &Animal>,
) -> Result<(Vec<i64>, Vec<i64>), String> {
    let Operation::List { status, limit, after, page, more } = &event.operation else {
        return Ok((vec![], vec![]));
    };
    let there: Vec<i64> = page.iter().map(|animal| animal.id).collect();
    let due = known
        .range(after + 1..)
        .filter(|(_, animal)| status.is_none_or(|status| status == animal.status));
    let (shown, others): (Vec<i64>, Vec<i64>) =
        due.map(|(&id, _)| id).partition(|id| there.contains(id));
    if shown != there {
        return Err(format!("the page is out of order, or not the one asked for: {event:?}"));
    }
    let last = there.last().copied().unwrap_or(*after);
    let is_followed = others.last().is_some_and(|&id| id > last);
    if there.len() > *limit || (*more && (there.len() < *limit || !is_followed)) {
        return Err(format!("more than the limit, or a wrong link to the next page: {event:?}"));
    }
    let not_yet = others.into_iter().filter(|&id| !more || id < last).collect();
    Ok((there, not_yet))
}

/// Fails unless every animal can have come after all with lower ids, if that is
/// the order; after all that say that it was not there yet, in any case.
fn in_order(comings: &BTreeMap<i64, Coming<'_>>, order: Order) -> Result<(), String> {
    let mut after: Option<(i64, Moment, &Event)> = None;
    for (&id, coming) in comings {
        after = after.filter(|_| order == Order::OfIds);
        if let Some((moment, event)) = coming.after
            && after.is_none_or(|(_, latest, _)| latest < moment)
        {
            after = Some((id, moment, event));
        }
        if let (Some((lower, latest, not_yet)), Some((moment, there))) = (after, coming.before)
            && latest >= moment
        {
            return Err(format!(
                "{id} was there when this returned:\n  {there:?}\n\
                 and {lower} not yet when this was called later:\n  {not_yet:?}"
            ));
        }
    }
    Ok(())
}
