//! A read-only handle to a store, for code that must not write.

use std::sync::Arc;

use jiff::Timestamp;
use petstore_domain::{
    Limit, PetId,
    store_area::{Category, FieldSet, Logo, PetQuery, PhotoId, Profile, StorePet},
};

use crate::{PhotoAudience, ReturnToOffer, Store, StoreError, StoredLogo, Version};

/// A read-only handle to a store, for the public pages. It offers only what the public may see.
/// Each method behaves like the method that its doc refers to.
#[derive(Clone)]
pub struct StoreReader {
    store: Arc<dyn Store>,
}

impl StoreReader {
    /// Makes a read-only handle to `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// See [`crate::Offers::public_version`].
    pub async fn public_version(&self) -> Result<Version, StoreError> {
        self.store.public_version().await
    }

    /// See [`crate::Offers::list_offers`].
    pub async fn list_offers(
        &self,
        query: &PetQuery,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
        self.store.list_offers(query).await
    }

    /// See [`crate::Offers::count_offers`].
    pub async fn count_offers(
        &self,
        queries: Vec<PetQuery>,
        max_count: usize,
    ) -> Result<Vec<usize>, StoreError> {
        self.store.count_offers(queries, max_count).await
    }

    /// See [`crate::Offers::list_returns`].
    pub async fn list_returns(&self, scanned_count: i64) -> Result<Vec<ReturnToOffer>, StoreError> {
        self.store.list_returns(scanned_count).await
    }

    /// Reads an animal like [`crate::StoreArea::get_store_pet`]. Also returns `None` for an animal
    /// that the window, the public website, may not show.
    pub async fn get_listed_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError> {
        let pet = self.store.get_store_pet(id).await?;
        Ok(pet.filter(|pet| pet.is_listed))
    }

    /// See [`crate::Offers::photo_audience`].
    pub async fn photo_audience(&self, id: PhotoId) -> Result<Option<PhotoAudience>, StoreError> {
        self.store.photo_audience(id).await
    }

    /// See [`crate::Lists::list_categories`].
    pub async fn list_categories(
        &self,
        after: Option<i64>,
        limit: Limit,
    ) -> Result<(Vec<Category>, Option<i64>), StoreError> {
        self.store.list_categories(after, limit).await
    }

    /// See [`crate::Fields::fields`].
    pub async fn fields(&self) -> Result<FieldSet, StoreError> {
        self.store.fields().await
    }

    /// See [`crate::StoreProfile::profile`].
    pub async fn profile(&self) -> Result<Profile, StoreError> {
        self.store.profile().await
    }

    /// See [`crate::StoreProfile::logo`].
    pub async fn logo(&self, logo: Logo, now: Timestamp) -> Result<Option<StoredLogo>, StoreError> {
        self.store.logo(logo, now).await
    }

    /// See [`crate::Pets::version`].
    pub async fn version(&self) -> Result<Option<Version>, StoreError> {
        self.store.version().await
    }

    /// See [`crate::Pets::ended_writes`].
    pub fn ended_writes(&self) -> u64 {
        self.store.ended_writes()
    }

    /// See [`crate::Pets::etag_key`].
    pub fn etag_key(&self) -> [u8; 32] {
        self.store.etag_key()
    }
}
