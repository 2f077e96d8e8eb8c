//! The lifecycle of the service, from its first socket to its last write.

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::{FutureExt, future};
use petstore_api::{Api, Management};
use petstore_app::{
    App,
    delivery::{Dispatcher, Registrar},
};
use petstore_console::openid::Provider;
use petstore_databases as databases;
use petstore_domain::SystemClock;
use petstore_observe::{
    log,
    traces::{Exporter, Spans},
};
use petstore_photos::Photos;
use petstore_store::{OpenError, Store, confirmed_clock::ConfirmedClock};
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
    demo_store::DemoStore,
    first_start, management,
    pages::{Listeners, PageParts, Pages},
    reserved_address::ReservedAddress,
    runtime::{self, EndSignals, notify},
    tasks,
    webhooks::KeyFileUser,
};

/// The reserved addresses of a service, and the settings that are read from files before the
/// addresses are reserved. See [`ReservedAddress`].
struct ServiceAddresses {
    tls: Option<Arc<Tls>>,
    provider: Option<Provider>,
    api: ReservedAddress,
    management: Option<ReservedAddress>,
    pages: Pages<ReservedAddress>,
}

/// The listeners of a service, which accept connections, and the settings that they need.
struct ServiceListeners {
    tls: Option<Arc<Tls>>,
    provider: Option<Provider>,
    api: TcpListener,
    management: Option<TcpListener>,
    pages: Listeners,
}

/// The parts of a service that is ready to run.
struct Service {
    store: Arc<dyn Store>,
    app: Arc<App>,
    edge: Arc<Edge>,
    dispatcher: Dispatcher,
    exporter: Option<Exporter>,
    backups: Option<BackupMaker>,
}

impl Serve {
    /// Opens the parts of the service, serves until a signal, and waits for the last write.
    pub(super) async fn serve(mut self, warnings: Vec<String>) -> anyhow::Result<()> {
        // The log starts first, because opening the store can take long, and then logs its
        // progress.
        let _log = log::start(self.log.format, self.log.level);
        log_warnings(warnings);
        let addresses = self.reserve_addresses()?;

        let store = self.open_store().await?;
        let photos = Arc::new(self.photos.open(&self.database.url).await?);
        // Until here, the addresses are only reserved, so that no client connects before the
        // database has its schema.
        let listeners = self.listen(addresses)?;
        let mut signals = match self.end_signals.take() {
            Some(signals) => signals,
            None => EndSignals::for_service()?,
        };

        let max_connections = self.raise_connection_limit();
        let limits = self.server_limits(max_connections);
        let demo = self.demo.take();
        let service = self
            .build_service(&store, photos, &limits, &listeners)
            .await?;
        match demo {
            Some(demo) => {
                let filling = self.fill_demo(demo, &service.app, &listeners);
                tokio::select! {
                    result = filling => result?,
                    () = signals.next() => return Ok(()),
                }
            }
            None => self.log_start(&service.app, &listeners).await?,
        }
        Box::pin(self.run_until_signal(service, listeners, &limits, signals)).await?;
        close_store(store)?;
        Ok(())
    }

    /// Opens the database of the service, which is created if it does not exist.
    async fn open_store(&self) -> Result<Arc<dyn Store>, OpenError> {
        databases::open(
            &self.database.url,
            self.pages.open_mode(),
            self.database_connections,
            &mut runtime::random(),
        )
        .await
    }

    /// Reads the files that the settings name, and then reserves the addresses. In this order, a
    /// port in use does not hide a wrong setting.
    fn reserve_addresses(&self) -> anyhow::Result<ServiceAddresses> {
        let tls = self.tls.load()?;
        let style = self.pages.read_style()?;
        let provider = self.pages.build_provider()?;
        let reserve = if self.demo.is_some() {
            ReservedAddress::new_or_free
        } else {
            ReservedAddress::new
        };
        Ok(ServiceAddresses {
            tls,
            provider,
            api: reserve(self.listen, "--listen")?,
            management: self.management.reserve()?,
            pages: self.pages.reserve(style, reserve)?,
        })
    }

