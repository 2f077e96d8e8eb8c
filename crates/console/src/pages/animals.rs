//! The page with the list of animals: the search, the filters, the table, and the form that changes
//! the selected animals.

use std::collections::BTreeSet;

use super::{
    animal_filters::{AFTER_PARAMETER, Filters, SORT_PARAMETER},
    animal_list::{ListPage, MAX_COUNT, load_page},
    animal_table::animal_table,
    empty_list::nothing_found_card,
    filter_views::{filter_form, show_chips},
    list_order::{ListOrder, MAX_SORTED},
    order_rows,
    parts::{empty_store_card, page_links},
    pet_schema::PetSchema,
    selected,
};
use crate::{layout::Follows, prelude::*, session};

/// Handles `GET /animals`: shows the list that the query parameters select.
pub(super) async fn list(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    show(desk, &desk.visit.query, &Errors::default()).await
}

/// Shows the list that the parameters in `form` select. If a change of its animals has just failed,
/// `errors` says why, and `form` has the submitted values as well.
///
/// If the search text identifies exactly one animal, such as a scanned microchip, redirects to the
/// page of this animal.
pub(super) async fn show(desk: &Desk<'_>, form: &Form, errors: &Errors) -> Result<Reply, ApiError> {
    let fields = desk.store().fields().await?;
    let filters = Filters::load(desk, form, &fields).await?;
    let list_page = load_page(desk, &filters).await?;
    // While the member types, the script of the page requests the list again and again. It needs
    // the list even if only one animal is left, so it is not redirected.
    if let Some(id) = list_page.only_match
        && errors.is_empty()
        && !session::is_automatic(desk.visit.request)
    {
        return Ok(Reply::redirect_to(&format!("/animals/{id}")));
    }

    let pets = &list_page.pets;
    let mut category_ids: BTreeSet<i64> = pets.iter().map(|pet| pet.category_id).collect();
    category_ids.extend(filters.query.category_id);
    let categories = desk.load_category_choices(category_ids).await?;
    let view = ListView {
        desk,
        form,
        errors,
        filters: &filters,
        list_page: &list_page,
        schema: PetSchema {
            categories: &categories,
            fields: &fields,
        },
    };
    let content = html! {
        (page_head(desk))
        (errors.summary())
        (filter_form(&filters, &categories))
        (view.show_results().await?)
    };

    let page = Page::new(texts().animals_heading, content);
    Ok(page.following(followed_changes(&filters, errors)).into())
}

/// Returns the changes that the open page [follows](Follows): none if the page shows the errors of
/// a failed change on a list without filters, otherwise all.
///
/// A page with errors has the address of the form, so the script cannot read it again. On a list
/// with filters, the script replaces this address by the one of the list when the member types. It
/// can then read the page again.
fn followed_changes(filters: &Filters<'_>, errors: &Errors) -> Follows {
    let has_failed = !errors.is_empty();
    if has_failed && !filters.is_filtered() {
        Follows::Nothing
    } else {
        Follows::Everything
    }
}

/// Renders the heading of the page, with links to the categories and to the form for new animals.
fn page_head(desk: &Desk<'_>) -> Markup {
    html! {
        div.head {
            h1 { (texts().animals_heading) }
            div.buttons {
                a href="/categories" { (texts().categories) }
                @if desk.may_write() { a.button href="/add" { (texts().add_animals) } }
            }
        }
    }
}

/// Everything that is needed to render a page of the list.
struct ListView<'v> {
    desk: &'v Desk<'v>,
    /// The parameters of the list. After a failed change, the form also has the submitted values of
    /// the form that changes the selected animals.
    form: &'v Form,
    errors: &'v Errors,
    filters: &'v Filters<'v>,
    list_page: &'v ListPage,
    schema: PetSchema<'v>,
}

