//! `addWebhook`, `patchWebhook`, `deleteWebhook`, `rotateWebhookSecret`, `testWebhook` and
//! `enableWebhook`.

use petstore_app::delivery::Wanted;
use petstore_domain::{
    store_area::{ChangeType, WebhookPatch},
    words::Word,
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response, body::Accepted};
use serde_json::value::RawValue;

use super::execute;
use crate::{
    context::Call,
    store_area::{
        members::{self, Members, values},
        preconditions,
        shared::StoreArea,
        write::Write,
    },
};

/// The URL of an endpoint, not yet checked.
struct Url(String);
/// The types of changes that the endpoint receives.
struct Types(Vec<Word<ChangeType>>);
/// Disables the webhook.
struct Disable;
/// Whether a webhook that is enabled again gets what it missed.
struct Resumes(bool);

values! {
    Url: "the URL of the endpoint, such as https://shop.example/hooks",
        |value| json::string(value).map(Self);
    Types: "an array of types, each once, such as [\"pet.changed\"]",
        |value| types(value).map(Self);
    Disable: "false; the operation enable enables a webhook again",
        |value| (value.get() == "false").then_some(Self);
    Resumes: "resume or now", |value| match &*json::string(value)? {
        "resume" => Some(Self(true)),
        "now" => Some(Self(false)),
        _ => None,
    };
}

/// One type at least, and each once.
fn types(value: &RawValue) -> Option<Vec<Word<ChangeType>>> {
    let mut types = Vec::new();
    for element in json::elements(value.get().as_bytes()).ok()? {
        let text = json::string(element)?;
        let kind: ChangeType = text.parse().ok()?;
        if types.iter().any(|given| *given == kind) {
            return None;
        }
        types.push(kind.into());
    }
    (!types.is_empty()).then_some(types)
}

fn url(area: &StoreArea, members: &Members<'_>) -> Result<Option<String>, ApiError> {
    let url = members.optional("url")?;
    let checked = url.map(|Url(url)| area.app.webhooks.registrar.check_url(&url)).transpose();
    checked.map_err(members::invalid)
}

/// `POST /v1/store/webhooks`.
pub(crate) async fn add_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let members = write.members(&["url", "types", "description"])?;
    members.required::<Url>("url")?;
    let url = url(area, &members)?.unwrap_or_default();
    let types: Option<Types> = members.optional("types")?;
    let types = types.map(|Types(types)| types);
    let description = members.optional("description")?;
    execute(area, write, Wanted::Add { url, types, description }).await
}

/// `PATCH /v1/store/webhooks/{webhookId}`.
pub(crate) async fn patch_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let members = write.members(&["url", "types", "description", "enabled"])?;
    let patch = WebhookPatch {
        url: url(area, &members)?,
        types: members.patch::<Types>("types")?.map(|Types(types)| types),
        description: members.patch("description")?,
        disable: members.optional::<Disable>("enabled")?.is_some(),
    };
    preconditions::of(&write.request.headers)?;
    execute(area, write, Wanted::Patch(patch)).await
}

/// `DELETE /v1/store/webhooks/{webhookId}`.
pub(crate) async fn delete_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, None).await?;
    preconditions::of(&write.request.headers)?;
    execute(area, write, Wanted::Delete).await
}

/// `POST /v1/store/webhooks/{webhookId}/rotate-secret`.
pub(crate) async fn rotate_secret(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    write.members(&[])?;
    execute(area, write, Wanted::RotateSecret).await
}

/// `POST /v1/store/webhooks/{webhookId}/enable`.
pub(crate) async fn enable_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let Resumes(resumes) = write.members(&["from"])?.required("from")?;
    execute(area, write, Wanted::Enable { resumes }).await
}

/// `POST /v1/store/webhooks/{webhookId}/test`.
pub(crate) async fn test_webhook(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    write.members(&[])?;
    execute(area, write, Wanted::Test).await
}
