//! The operations on categories.

mod delete;
mod list;
mod put;

pub(in crate::http) use self::{
    delete::delete as delete_category, list::list as list_categories, put::put as put_category,
};

use crate::http::error::{ApiError, Problem};

/// The id in the path, which can be any int64.
fn id(id: Option<i64>) -> Result<i64, ApiError> {
    id.ok_or_else(|| ApiError::new(Problem::NotFound, "No category has this id."))
}
