//! Tests of `src/store/sqlite/sql.rs`.

use super::*;

#[test]
fn each_parameter_gets_the_value_of_its_number_in_whatever_order_they_appear() {
    let connection = Connection::open_in_memory().unwrap();
    let text = |sql, values: Parameters<'_>| rows(&connection, sql, values)?[0].value::<String>(0);
    let concatenated = "SELECT $2 || $1 || $2 || $3";
    assert_eq!(text(concatenated, &[&"a", &"b", &"c"]).unwrap(), "babc");
    assert_eq!(text(concatenated, &[&"c", &"a", &"b"]).unwrap(), "acab");
    for (sql, values) in [
        ("SELECT $1 || $3", &[&"a" as &dyn Parameter, &"b"][..]),
        ("SELECT $1 || $2", &[&"a"]),
        ("SELECT $1", &[&"a", &"b"]),
        ("SELECT ?1", &[&"a"]),
    ] {
        assert!(text(sql, values).is_err(), "{sql}");
    }
}
