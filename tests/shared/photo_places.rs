//! Places of photos: folders, and a service with the interface of Amazon S3 in this process, which can
//! fail in several ways.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fmt::Write,
    path::Path,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, Response, StatusCode, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use petstore::photos::{Folder, Place};
use tokio::{net::TcpListener, task::JoinSet};
use url::{Url, form_urlencoded};

/// The place of photos of a service for which this folder is free.
pub(crate) type PlaceOf = Box<dyn FnOnce(&Path) -> Option<Place>>;

/// This folder as a place of photos.
pub(crate) fn folder(path: &Path) -> Place {
    Folder::new(path.to_owned()).into()
}

/// What the service does with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Works,
    /// Responds with 503 to all.
    Fails,
    /// Responds with 403 to all.
    Forbids,
    /// Never responds.
    Hangs,
    /// Acknowledges objects that it does not keep.
    Lies,
}

type Objects = BTreeMap<String, Bytes>;

/// The service. Its bucket has the name `shop`.
pub(crate) struct FakeBucket {
    endpoint: String,
    mood: Arc<Mutex<Mood>>,
    objects: Arc<Mutex<Objects>>,
    _server: JoinSet<()>,
}

impl FakeBucket {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (mood, objects) = (Arc::new(Mutex::new(Mood::Works)), Arc::<Mutex<Objects>>::default());
        let mut server = JoinSet::new();
        let (of_mood, of_objects) = (Arc::clone(&mood), Arc::clone(&objects));
        server.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let stream = TokioIo::new(listener.accept().await.unwrap().0);
                let (mood, objects) = (Arc::clone(&of_mood), Arc::clone(&of_objects));
                let service = service_fn(move |request| {
                    let (mood, objects) = (Arc::clone(&mood), Arc::clone(&objects));
                    async move { Ok::<_, Infallible>(respond(request, &mood, &objects).await) }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                connections.spawn(connection.serve_connection(stream, service));
            }
        });
        Self { endpoint, mood, objects, _server: server }
    }

    /// The value of `--photos`.
    pub(crate) fn url() -> Url {
        Url::parse("s3://shop/photos").unwrap()
    }

    /// The variables that lead to it.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let variables = [
            ("AWS_ENDPOINT_URL", self.endpoint.as_str()),
            ("AWS_ACCESS_KEY_ID", "till"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ];
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    pub(crate) fn is(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// The names of all objects, without the prefix of the place.
    pub(crate) fn names(&self) -> Vec<String> {
        let objects = self.objects.lock().unwrap();
        objects.keys().map(|name| name.strip_prefix("photos/").unwrap().to_owned()).collect()
    }

    pub(crate) fn put(&self, name: &str, content: Bytes) {
        self.objects.lock().unwrap().insert(format!("photos/{name}"), content);
    }

    pub(crate) fn remove(&self, name: &str) {
        assert!(self.objects.lock().unwrap().remove(&format!("photos/{name}")).is_some());
    }
}

async fn respond(
    request: Request<Incoming>,
    mood: &Mutex<Mood>,
    objects: &Mutex<Objects>,
) -> Response<Full<Bytes>> {
    let mood = *mood.lock().unwrap();
    match mood {
        Mood::Fails => return status(StatusCode::SERVICE_UNAVAILABLE),
        Mood::Forbids => return status(StatusCode::FORBIDDEN),
        Mood::Hangs => return std::future::pending().await,
        Mood::Works | Mood::Lies => {}
    }
    let (head, body) = request.into_parts();
    let authorization =
        head.headers.get("authorization").map_or("", |value| value.to_str().unwrap());
    if !authorization.starts_with("AWS4-HMAC-SHA256 Credential=till/") {
        return status(StatusCode::FORBIDDEN);
    }
    let body = body.collect().await.unwrap().to_bytes();
    let mut objects = objects.lock().unwrap();
    let Some(name) = head.uri.path().strip_prefix("/shop/") else {
        return list(&objects, head.uri.query().unwrap_or_default());
    };
    match head.method {
        Method::PUT => {
            if mood == Mood::Works {
                objects.insert(name.to_owned(), body);
            }
            let response = Response::builder().header("etag", "\"1\"");
            response.body(Full::default()).unwrap()
        }
        Method::DELETE => {
            objects.remove(name);
            status(StatusCode::NO_CONTENT)
        }
        _ => match objects.get(name) {
            None => status(StatusCode::NOT_FOUND),
            Some(content) => {
                let response = Response::builder()
                    .header("etag", "\"1\"")
                    .header("last-modified", "Wed, 01 Jan 2025 00:00:00 GMT");
                let range = head.headers.get("range").map(|range| range.to_str().unwrap());
                let Some(range) = range.and_then(|range| range.strip_prefix("bytes=")) else {
                    let response = response.header("content-length", content.len());
                    return response.body(Full::new(content.clone())).unwrap();
                };
                let (from, last) = range.split_once('-').unwrap();
                let [from, last] = [from, last].map(|at| at.parse::<usize>().unwrap());
                let part = content.slice(from..content.len().min(last + 1));
                let (last, of) = (from + part.len() - 1, content.len());
                response
                    .status(StatusCode::PARTIAL_CONTENT)
                    .header("content-range", format!("bytes {from}-{last}/{of}"))
                    .body(Full::new(part))
                    .unwrap()
            }
        },
    }
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    Response::builder().status(status).body(Full::default()).unwrap()
}

/// The response to `ListObjectsV2`.
fn list(objects: &Objects, query: &str) -> Response<Full<Bytes>> {
    let prefix = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "prefix");
    let prefix = prefix.map(|(_, prefix)| prefix.into_owned()).unwrap_or_default();
    let mut text = String::from("<ListBucketResult><IsTruncated>false</IsTruncated>");
    for (name, content) in
        objects.range(prefix.clone()..).take_while(|(name, _)| name.starts_with(&prefix))
    {
        let size = content.len();
        write!(
            text,
            "<Contents><Key>{name}</Key><LastModified>2025-01-01T00:00:00.000Z</LastModified>\
             <ETag>\"1\"</ETag><Size>{size}</Size></Contents>"
        )
        .unwrap();
    }
    text.push_str("</ListBucketResult>");
    Response::new(Full::from(text))
}
