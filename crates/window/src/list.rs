//! `/` and `/embed`: the animals as cards.

use std::sync::Arc;

use maud::{Markup, html};
use petstore_languages::{
    look::{Animal, Drawings},
    window_texts as texts,
};
use petstore_web::edge::ApiError;

use super::{
    cards::CardMaker,
    filter::Filter,
    filter_form::FilterForm,
    filter_panel::FilterPanel,
    layout::{Head, Layout},
    list_page::ListPage,
    query::Query,
    rendered::RenderedPage,
    schema,
    selection::{MAX_COUNT_OF_KIND, MAX_COUNT_OF_LIST},
    shop::{Moment, Preview, Shop},
    store, suggestions,
};

/// Renders `GET /`.
pub(super) async fn page(
    shop: &Shop,
    layout: &Layout,
    moment: &Arc<Moment>,
    query: &Query,
) -> Result<RenderedPage, ApiError> {
    let facts = &*moment.facts;
    let list_page = shop.list_page_for_people(query, moment).await?;
    let animals = list_page.animals();
    let kinds = shop.kinds(moment).await?;

    let panel = FilterPanel {
        query,
        list_page: &list_page,
        kinds: &kinds.value,
    };
    let form = FilterForm {
        query,
        list_page: &list_page,
    };
    let count = count_all(shop, moment, query, &list_page).await?;
    let mut drawings = Drawings::default();
    let list = if animals.is_empty() {
        empty_list(shop, moment, &panel, &mut drawings).await?
    } else {
        CardMaker::for_window(shop, facts, &list_page).cards(&animals, &mut drawings)
    };
    let next_page_path = next_path(query, &list_page);
    let content = html! {
        h1 { (heading(query)) }
        (panel.kinds(&mut drawings))
        (form.show())
        @if query.has_unknown { p.note role="status" { (texts().link_not_understood) } }
        (panel.summary(count))
        (list)
        (page_links(query, next_page_path.as_deref()))
        @if query.after.is_none() && query.filter.is_empty() { (store::about_section(facts)) }
    };

    let head = Head {
        title: &title(query, &panel),
        description: &texts().about_list(store::own_name(facts).as_deref()),
        canonical: Some(&format!("/{}", query.canonical())),
        is_indexed: query.is_indexed() && !animals.is_empty(),
        feed: &query.clone().into_first_page().canonical(),
        next: next_page_path.as_deref(),
        picture: first_preview(shop, &animals),
        schema: Some(schema::list(shop, facts, &animals)),
        drawings: drawings.symbols(),
    };
    let mut page = layout.page(facts, &head, &content);
    page.is_current = kinds.is_current;
    Ok(page)
}

/// Counts the animals of all pages of the list, at most [`MAX_COUNT_OF_LIST`] and one more.
async fn count_all(
    shop: &Shop,
    moment: &Moment,
    query: &Query,
    list_page: &ListPage<'_>,
) -> Result<usize, ApiError> {
    let is_only_page = list_page.next.is_none() && query.after.is_none();
    if is_only_page {
        return Ok(list_page.pets.len());
    }
    Ok(shop.count(moment, &query.filter, MAX_COUNT_OF_LIST).await?)
}

/// Returns the first photo of the animals as the picture of their page on other sites.
fn first_preview(shop: &Shop, animals: &[Animal<'_>]) -> Option<Preview> {
    let animal = animals.iter().find(|animal| !animal.photos.is_empty())?;
    let photo = animal.photos.first()?;
    Some(shop.preview(photo, animal.alt(0, photo)))
}

/// Returns the heading of a page of the list.
fn heading(query: &Query) -> &'static str {
    if query.after.is_some() {
        texts().next
    } else {
        texts().list
    }
}

/// Returns the title of a page of the list: its heading, and the parameters of its filter.
fn title(query: &Query, panel: &FilterPanel<'_>) -> String {
    let heading_text = heading(query);
    if query.filter.is_empty() {
        return heading_text.to_owned();
    }

    let parameters = query.filter.parameters();
    let parameter_texts: Vec<_> = parameters
        .iter()
        .map(|parameter| panel.parameter_text(parameter))
        .collect();
    format!("{heading_text} – {}", parameter_texts.join(", "))
}

