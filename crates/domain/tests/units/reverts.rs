//! Reverting acts: each kind of act, and what keeps one from being reverted.

use std::sync::Arc;

use petstore_domain::{
    PetId, PetName, PetStatus,
    store_area::{
        AltText, Category, Change, ChangeType, Command, Contact, Decimal, FieldDefinition,
        FieldKind, FieldName, FieldPatch, FieldSet, FieldValue, Focus, Label, NewOrder, NewPhoto,
        Note, Order, OrderId, OrderPatch, OrderStatus, OrderTerms, PHOTO_RESTORE_WINDOW, Patch,
        PetPatch, PhotoId, PhotoPatch, Preconditions, PresentState, Reason, Refusal,
        RequestedValue, Resource, Reversal, StorePet, UniqueValueOwner, WithdrawalReason, decide,
    },
};

use super::decide::{
    Animal, Available, NOW, PendingWithoutOrder, Reserved, SoldByOrder, SoldWithoutOrder,
    Withdrawn, order, present, second,
};

/// The end of a reservation whose own end has passed.
const DEFAULT_END: i64 = NOW + 1_000;

/// A store with one animal and one order, in which commands are carried out.
#[derive(Clone)]
pub(super) struct Shop {
    pub(super) present: PresentState,
    now: i64,
}

impl Shop {
    fn new(animal: Animal) -> Self {
        let mut present = present(animal);
        present.order = present.holding_order.clone();
        if let Some(order) = &mut present.order {
            order.contact = Contact::new("Anna".to_owned());
            present.holding_order = present.order.clone();
        }
        present.fields = Arc::new(fields());
        Self { present, now: NOW }
    }

    fn pet(&self) -> &StorePet {
        self.present.pet.as_ref().unwrap()
    }

    fn order(&self) -> &Order {
        self.present.order.as_ref().unwrap()
    }

    /// Carries out commands as one act. Returns its changes as the journal has them: without contacts.
    fn act(&mut self, commands: &[Command]) -> Vec<Change> {
        let mut changes = Vec::new();
        for command in commands {
            let decision = decide(command, &self.present, second(self.now)).unwrap();
            self.apply(&decision.changes);
            changes.extend(decision.changes);
        }
        assert!(!changes.is_empty());
        for change in &mut changes {
            for resource in [&mut change.before, &mut change.after]
                .into_iter()
                .flatten()
            {
                resource.drop_contact();
            }
        }
        changes
    }

    fn apply(&mut self, changes: &[Change]) {
        for Change { after, .. } in changes {
            match after {
                Some(Resource::Pet(pet)) => self.present.pet = Some(pet.clone()),
                Some(Resource::Order(order)) => {
                    self.present.order = Some(order.clone());
                    self.present.holding_order = order.holds.then(|| order.clone());
                }
                Some(Resource::Category(category)) => {
                    self.present.category = Some(category.clone());
                }
                Some(Resource::Note(note)) => self.present.note = Some(note.clone()),
                None => self.present.category = None,
            }
        }
    }

    /// Reverts an act that was made at [`NOW`], and returns the types of the changes.
    fn revert(&mut self, act: &[Change]) -> Result<Vec<ChangeType>, Refusal> {
        let reversals = Reversal::from_act(act, second(NOW), second(DEFAULT_END))?;
        let mut kinds = Vec::new();
        for reversal in reversals {
            let decision = decide(&Command::Revert(reversal), &self.present, second(self.now))?;
            self.apply(&decision.changes);
            kinds.extend(decision.changes.iter().map(|change| change.kind));
        }
        Ok(kinds)
    }
}

fn fields() -> FieldSet {
    let fields = ["colour", "chip"].map(|name| FieldDefinition {
        name: FieldName::new(name).unwrap(),
        label: Label::new(name.to_owned()).unwrap(),
        kind: FieldKind::Text,
        choices: None,
        is_public: false,
        is_unique: name == "chip",
        position: 0,
        version: 1,
    });
    FieldSet::new(1, fields.into(), Vec::new())
}

fn pet_id() -> PetId {
    PetId::new(7).unwrap()
}

/// The order that is there at first.
fn order_id() -> OrderId {
    OrderId::new(5).unwrap()
}

