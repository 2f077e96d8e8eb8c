//! What a store promises for webhooks.

use async_trait::async_trait;

use super::StoreError;
use crate::domain::{
    IdempotentRequest, StoredResponse, WriteContext,
    store_area::{
        Act, Attempt, DeliveryUpdate, StoredWebhook, TestMessage, Waiting, WebhookChange,
    },
};

/// Stores webhooks, and how far their messages are.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Every webhook, in ascending order of identifier.
    async fn list_webhooks(&self) -> Result<Vec<StoredWebhook>, StoreError>;

    /// An identifier for a new webhook, which is never given again.
    async fn draw_webhook_id(&self) -> Result<i64, StoreError>;

    /// What is remembered of a request: [`Written::Replayed`] or
    /// [`Written::IdempotencyConflict`]; `None` if it was not carried out.
    async fn recall_request(
        &self,
        request: IdempotentRequest,
    ) -> Result<Option<Written>, StoreError>;

    /// Makes a change, and remembers the response if the client may repeat the request. A change
    /// also ends the lease of the webhook, so that the process that has it reads the webhook again.
    async fn write_webhook(
        &self,
        change: WebhookChange,
        act: Option<Act>,
        response: StoredResponse,
        context: WriteContext,
    ) -> Result<Written, StoreError>;

    /// Saves what was delivered, all or nothing, except for the webhooks that have another lease
    /// than was seen. Returns for each whether it was saved.
    async fn save_deliveries(&self, updates: Vec<DeliveryUpdate>) -> Result<Vec<bool>, StoreError>;

    /// The messages of a webhook that wait, in ascending order.
    async fn waiting_messages(&self, webhook: i64) -> Result<Vec<Waiting>, StoreError>;

    /// The test messages that wait to be sent ([`WebhookChange::Test`]).
    async fn waiting_tests(&self) -> Result<Vec<TestMessage>, StoreError>;

    /// Removes a test message from those that wait. Returns `true` to at most one caller, and that
    /// caller sends the message.
    async fn take_test(&self, message_id: String) -> Result<bool, StoreError>;

    /// The attempts of a webhook after the one with this number, the oldest first and at most
    /// `limit`, with their numbers.
    async fn list_attempts(
        &self,
        webhook: i64,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Attempt)>, StoreError>;

    /// Adds an attempt that belongs to no change: a test.
    async fn add_attempt(&self, webhook: i64, attempt: Attempt) -> Result<(), StoreError>;
}

/// The result of [`Webhooks::write_webhook`] and [`super::Fields::write_field`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It was done.
    Done,
    /// The same request was carried out before. This was the response.
    Replayed(StoredResponse),
    /// Nothing was done: the idempotency key was used before, for another request.
    IdempotencyConflict,
    /// Nothing was done: it has another version than was seen, or does not exist.
    Stale,
    /// Nothing was done: there are [`crate::domain::store_area::Webhook::MAX`] webhooks, or
    /// [`crate::domain::store_area::Webhook::MAX_TESTS`] test messages wait.
    Full,
}
