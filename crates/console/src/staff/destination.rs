//! Where a browser continues after a sign-in: at a page, or with a form that it submitted before
//! the sign-in.

use hyper::Method;
use petstore_domain::{
    Problem,
    staff::{StaffMember, Token},
};
use petstore_web::edge::Response;

use super::{
    attempts::{SignInMethod, count_success},
    saved_form::saved_form_page,
};
use crate::{browser_secret::BrowserSecret, layout, prelude::*, session, visit::Visit};

/// The path at which a sign-in in a separate tab ends, and to which the original tab then posts to
/// continue.
pub(super) const DONE_PATH: &str = "/sign-in/done";

/// The maximum length of a form that the sign-in page saves, in bytes.
const MAX_SAVED_BYTES: usize = 64 << 10;

/// The hidden field with the path of the page.
const NEXT_FIELD: &str = "next";

/// The hidden field with the path of a saved form. In the names of the fields, `kept` means saved.
const PATH_FIELD: &str = "kept_path";

/// The hidden field with the content of a saved form.
const CONTENT_FIELD: &str = "kept";

/// The hidden field with the signature of the path and the content of a saved form.
const SIGNATURE_FIELD: &str = "kept_tag";

/// The page or the form with which a browser continues after a sign-in. The sign-in page contains
/// both in hidden fields, so the service stores nothing.
pub(super) struct Destination {
    /// The path of the page, possibly with a query. Not used if there is a saved form.
    pub(super) path: String,
    pub(super) saved_form: Option<SavedForm>,
    /// Why the submitted form is not saved; `None` if it is saved, or if there is no form.
    pub(super) loss_reason: Option<&'static str>,
}

/// A form that this browser submitted to the console without a session. It is executed after a
/// sign-in, once the member has confirmed it.
pub(super) struct SavedForm {
    /// The path to which the form was submitted.
    pub(super) path: String,
    pub(super) form: Form,
    /// The service's signature of the path and the form, which is valid only in this browser.
    signature: String,
}

impl SavedForm {
    /// Saves the form of this request, signed for this browser.
    fn from_request(visit: &Visit<'_>, path: String, browser: &BrowserSecret) -> Self {
        let form = visit.form.clone();
        let signature = visit.sign(&signed_text(browser, &path, &encoded_form(&form)));
        Self {
            path,
            form,
            signature,
        }
    }

    /// Restores the form from the hidden fields of this request; `None` if there are none. Fails
    /// with 403 if the signature is invalid, because another site could otherwise make a member
    /// submit a form of its choice.
    fn from_fields(visit: &Visit<'_>) -> Result<Option<Self>, ApiError> {
        let path = visit.form.raw(PATH_FIELD);
        if path.is_empty() {
            return Ok(None);
        }

        let content = visit.form.raw(CONTENT_FIELD);
        let signature = visit.form.raw(SIGNATURE_FIELD);
        let is_own = BrowserSecret::from_cookie(visit).is_some_and(|browser| {
            visit.is_signature_of(signature, &signed_text(&browser, path, content))
        });
        if !is_own || own_path(visit, &Method::POST, path).is_none() {
            let message = texts().form_not_of_browser;
            return Err(ApiError::new(Problem::InsufficientScope, message));
        }
        let form = Form::from_trusted_bytes(content.to_owned().into());
        Ok(Some(Self {
            path: path.to_owned(),
            form,
            signature: signature.to_owned(),
        }))
    }

    /// Renders the hidden fields that [`Self::from_fields`] reads.
    fn hidden_fields(&self) -> Markup {
        html! {
            input type="hidden" name=(PATH_FIELD) value=(self.path);
            input type="hidden" name=(CONTENT_FIELD) value=(encoded_form(&self.form));
            input type="hidden" name=(SIGNATURE_FIELD) value=(self.signature);
        }
    }
}

/// Returns the encoded fields of a form as text, for a hidden field.
fn encoded_form(form: &Form) -> String {
    String::from_utf8_lossy(form.bytes()).into_owned()
}

