//! The onboarding steps of a new store, on the page Today. Each step disappears once it is done,
//! and a member can hide all of them for good.

use petstore_domain::{Role, store_area::FirstStep};

use crate::prelude::*;

/// The path of the link to the window, the web pages for the public. It records that the step is
/// done, and then redirects to the window.
const WINDOW_PATH: &str = "/first-steps/window";

/// An onboarding step.
struct Step {
    /// The path of the page where a member does the step.
    path: &'static str,
    /// The text of the link to this page.
    text: &'static str,
}

impl Step {
    fn new(path: &'static str, text: &'static str) -> Self {
        Self { path, text }
    }
}

/// Renders the steps that are not done yet and that the role of the member allows.
///
/// Returns `None` if there are no such steps, or if somebody has hidden all steps.
pub(super) async fn remaining_steps(
    desk: &Desk<'_>,
    is_empty_store: bool,
) -> Result<Option<Markup>, StoreError> {
    let done_steps = desk.store().first_steps().await?;
    if !desk.may_write() || done_steps.contains(FirstStep::All.as_str()) {
        return Ok(None);
    }

    let is_manager = desk.role() >= Role::Manager;
    let mut steps = Vec::new();
    if is_manager && desk.visit.facts.name().value.is_none() {
        steps.push(Step::new("/settings/store", texts().step_store));
    }
    if is_empty_store {
        steps.push(Step::new("/add", texts().step_animal));
    }
    if !done_steps.contains(FirstStep::Import.as_str()) {
        steps.push(Step::new("/add#lines", texts().step_import));
    }
    let has_no_colleague = is_manager && desk.store().list_staff().await?.len() <= 1;
    if has_no_colleague {
        steps.push(Step::new("/settings/staff", texts().step_colleague));
    }
    let has_window = desk.visit.console.settings.window.is_some();
    if has_window && !done_steps.contains(FirstStep::Window.as_str()) {
        steps.push(Step::new(WINDOW_PATH, texts().step_window));
    }

    if steps.is_empty() {
        return Ok(None);
    }
    Ok(Some(steps_card(&steps)))
}

/// Renders the steps as a numbered list, with a button that hides all steps for good.
fn steps_card(steps: &[Step]) -> Markup {
    html! {
        section.card.stack aria-labelledby="steps" {
            h2 #steps { (texts().first_steps) }
            ol.steps {
                @for step in steps { li { a href=(step.path) { (step.text) } } }
            }
            form method="post" action="/first-steps" { button.quiet { (texts().no_steps) } }
        }
    }
}

/// Handles `POST /first-steps`: hides all steps for good.
pub(super) async fn hide(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    desk.store().note_step(FirstStep::All).await?;
    Ok(Reply::redirect_to("/"))
}

/// Handles `GET /first-steps/window`: records that a member looked at the window, and redirects to
/// it.
pub(super) async fn open_window(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    desk.store().note_step(FirstStep::Window).await?;
    // Without a window, the member comes back to the page Today.
    let window = desk.visit.console.settings.window.as_deref().unwrap_or("/");
    Ok(Reply::redirect_to(window))
}
