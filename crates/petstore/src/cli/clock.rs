//! `petstore clock`: shows whether the service trusts the clock of this machine, and confirms the
//! clock.

use std::borrow::Cow;

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use petstore_domain::{
    Actor, Clock as _, SystemClock, WriteContext,
    clock::truncate_to_milliseconds,
    store_area::{Act, ActType, JournalSubject, SubjectKind},
};
use petstore_store::{OpenMode, Store, confirmed_clock::is_near};

use super::{args::DatabaseArgs, output};

/// Show what the clock says and which time was last confirmed, or confirm the clock
///
/// While the clock is more than a day away from the last confirmed time, the service
/// expires and deletes nothing.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore clock\n",
    "  petstore clock confirm"
))]
pub(super) struct Clock {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Confirm that the clock of this machine is right. The service believes it within a minute
    Confirm,
}

/// The error message if the store cannot confirm the time.
const CANNOT_CONFIRM: &str = "cannot confirm the time";

/// The end of the times that a response can have as its `Date`, in seconds since 1970. The year of
/// a `Date` has four digits (RFC 9110, section 5.6.7). This is the last time of a [`Timestamp`],
/// shortly before the end of the year 9999.
const END_OF_HTTP_DATES: i64 = 253_402_207_200;

/// Checks that the present time can be the `Date` of a response. If it is before 1970 or after
/// 9999, hyper aborts every connection.
pub(super) fn check_date() -> anyhow::Result<()> {
    let now = SystemClock.now();
    ensure!(
        (0..END_OF_HTTP_DATES).contains(&now.as_second()),
        "the clock shows {now}, and no response can have a date before 1970 or after 9999; set the clock of this machine"
    );
    Ok(())
}

impl Clock {
    /// Shows or confirms the time.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let now = truncate_to_milliseconds(SystemClock.now());
        let confirmed_time = store
            .confirmed_time(now)
            .await
            .context("cannot read the confirmed time")?;
        match self.command {
            None => print_times(now, confirmed_time),
            Some(Command::Confirm) => {
                confirm_time(store.as_ref(), confirmed_time, now).await?;
                let database = &self.database.url;
                output::print_message(&format!("{now} is confirmed in {database}."));
                Ok(())
            }
        }
    }
}

/// Prints the time of the clock and the confirmed time, and a warning if they are far apart.
fn print_times(now: Timestamp, confirmed_time: Timestamp) -> anyhow::Result<()> {
    output::print(&format!(
        "clock           {now}\nlast confirmed  {confirmed_time}\n"
    ))?;
    if !is_near(now, confirmed_time) {
        output::print_message(
            "The clock is more than a day away from the last confirmed time, so nothing \
             expires and nothing is deleted. Correct the clock, or if it is right, run \
             `petstore clock confirm`.",
        );
    }
    Ok(())
}

/// Replaces the confirmed time of the store, `confirmed_time`, with `now`. Retries if a running
/// service changes the confirmed time first. Replaces a later time, too, because the operator says
/// that the clock is right.
async fn confirm_time(
    store: &dyn Store,
    mut confirmed_time: Timestamp,
    now: Timestamp,
) -> anyhow::Result<()> {
    while confirmed_time != now {
        let act = confirmation_act(confirmed_time, now);
        let context = WriteContext::new(Actor::Command, now);
        let is_confirmed = store
            .confirm_time(confirmed_time, now, Some((act, context)))
            .await
            .context(CANNOT_CONFIRM)?;
        if is_confirmed {
            break;
        }
        confirmed_time = store.confirmed_time(now).await.context(CANNOT_CONFIRM)?;
    }
    Ok(())
}

/// Returns the entry of the audit trail that records a confirmation.
fn confirmation_act(earlier_time: Timestamp, now: Timestamp) -> Act {
    Act {
        kind: ActType::DatabaseTimeConfirmed.into(),
        subject: JournalSubject {
            kind: SubjectKind::Database.into(),
            id: None,
        },
        details: vec![
            (Cow::Borrowed("before"), earlier_time.to_string()),
            (Cow::Borrowed("confirmed"), now.to_string()),
        ],
    }
}