impl ListView<'_> {
    /// Renders the results: the active filters, the number of animals, and the animals. The script
    /// replaces this part of the page while the member types into the search field.
    async fn show_results(&self) -> Result<Markup, StoreError> {
        let Self {
            desk,
            filters,
            list_page,
            schema,
            ..
        } = self;
        let pets = &list_page.pets;
        let count_text = wording::animal_count(list_page.count, pets.len(), MAX_COUNT);
        let table_or_card = self.show_table_or_card().await?;
        Ok(html! {
            div #results.stack data-live data-found=(count_text) {
                (show_chips(filters, desk, schema.categories, pets))
                @if list_page.is_too_long_to_sort {
                    p.notice.flash role="status" { (texts().too_many_to_sort(MAX_SORTED)) }
                }
                @if !pets.is_empty() { p.muted { (count_text) (sort_links(filters)) } }
                (table_or_card)
                @if !pets.is_empty() {
                    p.no-print { a href=(filters.export_path()) { (texts().export) } }
                }
            }
        })
    }

    /// Renders the animals of the page, or a card that explains why there are none.
    async fn show_table_or_card(&self) -> Result<Markup, StoreError> {
        if !self.list_page.pets.is_empty() {
            self.show_table_with_links().await
        } else if self.filters.is_filtered() {
            nothing_found_card(self.desk, self.filters).await
        } else {
            Ok(empty_store_card(self.desk))
        }
    }

    /// Renders the table of the animals, and the links to the first and the next page.
    ///
    /// For members who may change animals, the table is inside the form that changes the selected
    /// animals. A list of withdrawn animals has no such form, because they cannot be changed.
    async fn show_table_with_links(&self) -> Result<Markup, StoreError> {
        let Self {
            desk,
            filters,
            list_page,
            ..
        } = self;
        let pets = &list_page.pets;
        // The table shows only the contact of an order. Viewers may not see contacts, so they need
        // no orders.
        let mut order_ids = Vec::new();
        if desk.may_write() {
            order_ids.extend(pets.iter().filter_map(|pet| pet.order_id));
        }
        let orders = order_rows::load_orders(desk, order_ids.into_iter()).await?;

        let next_page = list_page
            .next_position
            .map(|id| filters.path_with(&[(AFTER_PARAMETER, &id.get().to_string())]));
        let first_page = filters.query.after.map(|_| filters.path_with(&[]));
        let has_form = desk.may_write() && !filters.query.is_withdrawn;
        let table = html! {
            (animal_table(desk, pets, self.schema, &orders, has_form))
            (page_links(first_page.as_deref(), next_page.as_deref()))
        };
        if has_form {
            Ok(self.selection_form(&table))
        } else {
            Ok(table)
        }
    }

    /// Wraps the table in the form that changes the selected animals.
    fn selection_form(&self, table: &Markup) -> Markup {
        let default_end = self.desk.default_end_day();
        let action_bar = selected::bar(self.schema, self.form, &default_end, self.errors);
        html! {
            form.several method="post" action="/animals/selected" {
                (self.desk.idempotency_field("selected"))
                // These fields select the page of the list that the response to the change shows.
                input type="hidden" name=(AFTER_PARAMETER) value=(self.form.raw(AFTER_PARAMETER));
                @for (name, value) in &self.filters.parameters {
                    input type="hidden" name=(name) value=(value);
                }
                a.skip href="#selected" { (texts().skip_list) }
                (table)
                (action_bar)
            }
        }
    }
}

/// Renders the label of the current order, and a link for each other available order.
fn sort_links(filters: &Filters<'_>) -> Markup {
    html! {
        " · " (filters.order.label(filters.fields))
        span.no-print {
            @for order in ListOrder::ALL {
                @if order != filters.order && order.is_available(filters.fields) {
                    @let path = filters.path_with(&[(SORT_PARAMETER, order.as_parameter())]);
                    " · " a href=(path) { (order.label(filters.fields)) }
                }
            }
        }
    }
}
