//! `petstore staff`: who may use the console, whether the service runs or not.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use petstore_console::openid::Issuer;
use petstore_databases::DatabaseUrl;
use petstore_domain::{
    Actor, Clock, Role, StaffName, SystemClock, WriteContext,
    staff::{EndedSessions, Identity, StaffChange, StaffMember, Token},
    store_area::ActType,
};
use petstore_store::{OpenMode, StaffKey, StaffWriteOutcome, Store};
use url::Url;

use super::{
    args::{BadSetting, CreateArgs, DatabaseArgs},
    pages::ConsoleUrlArgs,
    values,
};

/// Add, list, change and disable the people who may use the console
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore staff add Ana --role manager\n",
    "  petstore staff reset Ana\n",
    "  petstore staff role Ana clerk"
))]
pub(super) struct Staff {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a member, and print a link with which the member chooses a password
    Add {
        /// The name with which the member signs in
        #[arg(value_parser = name)]
        name: StaffName,
        /// What the member may do: look (viewer), also change animals and orders (clerk), or
        /// also manage staff, keys and webhooks (manager)
        #[arg(long, value_parser = values::word(&Role::ALL), env = "PETSTORE_STAFF_ROLE", default_value = "clerk")]
        role: Role,
        #[command(flatten)]
        console: ConsoleUrlArgs,
        #[command(flatten)]
        if_absent: CreateArgs,
    },
    /// List the staff
    List,
    /// Print a link with which a member chooses another password; this also removes the second
    /// factor and the passkeys, ends all sessions, and lets a disabled member in again
    Reset {
        #[arg(value_parser = name)]
        name: StaffName,
        #[command(flatten)]
        console: ConsoleUrlArgs,
    },
    /// Let a member sign in at the OpenID provider from now on, and not with a password; this ends all
    /// sessions
    Link {
        #[arg(value_parser = name)]
        name: StaffName,
        /// The number or text by which the provider knows the member (the claim sub)
        subject: String,
        /// The OpenID provider, as for `petstore serve`
        #[arg(long, value_name = "URL", env = "PETSTORE_OIDC_ISSUER")]
        oidc_issuer: Issuer,
    },
    /// Keep a member out, and end all sessions of this member
    Disable {
        #[arg(value_parser = name)]
        name: StaffName,
    },
    /// Give a member another role
    Role {
        #[arg(value_parser = name)]
        name: StaffName,
        #[arg(value_parser = values::word(&Role::ALL))]
        role: Role,
    },
}

fn name(text: &str) -> Result<StaffName, String> {
    StaffName::new(text).ok_or_else(|| "a name is one line of 1 to 64 characters".to_owned())
}

impl Staff {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let mode = match &self.command {
            Command::Add { if_absent, .. } => if_absent.mode(),
            _ => OpenMode::AsIs,
        };
        let store = self.database.open(mode).await?;
        let store = store.as_ref();
        let now = SystemClock.now();
        let database = &self.database.database;
        match self.command {
            Command::Add {
                name,
                role,
                console,
                ..
            } => {
                let token = add(store, name.clone(), role, now).await?;
                show(&token, &console, &name, database)
            }
            Command::List => {
                let staff = store.list_staff().await.context("cannot read the staff")?;
                super::output::print(&table(&staff, now))
            }
            Command::Reset { name, console } => {
                let token = Token::generate(&mut super::runtime::random());
                let member = find(store, &name).await?;
                let change = member.change(|member| member.reset(&token, now), ActType::StaffReset);
                save_change(store, change.with_ended_sessions(EndedSessions::All), now).await?;
                show(&token, &console, &name, database)
            }
            Command::Link {
                name,
                subject,
                oidc_issuer,
            } => {
                let identity = Identity {
                    issuer: oidc_issuer.as_str().to_owned(),
                    subject,
                };
                let key = StaffKey::Identity(identity.clone());
                if let Some(other) = store
                    .find_staff(key)
                    .await
                    .context("cannot read the staff")?
                {
                    let other = other.name.as_str();
                    bail!(BadSetting(format!(
                        "{other} signs in with this subject already"
                    )));
                }
                let member = find(store, &name).await?;
                let change = member.change(
                    |member| member.with_identity(identity),
                    ActType::StaffLinked,
                );
                save_change(store, change.with_ended_sessions(EndedSessions::All), now).await?;
                let name = name.as_str();
                let issuer = oidc_issuer.as_str();
                super::output::print_message(&format!(
                    "Member {name} in {database} now signs in at {issuer}."
                ));
                Ok(())
            }
            Command::Disable { name } => {
                let member = find(store, &name).await?;
                let change = member.change(|member| member.disable(now), ActType::StaffDisabled);
                save_change(store, change.with_ended_sessions(EndedSessions::All), now).await?;
                super::output::print_message(&format!(
                    "Member {} in {database} can no longer sign in.",
                    name.as_str()
                ));
                Ok(())
            }
            Command::Role { name, role } => {
                let member = find(store, &name).await?;
                let change =
                    member.change(|member| member.with_role(role), ActType::StaffRoleChanged);
                save_change(store, change, now).await?;
                super::output::print_message(&format!(
                    "Member {} in {database} now has the role {}.",
                    name.as_str(),
                    role.as_str()
                ));
                Ok(())
            }
        }
    }
}

