//! The tables and columns into which COPY writes (PostgreSQL's statement for bulk data).

use std::sync::LazyLock;

use petstore_store::{bulk::CopiedTable, tables};
use tokio_postgres::{Client, binary_copy::BinaryCopyInWriter, types::Type};

/// The lists of columns of the tables of resources, in the order of [`tables::Table::ALL`].
static COLUMNS: LazyLock<[String; 5]> =
    LazyLock::new(|| tables::Table::ALL.map(|table| table.columns().join(", ")));

/// The target of a COPY: a table, and the list of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CopyTarget {
    table: &'static str,
    columns: &'static str,
}

/// The target for animals whose identifiers the database draws.
pub(super) const NEW_PETS: CopyTarget = CopyTarget {
    table: "pets",
    columns: "name, category_id, status, created_at, updated_at",
};
pub(super) const CONTACTS: CopyTarget = CopyTarget {
    table: "order_contacts",
    columns: "order_id, contact",
};
pub(super) const UNIQUE_VALUES: CopyTarget = CopyTarget {
    table: "unique_values",
    columns: "field, key, pet_id",
};
pub(super) const PHOTOS: CopyTarget = CopyTarget {
    table: "photos",
    columns: "id, pet_id",
};
pub(super) const REQUESTS: CopyTarget = CopyTarget {
    table: "requests",
    columns: "caller, key, operation, fingerprint, status, location, etag, body, created_at, mark",
};

impl From<tables::Table> for CopyTarget {
    fn from(table: tables::Table) -> Self {
        Self {
            table: table.as_str(),
            columns: &COLUMNS[table as usize],
        }
    }
}

impl From<&'static CopiedTable> for CopyTarget {
    fn from(table: &'static CopiedTable) -> Self {
        Self {
            table: table.name,
            columns: table.columns,
        }
    }
}

impl CopyTarget {
    /// Begins the COPY, and returns the writer for its rows. First asks the server for the types of the
    /// columns, which the binary format needs.
    ///
    /// The server checks foreign keys only when the COPY is finished.
    pub(super) async fn begin(
        self,
        client: &Client,
    ) -> Result<BinaryCopyInWriter, tokio_postgres::Error> {
        let Self { table, columns } = self;
        // The table of changes has no column for the number (`seq`), so the number of a copied change
        // becomes its id. `CONTINUE_LOG` of `numbering.rs` restores the numbers from the ids.
        let columns = match table {
            "changes" => columns.replacen("seq", "id", 1),
            _ => columns.to_owned(),
        };
        let select = client
            .prepare(&format!("SELECT {columns} FROM {table}"))
            .await?;
        let types: Vec<Type> = select
            .columns()
            .iter()
            .map(|column| column.type_().clone())
            .collect();
        let copy = format!("COPY {table} ({columns}) FROM STDIN (FORMAT binary)");
        Ok(BinaryCopyInWriter::new(
            client.copy_in(&copy).await?,
            &types,
        ))
    }
}
