//! The operations on animals, one file each, and what they share.

mod create;
mod cursor;
pub(super) mod deprecation;
mod first_pages;
mod get;
mod list;
mod shared;
mod wire;

pub(crate) use self::{create::create, get::get, list::list, shared::Contract};
