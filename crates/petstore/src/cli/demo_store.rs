//! The store that `petstore demo` shows. The operations of the service write its content, at times
//! in the past.

mod content;

use std::{cmp::Reverse, net::SocketAddr, sync::atomic::Ordering::Relaxed};

use anyhow::{Context, bail};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::{Timestamp, ToSpan};
use petstore_app::{App, change_profile};
use petstore_domain::{
    Actor, ApiKey, Clock, Deployment, NamedActor, NewPet, PetId, PetName, PetStatus, Role, Scope,
    StaffId, StaffName, StoredResponse, SystemClock, WriteContext,
    staff::{Password, PasswordHash, StaffChange, StaffMember, Token},
    store_area::{
        ActType, Command, Contact, FieldValue, FirstStep, Label, Language, NewOrder, NewPhoto,
        OrderTerms, Preconditions, Profile, ProfileChange, ProfilePatch, RequestedValue,
        StoreTimeZone,
    },
};
use petstore_photos::Format;
use petstore_store::{ExecutionOutcome, StaffWriteOutcome};
use rand::{RngExt, distr::Alphanumeric};

use self::content::{AnimalFacts, AnimalTexts, LOGO, Texts, read_animal_facts};
use super::{keys, output, pages::Urls, runtime};

/// The age of the store in days. It is higher than the number of days since the first animal
/// arrived.
const STORE_AGE_DAYS: i64 = 340;

/// The number of pictures that are processed at once. The service decodes two at once, so no
/// picture waits in its queue until it times out.
const CONCURRENT_PICTURES: usize = 2;

/// The number of characters of the password, which is far more than anybody can guess.
const PASSWORD_LENGTH: usize = 16;

/// The store of a demo, before it is filled.
#[derive(Debug)]
pub(super) struct DemoStore {
    pub(super) language: Language,
    /// The token of the link that signs in to the console at once.
    pub(super) link: Token,
}

/// The secrets that the user of a demo needs, and the name of the manager.
struct Credentials<'a> {
    manager: &'a str,
    password: &'a str,
    key: &'a ApiKey,
}

/// The members of the staff who may sell animals. A viewer may not.
struct Sellers {
    manager: NamedActor,
    clerk: NamedActor,
}

/// A store that is being filled.
struct Filling<'a> {
    app: &'a App,
    now: Timestamp,
    /// The time zone that determines the days of the store.
    zone: StoreTimeZone,
    profile: ProfilePatch,
    texts: Texts,
    facts: Vec<AnimalFacts>,
}

/// The commands that one member of the staff has given at one time.
struct Event {
    days_ago: i64,
    commands: Vec<Command>,
}

impl DemoStore {
    /// Fills the store, and prints its addresses.
    pub(super) async fn fill(
        self,
        app: &App,
        address: SocketAddr,
        urls: &Urls,
    ) -> anyhow::Result<()> {
        let texts = Texts::read(self.language)?;
        let profile = texts.read_profile()?;
        let present_profile = Profile::default().with_patch(&profile);
        let filling = Filling {
            app,
            now: SystemClock.now(),
            zone: present_profile.time_zone.unwrap_or_default(),
            profile,
            texts,
            facts: read_animal_facts()?,
        };
        let password = generate_password();
        let sellers = filling.add_staff(&password).await?;
        filling.set_profile(&sellers.manager).await?;
        filling.add_animals(&sellers).await?;
        // The console does not show the list of first steps in a store that is complete.
        app.store.note_step(FirstStep::All).await?;
        // The store is temporary, so the console must not warn that it has no backup.
        app.backups.is_possible.store(false, Relaxed);

        let scope = Scope::StoreAdmin;
        let key = keys::create_first_key(&*app.store, Deployment::Production, scope).await?;
        let credentials = Credentials {
            manager: &filling.texts.staff.manager,
            password: &password,
            key: &key,
        };
        self.print_addresses(address, urls, &credentials)
    }

    /// Prints the addresses of the store, and how to sign in.
    fn print_addresses(
        &self,
        address: SocketAddr,
        urls: &Urls,
        credentials: &Credentials<'_>,
    ) -> anyhow::Result<()> {
        // A demo always serves both pages, so neither URL is missing.
        let window = urls.window.as_deref().unwrap_or_default();
        let console = urls.console.as_deref().unwrap_or_default();
        let link = self.link.reveal();
        let manager = credentials.manager;
        let password = credentials.password;
        let key = credentials.key.reveal();
        output::print(&format!(
            "The window:     {window}/\n\
             The console:    {console}/link/{link} (as {manager}, the manager; password: {password})\n\
             The interface:  http://{address}/v1 (key: {key}; try it at http://{address}/docs/store)\n\
             To stop:        press Ctrl-C, and then the store is gone\n"
        ))
    }
}

