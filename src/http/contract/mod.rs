//! The operations on animals, one file each, and what they share.

mod create;
mod cursor;
pub(super) mod deprecation;
mod first_pages;
mod get;
mod list;
mod wire;

pub(in crate::http) use create::create;
pub(in crate::http) use first_pages::FirstPages;
pub(in crate::http) use get::get;
pub(in crate::http) use list::list;
