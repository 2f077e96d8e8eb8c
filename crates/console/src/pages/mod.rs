//! The route table of the console, with one line for each page and form.
//!
//! The submodules are the pages about animals, orders and settings, and the parts of such pages.
//! The pages for signing in, accounts, staff and API keys are in [`super::staff`].

mod activity;
mod activity_export;
mod activity_search;
mod activity_table;
mod add_many;
mod add_one;
mod animal;
mod animal_acts;
mod animal_export;
mod animal_fields;
mod animal_filters;
mod animal_list;
mod animal_table;
mod animal_top;
mod animals;
mod birth_estimate;
mod categories;
mod category_choice;
mod category_names;
mod cells;
mod column_meanings;
mod commands;
mod conflict;
mod contract;
mod differences;
mod edit;
mod empty_list;
mod exact_matches;
mod field_effects;
mod field_form;
mod field_labels;
mod fields;
mod filter_views;
mod first_steps;
mod history;
mod import_preview;
mod journal_changes;
mod line_problems;
mod list_order;
mod live;
pub(super) mod logo;
mod messages;
mod new_order_form;
mod note_acts;
mod notes;
mod order_contacts;
mod order_export;
mod order_forms;
mod order_list;
mod order_rows;
mod order_search;
mod order_values;
mod orders;
mod parts;
mod paste;
mod pasted_columns;
mod pasted_import;
mod pasted_text;
mod pet_orders;
mod pet_schema;
mod photo_forms;
pub(super) mod photo_uploads;
mod photos;
mod preview_forms;
mod return_intake;
mod selected;
mod selected_acts;
mod several;
mod shelter_fields;
mod spreadsheet;
mod store;
mod today;
mod today_sections;
mod typed_age;
mod undo;
mod value_reader;
mod values;
mod waiting_photos;
mod webhooks;

use std::{pin::Pin, time::Duration};

use hyper::Method;
use petstore_app::delivery::WebhookCommand;
use petstore_domain::Role;
use petstore_languages::console::Label;
use petstore_web::edge::{self, Response, Route, routes};

use self::undo::UndoPage;
use super::{
    staff,
    visit::{FormAction, Visit},
};
use crate::prelude::*;

/// Builds the target of a page that needs no session.
///
/// This is a macro, because a function cannot convert any `async fn` into a function pointer that
/// returns a boxed future.
///
/// `public!(staff::sign_in_form)` becomes `Target::Public(|visit| Box::pin(staff::sign_in_form(visit)))`.
macro_rules! public {
    ($page:path) => {
        Target::Public(|visit| Box::pin($page(visit)))
    };
}

/// Builds the target of a page for the staff.
///
/// The arguments are the least role, the function of the page, and the further arguments of that
/// function. It is a macro for the same reason as `public!`.
///
/// `staff!(Manager, store::show, &Errors::default())` becomes
/// `Target::Staff(Requirements::new(Role::Manager), |desk| Box::pin(async move { store::show(desk, &Errors::default()).await }))`.
macro_rules! staff {
    ($role:ident, $page:path $(, $argument:expr)*) => {
        Target::Staff(
            Requirements::new(Role::$role),
            |desk| Box::pin(async move { $page(desk $(, $argument)*).await }),
        )
    };
}

