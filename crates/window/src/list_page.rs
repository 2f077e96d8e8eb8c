//! Reads pages of the list, with the labels of categories that the public may learn.

use petstore_domain::{
    PetId,
    store_area::{FieldSet, StorePet},
};
use petstore_languages::look::Animal;
use petstore_store::StoreError;

use super::{
    labels::Labels,
    query::Query,
    selection,
    shop::{Moment, Shop},
};

/// A page of the list, as it was read.
pub(super) struct ListPage<'f> {
    pub(super) fields: &'f FieldSet,
    pub(super) pets: Vec<StorePet>,
    pub(super) labels: Labels,
    /// The position after the animals, if more may follow.
    pub(super) next: Option<PetId>,
}

impl ListPage<'_> {
    /// Returns what everybody may see of the animals.
    pub(super) fn animals(&self) -> Vec<Animal<'_>> {
        self.pets
            .iter()
            .map(|pet| Animal::public(pet, self.fields))
            .collect()
    }
}

impl Shop {
    /// Reads a page of the list, and the labels of the categories in it and in the filter.
    pub(super) async fn list_page<'f>(
        &self,
        query: &Query,
        moment: &'f Moment,
    ) -> Result<ListPage<'f>, StoreError> {
        let (pets, next) = selection::find(self.store(), query, &moment.fields).await?;
        self.with_labels(query, moment, pets, next).await
    }

    /// Reads a page of the list like [`Self::list_page`], with the animals that [`selection::find_for_people`] finds.
    pub(super) async fn list_page_for_people<'f>(
        &self,
        query: &Query,
        moment: &'f Moment,
    ) -> Result<ListPage<'f>, StoreError> {
        let (pets, next) = selection::find_for_people(self.store(), query, &moment.fields).await?;
        self.with_labels(query, moment, pets, next).await
    }

    /// Returns a page with these animals, and the labels of the categories in it and in the filter.
    async fn with_labels<'f>(
        &self,
        query: &Query,
        moment: &'f Moment,
        pets: Vec<StorePet>,
        next: Option<PetId>,
    ) -> Result<ListPage<'f>, StoreError> {
        let mut labels = Labels::new(self.public_categories(moment).await?);
        let mut category_ids: Vec<i64> = pets.iter().map(|pet| pet.category_id).collect();
        // The public does not learn the label of a category that has no animal on offer.
        if let Some(id) = query.filter.category_id
            && pets.is_empty()
            && selection::has_animal(self.store(), id).await?
        {
            category_ids.push(id);
        }
        labels.load(self.store(), category_ids).await?;

        Ok(ListPage {
            fields: &moment.fields,
            pets,
            labels,
            next,
        })
    }
}
