//! The operations on animals.

mod get;
mod list;
pub(super) mod patch;
mod restore;
pub(super) mod withdraw;

pub(in crate::http) use self::{
    get::get as get_pet, list::list as list_pets, patch::patch as patch_pet,
    restore::restore as restore_pet, withdraw::withdraw as withdraw_pet,
};
