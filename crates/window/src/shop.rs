//! The state that all pages and files share: access to the store, the settings, the queues for
//! visitors, and caches.
//!
//! A request reads a [`Snapshot`] first. A cached page has the version of its snapshot, and is used
//! only as long as the public data has this version. The counted kinds and the returned animals can
//! be of an earlier version while those of the present one are read. A request for a page that is not
//! cached waits in a queue ([`Turns`]) for its visitor's turn before it reads any animals.

use std::{sync::Arc, time::Duration};

use jiff::civil::Date;
use maud::Markup;
use parking_lot::Mutex;
use petstore_app::{
    ReadingParts, StoreFacts, WriteStamp,
    turns::{TurnLimits, Turns},
};
use petstore_domain::{
    PetId,
    store_area::{Category, FieldSet, PhotoSize, Profile},
};
use petstore_languages::{
    self as languages,
    everyday::{Vocabulary, has_general_words, understand},
    look::{Animal, Drawings},
};
use petstore_store::{StoreError, StoreReader, Version};
use petstore_web::edge::cache::Cache;
use tokio::sync::Mutex as AsyncMutex;

use super::{
    filter::{Filter, Parameter},
    kinds::{CountedKind, count_kinds, read_public_categories},
    query::Query,
    refreshed::{Reading, Refreshed},
    returned_pets::{ReturnedPet, read_returned_pets},
    selection,
    settings::WindowSettings,
};

/// The limits on how many pages are rendered at once. Searches and all other pages have separate
/// queues, each with these limits. As long as nobody else is waiting, one visitor may take every turn.
const PAGE_TURNS: TurnLimits = TurnLimits {
    turns: 2,
    // The window has no sessions, so it knows no browser.
    turns_of_known: 0,
    turns_of_caller: 2,
    waiting: 512,
    waiting_of_caller: 32,
    waiting_of_shared: 256,
    wait: Duration::from_secs(5),
    memory: Duration::from_secs(30),
};

/// The limits on how many pieces of files are read at once.
///
/// This queue does not remember past turns, because a file needs many turns. If they counted, a
/// full queue would drop the file's next turn in favour of a visitor with fewer turns. That would
/// abort the download.
const PIECE_TURNS: TurnLimits = TurnLimits {
    memory: Duration::ZERO,
    ..PAGE_TURNS
};

/// The number of entries in the cache of suggestions, and in the cache of counts.
const MAX_FILTERS: usize = 64;

/// Everything that pages need to read and present the data of one store.
pub(super) struct Shop {
    pub(super) parts: ReadingParts,
    pub(super) settings: WindowSettings,
    /// The queue for lists with a filter. They have a queue of their own because searches take longer
    /// than other pages.
    pub(super) search_turns: Arc<Turns>,
    /// The queue for all other pages.
    pub(super) page_turns: Arc<Turns>,
    /// The queue for pieces of files.
    pub(super) piece_turns: Arc<Turns>,
    /// The most recently read snapshot.
    cached_snapshot: AsyncMutex<Option<CachedSnapshot>>,
    /// The facts from the most recently read snapshot, for error pages when the store cannot be
    /// read.
    last_facts: Mutex<Arc<StoreFacts>>,
    /// The kinds of animals (species or categories) that the list offers as shortcuts.
    kinds: Refreshed<SharedList<CountedKind>>,
    /// The categories with an animal on offer, among the first categories.
    public_categories: Refreshed<SharedList<Category>>,
    /// The animals that recently became available again.
    returned_pets: Refreshed<SharedList<ReturnedPet>>,
    /// The rendered suggestions at the end of pages.
    suggestion_cache: Cache<SuggestionsKey, SharedList<Suggestion>>,
    /// The number of animals that match a filter.
    counts: Cache<CountKey, usize>,
}

/// The cache key of suggestions. It includes the day, because the cards show ages.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SuggestionsKey {
    today: Date,
    parameters: Vec<Parameter>,
}

/// The cache key of a count. It includes the day, because filters by age depend on it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct CountKey {
    today: Date,
    parameters: Vec<Parameter>,
    max_count: usize,
}

/// What pages need to know about the store, apart from its animals. The fields and the facts are at
/// least as new as `version`, so a page that is cached under this version is never outdated.
pub(super) struct Snapshot {
    /// The version of the public data. It is the version of every cached page that is rendered from
    /// this snapshot.
    pub(super) version: Version,
    /// All fields, including private ones.
    pub(super) fields: FieldSet,
    /// What the store says about itself, such as its name, language and currency.
    pub(super) facts: Arc<StoreFacts>,
}

/// A snapshot, with a stamp that tells whether anything was written since the snapshot was read.
struct CachedSnapshot {
    snapshot: Arc<Snapshot>,
    write_stamp: WriteStamp,
}

