//! An endpoint that records what it receives, and responds as a test wants.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};

/// A message as it was received.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) timestamp: i64,
    pub(crate) signature: String,
    pub(crate) body: Vec<u8>,
    /// The status code of the response.
    pub(crate) status: u16,
}

impl Message {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn seq(&self) -> i64 {
        self.json()["data"]["seq"].as_i64().unwrap()
    }

    /// The animal.
    pub(crate) fn pet(&self) -> i64 {
        let data = &self.json()["data"];
        let shown = if data["after"].is_null() {
            &data["before"]
        } else {
            &data["after"]
        };
        shown["petId"].as_i64().or(shown["id"].as_i64()).unwrap()
    }

    pub(crate) fn previous(&self) -> Option<String> {
        self.json()["data"]["previous"].as_str().map(str::to_owned)
    }
}

/// The response to a message: a status code, and header fields. `None` is none before the release.
pub(crate) type Respond = dyn Fn(&Message) -> Option<(u16, String)> + Send + Sync;

/// The messages that have no response.
#[derive(Default)]
struct Silence {
    count: AtomicUsize,
    release: Notify,
}

pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    silence: Arc<Silence>,
    received: Arc<Mutex<Vec<Message>>>,
    respond: Arc<Mutex<Arc<Respond>>>,
    serving: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Receiver {
    /// A receiver that accepts everything.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<Mutex<Vec<Message>>>::default();
        let accept: Arc<Respond> = Arc::new(|_| Some((204, String::new())));
        let respond = Arc::new(Mutex::new(accept));
        let silence = Arc::<Silence>::default();
        let (all, how, without) = (
            Arc::clone(&received),
            Arc::clone(&respond),
            Arc::clone(&silence),
        );
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(
                    stream,
                    Arc::clone(&all),
                    Arc::clone(&how),
                    Arc::clone(&without),
                ));
            }
        });
        Self {
            address,
            silence,
            received,
            respond,
            serving,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Responds like this from now on.
    pub(crate) fn respond(
        &self,
        respond: impl Fn(&Message) -> Option<(u16, String)> + Send + Sync + 'static,
    ) {
        *self.respond.lock().unwrap() = Arc::new(respond);
    }

    pub(crate) fn respond_with(&self, status: u16) {
        self.respond(move |_| Some((status, String::new())));
    }

    /// How many messages have no response yet.
    pub(crate) fn held(&self) -> usize {
        self.silence.count.load(Ordering::Relaxed)
    }

    /// Accepts the messages that have no response.
    pub(crate) fn release(&self) {
        self.silence.release.notify_waiters();
    }

    /// Everything that was received, in order.
    pub(crate) fn all(&self) -> Vec<Message> {
        self.received.lock().unwrap().clone()
    }

    /// What was received and accepted, in order.
    pub(crate) fn accepted(&self) -> Vec<Message> {
        let all = self.all().into_iter();
        all.filter(|message| (200..300).contains(&message.status))
            .collect()
    }
}

/// Serves one connection, request after request.
async fn serve(
    mut stream: TcpStream,
    received: Arc<Mutex<Vec<Message>>>,
    respond: Arc<Mutex<Arc<Respond>>>,
    silence: Arc<Silence>,
) {
    while serve_one(&mut stream, &received, &respond, &silence)
        .await
        .is_some()
    {}
}

async fn serve_one(
    stream: &mut TcpStream,
    received: &Mutex<Vec<Message>>,
    respond: &Mutex<Arc<Respond>>,
    silence: &Silence,
) -> Option<()> {
    let mut bytes = Vec::new();
    let head = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let fields = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let field = |name: &str| {
        let line = fields
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_default().to_owned()
    };
    let length: usize = field("content-length").parse().unwrap();
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let mut message = Message {
        id: field("webhook-id"),
        timestamp: field("webhook-timestamp").parse().unwrap(),
        signature: field("webhook-signature"),
        body: bytes[head..].to_vec(),
        status: 0,
    };
    let respond = Arc::clone(&respond.lock().unwrap());
    let response = respond(&message);
    message.status = response.as_ref().map_or(0, |(status, _)| *status);
    received.lock().unwrap().push(message);
    let (status, fields) = if let Some(response) = response {
        response
    } else {
        silence.count.fetch_add(1, Ordering::Relaxed);
        let is_released = tokio::select! {
            () = silence.release.notified() => true,
            // The client left.
            _ = stream.read_to_end(&mut bytes) => false,
        };
        silence.count.fetch_sub(1, Ordering::Relaxed);
        is_released.then(|| (204, String::new()))?
    };
    let response = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: 0\r\n\r\n");
    stream.write_all(response.as_bytes()).await.ok()
}
