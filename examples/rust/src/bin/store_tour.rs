//! A second tour in Rust, for the people in the store: adds an animal, reserves, sells and takes it
//! back, changes it, gives it a photo, and withdraws it. Needs an API key for the store area:
//!
//!     export PETSTORE_STORE_KEY=$(petstore keys create --name staff --scope store:write)
//!     cargo run --manifest-path examples/rust/Cargo.toml --bin store_tour

use std::{collections::BTreeMap, env};

use anyhow::{Context, bail, ensure};
use petstore_tour::{field, send_with_retries};
use reqwest::{Client, Method, RequestBuilder, Url, header};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use uuid::Uuid;

/// A PNG of one pixel.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\
    \0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\
    \0\0\0\x0aIDATx\x9cc\xf8\x0f\0\x01\x01\x01\0\xb18\xf6\x14\
    \0\0\0\0IEND\xaeB`\x82";

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StorePet {
    id: i64,
    name: String,
    status: String,
    version: i64,
    order_id: Option<i64>,
    withdrawn: Option<Withdrawn>,
    fields: BTreeMap<String, Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Withdrawn {
    reason: String,
}

#[derive(Debug, Deserialize)]
struct Photo {
    width: u32,
    height: u32,
    urls: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Order {
    id: i64,
    status: String,
}

/// The body of an error. `current` is the present state, if that is the reason.
#[derive(Debug, Deserialize)]
struct Rejection {
    code: String,
    status: u16,
    current: Option<Value>,
}

struct Store {
    client: Client,
    url: Url,
    key: String,
}

impl Store {
    /// Sends a request. With an `Idempotency-Key`, every change is safe to retry. The inner error is
    /// a rejection by the service.
    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        target: &str,
        body: Option<&Value>,
        version: Option<i64>,
    ) -> anyhow::Result<Result<T, Rejection>> {
        let mut request = self.client.request(method, self.url.join(target)?);
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(version) = version {
            request = request.header(header::IF_MATCH, format!("\"{version}\""));
        }
        self.send_request(request).await
    }

    async fn send_request<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> anyhow::Result<Result<T, Rejection>> {
        let mut request = request.bearer_auth(&self.key).build()?;
        if request.method() != Method::GET {
            let key = format!("\"{}\"", Uuid::new_v4());
            request
                .headers_mut()
                .insert("Idempotency-Key", key.parse()?);
        }
        let response = send_with_retries(&self.client, request).await?;
        Ok(if response.status().is_success() {
            Ok(response.json().await?)
        } else {
            Err(response.json().await?)
        })
    }

    async fn get<T: DeserializeOwned>(&self, target: &str) -> anyhow::Result<T> {
        done(self.send(Method::GET, target, None, None).await?)
    }

    async fn post<T: DeserializeOwned>(&self, target: &str, body: Value) -> anyhow::Result<T> {
        done(self.send(Method::POST, target, Some(&body), None).await?)
    }
}

/// What the service did not reject.
fn done<T>(result: Result<T, Rejection>) -> anyhow::Result<T> {
    result.map_err(|why| anyhow::anyhow!("the service rejected it: {why:?}"))
}

/// The error that a request must cause.
fn rejected(result: anyhow::Result<Result<Value, Rejection>>) -> anyhow::Result<Rejection> {
    match result? {
        Err(why) => Ok(why),
        Ok(value) => bail!("the service did not reject it: {value}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let url = env::var("PETSTORE_URL").unwrap_or("http://127.0.0.1:8080/v1".to_owned());
    let store = Store {
        client: Client::new(),
        // A base URL for relative targets ends in a slash.
        url: Url::parse(&format!("{url}/"))?,
        key: env::var("PETSTORE_STORE_KEY").context("PETSTORE_STORE_KEY")?,
    };
    let name = format!("Frank {}", Uuid::new_v4());
    let microchip = format!("276098{:09}", Uuid::new_v4().as_u128() % 1_000_000_000);
    let fields = json!({ "species": "Cat", "breed": "Siamese", "microchip": microchip });
    let animal = json!({ "name": name, "categoryId": 7, "fields": fields });
    let mut animal: StorePet = store.post("store/pets", animal).await?;
    let id = animal.id;
    let path = format!("store/pets/{id}");
    let species = animal.fields["species"].as_str().unwrap_or("nothing");
    println!(
        "added an animal with values: it is a {species}, and {}",
        animal.status
    );

    let found: Vec<StorePet> = store
        .get(&format!("store/pets?field.microchip={microchip}"))
        .await?;
    ensure!(found == [animal]);
    println!("searched it by its microchip: found {}", found.len());

    let order = json!({ "petId": id, "reference": "R-1" });
    let mut order: Order = store.post("store/orders", order).await?;
    animal = store.get(&path).await?;
    ensure!(animal.order_id == Some(order.id));
    println!(
        "placed an order: it is {}, and the animal {}",
        order.status, animal.status
    );

    let again = json!({ "petId": id });
    let taken = rejected(
        store
            .send(Method::POST, "store/orders", Some(&again), None)
            .await,
    )?;
    let now = taken.current.unwrap_or_default()["status"].clone();
    let now = now.as_str().unwrap_or("nothing");
    println!(
        "reserving the animal again: {} {}, it is {now}",
        taken.status, taken.code
    );

    for (command, did) in [("complete", "completed"), ("return", "returned")] {
        order = store
            .post(&format!("store/orders/{}/{command}", order.id), json!({}))
            .await?;
        animal = store.get(&path).await?;
        println!(
            "{did} the order: it is {}, and the animal {}",
            order.status, animal.status
        );
    }

    let version = animal.version;
    let patch = async |body, version| {
        store
            .send::<Value>(Method::PATCH, &path, Some(&body), version)
            .await
    };
    let changed = done(patch(json!({ "name": format!("Ä{name}") }), Some(version)).await?)?;
    let changed: StorePet = serde_json::from_value(changed)?;
    println!(
        "changed the name: from version {version} to {}",
        changed.version
    );

    let stale = rejected(patch(json!({ "name": "Lola" }), Some(version)).await)?;
    let current: StorePet = serde_json::from_value(stale.current.unwrap_or_default())?;
    ensure!(current == changed);
    println!(
        "changing it with the old version: {} {}, it has version {}",
        stale.status, stale.code, current.version
    );
    let error = rejected(patch(json!({}), None).await)?;
    println!(
        "changing it without a version: {} {}",
        error.status, error.code
    );
    let error = rejected(patch(json!({ "nmae": "Lola" }), Some(changed.version)).await)?;
    println!(
        "changing a member that does not exist: {} {}",
        error.status, error.code
    );

    let mut search = store.url.join("store/pets")?;
    search
        .query_pairs_mut()
        .append_pair("name", &format!("a{}", name.to_uppercase()));
    let found: Vec<StorePet> = store.get(search.as_str()).await?;
    ensure!(found == [changed]);
    println!(
        "searched it by its name, without accents: found {}",
        found.len()
    );

    let request = store
        .client
        .post(store.url.join(&format!("{path}/photos"))?);
    let request = request
        .header(header::CONTENT_TYPE, "image/png")
        .body(PICTURE);
    let Photo {
        width,
        height,
        urls,
    } = done(store.send_request(request).await?)?;
    animal = store.get(&path).await?;
    let version = animal.version;
    println!("added a photo: it has {width} by {height} pixels, and the animal version {version}");
    let small = store.client.get(store.url.join(&urls["small"])?).build()?;
    let small = send_with_retries(&store.client, small)
        .await?
        .error_for_status()?;
    println!(
        "fetched its small picture without a key: {}",
        field(small.headers(), "content-type")
    );

    let gone = json!({ "reason": "transferred", "note": "To the shelter in Petaluma." });
    let gone = store
        .send(
            Method::POST,
            &format!("{path}/withdraw"),
            Some(&gone),
            Some(version),
        )
        .await?;
    animal = done(gone)?;
    let reason = animal.withdrawn.context("it was not withdrawn")?.reason;
    println!("withdrew it: the reason is {reason}");
    let missing = store
        .send(Method::GET, &format!("pets/{id}"), None, None)
        .await;
    let missing = rejected(missing)?;
    println!(
        "reading it by the contract: {} {}",
        missing.status, missing.code
    );
    Ok(())
}
