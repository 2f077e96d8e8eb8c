//! The requests of a client of the store area, and what the responses mean.

use bytes::Bytes;
use hyper::{Method, Request, StatusCode, header, http::request};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    asks::{Age, Ask, Known},
    history::Patch,
    service::Response,
    store_area::{BatchOutcome, Category, Command, Outcome, Shown},
    workload::content,
};

/// A time as the service shows it.
pub(super) fn text(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// An error of the store area.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rejection {
    code: String,
    #[serde(rename = "message")]
    _message: String,
    status: u16,
    current: Option<Value>,
    #[serde(rename = "failedIndex")]
    failed_index: Option<usize>,
}

pub(super) fn in_hours(now: Timestamp, hours: i64) -> Timestamp {
    now + SignedDuration::from_hours(hours)
}

impl Ask {
    /// The command of a client that knows this at `now`; `None` for a walk. What it writes contains
    /// `name`.
    #[expect(clippy::too_many_lines, reason = "one arm for each command")]
    pub(super) fn command(self, known: &Known, name: String, now: Timestamp) -> Option<Command> {
        let of = |newest: i64, age: Age| age.map(|age| (newest - age).max(1));
        let of_pet = |id: i64, version| of(known.pet(id), version);
        let order = |from_newest| known.order(from_newest, "").0;
        Some(match self {
            Ask::ReadPet(id) => Command::ReadPet { id },
            Ask::Rename(id, version) => {
                let patch = Patch {
                    name: Some(name),
                    ..Patch::default()
                };
                Command::PatchPet {
                    id,
                    version: of_pet(id, version),
                    patch,
                }
            }
            Ask::SetStatus(id, status, version) => {
                let patch = Patch {
                    status: Some(status),
                    ..Patch::default()
                };
                Command::PatchPet {
                    id,
                    version: of_pet(id, version),
                    patch,
                }
            }
            Ask::Withdraw(id, version) => Command::Withdraw {
                id,
                version: of_pet(id, version),
                reason: "other",
            },
            Ask::Restore(id, version) => {
                let id = known.withdrawn_pet(id);
                Command::Restore {
                    id,
                    version: of_pet(id, version),
                }
            }
            Ask::Reserve(pet_id, hours) => {
                let until = Some(text(in_hours(now, hours)));
                Command::Place {
                    pet_id,
                    note: name,
                    until,
                }
            }
            Ask::Sell(pet_id) => Command::Place {
                pet_id,
                note: name,
                until: None,
            },
            Ask::ReadOrder(from_newest) => Command::ReadOrder {
                id: order(from_newest),
            },
            Ask::Refer(from_newest, version) => {
                let (id, newest) = known.order(from_newest, "");
                let version = of(newest, version);
                Command::PatchOrder {
                    id,
                    version,
                    reference: Some(name),
                    until: None,
                }
            }
            Ask::Extend(from_newest, hours, version) => {
                let (id, newest) = known.order(from_newest, "reserved");
                let until = Some(text(in_hours(now, hours)));
                Command::PatchOrder {
                    id,
                    version: of(newest, version),
                    reference: None,
                    until,
                }
            }
            Ask::Complete(from_newest, version) => {
                let (id, newest) = known.order(from_newest, "reserved");
                Command::Complete {
                    id,
                    version: of(newest, version),
                }
            }
            Ask::Cancel(from_newest, version) => {
                let (id, newest) = known.order(from_newest, "reserved");
                Command::Cancel {
                    id,
                    version: of(newest, version),
                }
            }
            Ask::Return(from_newest, version) => {
                let (id, newest) = known.order(from_newest, "completed");
                Command::Return {
                    id,
                    version: of(newest, version),
                }
            }
            Ask::Reopen(from_newest, status, hours, version) => {
                let (id, newest) = known.order(from_newest, status);
                // With a version, so that somebody saw an order that expired before it was reopened.
                let version = of(newest, version.or(Some(0)));
                Command::Reopen {
                    id,
                    version,
                    until: text(in_hours(now, hours)),
                }
            }
            Ask::Pets(..) | Ask::Orders(..) | Ask::Revert(_) => return None,
        })
    }
}

