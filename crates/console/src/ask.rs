//! Confirmation pages, shown before an action that has more effects than its button says.

use maud::{Markup, html};
use petstore_languages::console_texts as texts;

use super::{
    desk::Desk,
    markup::{self, SHORT_LENGTH},
    reply::{Page, Reply},
    visit::Form,
};

/// The form field with the full text of the question that the member confirmed.
pub(super) const CONFIRMATION: &str = "sure";

/// A question that must be confirmed before the form of the request takes effect.
pub(super) struct Question<'a> {
    pub(super) title: String,
    /// The effects of the form, one sentence each.
    pub(super) effects: Vec<String>,
    /// The label of the confirm button.
    pub(super) yes: &'a str,
    /// The path to which the "back" link leads.
    pub(super) back: &'a str,
}

impl Question<'_> {
    /// Whether the member has confirmed a question about this form.
    pub(super) fn is_answered(form: &Form) -> bool {
        !form.raw(CONFIRMATION).is_empty()
    }

    /// Asks before a change of a setting takes effect, such as "Revoke the key “nightly import”?".
    /// `verb` is the label of the button, and `object` names what it acts on. Returns `None` once
    /// the member has confirmed.
    pub(super) fn confirm_setting_change(
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

    /// Returns the confirmation page, with these details, or `None` if the form already confirms
    /// this question. If the effects have changed since the question was shown, its text differs,
    /// and the member is asked again.
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
