//! The rules of the store area in the sequential catalogue. They are written down
//! here a second time, and share nothing with those of the service.

use super::store_area::{Command, Order, Outcome, Shown, StorePet, values};

/// An animal, which may be withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Entry<'h> {
    /// The name in the create that added it.
    pub(super) created_as: &'h str,
    pub(super) name: &'h str,
    pub(super) category_id: i64,
    pub(super) status: &'h str,
    pub(super) version: i64,
    /// The order by which it is reserved.
    pub(super) reserved_by: Option<i64>,
    /// The order by which it is sold, until its status is changed by hand.
    pub(super) sold_by: Option<i64>,
    /// Why it was withdrawn.
    pub(super) withdrawn: Option<&'h str>,
}

/// An order. Its reason is never set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct OrderEntry<'h> {
    pub(super) pet_id: i64,
    pub(super) status: &'h str,
    pub(super) note: &'h str,
    pub(super) reference: Option<&'h str>,
    pub(super) until: Option<&'h str>,
    pub(super) version: i64,
}

/// A response, without the times that the service chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Response<'h> {
    pub(super) status: u16,
    pub(super) code: &'static str,
    pub(super) shows: Shows<'h>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Shows<'h> {
    Nothing,
    Pet(i64, Entry<'h>),
    Order(i64, OrderEntry<'h>),
}

/// What a command writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Effect<'h> {
    pub(super) pet: Option<(i64, Entry<'h>)>,
    pub(super) order: Option<(i64, OrderEntry<'h>)>,
}

pub(super) type Decision<'h> = (Response<'h>, Effect<'h>);

impl Entry<'_> {
    pub(super) fn is_shown_by(&self, id: i64, pet: &StorePet) -> bool {
        let withdrawn = pet.withdrawn.as_ref();
        (
            pet.id,
            pet.name.as_str(),
            pet.category_id,
            pet.status.as_str(),
            pet.version,
        ) == (id, self.name, self.category_id, self.status, self.version)
            && pet.order_id == self.reserved_by
            && pet.fields == values(self.created_as, self.name)
            && withdrawn.map(|withdrawn| withdrawn.reason.as_str()) == self.withdrawn
    }
}

impl OrderEntry<'_> {
    pub(super) fn is_shown_by(&self, id: i64, order: &Order) -> bool {
        (order.id, order.pet_id, order.status.as_str(), order.version)
            == (id, self.pet_id, self.status, self.version)
            && order.note.as_deref() == Some(self.note)
            && order.reference.as_deref() == self.reference
            && order.expires_at.as_deref() == self.until
            && order.closed_at.is_some() == (self.status != "reserved")
    }
}

impl Response<'_> {
    pub(super) fn is_success(&self) -> bool {
        self.status < 300
    }

    pub(super) fn is(&self, outcome: &Outcome) -> bool {
        (self.status, self.code) == (outcome.status, outcome.code.as_str())
            && self.shows.is(&outcome.shown)
    }
}

impl Shows<'_> {
    pub(super) fn is(&self, shown: &Shown) -> bool {
        match (self, shown) {
            (Shows::Nothing, Shown::Nothing) => true,
            (Shows::Pet(id, entry), Shown::Pet(pet)) => entry.is_shown_by(*id, pet),
            (Shows::Order(id, entry), Shown::Order(order)) => entry.is_shown_by(*id, order),
            _ => false,
        }
    }
}

/// A category: its label and its version.
pub(super) type CategoryEntry<'h> = (&'h str, i64);

/// The status of the response to a request for a category, and what becomes of the category; or the
/// status of a refusal. `version` and `label` are those of [`super::history::Operation::Label`].
pub(super) fn label<'h>(
    present: Option<CategoryEntry<'h>>,
    version: i64,
    label: Option<&'h str>,
) -> Result<(u16, Option<CategoryEntry<'h>>), u16> {
    match (present, label) {
        (None, None) => Err(404),
        (None, Some(label)) if version == 0 => Ok((201, Some((label, 1)))),
        (Some((_, present)), Some(label)) if present == version => {
            Ok((200, Some((label, version + 1))))
        }
        (Some((_, present)), None) if present == version => Ok((204, None)),
        _ => Err(412),
    }
}

fn response<'h>(status: u16, code: &'static str, shows: Shows<'h>) -> Decision<'h> {
    (
        Response {
            status,
            code,
            shows,
        },
        Effect::default(),
    )
}