fn given(name: &str, value: &str) -> FieldPatch {
    let given = RequestedValue::Set(FieldValue::Text(value.to_owned()));
    FieldPatch::from([(name.to_owned(), given)])
}

fn patch(patch: PetPatch) -> Command {
    Command::PatchPet {
        id: pet_id(),
        patch,
        preconditions: Preconditions::PRESENT,
    }
}

fn withdraw() -> Command {
    Command::WithdrawPet {
        id: pet_id(),
        reason: WithdrawalReason::Died,
        note: Note::new("At night".to_owned()),
        preconditions: Preconditions::PRESENT,
    }
}

fn restore() -> Command {
    Command::RestorePet {
        id: pet_id(),
        preconditions: Preconditions::PRESENT,
    }
}

fn place(terms: OrderTerms) -> Command {
    Command::PlaceOrder(NewOrder::new(pet_id(), terms))
}

fn complete(price: Patch<Decimal>) -> Command {
    Command::CompleteOrder {
        id: order_id(),
        price,
        preconditions: Preconditions::default(),
    }
}

fn cancel() -> Command {
    Command::CancelOrder {
        id: order_id(),
        reason: Reason::new("Too far".to_owned()),
        preconditions: Preconditions::default(),
    }
}

fn take_back() -> Command {
    Command::ReturnOrder {
        id: order_id(),
        reason: None,
        preconditions: Preconditions::default(),
    }
}

fn reopen() -> Command {
    Command::ReopenOrder {
        id: order_id(),
        expires_at: None,
        default_end: second(DEFAULT_END),
        preconditions: Preconditions::default(),
    }
}

fn patch_order(patch: OrderPatch) -> Command {
    Command::PatchOrder {
        id: order_id(),
        patch,
        preconditions: Preconditions::PRESENT,
    }
}

/// The animal without what each change of it changes.
fn timeless(pet: &StorePet) -> StorePet {
    let mut pet = StorePet {
        version: 0,
        updated_at: None,
        ..pet.clone()
    };
    if let Some(withdrawal) = &mut pet.withdrawal {
        withdrawal.at = second(0);
    }
    pet
}

/// The order without what each change of it changes.
fn without_times(order: &Order) -> Order {
    Order {
        version: 0,
        closed_at: None,
        ..order.clone()
    }
}

#[test]
fn the_switch_of_the_website_is_reverted() {
    let mut shop = Shop::new(Available);
    let unlisted = PetPatch {
        is_listed: Some(false),
        ..PetPatch::default()
    };
    let act = shop.act(&[patch(unlisted)]);
    assert!(!shop.pet().is_listed);
    assert_eq!(shop.revert(&act).unwrap(), [ChangeType::PetChanged]);
    assert!(shop.pet().is_listed);
}

#[test]
fn each_act_about_an_animal_and_its_order_is_reverted_once_and_not_again() {
    let price = |text: &str| Patch::Set(Decimal::new(text).unwrap());
    let note = OrderPatch {
        note: Patch::Set(Note::new("Call first".to_owned()).unwrap()),
        price: price("70"),
        expires_at: Some(second(NOW + 90)),
        ..OrderPatch::default()
    };
    let freed = PetPatch {
        status: Some(PetStatus::Available),
        ..PetPatch::default()
    };
    let edited = PetPatch {
        name: PetName::new("Max".to_owned()),
        category_id: Some(2),
        fields: given("colour", "red"),
        ..PetPatch::default()
    };
    let until = OrderTerms::ReservedUntil(second(NOW + 60));
    let acts: Vec<(Animal, Vec<Command>)> = vec![
        (Available, vec![place(until)]),
        (Available, vec![place(OrderTerms::Completed)]),
        (PendingWithoutOrder, vec![place(OrderTerms::Completed)]),
        (
            PendingWithoutOrder,
            vec![patch(freed.clone()), place(until)],
        ),
        (SoldWithoutOrder, vec![patch(freed)]),
        (Reserved, vec![complete(price("80"))]),
        (
            Reserved,
            vec![patch_order(note.clone()), complete(Patch::Keep)],
        ),
        (Reserved, vec![cancel()]),
        (Reserved, vec![patch_order(note)]),
        (Reserved, vec![cancel(), withdraw()]),
        (SoldByOrder, vec![take_back()]),
        (SoldByOrder, vec![reopen()]),
        (SoldByOrder, vec![withdraw()]),
        (Available, vec![withdraw()]),
        (Available, vec![patch(edited)]),
        (Withdrawn, vec![restore()]),
    ];
    for (animal, commands) in acts {
        let mut shop = Shop::new(animal);
        let before = shop.clone();
        let act = shop.act(&commands);
        shop.revert(&act).unwrap();

        assert_eq!(timeless(shop.pet()), timeless(before.pet()), "{commands:?}");
        if let Some(order) = &before.present.order {
            assert_eq!(
                without_times(shop.order()),
                without_times(order),
                "{commands:?}"
            );
        }
        let again = shop.revert(&act);
        assert!(
            matches!(again, Err(Refusal::MovedOn(Some(_)))),
            "{commands:?}: {again:?}"
        );
    }
}

