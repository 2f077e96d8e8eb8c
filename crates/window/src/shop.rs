//! The data that all pages and files read.

use std::{sync::Arc, time::Duration};

use jiff::civil::Date;
use maud::Markup;
use parking_lot::Mutex;
use petstore_app::turns::{TurnLimits, Turns};
use petstore_app::{ReadingParts, Seen, StoreFacts};
use petstore_domain::{
    PetId,
    store_area::{Category, FieldSet, Photo, PhotoSize, Profile},
};
use petstore_languages::{
    self as languages,
    everyday::{Vocabulary, has_general_words, understand},
    look::Drawings,
};
use petstore_store::{StoreError, StoreReader, Version};
use petstore_web::edge::cache::Cache;
use tokio::sync::Mutex as AsyncMutex;

use super::{
    filter::{Filter, Parameter},
    query::Query,
    refreshed::{Reading, Refreshed},
    selection::{self, CameBack, CountedKind},
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

/// The turns of pieces of files. A file needs many turns, and its earlier turns must not count against its later ones:
/// otherwise, a file would break off as soon as visitors came who have had fewer turns.
const PIECE_TURNS: TurnLimits = TurnLimits {
    memory: Duration::ZERO,
    ..PAGE_TURNS
};

/// The number of filters whose suggestions and counts are cached.
const MAX_FILTERS: usize = 64;

/// A store, and its settings and caches for the window.
pub(super) struct Shop {
    pub(super) parts: ReadingParts,
    pub(super) settings: WindowSettings,
    /// The turns of searches, because they take longer than other pages.
    pub(super) searches: Arc<Turns>,
    /// The turns of other pages.
    pub(super) pages: Arc<Turns>,
    /// The turns of pieces of files.
    pub(super) pieces: Arc<Turns>,
    /// The moment that was read last.
    last_moment: AsyncMutex<Option<SeenMoment>>,
    /// The facts about the store in the moment that was read last.
    last_facts: Mutex<Arc<StoreFacts>>,
    /// The kinds of animals among which a visitor chooses first.
    kinds: Refreshed<Arc<Vec<CountedKind>>>,
    /// The first categories that have an animal on offer.
    public_categories: Refreshed<Arc<Vec<Category>>>,
    /// The animals that became available again.
    came_back: Refreshed<Arc<Vec<CameBack>>>,
    /// The suggestions at the ends of pages.
    suggestion_cache: Cache<SuggestionsKey, Suggestions>,
    /// The numbers of animals that filters find.
    counts: Cache<CountKey, usize>,
}

/// The key of suggestions in their cache. Their cards have ages, which depend on the day.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SuggestionsKey {
    today: Date,
    parameters: Vec<Parameter>,
}

/// The key of a count in its cache. A filter by age depends on the day.
#[derive(Clone, PartialEq, Eq, Hash)]
struct CountKey {
    today: Date,
    parameters: Vec<Parameter>,
    max_count: usize,
}

/// A state of the store as the public sees it, apart from the animals.
pub(super) struct Moment {
    pub(super) version: Version,
    /// All fields, also those fields that are not public.
    pub(super) fields: FieldSet,
    /// What the store says about itself.
    pub(super) facts: Arc<StoreFacts>,
}

/// A moment, and what the store was like when it was read.
struct SeenMoment {
    moment: Arc<Moment>,
    seen: Seen,
}

/// An animal at the end of a page, as its card.
pub(super) struct Suggestion {
    pub(super) id: PetId,
    pub(super) card: Markup,
    /// The drawings that the card uses.
    pub(super) drawings: Drawings,
}

type Suggestions = Arc<Vec<Suggestion>>;

/// A picture that other sites show with a link to a page.
#[derive(Clone)]
pub(super) struct Preview {
    pub(super) url: String,
    pub(super) width: u32,
    pub(super) height: u32,
    /// Its alternative text.
    pub(super) alt: String,
}

