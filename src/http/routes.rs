//! The route table: every operation of the service, one line each.

use std::time::Duration;

use hyper::{Method, header::HeaderValue, http::request::Parts};

use crate::{
    app::Caller,
    domain::Scope,
    edge::{ApiError, Label, Pattern, Table, UnreadBody},
};
use Access::{Key, Public};
use OpenApi::{Contract, StoreArea};

/// Makes the table, and an [`Operation`] for each line.
macro_rules! routes {
    ($($id:ident $method:ident $path:literal $access:expr, $document:expr, $is_deprecated:expr;)*) => {
        /// Names a line of the table. `Api::process` calls the function of each.
        #[derive(Clone, Copy)]
        #[expect(non_camel_case_types, reason = "the names are those of the contract")]
        pub(crate) enum Operation {
            $($id,)*
        }

        /// All operations. Where two paths match a request, the first one counts. The operations of
        /// the contract come first, because they are the most frequent.
        pub static ROUTES: [Route; [$(stringify!($id)),*].len()] = [$(Route {
            operation: Operation::$id,
            id: stringify!($id),
            method: Method::$method,
            path: $path,
            pattern: Pattern::of($path),
            access: $access,
            document: $document,
            is_deprecated: $is_deprecated,
        },)*];
    };
}

routes! {
    // id           method path                                     access                  document         deprecated
    listPets       GET    "/v1/pets"                               Key(Scope::Read),       Some(Contract),  false;
    createPet      POST   "/v1/pets"                               Key(Scope::Write),      Some(Contract),  false;
    getPet         GET    "/v1/pets/{petId}"                       Key(Scope::Read),       Some(Contract),  true;
    listStorePets  GET    "/v1/store/pets"                         Key(Scope::StoreRead),  Some(StoreArea), false;
    getStorePet    GET    "/v1/store/pets/{petId}"                 Key(Scope::StoreRead),  Some(StoreArea), false;
    addStorePet    POST   "/v1/store/pets"                         Key(Scope::StoreWrite), Some(StoreArea), false;
    patchPet       PATCH  "/v1/store/pets/{petId}"                 Key(Scope::StoreWrite), Some(StoreArea), false;
    withdrawPet    POST   "/v1/store/pets/{petId}/withdraw"        Key(Scope::StoreWrite), Some(StoreArea), false;
    restorePet     POST   "/v1/store/pets/{petId}/restore"         Key(Scope::StoreWrite), Some(StoreArea), false;
    addPhoto       POST   "/v1/store/pets/{petId}/photos"           Key(Scope::StoreWrite), Some(StoreArea), false;
    getPhoto       GET    "/v1/store/pets/{petId}/photos/{photoId}" Key(Scope::StoreRead),  Some(StoreArea), false;
    patchPhoto     PATCH  "/v1/store/pets/{petId}/photos/{photoId}" Key(Scope::StoreWrite), Some(StoreArea), false;
    deletePhoto    DELETE "/v1/store/pets/{petId}/photos/{photoId}" Key(Scope::StoreWrite), Some(StoreArea), false;
    getInventory   GET    "/v1/store/inventory"                    Key(Scope::StoreRead),  Some(StoreArea), false;
    listOrders     GET    "/v1/store/orders"                       Key(Scope::StoreRead),  Some(StoreArea), false;
    placeOrder     POST   "/v1/store/orders"                       Key(Scope::StoreWrite), Some(StoreArea), false;
    getOrder       GET    "/v1/store/orders/{orderId}"             Key(Scope::StoreRead),  Some(StoreArea), false;
    patchOrder     PATCH  "/v1/store/orders/{orderId}"             Key(Scope::StoreWrite), Some(StoreArea), false;
    completeOrder  POST   "/v1/store/orders/{orderId}/complete"    Key(Scope::StoreWrite), Some(StoreArea), false;
    cancelOrder    POST   "/v1/store/orders/{orderId}/cancel"      Key(Scope::StoreWrite), Some(StoreArea), false;
    returnOrder    POST   "/v1/store/orders/{orderId}/return"      Key(Scope::StoreWrite), Some(StoreArea), false;
    reopenOrder    POST   "/v1/store/orders/{orderId}/reopen"      Key(Scope::StoreWrite), Some(StoreArea), false;
    listCategories GET    "/v1/store/categories"                   Key(Scope::StoreRead),  Some(StoreArea), false;
    putCategory    PUT    "/v1/store/categories/{categoryId}"      Key(Scope::StoreWrite), Some(StoreArea), false;
    deleteCategory DELETE "/v1/store/categories/{categoryId}"      Key(Scope::StoreWrite), Some(StoreArea), false;
    listFields     GET    "/v1/store/fields"                       Key(Scope::StoreRead),  Some(StoreArea), false;
    putField       PUT    "/v1/store/fields/{name}"                Key(Scope::StoreAdmin), Some(StoreArea), false;
    deleteField    DELETE "/v1/store/fields/{name}"                Key(Scope::StoreAdmin), Some(StoreArea), false;
    runBatch       POST   "/v1/store/batch"                        Key(Scope::StoreWrite), Some(StoreArea), false;
    followChanges  GET    "/v1/store/changes"                      Key(Scope::StoreRead),  Some(StoreArea), false;
    listAudit      GET    "/v1/store/audit"                        Key(Scope::StoreAdmin), Some(StoreArea), false;
    listWebhooks   GET    "/v1/store/webhooks"                     Key(Scope::StoreAdmin), Some(StoreArea), false;
    addWebhook     POST   "/v1/store/webhooks"                     Key(Scope::StoreAdmin), Some(StoreArea), false;
    getWebhook     GET    "/v1/store/webhooks/{webhookId}"         Key(Scope::StoreAdmin), Some(StoreArea), false;
    patchWebhook   PATCH  "/v1/store/webhooks/{webhookId}"         Key(Scope::StoreAdmin), Some(StoreArea), false;
    deleteWebhook  DELETE "/v1/store/webhooks/{webhookId}"         Key(Scope::StoreAdmin), Some(StoreArea), false;
    rotateWebhookSecret POST "/v1/store/webhooks/{webhookId}/rotate-secret" Key(Scope::StoreAdmin), Some(StoreArea), false;
    testWebhook    POST   "/v1/store/webhooks/{webhookId}/test"    Key(Scope::StoreAdmin), Some(StoreArea), false;
    enableWebhook  POST   "/v1/store/webhooks/{webhookId}/enable"  Key(Scope::StoreAdmin), Some(StoreArea), false;
    listWebhookAttempts GET "/v1/store/webhooks/{webhookId}/attempts" Key(Scope::StoreAdmin), Some(StoreArea), false;
    photoFile      GET    "/photos/{file}"                         Public,                 None,            false;
    openapiYaml    GET    "/openapi.yaml"                          Public,                 None,            false;
    openapiJson    GET    "/openapi.json"                          Public,                 None,            false;
    openapiStoreYaml GET  "/openapi-store.yaml"                    Public,                 None,            false;
    openapiStoreJson GET  "/openapi-store.json"                    Public,                 None,            false;
    apiCatalog     GET    "/.well-known/api-catalog"               Public,                 None,            false;
    root           GET    "/"                                      Public,                 None,            false;
    docsRedirect   GET    "/docs"                                  Public,                 None,            false;
    docsFile       GET    "/docs/{*file}"                          Public,                 None,            false;
}

