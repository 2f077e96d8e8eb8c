//! The service from its first socket to its last write.

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::{FutureExt, future};
use petstore_api::{Api, Management};
use petstore_app::{App, delivery::Dispatcher};
use petstore_console::openid::Provider;
use petstore_databases as databases;
use petstore_domain::SystemClock;
use petstore_observe::{log, traces::Exporter};
use petstore_photos::Photos;
use petstore_store::{Store, confirmed_clock::ConfirmedClock};
use petstore_web::{
    edge::{Edge, Interface as _},
    server::{self, Limits, Tls},
};
use tokio::{
    net::TcpListener,
    sync::{oneshot, watch},
    time,
};
use tracing::info;

use super::{FilesChanged, Serve, log_warnings};
use crate::cli::{
    backups::BackupMaker,
    demo_store::Demo,
    first_start,
    management::{self, Bound},
    pages::{Faces, Listeners, PageParts},
    runtime::{self, Ends, notify},
    tasks,
    webhooks::KeyFileUser,
};

/// The reserved addresses, and what was read before them.
struct Sockets {
    tls: Option<Arc<Tls>>,
    provider: Option<Provider>,
    api: Bound,
    management: Option<Bound>,
    pages: Faces<Bound>,
}

/// The listeners of a service that accepts connections, and what it needs for them.
struct ServiceListeners {
    tls: Option<Arc<Tls>>,
    provider: Option<Provider>,
    api: TcpListener,
    management: Option<TcpListener>,
    pages: Listeners,
}

/// The parts of a service, before it runs.
struct Service {
    store: Arc<dyn Store>,
    app: Arc<App>,
    edge: Arc<Edge>,
    dispatcher: Dispatcher,
    exporter: Option<Exporter>,
    backups: Option<BackupMaker>,
}

impl Serve {
    /// Opens the parts of the service, runs it until a signal, and waits for the last write.
    pub(super) async fn serve(mut self, warnings: Vec<String>) -> anyhow::Result<()> {
        // The log starts first, because opening the store may take long and logs this.
        let _log = log::start(self.log.format, self.log.level);
        log_warnings(warnings);
        let sockets = self.bind()?;

        let database = &self.database.database;
        let mode = self.pages.open_mode();
        let mut random = runtime::random();
        let store = databases::open(database, mode, self.database_connections, &mut random).await?;
        let photos = Arc::new(self.photos.open(database).await?);
        // Nobody can connect before the schema is there.
        let listeners = self.listen(sockets)?;
        let mut signals = match self.ends.take() {
            Some(signals) => signals,
            None => Ends::of_service()?,
        };

        let limits = self.limits();
        let demo = self.demo.take();
        let service = self.open(&store, photos, &limits, &listeners).await?;
        let is_ready = self
            .prepare(demo, &service.app, &listeners, &mut signals)
            .await?;
        if !is_ready {
            return Ok(());
        }
        self.run_until_signal(service, listeners, &limits, signals)
            .await?;

        let files_changed = store.wait_for_end().now_or_never();
        // Waits for the last write.
        drop(store);
        info!("stopped");
        match files_changed {
            Some(cause) => Err(FilesChanged(cause).into()),
            None => Ok(()),
        }
    }

    /// Reads the files of the settings, and reserves the addresses after that: a port that is in use hides no wrong
    /// setting.
    fn bind(&self) -> anyhow::Result<Sockets> {
        let tls = self.tls.load()?;
        let style = self.pages.style()?;
        let provider = self.pages.provider()?;
        let bind = if self.demo.is_some() {
            Bound::or_free
        } else {
            Bound::new
        };
        Ok(Sockets {
            tls,
            provider,
            api: bind(self.listen, "--listen")?,
            management: self.management.bind()?,
            pages: self.pages.bind(style, bind)?,
        })
    }

    /// Accepts connections from now on.
    fn listen(&self, sockets: Sockets) -> anyhow::Result<ServiceListeners> {
        let listeners = ServiceListeners {
            tls: sockets.tls,
            provider: sockets.provider,
            api: sockets.api.listen()?,
            management: sockets.management.map(Bound::listen).transpose()?,
            pages: self.pages.listen(sockets.pages)?,
        };
        management::log_address(listeners.management.as_ref());
        Ok(listeners)
    }

