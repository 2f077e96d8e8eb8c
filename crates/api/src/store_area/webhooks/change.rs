//! The operations that change or test a webhook: `addWebhook`, `patchWebhook`, `deleteWebhook`,
//! `rotateWebhookSecret`, `testWebhook` and `enableWebhook`. [`execute`] finds the webhook by the
//! id in the path.

use petstore_app::delivery::{NewWebhook, WebhookCommand};
use petstore_domain::{
    named_enum::MaybeKnown,
    store_area::{ChangeType, Label, Patch, WebhookPatch},
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response, body::Accepted};
use serde_json::{json, value::RawValue};

use super::execute;
use crate::{
    context::Call,
    store_area::{
        members::{self, Body, bodies, values},
        shared::StoreArea,
        write::Write,
    },
};

// For each body, its members in JSON, which the fields of the type below have as names.
bodies! {
    AddWebhook: url, types, description;
    PatchWebhook: url, types, description, enabled;
    EnableWebhook: from;
}

/// The body of `addWebhook`.
pub(in crate::store_area) struct AddWebhook {
    url: Url,
    types: Option<Types>,
    description: Option<Label>,
}

/// The body of `patchWebhook`.
pub(in crate::store_area) struct PatchWebhook {
    url: Option<Url>,
    types: Patch<Types>,
    description: Patch<Label>,
    enabled: Option<Disable>,
}

/// The body of `enableWebhook`.
pub(in crate::store_area) struct EnableWebhook {
    from: ContinueFrom,
}

/// The URL of an endpoint, not yet checked.
struct Url(String);
/// The types of changes that the endpoint receives.
struct Types(Vec<MaybeKnown<ChangeType>>);
/// The only valid value of `enabled`, which is `false`: a patch can disable a webhook, but not
/// enable it.
struct Disable;
/// The first change that a webhook receives after it is enabled again.
enum ContinueFrom {
    /// `resume`: the first change that it missed.
    FirstMissedChange,
    /// `now`: the next change.
    NextChange,
}

// For each type: what a value must be, for error messages; its parser; its schema in the OpenAPI
// document.
values! {
    Url: "the URL of the endpoint, such as https://shop.example/hooks",
        |value| json::as_string(value).map(Self), json!({ "type": "string" });
    Types: "an array of types, each once, such as [\"pet.changed\"]",
        |value| parse_types(value).map(Self),
        json!({ "type": "array", "minItems": 1, "maxItems": ChangeType::ALL.len(), "uniqueItems": true });
    Disable: "false; to enable the webhook again, call enableWebhook",
        |value| (value.get() == "false").then_some(Self),
        json!({ "type": "boolean", "const": false });
    ContinueFrom: "resume or now",
        |value| match &*json::as_string(value)? {
            "resume" => Some(Self::FirstMissedChange),
            "now" => Some(Self::NextChange),
            _ => None,
        },
        json!({ "type": "string", "enum": ["resume", "now"] });
}

/// Parses an array of types. Returns `None` if it is empty, or has an unknown or a repeated type.
/// The elements of the result are [`MaybeKnown`] only because a stored webhook may have types of a
/// later release.
fn parse_types(value: &RawValue) -> Option<Vec<MaybeKnown<ChangeType>>> {
    let mut types = Vec::new();
    for element in json::parse_elements(value.get().as_bytes()).ok()? {
        let text = json::as_string(element)?;
        let kind: ChangeType = text.parse().ok()?;
        if types.iter().any(|earlier_type| *earlier_type == kind) {
            return None;
        }
        types.push(kind.into());
    }
    (!types.is_empty()).then_some(types)
}

/// Validates the URL of an endpoint, and returns it in the normalized form in which it is stored.
fn check_url(area: &StoreArea, Url(url): &Url) -> Result<String, ApiError> {
    area.app
        .webhooks
        .registrar
        .check_url(url)
        .map_err(members::invalid)
}

/// Adds a webhook: `POST /v1/store/webhooks`.
pub(crate) async fn add_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let body: AddWebhook = write.members(AddWebhook::NAMES)?.read()?;
    let command = WebhookCommand::Add(NewWebhook {
        url: check_url(area, &body.url)?,
        types: body.types.map(|Types(types)| types),
        description: body.description,
    });
    execute(area, write, command).await
}

/// Changes or disables a webhook: `PATCH /v1/store/webhooks/{webhookId}`.
pub(crate) async fn patch_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let body: PatchWebhook = write.members(PatchWebhook::NAMES)?.read()?;
    let patch = WebhookPatch {
        url: body.url.map(|url| check_url(area, &url)).transpose()?,
        types: body.types.map(|Types(types)| types),
        description: body.description,
        disable: body.enabled.is_some(),
    };
    execute(area, write, WebhookCommand::Patch(patch)).await
}

/// Deletes a webhook: `DELETE /v1/store/webhooks/{webhookId}`.
pub(crate) async fn delete_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, None).await?;
    execute(area, write, WebhookCommand::Delete).await
}

/// Replaces the secret of a webhook: `POST /v1/store/webhooks/{webhookId}/rotate-secret`.
pub(crate) async fn rotate_secret(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    write.reject_members()?;
    execute(area, write, WebhookCommand::RotateSecret).await
}

/// Enables a webhook again: `POST /v1/store/webhooks/{webhookId}/enable`.
pub(crate) async fn enable_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let EnableWebhook { from } = write.members(EnableWebhook::NAMES)?.read()?;
    let resumes = matches!(from, ContinueFrom::FirstMissedChange);
    execute(area, write, WebhookCommand::Enable { resumes }).await
}

/// Queues a test message to a webhook: `POST /v1/store/webhooks/{webhookId}/test`.
pub(crate) async fn test_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    write.reject_members()?;
    execute(area, write, WebhookCommand::Test).await
}
