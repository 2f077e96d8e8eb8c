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

/// A question that the member must confirm before the submitted form takes effect.
pub(super) struct Question<'a> {
    pub(super) title: String,
    /// What the form will do, one sentence for each effect.
    pub(super) effects: Vec<String>,
    /// The label of the confirm button.
    pub(super) confirm_label: &'a str,
    /// The target of the "back" link.
    pub(super) back_path: &'a str,
}

impl Question<'_> {
    /// Whether the form has been confirmed, whatever the question was.
    pub(super) fn is_answered(form: &Form) -> bool {
        !form.raw(CONFIRMATION).is_empty()
    }

    /// Returns the confirmation page, with these details below the effects; `None` if the member
    /// has already confirmed this question.
    ///
    /// The button of the page submits the form again, with the text of the question in
    /// [`CONFIRMATION`]. If the effects have changed in the meantime, the texts differ, and the
    /// member is asked again.
    pub(super) fn ask(&self, desk: &Desk<'_>, details: &Markup) -> Option<Reply> {
        let form = &desk.visit.form;
        let question = format!("{} {}", self.title, self.effects.join(" "));
        if form.raw(CONFIRMATION) == question {
            return None;
        }
        let path = desk.visit.request.uri.path();
        let mut fields = form.fields().to_vec();
        // An answer to an earlier question does not count for this one.
        fields.retain(|(name, _)| name != CONFIRMATION);
        let content = html! {
            h1 { (self.title) }
            div.card.stack {
                @for effect in &self.effects { p { (effect) } }
                (details)
                form.buttons method="post" action=(path) {
                    @for (name, value) in &fields {
                        input type="hidden" name=(name) value=(value);
                    }
                    input type="hidden" name=(CONFIRMATION) value=(question);
                    button.main { (self.confirm_label) }
                    a.button.quiet href=(self.back_path) { (texts().go_back) }
                }
            }
        };
        Some(Page::new(self.title.as_str(), content).into())
    }
}

/// A change of one setting, which asks for confirmation with a question such as "Revoke the key
/// “nightly import”?".
pub(super) struct SettingChange<'a> {
    /// The label of the confirm button, such as "Revoke". The title of the page begins with it.
    pub(super) verb: &'a str,
    /// What the change is about, such as the name of a key.
    pub(super) object: &'a str,
    /// The sentence that explains the effect.
    pub(super) effect: &'a str,
    /// The target of the "back" link.
    pub(super) back_path: &'a str,
}

impl SettingChange<'_> {
    /// Returns the confirmation page; `None` if the member has already confirmed the change.
    pub(super) fn confirm(&self, desk: &Desk<'_>) -> Option<Reply> {
        let question = Question {
            title: texts().really(self.verb, &markup::readable(self.object, SHORT_LENGTH)),
            effects: vec![self.effect.to_owned()],
            confirm_label: self.verb,
            back_path: self.back_path,
        };
        question.ask(desk, &html! {})
    }
}
