//! The parts of a service over a store, in this process.

use std::{sync::Arc, time::Duration};

use petstore_api::{self as http, Api, Settings};
use petstore_app::{
    self as app, App,
    delivery::{Registrar, Vault},
};
use petstore_domain::{Clock, Networks};
use petstore_photos::{PhotoStorage, Photos};
use petstore_store::{Store, confirmed_clock::ConfirmedClock};
use petstore_web::{
    edge::{self, Edge},
    server,
};
use rand::{SeedableRng, rngs::StdRng};

/// What the service does. Its webhooks have a key of their own.
pub fn app(store: Arc<dyn Store>, clock: Arc<dyn Clock>, settings: &app::Settings) -> Arc<App> {
    app_with(store, clock, settings, None)
}

/// The same with a storage for photos.
pub fn app_with(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    settings: &app::Settings,
    storage: Option<PhotoStorage>,
) -> Arc<App> {
    app_of_process(4, store, clock, settings, storage)
}

/// The app of one of several processes, with randomness of its own.
pub fn app_of_process(
    seed: u64,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    settings: &app::Settings,
    storage: Option<PhotoStorage>,
) -> Arc<App> {
    // Hundreds of stores in one process need more open files than a usual shell allows.
    server::raise_open_files_limit();
    let vault = Arc::new(Vault::with_key([7; 32]));
    let registrar = Registrar::new(vault, Networks::default(), StdRng::seed_from_u64(3));
    let random = StdRng::seed_from_u64(seed);
    let photos = Arc::new(Photos::new(
        storage,
        Photos::MAX_SIZE,
        Arc::clone(&clock),
        random,
    ));
    let clock = Arc::new(ConfirmedClock::new(Arc::clone(&store), clock));
    Arc::new(App::new(store, clock, registrar, photos, settings))
}

/// What all interfaces share.
pub fn edge(clock: Arc<dyn Clock>, settings: &edge::Settings) -> Edge {
    edge_of_process(1, clock, settings)
}

/// The edge of one of several processes, with request ids of its own.
fn edge_of_process(seed: u64, clock: Arc<dyn Clock>, settings: &edge::Settings) -> Edge {
    let mut random = StdRng::seed_from_u64(seed);
    http::with_routes(Edge::new(clock, &mut random, settings))
}

/// The interface for programs over `store`, with the usual settings, on a machine that may be slow.
pub fn api(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Arc<Api> {
    api_of_process(1, store, clock)
}

/// The interface of one of several processes on one database. Its seed must differ from those of the others: requests
/// of one client with one id at one time would be one act.
pub fn api_of_process(seed: u64, store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Arc<Api> {
    let app = app(store, Arc::clone(&clock), &app::Settings::default());
    let settings = edge::Settings {
        slow_request: Duration::from_mins(1),
        ..edge::Settings::default()
    };
    let edge = edge_of_process(seed, clock, &settings);
    Arc::new(Api::new(app, Arc::new(edge), &Settings::default()).unwrap())
}
