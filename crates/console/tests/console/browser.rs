//! A shop with a console, and browsers that use it as browsers do.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    num::NonZeroU32,
    sync::{Arc, LazyLock, Mutex, atomic::AtomicUsize},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{HeaderMap, Method, Request, StatusCode, header, http::response};
use petstore_api::{Api, Settings};
use petstore_app::{self as app, App};
use petstore_console::{self as console, Console, ConsoleSettings, RequireSecondFactor};
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    Actor, Client, Clock, NamedActor, NewPet, PetName, PetStatus, Role, StaffName, WriteContext,
    staff::{EndedSessions, Password, PasswordHash, StaffChange, StaffMember, StaffSession, Token},
    store_area::{ActType, AuditEntry, AuditQuery},
};
use petstore_store::{OpenMode, StaffKey, StaffWriteOutcome, Store, bulk::IdSource};
use petstore_testing::{
    clock::ManualClock, database::write_empty_store, interface, unchanged::Unchanged,
    with_pets::WithPets,
};
use petstore_web::edge::{self, Body};
use rand::{SeedableRng, rngs::StdRng};
use tempfile::TempDir;

/// A password that is allowed.
pub(crate) const PASSWORD: &str = "correct horse battery";

pub(crate) struct Shop {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) app: Arc<App>,
    pub(crate) api: Arc<Api>,
    pub(crate) console: Console,
    pub(crate) clock: Arc<ManualClock>,
    /// How often the store was asked for something.
    pub(crate) asked: Arc<AtomicUsize>,
    random: Mutex<StdRng>,
    // Dropped last.
    pub(crate) folder: TempDir,
}

impl Shop {
    pub(crate) async fn open() -> Self {
        Self::with(ConsoleSettings::default()).await
    }

    pub(crate) async fn requiring(second_factor: RequireSecondFactor) -> Self {
        Self::with(ConsoleSettings {
            second_factor,
            ..ConsoleSettings::default()
        })
        .await
    }

    pub(crate) async fn with(settings: ConsoleSettings) -> Self {
        let folder = petstore_testing::temporary_folder();
        let path = folder.path().join("pets.db");
        write_empty_store(&path).await;
        let url = DatabaseUrl::Sqlite(path);
        Self::on(&url, folder, settings).await
    }

    pub(crate) async fn on(url: &DatabaseUrl, folder: TempDir, settings: ConsoleSettings) -> Self {
        let random = &mut StdRng::seed_from_u64(1);
        let mode = OpenMode::CreateAndMigrate;
        let store = databases::open(url, mode, NonZeroU32::new(4).unwrap(), random)
            .await
            .unwrap();
        let asked = Arc::<AtomicUsize>::default();
        let (pets, area) = (Arc::clone(&store), Arc::new(Unchanged(Arc::clone(&store))));
        let store: Arc<dyn Store> = Arc::new(WithPets {
            pets,
            area,
            rest: store,
            asked: Arc::clone(&asked),
        });
        let clock = ManualClock::at("2026-12-01T12:00:00Z");
        let photos = petstore_testing::photo_storage::folder(&folder.path().join("photos"));
        photos.probe().await.unwrap();
        let of_app = app::Settings::default();
        let app = interface::app_with(Arc::clone(&store), clock.clone(), &of_app, Some(photos));
        let edge = interface::edge(clock.clone(), &edge::Settings::default());
        let edge = Arc::new(console::with_routes(edge));
        let api = Api::new(Arc::clone(&app), Arc::clone(&edge), &Settings::default()).unwrap();
        let random_of_console = StdRng::from_rng(&mut *random);
        let console = Console::new(Arc::clone(&app), edge, settings, random_of_console);
        let random = StdRng::from_rng(random).into();
        Self {
            store,
            app,
            api: Arc::new(api),
            console,
            clock,
            asked,
            random,
            folder,
        }
    }