#[test]
fn what_was_sold_at_once_is_reserved_for_a_moment_and_cancelled() {
    let mut shop = Shop::new(Available);
    let act = shop.act(&[place(OrderTerms::Completed)]);
    assert_eq!(
        shop.revert(&act).unwrap(),
        [
            ChangeType::OrderReopened,
            ChangeType::PetChanged,
            ChangeType::OrderCancelled,
            ChangeType::PetChanged
        ]
    );
    assert_eq!(shop.order().status, OrderStatus::Cancelled);
    assert_eq!(shop.pet().status, PetStatus::Available);
}

#[test]
fn a_reservation_comes_back_with_its_end_and_customer_or_until_the_default_end() {
    for (now, expected_end) in [(NOW + 59, NOW + 60), (NOW + 60, DEFAULT_END)] {
        let mut shop = Shop::new(Reserved);
        let act = shop.act(&[cancel()]);
        shop.now = now;
        shop.revert(&act).unwrap();
        assert_eq!(shop.order().status, OrderStatus::Reserved);
        assert_eq!(shop.order().expires_at, Some(second(expected_end)));
        assert_eq!(shop.order().contact, Contact::new("Anna".to_owned()));
        assert_eq!(shop.order().reason, None);
    }
}

#[test]
fn orders_that_were_closed_before_an_act_are_closed_after_its_revert() {
    use OrderStatus::{Cancelled, Completed, Expired, Returned};
    for (before, expected) in [
        (Cancelled, Cancelled),
        (Expired, Cancelled),
        (Returned, Returned),
        (Completed, Completed),
    ] {
        let holds = before == Completed;
        let mut shop = Shop::new(if holds { SoldByOrder } else { Available });
        let closed = Order {
            reason: Reason::new("Too far".to_owned()),
            ..order(before, holds)
        };
        shop.present.order = Some(closed.clone());
        shop.present.holding_order = holds.then_some(closed);
        let act = shop.act(&[reopen()]);
        shop.revert(&act).unwrap();
        assert_eq!(shop.order().status, expected);
        let reason = (before != Completed).then(|| Reason::new("Too far".to_owned()).unwrap());
        assert_eq!(shop.order().reason, reason, "{before}");
        let status = if holds {
            PetStatus::Sold
        } else {
            PetStatus::Available
        };
        assert_eq!(shop.pet().status, status);
    }
}

#[test]
fn an_act_is_not_reverted_after_something_that_it_changed_has_changed_again() {
    let renamed = PetPatch {
        name: PetName::new("Max".to_owned()),
        ..PetPatch::default()
    };
    let repriced = OrderPatch {
        price: Patch::Set(Decimal::new("70").unwrap()),
        ..OrderPatch::default()
    };
    // The present state is shown: of what has changed.
    let mut shop = Shop::new(Reserved);
    let act = shop.act(&[complete(Patch::Keep)]);
    let sold = shop.clone();
    shop.act(&[patch(renamed.clone())]);
    let pet = Resource::Pet(shop.pet().clone());
    assert_eq!(
        shop.revert(&act),
        Err(Refusal::MovedOn(Some(Box::new(pet))))
    );

    let mut shop = sold;
    shop.act(&[patch_order(repriced.clone())]);
    let order = Resource::Order(shop.order().clone());
    assert_eq!(
        shop.revert(&act),
        Err(Refusal::MovedOn(Some(Box::new(order))))
    );

    // A change of the order alone does not depend on its animal.
    let mut shop = Shop::new(Reserved);
    let act = shop.act(&[patch_order(repriced)]);
    shop.act(&[patch(renamed)]);
    assert_eq!(shop.revert(&act).unwrap(), [ChangeType::OrderChanged]);
    assert_eq!(shop.order().price, None);
}