/// Returns the path of the next page, if more animals follow.
fn next_path(query: &Query, list_page: &ListPage<'_>) -> Option<String> {
    let next = list_page.next?;
    Some(format!("/{}", query.with_cursor(Some(next))))
}

/// Renders the links to the first and to the next page.
fn page_links(query: &Query, next_path: Option<&str>) -> Markup {
    html! {
        nav.pages aria-label=(texts().pages) {
            @if query.after.is_some() {
                a href={ "/" (query.with_cursor(None)) } { (texts().first) }
            }
            @if let Some(path) = next_path {
                a.button rel="next" href=(path) { (texts().next) }
            }
        }
    }
}

/// Renders `GET /embed`.
pub(super) async fn embedded_page(
    shop: &Shop,
    layout: &Layout,
    moment: &Moment,
    query: &Query,
) -> Result<RenderedPage, ApiError> {
    let facts = &*moment.facts;
    let list_page = shop.list_page(query, moment).await?;
    let animals = list_page.animals();
    let mut drawings = Drawings::default();
    let cards = CardMaker::for_frame(shop, facts, &list_page).cards(&animals, &mut drawings);

    let content = html! {
        h1.hidden { (texts().list) }
        @if animals.is_empty() {
            p.none { (empty_text(query, &list_page)) }
        } @else {
            (cards)
        }
        @if list_page.next.is_some() || query.after.is_some() {
            nav.pages aria-label=(texts().pages) {
                a.button href={ "/" (query.with_cursor(None)) } target="_top" { (texts().back) }
            }
        }
    };

    let head = Head {
        title: texts().list,
        description: &texts().about_list(store::own_name(facts).as_deref()),
        schema: Some(schema::list(shop, facts, &animals)),
        drawings: drawings.symbols(),
        ..Head::default()
    };
    Ok(layout.embedded_page(facts, &head, &content))
}

/// Renders a page without animals. If no animal passes the filter, it has links to lists with fewer parameters, and
/// animals of the same species or category.
async fn empty_list(
    shop: &Shop,
    moment: &Moment,
    panel: &FilterPanel<'_>,
    drawings: &mut Drawings,
) -> Result<Markup, ApiError> {
    let text = html! { p.none { (empty_text(panel.query, panel.list_page)) } };
    if panel.query.after.is_some() {
        return Ok(text);
    }

    let links = links_to_wider_lists(shop, moment, panel).await?;
    let suggestions = if let Some(filter) = panel.query.filter.similar() {
        suggestions::section(shop, moment, filter, None, drawings).await?
    } else {
        html! {}
    };
    Ok(html! { (text) (links) (suggestions) })
}

/// A filter without one of its parameters, and the animals that it finds.
struct WiderFilter {
    removed_parameter_text: String,
    path: String,
    count: usize,
}

/// Renders links to the lists with one parameter less, if these lists have animals, or else a link to the whole
/// list.
async fn links_to_wider_lists(
    shop: &Shop,
    moment: &Moment,
    panel: &FilterPanel<'_>,
) -> Result<Markup, ApiError> {
    let query = panel.query;
    let mut wider_filters = Vec::new();
    for parameter in query.filter.parameters() {
        let filter = query.filter.without_parameter(&parameter.name);
        let count = shop.count(moment, &filter, MAX_COUNT_OF_KIND).await?;
        if count > 0 {
            wider_filters.push(WiderFilter {
                removed_parameter_text: panel.parameter_text(&parameter),
                path: query.path_with(filter),
                count,
            });
        }
    }

    let [open_quote, close_quote] = texts().quotes;
    Ok(html! {
        @if !wider_filters.is_empty() {
            ul.instead {
                @for filter in wider_filters {
                    li {
                        a href=(filter.path) {
                            (texts().without)
                            (open_quote) bdi { (filter.removed_parameter_text) } (close_quote)
                        }
                        (texts().colon) (texts().count(filter.count, MAX_COUNT_OF_KIND))
                    }
                }
            }
        } @else if !query.filter.is_empty() {
            p { a href=(query.path_with(Filter::default())) { (texts().clear) } }
        }
    })
}

/// Returns the text of a page without animals.
fn empty_text(query: &Query, list_page: &ListPage<'_>) -> &'static str {
    if list_page.next.is_some() {
        texts().none_here_yet
    } else if query.filter.is_empty() {
        texts().none_at_all
    } else {
        texts().none_found
    }
}
