//! A receiver of webhooks in Rust. Prints each message once, with its webhook-id.
//!
//!     export WEBHOOK_SECRET=whsec_...   # printed by `petstore webhooks add`
//!     PORT=9000 cargo run --manifest-path examples/rust/Cargo.toml --bin webhook_receiver

use std::{
    collections::HashSet,
    env,
    sync::{Arc, Mutex},
};

use anyhow::Context;
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;

struct Receiver {
    webhook: Webhook,
    /// A real receiver stores the ids with the messages, so that it knows them after a restart.
    seen: Mutex<HashSet<String>>,
}

/// `body` has the exact bytes: parsed and written again, they would have another signature.
async fn receive(
    State(receiver): State<Arc<Receiver>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    if receiver.webhook.verify(&body, &headers).is_err() {
        return StatusCode::BAD_REQUEST;
    }
    let id = headers["webhook-id"]
        .to_str()
        .unwrap_or_default()
        .to_owned();
    if receiver.seen.lock().unwrap().insert(id.clone()) {
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        println!("{} {id}", message["type"].as_str().unwrap_or_default());
    }
    StatusCode::NO_CONTENT
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let webhook = Webhook::new(&env::var("WEBHOOK_SECRET").context("set WEBHOOK_SECRET")?)?;
    let receiver = Receiver {
        webhook,
        seen: Mutex::default(),
    };
    let router = Router::new()
        .fallback(post(receive))
        .with_state(Arc::new(receiver));
    let port: u16 = env::var("PORT").unwrap_or("9000".to_owned()).parse()?;
    axum::serve(TcpListener::bind(("127.0.0.1", port)).await?, router).await?;
    Ok(())
}
