//! The data that all pages and files read.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::{civil::Date, tz::TimeZone};
use maud::Markup;
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};

use super::{
    labels::Labels,
    query::{Filter, Parameter, Query},
    selection::{self, Kind},
    settings::WindowSettings,
};
use crate::{
    app::{App, StoreFacts},
    domain::{
        PetId,
        store_area::{FieldSet, Photo, PhotoSize, Profile, StorePet},
    },
    edge::cache::Cache,
    languages,
    look::{Animal, Drawings},
    store::{Store, StoreError, Version},
};

/// How long a version is used that had to be read from the database: changes of other processes appear so late.
const VERSION_KEPT: Duration = Duration::from_secs(1);

/// A store and how the window shows it.
pub(super) struct Shop {
    pub(super) app: Arc<App>,
    pub(super) settings: WindowSettings,
    /// The fields.
    fields: Cache<(), Arc<FieldSet>>,
    /// What the store says about itself, and the version of the store at which it was read.
    facts: Mutex<(Option<Version>, Arc<StoreFacts>)>,
    /// The kinds of animals, and the version at which they were counted.
    kinds: AsyncMutex<Option<(Version, Arc<Vec<Kind>>)>>,
    /// The animals at the ends of pages, by day and filter.
    others: Cache<(Date, Vec<Parameter>), Others>,
    /// The version that was read from the database, when, and after how many writes of this process.
    version: AsyncMutex<Option<(Instant, u64, Option<Version>)>>,
    /// Visitors who search leave connections of the store to others.
    searches: Semaphore,
}

/// For how many filters the animals at the ends of pages are kept.
const MOST_OTHERS: usize = 64;

/// An animal at the end of a page.
pub(super) struct Other {
    pub(super) id: PetId,
    pub(super) card: Markup,
    pub(super) drawn: Drawings,
}

type Others = Arc<Vec<Other>>;

/// A page of the list, as it was read.
pub(super) struct Listed<'f> {
    pub(super) fields: &'f FieldSet,
    pub(super) pets: Vec<StorePet>,
    pub(super) labels: Labels,
    /// The position after the animals, if more may follow.
    pub(super) next: Option<PetId>,
}

impl Listed<'_> {
    pub(super) fn animals(&self) -> Vec<Animal<'_>> {
        self.pets.iter().map(|pet| Animal::public(pet, self.fields)).collect()
    }
}

impl Shop {
    pub(super) fn new(app: Arc<App>, settings: WindowSettings) -> Self {
        let facts = StoreFacts::new(Profile::default(), &settings.store);
        Self {
            app,
            settings,
            facts: Mutex::new((None, Arc::new(facts))),
            fields: Cache::of(2),
            kinds: AsyncMutex::default(),
            others: Cache::of(MOST_OTHERS),
            version: AsyncMutex::default(),
            searches: Semaphore::new(2),
        }
    }

    /// All fields.
    pub(super) async fn fields(&self) -> Result<Arc<FieldSet>, StoreError> {
        self.fields_at(self.version().await?).await
    }

    /// The version of the store: newer than every write of this process, and than those of others up to a second ago.
    pub(super) async fn version(&self) -> Result<Option<Version>, StoreError> {
        if let Some(version) = self.store().version().await? {
            return Ok(Some(version));
        }
        // Requests that come together read it once.
        let mut known = self.version.lock().await;
        let (now, writes) = (self.app.clock.instant(), self.store().ended_writes());
        if let Some((read_at, of, version)) = *known
            && of == writes
            && now.saturating_duration_since(read_at) < VERSION_KEPT
        {
            return Ok(version);
        }
        let version = self.store().read_version().await?;
        *known = Some((now, writes, version));
        Ok(version)
    }

    /// All fields, at least as new as this version. They are read again only after a write, because
    /// every page needs them.
    pub(super) async fn fields_at(
        &self,
        version: Option<Version>,
    ) -> Result<Arc<FieldSet>, StoreError> {
        if let Some(fields) = self.fields.find(&(), version) {
            return Ok(fields);
        }
        let fields = Arc::new(self.store().fields().await?);
        self.fields.insert((), version, &fields);
        Ok(fields)
    }

