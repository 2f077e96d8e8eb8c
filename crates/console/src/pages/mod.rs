//! The route table of the console, every page and every form, one line each, and the pages of the staff:
//! one file for each entry of the menu. Those to sign in, and for accounts, staff and API keys, are in
//! [`super::staff`].

mod activity;
mod add_many;
mod add_one;
mod animal;
mod animal_fields;
mod animal_filters;
mod animal_top;
mod animals;
mod categories;
mod category_names;
mod cells;
mod column_meanings;
mod commands;
mod conflict;
mod edit;
mod field_form;
mod field_labels;
mod fields;
mod first_steps;
mod history;
mod live;
pub(super) mod logo;
mod order_rows;
mod order_search;
mod orders;
mod parts;
mod paste;
pub(super) mod photo_forms;
mod photos;
mod selected;
mod several;
mod store;
mod today;
mod undo;
mod values;
mod webhooks;

use std::{pin::Pin, time::Duration};

use hyper::Method;
use petstore_app::delivery::Wanted;
use petstore_domain::Role;
use petstore_languages::console::Label;
use petstore_web::edge::{self, Response, Route, routes};

use super::{
    staff,
    visit::{FormAction, Visit},
};
use crate::prelude::*;

/// A page for everybody.
macro_rules! public {
    ($page:path) => {
        Target::Public(|visit| Box::pin($page(visit)))
    };
}

/// A page for the staff: the least role, the function, and what the function gets besides the request.
macro_rules! staff {
    ($role:ident, $page:path $(, $argument:expr)*) => {
        Target::Staff(
            needed(Role::$role),
            |desk| Box::pin(async move { $page(desk $(, $argument)*).await }),
        )
    };
}

