//! A store with a window, and people who look at it.

use std::{
    net::IpAddr,
    num::NonZeroU32,
    sync::{Arc, atomic::AtomicUsize},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Method, Request, StatusCode, Version, header};
use petstore_app::{self as app, App, StoreOptions};
use petstore_databases as databases;
use petstore_domain::{
    Client, Clock, NewPet, PetId, PetName, PetStatus, StoredResponse, WriteContext,
    store_area::{
        AltText, Choices, Command, FieldChange, FieldDefinition, FieldKind, FieldName, FieldPatch,
        FieldValue, Focus, IfMatch, Label, Logo, NewPhoto, Patch, PhotoId, PhotoPatch,
        Preconditions, Profile, RequestedValue, Resource,
    },
};
use petstore_photos::Format;
use petstore_store::{ExecutionOutcome, OpenMode, WriteOutcome};
use petstore_testing::{
    area::{any, change, respond},
    clock::ManualClock,
    database::Database,
    interface, pictures,
    stores::{AnyStore, act},
    unchanged::Unchanged,
    with_pets::WithPets,
};
use petstore_web::edge::{self, Body};
use petstore_window::{self as window, Window, WindowSettings};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::Value;
use tempfile::TempDir;

/// Where the public reaches the window.
pub(crate) const URL: &str = "https://animals.example";

pub(crate) struct Street {
    pub(crate) store: AnyStore,
    app: Arc<App>,
    pub(crate) window: Window,
    pub(crate) clock: Arc<ManualClock>,
    /// How often the store was asked for something.
    pub(crate) asked: Arc<AtomicUsize>,
    pub(crate) database: Database,
    /// The folder of the photos.
    _photos: TempDir,
}

/// What somebody got.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// The usual settings.
pub(crate) fn settings() -> WindowSettings {
    WindowSettings {
        url: URL.to_owned(),
        store: StoreOptions {
            name: Some("Paws & Co.".to_owned()),
            language: None,
            currency: petstore_domain::store_area::Currency::new("EUR"),
            contact: Some("mailto:hello@paws.example".parse().unwrap()),
            time_zone: None,
        },
        ..WindowSettings::default()
    }
}

async fn open(database: &Database, seed: u64) -> AnyStore {
    let (mode, random) = (OpenMode::CreateAndMigrate, &mut StdRng::seed_from_u64(seed));
    databases::open(&database.url(), mode, NonZeroU32::new(4).unwrap(), random)
        .await
        .unwrap()
}

impl Street {
    pub(crate) async fn open() -> Self {
        Self::with(settings()).await
    }

    pub(crate) async fn with(settings: WindowSettings) -> Self {
        Self::with_edge(settings, &edge::Settings::default()).await
    }

    /// With other options about the store.
    pub(crate) async fn of(store: StoreOptions) -> Self {
        Self::with(WindowSettings {
            store,
            ..settings()
        })
        .await
    }

    pub(crate) async fn with_edge(settings: WindowSettings, of_edge: &edge::Settings) -> Self {
        let database = Database::fresh().await;
        let store = open(&database, 1).await;
        let asked = Arc::<AtomicUsize>::default();
        let pets = Arc::clone(&store);
        let area = Arc::new(Unchanged(Arc::clone(&store)));
        let store: AnyStore = Arc::new(WithPets {
            pets,
            area,
            rest: store,
            asked: Arc::clone(&asked),
        });
        let clock = ManualClock::at("2026-12-01T12:00:00Z");
        let photos = petstore_testing::temporary_folder();
        let of_app = app::Settings::default();
        let place = Some(petstore_testing::photo_storage::folder(photos.path()));
        let app = interface::app_with(Arc::clone(&store), clock.clone(), &of_app, place);
        let edge = interface::edge(clock.clone(), of_edge);
        let window = Window::new(
            app.reading.clone(),
            Arc::new(window::with_routes(edge)),
            settings,
        );
        Self {
            store,
            app,
            window,
            clock,
            asked,
            database,
            _photos: photos,
        }
    }

    /// The store as another process has it open.
    pub(crate) async fn other_process(&self) -> AnyStore {
        open(&self.database, 2).await
    }

    /// Gives an animal a photo, and returns its identifier.
    pub(crate) async fn photo(&self, id: i64, alt: Option<&str>) -> PhotoId {
        let picture = pictures::png(1200, 90).into();
        let stored = self.app.photos.add(picture, Format::Png).await.unwrap();
        let alt = alt.and_then(|alt| AltText::new(alt.to_owned()));
        let photo = NewPhoto {
            id: stored.id,
            alt,
            width: stored.width,
            height: stored.height,
            focus: None,
        };
        self.add_photo(id, photo).await
    }

    /// The same for a photo of these sides. It has no files, because decoding a large picture takes long.
    pub(crate) async fn photo_of(&self, id: i64, [width, height]: [u32; 2]) -> PhotoId {
        let photo = PhotoId(u128::from(width) << 64 | u128::from(height));
        self.add_photo(
            id,
            NewPhoto {
                id: photo,
                alt: None,
                width,
                height,
                focus: None,
            },
        )
        .await
    }