#[test]
fn what_the_journal_does_not_know_is_not_reverted() {
    let not_revertible = |result| matches!(result, Err(Refusal::NotRevertible(_)));
    let contact = OrderPatch {
        contact: Patch::Set(Contact::new("Bo".to_owned()).unwrap()),
        ..OrderPatch::default()
    };
    let mut shop = Shop::new(Reserved);
    let act = shop.act(&[patch_order(contact)]);
    assert!(not_revertible(shop.revert(&act)));

    // A reservation that was extended, and would have ended meanwhile.
    let mut shop = Shop::new(Reserved);
    let extended = OrderPatch {
        expires_at: Some(second(NOW + 90)),
        price: Patch::Set(Decimal::new("70").unwrap()),
        ..OrderPatch::default()
    };
    let act = shop.act(&[patch_order(extended)]);
    shop.now = NOW + 60;
    assert!(not_revertible(shop.revert(&act)));
    shop.now = NOW + 59;
    shop.revert(&act).unwrap();
    assert_eq!(shop.order().expires_at, Some(second(NOW + 60)));

    let mut shop = Shop::new(Available);
    let added = Change {
        kind: ChangeType::PetAdded,
        before: None,
        after: Some(Resource::Pet(shop.pet().clone())),
    };
    assert!(not_revertible(shop.revert(&[added])));

    // Two orders of one animal.
    let until = OrderTerms::ReservedUntil(second(NOW + 60));
    let act = shop.act(&[place(until)]);
    let mut other = act.clone();
    if let Some(Resource::Order(order)) = &mut other[0].after {
        order.id = order_id();
    }
    assert!(not_revertible(shop.revert(&[act, other].concat())));
}