/// A suggested animal at the end of a page, already rendered as a card.
pub(super) struct Suggestion {
    pub(super) id: PetId,
    pub(super) card: Markup,
    /// The drawings that the card refers to. The page that shows the card must define them.
    pub(super) drawings: Drawings,
}

/// A cached list, which all requests share.
type SharedList<T> = Arc<Vec<T>>;

/// The picture that other sites show next to a shared link to a page (Open Graph).
#[derive(Clone)]
pub(super) struct Preview {
    pub(super) url: String,
    pub(super) width: u32,
    pub(super) height: u32,
    /// The alternative text.
    pub(super) alt: String,
}

impl Shop {
    /// Creates a shop with empty caches. Until the first snapshot is read, its facts are the
    /// operator's settings only.
    pub(super) fn new(parts: ReadingParts, settings: WindowSettings) -> Self {
        let facts = StoreFacts::new(Profile::default(), &settings.store);
        let clock = &parts.clock;
        Self {
            search_turns: Turns::new(PAGE_TURNS, Arc::clone(clock)),
            page_turns: Turns::new(PAGE_TURNS, Arc::clone(clock)),
            piece_turns: Turns::new(PIECE_TURNS, Arc::clone(clock)),
            parts,
            settings,
            cached_snapshot: AsyncMutex::default(),
            last_facts: Mutex::new(Arc::new(facts)),
            kinds: Refreshed::default(),
            public_categories: Refreshed::default(),
            returned_pets: Refreshed::default(),
            suggestion_cache: Cache::with_capacity(MAX_FILTERS),
            counts: Cache::with_capacity(MAX_FILTERS),
        }
    }

    /// Returns the current snapshot. As a side effect, switches the request to the language of the
    /// store.
    ///
    /// The snapshot has every write of this process, but a write of another process can be missing
    /// for up to a second.
    pub(super) async fn snapshot(&self) -> Result<Arc<Snapshot>, StoreError> {
        let snapshot = self.current_snapshot().await?;
        switch_language(&snapshot.facts);
        Ok(snapshot)
    }

    /// Returns the cached snapshot if nothing can have been written since it was read, and reads a
    /// new one otherwise.
    async fn current_snapshot(&self) -> Result<Arc<Snapshot>, StoreError> {
        // The lock is held across the reads, so concurrent requests share one read instead of each
        // doing their own.
        let mut cached_snapshot = self.cached_snapshot.lock().await;
        let now = WriteStamp::now(self.store(), &*self.parts.clock).await?;
        if let Some(cached) = &*cached_snapshot
            && cached.write_stamp.is_unchanged_at(&now)
        {
            return Ok(Arc::clone(&cached.snapshot));
        }

        let previous = cached_snapshot.take().map(|cached| cached.snapshot);
        let snapshot = self.read_snapshot(previous).await?;
        *cached_snapshot = Some(CachedSnapshot {
            snapshot: Arc::clone(&snapshot),
            write_stamp: now,
        });
        Ok(snapshot)
    }

    /// Reads the current snapshot. Returns `previous` instead if the version of the public data has
    /// not changed since.
    async fn read_snapshot(
        &self,
        previous: Option<Arc<Snapshot>>,
    ) -> Result<Arc<Snapshot>, StoreError> {
        // The version is read first, so that the other data is at least as new.
        let version = self.store().public_version().await?;
        if let Some(previous) = previous
            && previous.version == version
        {
            return Ok(previous);
        }

        let fields = self.store().fields().await?;
        let facts = StoreFacts::read(self.store(), &self.settings.store).await?;
        let facts = Arc::new(facts);
        *self.last_facts.lock() = Arc::clone(&facts);
        Ok(Arc::new(Snapshot {
            version,
            fields,
            facts,
        }))
    }

    /// Returns the most recently read facts, for error pages, which must work even if the store
    /// cannot be read. As a side effect, switches the request to the language in these facts.
    pub(super) fn last_facts(&self) -> Arc<StoreFacts> {
        let facts = Arc::clone(&self.last_facts.lock());
        switch_language(&facts);
        facts
    }

    /// Returns the read-only handle to the store.
    pub(super) fn store(&self) -> &StoreReader {
        &self.parts.store
    }

    /// Returns the current day in the time zone of the store.
    pub(super) fn today(&self, facts: &StoreFacts) -> Date {
        facts.day_of(self.parts.clock.now())
    }

    /// Returns the absolute public URL of a path of the window.
    pub(super) fn url(&self, path: &str) -> String {
        [&self.settings.url, path].concat()
    }

    /// Returns the link preview with the first photo of an animal. Returns `None` without a photo.
    pub(super) fn preview_of(&self, animal: &Animal<'_>) -> Option<Preview> {
        let first_photo = animal.photos.first()?;
        let (width, height) = first_photo.dimensions(PhotoSize::Medium);
        Some(Preview {
            url: self.url(&first_photo.path(PhotoSize::Medium)),
            width,
            height,
            alt: animal.alt(0, first_photo),
        })
    }

