//! What all errors have in common, and errors outside of operations.

use std::sync::Arc;

use async_trait::async_trait;
use petstore_domain::{
    NewPet, PageRequest, Pet, PetId, PetStatus::Available, WriteContext, store_area::Command,
};
use petstore_store::{
    CreationOutcome, CreationRenderer, ExecutionOutcome, ExecutionRenderer, PetVisitor, Pets,
    Store, StoreError, Version,
};
use petstore_testing::{
    harness::{Server, Setup},
    with_pets::{Commands, WithPets},
};
use reqwest::Method;

#[tokio::test]
async fn an_unknown_path_is_404() {
    let server = Server::start().await;
    for target in [
        "/v1",
        "/v1/",
        "/v1/pets/",
        "/v1/pets//",
        "/v1/pets/1/",
        "/v1/pets/1/2",
        "/v1//pets",
        "/v1/Pets",
        "/v1/openapi.yaml",
        "/v2/pets",
        "/pets",
        "/v1%2Fpets",
    ] {
        server.get(target).await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn paths_outside_v1_need_no_key() {
    let server = Server::start().await;
    for target in ["/v1x", "/v2/pets", "/v10/pets", "//v1/pets"] {
        let reply = server.send(Method::GET, target, &[], "").await;
        let error = reply.expect_error(404, "not_found").json();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("begin with /v1"), "{message}");
    }
}

#[tokio::test]
async fn an_unsupported_method_is_405_with_allow() {
    let server = Server::start().await;
    for (methods, target, allow) in [
        (
            ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"],
            "/v1/pets",
            "GET, HEAD, POST",
        ),
        (
            ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "POST"],
            "/v1/pets/1",
            "GET, HEAD",
        ),
        (
            ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "POST"],
            "/openapi.yaml",
            "GET, HEAD",
        ),
        (
            ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "POST"],
            "/docs/a/b",
            "GET, HEAD",
        ),
    ] {
        for method in methods {
            let reply = server.request(method.parse().unwrap(), target).await;
            reply.expect_error(405, "method_not_allowed");
            assert_eq!(reply.header("allow"), Some(allow));
        }
    }
}

/// Fails every call about animals and every command, with an error for the context of the write, if it is one.
struct Failing<F>(Arc<dyn Store>, F);

pub(crate) fn failing(
    store: Arc<dyn Store>,
    error: impl Fn(Option<WriteContext>) -> StoreError + Send + Sync + 'static,
) -> Arc<dyn Store> {
    let failing = Arc::new(Failing(Arc::clone(&store), error));
    let pets = Arc::<Failing<_>>::clone(&failing);
    Arc::new(WithPets {
        pets,
        area: failing,
        rest: store,
        asked: Arc::default(),
    })
}

#[async_trait]
impl<F: Fn(Option<WriteContext>) -> StoreError + Send + Sync> Pets for Failing<F> {
    async fn list_pets(
        &self,
        _: &PageRequest,
        _: PetVisitor<'_>,
    ) -> Result<Option<PetId>, StoreError> {
        Err(self.1(None))
    }
    async fn get_pet(&self, _: PetId) -> Result<Option<Pet>, StoreError> {
        Err(self.1(None))
    }
    async fn create_pet(
        &self,
        _: NewPet,
        context: WriteContext,
        _: CreationRenderer,
    ) -> Result<CreationOutcome, StoreError> {
        Err(self.1(Some(context)))
    }
    async fn version(&self) -> Result<Option<Version>, StoreError> {
        Err(self.1(None))
    }
    fn etag_key(&self) -> [u8; 32] {
        self.0.etag_key()
    }
}

#[async_trait]
impl<F: Fn(Option<WriteContext>) -> StoreError + Send + Sync> Commands for Failing<F> {
    async fn execute(
        &self,
        _: Vec<Command>,
        context: WriteContext,
        _: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError> {
        Err(self.1(Some(context)))
    }
}

async fn server_over(wrap: fn(Arc<dyn Store>) -> Arc<dyn Store>) -> Server {
    Server::start_with(Setup {
        wrap,
        ..Setup::default()
    })
    .await
}

const NEW_PET: &str = r#"{"name": "", "categoryId": 1}"#;

#[tokio::test]
async fn an_overloaded_store_is_503_with_retry_after() {
    let server = server_over(|store| failing(store, |_| StoreError::Overloaded)).await;
    for reply in [
        server.get("/v1/pets").await,
        server.post(NEW_PET).await,
        server.get("/v1/pets/1").await,
    ] {
        reply.expect_error(503, "unavailable");
        assert_eq!(reply.header("retry-after"), Some("1"));
    }
}

#[derive(Debug, thiserror::Error)]
#[error("rusqlite: disk I/O error at /var/lib/petstore.db")]
struct Secret;

#[tokio::test]
async fn an_internal_error_reveals_no_internals() {
    let unavailable =
        |store| -> Arc<dyn Store> { failing(store, |_| StoreError::Unavailable(Arc::new(Secret))) };
    let internal =
        |store| -> Arc<dyn Store> { failing(store, |_| StoreError::Internal(Arc::new(Secret))) };
    for (wrap, status, code) in [
        (unavailable as fn(_) -> _, 503, "unavailable"),
        (internal as fn(_) -> _, 500, "internal"),
    ] {
        let server = server_over(wrap).await;
        for reply in [
            server.get("/v1/pets").await,
            server.post(NEW_PET).await,
            server.get("/v1/pets/1").await,
        ] {
            reply.expect_error(status, code);
            let text = String::from_utf8(reply.body).unwrap();
            for word in ["rusqlite", "I/O", "/var", "::", "Secret"] {
                assert!(!text.contains(word), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn a_create_with_an_unknown_outcome_gets_an_error_that_tells_how_to_retry() {
    let unknown = |store| -> Arc<dyn Store> {
        failing(store, |_| StoreError::OutcomeUnknown(Arc::new(Secret)))
    };
    let reply = server_over(unknown).await.post(NEW_PET).await;
    reply.expect_error(503, "unavailable");
    let error = reply.json();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("may or may not have been made"),
        "{error}"
    );
    assert_eq!(reply.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn no_message_names_a_type_a_library_or_a_line_of_code() {
    let server = Server::start().await;
    let mut replies = vec![
        server.get("/v1/pets?limit=x").await,
        server.get("/v1/pets?x=1").await,
        server.get("/v1/pets?cursor=x").await,
        server.get("/v1/pets/x").await,
        server.get("/v1/x").await,
        server.get_with_key("/v1/pets", "x").await,
        server.request(Method::POST, "/v1/pets").await,
        server.request(Method::PUT, "/v1/pets").await,
    ];
    for body in [
        "",
        "[",
        "[]",
        "{}",
        r#"{"name": 1}"#,
        r#"{"name": "", "categoryId": 1.5}"#,
    ] {
        replies.push(server.post(body).await);
    }
    for reply in replies {
        let message = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(message.ends_with('.'), "{message}");
        for word in [
            "serde",
            "i64",
            "u64",
            "struct",
            "::",
            "expected",
            "invalid type",
            "EOF",
            ".rs",
        ] {
            assert!(!message.contains(word), "{message}");
        }
    }
}

#[tokio::test]
async fn a_panic_is_500_and_the_server_continues() {
    let server = server_over(|store| failing(store, |_| panic!("on purpose"))).await;
    for _ in 0..3 {
        let reply = server.get("/v1/pets").await;
        reply.expect_error(500, "internal");
        assert!(
            !reply.json()["message"]
                .as_str()
                .unwrap()
                .contains("purpose")
        );
    }
    server.fill([Available]).await;
}
