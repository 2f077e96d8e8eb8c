//! The operations on animals, one file each, and what they share.

mod create;
mod cursor;
pub(super) mod deprecation;
mod first_pages;
mod get;
mod list;
mod wire;

pub(crate) use create::create;
pub(crate) use first_pages::FirstPages;
pub(crate) use get::get;
pub(crate) use list::list;