/// The longest time that a client can tell the service to wait for a change.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(1);

/// How much longer than another request one with a picture may take: to arrive over a slow line, to
/// wait, and to be decoded.
pub(crate) const MAX_UPLOAD: Duration = Duration::from_mins(3);

/// One operation.
pub struct Route {
    pub(crate) operation: Operation,
    /// The name of the operation, as in its document if it has one.
    pub id: &'static str,
    /// The method. `GET` includes `HEAD`.
    pub method: Method,
    /// The path, with two parameters at most: `{name}` stands for one segment that is not empty,
    /// `{*name}` for any rest.
    pub path: &'static str,
    pattern: Pattern,
    /// What a client needs.
    pub access: Access,
    /// The OpenAPI document that describes the operation.
    pub document: Option<OpenApi>,
    /// Whether the operation is removed on the date in `contract/deprecation.rs`.
    pub(crate) is_deprecated: bool,
}

/// What a client needs to call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Public,
    /// An API key that has this scope.
    Key(Scope),
}

/// An OpenAPI document of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenApi {
    /// `openapi.yaml`.
    Contract,
    /// `openapi-store.yaml`.
    StoreArea,
}

/// What an operation gets.
pub(crate) struct Call<'r> {
    pub(crate) request: &'r Parts,
    /// The `X-Request-Id` of the response.
    pub(crate) request_id: &'r HeaderValue,
    pub(crate) route: &'static Route,
    /// The parameter in the path, not decoded. Empty if the operation has none. If it has two, the path
    /// from the first one to the second one.
    pub(crate) parameter: &'r str,
    pub(crate) body: UnreadBody<'r>,
    /// The client, if the operation needs a key.
    pub(crate) caller: Option<&'r Caller>,
}