    /// Begins to accept connections at the reserved addresses.
    fn listen(&self, addresses: ServiceAddresses) -> anyhow::Result<ServiceListeners> {
        let listeners = ServiceListeners {
            tls: addresses.tls,
            provider: addresses.provider,
            api: addresses.api.listen()?,
            management: addresses
                .management
                .map(ReservedAddress::listen)
                .transpose()?,
            pages: self.pages.listen(addresses.pages)?,
        };
        management::log_address(listeners.management.as_ref());
        Ok(listeners)
    }

    /// Builds the parts of the service.
    async fn build_service(
        &self,
        store: &Arc<dyn Store>,
        photos: Arc<Photos>,
        limits: &Limits,
        listeners: &ServiceListeners,
    ) -> anyhow::Result<Service> {
        let database = &self.database.url;
        let clock = Arc::new(ConfirmedClock::new(
            Arc::clone(store),
            Arc::new(SystemClock),
        ));
        let traces = self
            .management
            .prepare_traces(self.deployment, &mut runtime::random())?;
        let spans = traces.as_ref().map(|traces| Arc::clone(&traces.spans));
        let registrar = self
            .webhooks
            .build_registrar(database, KeyFileUser::Service);
        let dispatcher = self.build_dispatcher(store, &clock, &registrar, spans.clone())?;
        let app = Arc::new(App::new(
            Arc::clone(store),
            clock,
            registrar,
            photos,
            &self.app_settings(),
        ));
        let backups = self.backups.prepare(database, &app).await?;
        Ok(Service {
            store: Arc::clone(store),
            app,
            edge: Arc::new(self.build_edge(limits, &listeners.pages).with_spans(spans)),
            dispatcher,
            exporter: traces.map(|traces| traces.exporter),
            backups,
        })
    }

    /// Builds the dispatcher, which sends messages to webhooks.
    fn build_dispatcher(
        &self,
        store: &Arc<dyn Store>,
        clock: &Arc<ConfirmedClock>,
        registrar: &Registrar,
        spans: Option<Arc<Spans>>,
    ) -> anyhow::Result<Dispatcher> {
        Ok(Dispatcher::new(
            Arc::clone(store),
            Arc::clone(clock),
            runtime::random(),
            self.webhooks.build_connector()?,
            registrar,
            spans,
        ))
    }

    /// Fills the store of a demo, and prints the addresses.
    async fn fill_demo(
        &self,
        demo: DemoStore,
        app: &Arc<App>,
        listeners: &ServiceListeners,
    ) -> anyhow::Result<()> {
        let urls = self
            .pages
            .urls_for(&listeners.pages, listeners.tls.is_some());
        let address = listeners.api.local_addr()?;
        demo.fill(app, address, &urls).await
    }

    /// Logs the addresses of the service. If the service is new, creates its first key and its
    /// first manager, or logs how to create them.
    async fn log_start(&self, app: &Arc<App>, listeners: &ServiceListeners) -> anyhow::Result<()> {
        let has_tls = listeners.tls.is_some();
        let urls = self.pages.urls_for(&listeners.pages, has_tls);
        let address = listeners.api.local_addr()?;
        let database = &self.database.url;
        let settings = self.api_settings(has_tls);
        let photos = app.photos.storage();
        let store = &*app.store;
        first_start::log_start_and_ensure_access(store, database, photos, &settings, address, urls)
            .await
    }