/// What an animal becomes, unless its state does not allow that.
fn of_pet<'h>(
    id: i64,
    pet: Option<&Entry<'h>>,
    version: Option<i64>,
    change: impl FnOnce(Entry<'h>) -> Result<Entry<'h>, &'static str>,
) -> Decision<'h> {
    let Some(&pet) = pet else {
        return response(404, "not_found", Shows::Nothing);
    };
    if version.is_some_and(|version| version != pet.version) {
        return response(412, "precondition_failed", Shows::Pet(id, pet));
    }
    match change(pet) {
        Err(code) => response(409, code, Shows::Pet(id, pet)),
        Ok(after) if after == pet => response(200, "", Shows::Pet(id, pet)),
        Ok(after) => {
            let after = Entry {
                version: pet.version + 1,
                ..after
            };
            let (response, _) = response(200, "", Shows::Pet(id, after));
            (
                response,
                Effect {
                    pet: Some((id, after)),
                    order: None,
                },
            )
        }
    }
}

type Pair<'h> = (OrderEntry<'h>, Entry<'h>);

/// What an order and its animal become, unless their state does not allow that.
fn of_order<'h>(
    id: i64,
    found: Option<Pair<'h>>,
    version: Option<i64>,
    change: impl FnOnce(OrderEntry<'h>, Entry<'h>) -> Option<Pair<'h>>,
) -> Decision<'h> {
    let Some((order, pet)) = found else {
        return response(404, "not_found", Shows::Nothing);
    };
    if version.is_some_and(|version| version != order.version) {
        return response(412, "precondition_failed", Shows::Order(id, order));
    }
    match change(order, pet) {
        None => response(409, "invalid_transition", Shows::Order(id, order)),
        Some((after, _)) if after == order => response(200, "", Shows::Order(id, order)),
        Some((order_after, pet_after)) => {
            let order = OrderEntry {
                version: order.version + 1,
                ..order_after
            };
            let is_changed = pet_after != pet;
            let pet = Entry {
                version: pet.version + 1,
                ..pet_after
            };
            let (response, _) = response(200, "", Shows::Order(id, order));
            let pet = is_changed.then_some((order.pet_id, pet));
            (
                response,
                Effect {
                    pet,
                    order: Some((id, order)),
                },
            )
        }
    }
}

/// The reservation is over, and the animal available.
fn ended<'h>(status: &'h str, (order, pet): Pair<'h>) -> Option<Pair<'h>> {
    let pet = Entry {
        status: "available",
        reserved_by: None,
        ..pet
    };
    (order.status == "reserved").then_some((OrderEntry { status, ..order }, pet))
}

