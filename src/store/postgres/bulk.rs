//! A blocking connection for whole catalogues.

use std::{error::Error, future::Future, sync::Arc};

use bytes::BytesMut;

use tokio::runtime::{self, Runtime};
use tokio_postgres::{
    Client,
    types::{FromSql, IsNull, ToSql, Type, to_sql_checked},
};

use super::{connect::Session, errors::Failure, url::PostgresUrl};
use crate::store::{OpenError, OpenMode, StoreError, bulk::Value};

/// A statement may take as long as the amount of data, and the other side, require. But creates
/// queue behind a statement that waits for a lock, so that wait is limited. Whole tables are read.
const SETTINGS: &str = "SET statement_timeout = 0; SET enable_seqscan = on; RESET enable_hashjoin;
    RESET enable_mergejoin; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '5s'";

/// A blocking connection. Dropping it rolls back its transaction.
pub(super) struct Blocking {
    session: Session,
    runtime: Runtime,
}

impl Blocking {
    /// Connects to the database at `url`. See [`super::prepare`].
    pub(super) fn open(url: &PostgresUrl, mode: OpenMode) -> Result<Self, OpenError> {
        let failed = |cause| OpenError::Io { path: url.to_string(), cause };
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(Arc::new(error)))?;
        let (_, session) = runtime.block_on(super::prepare(url, mode))?;
        let set = runtime.block_on(session.client.batch_execute(SETTINGS));
        set.map_err(|error| failed(Arc::new(error)))?;
        Ok(Self { session, runtime })
    }

    /// Runs `work` over the connection and waits for it.
    pub(super) fn wait<'s, T, E: Into<Failure>, F: Future<Output = Result<T, E>>>(
        &'s self,
        work: impl FnOnce(&'s Client) -> F,
    ) -> Result<T, StoreError> {
        let done = self.runtime.block_on(work(&self.session.client));
        done.map_err(|error| StoreError::from(error.into()))
    }
}

impl<'r> FromSql<'r> for Value<'r> {
    fn from_sql(of: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *of {
            Type::INT8 => Self::Integer(i64::from_sql(of, raw)?),
            Type::BOOL => Self::Boolean(bool::from_sql(of, raw)?),
            Type::TEXT => Self::Text(<&str>::from_sql(of, raw)?),
            _ => Self::Blob(raw),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(of: &Type) -> bool {
        [Type::INT8, Type::BOOL, Type::TEXT, Type::BYTEA].contains(of)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(value) => value.to_sql_checked(of, out),
            Self::Boolean(value) => value.to_sql_checked(of, out),
            Self::Text(value) => value.to_sql_checked(of, out),
            Self::Blob(value) => value.to_sql_checked(of, out),
        }
    }

    fn accepts(of: &Type) -> bool {
        <Self as FromSql>::accepts(of)
    }

    to_sql_checked!();
}
