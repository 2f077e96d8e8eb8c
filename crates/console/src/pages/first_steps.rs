//! What a new store does first, on the page Today: each step until it is done, and all until somebody
//! says that they are enough.

use petstore_domain::{Role, store_area::FirstStep};

use crate::prelude::*;

/// The path of the link to the window, which notes that somebody looked at it.
const WINDOW: &str = "/first-steps/window";

/// The steps that the member can do and that are left. `None` if there are none.
pub(super) async fn remaining_steps(
    desk: &Desk<'_>,
    is_empty: bool,
) -> Result<Option<Markup>, StoreError> {
    let noted = desk.store().first_steps().await?;
    let is_noted = |step: FirstStep| noted.contains(step.as_str());
    if !desk.may_write() || is_noted(FirstStep::All) {
        return Ok(None);
    }
    let is_manager = desk.role() >= Role::Manager;
    let has_nobody = is_manager && desk.store().list_staff().await?.len() < 2;
    let is_nameless = is_manager && desk.visit.facts.name().value.is_none();
    let has_window = desk.visit.console.settings.window.is_some();
    let steps = [
        (is_nameless, "/settings/store", texts().step_store),
        (is_empty, "/add", texts().step_animal),
        (
            !is_noted(FirstStep::Import),
            "/add#lines",
            texts().step_import,
        ),
        (has_nobody, "/settings/staff", texts().step_colleague),
        (
            has_window && !is_noted(FirstStep::Window),
            WINDOW,
            texts().step_window,
        ),
    ];
    Ok(steps.iter().any(|(is_left, ..)| *is_left).then(|| {
        html! {
            section.card.stack aria-labelledby="steps" {
                h2 #steps { (texts().first_steps) }
                ol.steps {
                    @for (_, path, step) in steps.iter().filter(|(is_left, ..)| *is_left) {
                        li { a href=(path) { (step) } }
                    }
                }
                form method="post" action="/first-steps" { button.quiet { (texts().no_steps) } }
            }
        }
    }))
}

/// `POST /first-steps`: shows none any more.
pub(super) async fn hide(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    desk.store().note_step(FirstStep::All).await?;
    Ok(Reply::See("/".to_owned(), None))
}

/// `GET /first-steps/window`: leads to the window.
pub(super) async fn open_window(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    desk.store().note_step(FirstStep::Window).await?;
    let window = desk.visit.console.settings.window.as_deref().unwrap_or("/");
    Ok(Reply::See(window.to_owned(), None))
}
