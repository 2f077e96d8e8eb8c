//! Reads pages of the list, together with the labels of the categories that the public may see.

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
    shop::{Shop, Snapshot},
};

/// One page of the list, as read from the store.
pub(super) struct ListPage<'f> {
    pub(super) fields: &'f FieldSet,
    pub(super) pets: Vec<StorePet>,
    pub(super) labels: Labels,
    /// The cursor of the next page, if more animals follow.
    pub(super) next: Option<PetId>,
}

impl ListPage<'_> {
    /// Returns the public view of the animals on the page.
    pub(super) fn animals(&self) -> Vec<Animal<'_>> {
        self.pets
            .iter()
            .map(|pet| Animal::public(pet, self.fields))
            .collect()
    }
}

impl Shop {
    /// Reads a page of the list, with the labels of the categories of its animals and of the
    /// filter.
    pub(super) async fn list_page<'f>(
        &self,
        query: &Query,
        snapshot: &'f Snapshot,
    ) -> Result<ListPage<'f>, StoreError> {
        let (pets, next) = selection::find_page(self.store(), query, &snapshot.fields).await?;
        self.build_list_page(query, snapshot, pets, next).await
    }

    /// Reads a page of the list like [`Self::list_page`], with name matches first: see
    /// [`selection::find_page_with_name_matches`].
    pub(super) async fn list_page_with_name_matches<'f>(
        &self,
        query: &Query,
        snapshot: &'f Snapshot,
    ) -> Result<ListPage<'f>, StoreError> {
        let (pets, next) =
            selection::find_page_with_name_matches(self.store(), query, &snapshot.fields).await?;
        self.build_list_page(query, snapshot, pets, next).await
    }

    /// Builds a list page from its animals: loads the labels of their categories and, if no animal
    /// matches, of the filter's category.
    async fn build_list_page<'f>(
        &self,
        query: &Query,
        snapshot: &'f Snapshot,
        pets: Vec<StorePet>,
        next: Option<PetId>,
    ) -> Result<ListPage<'f>, StoreError> {
        let mut labels = Labels::new(self.public_categories(snapshot).await?);
        let mut category_ids: Vec<i64> = pets.iter().map(|pet| pet.category_id).collect();
        // Even if no animal matches, the page shows the filter, and needs the label of its category.
        // But the public must not learn the label of a category that has no animal on offer.
        if let Some(id) = query.filter.category_id
            && pets.is_empty()
            && selection::category_has_animals(self.store(), id).await?
        {
            category_ids.push(id);
        }
        labels.load(self.store(), category_ids).await?;

        Ok(ListPage {
            fields: &snapshot.fields,
            pets,
            labels,
            next,
        })
    }
}
