//! JSON, as the interface reads and writes it, and the files of import and export.

pub mod cells;
pub mod files;
pub mod json;