/// The response to `command`, and what it writes. `pet` and `order` look for what
/// has an id. An order that is placed gets the id `new`.
#[expect(clippy::too_many_lines, reason = "one arm for each command")]
pub(super) fn decide<'h>(
    command: &'h Command,
    pet: impl Fn(i64) -> Option<Entry<'h>>,
    order: impl Fn(i64) -> Option<OrderEntry<'h>>,
    new: i64,
) -> Decision<'h> {
    let pair = |id: i64| order(id).and_then(|order| Some((order, pet(order.pet_id)?)));
    match command {
        Command::ReadPet { id } => of_pet(*id, pet(*id).as_ref(), None, Ok),
        Command::ReadOrder { id } => {
            of_order(*id, pair(*id), None, |order, pet| Some((order, pet)))
        }
        Command::PatchPet { id, version, patch } => {
            of_pet(*id, pet(*id).as_ref(), *version, |pet| {
                let after = Entry {
                    name: patch.name.as_deref().unwrap_or(pet.name),
                    category_id: patch.category_id.unwrap_or(pet.category_id),
                    status: patch.status.unwrap_or(pet.status),
                    ..pet
                };
                match (pet.withdrawn, after.status == pet.status, pet.reserved_by) {
                    (Some(_), _, _) => Err("invalid_transition"),
                    (None, true, _) => Ok(after),
                    (None, false, Some(_)) => Err("open_order"),
                    (None, false, None) => Ok(Entry {
                        sold_by: None,
                        ..after
                    }),
                }
            })
        }
        Command::Withdraw {
            id,
            version,
            reason,
        } => of_pet(*id, pet(*id).as_ref(), *version, |pet| {
            match (pet.withdrawn, pet.reserved_by) {
                (Some(_), _) => Err("invalid_transition"),
                (None, Some(_)) => Err("open_order"),
                (None, None) => Ok(Entry {
                    withdrawn: Some(reason),
                    ..pet
                }),
            }
        }),
        Command::Restore { id, version } => of_pet(*id, pet(*id).as_ref(), *version, |pet| {
            pet.withdrawn.ok_or("invalid_transition")?;
            Ok(Entry {
                withdrawn: None,
                ..pet
            })
        }),
        Command::Place {
            pet_id,
            note,
            until,
        } => place(*pet_id, pet(*pet_id), note, until.as_deref(), new),
        Command::PatchOrder {
            id,
            version,
            reference,
            until,
        } => of_order(*id, pair(*id), *version, |order, pet| {
            let after = OrderEntry {
                reference: reference.as_deref().or(order.reference),
                until: until.as_deref().or(order.until),
                ..order
            };
            (order.status == "reserved" || after.until == order.until).then_some((after, pet))
        }),
        Command::Complete { id, version } => of_order(*id, pair(*id), *version, |order, pet| {
            let sold = Entry {
                status: "sold",
                reserved_by: None,
                sold_by: Some(*id),
                ..pet
            };
            match order.status {
                "completed" => Some((order, pet)),
                "reserved" => Some((
                    OrderEntry {
                        status: "completed",
                        ..order
                    },
                    sold,
                )),
                _ => None,
            }
        }),
        Command::Cancel { id, version } => {
            of_order(*id, pair(*id), *version, |order, pet| match order.status {
                "cancelled" => Some((order, pet)),
                _ => ended("cancelled", (order, pet)),
            })
        }
        Command::Return { id, version } => of_order(*id, pair(*id), *version, |order, pet| {
            let holds = pet.sold_by == Some(*id) && pet.withdrawn.is_none();
            let back = Entry {
                status: "available",
                sold_by: None,
                ..pet
            };
            match order.status {
                "returned" => Some((order, pet)),
                "completed" if holds => Some((
                    OrderEntry {
                        status: "returned",
                        ..order
                    },
                    back,
                )),
                _ => None,
            }
        }),
        Command::Reopen { id, version, until } => {
            of_order(*id, pair(*id), *version, |order, pet| {
                let is_free = match order.status {
                    "reserved" => false,
                    "completed" => pet.sold_by == Some(*id),
                    _ => pet.status == "available",
                };
                let order = OrderEntry {
                    status: "reserved",
                    until: Some(until),
                    ..order
                };
                let pet = Entry {
                    status: "pending",
                    reserved_by: Some(*id),
                    sold_by: None,
                    ..pet
                };
                (is_free && pet.withdrawn.is_none()).then_some((order, pet))
            })
        }
        Command::Revert {
            id,
            version,
            before,
            ..
        } => match pet(*id) {
            Some(moved_on) if moved_on.version != *version => {
                response(409, "invalid_transition", Shows::Pet(*id, moved_on))
            }
            present => of_pet(*id, present.as_ref(), None, |pet| {
                Ok(Entry {
                    name: &before.name,
                    category_id: before.category_id,
                    status: &before.status,
                    sold_by: pet.sold_by.filter(|_| before.status == pet.status),
                    withdrawn: before.withdrawn.as_deref(),
                    ..pet
                })
            }),
        },
        Command::Expire { id, at } => {
            let is_due =
                |order: OrderEntry<'_>| order.until.is_some_and(|until| until <= at.as_str());
            let (_, effect) = of_order(*id, pair(*id), None, |order, pet| {
                ended("expired", (order, pet)).filter(|_| is_due(order))
            });
            let status = if effect.order.is_some() { 200 } else { 409 };
            (
                Response {
                    status,
                    code: "",
                    shows: Shows::Nothing,
                },
                effect,
            )
        }
    }
}

fn place<'h>(
    pet_id: i64,
    pet: Option<Entry<'h>>,
    note: &'h str,
    until: Option<&'h str>,
    id: i64,
) -> Decision<'h> {
    let Some(pet) = pet else {
        return response(404, "not_found", Shows::Nothing);
    };
    let is_free = match until {
        Some(_) => pet.status == "available",
        None => pet.status != "sold" && pet.reserved_by.is_none(),
    };
    if !is_free || pet.withdrawn.is_some() {
        return response(409, "invalid_transition", Shows::Pet(pet_id, pet));
    }
    let (status, after) = match until {
        Some(_) => (
            "reserved",
            Entry {
                status: "pending",
                reserved_by: Some(id),
                ..pet
            },
        ),
        None => (
            "completed",
            Entry {
                status: "sold",
                sold_by: Some(id),
                ..pet
            },
        ),
    };
    let order = OrderEntry {
        pet_id,
        status,
        note,
        reference: None,
        until,
        version: 1,
    };
    let pet = Some((
        pet_id,
        Entry {
            version: pet.version + 1,
            ..after
        },
    ));
    let (response, _) = response(201, "", Shows::Order(id, order));
    (
        response,
        Effect {
            pet,
            order: Some((id, order)),
        },
    )
}
