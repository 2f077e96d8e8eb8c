//! `addWebhook`, `patchWebhook`, `deleteWebhook`, `rotateWebhookSecret`, `testWebhook` and
//! `enableWebhook`.

use hyper::StatusCode;
use serde_json::value::RawValue;

use super::{Decided, act_on, check_version, execute, find, no_vault, response};
use crate::{
    domain::{
        StoredResponse,
        store_area::{
            ActType, ChangeType, Label, Lease, Progress, Restart, SealedSecrets, StoredWebhook,
            Webhook, WebhookChange, WebhookPatch,
        },
    },
    http::{
        App, Response,
        body::Accepted,
        error::ApiError,
        routes::Call,
        store_area::{
            members::{self, Kind, LABEL, Members},
            preconditions,
            write::Write,
        },
    },
    json,
    store::StoreError,
};

const URL: Kind<String> =
    Kind { read: json::string, is: "the URL of the endpoint, such as https://shop.example/hooks" };
const TYPES: Kind<Vec<ChangeType>> =
    Kind { read: types, is: "an array of types, each once, such as [\"pet.changed\"]" };
const DISABLED: Kind<()> = Kind {
    read: |value| (value.get() == "false").then_some(()),
    is: "false; the operation enable enables a webhook again",
};
const FROM: Kind<bool> = Kind {
    read: |value| match &*json::string(value)? {
        "resume" => Some(true),
        "now" => Some(false),
        _ => None,
    },
    is: "resume or now",
};

/// One type at least, and each once.
fn types(value: &RawValue) -> Option<Vec<ChangeType>> {
    let mut types = Vec::new();
    for element in json::elements(value.get().as_bytes()).ok()? {
        let text = json::string(element)?;
        let kind = ChangeType::ALL.into_iter().find(|kind| kind.as_str() == text)?;
        if types.contains(&kind) {
            return None;
        }
        types.push(kind);
    }
    (!types.is_empty()).then_some(types)
}

fn url(app: &App, members: &Members<'_>) -> Result<Option<String>, ApiError> {
    let url = members.optional("url", &URL)?;
    let checked = url.map(|url| app.store_area.registrar.check_url(&url)).transpose();
    checked.map_err(members::invalid)
}

/// What a request wants of a webhook.
pub(super) enum Wanted {
    Add { url: String, types: Option<Vec<ChangeType>>, description: Option<Label> },
    Patch(WebhookPatch),
    Delete,
    RotateSecret,
    Enable { resumes: bool },
    Test,
}

/// `POST /v1/store/webhooks`.
pub(in crate::http) async fn add_webhook(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(app, call, Some(Accepted::Json)).await?;
    let members = write.members(&["url", "types", "description"])?;
    members.required("url", &URL)?;
    let url = url(app, &members)?.unwrap_or_default();
    let types = members.optional("types", &TYPES)?;
    let description = members.optional("description", &LABEL)?;
    execute(app, write, "", Wanted::Add { url, types, description }).await
}

/// `PATCH /v1/store/webhooks/{webhookId}`.
pub(in crate::http) async fn patch_webhook(
    app: &App,
    call: Call<'_>,
) -> Result<Response, ApiError> {
    let parameter = call.parameter;
    let write = Write::read(app, call, Some(Accepted::Patch)).await?;
    let members = write.members(&["url", "types", "description", "enabled"])?;
    let patch = WebhookPatch {
        url: url(app, &members)?,
        types: members.patch("types", &TYPES)?,
        description: members.patch("description", &LABEL)?,
        disable: members.optional("enabled", &DISABLED)?.is_some(),
    };
    preconditions::of(&write.request.headers)?;
    execute(app, write, parameter, Wanted::Patch(patch)).await
}

/// `DELETE /v1/store/webhooks/{webhookId}`.
pub(in crate::http) async fn delete_webhook(
    app: &App,
    call: Call<'_>,
) -> Result<Response, ApiError> {
    let parameter = call.parameter;
    let write = Write::read(app, call, None).await?;
    preconditions::of(&write.request.headers)?;
    execute(app, write, parameter, Wanted::Delete).await
}

/// `POST /v1/store/webhooks/{webhookId}/rotate-secret`.
pub(in crate::http) async fn rotate_secret(
    app: &App,
    call: Call<'_>,
) -> Result<Response, ApiError> {
    let parameter = call.parameter;
    let write = Write::read(app, call, Some(Accepted::JsonOrNothing)).await?;
    write.members(&[])?;
    execute(app, write, parameter, Wanted::RotateSecret).await
}