impl Command {
    /// The path and the body of the request.
    fn target_and_body(&self) -> (String, Map<String, Value>) {
        let pet = |id: &i64, what: &str| format!("/v1/store/pets/{id}{what}");
        let order = |id: &i64, what: &str| format!("/v1/store/orders/{id}{what}");
        let (target, body) = match self {
            Command::PatchPet {
                id,
                patch:
                    Patch {
                        name,
                        category_id,
                        status,
                    },
                ..
            } => {
                let fields = json!({ "breed": name });
                let fields = name.is_some().then_some(fields);
                let body = json!({
                    "name": name, "categoryId": category_id, "status": status, "fields": fields,
                });
                (pet(id, ""), body)
            }
            Command::Withdraw { id, reason, .. } => {
                (pet(id, "/withdraw"), json!({ "reason": reason }))
            }
            Command::Restore { id, .. } => (pet(id, "/restore"), json!({})),
            Command::Place {
                pet_id,
                note,
                until,
            } => {
                let status = if until.is_some() {
                    "reserved"
                } else {
                    "completed"
                };
                let body =
                    json!({ "petId": pet_id, "note": note, "status": status, "expiresAt": until });
                ("/v1/store/orders".to_owned(), body)
            }
            Command::PatchOrder {
                id,
                reference,
                until,
                ..
            } => (
                order(id, ""),
                json!({ "reference": reference, "expiresAt": until }),
            ),
            Command::Complete { id, .. } => (order(id, "/complete"), json!({})),
            Command::Cancel { id, .. } => (order(id, "/cancel"), json!({})),
            Command::Return { id, .. } => (order(id, "/return"), json!({})),
            Command::Reopen { id, until, .. } => {
                (order(id, "/reopen"), json!({ "expiresAt": until }))
            }
            Command::Revert { seq, .. } => (format!("/v1/store/changes/{seq}/revert"), json!({})),
            other => unreachable!("{other:?} is no write of a client"),
        };
        let Value::Object(mut body) = body else {
            unreachable!()
        };
        body.retain(|_, value| !value.is_null());
        (target, body)
    }

    /// The `If-Match` of the request, if it has one.
    fn condition(&self) -> Option<String> {
        let needs_one = matches!(
            self,
            Command::PatchPet { .. }
                | Command::PatchOrder { .. }
                | Command::Withdraw { .. }
                | Command::Restore { .. }
        );
        let version = self.version().map(|version| format!("\"{version}\""));
        version.or(needs_one.then(|| "*".to_owned()))
    }

    pub(super) fn request(&self, authorization: &str, key: Option<&str>) -> Request<Bytes> {
        let (target, body) = self.target_and_body();
        let is_patch = matches!(self, Command::PatchPet { .. } | Command::PatchOrder { .. });
        let method = if is_patch {
            Method::PATCH
        } else {
            Method::POST
        };
        let mut request = request(method, &target, authorization);
        if let Some(tag) = self.condition() {
            request = request.header(header::IF_MATCH, tag);
        }
        if let Some(key) = key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        request
            .body(Bytes::from(Value::Object(body).to_string()))
            .unwrap()
    }

    /// The element of a batch.
    fn element(&self) -> Value {
        let command = match self {
            Command::PatchPet { .. } => "patchPet",
            Command::Withdraw { .. } => "withdrawPet",
            Command::Restore { .. } => "restorePet",
            Command::Place { .. } => "placeOrder",
            Command::Complete { .. } => "completeOrder",
            Command::Cancel { .. } => "cancelOrder",
            Command::Return { .. } => "returnOrder",
            Command::Reopen { .. } => "reopenOrder",
            other => unreachable!("{other:?} is not of a batch"),
        };
        let (_, mut element) = self.target_and_body();
        element.insert("command".to_owned(), command.into());
        element.extend(self.pet().map(|id| ("petId".to_owned(), id.into())));
        element.extend(self.order().map(|id| ("orderId".to_owned(), id.into())));
        element.extend(
            self.condition()
                .map(|tag| ("ifMatch".to_owned(), tag.into())),
        );
        Value::Object(element)
    }

    fn is_of_pet(&self) -> bool {
        matches!(
            self,
            Command::ReadPet { .. }
                | Command::PatchPet { .. }
                | Command::Withdraw { .. }
                | Command::Restore { .. }
                | Command::Revert { .. }
        )
    }

