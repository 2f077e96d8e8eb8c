//! `/` and `/embed`: the list of animals as HTML pages with cards.

use std::sync::Arc;

use maud::{Markup, html};
use petstore_languages::{
    look::{Animal, Drawings},
    window_texts as texts,
};
use petstore_web::edge::ApiError;

use super::{
    cards::CardRenderer,
    filter::Filter,
    filter_form::FilterForm,
    filter_panel::FilterPanel,
    kinds::MAX_COUNT_OF_KIND,
    layout::{Head, Layout},
    list_page::ListPage,
    query::Query,
    rendered::RenderedPage,
    schema,
    selection::MAX_COUNT_OF_LIST,
    shop::{Preview, Shop, Snapshot},
    store,
    suggestions::{self, SuggestionKind},
};

/// A list whose filter is the current one without one of its criteria.
struct WiderList {
    removed_criterion: String,
    path: String,
    /// The number of animals in the list.
    count: usize,
}

/// Renders `GET /`: the filter controls, the cards of one page of the list, and links to other
/// pages.
pub(super) async fn render_page(
    shop: &Shop,
    layout: &Layout,
    snapshot: &Arc<Snapshot>,
    query: &Query,
) -> Result<RenderedPage, ApiError> {
    let facts = &*snapshot.facts;
    let list_page = shop
        .read_list_page_with_name_matches(query, snapshot)
        .await?;
    let animals = list_page.animals();
    let kinds = shop.counted_kinds(snapshot).await?;

    let panel = FilterPanel {
        query,
        list_page: &list_page,
        kinds: &kinds.value,
    };
    let mut drawings = Drawings::default();
    let content = render_content(shop, snapshot, &panel, &animals, &mut drawings).await?;

    let next_page_path = next_path(query, &list_page);
    let head = Head {
        title: &format_title(query, &panel),
        description: &texts().about_list(store::own_name(facts).as_deref()),
        canonical_path: Some(&format!("/{}", query.canonical_query_string())),
        is_indexed: query.is_indexed() && !animals.is_empty(),
        feed_query: &query.clone().into_first_page().canonical_query_string(),
        next_page_path: next_page_path.as_deref(),
        picture: find_preview(shop, &animals),
        schema: Some(schema::render_list(shop, facts, &animals)),
        drawings: drawings.symbols(),
    };
    let mut page = layout.render_page(facts, &head, &content);
    page.is_current = kinds.is_current;
    Ok(page)
}

/// Renders `GET /embed`: only the cards of one page of the list, for a frame on another site. Links
/// open in the whole tab, not in the frame.
pub(super) async fn render_embedded_page(
    shop: &Shop,
    layout: &Layout,
    snapshot: &Snapshot,
    query: &Query,
) -> Result<RenderedPage, ApiError> {
    let facts = &*snapshot.facts;
    let list_page = shop.read_list_page(query, snapshot).await?;
    let animals = list_page.animals();
    let mut drawings = Drawings::default();
    let cards =
        CardRenderer::for_frame(shop, facts, &list_page).render_cards(&animals, &mut drawings);

    let content = html! {
        h1.hidden { (texts().list) }
        @if animals.is_empty() {
            p.none { (explain_empty_list(query, &list_page)) }
        } @else {
            (cards)
        }
        @if list_page.next.is_some() || query.after.is_some() {
            nav.pages aria-label=(texts().pages) {
                a.button href={ "/" (query.query_string_after(None)) } target="_top" {
                    (texts().back)
                }
            }
        }
    };

    let head = Head {
        title: texts().list,
        description: &texts().about_list(store::own_name(facts).as_deref()),
        schema: Some(schema::render_list(shop, facts, &animals)),
        drawings: drawings.symbols(),
        ..Head::default()
    };
    Ok(layout.render_embedded_page(facts, &head, &content))
}

