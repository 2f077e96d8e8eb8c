//! Questions before a change that has more effects than its button says.

use maud::{Markup, html};
use petstore_languages::console_texts as texts;

use super::{
    desk::Desk,
    markup::{self, SHORT_LENGTH},
    reply::{Page, Reply},
    visit::Form,
};

/// The field of a form with the question to which the member said yes.
pub(super) const CONFIRMATION: &str = "sure";

/// A question about the form of this request.
pub(super) struct Question<'a> {
    pub(super) title: String,
    /// The effects, a sentence each.
    pub(super) effects: Vec<String>,
    /// The label of the button that says yes.
    pub(super) yes: &'a str,
    /// The page without the form.
    pub(super) back: &'a str,
}

impl Question<'_> {
    /// Whether the member said yes to a question about this form.
    pub(super) fn is_answered(form: &Form) -> bool {
        !form.raw(CONFIRMATION).is_empty()
    }

    /// Asks before access ends, or messages stop. `verb` is the label of the button, and `object` names its object.
    pub(super) fn about_setting(
        desk: &Desk<'_>,
        verb: &str,
        object: &str,
        effect: String,
        back: &str,
    ) -> Option<Reply> {
        let question = Question {
            title: texts().really(verb, &markup::readable(object, SHORT_LENGTH)),
            effects: vec![effect],
            yes: verb,
            back,
        };
        question.ask(desk, &html! {})
    }

    /// Returns the page that asks, with these details, unless the form already says yes to this question. If
    /// the effects have changed since, it is another question.
    pub(super) fn ask(&self, desk: &Desk<'_>, details: &Markup) -> Option<Reply> {
        let form = &desk.visit.form;
        let question = format!("{} {}", self.title, self.effects.join(" "));
        if form.raw(CONFIRMATION) == question {
            return None;
        }
        let path = desk.visit.request.uri.path();
        let content = html! {
            h1 { (self.title) }
            div.card.stack {
                @for effect in &self.effects { p { (effect) } }
                (details)
                form.buttons method="post" action=(path) {
                    @for (name, value) in form.fields().iter().filter(|(name, _)| name != CONFIRMATION) {
                        input type="hidden" name=(name) value=(value);
                    }
                    input type="hidden" name=(CONFIRMATION) value=(question);
                    button.main { (self.yes) }
                    a.button.quiet href=(self.back) { (texts().go_back) }
                }
            }
        };
        Some(Page::new(self.title.as_str(), content).into())
    }
}