routes! {
    /// All pages and forms. What a member can correct is shown on the page, and is not an error.
    pub(super) static PAGES: Target = Console "console.";
    // id              method path                            least role, function
    asset              GET  "/assets/{name}"                   Target::Asset;
    favicon            GET  "/favicon.ico"                     Target::Asset;
    touchIcon          GET  "/apple-touch-icon.png"            Target::Asset;
    photoFile          GET  "/photos/{file}"                   Target::Photo;
    signInForm         GET  "/sign-in"                         public!(staff::sign_in_form);
    signIn             POST "/sign-in"                         public!(staff::sign_in);
    giveCode           POST "/sign-in/code"                    public!(staff::give_code);
    challenge          GET  "/sign-in/passkey"                 public!(staff::challenge);
    signInWithPasskey  POST "/sign-in/passkey"                 public!(staff::sign_in_with_passkey);
    signInAtProvider   GET  "/sign-in/provider"                public!(staff::leave);
    comeBack           GET  "/sign-in/callback"                public!(staff::come_back);
    signedIn           GET  "/sign-in/done"                    public!(staff::signed_in);
    continueHere       POST "/sign-in/done"                    public!(staff::continue_here);
    backChannelLogout  POST "/sign-in/back-channel"            Target::Server(|visit| Box::pin(staff::end_sessions(visit)));
    linkForm           GET  "/link/{token}"                    public!(staff::link_form);
    choosePassword     POST "/link/{token}"                    public!(staff::choose_password);
    signOut            POST "/sign-out"                        staff!(Viewer, staff::sign_out).before_second_factor();
    account            GET  "/account"                         staff!(Viewer, staff::account, &Errors::default());
    setPassword        POST "/account/password"                staff!(Viewer, staff::set_password).does(|of| of.change_password);
    setLanguage        POST "/account/language"                staff!(Viewer, staff::set_language).does(|of| of.language_label);
    endSession         POST "/account/sessions/end"            staff!(Viewer, staff::end_session).does(|of| of.sessions);
    secondFactor       GET  "/account/second-factor"           staff!(Viewer, staff::second_factor).before_second_factor();
    setSecondFactor    POST "/account/second-factor"           staff!(Viewer, staff::set_second_factor).after_password().before_second_factor().does(|of| of.set_up);
    removeSecondFactor POST "/account/second-factor/remove"    staff!(Viewer, staff::remove_second_factor).after_password().does(|of| of.remove_second_factor);
    newRecoveryCodes   POST "/account/recovery-codes"          staff!(Viewer, staff::new_recovery_codes).after_password().does(|of| of.new_codes);
    passkeys           GET  "/account/passkeys"                staff!(Viewer, staff::passkeys, &Errors::default()).before_second_factor();
    addPasskey         POST "/account/passkeys"                staff!(Viewer, staff::add_passkey).after_password().before_second_factor().does(|of| of.add_passkey);
    removePasskey      POST "/account/passkeys/remove"         staff!(Viewer, staff::remove_passkey).after_password().does(|of| of.change_passkeys);
    settings           GET  "/settings"                        staff!(Manager, staff::settings);
    store              GET  "/settings/store"                  staff!(Manager, store::show, &Errors::default());
    saveStore          POST "/settings/store"                  staff!(Manager, store::save).does(|of| of.change_store);
    addLogo            POST "/settings/store/logo"             Target::Logo(needed(Role::Manager));
    removeLogo         POST "/settings/store/logo/remove"      staff!(Manager, store::remove_logo).does(|of| of.change_store);
    members            GET  "/settings/staff"                  staff!(Manager, staff::members, &Errors::default());
    addMember          POST "/settings/staff"                  staff!(Manager, staff::add_member).after_password().does(|of| of.add_member);
    changeMember       POST "/settings/staff/{id}"             staff!(Manager, staff::change_member).after_password().does(|of| of.staff);
    endSessionOfMember POST "/settings/sessions/end"           staff!(Manager, staff::end_session_of_member).after_password().does(|of| of.staff);
    keys               GET  "/settings/keys"                   staff!(Manager, staff::keys, &Errors::default());
    addKey             POST "/settings/keys"                   staff!(Manager, staff::add_key).after_password().does(|of| of.add_key);
    changeKey          POST "/settings/keys/{id}"              staff!(Manager, staff::change_key).after_password().does(|of| of.keys);
    today              GET  "/"                                staff!(Viewer, today::today);
    endFirstSteps      POST "/first-steps"                     staff!(Clerk, first_steps::hide).does(|of| of.no_steps);
    lookAtWindow       GET  "/first-steps/window"              staff!(Clerk, first_steps::open_window);
    live               GET  "/live"                            staff!(Viewer, live::follow);
    animals            GET  "/animals"                         staff!(Viewer, animals::list);
    changeSelected     POST "/animals/selected"                staff!(Clerk, several::change_selected).does(|of| of.with_selected);
    animal             GET  "/animals/{id}"                    staff!(Viewer, animal::show, &Errors::default());
    editForm           GET  "/animals/{id}/edit"               staff!(Clerk, edit::show_form);
    saveEdit           POST "/animals/{id}/edit"               staff!(Clerk, edit::save).does(|of| of.edit);
    placeOrder         POST "/animals/{id}/order"              staff!(Clerk, animal::place_order).does(|of| of.reserve);
    photos             GET  "/animals/{id}/photos"             staff!(Clerk, photos::show, &Errors::default());
    addPhotos          POST "/animals/{id}/photos"             Target::Pictures(needed(Role::Clerk));
    changePhoto        POST "/animals/{id}/photos/change"      staff!(Clerk, photo_forms::change).does(|of| of.photos);
    withdraw           POST "/animals/{id}/withdraw"           staff!(Clerk, animal::withdraw).does(|of| of.withdraw);
    restore            POST "/animals/{id}/restore"            staff!(Clerk, animal::restore).does(|of| of.restore);
    addForm            GET  "/add"                             staff!(Clerk, add_one::show_form);
    addOne             POST "/add"                             staff!(Clerk, add_one::add_one).does(|of| of.add_animal);
    sendPhoto          POST "/add/photo"                       Target::Pictures(needed(Role::Clerk));
    preview            POST "/add/preview"                     staff!(Clerk, add_many::preview).does(|of| of.add_animals);
    addMany            POST "/add/many"                        staff!(Clerk, add_many::add_many).does(|of| of.add_animals);
    categories         GET  "/categories"                      staff!(Viewer, categories::list, &Errors::default());
    saveCategory       POST "/categories"                      staff!(Clerk, categories::save).does(|of| of.name_category_heading);
    orders             GET  "/orders"                          staff!(Viewer, orders::list);
    order              GET  "/orders/{id}"                     staff!(Viewer, orders::show, &Errors::default());
    completeOrder      POST "/orders/{id}/complete"            staff!(Clerk, orders::complete).does(|of| of.sell);
    cancelOrder        POST "/orders/{id}/cancel"              staff!(Clerk, orders::cancel).does(|of| of.cancel_reservation);
    saveOrder          POST "/orders/{id}/change"              staff!(Clerk, orders::save).does(|of| of.change_order);
    returnOrder        POST "/orders/{id}/return"              staff!(Clerk, orders::take_back).does(|of| of.take_back);
    reopenOrder        POST "/orders/{id}/reopen"              staff!(Clerk, orders::reopen).does(|of| of.reserve);
    activity           GET  "/activity"                        staff!(Manager, activity::activity);
    exportActivity     GET  "/activity/export"                 staff!(Manager, activity::export);
    fields             GET  "/settings/fields"                 staff!(Manager, fields::list, &Errors::default());
    addField           POST "/settings/fields"                 staff!(Manager, fields::add).does(|of| of.add_field);
    writeLabels        POST "/settings/labels"                 staff!(Manager, field_labels::write).does(|of| of.write_labels);
    field              GET  "/settings/fields/{id}"            staff!(Manager, fields::show);
    saveField          POST "/settings/fields/{id}"            staff!(Manager, fields::save).does(|of| of.fields);
    deleteField        POST "/settings/fields/{id}/delete"     staff!(Manager, fields::delete).does(|of| of.delete_field);
    webhooks           GET  "/settings/webhooks"               staff!(Manager, webhooks::list, &Errors::default());
    addWebhook         POST "/settings/webhooks"               staff!(Manager, webhooks::add).after_password().does(|of| of.webhooks);
    webhook            GET  "/settings/webhooks/{id}"          staff!(Manager, webhooks::show, &Errors::default());
    testWebhook        POST "/settings/webhooks/{id}/test"     staff!(Manager, webhooks::press, Wanted::Test, "tested").after_password().does(|of| of.webhooks);
    resumeWebhook      POST "/settings/webhooks/{id}/resume"   staff!(Manager, webhooks::press, Wanted::Enable { resumes: true }, "enabled").after_password().does(|of| of.webhooks);
    enableWebhook      POST "/settings/webhooks/{id}/enable"   staff!(Manager, webhooks::press, Wanted::Enable { resumes: false }, "enabled").after_password().does(|of| of.webhooks);
    disableWebhook     POST "/settings/webhooks/{id}/disable"  staff!(Manager, webhooks::disable).after_password().does(|of| of.webhooks);
    rotateWebhook      POST "/settings/webhooks/{id}/rotate"   staff!(Manager, webhooks::press, Wanted::RotateSecret, "saved").after_password().does(|of| of.webhooks);
    deleteWebhook      POST "/settings/webhooks/{id}/delete"   staff!(Manager, webhooks::press, Wanted::Delete, "deleted").after_password().does(|of| of.webhooks);
}