    /// Opens the parts of the service.
    async fn open(
        &self,
        store: &Arc<dyn Store>,
        photos: Arc<Photos>,
        limits: &Limits,
        listeners: &ServiceListeners,
    ) -> anyhow::Result<Service> {
        let database = &self.database.database;
        let clock = Arc::new(ConfirmedClock::new(
            Arc::clone(store),
            Arc::new(SystemClock),
        ));
        let traces = self
            .management
            .traces(self.deployment, &mut runtime::random())?;
        let (spans, exporter) = traces.unzip();
        let registrar = self.webhooks.registrar(database, KeyFileUser::Service);
        let dispatcher = Dispatcher::new(
            Arc::clone(store),
            Arc::clone(&clock),
            runtime::random(),
            self.webhooks.connector()?,
            &registrar,
            spans.clone(),
        );
        let app = Arc::new(App::new(
            Arc::clone(store),
            clock,
            registrar,
            photos,
            &self.app_settings(),
        ));
        let backups = self.backups.open(database, &app).await?;
        Ok(Service {
            store: Arc::clone(store),
            app,
            edge: Arc::new(self.edge(limits, &listeners.pages).with_spans(spans)),
            dispatcher,
            exporter,
            backups,
        })
    }

    /// Fills the store of a demo, or logs the addresses of the service. Returns whether the service is to run: a signal
    /// can end a demo before it is full.
    async fn prepare(
        &self,
        demo: Option<Demo>,
        app: &Arc<App>,
        listeners: &ServiceListeners,
        signals: &mut Ends,
    ) -> anyhow::Result<bool> {
        let has_tls = listeners.tls.is_some();
        let urls = self.pages.urls(&listeners.pages, has_tls);
        let address = listeners.api.local_addr()?;
        if let Some(demo) = demo {
            tokio::select! {
                result = demo.fill(app, address, &urls) => result?,
                () = signals.next() => return Ok(false),
            }
            return Ok(true);
        }

        let database = &self.database.database;
        let settings = self.settings(has_tls);
        let photos = app.photos.storage();
        first_start::log(&*app.store, database, photos, &settings, address, urls).await?;
        Ok(true)
    }

    /// Serves until the last signal, or until all requests have ended after the first one.
    async fn run_until_signal(
        &self,
        service: Service,
        listeners: ServiceListeners,
        limits: &Limits,
        signals: Ends,
    ) -> anyhow::Result<()> {
        let Service {
            store,
            app,
            edge,
            dispatcher,
            exporter,
            backups,
        } = service;
        let tls = listeners.tls;
        let settings = self.settings(tls.is_some());
        let api = Arc::new(Api::new(Arc::clone(&app), Arc::clone(&edge), &settings)?);
        let management = Arc::new(Management::new(Arc::clone(&api)));
        let (stop_sender, stop_receiver) = oneshot::channel::<()>();
        let stop = stop_receiver.map(drop).shared();
        let (service_guard, service_ended) = watch::channel(());
        let last_signal = wait_for_last_signal(
            signals,
            Arc::clone(&store),
            Arc::clone(&management),
            self.shutdown.delay,
            stop_sender,
        );

        let tasks = tasks::start(&app, &store, tls.as_ref(), exporter, dispatcher, backups);
        let page_parts = PageParts {
            app,
            edge,
            provider: listeners.provider,
            tls: tls.clone(),
            deployment: self.deployment,
        };
        let serving = async {
            let pages = self
                .pages
                .run(listeners.pages, page_parts, limits, stop.clone());
            let api_stop = Box::pin(stop_following(Arc::clone(&api), stop.clone()));
            let requests = server::serve(listeners.api, tls, api.handler(), limits, api_stop);
            tokio::join!(requests, pages);
            tasks.shut_down().await;
            drop(service_guard);
        };
        let management = management::run(listeners.management, management, limits, service_ended);
        let serving = async { tokio::join!(serving, management, notify("READY=1")) };
        // The last signal ends the process without waiting for requests.
        tokio::select! {
            _ = serving => {}
            () = last_signal => {}
            Ok(()) = runtime::log_limit() => {}
        }
        Ok(())
    }
}

/// Waits for the first signal, or for changed files of the database, and begins the shutdown. Completes with the next
/// signal, or with the one after it while the shutdown delay passes. Dropping `stop` ends the listeners.
async fn wait_for_last_signal(
    mut signals: Ends,
    store: Arc<dyn Store>,
    readiness: Arc<Management>,
    delay: Duration,
    stop: oneshot::Sender<()>,
) {
    future::select(pin!(signals.next()), store.wait_for_end()).await;
    notify("STOPPING=1").await;
    readiness.begin_shutdown();
    if !delay.is_zero() {
        let seconds = delay.as_secs_f64();
        info!(
            seconds,
            "not ready; serving until the shutdown delay is over"
        );
        tokio::select! {
            () = time::sleep(delay) => {}
            () = signals.next() => {}
        }
    }
    drop(stop);
    signals.next().await;
}

/// Waits for the stop, then ends the streams of changes, which would go on otherwise.
async fn stop_following(api: Arc<Api>, stop: impl Future<Output = ()>) {
    stop.await;
    let open = api.connections().open.get();
    info!(open, "shutting down");
    api.app().journal.end();
}
