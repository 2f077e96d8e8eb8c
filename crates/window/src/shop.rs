//! The data that all pages and files read.

use std::{sync::Arc, time::Duration};

use jiff::{civil::Date, tz::TimeZone};
use maud::Markup;
use parking_lot::Mutex;
use petstore_app::turns::{TurnLimits, Turns};
use petstore_app::{ReadingParts, Seen, StoreFacts};
use petstore_domain::{
    PetId,
    store_area::{FieldSet, Photo, PhotoSize, Profile, StorePet},
};
use petstore_languages::{
    self as languages,
    look::{Animal, Drawings},
};
use petstore_store::{StoreError, StoreReader, Version};
use petstore_web::edge::cache::Cache;
use tokio::sync::Mutex as AsyncMutex;

use super::{
    labels::Labels,
    query::{Filter, Parameter, Query},
    refreshed::{Reading, Refreshed},
    selection::{self, CameBack, Kind},
    settings::WindowSettings,
};

/// The turns of visitors' searches, and of their other pages. A visitor can have all turns while nobody waits.
const PAGE_TURNS: TurnLimits = TurnLimits {
    turns: 2,
    turns_of_known: 0,
    turns_of_caller: 2,
    waiting: 512,
    waiting_of_caller: 32,
    waiting_of_shared: 256,
    wait: Duration::from_secs(5),
    memory: Duration::from_secs(30),
};

/// The turns of pieces of files. A file has many of them, which must not count against its next ones: it would break off
/// if others came that have had fewer.
const PIECE_TURNS: TurnLimits = TurnLimits {
    memory: Duration::ZERO,
    ..PAGE_TURNS
};

/// The number of filters whose animals at the ends of pages, and whose counts, are kept.
const MAX_FILTERS: usize = 64;

/// A store and how the window shows it.
pub(super) struct Shop {
    pub(super) parts: ReadingParts,
    pub(super) settings: WindowSettings,
    /// The turns of searches, because they take longer than other pages.
    pub(super) searches: Arc<Turns>,
    /// The turns of other pages.
    pub(super) pages: Arc<Turns>,
    /// The turns of pieces of files.
    pub(super) pieces: Arc<Turns>,
    /// The last moment that was read.
    last: AsyncMutex<Option<KnownMoment>>,
    /// What the store said about itself in the last moment.
    facts: Mutex<Arc<StoreFacts>>,
    /// The kinds of animals among which a visitor chooses first.
    kinds: Refreshed<Arc<Vec<Kind>>>,
    /// The animals that became available again.
    came_back: Refreshed<Arc<Vec<CameBack>>>,
    /// The animals at the ends of pages, by day and filter.
    others: Cache<(Date, Vec<Parameter>), Others>,
    /// How many animals a filter finds, by day, filter, and the number up to which they were counted.
    counts: Cache<(Date, Vec<Parameter>, usize), usize>,
}

/// What the public sees at one version, besides the animals.
pub(super) struct Moment {
    pub(super) version: Version,
    /// All fields, also those that are not public.
    pub(super) fields: FieldSet,
    /// What the store says about itself.
    pub(super) facts: Arc<StoreFacts>,
}

/// A moment, and what the store was like when it was read.
struct KnownMoment {
    moment: Arc<Moment>,
    seen: Seen,
}

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
        self.pets
            .iter()
            .map(|pet| Animal::public(pet, self.fields))
            .collect()
    }
}

impl Shop {
    pub(super) fn new(parts: ReadingParts, settings: WindowSettings) -> Self {
        let facts = StoreFacts::new(Profile::default(), &settings.store);
        let clock = &parts.clock;
        Self {
            searches: Turns::new(PAGE_TURNS, Arc::clone(clock)),
            pages: Turns::new(PAGE_TURNS, Arc::clone(clock)),
            pieces: Turns::new(PIECE_TURNS, Arc::clone(clock)),
            parts,
            settings,
            last: AsyncMutex::default(),
            facts: Mutex::new(Arc::new(facts)),
            kinds: Refreshed::default(),
            came_back: Refreshed::default(),
            others: Cache::with_capacity(MAX_FILTERS),
            counts: Cache::with_capacity(MAX_FILTERS),
        }
    }

    /// Returns what the public sees now: newer than every write of this process, and than those of others up to a
    /// second ago. The rest of the request is in the language of the store.
    pub(super) async fn moment(&self) -> Result<Arc<Moment>, StoreError> {
        // Requests that come together read it once.
        let mut last = self.last.lock().await;
        let now = Seen::now(self.store(), &*self.parts.clock).await?;
        let moment = match &mut *last {
            Some(known) if known.seen.is_as(&now) => Arc::clone(&known.moment),
            known => {
                let former = known.take().map(|known| known.moment);
                let moment = self.read_moment(former).await?;
                *known = Some(KnownMoment {
                    moment: Arc::clone(&moment),
                    seen: now,
                });
                moment
            }
        };
        languages::set_language_and_kind(moment.facts.language().value, moment.facts.kind());
        Ok(moment)
    }