/// What a page becomes. Boxed, because the largest future decides how much memory each request needs.
type Opening<'d, T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send + 'd>>;

/// Who may open a page, and its function.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// A file of the layout.
    Asset,
    /// A photo, which `Console` sends, because everybody may see it.
    Photo,
    /// A page that needs no session.
    Public(for<'d> fn(&'d Visit<'d>) -> Opening<'d, Response>),
    /// A form that the provider sends, and no browser.
    Server(for<'d> fn(&'d Visit<'d>) -> Opening<'d, Response>),
    /// A page for the staff.
    Staff(Needed, for<'d> fn(&'d Desk<'d>) -> Opening<'d, Reply>),
    /// The form with pictures for the staff, which are read one by one.
    Pictures(Needed),
    /// The same with the logo.
    Logo(Needed),
}

/// The requirements of a route on the session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needed {
    pub(super) role: Role,
    /// Only within five minutes after the member has given the password again.
    pub(super) password: bool,
    /// Only after the member has set up the second factor, if the settings require one.
    pub(super) second_factor: bool,
    /// The action of its form. A member reads it if the session ends before the form is sent.
    does: Label,
}

const fn needed(role: Role) -> Needed {
    Needed {
        role,
        password: false,
        second_factor: true,
        does: |of| of.settings,
    }
}

