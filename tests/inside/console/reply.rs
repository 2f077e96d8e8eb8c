//! Tests of `src/console/reply.rs`.

use super::*;

#[test]
fn a_message_is_a_code_and_a_number_and_nothing_else() {
    let flash = Flash::new("added-many", 12);
    assert_eq!(Flash::parse(&flash.to_string()).as_ref(), Some(&flash));
    let flash = Flash { undo: Some("/animals/1/restore?version=3.4".to_owned()), ..flash };
    assert_eq!(Flash::parse(&flash.to_string()), Some(flash));
    for text in ["", "saved", "saved.", "saved.x", "<b>.1", "a;b.1", "Saved.1"] {
        assert_eq!(Flash::parse(text), None, "{text}");
    }
    assert_eq!(wording::flash("unknown", 1), None);
}
