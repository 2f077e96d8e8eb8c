//! Notes on animals. Part of the suite.

use petstore_domain::{
    Actor, Limit, NamedActor, PetId,
    PetStatus::Available,
    StaffId,
    store_area::{
        Change, ChangeType, Command, NoteEdit, NoteEditor, NoteId, NoteText, PetNote,
        Preconditions, Refusal, Resource,
    },
};
use petstore_store::ExecutionOutcome;
use petstore_testing::{
    area::{add, any, change, execute, kept, pet_id, refused, withdraw},
    stores::{AnyStore, new_pet},
};

use crate::area_commands::check;

/// The members of the staff who write notes in the tests.
const NORA: Actor = Actor::Staff(StaffId(2));
const OMAR: Actor = Actor::Staff(StaffId(3));

pub(crate) fn text(text: &str) -> NoteText {
    NoteText::new(text.to_owned()).unwrap()
}

pub(crate) fn note(pet_id: PetId, content: &str) -> Command {
    Command::AddNote {
        pet_id,
        text: text(content),
        author: NamedActor {
            actor: NORA,
            name: Some("Nora".into()),
        },
    }
}

/// Adds a note, and returns it.
pub(crate) async fn add_note(store: &AnyStore, pet: PetId, content: &str) -> PetNote {
    let changes = check(store, note(pet, content)).await;
    let [
        Change {
            kind: ChangeType::NoteAdded,
            before: None,
            after: Some(Resource::Note(added)),
        },
    ] = &changes[..]
    else {
        panic!("{changes:?}")
    };
    added.clone()
}

/// A change of this note by its author.
pub(crate) fn edit(note: &PetNote) -> NoteEdit {
    NoteEdit {
        id: note.id,
        pet_id: note.pet_id,
        editor: NoteEditor::Author(NORA),
        preconditions: any(),
    }
}

pub(crate) fn correct(edit: NoteEdit, content: &str) -> Command {
    Command::PatchNote {
        edit,
        text: Some(text(content)),
    }
}

pub(crate) async fn notes_are_added_corrected_and_deleted_for_good(store: AnyStore) {
    let pet = add(&store, new_pet("Rex", 1, Available)).await;
    let other = add(&store, new_pet("Luna", 1, Available)).await;
    let first = add_note(&store, pet, "Afraid of men\nöß").await;
    assert_eq!((first.created_at, first.version), (kept(), 1));
    assert_eq!(first.author.name.as_deref(), Some("Nora"));
    let second = add_note(&store, pet, "2").await;
    add_note(&store, other, "3").await;
    assert!(second.id > first.id);
    assert_eq!(
        store.all_notes(pet).await.unwrap(),
        [first.clone(), second.clone()]
    );

    let corrected = change(&store, correct(edit(&first), "Afraid of nobody")).await;
    assert_eq!(corrected[0].kind, ChangeType::NoteChanged);
    let read = store.get_note(first.id).await.unwrap().unwrap();
    assert_eq!((read.text.as_str(), read.version), ("Afraid of nobody", 2));
    assert_eq!(corrected[0].after, Some(Resource::Note(read.clone())));
    let same = correct(edit(&first), "Afraid of nobody");
    assert_eq!(change(&store, same).await, []);

    let deleted = change(&store, Command::DeleteNote(edit(&first))).await;
    assert_eq!(deleted[0].kind, ChangeType::NoteDeleted);
    assert_eq!(store.get_note(first.id).await.unwrap(), None);
    assert_eq!(store.all_notes(pet).await.unwrap(), [second]);
    // A number is not given again.
    let last = add_note(&store, pet, "4").await;
    change(&store, Command::DeleteNote(edit(&last))).await;
    assert!(add_note(&store, pet, "5").await.id > last.id);
}

