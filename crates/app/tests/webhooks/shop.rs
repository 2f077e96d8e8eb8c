//! A store with a dispatcher, and a clock of the test.

use std::{collections::HashSet, num::NonZeroU32, path::PathBuf, sync::Arc, time::Duration};

use petstore_app::delivery::{ATTEMPT_TIMEOUT, Connector, Dispatcher, Registrar, Secret, Vault};
use petstore_databases as databases;
use petstore_domain::{
    Actor, Clock, Networks, NewPet, PetId, PetName, PetStatus, StoredResponse, WriteContext,
    store_area::{
        ChangeType, Command, DeliveryProgress, IfMatch, Lease, PetPatch, Preconditions,
        SealedSecrets, StoredWebhook, TestMessage, Webhook, WebhookChange, WebhookId,
    },
};
use petstore_store::{
    CreationOutcome, ExecutionOutcome, OpenMode, Store, WriteOutcome,
    confirmed_clock::ConfirmedClock,
};
use petstore_testing::{clock::ManualClock, database::Database};
use rand::{SeedableRng, rngs::StdRng};
use tempfile::TempDir;
use tokio::{task, time::timeout};

use super::{
    names::Names,
    receiver::{Message, Receiver},
};

/// A store with its service, as far as webhooks need it.
pub(super) struct Shop {
    pub(super) database: Database,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) registrar: Registrar,
    pub(super) folder: TempDir,
}

/// A key file, and what makes secrets with it.
pub(super) fn registrar(key: PathBuf, seed: u64) -> Registrar {
    let vault = Arc::new(Vault::new(Some(key), None));
    Registrar::new(vault, allowed(), StdRng::seed_from_u64(seed))
}

fn allowed() -> Networks {
    ["127.0.0.0/8".parse().unwrap()].into_iter().collect()
}

const CONNECTIONS: NonZeroU32 = NonZeroU32::new(4).unwrap();

pub(super) const STEP: Duration = Duration::from_millis(100);

impl Shop {
    pub(super) async fn open() -> Self {
        let folder = petstore_testing::temporary_folder();
        let database = Database::fresh().await;
        let (mode, random) = (OpenMode::CreateAndMigrate, &mut StdRng::seed_from_u64(1));
        let store = databases::open(&database.url(), mode, CONNECTIONS, random)
            .await
            .unwrap();
        let registrar = registrar(folder.path().join("key"), 1);
        let clock = ManualClock::at("2026-12-01T12:00:00Z");
        Self {
            database,
            store,
            clock,
            registrar,
            folder,
        }
    }

    /// A shop with one webhook: also its receiver, its number and secret, and a dispatcher.
    pub(super) async fn with_webhook() -> (Self, Receiver, (WebhookId, Secret), Dispatcher) {
        let (shop, receiver) = (Self::open().await, Receiver::start().await);
        let webhook = shop.add_webhook(receiver.url(), None).await;
        let dispatcher = shop.dispatcher(1);
        (shop, receiver, webhook, dispatcher)
    }

    pub(super) fn dispatcher(&self, seed: u64) -> Dispatcher {
        self.patient_dispatcher(seed, ATTEMPT_TIMEOUT)
    }

    /// A dispatcher whose attempts may take this long.
    pub(super) fn patient_dispatcher(&self, seed: u64, limit: Duration) -> Dispatcher {
        self.dispatcher_with(&self.registrar, seed, limit)
    }

    /// A dispatcher of another machine.
    pub(super) fn dispatcher_with(
        &self,
        registrar: &Registrar,
        seed: u64,
        limit: Duration,
    ) -> Dispatcher {
        let (resolver, clock) = (Box::<Names>::default(), self.clock.clone());
        let connector = Connector::new(allowed(), resolver, None, limit, clock).unwrap();
        Dispatcher::new(
            Arc::clone(&self.store),
            Arc::new(ConfirmedClock::new(
                Arc::clone(&self.store),
                self.clock.clone(),
            )),
            StdRng::seed_from_u64(seed),
            connector,
            registrar,
            None,
        )
    }

    pub(super) fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    pub(super) fn context(&self) -> WriteContext {
        WriteContext::new(Actor::Command, self.clock.now())
    }

    pub(super) async fn write(&self, change: WebhookChange) {
        assert_eq!(self.try_write(change).await, WriteOutcome::Done);
    }

    pub(super) async fn try_write(&self, change: WebhookChange) -> WriteOutcome {
        let response = StoredResponse::default();
        self.store
            .write_webhook(change, None, response, self.context())
            .await
            .unwrap()
    }

    /// Lets a dispatcher send a test message.
    pub(super) async fn send_test(&self, webhook: WebhookId) -> TestMessage {
        let test = self.registrar.new_test(webhook);
        self.write(WebhookChange::Test(test.clone())).await;
        test
    }

