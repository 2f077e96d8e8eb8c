//! Which room of `src` imports which, compared with ARCHITECTURE.md.

use std::{collections::BTreeSet, fs, path::Path};

use super::files;

/// The rooms of `src`: its folders and files, and the folders of `http` and `store`. `main.rs` and
/// `lib.rs` only put the rooms together.
fn room(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    match parts[..] {
        ["main" | "lib"] | [] => None,
        [room, inner, _, ..] if ["http", "store"].contains(&room) => {
            Some(format!("{room}/{inner}"))
        }
        [room, ..] => Some(room.to_owned()),
    }
}

/// The paths of modules in a list such as `a, b::{c, d}`, from the crate's root.
fn paths_in(list: &str) -> Vec<String> {
    let (mut prefixes, mut path, mut paths) = (vec![String::new()], String::new(), Vec::new());
    for character in list.chars() {
        match character {
            '{' => prefixes.push(prefixes[prefixes.len() - 1].clone() + &std::mem::take(&mut path)),
            ',' | '}' | ';' => {
                if !path.is_empty() {
                    paths.push(prefixes[prefixes.len() - 1].clone() + &std::mem::take(&mut path));
                }
                if character == '}' {
                    prefixes.pop();
                }
                if prefixes.len() == 1 {
                    return paths;
                }
            }
            character if character.is_alphanumeric() || "_:".contains(character) => {
                path.push(character);
            }
            // The end of a path outside of a list.
            _ if prefixes.len() == 1 => break,
            _ => {}
        }
    }
    paths.extend((!path.is_empty()).then_some(path));
    paths
}

/// Each room with itself and with what it imports outside of its tests, by its `crate::` paths.
fn imports() -> BTreeSet<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut imports = BTreeSet::new();
    for (path, text) in files(&["src"], ".rs") {
        let Some(from) = room(path.strip_prefix(&root).unwrap().to_str().unwrap()) else {
            continue;
        };
        imports.insert((from.clone(), from.clone()));
        let (code, tests) = text.split_once("\n#[cfg(test)]\nmod tests").unwrap_or((&text, ""));
        let code = [code, tests.split_once("\n}\n").unwrap_or_default().1].concat();
        let code: Vec<&str> =
            code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for path in code.join("\n").split("crate::").skip(1).flat_map(paths_in) {
            let is_folder = |room: &str| root.join(room).is_dir();
            let two: Vec<&str> = path.split("::").take(2).collect();
            let inner = two.join("/");
            let is_inner = ["http", "store"].contains(&two[0]) && is_folder(&inner);
            let to = if is_inner { inner } else { two[0].to_owned() };
            imports.extend((from != to).then(|| (from.clone(), to)));
        }
    }
    imports
}

/// The table in ARCHITECTURE.md of what each room may import.
fn allowed_imports() -> BTreeSet<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let table = text.split("| Room | May import | Invariant |").nth(1).unwrap();
    let names = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut allowed = BTreeSet::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').collect();
        let importer = &names(cells[1])[0];
        assert!(cells[3].trim().len() > 10, "{importer} has no invariant");
        let path = root.join("src").join(importer);
        assert!(
            path.is_dir() || path.with_extension("rs").is_file(),
            "there is no room {importer}"
        );
        allowed.extend(names(cells[2]).into_iter().map(|import| (importer.clone(), import)));
        let own = importer.split_once('/').map(|(own, _)| (importer.clone(), own.to_owned()));
        allowed.extend(own);
        allowed.insert((importer.clone(), importer.clone()));
    }
    allowed
}

/// The imports in a circle, found by leaving out all rooms that import nothing, again and again.
fn in_a_circle(mut imports: BTreeSet<(String, String)>) -> BTreeSet<(String, String)> {
    loop {
        let before = imports.len();
        let rooms: BTreeSet<String> = imports.iter().map(|(from, _)| from.clone()).collect();
        imports.retain(|(_, to)| rooms.contains(to));
        if imports.len() == before {
            return imports;
        }
    }
}

#[test]
fn rooms_import_only_what_the_architecture_allows() {
    let (imports, allowed) = (imports(), allowed_imports());
    assert!(imports.len() > 40, "{imports:?}");
    let forbidden: Vec<_> = imports.difference(&allowed).collect();
    assert!(forbidden.is_empty(), "ARCHITECTURE.md does not allow {forbidden:?}");
}

#[test]
fn the_window_makes_its_pages_only_of_what_is_public() {
    for (path, text) in files(&["src/window"], ".rs") {
        assert!(!text.contains("Animal::whole"), "{}", path.display());
    }
}

#[test]
fn there_is_no_cycle_between_rooms() {
    let allowed = allowed_imports();
    let outer = |room: &str| room.split('/').next().unwrap().to_owned();
    let between_rooms = allowed.iter().map(|(from, to)| (outer(from), outer(to)));
    let cycle = in_a_circle(between_rooms.filter(|(from, to)| from != to).collect());
    assert!(cycle.is_empty(), "{cycle:?}");
    // The folders of one room, which all know its shared part.
    let between_folders = allowed
        .into_iter()
        .filter(|(from, to)| from != to && from.contains('/') && to.contains('/'));
    let cycle = in_a_circle(between_folders.collect());
    assert!(cycle.is_empty(), "{cycle:?}");
}
