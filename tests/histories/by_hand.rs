//! Changes and removals by SQL on the database: the service has no operation for
//! them.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tokio::task;
use tokio_postgres::Client;

use super::{
    history::{Operation, Patch},
    postgres_cluster,
};

/// The database of a history.
pub(crate) struct Database {
    place: Location,
    faulty: Arc<Faulty>,
}

enum Location {
    Sqlite(PathBuf),
    /// With the URL of its schema.
    Postgres(String),
}

/// Where a removed animal is kept.
const REMOVED: &str = "CREATE TABLE removed (id BIGINT PRIMARY KEY, name TEXT NOT NULL,
    category_id BIGINT NOT NULL, status TEXT NOT NULL)";
const COLUMNS: &str = "id, name, category_id, status";

/// Opens a SQLite file. Waits for other writers for longer than any takes. Fails
/// if the file is gone, as for work that begins after the end of its history.
fn open(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::from_mins(1))?;
    Ok(connection)
}

impl Database {
    /// A file that has the schema.
    pub(crate) fn sqlite(file: &Path) -> Self {
        open(file).unwrap().execute_batch(REMOVED).unwrap();
        Self { place: Location::Sqlite(file.to_owned()), faulty: Arc::default() }
    }

    /// A PostgreSQL schema that has its tables.
    pub(crate) async fn postgres(url: &str) -> Self {
        postgres_cluster::connect(url).await.batch_execute(REMOVED).await.unwrap();
        Self { place: Location::Postgres(url.to_owned()), faulty: Arc::default() }
    }

    pub(crate) fn plant(&mut self, fault: Fault) {
        self.faulty = Arc::new(Faulty { fault: Some(fault), ..Faulty::default() });
    }

    /// Somebody with a connection to it.
    pub(crate) async fn hand(&self) -> Hand {
        let connection = match &self.place {
            Location::Sqlite(file) => Connected::Sqlite(file.clone()),
            Location::Postgres(url) => Connected::Postgres(postgres_cluster::connect(url).await),
        };
        Hand { connection, faulty: Arc::clone(&self.faulty) }
    }
}

/// Somebody who works on the database.
pub(crate) struct Hand {
    connection: Connected,
    faulty: Arc<Faulty>,
}

enum Connected {
    Sqlite(PathBuf),
    Postgres(Client),
}

impl Hand {
    /// The SQLite file, if the database is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.connection {
            Connected::Sqlite(file) => Some(file),
            Connected::Postgres(_) => None,
        }
    }

    /// Does a change, a removal or a restoration, and returns whether there was
    /// an animal for it. If the future is dropped, it may happen later.
    pub(crate) async fn work(&self, operation: &Operation) -> bool {
        match self.faulty.fault {
            None => self.work_well(operation).await,
            Some(fault) => self.work_badly(operation, fault).await,
        }
    }

    async fn work_well(&self, operation: &Operation) -> bool {
        match operation {
            Operation::Change { id, patch, expected, .. } => {
                self.execute(vec![change(*id, patch, expected.as_deref())]).await
            }
            Operation::Remove { id, .. } => self.move_row("pets", "removed", *id).await,
            Operation::Restore { id, .. } => self.move_row("removed", "pets", *id).await,
            other => panic!("the service does {other:?}"),
        }
    }

    async fn move_row(&self, from: &str, to: &str, id: i64) -> bool {
        let delete = format!("DELETE FROM {from} WHERE id = {id}");
        let statements = match self.connection {
            Connected::Sqlite(_) => {
                let found = format!("SELECT {COLUMNS} FROM {from} WHERE id = {id}");
                vec![format!("INSERT INTO {to} ({COLUMNS}) {found}"), delete]
            }
            Connected::Postgres(_) => vec![format!(
                "WITH moved AS ({delete} RETURNING {COLUMNS})
                 INSERT INTO {to} ({COLUMNS}) SELECT {COLUMNS} FROM moved"
            )],
        };
        self.execute(statements).await
    }

    /// Executes statements in one transaction, and returns whether the last one
    /// met a row.
    async fn execute(&self, statements: Vec<String>) -> bool {
        match &self.connection {
            Connected::Sqlite(file) => {
                let file = file.clone();
                let executing = task::spawn_blocking(move || -> rusqlite::Result<bool> {
                    let mut connection = open(&file)?;
                    let behavior = TransactionBehavior::Immediate;
                    let transaction = connection.transaction_with_behavior(behavior)?;
                    let mut met = 0;
                    for statement in statements {
                        met = transaction.execute(&statement, [])?;
                    }
                    transaction.commit()?;
                    Ok(met > 0)
                });
                executing.await.unwrap().unwrap()
            }
            Connected::Postgres(client) => {
                let [statement] = &statements[..] else { unreachable!() };
                client.execute(statement, &[]).await.unwrap() > 0
            }
        }
    }
}

fn change(id: i64, patch: &Patch, expected: Option<&str>) -> String {
    let mut sets = vec!["id = id".to_owned()];
    sets.extend(patch.name.as_ref().map(|name| format!("name = '{name}'")));
    sets.extend(patch.category_id.map(|id| format!("category_id = {id}")));
    sets.extend(patch.status.map(|status| format!("status = '{status}'")));
    let condition = expected.map_or(String::new(), |name| format!(" AND name = '{name}'"));
    format!("UPDATE pets SET {} WHERE id = {id}{condition}", sets.join(", "))
}

/// A planted fault of those who change animals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Every third change is acknowledged and not made.
    ChangeLost,
    /// Every change is made once more after the next one of its animal.
    MadeTwice,
    /// Every change is acknowledged at once, and made after the next work.
    OutOfOrder,
    /// An animal is restored with another status.
    RestoredOtherwise,
}

#[derive(Default)]
struct Faulty {
    fault: Option<Fault>,
    /// The changes that were asked for, or those that are still to be made: the
    /// animal, and the statement.
    changes: Mutex<Vec<(i64, String)>>,
}

impl Hand {
    async fn work_badly(&self, operation: &Operation, fault: Fault) -> bool {
        let changes = || self.faulty.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let Operation::Change { id, patch, expected, .. } = operation else {
            let late = std::mem::take(&mut *changes());
            let done = self.work_well(operation).await;
            match (fault, operation) {
                (Fault::RestoredOtherwise, Operation::Restore { id, .. }) => {
                    let sold = Patch { status: Some("sold"), ..Patch::default() };
                    self.execute(vec![change(*id, &sold, None)]).await;
                }
                (Fault::OutOfOrder, _) => self.execute_each(late).await,
                _ => changes().extend(late),
            }
            return done;
        };
        let asked = (*id, change(*id, patch, None));
        let without_effect = vec![change(*id, &Patch::default(), expected.as_deref())];
        let before = changes().clone();
        match fault {
            Fault::ChangeLost if before.len() % 3 == 2 => {
                changes().push(asked);
                self.execute(without_effect).await
            }
            Fault::OutOfOrder => {
                *changes() = vec![asked];
                let done = self.execute(without_effect).await;
                self.execute_each(before).await;
                done
            }
            _ => {
                changes().push(asked);
                let done = self.work_well(operation).await;
                let before = before.into_iter().rfind(|(changed, _)| changed == id);
                let again = before.filter(|_| fault == Fault::MadeTwice);
                self.execute_each(again.into_iter().collect()).await;
                done
            }
        }
    }

    async fn execute_each(&self, changes: Vec<(i64, String)>) {
        for (_, change) in changes {
            self.execute(vec![change]).await;
        }
    }
}
