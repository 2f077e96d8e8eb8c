//! The delivery of messages from the database of the program that includes these tests.

mod acts;
mod dispatcher;
mod endings;
mod key_files;
mod names;
mod receiver;
mod shares;
pub(crate) mod shop;
