//! Reads acts from the journal, and derives the commands that revert them.
//!
//! An act is what one request did: its changes, which were made in one transaction. For example, a
//! sale changes the order and the animal in one act.

use petstore_domain::{
    PetId,
    store_area::{Change, Command, JournalEntry, JournalSubject, NotRevertible, Reversal},
};
use petstore_formats::json;
use petstore_store::StoreError;

use super::App;

/// The number of the newest changes of an animal that are searched for the change that led to a
/// version. It bounds the time of a request.
const MAX_SEARCHED_CHANGES: u32 = 100;

/// An act: the changes that one request made in one transaction, in the order of their sequence
/// numbers. It has at least one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAct(Vec<JournalEntry>);

impl RecordedAct {
    /// Returns the sequence number of the first change, which identifies the act when it is
    /// reverted.
    pub fn seq(&self) -> i64 {
        // An act has a first change, so the 0 is never used.
        self.0.first().map_or(0, |entry| entry.seq)
    }

    /// Parses the changes. Returns `None` if a later release recorded one of them in a form that
    /// this release does not know.
    pub fn changes(&self) -> Option<Vec<Change>> {
        self.0.iter().map(json::read_change).collect()
    }
}

impl App {
    /// Returns the act that includes the change with this sequence number. Returns `None` if the
    /// journal does not have the change, or may no longer have the whole act.
    pub async fn act(&self, seq: i64) -> Result<Option<RecordedAct>, StoreError> {
        let entries = self.store.changes_of_act(seq).await?;
        if entries.is_empty() {
            return Ok(None);
        }
        Ok(Some(RecordedAct(entries)))
    }

    /// Returns the act that led to this version of `subject`, which is the animal `pet` or an order
    /// for it. Returns `None` if the act is not among the newest changes of the animal.
    pub async fn act_that_led_to(
        &self,
        pet: PetId,
        subject: &JournalSubject,
        version: i64,
    ) -> Result<Option<RecordedAct>, StoreError> {
        // The sequence numbers of all changes are below this number.
        let end_of_journal = i64::MAX;
        let newest_changes = self
            .store
            .history(pet, end_of_journal, MAX_SEARCHED_CHANGES)
            .await?;
        let change = newest_changes
            .iter()
            .find(|entry| entry.subject == *subject && entry.version == Some(version));
        match change {
            Some(change) => self.act(change.seq).await,
            None => Ok(None),
        }
    }

    /// Returns the commands that revert an act: one for each animal and one for each category. The
    /// caller must execute them in one transaction.
    ///
    /// For an act that can never be reverted, returns a single command, which is refused with the
    /// reason.
    pub async fn reverting_commands(&self, act: &RecordedAct) -> Result<Vec<Command>, StoreError> {
        let mut reversals = match self.derive_reversals(act) {
            Ok(reversals) => reversals,
            Err(reason) => vec![Reversal::Impossible(reason)],
        };
        for reversal in &mut reversals {
            for lost_photo in reversal.lost_photos_mut() {
                lost_photo.has_files = self.has_photo_files(lost_photo.photo.id).await?;
            }
        }
        Ok(reversals.into_iter().map(Command::Revert).collect())
    }

    /// Returns the steps that revert an act, or the reason why it can never be reverted. Assumes
    /// that all files of lost photos still exist.
    fn derive_reversals(&self, act: &RecordedAct) -> Result<Vec<Reversal>, NotRevertible> {
        // A later release may have recorded a kind of change that this release does not know.
        let (Some(changes), Some(first)) = (act.changes(), act.0.first()) else {
            return Err(NotRevertible::Kind);
        };
        let default_end = self.commands.default_end(self.clock.now());
        Reversal::from_act(&changes, first.at, default_end)
    }
}
