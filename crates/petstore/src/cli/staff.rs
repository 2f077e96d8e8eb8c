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
use petstore_system::addresses::is_this_machine;
use url::Url;

use super::{
    args::{BadSetting, CreateArgs, DatabaseArgs},
    output,
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
        #[arg(value_parser = parse_name)]
        name: StaffName,
        /// What the member may do: look (viewer), also change animals and orders (clerk), or
        /// also manage staff, keys and webhooks (manager)
        #[arg(long, value_parser = values::one_of(&Role::ALL), env = "PETSTORE_STAFF_ROLE", default_value = "clerk")]
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
        #[arg(value_parser = parse_name)]
        name: StaffName,
        #[command(flatten)]
        console: ConsoleUrlArgs,
    },
    /// Let a member sign in at the OpenID provider from now on, and not with a password; this ends
    /// all sessions
    Link {
        #[arg(value_parser = parse_name)]
        name: StaffName,
        /// The number or text by which the provider knows the member (the claim sub)
        subject: String,
        /// The OpenID provider, as for `petstore serve`
        #[arg(long, value_name = "URL", env = "PETSTORE_OIDC_ISSUER")]
        oidc_issuer: Issuer,
    },
    /// Keep a member out, and end all sessions of this member
    Disable {
        #[arg(value_parser = parse_name)]
        name: StaffName,
    },
    /// Give a member another role
    Role {
        #[arg(value_parser = parse_name)]
        name: StaffName,
        #[arg(value_parser = values::one_of(&Role::ALL))]
        role: Role,
    },
}

/// Parses the name of a member.
fn parse_name(text: &str) -> Result<StaffName, String> {
    StaffName::new(text).ok_or_else(|| "a name is one line of 1 to 64 characters".to_owned())
}

impl Staff {
    /// Carries out the command.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let mode = match &self.command {
            Command::Add { if_absent, .. } => if_absent.mode(),
            _ => OpenMode::AsIs,
        };
        let store = self.database.open(mode).await?;
        let admin = StaffAdmin {
            store: store.as_ref(),
            database: &self.database.url,
            now: SystemClock.now(),
        };
        match self.command {
            Command::Add {
                name,
                role,
                console,
                ..
            } => admin.add(name, role, &console).await,
            Command::List => admin.list().await,
            Command::Reset { name, console } => admin.reset(&name, &console).await,
            Command::Link {
                name,
                subject,
                oidc_issuer,
            } => admin.link(&name, subject, &oidc_issuer).await,
            Command::Disable { name } => admin.disable(&name).await,
            Command::Role { name, role } => admin.change_role(&name, role).await,
        }
    }
}

/// The staff of a store, as the commands read and change it.
struct StaffAdmin<'a> {
    store: &'a dyn Store,
    /// The database of the store, for messages.
    database: &'a DatabaseUrl,
    /// The time of all changes.
    now: Timestamp,
}