    /// What the store says about itself.
    pub(super) async fn facts(&self) -> Result<Arc<StoreFacts>, StoreError> {
        self.facts_at(self.version().await?).await
    }

    /// The same, at least as new as this version.
    pub(super) async fn facts_at(
        &self,
        version: Option<Version>,
    ) -> Result<Arc<StoreFacts>, StoreError> {
        let known = || self.facts.lock();
        if version.is_some() && known().0 == version {
            return Ok(self.last_facts());
        }
        let facts = Arc::new(StoreFacts::read(self.store(), &self.settings.store).await?);
        *known() = (version, facts);
        Ok(self.last_facts())
    }

    /// The facts that were read last, for a page about a store that cannot be read. The rest of the request is in
    /// their language.
    pub(super) fn last_facts(&self) -> Arc<StoreFacts> {
        let facts = Arc::clone(&self.facts.lock().1);
        languages::speak_as(facts.language().value, facts.kind());
        facts
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.app.store
    }

    pub(super) fn today(&self) -> Date {
        self.app.clock.now().to_zoned(TimeZone::UTC).date()
    }

    /// The address for the public of a path of the window.
    pub(super) fn url(&self, path: &str) -> String {
        [&self.settings.url, path].concat()
    }

    /// The picture of a link, with this text: its address, width and height, and its text.
    pub(super) fn preview(&self, photo: &Photo, alt: String) -> (String, (u32, u32), String) {
        let address = self.url(&photo.path(PhotoSize::Medium));
        (address, photo.within(PhotoSize::Medium), alt)
    }

    /// How many animals a filter finds, at most `most` and one more.
    pub(super) async fn count(
        &self,
        filter: &Filter,
        fields: &FieldSet,
        most: usize,
    ) -> Result<usize, StoreError> {
        let _turn = self.searches.acquire().await.ok();
        selection::count(self.store(), filter, fields, most).await
    }

    /// The kinds of animals among which a visitor chooses first. They are counted once after each write,
    /// because every list shows them.
    pub(super) async fn kinds(&self, fields: &FieldSet) -> Result<Arc<Vec<Kind>>, StoreError> {
        let version = self.version().await?;
        let mut known = self.kinds.lock().await;
        if let Some((_, kinds)) =
            known.as_ref().filter(|(counted_at, _)| Some(*counted_at) == version)
        {
            return Ok(Arc::clone(kinds));
        }
        let _turn = self.searches.acquire().await.ok();
        let kinds = Arc::new(selection::kinds(self.store(), fields).await?);
        *known = version.map(|version| (version, Arc::clone(&kinds)));
        Ok(kinds)
    }

    /// The animals at the end of a page. They are read and their cards are made once after each write, because the
    /// page of every animal of a kind ends with the same ones.
    pub(super) async fn others(
        &self,
        filter: Vec<Parameter>,
        read: impl AsyncFnOnce() -> Result<Vec<Other>, StoreError>,
    ) -> Result<Others, StoreError> {
        let (key, version) = ((self.today(), filter), self.version().await?);
        if let Some(others) = self.others.find(&key, version) {
            return Ok(others);
        }
        let others = Arc::new(read().await?);
        self.others.insert(key, version, &others);
        Ok(others)
    }

    /// Reads a page of the list, with these fields.
    pub(super) async fn list<'f>(
        &self,
        query: &Query,
        fields: &'f FieldSet,
    ) -> Result<Listed<'f>, StoreError> {
        let is_search = !query.filter.is_empty();
        let _turn = if is_search { self.searches.acquire().await.ok() } else { None };
        let (pets, next) = selection::find(self.store(), query, fields).await?;
        let mut labels = Labels::first(self.store()).await?;
        let categories = pets.iter().map(|pet| pet.category_id);
        let categories: Vec<i64> = categories.chain(query.filter.category_id).collect();
        labels.learn(self.store(), categories).await?;
        Ok(Listed { fields, pets, labels, next })
    }
}