    /// Says where to look in a photo, in ten-thousandths.
    pub(crate) async fn focus(&self, id: i64, photo: PhotoId, point: [u16; 2]) {
        let patch = PhotoPatch {
            focus: Patch::Set(Focus::new(point).unwrap()),
            ..PhotoPatch::default()
        };
        let (id, preconditions) = (PetId::new(id).unwrap(), Preconditions::default());
        let preconditions = Preconditions {
            if_match: Some(IfMatch::Any),
            ..preconditions
        };
        change(
            &self.store,
            Command::PatchPhoto {
                id,
                photo,
                patch,
                preconditions,
            },
        )
        .await;
    }

    /// Adds an available animal to a category.
    pub(crate) async fn add_in_category(&self, name: &str, category_id: i64) -> i64 {
        let id = self.add(name, &[]).await;
        let patch = petstore_domain::store_area::PetPatch {
            category_id: Some(category_id),
            ..petstore_domain::store_area::PetPatch::default()
        };
        self.patch(id, patch).await;
        id
    }

    async fn add_photo(&self, id: i64, photo: NewPhoto) -> PhotoId {
        let (id, added) = (PetId::new(id).unwrap(), photo.id);
        change(&self.store, Command::AddPhoto { id, photo }).await;
        added
    }

    /// Adds an animal with these values of text fields.
    pub(crate) async fn add(&self, name: &str, values: &[(&str, &str)]) -> i64 {
        self.add_with_status(name, PetStatus::Available, values)
            .await
    }

