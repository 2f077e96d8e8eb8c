//! A tour of the pet store in Rust, with reqwest: adds animals, reads all pages, and causes
//! every kind of error. Needs two API keys:
//!
//!     export PETSTORE_KEY=$(petstore keys create --name tour)
//!     export PETSTORE_READ_KEY=$(petstore keys create --name reader --scope read --rate-limit 5/s)
//!     cargo run --manifest-path examples/rust/Cargo.toml --bin tour

use std::{env, sync::atomic::Ordering::Relaxed, time::Duration};

use anyhow::{Context, ensure};
use petstore_tour::{WAITS, field, next_page, send_with_retries};
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PetStatus {
    Available,
    Pending,
    Sold,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NewPet {
    name: String,
    category_id: i64,
    status: PetStatus,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pet {
    id: i64,
    name: String,
    category_id: i64,
    status: PetStatus,
}

/// Why a request failed.
#[derive(Debug)]
enum Error {
    /// The service rejected the request.
    Rejected(Rejection),
    /// There was no response, or one of another service.
    NoResponse(reqwest::Error),
}

/// The body of every error: `code` is for programs, `message` for people.
#[derive(Debug, Deserialize)]
struct Rejection {
    code: String,
    message: String,
    status: u16,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rejected(why) => write!(f, "{} {}: {}", why.status, why.code, why.message),
            Self::NoResponse(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Self {
        Self::NoResponse(error)
    }
}

/// The catalogue, accessed with one API key.
struct Petstore {
    client: Client,
    url: Url,
    key: Option<String>,
}

impl Petstore {
    fn connect(key: Option<&str>) -> anyhow::Result<Self> {
        let url = env::var("PETSTORE_URL").unwrap_or("http://127.0.0.1:8080/v1".to_owned());
        Ok(Self {
            client: Client::builder().timeout(Duration::from_secs(30)).build()?,
            // A base URL for relative targets ends in a slash.
            url: Url::parse(&format!("{url}/"))?,
            key: key.map(str::to_owned),
        })
    }

    /// Adds an animal, only once even if the request is retried.
    async fn add(&self, animal: &impl Serialize, idempotency_key: Uuid) -> Result<Pet, Error> {
        let request = self.request(Method::POST, "pets").json(animal);
        let request = request.header("Idempotency-Key", format!("\"{idempotency_key}\""));
        Ok(self.send(request).await?.json().await?)
    }

    /// Every animal of every page.
    async fn walk(&self, query: &str) -> Result<Vec<Pet>, Error> {
        let mut animals = Vec::new();
        let mut next = Some(format!("pets?{query}"));
        while let Some(target) = next {
            let response = self.get(&target).await?;
            next = next_page(response.headers()).map(str::to_owned);
            animals.extend(response.json::<Vec<Pet>>().await?);
        }
        Ok(animals)
    }

    async fn get(&self, target: &str) -> Result<Response, Error> {
        self.send(self.request(Method::GET, target)).await
    }

    fn request(&self, method: Method, target: &str) -> RequestBuilder {
        let url = self.url.join(target).unwrap_or(self.url.clone());
        let request = self.client.request(method, url);
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Error> {
        let response = send_with_retries(&self.client, request.build()?).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(Error::Rejected(response.json().await?))
    }
}

/// The error that an action must cause.
fn error_of<T>(result: Result<T, Error>) -> anyhow::Result<String> {
    match result {
        Err(Error::Rejected(why)) => Ok(format!("{} {}", why.status, why.code)),
        Err(error) => Err(error.into()),
        Ok(_) => anyhow::bail!("the service did not reject it"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let key = env::var("PETSTORE_KEY").context("PETSTORE_KEY")?;
    let read_key = env::var("PETSTORE_READ_KEY").context("PETSTORE_READ_KEY")?;
    let petstore = Petstore::connect(Some(&key))?;
    let reader = Petstore::connect(Some(&read_key))?;

    let statuses = [PetStatus::Available, PetStatus::Pending, PetStatus::Sold];
    let tour = format!("Tour {}", Uuid::new_v4());
    let mut added = Vec::new();
    let mut last = None;
    for number in 0..12 {
        let name = format!("{tour}, {number}");
        let animal = NewPet {
            name,
            category_id: 7,
            status: statuses[number % 3],
        };
        let idempotency_key = Uuid::new_v4();
        added.push(petstore.add(&animal, idempotency_key).await?);
        last = Some((animal, idempotency_key));
    }
    let (mut animal, idempotency_key) = last.context("nothing was added")?;
    println!(
        "added {} animals, each with an Idempotency-Key",
        added.len()
    );

    ensure!(petstore.add(&animal, idempotency_key).await? == added[11]);
    println!("retried one of them: the same animal, not a second one");

    let mut walked = petstore.walk("limit=5").await?;
    walked.retain(|pet| pet.name.starts_with(&tour));
    ensure!(walked == added);
    println!(
        "read all pages by their links: each of the {} once",
        walked.len()
    );

    let sold = petstore.walk("limit=5&status=sold").await?;
    ensure!(sold.iter().all(|pet| pet.status == PetStatus::Sold));
    let ours = sold
        .iter()
        .filter(|pet| pet.name.starts_with(&tour))
        .count();
    println!("read all pages with the status sold: {ours} of the 12, and no other status");

    let one = petstore.get(&format!("pets/{}", added[0].id)).await?;
    ensure!(field(one.headers(), "deprecation").starts_with('@'));
    ensure!(field(one.headers(), "link").ends_with(r#"rel="successor-version""#));
    println!(
        "read one by its id: deprecated, ends on {}",
        field(one.headers(), "sunset")
    );

    let nobody = Petstore::connect(None)?;
    println!("without a key: {}", error_of(nobody.get("pets").await)?);
    let stranger = Petstore::connect(Some("wrong"))?;
    println!(
        "with an invalid key: {}",
        error_of(stranger.get("pets").await)?
    );
    let error = error_of(reader.add(&animal, Uuid::new_v4()).await)?;
    println!("adding with a read-only key: {error}");
    let error = error_of(petstore.get("pets?limit=500").await)?;
    println!("requesting 500 animals at once: {error}");
    let incomplete = serde_json::json!({ "name": "Frank" });
    let error = error_of(petstore.add(&incomplete, Uuid::new_v4()).await)?;
    println!("adding an animal without a category: {error}");
    animal.name = "Another".to_owned();
    let error = error_of(petstore.add(&animal, idempotency_key).await)?;
    println!("adding another animal with the same Idempotency-Key: {error}");
    let error = error_of(petstore.get("pets/9007199254740991").await)?;
    println!("reading an animal that does not exist: {error}");

    for _ in 0..100 {
        reader.get("pets?limit=1").await?;
        if WAITS.load(Relaxed) > 0 {
            println!(
                "exceeding the rate limit: 429 rate_limited, then 200 after the wait in Retry-After"
            );
            return Ok(());
        }
    }
    anyhow::bail!("the rate limit was never reached")
}
