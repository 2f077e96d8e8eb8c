//! Reads pages of the list, together with the labels of the categories that the public may see.

use petstore_domain::{
    PetId,
    store_area::{FieldSet, StorePet},
};
use petstore_languages::look::Animal;
use petstore_store::StoreError;

use super::{
    kinds,
    labels::Labels,
    offers::PetPage,
    query::Query,
    selection,
    shop::{Shop, Snapshot},
};

/// One page of the list, with everything that its cards show.
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
    pub(super) async fn read_list_page<'f>(
        &self,
        query: &Query,
        snapshot: &'f Snapshot,
    ) -> Result<ListPage<'f>, StoreError> {
        let page = selection::find_page(self.store(), query, &snapshot.fields).await?;
        self.build_list_page(query, snapshot, page).await
    }

    /// Reads a page of the list like [`Self::read_list_page`], with name matches first: see
    /// [`selection::find_page_with_name_matches`].
    pub(super) async fn read_list_page_with_name_matches<'f>(
        &self,
        query: &Query,
        snapshot: &'f Snapshot,
    ) -> Result<ListPage<'f>, StoreError> {
        let page =
            selection::find_page_with_name_matches(self.store(), query, &snapshot.fields).await?;
        self.build_list_page(query, snapshot, page).await
    }

    /// Builds a list page from its animals: loads the labels of their categories and, if no animal
    /// matches, of the filter's category.
    async fn build_list_page<'f>(
        &self,
        query: &Query,
        snapshot: &'f Snapshot,
        page: PetPage,
    ) -> Result<ListPage<'f>, StoreError> {
        let PetPage { pets, next } = page;
        let mut labels = Labels::new(self.public_categories(snapshot).await?);
        let mut category_ids: Vec<i64> = pets.iter().map(|pet| pet.category_id).collect();
        // Even if no animal matches, the page shows the filter, and needs the label of its category.
        if pets.is_empty()
            && let Some(id) = query.filter.category_id
        {
            // The public must not learn the label of a category that has no animal on offer.
            let is_public = kinds::category_has_animals(self.store(), id).await?;
            if is_public {
                category_ids.push(id);
            }
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
