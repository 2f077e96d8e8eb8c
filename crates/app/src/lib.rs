//! The application layer: what the service does for API clients, for the pages of the console, and
//! in the background.

mod acts;
mod changed;
mod commands;
pub mod delivery;
mod fields;
mod idempotency;
mod inventory;
pub mod journal;
mod keys;
mod known_facts;
mod logo;
mod photos;
mod profile;
mod reading_parts;
mod store_facts;
pub mod turns;
mod upkeep;
mod webhooks;

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use parking_lot::Mutex;
use petstore_domain::{Clock, Deployment, RateLimit, store_area::OrderId};
use petstore_observe::metrics::{BackupMetrics, Exposition, Kind, SignInMetrics, TaskMetrics};
use petstore_photos::Photos;
use petstore_store::{Keys, Store, StoreError, confirmed_clock::ConfirmedClock};

pub(crate) use self::keys::KeyRing;
pub use self::{
    acts::RecordedAct,
    changed::Changed,
    idempotency::{NotEntered, Requests},
    keys::{Caller, KeyError},
    known_facts::{KnownFacts, WriteStamp},
    logo::LogoFiles,
    profile::change_profile,
    reading_parts::ReadingParts,
    store_facts::{Contact, Effective, Source, StoreFacts, StoreOptions},
    webhooks::{WebhookError, WebhookRefusal},
};
use self::{
    commands::Commands, fields::Fields, inventory::InventoryCount, journal::Journal,
    webhooks::Webhooks,
};
use crate::delivery::Registrar;

/// The settings of the application layer.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The deployment whose keys are accepted.
    pub deployment: Deployment,
    /// The rate limit of keys that do not have their own.
    pub rate_limit: Option<RateLimit>,
    /// How long the journal of changes and the audit trail are kept.
    pub keep_changes: Duration,
    /// How long the contact of an order is kept after the order closed: at most 400 days.
    pub keep_contacts: Duration,
    /// How long a reservation lasts if the request names no end: at most 400 days.
    pub reservation: Duration,
}

impl Default for Settings {
    /// Returns the settings of `petstore serve` without options.
    fn default() -> Self {
        Self {
            deployment: Deployment::Production,
            rate_limit: None,
            keep_changes: Duration::from_hours(400 * 24),
            keep_contacts: Duration::from_hours(30 * 24),
            reservation: Duration::from_hours(14 * 24),
        }
    }
}

/// The parts of the service, which the API, the console and the background tasks share.
pub struct App {
    /// The store, which all parts share.
    pub store: Arc<dyn Store>,
    /// The clock of the machine.
    pub clock: Arc<dyn Clock>,
    /// The clock by which data expires and is deleted.
    pub confirmed_clock: Arc<ConfirmedClock>,
    /// The API keys.
    pub keys: KeyRing,
    /// The requests with an `Idempotency-Key`.
    pub requests: Requests,
    /// Executes commands on animals, orders and categories.
    pub commands: Commands,
    /// Changes the fields with which the store describes its animals.
    pub fields: Fields,
    /// Changes webhooks.
    pub webhooks: Webhooks,
    /// The cached numbers of animals.
    pub inventory: InventoryCount,
    /// Processes uploaded photos, and reads their files.
    pub photos: Arc<Photos>,
    /// The journal of changes.
    pub journal: Journal,
    /// The read-only parts, for interfaces that must never write.
    pub reading: ReadingParts,
    /// How long changes are kept ([`Settings::keep_changes`]).
    keep_changes: Duration,
    /// How long contacts are kept ([`Settings::keep_contacts`]).
    pub keep_contacts: Duration,
    /// The order (with the end of its reservation) after which the next run of
    /// [`App::expire_orders`] continues. Without one, the run starts from the beginning.
    last_due_order: Mutex<Option<(OrderId, Timestamp)>>,
    /// The order after which the next run of [`App::erase_contacts`] continues. Without one, the
    /// run starts from the beginning.
    last_contact_order: Mutex<Option<OrderId>>,
    /// The metrics of the sign-ins to the console.
    pub sign_ins: SignInMetrics,
    /// The metrics of the background tasks.
    pub tasks: Arc<TaskMetrics>,
    /// The metrics of the backups that the service makes.
    pub backups: Arc<BackupMetrics>,
}

impl App {
    /// Assembles the parts of a service on top of `store`.
    pub fn new(
        store: Arc<dyn Store>,
        confirmed_clock: Arc<ConfirmedClock>,
        registrar: Registrar,
        photos: Arc<Photos>,
        settings: &Settings,
    ) -> Self {
        let clock = Arc::clone(confirmed_clock.machine());
        let &Settings {
            deployment,
            rate_limit,
            keep_changes,
            keep_contacts,
            reservation,
        } = settings;
        // The key ring needs only the part of the store that has the keys.
        let key_store: Arc<dyn Keys> = Arc::<dyn Store>::clone(&store);
        Self {
            keys: KeyRing::new(key_store, Arc::clone(&clock), deployment, rate_limit),
            requests: Requests::new(Arc::clone(&store)),
            commands: Commands::new(
                Arc::clone(&store),
                Arc::clone(&confirmed_clock),
                reservation,
            ),
            fields: Fields::new(Arc::clone(&store)),
            webhooks: Webhooks::new(Arc::clone(&store), registrar),
            inventory: InventoryCount::new(Arc::clone(&store), Arc::clone(&clock)),
            journal: Journal::new(Arc::clone(&store), Arc::clone(&clock)),
            reading: ReadingParts::new(Arc::clone(&store), Arc::clone(&clock), Arc::clone(&photos)),
            photos,
            keep_changes,
            keep_contacts,
            last_due_order: Mutex::default(),
            last_contact_order: Mutex::default(),
            sign_ins: SignInMetrics::default(),
            tasks: Arc::default(),
            backups: Arc::default(),
            store,
            clock,
            confirmed_clock,
        }
    }

    /// Saves the uses of keys that are not yet in the store. A background task calls this
    /// periodically. After an error, the next call saves the uses.
    pub async fn save_key_uses(&self) -> Result<(), StoreError> {
        self.keys.save_uses().await
    }

    /// Writes the metrics of all parts.
    pub fn expose(&self, exposition: &mut Exposition) {
        self.keys.expose_deprecated_calls(exposition);
        self.store.expose(exposition);
        self.commands.expose(exposition);
        self.journal.expose(exposition);
        self.sign_ins.expose(exposition);
        exposition.number(
            "petstore_clock_confirmed",
            "Whether the clock agrees with the confirmed time; if not, nothing expires.",
            u8::from(self.confirmed_clock.doubt().is_none()),
        );
        self.webhooks.registrar.metrics().expose(exposition);
        self.photos.expose(exposition);
        self.tasks.expose(exposition);
        self.backups.expose(exposition);
        expose_version(exposition);
    }
}

/// Writes the version of the service, as the label of a metric that is always 1.
fn expose_version(exposition: &mut Exposition) {
    let name = "petstore_build_info";
    exposition.begin(Kind::Gauge, name, "Always 1; the version is in the label.");
    exposition.sample(name, &[("version", &env!("CARGO_PKG_VERSION"))], 1);
}