    pub(crate) async fn add_with_status(
        &self,
        name: &str,
        status: PetStatus,
        values: &[(&str, &str)],
    ) -> i64 {
        let name = PetName::new(name.to_owned()).unwrap();
        let value = |text: &str| RequestedValue::Set(FieldValue::Text(text.to_owned()));
        let values = values
            .iter()
            .map(|(name, text)| ((*name).to_owned(), value(text)));
        let pet = NewPet {
            name,
            category_id: 1,
            status,
            is_listed: true,
        };
        let add = Command::AddPet(pet, values.collect::<FieldPatch>(), Vec::new());
        // Now, because animals of the past have a day of birth.
        let context = WriteContext {
            now: self.clock.now(),
            ..act(0)
        };
        match self
            .store
            .execute(vec![add], context, respond)
            .await
            .unwrap()
        {
            ExecutionOutcome::Done { changes, .. } => match &changes[0].after {
                Some(Resource::Pet(pet)) => pet.id.get(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn withdraw(&self, id: i64) {
        change(
            &self.store,
            petstore_testing::area::withdraw(PetId::new(id).unwrap()),
        )
        .await;
    }

    pub(crate) async fn label(&self, id: i64, label: &str) {
        let label = Label::new(label.to_owned()).unwrap();
        let preconditions = Preconditions {
            if_absent: true,
            ..Preconditions::default()
        };
        change(
            &self.store,
            Command::PutCategory {
                id,
                label,
                preconditions,
            },
        )
        .await;
    }

    /// Defines a public field with choices, whose label is its name.
    pub(crate) async fn choice(&self, name: &str, choices: &[&str]) {
        let choices = Choices::new(choices.iter().map(|choice| (*choice).to_owned()).collect());
        self.add_field(name, name, FieldKind::Choice, choices, true)
            .await;
    }

    /// Defines a field.
    pub(crate) async fn field(&self, name: &str, label: &str, kind: FieldKind, is_public: bool) {
        self.add_field(name, label, kind, None, is_public).await;
    }

    async fn add_field(
        &self,
        name: &str,
        label: &str,
        kind: FieldKind,
        choices: Option<Choices>,
        is_public: bool,
    ) {
        let name = FieldName::new(name).unwrap();
        let fields = self.store.fields().await.unwrap();
        let after = FieldDefinition {
            name: name.clone(),
            label: Label::new(label.to_owned()).unwrap(),
            kind,
            choices,
            is_public,
            is_unique: false,
            position: 90,
            version: 1,
        };
        self.define(fields.version, after).await;
    }

    /// Gives values of a field labels.
    pub(crate) async fn label_choices(&self, field: &str, labels: &[(&str, &str)]) {
        let fields = self.store.fields().await.unwrap();
        let mut after = fields.find(field).unwrap().clone();
        let labels = labels
            .iter()
            .map(|(value, label)| ((*value).into(), (*label).into()));
        after.choices = after
            .choices
            .and_then(|choices| choices.with_labels(labels.collect()));
        self.define(fields.version, after).await;
    }

    /// Lets only the staff see the values of these fields.
    pub(crate) async fn make_private(&self, names: &[&str]) {
        for name in names {
            let fields = self.store.fields().await.unwrap();
            let after = FieldDefinition {
                is_public: false,
                ..fields.find(name).unwrap().clone()
            };
            self.define(fields.version, after).await;
        }
    }

    async fn define(&self, seen: i64, after: FieldDefinition) {
        let (name, after) = (after.name.clone(), Some(after));
        let change = FieldChange {
            seen_version: seen,
            name,
            after,
            must_be_unused: false,
        };
        let context: WriteContext = act(0);
        let written = self
            .store
            .write_fields(vec![change], Vec::new(), StoredResponse::default(), context)
            .await;
        assert_eq!(written.unwrap(), WriteOutcome::Done);
    }

    /// Says this about the store.
    pub(crate) async fn say(&self, profile: Profile) {
        petstore_testing::profile::set(&*self.store, act(0), profile).await;
    }

    /// Gives the store this logo, or none, now.
    pub(crate) async fn set_logo(&self, picture: Option<Vec<u8>>) -> Option<Logo> {
        let new = picture.map(|picture| petstore_photos::make_logo(&picture, Format::Png).unwrap());
        let (logo, now) = (new.as_ref().map(|new| new.logo), self.clock.now());
        petstore_testing::profile::set_logo(&*self.store, WriteContext { now, ..act(0) }, new)
            .await;
        logo
    }

    /// Changes an animal by a command.
    pub(crate) async fn patch(&self, id: i64, patch: petstore_domain::store_area::PetPatch) {
        let id = PetId::new(id).unwrap();
        change(
            &self.store,
            Command::PatchPet {
                id,
                patch,
                preconditions: any(),
            },
        )
        .await;
    }

    /// Puts an animal on the website, or takes it off.
    pub(crate) async fn list(&self, id: i64, is_listed: bool) {
        let patch = petstore_domain::store_area::PetPatch {
            is_listed: Some(is_listed),
            ..petstore_domain::store_area::PetPatch::default()
        };
        self.patch(id, patch).await;
    }

    pub(crate) async fn get(&self, path: &str) -> Seen {
        self.ask(Method::GET, path, &[]).await
    }

    /// The body of a response, which nobody has read yet.
    pub(crate) async fn unread(&self, path: &str) -> Body {
        self.raw(Version::HTTP_11, path, &[]).await.into_body()
    }

    /// A response whose body nobody has read yet.
    pub(crate) async fn raw(
        &self,
        version: Version,
        path: &str,
        fields: &[(&'static str, &str)],
    ) -> hyper::Response<Body> {
        let mut request = Request::builder()
            .uri(path)
            .version(version)
            .header(header::HOST, "animals.example");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::new())).unwrap();
        let client = Client::from(IpAddr::from([192, 0, 2, 1]));
        self.window.handle(&client, request).await
    }

    /// A response to a client with this address, which has not read its body yet.
    pub(crate) async fn unread_as(&self, address: IpAddr, path: &str) -> hyper::Response<Body> {
        let request = Request::builder()
            .uri(path)
            .header(header::HOST, "animals.example");
        let request = request.body(Full::new(Bytes::new())).unwrap();
        self.window.handle(&Client::from(address), request).await
    }

    /// The same as a client with this address.
    pub(crate) async fn ask_as(&self, address: &str, path: &str) -> Seen {
        self.send(address, Method::GET, path, &[]).await
    }

    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        fields: &[(&'static str, &str)],
    ) -> Seen {
        self.send("192.0.2.1", method, path, fields).await
    }

    async fn send(
        &self,
        address: &str,
        method: Method,
        path: &str,
        fields: &[(&'static str, &str)],
    ) -> Seen {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "animals.example");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::new())).unwrap();
        let client = Client::from(address.parse::<IpAddr>().unwrap());
        let (head, body) = self.window.handle(&client, request).await.into_parts();
        let body: Body = body;
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        Seen {
            status: head.status,
            headers: head.headers,
            text,
        }
    }
}

impl Seen {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        self
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The numbers of the animals that it links to, in their order.
    pub(crate) fn animals(&self) -> Vec<i64> {
        let links = self.text.split("<a href=\"/animals/").skip(1);
        links
            .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
            .collect()
    }

    /// Where its link to the next page leads.
    pub(crate) fn next(&self) -> Option<String> {
        let (_, rest) = self
            .text
            .split_once("<a class=\"button\" rel=\"next\" href=\"")?;
        Some(rest.split('"').next().unwrap().replace("&amp;", "&"))
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

    /// What schema.org's words say of what it is about.
    #[track_caller]
    pub(crate) fn schema(&self) -> Value {
        let page = self.page_schema();
        page.get("mainEntity").unwrap_or(&page).clone()
    }

    /// The same of the page.
    #[track_caller]
    pub(crate) fn page_schema(&self) -> Value {
        let json = self.between("<script type=\"application/ld+json\">", "</script>");
        serde_json::from_str(json).unwrap()
    }

    /// The same of what is JSON as a whole.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}
