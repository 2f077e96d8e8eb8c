//! The store that `petstore demo` shows: what the files in `demo/` say, by the operations of the service.

use std::{cmp::Reverse, net::SocketAddr, sync::atomic::Ordering::Relaxed};

use anyhow::{Context, anyhow, bail};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::{Timestamp, ToSpan};
use petstore_app::{App, change_profile};
use petstore_domain::{
    Actor, Clock, Deployment, NamedActor, NewPet, PetId, PetName, PetStatus, Role, Scope,
    StaffName, StoredResponse, SystemClock, WriteContext,
    staff::{Password, StaffChange, StaffMember, Token},
    store_area::{
        ActType, Command, Contact, FieldValue, FirstStep, Label, Language, NewOrder, NewPhoto,
        OrderTerms, Preconditions, Profile, ProfileChange, ProfilePatch, RequestedValue,
        StoreTimeZone,
    },
};
use petstore_formats::json::members::{Body, Members};
use petstore_photos::Format;
use petstore_store::{ExecutionOutcome, StaffWriteOutcome};
use rand::{RngExt, distr::Alphanumeric};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{keys, pages::Urls, runtime};

const ANIMALS: &str = include_str!("demo/animals.csv");
const LOGO: &[u8] = include_bytes!("demo/logo.png");

macro_rules! pictures {
    ($($name:ident)+) => {
        &[$((stringify!($name), include_bytes!(concat!("demo/", stringify!($name), ".webp")))),+]
    };
}
const PICTURES: &[(&str, &[u8])] = pictures![
    beagle black blue brown calico cavy cockatiel collie cookie corgi dachshund dutch gecko ginger green
    grey hamster labrador lop poodle retriever shepherd siamese sky tabby terrier tortoise tuxedo white
];

/// The fields of an animal: the fields of [`Facts`], the fields of a language, and two that are computed.
const FIELDS: [&str; 9] = [
    "species",
    "sex",
    "size",
    "price",
    "breed",
    "colour",
    "description",
    "born",
    "microchip",
];

/// The number of days since which the store exists: longer than its oldest animal.
const OPENED: i64 = 340;

/// How many pictures become photos at once: as many as are decoded at once, so that none waits for too long.
const AT_ONCE: usize = 2;

/// A line of [`ANIMALS`].
#[derive(Deserialize)]
struct Facts {
    picture: String,
    category: i64,
    values: [String; 4],
    born: i64,
    arrived: i64,
    until: Option<i64>,
    sold: Option<i64>,
}

/// The texts of a language.
#[derive(Deserialize)]
struct Texts {
    profile: Box<RawValue>,
    categories: Vec<String>,
    /// The manager, a clerk and a viewer.
    staff: [String; 3],
    /// The customers who wait for an animal.
    customers: Vec<String>,
    /// The name, breed, colour and description of each animal.
    animals: Vec<[String; 4]>,
}

impl Texts {
    /// Reads the profile of the store.
    fn read_profile(&self) -> anyhow::Result<ProfilePatch> {
        let members = self.profile.get().as_bytes();
        Members::parse(members, "The profile", ProfilePatch::NAMES)
            .and_then(|members| members.read())
            .map_err(|invalid| anyhow!("{invalid:?}"))
    }
}

/// The store of a demo.
#[derive(Debug)]
pub(super) struct Demo {
    pub(super) language: Language,
    /// The link that signs in to the console at once.
    pub(super) link: Token,
}

impl Demo {
    /// Fills the store, and says where it is.
    pub(super) async fn fill(self, app: &App, at: SocketAddr, urls: &Urls) -> anyhow::Result<()> {
        let texts: Texts = serde_json::from_str(match self.language {
            Language::English => include_str!("demo/en.json"),
            Language::German => include_str!("demo/de.json"),
            Language::French => include_str!("demo/fr.json"),
            Language::Spanish => include_str!("demo/es.json"),
        })?;
        let mut lines = csv::ReaderBuilder::new();
        let mut lines = lines
            .has_headers(false)
            .comment(Some(b'#'))
            .from_reader(ANIMALS.as_bytes());
        let facts = lines.deserialize().collect::<Result<_, _>>()?;
        let profile = texts.read_profile()?;
        let present_profile = Profile::default().with_patch(&profile);
        let filling = Filling {
            app,
            now: SystemClock.now(),
            zone: present_profile.time_zone.unwrap_or_default(),
            profile,
            texts,
            facts,
        };
        let password: String = runtime::random()
            .sample_iter(Alphanumeric)
            .take(16)
            .map(char::from)
            .collect();
        let staff = filling.add_staff(&password).await?;
        filling.set_profile(&staff[0]).await?;
        filling.add_animals(&staff).await?;
        app.store.note_step(FirstStep::All).await?;
        // Its store is gone soon, so nobody misses a backup.
        app.backups.is_possible.store(false, Relaxed);
        let scope = Scope::StoreAdmin;
        let key = keys::create_first(&*app.store, Deployment::Production, scope).await?;
        let [window, console] =
            [&urls.window, &urls.console].map(|url| url.as_deref().unwrap_or_default());
        let link = self.link.reveal();
        let key = key.reveal();
        let manager = &filling.texts.staff[0];
        super::output::print(&format!(
            "The window:     {window}/\n\
             The console:    {console}/link/{link} (as {manager}, the manager; password: {password})\n\
             The interface:  http://{at}/v1 (key: {key}; try it at http://{at}/docs/store)\n\
             To stop:        press Ctrl-C, and then the store is gone\n"
        ))
    }
}

/// A store that is being filled.
struct Filling<'a> {
    app: &'a App,
    now: Timestamp,
    /// The time zone of the days of the store.
    zone: StoreTimeZone,
    profile: ProfilePatch,
    texts: Texts,
    facts: Vec<Facts>,
}

