//! The route table: every operation of the service, one line each.

use std::{pin::Pin, time::Duration};

use Access::{Key, Public};
use petstore_domain::{Problem, Scope};
use petstore_web::edge::{ApiError, Response, RouteMatch, routes};

use super::{
    context::Call,
    documents::{
        self, Documents,
        openapi::{Format, OpenApi},
    },
    store_area::{
        StoreArea, audit, batch, categories, feed, fields, notes,
        order_acts::{self, OrderAct},
        orders, pets, photos, profile, reverts, webhooks,
    },
};

/// Makes an operation of the store area from the scope that a key needs, the handler function, and an extra
/// argument of the handler, if it has one. This is a macro, because a function that takes an `async` function
/// cannot be called in a table of constants.
///
/// Example: `area!(StoreRead, pets::get_pet)` calls `pets::get_pet(area, call)`.
macro_rules! area {
    ($scope:ident, $function:path $(, $argument:expr)?) => {
        Operation {
            document: Some(OpenApi::StoreArea),
            access: Key(Scope::$scope),
            extra_time: Duration::ZERO,
            run: Run::StoreArea(|area, call| Box::pin($function(area, call $(, $argument)?))),
        }
    };
}

/// Makes an operation that sends a document, from a method of [`Documents`] and the extra arguments of the
/// method. This is a macro for the same reason as `area!`.
///
/// Example: `document!(root)` calls `documents.root(call)`.
macro_rules! document {
    ($method:ident $(, $argument:expr)*) => {
        public(Run::Document(|documents, call| Box::pin(documents.$method(call $(, $argument)*))))
    };
}