routes! {
    /// All pages and forms. A page returns an error only for a failure. Input that the member can
    /// correct is reported on the page itself.
    pub(super) static PAGES: Target = Console "console.";
    // id              method path                            least role, function
    asset              GET  "/assets/{name}"                   Target::Asset;
    favicon            GET  "/favicon.ico"                     Target::Asset;
    touchIcon          GET  "/apple-touch-icon.png"            Target::Asset;
    photoFile          GET  "/photos/{file}"                   Target::Photo;
    signInForm         GET  "/sign-in"                         public!(staff::sign_in_form);
    signIn             POST "/sign-in"                         public!(staff::sign_in);
    giveCode           POST "/sign-in/code"                    public!(staff::submit_code);
    challenge          GET  "/sign-in/passkey"                 public!(staff::send_challenge);
    signInWithPasskey  POST "/sign-in/passkey"                 public!(staff::sign_in_with_passkey);
    signInAtProvider   GET  "/sign-in/provider"                public!(staff::redirect_to_provider);
    comeBack           GET  "/sign-in/callback"                public!(staff::handle_callback);
    signedIn           GET  "/sign-in/done"                    public!(staff::signed_in_page);
    continueHere       POST "/sign-in/done"                    public!(staff::continue_here);
    backChannelLogout  POST "/sign-in/back-channel"            Target::Server(|visit| Box::pin(staff::handle_provider_logout(visit)));
    linkForm           GET  "/link/{token}"                    public!(staff::link_form);
    choosePassword     POST "/link/{token}"                    public!(staff::use_link);
    signOut            POST "/sign-out"                        staff!(Viewer, staff::sign_out).before_second_factor();
    account            GET  "/account"                         staff!(Viewer, staff::show_account, &Errors::default());
    setPassword        POST "/account/password"                staff!(Viewer, staff::set_password).with_action(|texts| texts.change_password);
    setLanguage        POST "/account/language"                staff!(Viewer, staff::set_language).with_action(|texts| texts.language_label);
    endSession         POST "/account/sessions/end"            staff!(Viewer, staff::end_session).with_action(|texts| texts.sessions);
    secondFactor       GET  "/account/second-factor"           staff!(Viewer, staff::show_second_factor).before_second_factor();
    setSecondFactor    POST "/account/second-factor"           staff!(Viewer, staff::set_second_factor).after_password().before_second_factor().with_action(|texts| texts.set_up);
    removeSecondFactor POST "/account/second-factor/remove"    staff!(Viewer, staff::remove_second_factor).after_password().with_action(|texts| texts.remove_second_factor);
    newRecoveryCodes   POST "/account/recovery-codes"          staff!(Viewer, staff::replace_recovery_codes).after_password().with_action(|texts| texts.new_codes);
    passkeys           GET  "/account/passkeys"                staff!(Viewer, staff::show_passkeys, &Errors::default()).before_second_factor();
    addPasskey         POST "/account/passkeys"                staff!(Viewer, staff::add_passkey).after_password().before_second_factor().with_action(|texts| texts.add_passkey);
    removePasskey      POST "/account/passkeys/remove"         staff!(Viewer, staff::remove_passkey).after_password().with_action(|texts| texts.change_passkeys);
    settings           GET  "/settings"                        staff!(Manager, staff::redirect_to_settings);
    store              GET  "/settings/store"                  staff!(Manager, store::show, &Errors::default());
    saveStore          POST "/settings/store"                  staff!(Manager, store::save).with_action(|texts| texts.change_store);
    addLogo            POST "/settings/store/logo"             Target::Logo(Requirements::new(Role::Manager));
    removeLogo         POST "/settings/store/logo/remove"      staff!(Manager, store::remove_logo).with_action(|texts| texts.change_store);
    members            GET  "/settings/staff"                  staff!(Manager, staff::show_members, &Errors::default());
    addMember          POST "/settings/staff"                  staff!(Manager, staff::add_member).after_password().with_action(|texts| texts.add_member);
    changeMember       POST "/settings/staff/{id}"             staff!(Manager, staff::change_member).after_password().with_action(|texts| texts.staff);
    endSessionOfMember POST "/settings/sessions/end"           staff!(Manager, staff::end_session_of_member).after_password().with_action(|texts| texts.staff);
    keys               GET  "/settings/keys"                   staff!(Manager, staff::show_keys, &Errors::default());
    addKey             POST "/settings/keys"                   staff!(Manager, staff::add_key).after_password().with_action(|texts| texts.add_key);
    changeKey          POST "/settings/keys/{id}"              staff!(Manager, staff::change_key).after_password().with_action(|texts| texts.keys);
    today              GET  "/"                                staff!(Viewer, today::show);
    endFirstSteps      POST "/first-steps"                     staff!(Clerk, first_steps::hide).with_action(|texts| texts.no_steps);
    lookAtWindow       GET  "/first-steps/window"              staff!(Clerk, first_steps::open_window);
    live               GET  "/live"                            staff!(Viewer, live::follow);
    animals            GET  "/animals"                         staff!(Viewer, animals::list);
    exportAnimals      GET  "/export/animals"                  staff!(Viewer, animal_export::export);
    changeSelected     POST "/animals/selected"                staff!(Clerk, several::change_selected).with_action(|texts| texts.with_selected);
    undoOnList         POST "/animals/undo"                    staff!(Clerk, undo::undo, UndoPage::Animals).with_action(|texts| texts.undo);
    animal             GET  "/animals/{id}"                    staff!(Viewer, animal::show, &Errors::default());
    editForm           GET  "/animals/{id}/edit"               staff!(Clerk, edit::show_form);
    saveEdit           POST "/animals/{id}/edit"               staff!(Clerk, edit::save).with_action(|texts| texts.edit);
    placeOrder         POST "/animals/{id}/order"              staff!(Clerk, animal_acts::place_order).with_action(|texts| texts.reserve);
    photos             GET  "/animals/{id}/photos"             staff!(Clerk, photos::show, &Errors::default());
    addPhotos          POST "/animals/{id}/photos"             Target::Pictures(Requirements::new(Role::Clerk));
    changePhoto        POST "/animals/{id}/photos/change"      staff!(Clerk, photo_forms::change).with_action(|texts| texts.photos);
    addNote            POST "/animals/{id}/notes"              staff!(Clerk, note_acts::add).with_action(|texts| texts.add_note);
    note               GET  "/animals/notes/{id}"              staff!(Clerk, note_acts::show, &Errors::default());
    saveNote           POST "/animals/notes/{id}"              staff!(Clerk, note_acts::save).with_action(|texts| texts.correct_note);
    deleteNote         POST "/animals/notes/{id}/delete"       staff!(Clerk, note_acts::delete).with_action(|texts| texts.delete_note);
    withdraw           POST "/animals/{id}/withdraw"           staff!(Clerk, animal_acts::withdraw).with_action(|texts| texts.withdraw);
    restore            POST "/animals/{id}/restore"            staff!(Clerk, animal_acts::restore).with_action(|texts| texts.restore);
    undoOnAnimal       POST "/animals/{id}/undo"               staff!(Clerk, undo::undo, UndoPage::Animal).with_action(|texts| texts.undo);
    undoOnPhotos       POST "/animals/{id}/photos/undo"        staff!(Clerk, undo::undo, UndoPage::Photos).with_action(|texts| texts.undo);
    addForm            GET  "/add"                             staff!(Clerk, add_one::show_form);
    addOne             POST "/add"                             staff!(Clerk, add_one::add_one).with_action(|texts| texts.add_animal);
    sendPhoto          POST "/add/photo"                       Target::Pictures(Requirements::new(Role::Clerk));
    preview            POST "/add/preview"                     staff!(Clerk, add_many::preview).with_action(|texts| texts.add_animals);
    addMany            POST "/add/many"                        staff!(Clerk, add_many::add_many).with_action(|texts| texts.add_animals);
    categories         GET  "/categories"                      staff!(Viewer, categories::list, &Errors::default());
    saveCategory       POST "/categories"                      staff!(Clerk, categories::save).with_action(|texts| texts.name_category_heading);
    orders             GET  "/orders"                          staff!(Viewer, order_list::list);
    exportOrders       GET  "/export/orders"                   staff!(Viewer, order_export::export);
    order              GET  "/orders/{id}"                     staff!(Viewer, orders::show, &Errors::default());
    completeOrder      POST "/orders/{id}/complete"            staff!(Clerk, orders::complete).with_action(|texts| texts.sell);
    cancelOrder        POST "/orders/{id}/cancel"              staff!(Clerk, orders::cancel).with_action(|texts| texts.cancel_reservation);
    saveOrder          POST "/orders/{id}/change"              staff!(Clerk, orders::save).with_action(|texts| texts.change_order);
    returnOrder        POST "/orders/{id}/return"              staff!(Clerk, orders::take_back).with_action(|texts| texts.take_back);
    reopenOrder        POST "/orders/{id}/reopen"              staff!(Clerk, orders::reopen).with_action(|texts| texts.reserve);
    undoOnOrder        POST "/orders/{id}/undo"                staff!(Clerk, undo::undo, UndoPage::Order).with_action(|texts| texts.undo);
    activity           GET  "/activity"                        staff!(Manager, activity::show);
    exportActivity     GET  "/activity/export"                 staff!(Manager, activity_export::export);
    fields             GET  "/settings/fields"                 staff!(Manager, shelter_fields::list_fields);
    addField           POST "/settings/fields"                 staff!(Manager, fields::add).with_action(|texts| texts.add_field);
    addShelterFields   POST "/settings/shelter-fields"         staff!(Manager, shelter_fields::add).with_action(|texts| texts.add_shelter_fields);
    writeLabels        POST "/settings/labels"                 staff!(Manager, field_labels::relabel).with_action(|texts| texts.write_labels);
    field              GET  "/settings/fields/{id}"            staff!(Manager, fields::show);
    saveField          POST "/settings/fields/{id}"            staff!(Manager, fields::save).with_action(|texts| texts.fields);
    deleteField        POST "/settings/fields/{id}/delete"     staff!(Manager, fields::delete).with_action(|texts| texts.delete_field);
    webhooks           GET  "/settings/webhooks"               staff!(Manager, webhooks::list, &Errors::default());
    addWebhook         POST "/settings/webhooks"               staff!(Manager, webhooks::add).after_password().with_action(|texts| texts.webhooks);
    webhook            GET  "/settings/webhooks/{id}"          staff!(Manager, webhooks::show, &Errors::default());
    testWebhook        POST "/settings/webhooks/{id}/test"     staff!(Manager, webhooks::execute, WebhookCommand::Test, "tested").after_password().with_action(|texts| texts.webhooks);
    resumeWebhook      POST "/settings/webhooks/{id}/resume"   staff!(Manager, webhooks::execute, WebhookCommand::Enable { resumes: true }, "enabled").after_password().with_action(|texts| texts.webhooks);
    enableWebhook      POST "/settings/webhooks/{id}/enable"   staff!(Manager, webhooks::execute, WebhookCommand::Enable { resumes: false }, "enabled").after_password().with_action(|texts| texts.webhooks);
    disableWebhook     POST "/settings/webhooks/{id}/disable"  staff!(Manager, webhooks::disable).after_password().with_action(|texts| texts.webhooks);
    rotateWebhook      POST "/settings/webhooks/{id}/rotate"   staff!(Manager, webhooks::execute, WebhookCommand::RotateSecret, "saved").after_password().with_action(|texts| texts.webhooks);
    deleteWebhook      POST "/settings/webhooks/{id}/delete"   staff!(Manager, webhooks::execute, WebhookCommand::Delete, "deleted").after_password().with_action(|texts| texts.webhooks);
}