    /// Returns the number of animals on offer that match a filter, from the cache if possible. Stops
    /// counting at `max_count + 1`, so this result means "more than `max_count`".
    pub(super) async fn count(
        &self,
        snapshot: &Snapshot,
        filter: &Filter,
        max_count: usize,
    ) -> Result<usize, StoreError> {
        let key = CountKey {
            today: self.today(&snapshot.facts),
            parameters: filter.parameters(),
            max_count,
        };
        if let Some(count) = self.counts.find(&key, Some(snapshot.version)) {
            return Ok(count);
        }

        let count =
            selection::count_matches(self.store(), filter, &snapshot.fields, max_count).await?;
        self.counts.insert(key, Some(snapshot.version), &count);
        Ok(count)
    }

    /// Returns the kinds of animals that the list offers as shortcuts, with their counts. Every list
    /// shows them, so they are counted only once per version. While the count is in progress, this
    /// function returns the kinds of an earlier version.
    pub(super) async fn counted_kinds(
        &self,
        snapshot: &Arc<Snapshot>,
    ) -> Result<Reading<SharedList<CountedKind>>, StoreError> {
        self.kinds
            .get(snapshot.version, || {
                let store = self.parts.store.clone();
                let snapshot = Arc::clone(snapshot);
                async move { count_kinds(&store, &snapshot.fields).await.map(Arc::new) }
            })
            .await
    }

    /// Returns the categories with an animal on offer, among the first categories. Every list needs
    /// them, so they are read only once per version.
    ///
    /// This function never returns the categories of an earlier version. They could reveal a category
    /// whose last animal was taken off the website since.
    pub(super) async fn public_categories(
        &self,
        snapshot: &Snapshot,
    ) -> Result<SharedList<Category>, StoreError> {
        let reading = self
            .public_categories
            .get(snapshot.version, || {
                let store = self.parts.store.clone();
                async move { read_public_categories(&store).await.map(Arc::new) }
            })
            .await?;
        if reading.is_current {
            return Ok(reading.value);
        }
        let categories = read_public_categories(self.store()).await?;
        Ok(Arc::new(categories))
    }

    /// Returns the animals that recently became available again. Every feed includes them, so they
    /// are read only once per version. While the read is in progress, this function returns the
    /// animals of an earlier version.
    pub(super) async fn returned_pets(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Reading<SharedList<ReturnedPet>>, StoreError> {
        self.returned_pets
            .get(snapshot.version, || {
                let store = self.parts.store.clone();
                async move { read_returned_pets(&store).await.map(Arc::new) }
            })
            .await
    }

    /// Returns the suggestions for a filter, which is identified by its `parameters`. If they are
    /// not in the cache, `make_suggestions` reads and renders them. The cache helps because every
    /// animal of a kind has the same suggestions at the end of its page.
    pub(super) async fn suggestions(
        &self,
        snapshot: &Snapshot,
        parameters: Vec<Parameter>,
        make_suggestions: impl AsyncFnOnce() -> Result<Vec<Suggestion>, StoreError>,
    ) -> Result<SharedList<Suggestion>, StoreError> {
        let key = SuggestionsKey {
            today: self.today(&snapshot.facts),
            parameters,
        };
        if let Some(suggestions) = self.suggestion_cache.find(&key, Some(snapshot.version)) {
            return Ok(suggestions);
        }

        let suggestions = Arc::new(make_suggestions().await?);
        self.suggestion_cache
            .insert(key, Some(snapshot.version), &suggestions);
        Ok(suggestions)
    }

    /// Interprets everyday words in the search text of a query, such as `puppy`, as properties of
    /// animals. Returns a query without search text unchanged.
    pub(super) async fn interpret_search(
        &self,
        mut query: Query,
        snapshot: &Snapshot,
    ) -> Result<Query, StoreError> {
        let Some(phrase) = query.filter.phrase.take() else {
            return Ok(query);
        };
        // Only general words may stand for a category.
        let categories = if has_general_words(&phrase) {
            self.public_categories(snapshot).await?
        } else {
            Arc::default()
        };
        let vocabulary = Vocabulary {
            fields: &snapshot.fields,
            categories: &categories,
            language: languages::language(),
            today: self.today(&snapshot.facts),
        };
        let understood = understand(phrase, &vocabulary);
        query.filter.phrase = Some(understood.phrase);
        query.filter.understood_words = understood.words;
        Ok(query)
    }
}

/// Switches the request to the language of the store, and to the words for its kind: shop or
/// shelter.
fn switch_language(facts: &StoreFacts) {
    languages::set_language_and_kind(facts.language().value, facts.kind());
}