impl Target {
    const fn after_password(self) -> Self {
        match self {
            Self::Staff(needed, page) => Self::Staff(
                Needed {
                    password: true,
                    ..needed
                },
                page,
            ),
            other => other,
        }
    }

    const fn before_second_factor(self) -> Self {
        match self {
            Self::Staff(needed, page) => Self::Staff(
                Needed {
                    second_factor: false,
                    ..needed
                },
                page,
            ),
            other => other,
        }
    }

    const fn does(self, does: Label) -> Self {
        match self {
            Self::Staff(needed, page) => Self::Staff(Needed { does, ..needed }, page),
            other => other,
        }
    }

    /// Whether its form has pictures.
    pub(super) fn has_pictures(&self) -> bool {
        matches!(self, Self::Pictures(_) | Self::Logo(_))
    }
}

/// The largest form, in bytes: a name of 64 KiB, of which a browser may spell each byte with three,
/// what it was before, and the rest. And the largest list of animals from a spreadsheet.
const MAX_FORM: usize = 512 << 10;
const MAX_LIST: usize = 1 << 20;

/// The largest form of the provider: a token.
const MAX_TOKEN: usize = 64 << 10;

/// The forms that can contain such a list.
const WITH_LIST: [&str; 2] = ["/add/preview", "/add/many"];

/// The largest form that this page accepts, in bytes.
pub(super) fn max_form(path: &str) -> usize {
    match path {
        "/sign-in/back-channel" => MAX_TOKEN,
        path if WITH_LIST.contains(&path) => MAX_LIST,
        _ => MAX_FORM,
    }
}

/// The page with this method and path, and the parameters in the path. Fails with 404 for an unknown
/// path, 405 for an unsupported method.
pub(super) fn route<'p>(
    method: &Method,
    path: &'p str,
) -> Result<(&'static Route<Target>, [&'p str; 2]), ApiError> {
    edge::find(&PAGES, method, path).route(&PAGES, path)
}

/// How long the form of a page may take to arrive, in addition to that of another page: over a slow
/// line, several pictures take minutes.
pub(super) fn may_wait(method: &Method, path: &str) -> Duration {
    let has_pictures = route(method, path).is_ok_and(|(route, _)| route.target.has_pictures());
    if has_pictures {
        Duration::from_mins(20)
    } else {
        Duration::ZERO
    }
}

/// The action of the form with this method and path.
pub(super) fn find<'p>(method: &Method, path: &'p str) -> Option<FormAction<'p>> {
    let (route, [parameter, _]) = route(method, path).ok()?;
    Some(match route.target {
        Target::Staff(needed, _) => FormAction {
            name: (needed.does)(texts()),
            parameter,
            needs_password: needed.password,
        },
        _ => FormAction {
            name: texts().settings,
            parameter,
            needs_password: false,
        },
    })
}