impl StaffAdmin<'_> {
    /// Adds a member, and prints the link with which the member chooses a password.
    async fn add(
        &self,
        name: StaffName,
        role: Role,
        console: &ConsoleUrlArgs,
    ) -> anyhow::Result<()> {
        let token = add_member(self.store, name.clone(), role, self.now).await?;
        print_link(&token, console, &name, self.database)
    }

    /// Prints the table of all members.
    async fn list(&self) -> anyhow::Result<()> {
        let staff = self
            .store
            .list_staff()
            .await
            .context("cannot read the staff")?;
        output::print(&render_members(&staff, self.now))
    }

    /// Makes a new link for a member, ends the member's sessions, and prints the link.
    async fn reset(&self, name: &StaffName, console: &ConsoleUrlArgs) -> anyhow::Result<()> {
        let token = Token::generate(&mut super::runtime::random());
        let change = self
            .find(name)
            .await?
            .change(|member| member.reset(&token, self.now), ActType::StaffReset)
            .with_ended_sessions(EndedSessions::All);
        save_change(self.store, change, self.now).await?;
        print_link(&token, console, name, self.database)
    }

    /// Links a member to an account at the provider, and ends the member's sessions.
    async fn link(&self, name: &StaffName, subject: String, issuer: &Issuer) -> anyhow::Result<()> {
        let issuer = issuer.as_str();
        let identity = Identity {
            issuer: issuer.to_owned(),
            subject,
        };
        let key = StaffKey::Identity(identity.clone());
        let account_holder = self
            .store
            .find_staff(key)
            .await
            .context("cannot read the staff")?;
        if let Some(account_holder) = account_holder {
            let holder_name = account_holder.name.as_str();
            bail!(BadSetting(format!(
                "{holder_name} signs in with this subject already"
            )));
        }

        let change = self
            .find(name)
            .await?
            .change(
                |member| member.with_identity(identity),
                ActType::StaffLinked,
            )
            .with_ended_sessions(EndedSessions::All);
        save_change(self.store, change, self.now).await?;
        self.print_change(name, &format!("now signs in at {issuer}"));
        Ok(())
    }

    /// Disables a member, and ends the member's sessions.
    async fn disable(&self, name: &StaffName) -> anyhow::Result<()> {
        let change = self
            .find(name)
            .await?
            .change(|member| member.disable(self.now), ActType::StaffDisabled)
            .with_ended_sessions(EndedSessions::All);
        save_change(self.store, change, self.now).await?;
        self.print_change(name, "can no longer sign in");
        Ok(())
    }

    /// Gives a member another role.
    async fn change_role(&self, name: &StaffName, role: Role) -> anyhow::Result<()> {
        let change = self
            .find(name)
            .await?
            .change(|member| member.with_role(role), ActType::StaffRoleChanged);
        save_change(self.store, change, self.now).await?;
        self.print_change(name, &format!("now has the role {}", role.as_str()));
        Ok(())
    }

    /// Finds the member with this name. Fails if there is none.
    async fn find(&self, name: &StaffName) -> anyhow::Result<StaffMember> {
        let member = self
            .store
            .find_staff(StaffKey::Name(name.key()))
            .await
            .context("cannot read the staff")?;
        let Some(member) = member else {
            let name = name.as_str();
            bail!(BadSetting(format!(
                "there is no member named {name}; `petstore staff list` lists the staff, and \
                 `petstore staff add {name} --role manager` adds a manager"
            )));
        };
        Ok(member)
    }

    /// Prints a line about a changed member, such as `Member Ana in shop.db can no longer sign in.`
    fn print_change(&self, name: &StaffName, predicate: &str) {
        let line = format!("Member {} in {} {predicate}.", name.as_str(), self.database);
        output::print_message(&line);
    }
}

/// Adds a member, and returns the token of the link with which the member chooses a password.
pub(super) async fn add_member(
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

/// Saves a change of a member. Fails if the store does not make the change.
async fn save_change(store: &dyn Store, change: StaffChange, now: Timestamp) -> anyhow::Result<()> {
    let member_name = change.after.name.clone();
    let name = member_name.as_str();
    let context = WriteContext::new(Actor::Command, now);
    let outcome = store
        .write_staff(change, context)
        .await
        .context("cannot change the staff")?;
    match outcome {
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

/// Prints the link with which a member chooses a password to standard output. Prints to standard
/// error what to do with the link, and a warning if it works only on this machine.
fn print_link(
    token: &Token,
    console: &ConsoleUrlArgs,
    name: &StaffName,
    database: &DatabaseUrl,
) -> anyhow::Result<()> {
    let name = name.as_str();
    let url = console.reachable_url();
    output::print_completely(&format!("{}\n", token_link(token, &url))).with_context(|| {
        format!("the link could not be printed; make another one: petstore staff reset {name}")
    })?;
    output::print_message(&format!(
        "Member {name} in {database}: give {name} this link to choose a password. It is valid for 24 \
         hours and is not shown again."
    ));
    if is_local(&url) {
        let warning = if console.is_url_set() {
            "The link works only on this machine, which --console-url names."
        } else {
            "The link works only on this machine. For a link that works elsewhere, add --console-url."
        };
        output::print_message(warning);
    }
    Ok(())
}

/// Whether a URL works only in browsers on this machine.
fn is_local(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| is_this_machine(&url))
}

/// Returns the link with which a member chooses a password: the URL of the console with this token.
pub(super) fn token_link(token: &Token, console_url: &str) -> String {
    format!("{console_url}/link/{}", token.reveal())
}

/// Renders the table of all members.
fn render_members(staff: &[StaffMember], now: Timestamp) -> String {
    let mut rows = vec![["ID", "NAME", "ROLE", "STATE"].map(str::to_owned)];
    for member in staff {
        rows.push([
            member.id.to_string(),
            output::escape_hidden(member.name.as_str()).into_owned(),
            member.role.to_string(),
            describe_state(member, now),
        ]);
    }
    output::render_table(&rows)
}

/// Describes whether and how a member can sign in, such as `active, with second factor`.
fn describe_state(member: &StaffMember, now: Timestamp) -> String {
    if let Some(disabled_at) = member.disabled_at {
        return format!("disabled since {disabled_at}");
    }
    if let Some(identity) = &member.identity {
        return format!("active, signs in at {}", identity.issuer);
    }
    let state = if member.password.is_some() && member.has_second_factor() {
        "active, with second factor"
    } else if member.password.is_some() {
        "active"
    } else if member.has_link_at(now) {
        "has a link"
    } else {
        "link expired"
    };
    state.to_owned()
}
