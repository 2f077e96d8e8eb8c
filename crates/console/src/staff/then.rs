//! Where a browser goes after a sign-in: to a page, or to a form that was sent before the sign-in.

use hyper::Method;
use petstore_domain::{
    Problem,
    staff::{StaffMember, Token},
};
use petstore_web::edge::Response;

use super::kept;
use crate::{
    layout,
    prelude::*,
    session::{self, BrowserSecret},
    visit::Visit,
};

/// The path of the page for a member who used another tab to sign in.
pub(super) const DONE: &str = "/sign-in/done";

/// The largest form that the forms to sign in keep, in bytes.
const MAX_KEPT_BYTES: usize = 64 << 10;

/// The hidden fields of a kept form: its path, its content, and the tag by which the service knows both again.
const PATH: &str = "kept_path";
const CONTENT: &str = "kept";
const TAG: &str = "kept_tag";

/// The page or the form that follows a sign-in. The browser keeps the form in hidden fields, and the service keeps
/// nothing.
pub(super) struct Then {
    /// An own path.
    pub(super) next: String,
    pub(super) kept: Option<KeptForm>,
    /// The reason for a form that is not kept.
    pub(super) lost: Option<&'static str>,
}

/// A form that this browser has sent to this service from one of its own pages, and that needs a sign-in.
pub(super) struct KeptForm {
    pub(super) path: String,
    pub(super) form: Form,
    /// The tag that only the service can make, and that counts only in this browser.
    tag: String,
}

impl KeptForm {
    /// Returns the form of this request, with a tag for this browser.
    fn of_request(visit: &Visit<'_>, path: String, browser: &BrowserSecret) -> Self {
        let form = visit.form.clone();
        let tag = visit.tag_of(&signed_text(browser, &path, &content(&form)));
        Self { path, form, tag }
    }

    /// Returns the form in the hidden fields of this request; `None` if there is none. Fails with 403 if the service
    /// has not kept this form in this browser, so nobody can make a member send a form by a link or from another site.
    fn of_fields(visit: &Visit<'_>) -> Result<Option<Self>, ApiError> {
        let path = visit.form.raw(PATH);
        if path.is_empty() {
            return Ok(None);
        }

        let content = visit.form.raw(CONTENT);
        let tag = visit.form.raw(TAG);
        let is_own = BrowserSecret::from_cookie(visit)
            .is_some_and(|browser| visit.is_tag_of(tag, &signed_text(&browser, path, content)));
        if !is_own || own_path(visit, &Method::POST, path).is_none() {
            let message = texts().form_not_of_browser;
            return Err(ApiError::new(Problem::InsufficientScope, message));
        }
        let form = Form::from_own_bytes(content.to_owned().into());
        Ok(Some(Self {
            path: path.to_owned(),
            form,
            tag: tag.to_owned(),
        }))
    }

    /// The hidden fields.
    fn fields(&self) -> Markup {
        html! {
            input type="hidden" name=(PATH) value=(self.path);
            input type="hidden" name=(CONTENT) value=(content(&self.form));
            input type="hidden" name=(TAG) value=(self.tag);
        }
    }
}

/// The text in which a browser keeps a form.
fn content(form: &Form) -> String {
    String::from_utf8_lossy(form.bytes()).into_owned()
}

/// The text of which the tag of a kept form is made. Neither secret nor path has a zero byte.
fn signed_text(browser: &BrowserSecret, path: &str, content: &str) -> Vec<u8> {
    ["form kept in browser", browser.as_str(), path, content]
        .join("\0")
        .into_bytes()
}

impl Then {
    /// Returns this page of the console, or the first one if it is no page of the console.
    pub(super) fn page(visit: &Visit<'_>, next: &str) -> Self {
        let next = own_path(visit, &Method::GET, next)
            .unwrap_or("/")
            .to_owned();
        Self {
            next,
            kept: None,
            lost: None,
        }
    }

    /// Returns what the form to sign in of this request carries. Fails with 403 if that is a form that the service has
    /// not kept in this browser.
    pub(super) fn sent(visit: &Visit<'_>) -> Result<Self, ApiError> {
        let kept = KeptForm::of_fields(visit)?;
        Ok(Self {
            kept,
            ..Self::page(visit, visit.form.raw("next"))
        })
    }

    /// Returns the way back to this request.
    pub(super) fn back_to(visit: &Visit<'_>, browser: &BrowserSecret) -> Self {
        let path = visit
            .request
            .uri
            .path_and_query()
            .map_or("/", |path| path.as_str())
            .to_owned();
        if visit.request.method != Method::POST {
            return Self {
                next: path,
                kept: None,
                lost: None,
            };
        }
        if visit.has_pictures {
            return Self {
                next: path,
                kept: None,
                lost: Some(texts().photos_not_kept),
            };
        }
        let next = "/".to_owned();
        if visit.form.bytes().len() > MAX_KEPT_BYTES {
            return Self {
                next,
                kept: None,
                lost: Some(texts().form_too_long),
            };
        }
        Self {
            next,
            kept: Some(KeptForm::of_request(visit, path, browser)),
            lost: None,
        }
    }

    /// The hidden fields.
    pub(super) fn fields(&self) -> Markup {
        html! {
            input type="hidden" name="next" value=(self.next);
            @if let Some(kept) = &self.kept { (kept.fields()) }
        }
    }

    /// Returns the response when the member is signed in by this method, with the secret of the session.
    pub(super) async fn go(
        &self,
        visit: &Visit<'_>,
        token: &Token,
        member: &StaffMember,
        method: &str,
    ) -> Result<Response, ApiError> {
        let mut response = match &self.kept {
            Some(kept) => kept::page(visit, member, &kept.path, &kept.form).await?,
            None => layout::redirect(&self.next),
        };
        visit.console.app.sign_ins.count(method, "accepted");
        session::sign_in(visit, &mut response, token, member);
        Ok(response)
    }
}

/// The path, if it is one of the console with this method. So nobody can use a link to the console to
/// lead to another site.
pub(super) fn own_path<'p>(visit: &Visit<'_>, method: &Method, path: &'p str) -> Option<&'p str> {
    let is_plain = path
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let (page, _) = path.split_once('?').unwrap_or((path, ""));
    (is_plain && page.starts_with('/') && (visit.find)(method, page).is_some()).then_some(path)
}
