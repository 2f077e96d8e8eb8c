//! The operations of the contract (`/v1/pets`), one file each, and the parts that they share.

pub(super) mod create;
mod cursor;
pub(super) mod deprecation;
pub(super) mod get;
pub(super) mod list;
mod wire;

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::HeaderValue;
use petstore_app::App;
use petstore_domain::{Limit, PetStatus};
use petstore_observe::metrics::{Counter, Exposition, Kind};
use petstore_web::edge::cache::Cache;

use super::context::Context;

/// The maximum number of cached first pages. Their content is 8 MiB at most, and takes twice as much memory
/// at most.
const MAX_PAGES: usize = 128;

/// A rendered page, ready to send.
#[derive(Clone)]
struct RenderedPage {
    body: Bytes,
    /// The link to the next page, if there is one.
    next: Option<HeaderValue>,
    etag: HeaderValue,
}

/// The parts that the operations of the contract share.
pub(crate) struct Contract {
    app: Arc<App>,
    http: Arc<Context>,
    /// The cached first pages, by the status filter and the limit of the request.
    first_pages: Cache<(Option<PetStatus>, Limit), RenderedPage>,
    /// Requests for first pages that were cached.
    hits: Counter,
    /// Requests for first pages that were not cached.
    misses: Counter,
    /// The path of `listPets` as clients see it, for links.
    pets_path: String,
}

impl Contract {
    /// Creates the shared parts, with an empty cache.
    pub(crate) fn new(app: Arc<App>, http: Arc<Context>, pets_path: String) -> Self {
        Self {
            app,
            http,
            first_pages: Cache::with_capacity(MAX_PAGES),
            hits: Counter::default(),
            misses: Counter::default(),
            pets_path,
        }
    }

    /// Writes the metrics of the cache.
    pub(crate) fn expose(&self, exposition: &mut Exposition) {
        let name = "petstore_first_pages_total";
        let help = "Requests for first pages, by whether the page was cached.";
        exposition.begin(Kind::Counter, name, help);
        for (cache, counter) in [("hit", &self.hits), ("miss", &self.misses)] {
            exposition.sample(name, &[("cache", &cache)], counter.get());
        }
    }
}
