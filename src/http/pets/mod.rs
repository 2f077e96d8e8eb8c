//! The operations on animals, one file each, and what they share.

mod create;
mod cursor;
mod first_pages;
mod get;
mod list;
mod wire;

pub(super) use create::create;
pub(super) use first_pages::FirstPages;
pub(super) use get::get;
pub(super) use list::list;
pub(crate) use wire::write_pet;