pub(crate) async fn the_log_has_that_a_note_exists_and_no_text_of_it(store: AnyStore) {
    let pet = add(&store, new_pet("Rex", 1, Available)).await;
    let note = add_note(&store, pet, "<secret 1>").await;
    change(&store, correct(edit(&note), "<secret 2>")).await;
    change(&store, Command::DeleteNote(edit(&note))).await;

    let entries = store.history(pet, i64::MAX, 10).await.unwrap();
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["note.deleted", "note.changed", "note.added", "pet.added"]
    );
    for entry in &entries[..3] {
        assert_eq!(entry.subject.to_string(), format!("note:{}", note.id));
        assert_eq!(entry.pet, Some(pet.get()));
    }
    let shown = format!("{entries:?}");
    assert!(!shown.contains("secret"), "{shown}");
    let version = format!("\"version\":{}", 2);
    assert!(entries[1].after.as_deref().unwrap().contains(&version));
}

pub(crate) async fn a_note_is_changed_by_its_author_or_a_manager_in_the_version_they_saw(
    store: AnyStore,
) {
    let pet = add(&store, new_pet("Rex", 1, Available)).await;
    let other = add(&store, new_pet("Luna", 1, Available)).await;
    let note = add_note(&store, pet, "1").await;
    let by = |editor| NoteEdit {
        editor,
        ..edit(&note)
    };
    let omar = by(NoteEditor::Author(OMAR));
    for command in [
        correct(omar.clone(), "2"),
        Command::DeleteNote(omar.clone()),
    ] {
        assert_eq!(refused(&store, command).await, Refusal::NoteOfAnotherAuthor);
    }
    check(&store, correct(by(NoteEditor::Manager), "2")).await;

    let stale = NoteEdit {
        preconditions: Preconditions::version(1),
        ..edit(&note)
    };
    let refusal = refused(&store, correct(stale.clone(), "3")).await;
    assert!(
        matches!(refusal, Refusal::PreconditionFailed(Some(_))),
        "{refusal:?}"
    );
    let without_version = NoteEdit {
        preconditions: Preconditions::default(),
        ..edit(&note)
    };
    let refusal = refused(&store, Command::DeleteNote(without_version)).await;
    assert!(
        matches!(refusal, Refusal::PreconditionRequired(_)),
        "{refusal:?}"
    );
    let of_other_pet = NoteEdit {
        pet_id: other,
        ..edit(&note)
    };
    let of_no_note = NoteEdit {
        id: NoteId::new(1_000).unwrap(),
        ..edit(&note)
    };
    for edit in [of_other_pet, of_no_note] {
        let refusal = refused(&store, Command::DeleteNote(edit)).await;
        assert!(matches!(refusal, Refusal::NotFound(_)), "{refusal:?}");
    }
}

pub(crate) async fn an_animal_has_at_most_500_notes_withdrawn_or_not(store: AnyStore) {
    let pet = add(&store, new_pet("Rex", 1, Available)).await;
    change(&store, withdraw(pet)).await;
    for number in 0..500 {
        let done = execute(&store, vec![note(pet, &number.to_string())]).await;
        assert!(matches!(done, ExecutionOutcome::Done { .. }), "{done:?}");
    }
    assert_eq!(
        refused(&store, note(pet, "501")).await,
        Refusal::TooManyNotes
    );
    let all = store.all_notes(pet).await.unwrap();
    assert_eq!(all.len(), 500);
    change(&store, Command::DeleteNote(edit(&all[7]))).await;
    add_note(&store, pet, "501").await;
    let missing = refused(&store, note(pet_id(1_000), "1")).await;
    assert!(matches!(missing, Refusal::NotFound(_)), "{missing:?}");
}

pub(crate) async fn a_walk_through_notes_gives_each_once(store: AnyStore) {
    let pet = add(&store, new_pet("Rex", 1, Available)).await;
    for number in 0..7 {
        add_note(&store, pet, &number.to_string()).await;
    }
    let mut walked = Vec::new();
    let mut after = None;
    loop {
        let limit = Limit::new(3).unwrap();
        let (page, next) = store.list_notes(pet, after, limit).await.unwrap();
        walked.extend(page);
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(walked, store.all_notes(pet).await.unwrap());
    assert_eq!(walked.len(), 7);
}