impl Shop {
    /// Returns the store of these parts, before anything was read.
    pub(super) fn new(parts: ReadingParts, settings: WindowSettings) -> Self {
        let facts = StoreFacts::new(Profile::default(), &settings.store);
        let clock = &parts.clock;
        Self {
            searches: Turns::new(PAGE_TURNS, Arc::clone(clock)),
            pages: Turns::new(PAGE_TURNS, Arc::clone(clock)),
            pieces: Turns::new(PIECE_TURNS, Arc::clone(clock)),
            parts,
            settings,
            last_moment: AsyncMutex::default(),
            last_facts: Mutex::new(Arc::new(facts)),
            kinds: Refreshed::default(),
            public_categories: Refreshed::default(),
            came_back: Refreshed::default(),
            suggestion_cache: Cache::with_capacity(MAX_FILTERS),
            counts: Cache::with_capacity(MAX_FILTERS),
        }
    }

    /// Returns what the public sees now. It has every write of this process, and the writes of other processes up to
    /// a second ago. Sets the language of the request to the language of the store.
    pub(super) async fn moment(&self) -> Result<Arc<Moment>, StoreError> {
        let moment = self.current_moment().await?;
        let facts = &moment.facts;
        languages::set_language_and_kind(facts.language().value, facts.kind());
        Ok(moment)
    }

    /// Returns the last moment if nobody can have written since it was read, or else reads the moment again.
    async fn current_moment(&self) -> Result<Arc<Moment>, StoreError> {
        // The lock is held while this reads, so requests that come together read once.
        let mut last_moment = self.last_moment.lock().await;
        let now = Seen::now(self.store(), &*self.parts.clock).await?;
        if let Some(last) = &*last_moment
            && last.seen.is_as(&now)
        {
            return Ok(Arc::clone(&last.moment));
        }

        let former = last_moment.take().map(|last| last.moment);
        let moment = self.read_moment(former).await?;
        *last_moment = Some(SeenMoment {
            moment: Arc::clone(&moment),
            seen: now,
        });
        Ok(moment)
    }

    /// Reads the moment of the present version. Returns `former` if it has this version.
    async fn read_moment(&self, former: Option<Arc<Moment>>) -> Result<Arc<Moment>, StoreError> {
        let version = self.store().public_version().await?;
        if let Some(former) = former
            && former.version == version
        {
            return Ok(former);
        }

        let fields = self.store().fields().await?;
        let facts = StoreFacts::read(self.store(), &self.settings.store).await?;
        let facts = Arc::new(facts);
        *self.last_facts.lock() = Arc::clone(&facts);
        Ok(Arc::new(Moment {
            version,
            fields,
            facts,
        }))
    }

    /// Returns the facts that were read last, for a page about a store that cannot be read. Sets the language of the
    /// request to the language in these facts.
    pub(super) fn last_facts(&self) -> Arc<StoreFacts> {
        let facts = Arc::clone(&self.last_facts.lock());
        languages::set_language_and_kind(facts.language().value, facts.kind());
        facts
    }

    /// Returns the reading half of the store.
    pub(super) fn store(&self) -> &StoreReader {
        &self.parts.store
    }

    /// Returns the present day of a store with these facts.
    pub(super) fn today(&self, facts: &StoreFacts) -> Date {
        facts.day_of(self.parts.clock.now())
    }

    /// Returns the URL at which the public reaches a path of the window.
    pub(super) fn url(&self, path: &str) -> String {
        [&self.settings.url, path].concat()
    }

    /// Returns the picture that other sites show with a link to the page of a photo's animal.
    pub(super) fn preview(&self, photo: &Photo, alt: String) -> Preview {
        let (width, height) = photo.dimensions(PhotoSize::Medium);
        Preview {
            url: self.url(&photo.path(PhotoSize::Medium)),
            width,
            height,
            alt,
        }
    }