/// The future of a page. It is boxed, because otherwise every request would need the memory of the
/// largest page.
type PageFuture<'d, T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send + 'd>>;

/// The function of a page that needs no session.
type PublicPage = for<'d> fn(&'d Visit<'d>) -> PageFuture<'d, Response>;

/// The function of a page for a signed-in member.
type StaffPage = for<'d> fn(&'d Desk<'d>) -> PageFuture<'d, Reply>;

/// Who may open a route, and what handles it.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// A static file of the layout, such as a style sheet.
    Asset,
    /// A photo, which everybody may see. `Console` sends it without looking for a session.
    Photo,
    /// A page that needs no session.
    Public(PublicPage),
    /// A form that the identity provider sends from its server, and not from a browser.
    Server(PublicPage),
    /// A page for the staff.
    Staff(Requirements, StaffPage),
    /// A multipart form with photos, for the staff. The pictures are read one by one.
    Pictures(Requirements),
    /// The multipart form with the logo, for the staff.
    Logo(Requirements),
}

/// What a route requires of the session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Requirements {
    /// The least role of the members who may open the page.
    pub(super) role: Role,
    /// Whether the member must have given the password within the last five minutes.
    pub(super) recent_password: bool,
    /// Whether the member must have set up a second factor, if the settings require one.
    pub(super) second_factor: bool,
    /// The name of the action of the form, which a member sees if the session ends before the form
    /// is sent.
    action: Label,
}