impl Filling<'_> {
    /// Returns the time that is this number of days before now.
    fn days_ago(&self, days: i64) -> anyhow::Result<Timestamp> {
        Ok(self.now.checked_sub((days * 24).hours())?)
    }

    /// Adds a manager, a clerk and a viewer, who share one password.
    async fn add_staff(&self, password: &str) -> anyhow::Result<Sellers> {
        let password = Password::from_input(password).context("a password")?;
        let hash = password.hash(&mut runtime::random());
        let names = &self.texts.staff;
        let manager = self
            .add_member(&names.manager, Role::Manager, &hash)
            .await?;
        let clerk = self.add_member(&names.clerk, Role::Clerk, &hash).await?;
        self.add_member(&names.viewer, Role::Viewer, &hash).await?;
        Ok(Sellers { manager, clerk })
    }

    /// Adds a staff member, with a password.
    async fn add_member(
        &self,
        name: &str,
        role: Role,
        password_hash: &PasswordHash,
    ) -> anyhow::Result<NamedActor> {
        let opened_at = self.days_ago(STORE_AGE_DAYS)?;
        let member_name = StaffName::new(name).context("the name of a member")?;
        let token = Token::generate(&mut runtime::random());
        let new_member = StaffMember::new(member_name, role, &token, opened_at);
        let addition = StaffChange::adding(new_member.clone());
        let id = self.write_staff(addition, opened_at).await?;

        let version = new_member.version;
        let member = StaffMember { id, ..new_member }.with_password(password_hash.clone());
        let password_set = StaffChange::new(version, member, ActType::StaffPasswordSet);
        self.write_staff(password_set, opened_at).await?;
        Ok(NamedActor {
            actor: Actor::Staff(id),
            name: Some(name.into()),
        })
    }

    /// Writes a change of a member, and returns the id of the member.
    async fn write_staff(&self, change: StaffChange, time: Timestamp) -> anyhow::Result<StaffId> {
        let context = WriteContext::new(Actor::Command, time);
        match self.app.store.write_staff(change, context).await? {
            StaffWriteOutcome::Done(id) => Ok(id),
            refusal => bail!("a member cannot be added: {refusal:?}"),
        }
    }

    /// Sets the profile and the logo of the store.
    async fn set_profile(&self, manager: &NamedActor) -> anyhow::Result<()> {
        let logo = self
            .app
            .photos
            .make_logo(Bytes::from_static(LOGO), Format::Png)
            .await?;
        let changes = [
            ProfileChange::Patch(Box::new(self.profile.clone())),
            ProfileChange::Logo(Some(logo)),
        ];
        // Each change requires the version that the change before it has left.
        for (version, change) in (1..).zip(&changes) {
            let context = WriteContext::new(manager.clone(), self.days_ago(STORE_AGE_DAYS)?);
            let preconditions = Preconditions::version(version);
            // No client repeats this request, so its remembered response is empty.
            let respond = |_: &_| StoredResponse::default();
            change_profile(&*self.app.store, change, &preconditions, context, respond).await?;
        }
        Ok(())
    }

    /// Adds the animals, their sales and their reservations, as events in the order of time.
    async fn add_animals(&self, sellers: &Sellers) -> anyhow::Result<()> {
        let photo_futures = self.facts.iter().map(|facts| self.make_photo(facts));
        let photo_stream = stream::iter(photo_futures).buffered(CONCURRENT_PICTURES);
        let photos: Vec<_> = photo_stream.try_collect().await?;
        let mut customers = self.texts.customers.iter().cloned();

        let mut events = vec![Event {
            days_ago: STORE_AGE_DAYS,
            commands: self.build_category_commands()?,
        }];
        for (index, photo) in photos.into_iter().enumerate() {
            events.extend(self.build_animal_events(index, photo, &mut customers)?);
        }

        events.sort_by_key(|event| Reverse(event.days_ago));
        // The manager and the clerk take turns.
        let next_sellers = [&sellers.manager, &sellers.clerk].into_iter().cycle();
        for (event, seller) in events.into_iter().zip(next_sellers) {
            self.execute(event, seller).await?;
        }
        Ok(())
    }

    /// Builds the events of the animal on the line with this index: its arrival, and its sale or
    /// its reservation. The next of the `customers` has reserved the animal, two to six days ago.
    fn build_animal_events(
        &self,
        index: usize,
        photo: Option<NewPhoto>,
        customers: &mut impl Iterator<Item = String>,
    ) -> anyhow::Result<Vec<Event>> {
        let facts = &self.facts[index];
        // The animals arrive in the order of the lines, and the first one gets the id 1.
        let id = i64::try_from(index)? + 1;
        let arrival = self.build_add_command(id, facts, &self.texts.animals[index], photo)?;
        let mut events = vec![Event {
            days_ago: facts.arrived,
            commands: vec![arrival],
        }];
        if let Some(days_ago) = facts.sold {
            let no_customer = None;
            let sale = build_order_command(id, OrderTerms::Completed, no_customer)?;
            events.push(Event {
                days_ago,
                commands: vec![sale],
            });
        }
        if let Some(days) = facts.until {
            let terms = OrderTerms::ReservedUntil(self.end_of_day_in(days)?);
            let reservation = build_order_command(id, terms, customers.next())?;
            events.push(Event {
                // Not all reservations begin on the same day.
                days_ago: 2 + id % 5,
                commands: vec![reservation],
            });
        }
        Ok(events)
    }

    /// Builds the commands that add the categories.
    fn build_category_commands(&self) -> anyhow::Result<Vec<Command>> {
        let mut commands = Vec::new();
        for (id, label) in (1..).zip(&self.texts.categories) {
            commands.push(Command::PutCategory {
                id,
                label: Label::new(label.clone()).context("a category")?,
                preconditions: Preconditions::ABSENT,
            });
        }
        Ok(commands)
    }

    /// Returns the last second of the day that is `days` after today.
    fn end_of_day_in(&self, days: i64) -> anyhow::Result<Timestamp> {
        let day = self.zone.day_of(self.now).checked_add(days.days())?;
        self.zone.end_of_day(day).context("the end of a day")
    }

    /// Executes the commands of an event, as `actor` and at the time of the event. No client
    /// repeats them, so their remembered response is empty.
    async fn execute(&self, event: Event, actor: &NamedActor) -> anyhow::Result<()> {
        let context = WriteContext::new(actor.clone(), self.days_ago(event.days_ago)?);
        let respond = |_: &[_]| StoredResponse::default();
        let commands = &self.app.commands;
        let outcome = commands.execute(event.commands, context, respond).await?;
        if !matches!(outcome, ExecutionOutcome::Done { .. }) {
            bail!("the store of the demo cannot be made: {outcome:?}");
        }
        Ok(())
    }

    /// Makes the photo of an animal, if the animal has a picture.
    async fn make_photo(&self, facts: &AnimalFacts) -> anyhow::Result<Option<NewPhoto>> {
        let Some(picture) = facts.picture() else {
            return Ok(None);
        };
        let stored_photo = self
            .app
            .photos
            .add(Bytes::from_static(picture), Format::WebP)
            .await?;
        let no_alternative_text = None;
        Ok(Some(stored_photo.into_photo(no_alternative_text)))
    }

    /// Builds the command that adds the animal with this id.
    fn build_add_command(
        &self,
        id: i64,
        facts: &AnimalFacts,
        texts: &AnimalTexts,
        photo: Option<NewPhoto>,
    ) -> anyhow::Result<Command> {
        let born_at = self.days_ago(facts.born)?;
        let born = self.zone.day_of(born_at).to_string();
        let values = [
            ("species", facts.species.clone()),
            ("sex", facts.sex.clone()),
            ("size", facts.size.clone()),
            ("price", facts.price.clone()),
            ("breed", texts.breed.clone()),
            ("colour", texts.colour.clone()),
            ("description", texts.description.clone()),
            ("born", born),
            ("microchip", make_microchip_number(id)),
        ];
        let fields = values.into_iter().map(|(field, value)| {
            let value = FieldValue::Text(value);
            (field.to_owned(), RequestedValue::Set(value))
        });
        let pet = NewPet {
            name: PetName::new(texts.name.clone()).context("the name of an animal")?,
            category_id: facts.category,
            status: PetStatus::Available,
            is_listed: true,
        };
        let photos = photo.into_iter().collect();
        Ok(Command::AddPet(pet, fields.collect(), photos))
    }
}

/// Builds the command that places an order for the animal with this id.
fn build_order_command(
    id: i64,
    terms: OrderTerms,
    customer: Option<String>,
) -> anyhow::Result<Command> {
    let pet = PetId::new(id).context("the number of an animal")?;
    Ok(Command::PlaceOrder(NewOrder {
        contact: customer.and_then(Contact::new),
        ..NewOrder::new(pet, terms)
    }))
}

/// Makes the number of the microchip of the animal with this id.
fn make_microchip_number(id: i64) -> String {
    // No manufacturer has this code: 999 is reserved for tests.
    let manufacturer = 999;
    // Numbers that do not follow each other look more like numbers from a factory.
    let serial_number = 1001 + 37 * id;
    format!("{manufacturer}{serial_number:012}")
}

/// Generates the password of the members of the staff.
fn generate_password() -> String {
    runtime::random()
        .sample_iter(Alphanumeric)
        .take(PASSWORD_LENGTH)
        .map(char::from)
        .collect()
}