/// Returns the bytes to sign for a saved form. Zero bytes separate the parts. Neither the secret
/// nor the path contains one, so different forms never have the same bytes.
fn signed_text(browser: &BrowserSecret, path: &str, content: &str) -> Vec<u8> {
    ["form kept in browser", browser.as_str(), path, content]
        .join("\0")
        .into_bytes()
}

impl Destination {
    /// Returns the page at this path as the destination, without a form.
    fn with_path(path: String) -> Self {
        Self {
            path,
            saved_form: None,
            loss_reason: None,
        }
    }

    /// Returns the page at this path as the destination, or the first page if the console has no
    /// such page.
    pub(super) fn from_path(visit: &Visit<'_>, path: &str) -> Self {
        let path = own_path(visit, &Method::GET, path).unwrap_or("/");
        Self::with_path(path.to_owned())
    }

    /// Restores the destination from the [hidden fields](Self::hidden_fields) of a submitted
    /// sign-in form. Fails with 403 if the signature of its saved form is invalid.
    pub(super) fn from_form(visit: &Visit<'_>) -> Result<Self, ApiError> {
        let mut destination = Self::from_path(visit, visit.form.raw(NEXT_FIELD));
        destination.saved_form = SavedForm::from_fields(visit)?;
        Ok(destination)
    }

    /// Returns this request as the destination, so that the member continues with what needed the
    /// sign-in. Forms with pictures and very long forms are not saved.
    pub(super) fn from_request(visit: &Visit<'_>, browser: &BrowserSecret) -> Self {
        let path = match visit.request.uri.path_and_query() {
            Some(path_and_query) => path_and_query.as_str().to_owned(),
            None => "/".to_owned(),
        };
        if visit.request.method != Method::POST {
            return Self::with_path(path);
        }
        if visit.has_pictures {
            let mut destination = Self::with_path(path);
            destination.loss_reason = Some(texts().photos_not_added);
            return destination;
        }
        // Many paths of forms have no page, so the sign-in without a saved form leads to the first
        // page.
        let mut destination = Self::with_path("/".to_owned());
        if visit.form.bytes().len() > MAX_SAVED_BYTES {
            destination.loss_reason = Some(texts().form_too_long);
        } else {
            destination.saved_form = Some(SavedForm::from_request(visit, path, browser));
        }
        destination
    }

    /// Renders the hidden fields that [`Self::from_form`] reads.
    pub(super) fn hidden_fields(&self) -> Markup {
        html! {
            input type="hidden" name=(NEXT_FIELD) value=(self.path);
            @if let Some(saved_form) = &self.saved_form { (saved_form.hidden_fields()) }
        }
    }

    /// Returns the response to a successful sign-in: the page of the saved form, or a redirect to
    /// the destination. The response sets the cookies of the session. Counts the sign-in by its
    /// method.
    pub(super) async fn complete_sign_in(
        &self,
        visit: &Visit<'_>,
        token: &Token,
        member: &StaffMember,
        method: SignInMethod,
    ) -> Result<Response, ApiError> {
        let mut response = match &self.saved_form {
            Some(saved_form) => {
                saved_form_page(visit, member, &saved_form.path, &saved_form.form).await?
            }
            None => layout::redirect(&self.path),
        };
        count_success(visit, method);
        session::set_cookies(visit, &mut response, token, member);
        Ok(response)
    }
}

/// Returns the path if the console has a route for it with this method; otherwise `None`. The check
/// prevents open redirects, with which a link to the console would lead to another site.
pub(super) fn own_path<'p>(visit: &Visit<'_>, method: &Method, path: &'p str) -> Option<&'p str> {
    // Browsers treat a backslash in a path like a slash, so `/\shop.example` would be another site.
    let is_plain = path
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let (page, _) = path.split_once('?').unwrap_or((path, ""));
    if is_plain && page.starts_with('/') && (visit.find_form_action)(method, page).is_some() {
        return Some(path);
    }
    None
}