/// Renders the content of a list page: everything between the header and footer of the store.
async fn render_content(
    shop: &Shop,
    snapshot: &Snapshot,
    panel: &FilterPanel<'_>,
    animals: &[Animal<'_>],
    drawings: &mut Drawings,
) -> Result<Markup, ApiError> {
    let query = panel.query;
    let list_page = panel.list_page;
    let facts = &*snapshot.facts;
    let count = count_results(shop, snapshot, query, list_page).await?;
    let results = if animals.is_empty() {
        render_empty_list(shop, snapshot, panel, drawings).await?
    } else {
        CardRenderer::for_window(shop, facts, list_page).render_cards(animals, drawings)
    };
    let form = FilterForm { query, list_page };

    Ok(html! {
        h1 { (choose_heading(query)) }
        (panel.kind_shortcuts(drawings))
        (form.render())
        @if query.has_unknown_parameters { p.note role="status" { (texts().link_not_understood) } }
        (panel.summary(count))
        (results)
        (render_page_links(query, next_path(query, list_page).as_deref()))
        @if query.after.is_none() && query.filter.is_empty() { (store::about_section(facts)) }
    })
}

/// Counts the animals on all pages of the list. Stops counting at `MAX_COUNT_OF_LIST + 1`. If there is
/// only one page, its length is the count.
async fn count_results(
    shop: &Shop,
    snapshot: &Snapshot,
    query: &Query,
    list_page: &ListPage<'_>,
) -> Result<usize, ApiError> {
    let is_only_page = list_page.next.is_none() && query.after.is_none();
    if is_only_page {
        return Ok(list_page.pets.len());
    }
    Ok(shop
        .count(snapshot, &query.filter, MAX_COUNT_OF_LIST)
        .await?)
}

/// Returns the first photo on the page as the picture for link previews. Returns `None` if no animal on
/// the page has a photo.
fn find_preview(shop: &Shop, animals: &[Animal<'_>]) -> Option<Preview> {
    animals.iter().find_map(|animal| shop.preview_of(animal))
}

/// Returns the heading of a list page.
fn choose_heading(query: &Query) -> &'static str {
    if query.after.is_some() {
        texts().next
    } else {
        texts().list
    }
}

/// Returns the document title of a list page: its heading, and the active criteria.
///
/// Example: `Meet our animals – Species: Dog, Size: Small`.
fn format_title(query: &Query, panel: &FilterPanel<'_>) -> String {
    let heading = choose_heading(query);
    if query.filter.is_empty() {
        return heading.to_owned();
    }

    let parameters = query.filter.parameters();
    let criteria: Vec<_> = parameters
        .iter()
        .map(|parameter| panel.label_and_value(parameter))
        .collect();
    format!("{heading} – {}", criteria.join(", "))
}

/// Returns the path of the next page of the list, if more animals follow.
fn next_path(query: &Query, list_page: &ListPage<'_>) -> Option<String> {
    let next = list_page.next?;
    Some(format!("/{}", query.query_string_after(Some(next))))
}

/// Renders the pagination links: to the first page, unless this is it, and to the next page, if there
/// is one.
fn render_page_links(query: &Query, next_path: Option<&str>) -> Markup {
    html! {
        nav.pages aria-label=(texts().pages) {
            @if query.after.is_some() {
                a href={ "/" (query.query_string_after(None)) } { (texts().first) }
            }
            @if let Some(path) = next_path {
                a.button rel="next" href=(path) { (texts().next) }
            }
        }
    }
}

/// Renders the content of a list page without animals. On a first page, it also offers links to lists
/// without one of the criteria, and suggests animals of the same species or category.
async fn render_empty_list(
    shop: &Shop,
    snapshot: &Snapshot,
    panel: &FilterPanel<'_>,
    drawings: &mut Drawings,
) -> Result<Markup, ApiError> {
    let query = panel.query;
    let explanation = html! { p.none { (explain_empty_list(query, panel.list_page)) } };
    if query.after.is_some() {
        return Ok(explanation);
    }

    let wider_lists = find_wider_lists(shop, snapshot, panel).await?;
    let suggestions = if let Some(filter) = query.filter.widen_to_similar_animals() {
        let kind = SuggestionKind::InsteadOfEmptyList { filter };
        suggestions::render_section(shop, snapshot, kind, drawings).await?
    } else {
        // The filter cannot be widened to similar animals.
        html! {}
    };
    Ok(html! {
        (explanation)
        (render_wider_list_links(query, &wider_lists))
        (suggestions)
    })
}

/// Finds the lists without one of the criteria, as far as they have animals.
async fn find_wider_lists(
    shop: &Shop,
    snapshot: &Snapshot,
    panel: &FilterPanel<'_>,
) -> Result<Vec<WiderList>, ApiError> {
    let query = panel.query;
    let mut wider_lists = Vec::new();
    for parameter in query.filter.parameters() {
        let filter = query.filter.without_parameter(&parameter.name);
        let count = shop.count(snapshot, &filter, MAX_COUNT_OF_KIND).await?;
        if count > 0 {
            wider_lists.push(WiderList {
                removed_criterion: panel.label_and_value(&parameter),
                path: query.path_with(filter),
                count,
            });
        }
    }
    Ok(wider_lists)
}

/// Renders links to lists without one of the criteria. If there is no such list, renders a link to
/// the list of all animals, unless this is it.
fn render_wider_list_links(query: &Query, wider_lists: &[WiderList]) -> Markup {
    let [open_quote, close_quote] = texts().quotes;
    html! {
        @if !wider_lists.is_empty() {
            ul.instead {
                @for wider_list in wider_lists {
                    li {
                        a href=(wider_list.path) {
                            (texts().without)
                            (open_quote) bdi { (wider_list.removed_criterion) } (close_quote)
                        }
                        (texts().colon) (texts().count(wider_list.count, MAX_COUNT_OF_KIND))
                    }
                }
            }
        } @else if !query.filter.is_empty() {
            p { a href=(query.path_with(Filter::default())) { (texts().clear) } }
        }
    }
}

/// Returns the text that explains why a list page has no animals.
fn explain_empty_list(query: &Query, list_page: &ListPage<'_>) -> &'static str {
    if list_page.next.is_some() {
        texts().none_here_yet
    } else if query.filter.is_empty() {
        texts().none_at_all
    } else {
        texts().none_found
    }
}