    /// The database, to put rows into it that would take long to make otherwise.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.path().join("pets.db")).unwrap()
    }

    /// Imports animals with these names, as `petstore import` does.
    pub(crate) async fn import(&self, names: &'static [&'static str]) {
        let url = format!("sqlite:{}", self.folder.path().join("pets.db").display());
        let now = self.clock.now();
        let import = move || {
            let mut load = databases::open_load(&url.parse().unwrap(), OpenMode::AsIs).unwrap();
            load.begin(IdSource::Next, now).unwrap();
            for name in names {
                let name = PetName::new((*name).to_owned()).unwrap();
                load.add_pet(
                    None,
                    &NewPet {
                        name,
                        category_id: 1,
                        status: PetStatus::Available,
                        is_listed: true,
                    },
                    &petstore_domain::store_area::FieldValues::NONE,
                )
                .unwrap();
            }
            load.log_import().unwrap();
            load.commit().unwrap();
        };
        tokio::task::spawn_blocking(import).await.unwrap();
    }

    pub(crate) fn browser(&self) -> Browser<'_> {
        let client = Client::from(IpAddr::from([127, 0, 0, 1]));
        let fields = BTreeMap::from([("user-agent", "Firefox <1>".to_owned())]);
        Browser {
            shop: self,
            client,
            origin: "http://localhost:8081".to_owned(),
            cookies: BTreeMap::new(),
            fields,
        }
    }

    /// Adds a member, and returns the path of the link.
    pub(crate) async fn invite(&self, name: &str, role: Role) -> String {
        let token = Token::generate(&mut *self.random.lock().unwrap());
        let name = StaffName::new(name).unwrap();
        let new = StaffMember::new(name, role, &token, self.clock.now());
        let change = StaffChange::new(0, new, ActType::StaffAdded);
        let context = WriteContext::new(Actor::Command, self.clock.now());
        let written = self.store.write_staff(change, context).await.unwrap();
        assert!(matches!(written, StaffWriteOutcome::Done(_)));
        format!("/link/{}", token.reveal())
    }

    /// A browser in which a new member has just signed in, with the password that all tests share:
    /// computing its hash for each test would take a third of the time of all tests.
    pub(crate) async fn member(&self, name: &str, role: Role) -> Browser<'_> {
        static HASH: LazyLock<PasswordHash> = LazyLock::new(|| {
            let password = Password::from_input(PASSWORD).unwrap();
            password.hash(&mut StdRng::seed_from_u64(1))
        });

        self.invite(name, role).await;
        let mut browser = self.browser();
        let now = self.clock.now();
        let token = Token::generate(&mut *self.random.lock().unwrap());
        let invited = self.find(name).await;
        let actor = NamedActor {
            actor: Actor::Staff(invited.id),
            name: Some(invited.name.as_str().into()),
        };
        let session = StaffSession {
            digest: token.digest(),
            staff: invited.id,
            begun_at: now,
            seen_at: now,
            confirmed_at: Some(now),
            address: browser.client.address().to_string(),
            browser: browser.fields["user-agent"].clone(),
            provider_session: None,
        };
        // What `POST /link/{token}` writes.
        let version = invited.version;
        let member = invited.with_password(HASH.clone());
        let mut change = StaffChange::new(version, member, ActType::StaffPasswordSet);
        change.ended_sessions = EndedSessions::All;
        change.new_session = Some(session);
        let context = WriteContext::new(actor, now);
        let written = self.store.write_staff(change, context).await.unwrap();
        assert!(matches!(written, StaffWriteOutcome::Done(_)));
        browser
            .cookies
            .insert("petstore-8081".to_owned(), token.reveal());
        browser
    }

    pub(crate) async fn find(&self, name: &str) -> StaffMember {
        let key = StaffName::new(name).unwrap().key();
        self.store
            .find_staff(StaffKey::Name(key))
            .await
            .unwrap()
            .unwrap()
    }

    /// The acts in the audit trail, such as `staff.added staff:1 by command`.
    pub(crate) async fn acts(&self) -> Vec<String> {
        let query = AuditQuery {
            limit: 1000,
            ..AuditQuery::default()
        };
        let (entries, _) = self.store.list_audit(&query).await.unwrap();
        entries
            .iter()
            .filter_map(|entry| match entry {
                AuditEntry::Act { act, actor, .. } => Some(format!(
                    "{} {} by {}",
                    act.kind.as_str(),
                    act.subject,
                    actor.actor
                )),
                AuditEntry::Change(_) => None,
            })
            .collect()
    }
}