    /// Counts the animals that a filter finds. Stops counting at `max_count + 1`, which means more than `max_count`.
    pub(super) async fn count(
        &self,
        moment: &Moment,
        filter: &Filter,
        max_count: usize,
    ) -> Result<usize, StoreError> {
        let key = CountKey {
            today: self.today(&moment.facts),
            parameters: filter.parameters(),
            max_count,
        };
        if let Some(count) = self.counts.find(&key, Some(moment.version)) {
            return Ok(count);
        }

        let count = selection::count(self.store(), filter, &moment.fields, max_count).await?;
        self.counts.insert(key, Some(moment.version), &count);
        Ok(count)
    }

    /// Returns the kinds of animals among which a visitor chooses first. They are counted once for each version,
    /// because every list shows them.
    pub(super) async fn kinds(
        &self,
        moment: &Arc<Moment>,
    ) -> Result<Reading<Arc<Vec<CountedKind>>>, StoreError> {
        self.kinds
            .read(moment.version, || {
                let store = self.parts.store.clone();
                let moment = Arc::clone(moment);
                async move {
                    let kinds = selection::count_kinds(&store, &moment.fields).await?;
                    Ok(Arc::new(kinds))
                }
            })
            .await
    }

    /// Returns the first categories that have an animal on offer. They are read once for each version, because every
    /// list has them. They are never of an earlier version, in which a category could have had an animal that went off
    /// the website since.
    pub(super) async fn public_categories(
        &self,
        moment: &Moment,
    ) -> Result<Arc<Vec<Category>>, StoreError> {
        let reading = self
            .public_categories
            .read(moment.version, || {
                let store = self.parts.store.clone();
                async move { Ok(Arc::new(selection::read_public_categories(&store).await?)) }
            })
            .await?;
        if reading.is_current {
            return Ok(reading.value);
        }
        let categories = selection::read_public_categories(self.store()).await?;
        Ok(Arc::new(categories))
    }

    /// Returns the animals that became available again. They are read once for each version, because every feed has
    /// them.
    pub(super) async fn came_back(
        &self,
        moment: &Moment,
    ) -> Result<Reading<Arc<Vec<CameBack>>>, StoreError> {
        self.came_back
            .read(moment.version, || {
                let store = self.parts.store.clone();
                async move { Ok(Arc::new(selection::read_came_back(&store).await?)) }
            })
            .await
    }

    /// Returns the animals that a page suggests to visitors who filtered with these parameters. `read` reads
    /// and renders them, once for each version of the database, because the page of every animal of a kind
    /// ends with the same suggestions.
    pub(super) async fn suggestions(
        &self,
        moment: &Moment,
        parameters: Vec<Parameter>,
        read: impl AsyncFnOnce() -> Result<Vec<Suggestion>, StoreError>,
    ) -> Result<Suggestions, StoreError> {
        let key = SuggestionsKey {
            today: self.today(&moment.facts),
            parameters,
        };
        if let Some(suggestions) = self.suggestion_cache.find(&key, Some(moment.version)) {
            return Ok(suggestions);
        }

        let suggestions = Arc::new(read().await?);
        self.suggestion_cache
            .insert(key, Some(moment.version), &suggestions);
        Ok(suggestions)
    }

    /// Gives the words of a search their everyday meaning.
    pub(super) async fn understand(
        &self,
        mut query: Query,
        moment: &Moment,
    ) -> Result<Query, StoreError> {
        let Some(phrase) = query.filter.phrase.take() else {
            return Ok(query);
        };
        let mut categories = Arc::default();
        if has_general_words(&phrase) {
            categories = self.public_categories(moment).await?;
        }
        let vocabulary = Vocabulary {
            fields: &moment.fields,
            categories: &categories,
            language: languages::language(),
            today: self.today(&moment.facts),
        };
        let understood = understand(phrase, &vocabulary);
        query.filter.phrase = Some(understood.phrase);
        query.filter.understood_words = understood.words;
        Ok(query)
    }
}