impl Requirements {
    /// Returns the default requirements of a page for members with at least this role.
    const fn new(role: Role) -> Self {
        Self {
            role,
            recent_password: false,
            second_factor: true,
            action: |texts| texts.settings,
        }
    }
}

impl Target {
    /// Requires that the member has given the password recently. Other targets than
    /// [`Self::Staff`] stay unchanged.
    const fn after_password(mut self) -> Self {
        if let Self::Staff(requirements, _) = &mut self {
            requirements.recent_password = true;
        }
        self
    }

    /// Allows members who still have to set up a second factor. Other targets than
    /// [`Self::Staff`] stay unchanged.
    const fn before_second_factor(mut self) -> Self {
        if let Self::Staff(requirements, _) = &mut self {
            requirements.second_factor = false;
        }
        self
    }

    /// Sets the name of the action of the form. Other targets than [`Self::Staff`] stay unchanged.
    const fn with_action(mut self, action: Label) -> Self {
        if let Self::Staff(requirements, _) = &mut self {
            requirements.action = action;
        }
        self
    }

    /// Whether the route reads a multipart form with pictures.
    pub(super) fn has_pictures(&self) -> bool {
        matches!(self, Self::Pictures(_) | Self::Logo(_))
    }
}

/// The maximum size of a form, in bytes. The largest form has a name of 64 KiB and the initial
/// value of that name, each percent-encoded with up to three bytes for each byte, and other fields.
const MAX_FORM_BYTES: usize = 512 << 10;