/// A browser with its cookies.
pub(crate) struct Browser<'s> {
    shop: &'s Shop,
    pub(crate) client: Client,
    /// What it believes to be the origin of the console.
    pub(crate) origin: String,
    pub(crate) cookies: BTreeMap<String, String>,
    /// Header fields of every request. A value of several lines is sent as several fields.
    pub(crate) fields: BTreeMap<&'static str, String>,
}

impl Browser<'_> {
    pub(crate) fn with_address(mut self, address: [u8; 4]) -> Self {
        self.client = Client::from(IpAddr::from(address));
        self
    }

    pub(crate) async fn get(&mut self, path: &str) -> Page {
        self.send(Method::GET, path, &[]).await
    }

    /// Sends a form of a page of the console.
    pub(crate) async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        self.send(
            Method::POST,
            path,
            &super::with_unnamed_category(path, form),
        )
        .await
    }

    /// Sends a form of a page to a path, with its values and these typed ones.
    pub(crate) async fn submit(
        &mut self,
        (page, form): (&Page, &str),
        path: &str,
        typed: &[(&str, &str)],
    ) -> Page {
        let mut sent = page.form(form);
        sent.retain(|(name, _)| typed.iter().all(|(of, _)| of != name));
        let kept = sent.iter().map(|(name, value)| (&**name, &**value));
        self.post(path, &kept.chain(typed.iter().copied()).collect::<Vec<_>>())
            .await
    }

    pub(crate) async fn sign_in(&mut self, name: &str, password: &str) -> Page {
        self.post("/sign-in", &[("name", name), ("password", password)])
            .await
    }

    /// Sends a form, and says yes to the question about it.
    pub(crate) async fn post_and_confirm(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        let page = self.post(path, form).await.expect(200);
        let sure = page.hidden("sure");
        self.post(path, &[form, &[("sure", &sure)]].concat()).await
    }

    /// Whether it is signed in.
    pub(crate) async fn is_in(&mut self) -> bool {
        self.get("/account").await.status == StatusCode::OK
    }

    /// The body of a page that does not end.
    pub(crate) async fn stream(&mut self, path: &str) -> Body {
        self.respond(Method::GET, path, &[]).await.1
    }

    /// Sends a form, and reads nothing of the page.
    pub(crate) async fn unread(&mut self, path: &str, form: &[(&str, &str)]) -> (StatusCode, Body) {
        let (head, body) = self.respond(Method::POST, path, form).await;
        (head.status, body)
    }

    /// Sends a form with files, each with its name.
    pub(crate) async fn upload(&mut self, path: &str, key: &str, files: &[(&str, &[u8])]) -> Page {
        let mut body =
            format!("--xYz\r\nContent-Disposition: form-data; name=\"_key\"\r\n\r\n{key}\r\n")
                .into_bytes();
        for (name, content) in files {
            let head = format!(
                "--xYz\r\nContent-Disposition: form-data; name=\"pictures\"; filename=\"{name}\"\r\n\
                 Content-Type: image/jpeg\r\n\r\n"
            );
            body.extend(head.as_bytes());
            body.extend(*content);
            body.extend(b"\r\n");
        }
        body.extend(b"--xYz--\r\n");
        let media_type = "multipart/form-data; boundary=xYz";
        let sent = self
            .respond_to(Method::POST, path, media_type, body.into())
            .await;
        Self::page(sent)
    }

    pub(crate) async fn send(&mut self, method: Method, path: &str, form: &[(&str, &str)]) -> Page {
        Self::page(self.respond(method, path, form).await)
    }

    fn page((head, body): (response::Parts, Body)) -> Page {
        let text = body
            .whole()
            .map(|body| String::from_utf8_lossy(body).into_owned());
        Page {
            status: head.status,
            headers: head.headers,
            text: text.unwrap_or_default(),
        }
    }

    async fn respond(
        &mut self,
        method: Method,
        path: &str,
        form: &[(&str, &str)],
    ) -> (response::Parts, Body) {
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        self.respond_to(
            method,
            path,
            "application/x-www-form-urlencoded",
            form.into(),
        )
        .await
    }

    async fn respond_to(
        &mut self,
        method: Method,
        path: &str,
        media_type: &str,
        body: Bytes,
    ) -> (response::Parts, Body) {
        let (_, host) = self.origin.split_once("://").unwrap();
        let mut request = Request::builder().uri(path).header(header::HOST, host);
        if method == Method::POST {
            request = request.header(header::CONTENT_TYPE, media_type);
            if !self
                .fields
                .keys()
                .any(|name| ["origin", "sec-fetch-site"].contains(name))
            {
                request = request.header(header::ORIGIN, &self.origin);
            }
        }
        for (name, value) in &self.fields {
            request = value
                .lines()
                .fold(request, |request, line| request.header(*name, line));
        }
        let cookies: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !cookies.is_empty() {
            request = request.header(header::COOKIE, cookies.join("; ").into_bytes());
        }
        let request = request.method(method).body(Full::new(body)).unwrap();
        let response = self.shop.console.handle(&self.client, request).await;
        let (head, body) = response.into_parts();
        for cookie in head.headers.get_all(header::SET_COOKIE) {
            let (pair, _) = cookie.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        (head, body)
    }
}

