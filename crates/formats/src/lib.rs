//! The formats of the service: JSON in requests and responses, the cells of tables, and the files
//! of imports and exports.

pub mod cells;
pub mod files;
pub mod json;
