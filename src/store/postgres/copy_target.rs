//! Where COPY adds rows.

use tokio_postgres::{Client, binary_copy::BinaryCopyInWriter, types::Type};

use crate::store::bulk::Table;

/// The target of a COPY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyTarget {
    Pets,
    PetsWithIds,
    WithdrawnPets,
    Orders,
    Categories,
    /// The foreign key of a successor is checked at the end of the statement, when all keys are
    /// there.
    Keys,
    Requests,
    Whole(&'static Table),
}

impl CopyTarget {
    fn sql(self) -> String {
        let sql = match self {
            Self::Whole(table) => {
                let (name, columns) = (table.name, columns(table));
                return format!("COPY {name} ({columns}) FROM STDIN (FORMAT binary)");
            }
            Self::Pets => {
                "COPY pets (name, name_key, category_id, status, created_at, updated_at)
                 FROM STDIN (FORMAT binary)"
            }
            Self::PetsWithIds => {
                "COPY pets (name, name_key, category_id, status, created_at, updated_at, version, id)
                 FROM STDIN (FORMAT binary)"
            }
            Self::WithdrawnPets => {
                "COPY withdrawn_pets (name, name_key, category_id, status, created_at, updated_at,
                    version, id, withdrawn_at, reason, note)
                 FROM STDIN (FORMAT binary)"
            }
            Self::Orders => {
                "COPY orders (id, pet_id, status, holds, reference, note, reason, expires_at,
                    created_at, closed_at, version)
                 FROM STDIN (FORMAT binary)"
            }
            Self::Categories => {
                "COPY categories (id, label, version) FROM STDIN (FORMAT binary)"
            }
            Self::Keys => {
                "COPY api_keys (id, digest, name, scope, store_scope, deployment, created_at,
                    expires_at, last_used_at, last_deprecated_call_at, revoked_at, successor_id,
                    rate_limit)
                 FROM STDIN (FORMAT binary)"
            }
            Self::Requests => {
                "COPY requests (caller, key, operation, fingerprint, status, location, etag, body,
                    created_at, mark) FROM STDIN (FORMAT binary)"
            }
        };
        sql.to_owned()
    }

    /// The types of the columns, if they are known here.
    fn types(self) -> &'static [Type] {
        const N: Type = Type::INT8;
        const T: Type = Type::TEXT;
        const B: Type = Type::BYTEA;
        match self {
            Self::Pets => &[T, T, N, T, N, N],
            Self::PetsWithIds => &[T, T, N, T, N, N, N, N],
            Self::WithdrawnPets => &[T, T, N, T, N, N, N, N, N, T, T],
            Self::Orders => &[N, N, T, Type::BOOL, T, T, T, N, N, N, N],
            Self::Categories => &[N, T, N],
            Self::Keys => &[N, B, T, T, T, T, N, N, N, N, N, N, T],
            Self::Requests => &[N, T, T, B, Type::INT4, T, T, B, N, N],
            Self::Whole(_) => &[],
        }
    }

    /// Begins the COPY.
    pub(super) async fn begin(
        self,
        client: &Client,
    ) -> Result<BinaryCopyInWriter, tokio_postgres::Error> {
        let types = match self {
            Self::Whole(table) => {
                let (name, columns) = (table.name, columns(table));
                let select = client.prepare(&format!("SELECT {columns} FROM {name}")).await?;
                select.columns().iter().map(|column| column.type_().clone()).collect()
            }
            _ => self.types().to_vec(),
        };
        Ok(BinaryCopyInWriter::new(client.copy_in(&self.sql()).await?, &types))
    }
}

/// The columns of a table. A change gets its number as its id, from which `CONTINUE` of `numbering.rs`
/// numbers it.
fn columns(Table { name, columns, .. }: &Table) -> String {
    if *name == "changes" { columns.replacen("seq", "id", 1) } else { (*columns).to_owned() }
}