/// `POST /v1/store/webhooks/{webhookId}/enable`.
pub(in crate::http) async fn enable_webhook(
    app: &App,
    call: Call<'_>,
) -> Result<Response, ApiError> {
    let parameter = call.parameter;
    let write = Write::read(app, call, Some(Accepted::Json)).await?;
    let resumes = write.members(&["from"])?.required("from", &FROM)?;
    execute(app, write, parameter, Wanted::Enable { resumes }).await
}

/// `POST /v1/store/webhooks/{webhookId}/test`.
pub(in crate::http) async fn test_webhook(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let parameter = call.parameter;
    let write = Write::read(app, call, Some(Accepted::JsonOrNothing)).await?;
    write.members(&[])?;
    execute(app, write, parameter, Wanted::Test).await
}

/// Decides about a request, with the present state of the webhook that `parameter` names.
pub(super) async fn decide(
    app: &App,
    write: &Write<'_>,
    parameter: &str,
    wanted: &Wanted,
) -> Result<Decided, ApiError> {
    let now = write.now;
    if let Wanted::Add { url, types, description } = wanted {
        let id = app.store.draw_webhook_id().await?;
        let webhook = Webhook {
            id,
            url: url.clone(),
            types: types.clone(),
            description: description.clone(),
            disabled: None,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        return add(app, webhook).await;
    }
    let stored = find(app, parameter).await?;
    check_version(&write.request.headers, &stored.webhook)?;
    let id = stored.webhook.id;
    let registrar = &app.store_area.registrar;
    let changed = match wanted {
        Wanted::RotateSecret => {
            let (secret, sealed) = registrar.new_secret(id).map_err(no_vault)?;
            let changed = stored.rotated(sealed, now);
            let response = response(StatusCode::OK, &changed.0, Some(&secret.reveal()));
            let decided = Decided::new(ActType::WebhookSecretRotated, changed);
            return Ok(Decided { response, has_secret: true, ..decided });
        }
        Wanted::Delete => {
            let status = StatusCode::NO_CONTENT.as_u16();
            return Ok(Decided {
                change: WebhookChange::Delete { id, version: stored.webhook.version },
                act: Some(act_on(ActType::WebhookDeleted, id)),
                response: StoredResponse { status, ..StoredResponse::default() },
                has_secret: false,
            });
        }
        Wanted::Test => return test(app, id),
        Wanted::Patch(patch) => {
            stored.patched(patch.clone(), now).map(|changed| (ActType::WebhookChanged, changed))
        }
        Wanted::Enable { resumes } => {
            let restart = if *resumes {
                Restart::Resume(now)
            } else {
                Restart::From(app.store.log_state().await?.last)
            };
            stored.enabled(restart, now).map(|changed| (ActType::WebhookEnabled, changed))
        }
        Wanted::Add { .. } => None,
    };
    Ok(match changed {
        Some((act, changed)) => Decided::new(act, changed),
        None => Decided::nothing(&stored.webhook),
    })
}

async fn add(app: &App, webhook: Webhook) -> Result<Decided, ApiError> {
    let id = webhook.id;
    let (secret, current) = app.store_area.registrar.new_secret(id).map_err(no_vault)?;
    let cursor = app.store.log_state().await?.last;
    let mut response = response(StatusCode::CREATED, &webhook, Some(&secret.reveal()));
    response.location = Some(format!("/store/webhooks/{id}"));
    let change = WebhookChange::Add(StoredWebhook {
        webhook,
        secrets: SealedSecrets { current, previous: None },
        progress: Progress { cursor, last: None, failing_since: None },
        lease: Lease::default(),
    });
    let act = Some(act_on(ActType::WebhookAdded, id));
    Ok(Decided { change, act, response, has_secret: true })
}

fn test(app: &App, id: i64) -> Result<Decided, ApiError> {
    let registrar = &app.store_area.registrar;
    let test = registrar.new_test(id);
    let mut body = Vec::new();
    let mut object = json::Object::begin(&mut body);
    object.text("messageId", &test.message_id);
    object.end();
    // Before the response is remembered: a message too many harms nothing.
    if !registrar.send_test(test) {
        return Err(StoreError::Overloaded.into());
    }
    let status = StatusCode::ACCEPTED.as_u16();
    let response = StoredResponse { status, body, ..StoredResponse::default() };
    Ok(Decided { change: WebhookChange::Nothing, act: None, response, has_secret: false })
}
