//! The tour with a client that progenitor generates from the contract. A request that violates the
//! contract does not compile, or is rejected before it is sent.
//!
//!     cargo run --manifest-path examples/rust/Cargo.toml --bin generated

use std::{env, sync::atomic::Ordering::Relaxed};

use anyhow::{Context, ensure};
use petstore_tour::{WAITS, field, next_page, send_with_retries};
use progenitor_client::{ClientHooks, OperationInfo};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use uuid::Uuid;

use crate::client::{
    Client, ClientInfo, Error, ResponseValue,
    types::{self, NewPet, Pet, PetStatus, Pets},
};

mod client {
    progenitor::generate_api!(spec = "../../openapi/openapi.yaml", interface = Builder);
}

/// Sends every request of the client with retries.
impl ClientHooks<()> for Client {
    async fn exec(
        &self,
        request: reqwest::Request,
        _: &OperationInfo,
    ) -> reqwest::Result<reqwest::Response> {
        send_with_retries(self.client(), request).await
    }
}

type Outcome<T> = Result<ResponseValue<T>, Error<types::Error>>;

fn connect(key: Option<&str>) -> anyhow::Result<Client> {
    let url = env::var("PETSTORE_URL").unwrap_or("http://127.0.0.1:8080/v1".to_owned());
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        headers.insert(AUTHORIZATION, format!("Bearer {key}").parse()?);
    }
    let client = reqwest::Client::builder()
        .default_headers(headers)
        .build()?;
    Ok(Client::new_with_client(&url, client))
}

async fn add(client: &Client, animal: &NewPet, key: Uuid) -> Outcome<Pet> {
    let key = format!("\"{key}\"");
    client
        .create_pet()
        .idempotency_key(key)
        .body(animal.clone())
        .send()
        .await
}

/// Every animal of every page. The cursor is in the link of each page.
async fn walk(client: &Client, status: Option<PetStatus>) -> anyhow::Result<Vec<Pet>> {
    let mut animals = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut request = client.list_pets().limit(5);
        if let Some(status) = status {
            request = request.status(status);
        }
        if let Some(cursor) = cursor {
            request = request.cursor(cursor);
        }
        let page: ResponseValue<Pets> = request.send().await?;
        cursor = next_page(page.headers()).and_then(|link| {
            let (_, query) = link.split_once('?')?;
            query
                .split('&')
                .find_map(|pair| pair.strip_prefix("cursor="))
                .map(str::to_owned)
        });
        animals.extend(page.into_inner().0);
        if cursor.is_none() {
            return Ok(animals);
        }
    }
}

/// The error that an action must cause.
fn error_of<T>(result: Outcome<T>) -> anyhow::Result<String> {
    match result {
        Err(Error::ErrorResponse(why)) => Ok(format!("{} {}", why.status, *why.code)),
        Err(error) => Err(anyhow::anyhow!("{error:?}")),
        Ok(_) => anyhow::bail!("the service did not reject it"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let key = env::var("PETSTORE_KEY").context("PETSTORE_KEY")?;
    let read_key = env::var("PETSTORE_READ_KEY").context("PETSTORE_READ_KEY")?;
    let petstore = connect(Some(&key))?;
    let reader = connect(Some(&read_key))?;

    let statuses = [PetStatus::Available, PetStatus::Pending, PetStatus::Sold];
    let tour = format!("Tour {}", Uuid::new_v4());
    let mut added = Vec::new();
    let mut last = None;
    for number in 0..12 {
        let name = format!("{tour}, {number}");
        let animal: NewPet = NewPet::builder()
            .name(name)
            .category_id(7)
            .status(statuses[number % 3])
            .try_into()?;
        let idempotency_key = Uuid::new_v4();
        added.push(add(&petstore, &animal, idempotency_key).await?.into_inner());
        last = Some((animal, idempotency_key));
    }
    let (mut animal, idempotency_key) = last.context("nothing was added")?;
    println!(
        "added {} animals, each with an Idempotency-Key",
        added.len()
    );

    ensure!(add(&petstore, &animal, idempotency_key).await?.id == added[11].id);
    println!("retried one of them: the same animal, not a second one");

    let mut walked = walk(&petstore, None).await?;
    walked.retain(|pet| pet.name.starts_with(&tour));
    ensure!(
        walked
            .iter()
            .map(|pet| pet.id)
            .eq(added.iter().map(|pet| pet.id))
    );
    println!(
        "read all pages by their links: each of the {} once",
        walked.len()
    );

    let sold = walk(&petstore, Some(PetStatus::Sold)).await?;
    ensure!(sold.iter().all(|pet| pet.status == Some(PetStatus::Sold)));
    let ours = sold
        .iter()
        .filter(|pet| pet.name.starts_with(&tour))
        .count();
    println!("read all pages with the status sold: {ours} of the 12, and no other status");

    let id = i64::try_from(added[0].id.get())?;
    let one = petstore.get_pet().pet_id(id).send().await?;
    ensure!(field(one.headers(), "deprecation").starts_with('@'));
    ensure!(field(one.headers(), "link").ends_with(r#"rel="successor-version""#));
    println!(
        "read one by its id: deprecated, ends on {}",
        field(one.headers(), "sunset")
    );

    println!(
        "without a key: {}",
        error_of(connect(None)?.list_pets().send().await)?
    );
    println!(
        "with an invalid key: {}",
        error_of(connect(Some("wrong"))?.list_pets().send().await)?
    );
    let error = error_of(add(&reader, &animal, Uuid::new_v4()).await)?;
    println!("adding with a read-only key: {error}");
    let error = error_of(petstore.list_pets().limit(500).send().await)?;
    println!("requesting 500 animals at once: {error}");
    animal.name = "Another".parse()?;
    let error = error_of(add(&petstore, &animal, idempotency_key).await)?;
    println!("adding another animal with the same Idempotency-Key: {error}");
    let error = error_of(
        petstore
            .get_pet()
            .pet_id(9_007_199_254_740_991_i64)
            .send()
            .await,
    )?;
    println!("reading an animal that does not exist: {error}");

    for _ in 0..100 {
        reader.list_pets().limit(1).send().await?;
        if WAITS.load(Relaxed) > 0 {
            println!(
                "exceeding the rate limit: 429 rate_limited, then 200 after the wait in Retry-After"
            );
            return Ok(());
        }
    }
    anyhow::bail!("the rate limit was never reached")
}
