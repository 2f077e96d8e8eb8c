//! A store area in memory, and clients of it, in turns that are drawn from a seed:
//! histories without a service, and with any fault that a service can have.

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::{
    catalogue::Catalogue,
    checker::Order,
    history::{Animal, Event, Moment, Operation, Patch},
    rules::{Decision, Effect, Entry, OrderEntry, Response, Shows},
    simulated_faults::Fault,
    store_area::{self, Command, Outcome, Shown, StorePet},
};

const STATUSES: [&str; 3] = ["available", "pending", "sold"];
const PETS: i64 = 3;
const CLIENTS: usize = 5;
const TURNS: usize = 200;

/// What the catalogue borrows, a simulation makes as it goes.
fn kept<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A request on its way.
struct Request {
    /// Whom it belongs to; `None` if the client has left.
    client: Option<usize>,
    called: Moment,
    command: &'static Command,
    key: Option<&'static String>,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Stage {
    Called,
    Decided(Decision<'static>),
    /// Half of it is written.
    Half(Decision<'static>),
    Done(Response<'static>),
}

struct Simulation {
    random: StdRng,
    fault: Option<Fault>,
    catalogue: Catalogue<'static>,
    requests: Vec<Request>,
    /// Requests with a key whose clients have left.
    left: Vec<(&'static Command, &'static String)>,
    now: Moment,
    last_order: i64,
    changes: usize,
    /// What is made late, or again.
    late: Effect<'static>,
    history: Vec<Event>,
}

/// A history with this fault, or with none.
pub(super) fn history(seed: u64, fault: Option<Fault>) -> Vec<Event> {
    let mut simulation = Simulation {
        random: StdRng::seed_from_u64(seed),
        fault,
        catalogue: Catalogue::default(),
        requests: Vec::new(),
        left: Vec::new(),
        now: 0,
        last_order: 0,
        changes: 0,
        late: Effect::default(),
        history: Vec::new(),
    };
    (1..=PETS).for_each(|id| simulation.create(id));
    for _ in 0..TURNS {
        simulation.turn();
    }
    while let Some(at) = simulation
        .requests
        .iter()
        .position(|request| request.client.is_some())
    {
        simulation.advance(at);
    }
    simulation.read_all();
    simulation.history
}

impl Simulation {
    fn moment(&mut self) -> Moment {
        self.now += 1;
        self.now
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.random.random_range(0..count) == 0
    }

    fn clock(&self) -> String {
        format!("{:09}", self.now)
    }

    fn record(&mut self, called: Moment, operation: Operation) {
        let returned = self.moment();
        self.history.push(Event {
            called,
            returned,
            operation,
        });
    }

    fn create(&mut self, id: i64) {
        let called = self.moment();
        let name = format!("created {id}");
        let status = STATUSES[0];
        let animal = Animal {
            id,
            name: name.clone(),
            category_id: id,
            status: status.to_owned(),
        };
        let create = Operation::Create {
            name,
            category_id: id,
            status,
            response: Some(animal),
        };
        self.catalogue = self
            .catalogue
            .after(kept(create.clone()), Some(id), Order::OfIds)
            .unwrap();
        self.record(called, create);
    }

    fn turn(&mut self) {
        let is_busy = |client: usize| self.requests.iter().any(|one| one.client == Some(client));
        let client = self.random.random_range(0..CLIENTS);
        if !is_busy(client) {
            return self.call(client);
        }
        let at = self.random.random_range(0..self.requests.len());
        self.advance(at);
    }

    fn call(&mut self, client: usize) {
        let repeated = self.left.choose(&mut self.random).copied();
        let (command, key) = if let Some((command, key)) = repeated.filter(|_| self.one_in(3)) {
            (command, Some(key))
        } else {
            let command = kept(self.any_command());
            let needs_key = matches!(command, Command::Place { .. });
            let has_key = needs_key || command.is_write() && self.one_in(3);
            (command, has_key.then(|| kept(format!("key {}", self.now))))
        };
        let called = self.moment();
        let leaves = command.is_write() && self.one_in(6);
        if leaves {
            let store = Operation::Store {
                command: command.clone(),
                key: key.cloned(),
                outcome: None,
            };
            self.history.push(Event {
                called,
                returned: Moment::MAX,
                operation: store,
            });
            self.left.extend(key.map(|key| (command, key)));
        }
        let client = (!leaves).then_some(client);
        self.requests.push(Request {
            client,
            called,
            command,
            key,
            stage: Stage::Called,
        });
    }

    fn any_command(&mut self) -> Command {
        let id = self.random.random_range(1..=PETS);
        let order = self
            .random
            .random_range((self.last_order - 3).max(1)..=self.last_order + 1);
        let is_stale = i64::from(self.random.random_bool(0.2));
        let [version, order_version] = [Command::ReadPet { id }, Command::ReadOrder { id: order }]
            .map(|read| match self.catalogue.decide(&read, 0).0.shows {
                Shows::Pet(_, Entry { version, .. })
                | Shows::Order(_, OrderEntry { version, .. }) => version - is_stale,
                Shows::Nothing => 1,
            });
        let mut until = |turns| format!("{:09}", self.now + self.random.random_range(turns));
        let [soon, later, at] = [until(5..60), until(5..60), until(0..60)];
        let status = *STATUSES.choose(&mut self.random).unwrap();
        let seen = self.random.random_bool(0.3).then_some(order_version);
        match self.random.random_range(0..18) {
            0..2 => Command::ReadPet { id },
            2 => Command::ReadOrder { id: order },
            3..5 => {
                let has_name = self.random.random_bool(0.5);
                let name = has_name.then(|| format!("changed {}", self.now));
                let patch = Patch {
                    name,
                    category_id: None,
                    status: Some(status),
                };
                Command::PatchPet {
                    id,
                    version: Some(version),
                    patch,
                }
            }
            5 => Command::Withdraw {
                id,
                version: Some(version),
                reason: "other",
            },
            6 => Command::Restore {
                id,
                version: Some(version),
            },
            7..10 => {
                let note = format!("order {}", self.now);
                let until = self.random.random_bool(0.7).then_some(soon);
                Command::Place {
                    pet_id: id,
                    note,
                    until,
                }
            }
            10 => {
                let reference = Some(format!("reference {}", self.now));
                let until = self.random.random_bool(0.5).then_some(later);
                Command::PatchOrder {
                    id: order,
                    version: Some(order_version),
                    reference,
                    until,
                }
            }
            11 | 12 => Command::Complete {
                id: order,
                version: seen,
            },
            13 => Command::Cancel {
                id: order,
                version: seen,
            },
            14 => Command::Return {
                id: order,
                version: seen,
            },
            15 => Command::Reopen {
                id: order,
                version: seen,
                until: later,
            },
            _ => Command::Expire { id: order, at },
        }
    }

    fn advance(&mut self, at: usize) {
        let Request {
            called,
            command,
            key,
            stage,
            client,
        } = self.requests[at];
        let decides_before = self
            .fault
            .is_some_and(|fault| fault.decides_before(command));
        self.requests[at].stage = match stage {
            Stage::Called if decides_before && !self.is_known(key) => {
                Stage::Decided(self.decide(command))
            }
            Stage::Called => self.act(command, key),
            Stage::Decided(_) if self.is_known(key) => self.act(command, key),
            Stage::Decided((response, effect)) => {
                let effect = self.now_with(effect);
                let shows = match (response.shows, effect) {
                    (
                        Shows::Pet(..),
                        Effect {
                            pet: Some((id, pet)),
                            ..
                        },
                    ) => Shows::Pet(id, pet),
                    (
                        Shows::Order(..),
                        Effect {
                            order: Some((id, order)),
                            ..
                        },
                    ) => Shows::Order(id, order),
                    (shows, _) => shows,
                };
                let response = Response { shows, ..response };
                self.write(effect);
                self.catalogue.remember(key.map(String::as_str), response);
                Stage::Done(response)
            }
            Stage::Half((response, effect)) => {
                let pet = self.now_with(effect).pet;
                self.catalogue.write(Effect { pet, order: None });
                Stage::Done(response)
            }
            Stage::Done(response) => {
                self.requests.swap_remove(at);
                if client.is_some() {
                    let outcome = Some(outcome(&response));
                    let (command, key) = (command.clone(), key.cloned());
                    self.record(
                        called,
                        Operation::Store {
                            command,
                            key,
                            outcome,
                        },
                    );
                }
                return;
            }
        };
    }

    fn is_known(&self, key: Option<&'static String>) -> bool {
        self.fault != Some(Fault::NotRemembered)
            && key.is_some_and(|key| self.catalogue.remembered(key).is_some())
    }

    /// Decides about a command and writes that, in one transaction.
    fn act(&mut self, command: &'static Command, key: Option<&'static String>) -> Stage {
        if self.is_known(key) {
            let known = key.and_then(|key| self.catalogue.remembered(key)).unwrap();
            let shows = match (self.fault, known.shows) {
                (Some(Fault::ReplayFromRow), Shows::Order(id, _)) => self.read_order(id),
                (Some(Fault::ReplayFromRow), Shows::Pet(id, _)) => {
                    self.decide(kept(Command::ReadPet { id })).0.shows
                }
                (_, shows) => shows,
            };
            return Stage::Done(Response { shows, ..known });
        }
        let (mut response, mut effect) = self.decide(command);
        let original = effect;
        match (self.fault, command, &mut effect.pet, &mut response.shows) {
            (
                Some(Fault::ReturnedNevertheless),
                Command::PatchPet { id, .. },
                Some((_, pet)),
                _,
            ) => {
                pet.sold_by = self.read_pet(*id).and_then(|pet| pet.sold_by);
            }
            (Some(Fault::RestoredOtherwise), Command::Restore { .. }, Some((_, pet)), _) => {
                pet.status = STATUSES[2];
            }
            (
                Some(Fault::SweeperTrustsTheClock),
                Command::ReadOrder { .. },
                _,
                Shows::Order(_, order),
            ) if order.status == "reserved" && order.until <= Some(self.clock().as_str()) => {
                order.status = "expired";
            }
            _ => {}
        }
        let is_change = effect != Effect::default();
        self.changes += usize::from(is_change);
        match self.fault {
            Some(Fault::ChangeLost) if self.changes.is_multiple_of(3) => effect = Effect::default(),
            Some(Fault::MadeLate) if is_change => {
                effect = std::mem::replace(&mut self.late, effect);
            }
            Some(Fault::TwoTransactions) if effect.order.is_some() => effect.pet = None,
            _ => {}
        }
        self.write(effect);
        if self.fault == Some(Fault::MadeTwice) && is_change {
            let again = std::mem::replace(&mut self.late, effect);
            self.write(again);
        }
        self.catalogue.remember(key.map(String::as_str), response);
        match self.fault {
            Some(Fault::TwoTransactions) if original != effect => Stage::Half((response, original)),
            _ => Stage::Done(response),
        }
    }

    fn decide(&self, command: &'static Command) -> Decision<'static> {
        self.catalogue.decide(command, self.last_order + 1)
    }

    fn read_order(&self, id: i64) -> Shows<'static> {
        self.decide(kept(Command::ReadOrder { id })).0.shows
    }

    fn read_pet(&self, id: i64) -> Option<Entry<'static>> {
        match self.decide(kept(Command::ReadPet { id })).0.shows {
            Shows::Pet(_, pet) => Some(pet),
            _ => None,
        }
    }

    /// What was decided before, as it is written now.
    fn now_with(&self, effect: Effect<'static>) -> Effect<'static> {
        let Effect { mut pet, mut order } = effect;
        if let Some((id, order)) = &mut order {
            match self.read_order(*id) {
                Shows::Order(_, present) if order.version == 1 && present.note != order.note => {
                    *id = self.last_order + 1;
                }
                Shows::Order(_, present) if order.version > 1 => {
                    order.version = present.version + 1;
                }
                _ => {}
            }
        }
        if let Some((id, pet)) = &mut pet {
            pet.version = self.read_pet(*id).map_or(1, |present| present.version + 1);
            if let Some((id, OrderEntry { version: 1, .. })) = order {
                pet.reserved_by = pet.reserved_by.map(|_| id);
                pet.sold_by = pet.sold_by.map(|_| id);
            }
        }
        Effect { pet, order }
    }

    fn write(&mut self, effect: Effect<'static>) {
        let effect = self.now_with(effect);
        self.last_order = self.last_order.max(effect.order.map_or(0, |(id, _)| id));
        self.catalogue.write(effect);
    }

    /// Reads everything, one after the other.
    fn read_all(&mut self) {
        let pets = (1..=PETS).map(|id| Command::ReadPet { id });
        let orders = (1..=self.last_order).map(|id| Command::ReadOrder { id });
        for command in pets.chain(orders) {
            let called = self.moment();
            let (response, _) = self.decide(kept(command.clone()));
            let outcome = Some(outcome(&response));
            self.record(
                called,
                Operation::Store {
                    command,
                    key: None,
                    outcome,
                },
            );
        }
    }
}

/// A response with times.
fn outcome(response: &Response<'_>) -> Outcome {
    let shown = match response.shows {
        Shows::Nothing => Shown::Nothing,
        Shows::Pet(id, pet) => Shown::Pet(Box::new(StorePet {
            id,
            name: pet.name.to_owned(),
            category_id: pet.category_id,
            status: pet.status.to_owned(),
            version: pet.version,
            created_at: None,
            updated_at: Some(format!("version {}", pet.version)),
            order_id: pet.reserved_by,
            withdrawn: pet.withdrawn.map(|reason| store_area::Withdrawal {
                at: String::new(),
                reason: reason.to_owned(),
                note: None,
            }),
            fields: store_area::values(pet.created_as, pet.name),
            photos: Vec::new(),
            listed: true,
        })),
        Shows::Order(id, order) => Shown::Order(Box::new(store_area::Order {
            id,
            pet_id: order.pet_id,
            status: order.status.to_owned(),
            reference: order.reference.map(str::to_owned),
            note: Some(order.note.to_owned()),
            reason: None,
            expires_at: order.until.map(str::to_owned),
            created_at: String::new(),
            closed_at: (order.status != "reserved").then(|| order.status.to_owned()),
            version: order.version,
            price: None,
            contact: None,
        })),
    };
    Outcome {
        status: response.status,
        code: response.code.to_owned(),
        shown,
    }
}
