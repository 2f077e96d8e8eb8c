//! What all pages and files read.

use std::sync::Arc;

use jiff::{civil::Date, tz::TimeZone};

use super::{animal::Animal, labels::Labels, query::Query, selection, settings::WindowSettings};
use crate::{
    app::App,
    domain::{PetId, store_area::FieldSet},
    store::{Store, StoreError},
};

/// A store and how the window shows it.
pub(super) struct Shop {
    pub(super) app: Arc<App>,
    pub(super) settings: WindowSettings,
}

/// A page of the list, as it was read.
pub(super) struct Listed {
    pub(super) fields: FieldSet,
    pub(super) animals: Vec<Animal>,
    pub(super) labels: Labels,
    /// The position after the animals, if more may follow.
    pub(super) next: Option<PetId>,
}

impl Shop {
    pub(super) fn store(&self) -> &dyn Store {
        &*self.app.store
    }

    pub(super) fn today(&self) -> Date {
        self.app.clock.now().to_zoned(TimeZone::UTC).date()
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.settings.store_name.as_deref()
    }

    /// The address for the public of a path of the window.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.settings.url)
    }

    pub(super) async fn list(&self, query: &Query) -> Result<Listed, StoreError> {
        let fields = self.store().fields().await?;
        let (pets, next) = selection::find(self.store(), query, &fields).await?;
        let animals: Vec<_> = pets.iter().map(|pet| Animal::of(pet, &fields)).collect();
        let mut labels = Labels::first(self.store()).await?;
        let categories: Vec<i64> = animals.iter().map(|animal| animal.category_id).collect();
        labels.learn(self.store(), categories).await?;
        Ok(Listed { fields, animals, labels, next })
    }
}