/// What the table contains for a method and path.
#[derive(Clone, Copy, Default)]
pub(crate) enum Found {
    /// The operation, and the length of the parameter in the path.
    Route(&'static Route, usize),
    /// The first operation at this path. None has this method.
    OtherMethods(&'static Route),
    /// No operation at this path.
    #[default]
    Nothing,
}

/// Looks for the operation with this method and path.
pub(crate) fn find(method: &Method, path: &str) -> Found {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    for route in ROUTES.iter().filter(|route| route.method == method) {
        if let Some(parameter) = route.pattern.parameter_in(path) {
            return Found::Route(route, parameter.len());
        }
    }
    let other = ROUTES.iter().find(|route| route.pattern.parameter_in(path).is_some());
    other.map_or(Found::Nothing, Found::OtherMethods)
}

/// The methods of these operations, each once, as in `Allow`.
pub(crate) fn methods(routes: impl Iterator<Item = &'static Route>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for route in routes {
        let own = if route.method == Method::GET {
            &["GET", "HEAD"][..]
        } else {
            &[route.method.as_str()]
        };
        names.extend(own.iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
    }
    names.join(", ")
}

impl Found {
    /// The operation, and the parameter in the path of the request, not decoded, which is empty if
    /// the operation has none. Fails with 404 for an unknown path, 405 for an unsupported method.
    pub(crate) fn route(self, path: &str) -> Result<(&'static Route, &str), ApiError> {
        match self {
            Self::Route(route, length) => Ok((route, route.pattern.parameter_at(path, length))),
            Self::OtherMethods(route) => {
                Err(ApiError::method_not_allowed(&methods(route.with_same_path())))
            }
            Self::Nothing => Err(ApiError::no_such_path()),
        }
    }

    /// Whether the request for `path` needs a key. Every path under `/v1` does, even one that does
    /// not exist.
    pub(crate) fn needs_key(self, path: &str) -> bool {
        match self {
            Self::Route(route, _) => route.access != Public,
            Self::OtherMethods(_) | Self::Nothing => is_under_v1(path),
        }
    }

    /// How long the operation may wait for a change before it responds.
    pub(crate) fn may_wait(self) -> Duration {
        match self {
            Self::Route(Route { operation: Operation::followChanges, .. }, _) => MAX_WAIT,
            Self::Route(Route { operation: Operation::addPhoto, .. }, _) => MAX_UPLOAD,
            _ => Duration::ZERO,
        }
    }

    /// Whether the operation is deprecated. Without an operation: whether all of the path are.
    pub(crate) fn is_deprecated(self) -> bool {
        match self {
            Self::Route(route, _) => route.is_deprecated,
            Self::OtherMethods(route) => route.with_same_path().all(|route| route.is_deprecated),
            Self::Nothing => false,
        }
    }
}

impl Route {
    /// What metrics, logs and spans show of it.
    pub(crate) fn label(&self) -> Label {
        Label {
            table: Table::Operations,
            index: self.operation as usize,
            id: self.id,
            path: self.path,
        }
    }

    fn with_same_path(&self) -> impl Iterator<Item = &'static Self> {
        ROUTES.iter().filter(|other| other.path == self.path)
    }
}

fn is_under_v1(path: &str) -> bool {
    path.strip_prefix("/v1").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
