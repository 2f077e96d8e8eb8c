//! Places of photos and of backups: folders, and a service with the interface of Amazon S3 in this process,
//! which can fail in several ways.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fmt::Write,
    path::Path,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, http::request::Parts,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use petstore_photos::{Folder, PhotoStorage};
use tokio::{net::TcpListener, task::JoinSet};
use url::{Url, form_urlencoded};

/// The storage of photos of a service for which this folder is free.
pub type StorageOf = Box<dyn FnOnce(&Path) -> Option<PhotoStorage>>;

/// This folder as a storage of photos.
pub fn folder(path: &Path) -> PhotoStorage {
    Folder::new(path.to_owned()).into()
}

/// What the service does with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Works,
    /// Responds with 503 to all.
    Fails,
    /// Responds with 403 to all.
    Forbids,
    /// Never responds.
    Hangs,
    /// Acknowledges objects that it does not keep.
    Lies,
    /// Keeps only half of each object that it gets.
    Halves,
    /// Keeps another last byte of each object that it gets.
    Alters,
    /// Responds with 403 to each request to delete an object.
    KeepsAll,
    /// Rejects each object, and says why.
    IsFull,
    /// Rejects objects without a checksum, as a bucket with Object Lock does.
    WantsChecksums,
    /// Responds to the end of an upload with 200, and with an error in the body.
    Regrets,
}

type Objects = BTreeMap<String, Bytes>;

/// The uploads that are not complete, by their names, with the parts of each.
type Uploads = BTreeMap<String, Vec<Bytes>>;

/// The shortest part of an upload that is not its last one.
const SHORTEST_PART: usize = 5 << 20;

/// The service. Its bucket has the name `shop`.
pub struct FakeBucket {
    endpoint: String,
    mood: Arc<Mutex<Mood>>,
    objects: Arc<Mutex<Objects>>,
    uploads: Arc<Mutex<Uploads>>,
    _server: JoinSet<()>,
}

