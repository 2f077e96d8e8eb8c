//! The operations on orders.

mod cancel;
mod complete;
mod get;
mod list;
mod patch;
pub(super) mod place;
mod r#return;

pub(in crate::http) use self::{
    cancel::cancel as cancel_order, complete::complete as complete_order, get::get as get_order,
    list::list as list_orders, patch::patch as patch_order, place::place as place_order,
    r#return::return_order,
};