    /// What a response means; `None` if the same request is still in progress elsewhere.
    pub(super) fn outcome(&self, response: &Response) -> Option<Outcome> {
        let status = response.status.as_u16();
        if status < 300 && matches!(self, Command::Revert { .. }) {
            let [pet]: [Value; 1] = content(response, response.status);
            return Some(Outcome {
                status,
                code: String::new(),
                shown: shown(pet, true),
            });
        }
        if status < 300 {
            let shown = shown(content(response, response.status), self.is_of_pet());
            let (version, id) = match &shown {
                Shown::Pet(pet) => (pet.version, pet.id),
                Shown::Order(order) => (order.version, order.id),
                Shown::Nothing => unreachable!(),
            };
            assert_eq!(response.tag(), format!("\"{version}\""), "{response:?}");
            let location = (status == 201).then(|| format!("/v1/store/orders/{id}"));
            assert_eq!(response.location(), location.as_deref(), "{response:?}");
            return Some(Outcome {
                status,
                code: String::new(),
                shown,
            });
        }
        self.refusal(content(response, response.status))
    }

    fn refusal(&self, rejection: Rejection) -> Option<Outcome> {
        match rejection.code.as_str() {
            "idempotency_in_progress" => return None,
            "not_found" | "precondition_failed" | "invalid_transition" | "open_order" => {}
            other => panic!("{other} for {self:?}"),
        }
        let is_pet = self.is_of_pet() || matches!(self, Command::Place { .. });
        let shown = rejection
            .current
            .map_or(Shown::Nothing, |current| shown(current, is_pet));
        Some(Outcome {
            status: rejection.status,
            code: rejection.code,
            shown,
        })
    }
}

fn shown(body: Value, is_pet: bool) -> Shown {
    if is_pet {
        Shown::Pet(Box::new(serde_json::from_value(body).unwrap()))
    } else {
        Shown::Order(Box::new(serde_json::from_value(body).unwrap()))
    }
}

const IDEMPOTENCY_KEY: &str = "idempotency-key";

fn request(method: Method, target: &str, authorization: &str) -> request::Builder {
    Request::builder()
        .method(method)
        .uri(target)
        .header(header::AUTHORIZATION, authorization)
        .header(header::CONTENT_TYPE, "application/json")
}

pub(super) fn batch_request(
    commands: &[Command],
    authorization: &str,
    key: &str,
) -> Request<Bytes> {
    let body = commands
        .iter()
        .map(Command::element)
        .collect::<Value>()
        .to_string();
    let request = request(Method::POST, "/v1/store/batch", authorization);
    request
        .header(IDEMPOTENCY_KEY, key)
        .body(Bytes::from(body))
        .unwrap()
}

/// What a response to a batch means; `None` if the same request is still in progress elsewhere.
pub(super) fn batch_outcome(commands: &[Command], response: &Response) -> Option<BatchOutcome> {
    if response.status == StatusCode::OK {
        let results: Vec<Value> = content(response, response.status);
        assert_eq!(results.len(), commands.len(), "{response:?}");
        let results = results.into_iter().zip(commands);
        return Some(Ok(results
            .map(|(body, command)| shown(body, command.is_of_pet()))
            .collect()));
    }
    let rejection: Rejection = content(response, response.status);
    let Some(index) = rejection.failed_index else {
        assert_eq!(rejection.code, "idempotency_in_progress", "{response:?}");
        return None;
    };
    let mut refusal = commands[index].refusal(rejection).unwrap();
    refusal.shown = if index == 0 {
        refusal.shown
    } else {
        Shown::Nothing
    };
    Some(Err((index, refusal)))
}

/// The request of [`super::history::Operation::Label`].
pub(super) fn label_request(
    id: i64,
    version: i64,
    label: Option<&str>,
    authorization: &str,
) -> Request<Bytes> {
    let method = if label.is_some() {
        Method::PUT
    } else {
        Method::DELETE
    };
    let request = request(method, &format!("/v1/store/categories/{id}"), authorization);
    let request = if version == 0 {
        request.header(header::IF_NONE_MATCH, "*")
    } else {
        request.header(header::IF_MATCH, format!("\"{version}\""))
    };
    let body = label
        .map(|label| json!({ "label": label }).to_string())
        .unwrap_or_default();
    request.body(Bytes::from(body)).unwrap()
}

/// Its status, and what its body shows.
pub(super) fn label_outcome(response: &Response) -> (u16, Option<Category>) {
    let shown = match response.status {
        StatusCode::NO_CONTENT => None,
        StatusCode::OK | StatusCode::CREATED => Some(content(response, response.status)),
        status => {
            let rejection: Rejection = content(response, status);
            let code = if status == StatusCode::NOT_FOUND {
                "not_found"
            } else {
                "precondition_failed"
            };
            assert_eq!(rejection.code, code, "{response:?}");
            rejection
                .current
                .map(|current| serde_json::from_value(current).unwrap())
        }
    };
    (response.status.as_u16(), shown)
}