#[test]
fn a_value_from_before_must_be_valid_and_free_now() {
    let mut shop = Shop::new(Available);
    shop.act(&[patch(PetPatch {
        fields: given("chip", "1"),
        ..PetPatch::default()
    })]);
    let act = shop.act(&[patch(PetPatch {
        fields: given("chip", "2"),
        ..PetPatch::default()
    })]);
    let key = shop
        .present
        .fields
        .unique_key("chip", &FieldValue::Text("1".to_owned()))
        .unwrap();

    let mut taken = shop.clone();
    taken.present.owners.insert(UniqueValueOwner {
        key,
        pet: PetId::new(8).unwrap(),
    });
    assert!(matches!(
        taken.revert(&act),
        Err(Refusal::DuplicateValue { .. })
    ));

    let mut without_field = shop.clone();
    without_field.present.fields = Arc::new(FieldSet::new(2, Vec::new(), Vec::new()));
    assert!(matches!(
        without_field.revert(&act),
        Err(Refusal::NotRevertible(_))
    ));

    shop.revert(&act).unwrap();
    assert_eq!(shop.pet().fields.as_json(), r#"{"chip":"1"}"#);
}

fn new_photo(id: u128) -> NewPhoto {
    NewPhoto {
        id: PhotoId(id),
        alt: None,
        width: 8,
        height: 6,
        focus: Focus::new([0, 0]),
    }
}

fn patch_photo(id: u128, patch: PhotoPatch) -> Command {
    Command::PatchPhoto {
        id: pet_id(),
        photo: PhotoId(id),
        patch,
        preconditions: Preconditions::PRESENT,
    }
}

fn delete_photo(id: u128) -> Command {
    Command::DeletePhoto {
        id: pet_id(),
        photo: PhotoId(id),
        preconditions: Preconditions::PRESENT,
    }
}

/// An animal with the photos 1, 2 and 3.
fn with_photos() -> Shop {
    let mut shop = Shop::new(Available);
    for id in 1..=3 {
        let photo = new_photo(id);
        let id = pet_id();
        shop.act(&[Command::AddPhoto { id, photo }]);
    }
    shop
}

#[test]
fn photos_get_their_order_and_their_texts_back() {
    let alt = AltText::new("On a chair".to_owned()).unwrap();
    let described = PhotoPatch {
        alt: Patch::Set(alt),
        ..PhotoPatch::default()
    };
    let first = PhotoPatch {
        position: Some(0),
        focus: Patch::Clear,
        ..PhotoPatch::default()
    };
    for commands in [
        vec![patch_photo(2, described.clone())],
        vec![patch_photo(3, described), patch_photo(3, first)],
        vec![Command::AddPhoto {
            id: pet_id(),
            photo: new_photo(4),
        }],
    ] {
        let mut shop = with_photos();
        let before = shop.clone();
        let act = shop.act(&commands);
        assert_ne!(shop.pet().photos, before.pet().photos);
        shop.revert(&act).unwrap();
        assert_eq!(shop.pet().photos, before.pet().photos);
        assert!(matches!(shop.revert(&act), Err(Refusal::MovedOn(_))));
    }
}

#[test]
fn a_deleted_or_turned_photo_comes_back_also_after_other_changes_but_once() {
    let turned = Command::ReplacePhoto {
        id: pet_id(),
        photo: PhotoId(2),
        replacement: new_photo(4),
    };
    let described = PhotoPatch {
        alt: Patch::Set(AltText::new("On a chair".to_owned()).unwrap()),
        ..PhotoPatch::default()
    };
    for command in [delete_photo(2), turned] {
        let mut shop = with_photos();
        // What was typed in the same form stays.
        let act = shop.act(&[patch_photo(2, described.clone()), command]);
        shop.act(&[delete_photo(3)]);
        shop.revert(&act).unwrap();
        let photos = shop.pet().photos.all();
        let ids: Vec<u128> = photos.iter().map(|photo| photo.id.0).collect();
        assert_eq!(ids, [1, 2]);
        assert!(photos[1].alt.is_some());
        assert!(matches!(shop.revert(&act), Err(Refusal::MovedOn(Some(_)))));
    }
}

#[test]
fn a_deleted_photo_comes_back_while_its_files_are_there() {
    let mut shop = with_photos();
    let act = shop.act(&[delete_photo(2)]);
    let mut late = shop.clone();
    let within = PHOTO_RESTORE_WINDOW.as_secs();
    late.now = NOW + within;
    assert!(matches!(late.revert(&act), Err(Refusal::NotRevertible(_))));
    late.now = NOW + within - 1;
    late.revert(&act).unwrap();

    let mut reversals = Reversal::from_act(&act, second(NOW), second(DEFAULT_END)).unwrap();
    for lost in reversals[0].lost_photos_mut() {
        lost.has_files = false;
    }
    let revert = Command::Revert(reversals.remove(0));
    let refused = decide(&revert, &shop.present, second(NOW));
    assert!(matches!(refused, Err(Refusal::NotRevertible(_))));
    shop.revert(&act).unwrap();
}

#[test]
fn a_category_gets_its_label_back_unless_somebody_else_gave_it_another_one() {
    let put = |label: &str, preconditions| Command::PutCategory {
        id: 1,
        label: Label::new(label.to_owned()).unwrap(),
        preconditions,
    };
    let delete = || Command::DeleteCategory {
        id: 1,
        preconditions: Preconditions::PRESENT,
    };
    let label = |shop: &Shop| {
        let category: Option<&Category> = shop.present.category.as_ref();
        category.map(|category| category.label.as_str().to_owned())
    };
    let mut shop = Shop::new(Available);
    let added = shop.act(&[put("Dogs", Preconditions::ABSENT)]);
    let renamed = shop.act(&[put("Cats", Preconditions::PRESENT)]);
    assert!(matches!(
        shop.revert(&added),
        Err(Refusal::MovedOn(Some(_)))
    ));
    shop.revert(&renamed).unwrap();
    assert_eq!(label(&shop).as_deref(), Some("Dogs"));
    let deleted = shop.act(&[delete()]);
    assert!(matches!(shop.revert(&renamed), Err(Refusal::MovedOn(None))));
    shop.revert(&deleted).unwrap();
    assert_eq!(label(&shop).as_deref(), Some("Dogs"));
    assert!(matches!(
        shop.revert(&deleted),
        Err(Refusal::MovedOn(Some(_)))
    ));
    shop.revert(&added).unwrap();
    assert_eq!(label(&shop), None);
}