routes! {
    /// All operations. The operations of the contract come first, because they are called most often.
    pub static ROUTES: Operation = Operations "";
    // id              method path                                                scope, function
    listPets            GET    "/v1/pets"                                          contract(Scope::Read, Run::ListPets);
    createPet           POST   "/v1/pets"                                          contract(Scope::Write, Run::CreatePet);
    getPet              GET    "/v1/pets/{petId}"                                  contract(Scope::Read, Run::GetPet);
    listStorePets       GET    "/v1/store/pets"                                    area!(StoreRead, pets::list_pets);
    getStorePet         GET    "/v1/store/pets/{petId}"                            area!(StoreRead, pets::get_pet);
    addStorePet         POST   "/v1/store/pets"                                    area!(StoreWrite, pets::add_pet);
    patchPet            PATCH  "/v1/store/pets/{petId}"                            area!(StoreWrite, pets::patch_pet);
    withdrawPet         POST   "/v1/store/pets/{petId}/withdraw"                   area!(StoreWrite, pets::withdraw_pet);
    restorePet          POST   "/v1/store/pets/{petId}/restore"                    area!(StoreWrite, pets::restore_pet);
    addPhoto            POST   "/v1/store/pets/{petId}/photos"                     area!(StoreWrite, photos::add_photo).waiting(photos::MAX_UPLOAD);
    orderPhotos         POST   "/v1/store/pets/{petId}/photos/order"               area!(StoreWrite, photos::order_photos);
    getPhoto            GET    "/v1/store/pets/{petId}/photos/{photoId}"           area!(StoreRead, photos::get_photo);
    patchPhoto          PATCH  "/v1/store/pets/{petId}/photos/{photoId}"           area!(StoreWrite, photos::patch_photo);
    deletePhoto         DELETE "/v1/store/pets/{petId}/photos/{photoId}"           area!(StoreWrite, photos::delete_photo);
    listNotes           GET    "/v1/store/pets/{petId}/notes"                      area!(StoreRead, notes::list_notes);
    addNote             POST   "/v1/store/pets/{petId}/notes"                      area!(StoreWrite, notes::add_note);
    getNote             GET    "/v1/store/pets/{petId}/notes/{noteId}"             area!(StoreRead, notes::get_note);
    patchNote           PATCH  "/v1/store/pets/{petId}/notes/{noteId}"             area!(StoreWrite, notes::patch_note);
    deleteNote          DELETE "/v1/store/pets/{petId}/notes/{noteId}"             area!(StoreWrite, notes::delete_note);
    getInventory        GET    "/v1/store/inventory"                               area!(StoreRead, pets::get_inventory);
    listOrders          GET    "/v1/store/orders"                                  area!(StoreRead, orders::list_orders);
    placeOrder          POST   "/v1/store/orders"                                  area!(StoreWrite, orders::place_order);
    getOrder            GET    "/v1/store/orders/{orderId}"                        area!(StoreRead, orders::get_order);
    patchOrder          PATCH  "/v1/store/orders/{orderId}"                        area!(StoreWrite, orders::patch_order);
    completeOrder       POST   "/v1/store/orders/{orderId}/complete"               area!(StoreWrite, order_acts::close_or_reopen, OrderAct::Complete);
    cancelOrder         POST   "/v1/store/orders/{orderId}/cancel"                 area!(StoreWrite, order_acts::close_or_reopen, OrderAct::Cancel);
    returnOrder         POST   "/v1/store/orders/{orderId}/return"                 area!(StoreWrite, order_acts::close_or_reopen, OrderAct::Return);
    reopenOrder         POST   "/v1/store/orders/{orderId}/reopen"                 area!(StoreWrite, order_acts::close_or_reopen, OrderAct::Reopen);
    listCategories      GET    "/v1/store/categories"                              area!(StoreRead, categories::list_categories);
    putCategory         PUT    "/v1/store/categories/{categoryId}"                 area!(StoreWrite, categories::put_category);
    deleteCategory      DELETE "/v1/store/categories/{categoryId}"                 area!(StoreWrite, categories::delete_category);
    listFields          GET    "/v1/store/fields"                                  area!(StoreRead, fields::list_fields);
    putField            PUT    "/v1/store/fields/{name}"                           area!(StoreAdmin, fields::put_field);
    deleteField         DELETE "/v1/store/fields/{name}"                           area!(StoreAdmin, fields::delete_field);
    getProfile          GET    "/v1/store/profile"                                 area!(StoreRead, profile::get_profile);
    patchProfile        PATCH  "/v1/store/profile"                                 area!(StoreAdmin, profile::patch_profile);
    putLogo             PUT    "/v1/store/profile/logo"                            area!(StoreAdmin, profile::put_logo).waiting(photos::MAX_UPLOAD);
    deleteLogo          DELETE "/v1/store/profile/logo"                            area!(StoreAdmin, profile::delete_logo);
    runBatch            POST   "/v1/store/batch"                                   area!(StoreWrite, batch::run_batch);
    followChanges       GET    "/v1/store/changes"                                 area!(StoreRead, feed::follow_changes).waiting(feed::MAX_WAIT);
    revertChange        POST   "/v1/store/changes/{seq}/revert"                    area!(StoreWrite, reverts::revert_change);
    listAudit           GET    "/v1/store/audit"                                   area!(StoreAdmin, audit::list_audit);
    listWebhooks        GET    "/v1/store/webhooks"                                area!(StoreAdmin, webhooks::list_webhooks);
    addWebhook          POST   "/v1/store/webhooks"                                area!(StoreAdmin, webhooks::add_webhook);
    getWebhook          GET    "/v1/store/webhooks/{webhookId}"                    area!(StoreAdmin, webhooks::get_webhook);
    patchWebhook        PATCH  "/v1/store/webhooks/{webhookId}"                    area!(StoreAdmin, webhooks::patch_webhook);
    deleteWebhook       DELETE "/v1/store/webhooks/{webhookId}"                    area!(StoreAdmin, webhooks::delete_webhook);
    rotateWebhookSecret POST   "/v1/store/webhooks/{webhookId}/rotate-secret"      area!(StoreAdmin, webhooks::rotate_secret);
    testWebhook         POST   "/v1/store/webhooks/{webhookId}/test"               area!(StoreAdmin, webhooks::test_webhook);
    enableWebhook       POST   "/v1/store/webhooks/{webhookId}/enable"             area!(StoreAdmin, webhooks::enable_webhook);
    listWebhookAttempts GET    "/v1/store/webhooks/{webhookId}/attempts"           area!(StoreAdmin, webhooks::list_attempts);
    photoFile           GET    "/photos/{file}"                                    public(Run::PhotoFile);
    openapiYaml         GET    "/openapi.yaml"                                     document!(openapi, OpenApi::Contract, Format::Yaml);
    openapiJson         GET    "/openapi.json"                                     document!(openapi, OpenApi::Contract, Format::Json);
    openapiStoreYaml    GET    "/openapi-store.yaml"                               document!(openapi, OpenApi::StoreArea, Format::Yaml);
    openapiStoreJson    GET    "/openapi-store.json"                               document!(openapi, OpenApi::StoreArea, Format::Json);
    apiCatalog          GET    "/.well-known/api-catalog"                          document!(catalog);
    root                GET    "/"                                                 document!(root);
    docsRedirect        GET    "/docs"                                             public(Run::Document(|_, _| Box::pin(documents::docs_redirect())));
    docsFile            GET    "/docs/{*file}"                                     document!(docs_file);
}

