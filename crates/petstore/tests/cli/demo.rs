//! `petstore demo`: what it prints works. Without optimization, its pictures take long, so these tests are
//! thorough ones; `demo_folder.rs` has fast ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
};

use jiff::{Timestamp, ToSpan};
use petstore_domain::{Clock as _, SystemClock};
use reqwest::{Client, Response, redirect::Policy};
use serde_json::Value;
use tempfile::TempDir;

use super::program::{client, command, directory};

/// A running demo, and what it printed; killed on drop.
struct Demo {
    process: Child,
    log: ChildStderr,
    lines: BTreeMap<String, String>,
}

impl Demo {
    /// Starts one whose temporary folders are in this folder, and waits until it has said everything.
    fn start(temporary: &Path, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let mut command = command(temporary, &[&["demo"], arguments].concat());
        command
            .env("TMPDIR", temporary)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        change(&mut command);
        let mut process = command.spawn().unwrap();
        let log = process.stderr.take().unwrap();
        let printed = BufReader::new(process.stdout.take().unwrap())
            .lines()
            .take(4);
        let lines = printed.map(|line| {
            let line = line.unwrap();
            let (what, text) = line.split_once(": ").unwrap();
            (what.to_owned(), text.trim().to_owned())
        });
        let lines: BTreeMap<_, _> = lines.collect();
        let mut demo = Self {
            process,
            log,
            lines,
        };
        if demo.lines.len() != 4 {
            let _ = demo.process.kill();
            let said = demo.said();
            panic!("{:?} {said}", demo.lines);
        }
        demo
    }

    /// The part of a line before the first space.
    fn url(&self, what: &str) -> &str {
        self.lines[what].split(' ').next().unwrap()
    }

    /// The text behind a word in a line.
    fn behind(&self, what: &str, word: &str) -> &str {
        let (_, text) = self.lines[what].split_once(word).unwrap();
        text.split([';', ')']).next().unwrap()
    }

    fn api(&self, path: &str) -> String {
        format!("{}{path}", self.url("The interface"))
    }

    async fn read(&self, path: &str) -> Value {
        let key = self.behind("The interface", "key: ");
        let response = client()
            .get(self.api(path))
            .bearer_auth(key)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    /// What the log has when the process has ended.
    fn said(&mut self) -> String {
        let mut said = String::new();
        self.log.read_to_string(&mut said).unwrap();
        said
    }

    /// Ends it by a signal. Returns its exit status and its log.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let pid = self.process.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        let status = self.process.wait().unwrap();
        (status.code(), self.said())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Follows no redirect.
fn browser() -> Client {
    Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .build()
        .unwrap()
}

/// The cookies that a response sets.
fn cookies(response: &Response) -> String {
    let set = response
        .headers()
        .get_all("set-cookie")
        .iter()
        .map(|cookie| cookie.to_str().unwrap());
    set.map(|cookie| cookie.split(';').next().unwrap())
        .collect::<Vec<_>>()
        .join("; ")
}

async fn page(url: &str, cookies: &str) -> String {
    let response = browser()
        .get(url)
        .header("cookie", cookies)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200, "{url}");
    response.text().await.unwrap()
}

#[tokio::test]
async fn a_demo_prints_the_window_the_console_the_interface_and_how_to_stop_and_all_of_it_works() {
    let temporary = directory();
    let demo = Demo::start(temporary.path(), &[], |_| {});
    for what in ["The window", "The console", "The interface"] {
        assert!(
            demo.url(what).starts_with("http://127.0.0.1:"),
            "{:?}",
            demo.lines
        );
    }
    assert!(demo.lines["To stop"].contains("Ctrl-C"), "{:?}", demo.lines);

    let window = demo.url("The window");
    let first = page(window, "").await;
    assert!(
        first.contains("Willow Lane Animal Rescue") && first.contains("lang=\"en\""),
        "{first}"
    );
    let sitemap = page(&format!("{window}sitemap.xml"), "").await;
    let shown = sitemap.matches("/animals/").count();
    assert!(shown >= 30, "{shown}");
    let (_, photo) = first.split_once(" src=\"/photos/").unwrap();
    let photo = format!("{window}photos/{}", photo.split('"').next().unwrap());
    assert_eq!(browser().get(photo).send().await.unwrap().status(), 200);

    // As often as one likes, each time with a session of its own.
    let link = demo.url("The console");
    let (console, _) = link.split_once("/link/").unwrap();
    let mut sessions = BTreeSet::new();
    for _ in 0..3 {
        let response = browser().get(link).send().await.unwrap();
        assert_eq!(
            (
                response.status().as_u16(),
                response.headers()["location"].to_str().unwrap()
            ),
            (303, "/")
        );
        let cookies = cookies(&response);
        assert!(page(console, &cookies).await.contains("Maya Stone"));
        let staff = page(&format!("{console}/settings/staff"), &cookies).await;
        for name in ["Maya Stone", "Tom Becker", "Ines Ward"] {
            assert!(staff.contains(name), "{staff}");
        }
        sessions.insert(cookies);
    }
    assert_eq!(sessions.len(), 3);
    let wrong = format!("{console}/link/{}", "A".repeat(43));
    assert_eq!(browser().get(wrong).send().await.unwrap().status(), 404);
    // Another site cannot use the session, as everywhere in the console.
    let forged = browser()
        .post(format!("{console}/first-steps"))
        .header("cookie", sessions.first().unwrap())
        .header("origin", "https://evil.example")
        .header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(forged.send().await.unwrap().status(), 403);
    // The password is that of the manager.
    let form = [
        ("name", "Maya Stone"),
        ("password", demo.behind("The console", "password: ")),
    ];
    let form = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish();
    let sign_in = browser()
        .post(format!("{console}/sign-in"))
        .header("origin", console)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form);
    assert_eq!(sign_in.send().await.unwrap().status(), 303);