impl FakeBucket {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (mood, objects) = (
            Arc::new(Mutex::new(Mood::Works)),
            Arc::<Mutex<Objects>>::default(),
        );
        let mut server = JoinSet::new();
        let uploads = Arc::<Mutex<Uploads>>::default();
        let (of_mood, of_objects) = (Arc::clone(&mood), Arc::clone(&objects));
        let of_uploads = Arc::clone(&uploads);
        server.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let stream = TokioIo::new(listener.accept().await.unwrap().0);
                let (mood, objects) = (Arc::clone(&of_mood), Arc::clone(&of_objects));
                let uploads = Arc::clone(&of_uploads);
                let service = service_fn(move |request| {
                    let (mood, objects) = (Arc::clone(&mood), Arc::clone(&objects));
                    let uploads = Arc::clone(&uploads);
                    async move {
                        Ok::<_, Infallible>(respond(request, &mood, &objects, &uploads).await)
                    }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                connections.spawn(connection.serve_connection(stream, service));
            }
        });
        Self {
            endpoint,
            mood,
            objects,
            uploads,
            _server: server,
        }
    }

    /// The value of `--photos`.
    pub fn url() -> Url {
        Url::parse("s3://shop/photos").unwrap()
    }

    /// The variables that lead to it.
    pub fn variables(&self) -> Vec<(String, String)> {
        let variables = [
            ("AWS_ENDPOINT_URL", self.endpoint.as_str()),
            ("AWS_ACCESS_KEY_ID", "till"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ];
        variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec()
    }

    pub fn is(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// The names of all objects, without the prefix of the storage.
    pub fn names(&self) -> Vec<String> {
        let objects = self.objects.lock().unwrap();
        objects
            .keys()
            .map(|name| name.strip_prefix("photos/").unwrap().to_owned())
            .collect()
    }

    /// The names of all objects, and how many uploads were neither completed nor aborted.
    pub fn all(&self) -> (Vec<String>, usize) {
        let names = self.objects.lock().unwrap().keys().cloned().collect();
        (names, self.uploads.lock().unwrap().len())
    }

    /// The content of an object.
    pub fn content(&self, name: &str) -> Bytes {
        self.objects.lock().unwrap()[name].clone()
    }

    pub fn clear(&self) {
        self.objects.lock().unwrap().clear();
    }

    /// Puts an object there.
    pub fn replace(&self, name: &str, content: Bytes) {
        self.objects
            .lock()
            .unwrap()
            .insert(name.to_owned(), content);
    }

    pub fn put(&self, name: &str, content: Bytes) {
        self.objects
            .lock()
            .unwrap()
            .insert(format!("photos/{name}"), content);
    }

    pub fn remove(&self, name: &str) {
        assert!(
            self.objects
                .lock()
                .unwrap()
                .remove(&format!("photos/{name}"))
                .is_some()
        );
    }
}

async fn respond(
    request: Request<Incoming>,
    mood: &Mutex<Mood>,
    objects: &Mutex<Objects>,
    uploads: &Mutex<Uploads>,
) -> Response<Full<Bytes>> {
    let mood = *mood.lock().unwrap();
    match mood {
        Mood::Fails => return status(StatusCode::SERVICE_UNAVAILABLE),
        Mood::Forbids => return status(StatusCode::FORBIDDEN),
        Mood::Hangs => return std::future::pending().await,
        Mood::Works
        | Mood::Lies
        | Mood::Halves
        | Mood::Alters
        | Mood::Regrets
        | Mood::KeepsAll
        | Mood::IsFull
        | Mood::WantsChecksums => {}
    }
    let (head, body) = request.into_parts();
    let authorization = head
        .headers
        .get("authorization")
        .map_or("", |value| value.to_str().unwrap());
    if !authorization.starts_with("AWS4-HMAC-SHA256 Credential=till/") {
        return status(StatusCode::FORBIDDEN);
    }
    if let Some(refusal) = refusal(mood, &head) {
        return refusal;
    }
    let body = body.collect().await.unwrap().to_bytes();
    let mut objects = objects.lock().unwrap();
    let Some(name) = head.uri.path().strip_prefix("/shop/") else {
        return list(&objects, head.uri.query().unwrap_or_default());
    };
    let query = head.uri.query().unwrap_or_default();
    let query: BTreeMap<String, String> = form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let mut uploads = uploads.lock().unwrap();
    if head.method == Method::POST || query.contains_key("uploadId") {
        return upload(
            &head.method,
            mood,
            (name, query, body),
            &mut objects,
            &mut uploads,
        );
    }
    match head.method {
        Method::PUT => {
            keep(&mut objects, mood, name, body);
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
                let range = head
                    .headers
                    .get("range")
                    .map(|range| range.to_str().unwrap());
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

/// The response of a service with rules of its own, if the request breaks them.
fn refusal(mood: Mood, head: &Parts) -> Option<Response<Full<Bytes>>> {
    let is_of_upload = head.uri.query().unwrap_or_default().contains("upload");
    let (code, text) = match mood {
        Mood::KeepsAll if head.method == Method::DELETE && !is_of_upload => {
            (StatusCode::FORBIDDEN, "nothing may be deleted here")
        }
        Mood::IsFull if head.method == Method::PUT => {
            (StatusCode::BAD_REQUEST, "this bucket has no room")
        }
        Mood::WantsChecksums
            if head.method == Method::PUT
                && !head.headers.contains_key("x-amz-checksum-sha256") =>
        {
            (StatusCode::BAD_REQUEST, "x-amz-checksum-sha256 is missing")
        }
        _ => return None,
    };
    let text = format!("<Error><Code>InvalidRequest</Code><Message>{text}</Message></Error>");
    let response = Response::builder().status(code);
    Some(response.body(Full::from(text)).unwrap())
}

fn keep(objects: &mut Objects, mood: Mood, name: &str, content: Bytes) {
    match mood {
        Mood::Lies => {}
        Mood::Halves => drop(objects.insert(name.to_owned(), content.slice(..content.len() / 2))),
        Mood::Alters => {
            let mut altered = content.to_vec();
            if let Some(last) = altered.last_mut() {
                *last ^= 1;
            }
            objects.insert(name.to_owned(), altered.into());
        }
        _ => drop(objects.insert(name.to_owned(), content)),
    }
}

/// The response to a request of an upload in parts.
fn upload(
    method: &Method,
    mood: Mood,
    (name, query, body): (&str, BTreeMap<String, String>, Bytes),
    objects: &mut Objects,
    uploads: &mut Uploads,
) -> Response<Full<Bytes>> {
    let Some(id) = query.get("uploadId") else {
        assert!(query.contains_key("uploads"), "{query:?}");
        uploads.insert(name.to_owned(), Vec::new());
        let id = format!("<UploadId>{name}</UploadId>");
        let text = format!("<InitiateMultipartUploadResult>{id}</InitiateMultipartUploadResult>");
        return Response::new(Full::from(text));
    };
    let Some(parts) = uploads.get_mut(id).filter(|_| id == name) else {
        return status(StatusCode::NOT_FOUND);
    };
    match *method {
        Method::DELETE => {
            uploads.remove(id);
            status(StatusCode::NO_CONTENT)
        }
        Method::PUT => {
            // Only in this order does this service know which part is the last one.
            assert_eq!(query["partNumber"], (parts.len() + 1).to_string());
            parts.push(body);
            let tag = format!("\"part{}\"", parts.len());
            Response::builder()
                .header("etag", tag)
                .body(Full::default())
                .unwrap()
        }
        _ => {
            let text = String::from_utf8(body.to_vec()).unwrap();
            assert_eq!(text.matches("<PartNumber>").count(), parts.len(), "{text}");
            assert!(
                (1..=parts.len()).all(|part| text.contains(&format!("part{part}"))),
                "{text}"
            );
            if mood == Mood::Regrets {
                let text = "<Error><Code>InternalError</Code><Message>sorry</Message></Error>";
                return Response::new(Full::from(text));
            }
            let but_last = &parts[..parts.len() - 1];
            assert!(but_last.iter().all(|part| part.len() >= SHORTEST_PART));
            let content = parts.concat().into();
            uploads.remove(id);
            keep(objects, mood, name, content);
            let tag = "<ETag>\"1\"</ETag>";
            let text =
                format!("<CompleteMultipartUploadResult>{tag}</CompleteMultipartUploadResult>");
            Response::new(Full::from(text))
        }
    }
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    Response::builder()
        .status(status)
        .body(Full::default())
        .unwrap()
}

/// The response to `ListObjectsV2`.
fn list(objects: &Objects, query: &str) -> Response<Full<Bytes>> {
    let query: BTreeMap<_, _> = form_urlencoded::parse(query.as_bytes()).collect();
    let prefix = query
        .get("prefix")
        .cloned()
        .unwrap_or_default()
        .into_owned();
    let is_flat = query.contains_key("delimiter");
    let mut text = String::from("<ListBucketResult><IsTruncated>false</IsTruncated>");
    for (name, content) in objects
        .range(prefix.clone()..)
        .take_while(|(name, _)| name.starts_with(&prefix))
    {
        if is_flat && name[prefix.len()..].contains('/') {
            continue;
        }
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