/// An operation: who may call it, and the function that handles it.
#[derive(Clone, Copy)]
pub struct Operation {
    /// The access that a client needs.
    pub access: Access,
    /// The OpenAPI document that describes the operation.
    pub document: Option<OpenApi>,
    /// How much longer than the usual time limit the operation may take, to wait for a change or a picture.
    pub extra_time: Duration,
    /// The function that handles the operation.
    pub run: Run,
}

/// The access that a client needs to call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No access is needed: everybody may call the operation.
    Public,
    /// An API key with this scope.
    Key(Scope),
}

/// The future of an operation. It is boxed, because otherwise every request would need as much memory as
/// the largest future.
type OperationFuture<'c> = Pin<Box<dyn Future<Output = Result<Response, ApiError>> + Send + 'c>>;

/// The function that handles an operation.
#[derive(Clone, Copy)]
pub enum Run {
    /// `listPets`. Like `createPet` and `getPet`, it is called very often, so `Api::process` calls its
    /// function directly. A function pointer would cost an allocation for the boxed future, and a further
    /// layer would cost about 250 instructions.
    ListPets,
    /// `createPet`.
    CreatePet,
    /// `getPet`.
    GetPet,
    /// A function of the store area.
    StoreArea(for<'c> fn(&'c StoreArea, Call<'c>) -> OperationFuture<'c>),
    /// A method that sends a public document.
    Document(for<'c> fn(&'c Documents, Call<'c>) -> OperationFuture<'c>),
    /// The file of a photo. `Api` handles it, because only some photos need a key.
    PhotoFile,
}

/// Returns an operation of the contract, which needs a key with this scope.
const fn contract(scope: Scope, run: Run) -> Operation {
    Operation {
        access: Key(scope),
        document: Some(OpenApi::Contract),
        extra_time: Duration::ZERO,
        run,
    }
}

/// Returns an operation that everybody may call.
const fn public(run: Run) -> Operation {
    Operation {
        access: Public,
        document: None,
        extra_time: Duration::ZERO,
        run,
    }
}

impl Operation {
    /// Returns the operation with this additional time to wait before it responds.
    const fn waiting(self, extra_time: Duration) -> Self {
        Self { extra_time, ..self }
    }

    /// Whether the operation is deprecated. It is removed on the date in `contract/deprecation.rs`.
    fn is_deprecated(&self) -> bool {
        matches!(self.run, Run::GetPet)
    }
}

/// Whether a request for `path` needs a key. Every path under `/v1` does, even if it does not exist.
pub(crate) fn needs_key(route_match: RouteMatch<Operation>, path: &str) -> bool {
    match route_match {
        RouteMatch::Route { route, .. } => route.target.access != Public,
        RouteMatch::OtherMethods(_) | RouteMatch::Nothing => is_under_v1(path),
    }
}

/// Returns how much longer than the usual time limit of requests the operation may take.
pub(crate) fn extra_time(route_match: RouteMatch<Operation>) -> Duration {
    match route_match {
        RouteMatch::Route { route, .. } => route.target.extra_time,
        RouteMatch::OtherMethods(_) | RouteMatch::Nothing => Duration::ZERO,
    }
}

/// Whether the requested operation is deprecated. If no operation at the path has the requested method, the
/// first operation at the path counts.
pub(crate) fn is_deprecated(route_match: RouteMatch<Operation>) -> bool {
    match route_match {
        RouteMatch::Route { route, .. } | RouteMatch::OtherMethods(route) => {
            route.target.is_deprecated()
        }
        RouteMatch::Nothing => false,
    }
}

/// Whether a path is `/v1` or below it.
fn is_under_v1(path: &str) -> bool {
    path.strip_prefix("/v1")
        .is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('/'))
}

/// Replaces the message of a 404 with one that says where the paths of the API begin. Returns other errors
/// unchanged.
pub(crate) fn explain_unknown_path(error: ApiError) -> ApiError {
    if error.problem() != Problem::NotFound {
        return error;
    }
    let message = "This path does not exist. The paths of the interface begin with /v1, and /docs describes them.";
    ApiError::new(Problem::NotFound, message)
}