    pub(super) async fn add_webhook(
        &self,
        url: String,
        types: Option<Vec<ChangeType>>,
    ) -> (WebhookId, Secret) {
        let id = self.store.draw_webhook_id().await.unwrap();
        let new_secret = self.registrar.new_secret(id, true).unwrap();
        let secret = new_secret.plain;
        let current = new_secret.sealed;
        let now = self.clock.now();
        let webhook = Webhook {
            id,
            url,
            types: types.map(|types| types.into_iter().map(Into::into).collect()),
            description: None,
            disabled: None,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        let cursor = self.store.journal_state().await.unwrap().last;
        let new = StoredWebhook {
            webhook,
            secrets: SealedSecrets {
                current,
                previous: None,
            },
            progress: DeliveryProgress {
                cursor,
                last: None,
                failing_since: None,
            },
            lease: Lease::default(),
        };
        self.write(WebhookChange::Add(new)).await;
        (id, secret)
    }

    pub(super) async fn webhook(&self, id: WebhookId) -> StoredWebhook {
        let webhooks = self.store.list_webhooks().await.unwrap();
        webhooks
            .into_iter()
            .find(|stored| stored.webhook.id == id)
            .unwrap()
    }

    pub(super) async fn add_pet(&self) -> PetId {
        let name = PetName::new("Frank".to_owned()).unwrap();
        let new = NewPet {
            name,
            category_id: 1,
            status: PetStatus::Available,
            is_listed: true,
        };
        let respond = |_: &_| StoredResponse::default();
        match self
            .store
            .create_pet(new, self.context(), respond)
            .await
            .unwrap()
        {
            CreationOutcome::New(pet) => pet.id,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn rename(&self, id: PetId, name: &str) {
        let patch = PetPatch {
            name: PetName::new(name.to_owned()),
            ..PetPatch::default()
        };
        let preconditions = Preconditions {
            if_match: Some(IfMatch::Any),
            if_absent: false,
        };
        self.execute(Command::PatchPet {
            id,
            patch,
            preconditions,
        })
        .await;
    }

    pub(super) async fn execute(&self, command: Command) {
        let respond = |_: &[_]| StoredResponse::default();
        let executed = self
            .store
            .execute(vec![command], self.context(), respond)
            .await
            .unwrap();
        assert!(
            matches!(executed, ExecutionOutcome::Done { .. }),
            "{executed:?}"
        );
    }

    /// Lets the dispatcher work until the condition holds. Each step takes a tenth of a second of
    /// the test's clock, and no time if nothing is in flight.
    pub(super) async fn until(&self, dispatcher: &mut Dispatcher, condition: impl Fn() -> bool) {
        self.until_in_steps(dispatcher, STEP, condition).await;
    }

    /// The same with steps of another length.
    pub(super) async fn until_in_steps(
        &self,
        dispatcher: &mut Dispatcher,
        step: Duration,
        condition: impl Fn() -> bool,
    ) {
        let working = async {
            while !condition() {
                dispatcher.step().await.unwrap();
                self.advance(step);
                if dispatcher.in_flight() > 0 {
                    dispatcher.due().await;
                }
                task::yield_now().await;
            }
        };
        let done = timeout(Duration::from_mins(1), working).await;
        done.unwrap_or_else(|_| panic!("it did not happen within 60 seconds"));
    }

    /// Lets the dispatcher work for this time of the test's clock.
    pub(super) async fn work(&self, dispatcher: &mut Dispatcher, time: Duration) {
        let end = self.clock.instant() + time;
        self.until(dispatcher, || self.clock.instant() >= end).await;
    }

    /// Lets the receiver of the first message respond with 410, which disables its webhook.
    pub(super) async fn disable_by_410(
        &self,
        id: WebhookId,
        receiver: &Receiver,
        dispatcher: &mut Dispatcher,
    ) {
        receiver.respond_with(410);
        self.add_pet().await;
        self.until_disabled(id, dispatcher).await;
        assert_eq!(receiver.all().len(), 1);
    }

    /// Works until the webhook is disabled. A response that the receiver has sent is not yet one that is recorded.
    pub(super) async fn until_disabled(&self, id: WebhookId, dispatcher: &mut Dispatcher) {
        let working = async {
            while self.webhook(id).await.webhook.disabled.is_none() {
                self.work(dispatcher, STEP).await;
            }
        };
        let done = timeout(Duration::from_mins(1), working).await;
        done.unwrap_or_else(|_| panic!("it was not disabled within 60 seconds"));
    }

    /// Passes a time in which nothing happens, after everything is saved.
    pub(super) async fn pass(&self, dispatcher: &mut Dispatcher, time: Duration) {
        self.work(dispatcher, 5 * STEP).await;
        self.advance(time);
    }
}

pub(super) fn chain_is_complete(received: &[Message]) -> bool {
    let ids: HashSet<&str> = received.iter().map(|message| &*message.id).collect();
    let mut previous = received.iter().filter_map(Message::previous);
    previous.all(|id| ids.contains(&*id))
}