#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Page {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        self
    }

    /// Where a 303 leads.
    #[track_caller]
    pub(crate) fn next(&self) -> &str {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{self:?}");
        self.headers[header::LOCATION].to_str().unwrap()
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The text between two others.
    #[track_caller]
    pub(crate) fn between(&self, before: &str, after: &str) -> &str {
        let (_, rest) = self
            .text
            .split_once(before)
            .unwrap_or_else(|| panic!("{before}: {self:?}"));
        rest.split_once(after).unwrap().0
    }

    /// The value of a hidden field.
    #[track_caller]
    pub(crate) fn hidden(&self, name: &str) -> String {
        Self::unescaped(self.between(&format!("name=\"{name}\" value=\""), "\""))
    }

    /// The key of the form that contains this text after it.
    #[track_caller]
    pub(crate) fn key_before(&self, text: &str) -> String {
        let (before, _) = self
            .text
            .split_once(text)
            .unwrap_or_else(|| panic!("{text}: {self:?}"));
        let (_, value) = before.rsplit_once("name=\"_key\" value=\"").unwrap();
        value.split_once('"').unwrap().0.to_owned()
    }

    /// The secret that it shows.
    #[track_caller]
    pub(crate) fn secret(&self) -> &str {
        self.between("<code class=\"secret\">", "</code>")
    }

    /// The value of an input of one line.
    #[track_caller]
    pub(crate) fn typed(&self, name: &str) -> String {
        Self::unescaped(self.between(&format!("name=\"{name}\" type=\"text\" value=\""), "\""))
    }

    /// The fields of the form with this action, as a browser sends them without script.
    #[track_caller]
    pub(crate) fn form(&self, action: &str) -> Vec<(String, String)> {
        let form = self.between(&format!("action=\"{action}\""), "</form>");
        let attribute = |tag: &str, name: &str| {
            let (_, value) = tag.split_once(&format!(" {name}=\""))?;
            Some(Self::unescaped(value.split_once('"')?.0))
        };
        let mut fields = Vec::new();
        for part in form.split('<').skip(1) {
            let (tag, text) = part.split_once('>').unwrap();
            let is_off = tag.contains(" type=\"checkbox\"") && !tag.ends_with(" checked");
            if let Some(name) = attribute(tag, "name").filter(|_| !is_off) {
                match tag.split_once(' ').unwrap().0 {
                    "input" => fields.push((name, attribute(tag, "value").unwrap_or_default())),
                    "textarea" => fields.push((name, Self::unescaped(text.trim_start()))),
                    "select" => fields.push((name, String::new())),
                    _ => {}
                }
            } else if tag.starts_with("option") && tag.ends_with(" selected") {
                fields.last_mut().unwrap().1 = attribute(tag, "value").unwrap();
            }
        }
        fields
    }

    fn unescaped(value: &str) -> String {
        value
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
    }
}
