//! Where COPY adds rows.

use tokio_postgres::{Client, binary_copy::BinaryCopyInWriter, types::Type};

use crate::store::bulk::Table;

/// The target of a COPY: the columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CopyTarget {
    table: &'static str,
    columns: &'static str,
}

pub(super) const PETS: CopyTarget = CopyTarget {
    table: "pets",
    columns: "name, name_key, words, category_id, status, created_at, updated_at",
};
pub(super) const PETS_WITH_IDS: CopyTarget = CopyTarget {
    table: "pets",
    columns: "name, name_key, words, category_id, status, created_at, updated_at, version, id",
};
pub(super) const WITHDRAWN_PETS: CopyTarget = CopyTarget {
    table: "withdrawn_pets",
    columns:
        "name, name_key, words, category_id, status, created_at, updated_at, version, id, withdrawn_at,
        reason, note",
};
pub(super) const ORDERS: CopyTarget = CopyTarget {
    table: "orders",
    columns:
        "id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at,
        version",
};
pub(super) const CATEGORIES: CopyTarget =
    CopyTarget { table: "categories", columns: "id, label, version" };
pub(super) const REQUESTS: CopyTarget = CopyTarget {
    table: "requests",
    columns: "caller, key, operation, fingerprint, status, location, etag, body, created_at, mark",
};

impl From<&'static Table> for CopyTarget {
    fn from(&Table { name: table, columns, .. }: &'static Table) -> Self {
        Self { table, columns }
    }
}

impl CopyTarget {
    /// Begins the COPY. Foreign keys are checked at the end of the statement, when all rows are there.
    pub(super) async fn begin(
        self,
        client: &Client,
    ) -> Result<BinaryCopyInWriter, tokio_postgres::Error> {
        let Self { table, columns } = self;
        // A change gets its number as its id, from which `CONTINUE` of `numbering.rs` numbers it.
        let columns = match table {
            "changes" => columns.replacen("seq", "id", 1),
            _ => columns.to_owned(),
        };
        let select = client.prepare(&format!("SELECT {columns} FROM {table}")).await?;
        let types: Vec<Type> =
            select.columns().iter().map(|column| column.type_().clone()).collect();
        let copy = format!("COPY {table} ({columns}) FROM STDIN (FORMAT binary)");
        Ok(BinaryCopyInWriter::new(client.copy_in(&copy).await?, &types))
    }
}