/// Adds a member. Returns the secret of the link with which the member chooses a password.
pub(super) async fn add(
    store: &dyn Store,
    name: StaffName,
    role: Role,
    now: Timestamp,
) -> anyhow::Result<Token> {
    let token = Token::generate(&mut super::runtime::random());
    let member = StaffMember::new(name, role, &token, now);
    save_change(store, StaffChange::adding(member), now).await?;
    Ok(token)
}

async fn find(store: &dyn Store, name: &StaffName) -> anyhow::Result<StaffMember> {
    let found = store
        .find_staff(StaffKey::Name(name.key()))
        .await
        .context("cannot read the staff")?;
    let absent = || {
        let name = name.as_str();
        BadSetting(format!(
            "there is no member named {name}; `petstore staff list` lists the staff, and \
             `petstore staff add {name} --role manager` adds a manager"
        ))
    };
    Ok(found.ok_or_else(absent)?)
}

async fn save_change(store: &dyn Store, change: StaffChange, now: Timestamp) -> anyhow::Result<()> {
    let name = change.after.name.clone();
    let name = name.as_str();
    let context = WriteContext::new(Actor::Command, now);
    match store
        .write_staff(change, context)
        .await
        .context("cannot change the staff")?
    {
        StaffWriteOutcome::Done(_) => Ok(()),
        StaffWriteOutcome::NameTaken => bail!(BadSetting(format!(
            "there is a member named {name}, perhaps in another spelling; choose another name, or \
             make a new link: petstore staff reset {name}"
        ))),
        StaffWriteOutcome::Full => {
            bail!(
                "there are {} members already, which is the maximum",
                StaffMember::MAX
            )
        }
        StaffWriteOutcome::Stale => {
            bail!("another process has just changed {name}; run the command again")
        }
    }
}

/// Prints the link to standard output, and a message about it to standard error.
fn show(
    token: &Token,
    console: &ConsoleUrlArgs,
    name: &StaffName,
    database: &DatabaseUrl,
) -> anyhow::Result<()> {
    let name = name.as_str();
    let url = console.url();
    super::output::print_all(&format!("{}\n", link(token, &url))).with_context(|| {
        format!("the link could not be printed; make another one: petstore staff reset {name}")
    })?;
    super::output::print_message(&format!(
        "Member {name} in {database}: give {name} this link to choose a password. It is valid for 24 \
         hours and is not shown again."
    ));
    if is_local(&url) {
        super::output::print_message(if console.has_url() {
            "The link works only on this machine, which --console-url names."
        } else {
            "The link works only on this machine. For a link that works elsewhere, add --console-url."
        });
    }
    Ok(())
}

/// Whether only browsers on this machine reach this address.
fn is_local(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str);
    host.is_some_and(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&host))
}

/// Returns the link in a browser.
pub(super) fn link(token: &Token, url: &str) -> String {
    format!("{url}/link/{}", token.reveal())
}

fn table(staff: &[StaffMember], now: Timestamp) -> String {
    let mut rows = vec![["ID", "NAME", "ROLE", "STATE"].map(str::to_owned)];
    rows.extend(staff.iter().map(|member| {
        let state = match member {
            StaffMember {
                disabled_at: Some(at),
                ..
            } => format!("disabled since {at}"),
            StaffMember {
                identity: Some(of), ..
            } => format!("active, signs in at {}", of.issuer),
            StaffMember {
                password: Some(_), ..
            } if member.has_second_factor() => "active, with second factor".to_owned(),
            StaffMember {
                password: Some(_), ..
            } => "active".to_owned(),
            waiting if waiting.has_link_at(now) => "has a link".to_owned(),
            _ => "link expired".to_owned(),
        };
        let name = super::output::visible(member.name.as_str()).into_owned();
        [member.id.to_string(), name, member.role.to_string(), state]
    }));
    super::output::table(&rows)
}
