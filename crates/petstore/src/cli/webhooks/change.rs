//! Changes a webhook for a command, and prints the result.

use std::path::{self, PathBuf};

use anyhow::{Context, bail, ensure};
use jiff::Timestamp;
use petstore_app::delivery::{
    self, DecisionError, NewWebhook, Registrar, VaultError, WebhookCommand, WebhookDecision,
};
use petstore_databases::DatabaseUrl;
use petstore_domain::{
    Actor, Clock, StoredResponse, SystemClock, WriteContext,
    store_area::{StoredWebhook, Webhook, WebhookChange, WebhookId},
};
use petstore_store::{Store, WriteOutcome};
use petstore_system::owner::FileOwner;

use super::{
    super::{args::BadSetting, output},
    attempts::{self, SENT_LATER},
    stored,
};

/// What a command needs to change the webhooks of a store.
pub(super) struct Changer<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) registrar: &'a Registrar,
    pub(super) database: &'a DatabaseUrl,
}

impl Changer<'_> {
    /// Adds a webhook, and prints it with its secret.
    pub(super) async fn add(&self, new_webhook: NewWebhook) -> anyhow::Result<()> {
        self.execute(None, WebhookCommand::Add(new_webhook)).await
    }

    /// Carries out a command on an existing webhook, and prints the result: the webhook, or the
    /// attempt of a test.
    pub(super) async fn change(
        &self,
        id: WebhookId,
        command: WebhookCommand,
    ) -> anyhow::Result<()> {
        let present = stored::find(self.store, id).await?;
        self.execute(Some(present), command).await
    }

    /// Carries out a command, and prints the result. `present` is the webhook, or `None` if the
    /// command adds one.
    async fn execute(
        &self,
        present: Option<StoredWebhook>,
        command: WebhookCommand,
    ) -> anyhow::Result<()> {
        // This comes first, because `decide` creates the key file if the command needs one.
        let missing_key_file = self.find_missing_key_file();
        let now = SystemClock.now();
        let decision = self.decide(present.as_ref(), &command, now).await?;
        // Checked before the save, because a service that cannot read the key could not use the
        // saved secret.
        if decision.secret.is_some() {
            self.check_key_file()?;
        }

        self.save(&decision, now).await?;
        match &decision.change {
            WebhookChange::Test(test) => attempts::wait_for_test(self.store, test).await,
            WebhookChange::Delete { id, .. } => {
                let line = format!("Webhook {id} in {} is removed.", self.database);
                output::print_message(&line);
                Ok(())
            }
            WebhookChange::Add(_) | WebhookChange::Update { .. } | WebhookChange::Nothing => {
                self.print_result(&decision, &command)?;
                print_new_key_file(missing_key_file)
            }
        }
    }

    /// Decides how a command changes a webhook, and creates the key file if the command needs one.
    /// If the key file is not configured, the error is a [`BadSetting`].
    async fn decide(
        &self,
        present: Option<&StoredWebhook>,
        command: &WebhookCommand,
        now: Timestamp,
    ) -> anyhow::Result<WebhookDecision> {
        match delivery::decide(self.store, self.registrar, present, command, now).await {
            Ok(decision) => Ok(decision),
            Err(DecisionError::Vault(error @ VaultError::NotSet)) => {
                Err(BadSetting(error.to_string()).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the decided change to the store. Fails if the store does not make the change.
    async fn save(&self, decision: &WebhookDecision, now: Timestamp) -> anyhow::Result<()> {
        let context = WriteContext::new(Actor::Command, now);
        let outcome = self
            .store
            .write_webhook(
                decision.change.clone(),
                decision.act.clone(),
                StoredResponse::default(),
                context,
            )
            .await
            .context("cannot store the webhook")?;
        check_outcome(&outcome, &decision.change)
    }

    /// Returns the path of the key file if the file does not exist yet, so that the command can
    /// report when it is created.
    fn find_missing_key_file(&self) -> Option<PathBuf> {
        match self.registrar.vault().path() {
            Some(key_file) if !key_file.exists() => Some(key_file.to_owned()),
            _ => None,
        }
    }

    /// Checks that the owner of the database can read the key file. The service runs as this user,
    /// and needs the key.
    fn check_key_file(&self) -> anyhow::Result<()> {
        let Some(key_file) = self.registrar.vault().path() else {
            return Ok(());
        };
        let DatabaseUrl::Sqlite(database_file) = self.database else {
            return Ok(());
        };
        let database_owner = FileOwner::from_metadata(&database_file.metadata()?);
        ensure!(
            database_owner.may_read(&key_file.metadata()?),
            BadSetting(format!(
                "the owner of {} cannot read the key file {}; give the file to that user, and run the \
                 command again",
                self.database,
                key_file.display()
            ))
        );
        Ok(())
    }

    /// Prints the changed webhook, and a line about the change.
    fn print_result(
        &self,
        decision: &WebhookDecision,
        command: &WebhookCommand,
    ) -> anyhow::Result<()> {
        let Some(webhook) = &decision.webhook else {
            return Ok(());
        };
        match decision.secret.as_deref() {
            Some(secret) => stored::print_with_secret(webhook, secret)?,
            None => stored::print(webhook)?,
        }
        let predicate = match command {
            WebhookCommand::RotateSecret => "has another secret",
            WebhookCommand::Enable { .. } => "is enabled",
            // On the command line, a patch can only disable a webhook.
            WebhookCommand::Patch(_) => "is disabled",
            _ => "is stored",
        };
        let line = format!("Webhook {} in {} {predicate}.", webhook.id, self.database);
        output::print_message(&line);
        Ok(())
    }
}

/// Fails if the store has not made a change.
fn check_outcome(outcome: &WriteOutcome, change: &WebhookChange) -> anyhow::Result<()> {
    match (outcome, change) {
        (WriteOutcome::Done, _) => Ok(()),
        // The message ends with "the first is sent when ...".
        (WriteOutcome::Full, WebhookChange::Test(_)) => bail!(
            "{} test messages wait already; the first {SENT_LATER}",
            Webhook::MAX_TESTS
        ),
        (WriteOutcome::Full, _) => {
            bail!("there are {} webhooks already; remove one", Webhook::MAX)
        }
        // Only `Stale` can occur: the first two are for idempotency keys, and a command has none.
        (
            WriteOutcome::Replayed(_) | WriteOutcome::IdempotencyConflict | WriteOutcome::Stale,
            _,
        ) => {
            bail!("another process has just changed the webhook; run the command again")
        }
    }
}

/// Tells the user to back up the key file if this command has created it: `missing_key_file`, which
/// did not exist before the command, exists now.
fn print_new_key_file(missing_key_file: Option<PathBuf>) -> anyhow::Result<()> {
    let Some(key_file) = missing_key_file else {
        return Ok(());
    };
    if key_file.exists() {
        let absolute_path = path::absolute(key_file)?;
        let line = format!("Made the key file {}; back it up.", absolute_path.display());
        output::print_message(&line);
    }
    Ok(())
}
