//! The pages of the staff: one file for each entry of the menu. Those to sign in, and for accounts,
//! staff and API keys, are in [`super::staff`].

mod activity;
mod add;
mod animal;
mod animal_fields;
mod animals;
mod categories;
mod category_names;
mod cells;
mod commands;
mod conflict;
mod edit;
mod field_form;
mod fields;
mod history;
mod live;
mod order_rows;
mod order_search;
mod orders;
mod parts;
mod paste;
pub(super) mod photo_forms;
mod photos;
mod several;
mod today;
mod undo;
mod values;
mod webhooks;

use super::{desk::Desk, forms::Errors, reply::Reply, routes::StaffPage, staff};
use crate::{
    delivery::Wanted,
    edge::{ApiError, Response},
};

/// Responds to a page for the staff. What a member can correct is shown on the page, and is not an
/// error.
pub(super) async fn open(page: StaffPage, desk: &Desk<'_>) -> Result<Response, ApiError> {
    let no_errors = &Errors::default();
    let reply = match page {
        StaffPage::signOut => return staff::sign_out(desk).await,
        StaffPage::account => staff::account(desk, no_errors).await,
        StaffPage::setPassword => staff::set_password(desk).await,
        StaffPage::endSession => staff::end_session(desk).await,
        StaffPage::secondFactor => Ok(staff::second_factor(desk)),
        StaffPage::setSecondFactor => staff::set_second_factor(desk).await,
        StaffPage::removeSecondFactor => staff::remove_second_factor(desk).await,
        StaffPage::newRecoveryCodes => staff::new_recovery_codes(desk).await,
        StaffPage::settings => Ok(Reply::See("/settings/staff".to_owned(), None)),
        StaffPage::members => staff::members(desk, no_errors).await,
        StaffPage::addMember => staff::add_member(desk).await,
        StaffPage::changeMember => staff::change_member(desk).await,
        StaffPage::endSessionOfMember => staff::end_session_of_member(desk).await,
        StaffPage::keys => staff::keys(desk, no_errors).await,
        StaffPage::addKey => staff::add_key(desk).await,
        StaffPage::changeKey => staff::change_key(desk).await,
        StaffPage::today => today::today(desk).await,
        StaffPage::live => live::follow(desk).await,
        StaffPage::animals => animals::list(desk).await,
        StaffPage::changeSelected => several::change_selected(desk).await,
        StaffPage::animal => animal::show(desk, no_errors).await,
        StaffPage::editForm => edit::form(desk).await,
        StaffPage::saveEdit => edit::save(desk).await,
        StaffPage::placeOrder => animal::place_order(desk).await,
        StaffPage::addPhotos => Err(photo_forms::without_body()),
        StaffPage::changePhoto => photo_forms::change(desk).await,
        StaffPage::withdraw => animal::withdraw(desk).await,
        StaffPage::restore => animal::restore(desk).await,
        StaffPage::addForm => add::add_form(desk).await,
        StaffPage::addOne => add::add_one(desk).await,
        StaffPage::preview => add::preview(desk).await,
        StaffPage::addMany => add::add_many(desk).await,
        StaffPage::categories => categories::list(desk, no_errors).await,
        StaffPage::saveCategory => categories::save(desk).await,
        StaffPage::orders => orders::list(desk).await,
        StaffPage::order => orders::show(desk, no_errors).await,
        StaffPage::completeOrder => orders::complete(desk).await,
        StaffPage::cancelOrder => orders::cancel(desk).await,
        StaffPage::saveOrder => orders::save(desk).await,
        StaffPage::returnOrder => orders::take_back(desk).await,
        StaffPage::reopenOrder => orders::reopen(desk).await,
        StaffPage::activity => activity::activity(desk).await,
        StaffPage::exportActivity => activity::export(desk).await,
        StaffPage::fields => fields::list(desk, no_errors).await,
        StaffPage::addField => fields::add(desk).await,
        StaffPage::field => fields::show(desk).await,
        StaffPage::saveField => fields::save(desk).await,
        StaffPage::deleteField => fields::delete(desk).await,
        StaffPage::webhooks => webhooks::list(desk, no_errors).await,
        StaffPage::addWebhook => webhooks::add(desk).await,
        StaffPage::webhook => webhooks::show(desk, no_errors).await,
        StaffPage::testWebhook => webhooks::press(desk, Wanted::Test, "tested").await,
        StaffPage::resumeWebhook => {
            webhooks::press(desk, Wanted::Enable { resumes: true }, "enabled").await
        }
        StaffPage::enableWebhook => {
            webhooks::press(desk, Wanted::Enable { resumes: false }, "enabled").await
        }
        StaffPage::disableWebhook => webhooks::disable(desk).await,
        StaffPage::rotateWebhook => webhooks::press(desk, Wanted::RotateSecret, "saved").await,
        StaffPage::deleteWebhook => webhooks::press(desk, Wanted::Delete, "deleted").await,
    };
    reply?.into_response(desk)
}