impl Filling<'_> {
    fn days_ago(&self, days: i64) -> anyhow::Result<Timestamp> {
        Ok(self.now.checked_sub((days * 24).hours())?)
    }

    /// Adds the members, who have one password.
    async fn add_staff(&self, password: &str) -> anyhow::Result<Vec<NamedActor>> {
        let mut random = runtime::random();
        let mut staff = Vec::new();
        let now = self.days_ago(OPENED)?;
        let hash = Password::from_input(password)
            .context("a password")?
            .hash(&mut random);
        for (name, role) in self
            .texts
            .staff
            .iter()
            .zip([Role::Manager, Role::Clerk, Role::Viewer])
        {
            let valid = StaffName::new(name).context("the name of a member")?;
            let new = StaffMember::new(valid, role, &Token::generate(&mut random), now);
            let write = async |seen, after: &StaffMember, act| {
                let change = StaffChange::new(seen, after.clone(), act);
                let context = WriteContext::new(Actor::Command, now);
                match self.app.store.write_staff(change, context).await? {
                    StaffWriteOutcome::Done(id) => Ok(id),
                    other => bail!("{name} cannot be added: {other:?}"),
                }
            };
            let id = write(0, &new, ActType::StaffAdded).await?;
            let after = StaffMember { id, ..new.clone() }.with_password(hash.clone());
            write(new.version, &after, ActType::StaffPasswordSet).await?;
            staff.push(NamedActor {
                actor: Actor::Staff(id),
                name: Some(name.as_str().into()),
            });
        }
        Ok(staff)
    }

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
        for (version, change) in (1..).zip(&changes) {
            let context = WriteContext::new(manager.clone(), self.days_ago(OPENED)?);
            let seen = Preconditions::version(version);
            let respond = |_: &_| StoredResponse::default();
            change_profile(&*self.app.store, change, &seen, context, respond).await?;
        }
        Ok(())
    }

    /// Adds the animals, and what became of each, the oldest event first.
    async fn add_animals(&self, staff: &[NamedActor]) -> anyhow::Result<()> {
        let mut categories = Vec::new();
        for (id, label) in (1..).zip(&self.texts.categories) {
            let label = Label::new(label.clone()).context("a category")?;
            let preconditions = Preconditions::ABSENT;
            categories.push(Command::PutCategory {
                id,
                label,
                preconditions,
            });
        }
        let mut events = vec![(OPENED, categories)];
        let photos = stream::iter(self.facts.iter().map(|of| self.photo(of)));
        let photos: Vec<_> = photos.buffered(AT_ONCE).try_collect().await?;
        let mut customers = self.texts.customers.iter().cloned();
        // The first animal that is added is number 1.
        for (((id, of), text), photo) in (1..).zip(&self.facts).zip(&self.texts.animals).zip(photos)
        {
            events.push((of.arrived, vec![self.arrival(id, of, text, photo)?]));
            if let Some(days) = of.sold {
                events.push((days, vec![Self::order(id, OrderTerms::Completed, None)?]));
            }
            if let Some(days) = of.until {
                let day = self.zone.day_of(self.now).checked_add(days.days())?;
                let end = self.zone.end_of_day(day).context("the end of a day")?;
                let order = Self::order(id, OrderTerms::ReservedUntil(end), customers.next())?;
                events.push((2 + id % 5, vec![order]));
            }
        }
        events.sort_by_key(|(days, _)| Reverse(*days));
        for ((days, commands), who) in events.into_iter().zip(staff[..2].iter().cycle()) {
            let context = WriteContext::new(who.clone(), self.days_ago(days)?);
            let respond = |_: &[_]| StoredResponse::default();
            let done = self
                .app
                .commands
                .execute(commands, context, respond)
                .await?;
            if !matches!(done, ExecutionOutcome::Done { .. }) {
                bail!("the store of the demo cannot be made: {done:?}");
            }
        }
        Ok(())
    }

    async fn photo(&self, of: &Facts) -> anyhow::Result<Option<NewPhoto>> {
        let Some((_, picture)) = PICTURES.iter().find(|(name, _)| *name == of.picture) else {
            return Ok(None);
        };
        let stored = self
            .app
            .photos
            .add(Bytes::from_static(picture), Format::WebP)
            .await?;
        Ok(Some(stored.into_photo(None)))
    }

    fn arrival(
        &self,
        id: i64,
        of: &Facts,
        [name, texts @ ..]: &[String; 4],
        photo: Option<NewPhoto>,
    ) -> anyhow::Result<Command> {
        let born = self.zone.day_of(self.days_ago(of.born)?).to_string();
        // 999 is for tests.
        let microchip = format!("999000000{:06}", 1001 + 37 * id);
        let values = of
            .values
            .iter()
            .chain(texts)
            .cloned()
            .chain([born, microchip]);
        let set = values.map(|value| RequestedValue::Set(FieldValue::Text(value)));
        let fields = FIELDS.map(str::to_owned).into_iter().zip(set).collect();
        let name = PetName::new(name.clone()).context("the name of an animal")?;
        let pet = NewPet {
            name,
            category_id: of.category,
            status: PetStatus::Available,
        };
        Ok(Command::AddPet(pet, fields, photo.into_iter().collect()))
    }

    fn order(id: i64, terms: OrderTerms, customer: Option<String>) -> anyhow::Result<Command> {
        let order = NewOrder::new(PetId::new(id).context("the number of an animal")?, terms);
        Ok(Command::PlaceOrder(NewOrder {
            contact: customer.and_then(Contact::new),
            ..order
        }))
    }
}