/// The maximum size of a form with animals pasted from a spreadsheet, in bytes.
const MAX_LIST_BYTES: usize = 1 << 20;

/// The maximum size of a form of the identity provider, in bytes. It contains one token.
const MAX_TOKEN_BYTES: usize = 64 << 10;

/// The additional time that all pictures of a form may take to arrive. Over a slow connection,
/// several pictures take minutes.
const EXTRA_TIME_FOR_PICTURES: Duration = Duration::from_mins(20);

/// Returns the maximum size of the form at this path, in bytes.
pub(super) fn max_form_bytes(path: &str) -> usize {
    match path {
        "/sign-in/back-channel" => MAX_TOKEN_BYTES,
        "/add/preview" | "/add/many" => MAX_LIST_BYTES,
        _ => MAX_FORM_BYTES,
    }
}

/// Finds the route for this method and path. Returns the route and the parameters in the path.
///
/// Fails with 404 for an unknown path, and with 405 for an unsupported method.
pub(super) fn find_route<'p>(
    method: &Method,
    path: &'p str,
) -> Result<(&'static Route<Target>, [&'p str; 2]), ApiError> {
    edge::find(&PAGES, method, path).route(&PAGES, path)
}

/// Returns the time that the form at this path may take to arrive, in addition to the time that
/// every form has.
pub(super) fn extra_form_time(method: &Method, path: &str) -> Duration {
    match find_route(method, path) {
        Ok((route, _)) if route.target.has_pictures() => EXTRA_TIME_FOR_PICTURES,
        _ => Duration::ZERO,
    }
}

/// Finds the action of the form with this method and path. Returns `None` if there is no such form.
pub(super) fn find_action<'p>(method: &Method, path: &'p str) -> Option<FormAction<'p>> {
    let (route, [parameter, _]) = find_route(method, path).ok()?;
    let requirements = match route.target {
        Target::Staff(requirements, _) => requirements,
        // The other targets have no action of their own, so they get the default name.
        _ => Requirements::new(Role::Viewer),
    };
    Some(FormAction {
        name: (requirements.action)(texts()),
        parameter,
        needs_recent_sign_in: requirements.recent_password,
    })
}