    // An operation for which only `store:admin` is enough.
    let key = demo.behind("The interface", "key: ");
    let profile = client()
        .patch(demo.api("/store/profile"))
        .bearer_auth(key)
        .header("if-match", "*")
        .header("content-type", "application/merge-patch+json")
        .body(r#"{"name":"Mine"}"#);
    let profile = profile.send().await.unwrap();
    assert_eq!(profile.status(), 200, "{}", profile.text().await.unwrap());
    assert!(page(window, "").await.contains("Mine"));
    let docs = demo.behind("The interface", "try it at ");
    assert_eq!(browser().get(docs).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_demo_has_40_animals_of_six_species_with_the_nine_fields_reservations_and_the_sales_of_a_year()
 {
    let temporary = directory();
    let demo = Demo::start(temporary.path(), &[], |_| {});
    let pets = demo.read("/store/pets?limit=100").await;
    let pets = pets.as_array().unwrap();
    let fields = demo.read("/store/fields").await;
    let fields: Vec<_> = fields
        .as_array()
        .unwrap()
        .iter()
        .map(|field| field["name"].as_str().unwrap())
        .collect();
    assert_eq!((pets.len(), fields.len()), (40, 9));
    for pet in pets {
        assert!(
            fields.iter().all(|field| !pet["fields"][*field].is_null()),
            "{pet}"
        );
    }
    let species: BTreeSet<_> = pets
        .iter()
        .map(|pet| pet["fields"]["species"].to_string())
        .collect();
    assert_eq!(species.len(), 6);
    let with_photo = pets
        .iter()
        .filter(|pet| !pet["photos"].as_array().unwrap().is_empty())
        .count();
    assert_eq!(with_photo, 29);

    let now = SystemClock.now();
    let time = |order: &Value, member: &str| -> Timestamp {
        order[member].as_str().unwrap().parse().unwrap()
    };
    let reserved = demo.read("/store/orders?status=reserved").await;
    let ends: Vec<_> = reserved
        .as_array()
        .unwrap()
        .iter()
        .map(|order| time(order, "expiresAt"))
        .collect();
    let week = now.checked_add((7 * 24).hours()).unwrap();
    assert!(
        ends.len() > 2 && ends.iter().all(|end| *end < week),
        "{ends:?}"
    );
    // The day of the demo, if it ended while this test ran.
    let days =
        [now, now.checked_sub(5.minutes()).unwrap()].map(|at| at.to_string()[..10].to_owned());
    assert!(
        ends.iter()
            .any(|end| days.contains(&end.to_string()[..10].to_owned())),
        "{ends:?}"
    );
    let sold = demo.read("/store/orders?status=completed").await;
    let months: BTreeSet<_> = sold
        .as_array()
        .unwrap()
        .iter()
        .map(|order| time(order, "closedAt").to_string()[..7].to_owned())
        .collect();
    assert!(
        sold.as_array().unwrap().len() >= 8 && months.len() >= 6,
        "{months:?}"
    );
    // Its members did all that, at these times.
    let changes = demo.read("/store/audit?limit=100").await.to_string();
    assert!(
        changes.contains("Tom Becker") && changes.contains("order.completed"),
        "{changes}"
    );
}

#[tokio::test]
async fn a_demo_takes_free_ports_if_the_usual_ones_are_taken() {
    let temporary = directory();
    // Perhaps another process has them.
    let _taken = [8080, 8081, 8082].map(|port| TcpListener::bind(("127.0.0.1", port)));
    let demo = Demo::start(temporary.path(), &[], |_| {});
    for what in ["The window", "The console", "The interface"] {
        let url = demo.url(what);
        let is_at = |port: &str| url.starts_with(&format!("http://127.0.0.1:{port}/"));
        assert!(!["8080", "8081", "8082"].into_iter().any(is_at), "{url}");
    }
    assert!(
        page(demo.url("The window"), "")
            .await
            .contains("Willow Lane")
    );
}

#[tokio::test]
async fn no_variable_and_no_settings_file_counts_in_a_demo_and_it_writes_nothing_outside_of_its_folder()
 {
    let [temporary, here, home, other]: [TempDir; 4] = std::array::from_fn(|_| directory());
    let settings = other.path().join("petstore.env");
    fs::write(&settings, "PETSTORE_DATABASE=sqlite:nowhere/petstore.db\n").unwrap();
    let demo = Demo::start(temporary.path(), &[], |command| {
        command
            .current_dir(here.path())
            .env("HOME", home.path())
            .env("PETSTORE_DATABASE", "mysql://x")
            .env("PETSTORE_LISTEN", "nowhere")
            .env("PETSTORE_CONSOLE_LISTEN", "off")
            .env("PETSTORE_WINDOW_LISTEN", "off")
            .env("PETSTORE_LANGUAGE", "xx")
            .env("PETSTORE_STORE_NAME", "Other")
            .env("PETSTORE_PHOTOS", "off")
            .env("PETSTORE_LOG_LEVEL", "trace")
            .env("PETSTORE_UNKNOWN", "x")
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", "nowhere")
            .env("PETSTORE_ENV_FILE", &settings);
    });
    let first = page(demo.url("The window"), "").await;
    assert!(
        first.contains("lang=\"en\"") && first.contains("/photos/"),
        "{first}"
    );
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1);
    assert_eq!(demo.end("TERM"), (Some(0), String::new()));
    for folder in [&temporary, &here, &home] {
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn a_demo_speaks_each_language_and_its_folder_is_gone_after_each_signal() {
    for (language, name, category, label, signal) in [
        ("de", "Tierheim Weidenhof", "Kleintiere", "Tierart", "INT"),
        (
            "fr",
            "Refuge des Saules",
            "Petits mammifères",
            "Espèce",
            "TERM",
        ),
        (
            "es",
            "Protectora Los Sauces",
            "Pequeños mamíferos",
            "Especie",
            "HUP",
        ),
    ] {
        let temporary = directory();
        let demo = Demo::start(temporary.path(), &["--language", language], |_| {});
        let first = page(demo.url("The window"), "").await;
        assert!(
            first.contains(name) && first.contains(&format!("lang=\"{language}\"")),
            "{first}"
        );
        let categories = demo.read("/store/categories").await.to_string();
        assert!(categories.contains(category), "{categories}");
        assert!(demo.read("/store/fields").await.to_string().contains(label));
        assert_eq!(demo.end(signal), (Some(0), String::new()));
        assert_eq!(
            fs::read_dir(temporary.path()).unwrap().count(),
            0,
            "{signal}"
        );
    }
}
