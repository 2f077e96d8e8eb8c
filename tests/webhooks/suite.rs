//! The delivery of messages from the database of the program that includes these tests.

mod acts;
mod dispatcher;
mod endings;
mod key_files;
mod receiver;
pub(crate) mod shop;