    /// Serves until a signal begins the shutdown and all requests in flight have ended, or until a
    /// further signal.
    async fn run_until_signal(
        &self,
        service: Service,
        mut listeners: ServiceListeners,
        limits: &Limits,
        signals: EndSignals,
    ) -> anyhow::Result<()> {
        let api = self.build_api(&service, listeners.tls.is_some())?;
        let management = Arc::new(Management::new(Arc::clone(&api)));
        // `stop` ends the listeners. It completes when `wait_for_last_signal` drops the sender.
        let (stop_sender, stop_receiver) = oneshot::channel::<()>();
        let stop = stop_receiver.map(drop).shared();
        let last_signal = wait_for_last_signal(
            signals,
            Arc::clone(&service.store),
            Arc::clone(&management),
            self.shutdown.delay,
            stop_sender,
        );

        // The management listener serves until this guard is dropped, after the tasks have ended.
        let (service_guard, service_ended) = watch::channel(());
        let management_listener = listeners.management.take();
        let serving_clients = async {
            self.serve_clients(service, api, listeners, limits, stop)
                .await;
            drop(service_guard);
        };
        let serving_management =
            management::serve_management(management_listener, management, limits, service_ended);
        let serving =
            async { tokio::join!(serving_clients, serving_management, notify("READY=1")) };
        // The last signal ends the process without waiting for the requests in flight.
        tokio::select! {
            _ = serving => {}
            () = last_signal => {}
            // Only logs, and never completes. If it cannot start, the service runs without it.
            Ok(()) = runtime::log_file_size_limit() => {}
        }
        Ok(())
    }

    /// Builds the HTTP interface.
    fn build_api(&self, service: &Service, has_tls: bool) -> anyhow::Result<Arc<Api>> {
        let settings = self.api_settings(has_tls);
        let app = Arc::clone(&service.app);
        let edge = Arc::clone(&service.edge);
        Ok(Arc::new(Api::new(app, edge, &settings)?))
    }

    /// Runs the tasks, and serves the interface and the pages until `stop` completes. Returns when
    /// all requests in flight and then all tasks have ended.
    async fn serve_clients(
        &self,
        service: Service,
        api: Arc<Api>,
        listeners: ServiceListeners,
        limits: &Limits,
        stop: impl Future<Output = ()> + Clone + Send,
    ) {
        let Service {
            store,
            app,
            edge,
            dispatcher,
            exporter,
            backups,
        } = service;
        let tls = listeners.tls;
        let tasks = tasks::start(&app, &store, tls.as_ref(), exporter, dispatcher, backups);
        let page_parts = PageParts {
            app,
            edge,
            provider: listeners.provider,
            tls: tls.clone(),
            deployment: self.deployment,
        };
        let pages = self
            .pages
            .serve(listeners.pages, page_parts, limits, stop.clone());
        let api_stop = Box::pin(end_change_streams(Arc::clone(&api), stop));
        let requests = server::serve(listeners.api, tls, api.clone_as_handler(), limits, api_stop);
        tokio::join!(requests, pages);
        tasks.shut_down().await;
    }
}

/// Drops the store, which waits for its last write. Fails if changed files of the database have
/// ended the service.
fn close_store(store: Arc<dyn Store>) -> Result<(), FilesChanged> {
    // After a fatal error, the store can never write again. The only cause is changed files.
    let fatal_error = store.wait_for_fatal_error().now_or_never();
    drop(store);
    info!("stopped");
    match fatal_error {
        Some(cause) => Err(FilesChanged(cause)),
        None => Ok(()),
    }
}

/// Shuts the service down in steps, and completes at the signal after the last one:
///
/// 1. At the first signal, or at a fatal error of the store, reports that the service is not ready.
/// 2. After the shutdown delay, or at the next signal, drops `stop_sender` to end the listeners.
async fn wait_for_last_signal(
    mut signals: EndSignals,
    store: Arc<dyn Store>,
    management: Arc<Management>,
    delay: Duration,
    stop_sender: oneshot::Sender<()>,
) {
    future::select(pin!(signals.next()), store.wait_for_fatal_error()).await;
    notify("STOPPING=1").await;
    management.begin_shutdown();
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
    drop(stop_sender);
    signals.next().await;
}

/// Waits for `stop`, then ends the streams of changes. These responses have no end of their own, so
/// they would otherwise delay the shutdown.
async fn end_change_streams(api: Arc<Api>, stop: impl Future<Output = ()>) {
    stop.await;
    let open = api.connections().open.get();
    info!(open, "shutting down");
    api.app().journal.end();
}