    /// Reads a moment, unless it is the former one.
    async fn read_moment(&self, former: Option<Arc<Moment>>) -> Result<Arc<Moment>, StoreError> {
        let version = self.store().public_version().await?;
        if let Some(former) = former
            && former.version == version
        {
            return Ok(former);
        }
        let fields = self.store().fields().await?;
        let facts = Arc::new(StoreFacts::read(self.store(), &self.settings.store).await?);
        *self.facts.lock() = Arc::clone(&facts);
        Ok(Arc::new(Moment {
            version,
            fields,
            facts,
        }))
    }

    /// Returns the facts that were read last, for a page about a store that cannot be read. The rest of the request is
    /// in their language.
    pub(super) fn last_facts(&self) -> Arc<StoreFacts> {
        let facts = Arc::clone(&self.facts.lock());
        languages::set_language_and_kind(facts.language().value, facts.kind());
        facts
    }

    pub(super) fn store(&self) -> &StoreReader {
        &self.parts.store
    }

    pub(super) fn today(&self) -> Date {
        self.parts.clock.now().to_zoned(TimeZone::UTC).date()
    }

    /// Returns the address for the public of a path of the window.
    pub(super) fn url(&self, path: &str) -> String {
        [&self.settings.url, path].concat()
    }

    /// The picture of a link, with this text: its address, width and height, and its text.
    pub(super) fn preview(&self, photo: &Photo, alt: String) -> (String, (u32, u32), String) {
        let address = self.url(&photo.path(PhotoSize::Medium));
        (address, photo.within(PhotoSize::Medium), alt)
    }

    /// Counts the animals that a filter finds, up to `most` and one more.
    pub(super) async fn count(
        &self,
        moment: &Moment,
        filter: &Filter,
        most: usize,
    ) -> Result<usize, StoreError> {
        let key = (self.today(), filter.parameters(), most);
        if let Some(count) = self.counts.find(&key, Some(moment.version)) {
            return Ok(count);
        }
        let count = selection::count(self.store(), filter, &moment.fields, most).await?;
        self.counts.insert(key, Some(moment.version), &count);
        Ok(count)
    }

    /// Returns the kinds of animals among which a visitor chooses first, because every list shows them.
    pub(super) async fn kinds(
        &self,
        moment: &Arc<Moment>,
    ) -> Result<Reading<Arc<Vec<Kind>>>, StoreError> {
        let count = || {
            let store = self.parts.store.clone();
            let moment = Arc::clone(moment);
            async move { Ok(Arc::new(selection::kinds(&store, &moment.fields).await?)) }
        };
        self.kinds.read(moment.version, count).await
    }

    /// Returns the animals that became available again, because every feed has them.
    pub(super) async fn came_back(
        &self,
        moment: &Moment,
    ) -> Result<Reading<Arc<Vec<CameBack>>>, StoreError> {
        let read = || {
            let store = self.parts.store.clone();
            async move { Ok(Arc::new(selection::read_came_back(&store).await?)) }
        };
        self.came_back.read(moment.version, read).await
    }

    /// Returns the animals at the end of a page. They are read and their cards are made once for each version, because
    /// the page of every animal of a kind ends with the same ones.
    pub(super) async fn others(
        &self,
        moment: &Moment,
        filter: Vec<Parameter>,
        read: impl AsyncFnOnce() -> Result<Vec<Other>, StoreError>,
    ) -> Result<Others, StoreError> {
        let key = (self.today(), filter);
        if let Some(others) = self.others.find(&key, Some(moment.version)) {
            return Ok(others);
        }
        let others = Arc::new(read().await?);
        self.others.insert(key, Some(moment.version), &others);
        Ok(others)
    }

    /// Reads a page of the list, with these fields.
    pub(super) async fn list<'f>(
        &self,
        query: &Query,
        fields: &'f FieldSet,
    ) -> Result<Listed<'f>, StoreError> {
        let (pets, next) = selection::find(self.store(), query, fields).await?;
        let mut labels = Labels::first(self.store()).await?;
        let categories = pets.iter().map(|pet| pet.category_id);
        let categories: Vec<i64> = categories.chain(query.filter.category_id).collect();
        labels.learn(self.store(), categories).await?;
        Ok(Listed {
            fields,
            pets,
            labels,
            next,
        })
    }
}
