//! `petstore clock`: whether the service believes the clock of this machine.

use std::borrow::Cow;

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use petstore_domain::{
    Actor, Clock as _, SystemClock, WriteContext,
    clock::truncate_to_milliseconds,
    store_area::{Act, ActType, JournalSubject, SubjectKind},
};
use petstore_store::{OpenMode, confirmed_clock::is_near};

use super::args::DatabaseArgs;

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

/// The end of the times that `Date` of a response can name, in seconds since 1970: its year has four digits (RFC 9110,
/// section 5.6.7).
const END_OF_DATES: i64 = 253_402_207_200;

/// Checks that responses can name the present time. hyper breaks off each connection at a time before 1970 or after 9999.
pub(super) fn check_date() -> anyhow::Result<()> {
    let now = SystemClock.now();
    ensure!(
        (0..END_OF_DATES).contains(&now.as_second()),
        "the clock shows {now}, and no response can have a date before 1970 or after 9999; set the clock of this machine"
    );
    Ok(())
}

impl Clock {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let now = truncate_to_milliseconds(SystemClock.now());
        let mut confirmed = store
            .confirmed_time(now)
            .await
            .context("cannot read the confirmed time")?;
        if self.command.is_none() {
            super::output::print(&format!(
                "clock           {now}\nlast confirmed  {confirmed}\n"
            ))?;
            if !is_near(now, confirmed) {
                super::output::print_message(
                    "The clock is more than a day away from the last confirmed time, so nothing \
                     expires and nothing is deleted. Correct the clock, or if it is right, run \
                     `petstore clock confirm`.",
                );
            }
            return Ok(());
        }
        // A service that runs may move the confirmed time in the meantime.
        while confirmed != now {
            let times = [("before", confirmed), ("confirmed", now)];
            let act = Act {
                kind: ActType::DatabaseTimeConfirmed.into(),
                subject: JournalSubject {
                    kind: SubjectKind::Database.into(),
                    id: None,
                },
                details: times
                    .map(|(name, time)| (Cow::Borrowed(name), time.to_string()))
                    .to_vec(),
            };
            let act = (act, WriteContext::new(Actor::Command, now));
            let failed = "cannot confirm the time";
            if store
                .confirm_time(confirmed, now, Some(act))
                .await
                .context(failed)?
            {
                break;
            }
            confirmed = store.confirmed_time(now).await.context(failed)?;
        }
        super::output::print_message(&format!(
            "{now} is confirmed in {}.",
            self.database.database
        ));
        Ok(())
    }
}
