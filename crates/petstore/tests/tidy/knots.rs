//! Inside each crate, files and folders import each other in one direction only.
//!
//! A path is followed through the `pub use` of each module to the file that has what it names, so a
//! folder can give out what its files have without being imported by them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use super::files;

/// The path of a module: no parts for the crate, `http`, `contract` and `list` for its file.
type Module = Vec<String>;

/// What a module imports, and what it gives out under a name.
#[derive(Default)]
struct Names {
    imports: Vec<Vec<String>>,
    exports: BTreeMap<String, Vec<String>>,
}

fn parts(path: &str) -> Vec<String> {
    path.split("::")
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The paths of a tree such as `a::{b, c::{d as e}}`, each with the name that it gets.
fn expand(before: &[String], tree: &str, found: &mut Vec<(Vec<String>, String)>) {
    let tree = tree.trim();
    if tree.is_empty() {
        return;
    }
    let Some((prefix, list)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path = [before, &parts(path.trim())].concat();
        path.pop_if(|last| last == "self" && !before.is_empty());
        let name = if name.is_empty() {
            path.last().cloned()
        } else {
            Some(name.trim().into())
        };
        found.extend(name.map(|name| (path, name)));
        return;
    };
    let before = [before, &parts(prefix.trim())].concat();
    let (mut depth, mut begun) = (0, 0);
    let list = list.trim_end().trim_end_matches('}');
    // The braces of the inner lists that were removed with the last one.
    let list = format!(
        "{list}{}",
        "}".repeat(list.matches('{').count() - list.matches('}').count())
    );
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&before, &list[begun..at], found);
                begun = at + 1;
            }
            _ => {}
        }
    }
    expand(&before, &list[begun..], found);
}

/// The code of a file, without comments, tests, the text of literals, and restrictions of visibility.
fn code_of(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]\n").next().unwrap();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let code = ["\\\\", "\\\"", "'\"'"]
        .into_iter()
        .fold(code, |code, quoted| code.replace(quoted, ""));
    let code: String = code.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
    let mut pieces = code.split("pub(in ");
    let first = pieces.next().unwrap().to_owned();
    pieces.fold(first, |code, piece| {
        code + "pub " + piece.split_once(')').unwrap().1
    })
}

fn names_of(text: &str) -> Names {
    let mut names = Names::default();
    let mut rest = String::new();
    for statement in code_of(text).split_inclusive(';') {
        let begin = statement.rfind("use ").filter(|&at| {
            let line = statement[..at].rsplit('\n').next().unwrap().trim();
            let is_word = !line.ends_with(char::is_alphanumeric) || line.ends_with("pub");
            is_word && (line.is_empty() || line.starts_with("pub"))
        });
        let Some(begin) = begin else {
            rest.push_str(statement);
            continue;
        };
        rest.push_str(&statement[..begin]);
        let mut found = Vec::new();
        expand(
            &[],
            statement[begin + 4..].trim_end_matches(';'),
            &mut found,
        );
        let is_export = statement[..begin]
            .rsplit('\n')
            .next()
            .unwrap()
            .trim()
            .starts_with("pub");
        for (path, name) in found {
            if is_export {
                names.exports.insert(name, path);
            } else {
                names.imports.push(path);
            }
        }
    }
    let is_of_path = |c: char| c.is_alphanumeric() || "_:".contains(c);
    let paths = rest
        .split(|c| !is_of_path(c))
        .filter(|path| path.trim_matches(':').contains("::"));
    names.imports.extend(paths.map(parts));
    names
}

struct Modules(BTreeMap<Module, Names>);

impl Modules {
    fn of(sources: impl IntoIterator<Item = (String, String)>) -> Self {
        let module = |path: &str| -> Module {
            let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
            path.split('/')
                .filter(|part| *part != "lib")
                .map(str::to_owned)
                .collect()
        };
        Self(
            sources
                .into_iter()
                .map(|(path, text)| (module(&path), names_of(&text)))
                .collect(),
        )
    }

    /// The module that has what `path` names in `from`; `None` if it is in another crate.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let first = path.first().filter(|_| depth < 12)?;
        let inner = [&from[..], std::slice::from_ref(first)].concat();
        let (mut module, mut rest) = match first.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => (from.clone(), path),
            _ if self.0.contains_key(&inner) => (from.clone(), path),
            _ => return None,
        };
        while rest.first().is_some_and(|part| part == "super") {
            module.pop()?;
            rest = &rest[1..];
        }
        while let Some((next, after)) = rest.split_first() {
            let inner = [&module[..], std::slice::from_ref(next)].concat();
            if self.0.contains_key(&inner) {
                (module, rest) = (inner, after);
            } else if let Some(export) = self.0.get(&module)?.exports.get(next) {
                let path = [&export[..], after].concat();
                return self.resolve(&module, &path, depth + 1).or(Some(module));
            } else {
                break;
            }
        }
        Some(module)
    }

    /// Each pair of modules of which the first imports the second.
    fn imports(&self) -> BTreeSet<(Module, Module)> {
        let mut imports = BTreeSet::new();
        for (from, names) in &self.0 {
            let to = names
                .imports
                .iter()
                .filter_map(|path| self.resolve(from, path, 0));
            imports.extend(to.filter(|to| to != from).map(|to| (from.clone(), to)));
        }
        imports
    }
}

/// The imports that are in a circle, of files and of the files and folders of each folder.
fn knots(modules: &Modules) -> Vec<String> {
    let imports = modules.imports();
    let mut knots: Vec<String> = circle(&imports).iter().map(|(a, b)| named(a, b)).collect();
    let folders: BTreeSet<&[String]> = modules
        .0
        .keys()
        .flat_map(|module| (1..module.len()).map(|length| &module[..length]))
        .collect();
    for folder in folders {
        let child = |module: &Module| -> Option<Module> {
            let rest = module.strip_prefix(folder)?;
            Some([folder, &rest[..rest.len().min(1)]].concat())
        };
        let between = imports
            .iter()
            .filter_map(|(from, to)| Some((child(from)?, child(to)?)));
        let between: BTreeSet<_> = between.filter(|(from, to)| from != to).collect();
        knots.extend(circle(&between).iter().map(|(a, b)| named(a, b)));
    }
    knots
}

fn named(from: &Module, to: &Module) -> String {
    format!("{} imports {}", from.join("/"), to.join("/"))
}

/// The imports whose target leads back to where they are.
fn circle(imports: &BTreeSet<(Module, Module)>) -> BTreeSet<(Module, Module)> {
    let mut imported: BTreeMap<&Module, Vec<&Module>> = BTreeMap::new();
    for (from, to) in imports {
        imported.entry(from).or_default().push(to);
    }
    let leads_back = |from: &Module, to: &Module| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![to]);
        while let Some(module) = next.pop() {
            if reached.insert(module) {
                next.extend(imported.get(module).into_iter().flatten());
            }
        }
        reached.contains(from)
    };
    imports
        .iter()
        .filter(|(from, to)| leads_back(from, to))
        .cloned()
        .collect()
}

#[test]
fn no_two_files_or_folders_of_a_crate_import_each_other() {
    let mut imports = 0;
    for entry in fs::read_dir(petstore_testing::root().join("crates")).unwrap() {
        let root = entry.unwrap().path().join("src");
        let in_crate = |(path, text): (PathBuf, String)| {
            let path = path.strip_prefix(&root).unwrap().to_str().unwrap();
            (path != "main.rs").then(|| (path.to_owned(), text))
        };
        let modules = Modules::of(files(&[&root], ".rs").into_iter().filter_map(in_crate));
        imports += modules.imports().len();
        let knots = knots(&modules);
        assert!(
            knots.is_empty(),
            "{}: these imports are in a circle:\n{}",
            root.display(),
            knots.join("\n")
        );
    }
    assert!(imports > 300, "only {imports} imports");
}

#[test]
fn a_knot_is_found_through_what_a_folder_gives_out_and_not_where_it_only_gives_out() {
    let knots_of = |files: &[(&str, &str)]| {
        let sources = files
            .iter()
            .map(|&(path, text)| (path.to_owned(), text.to_owned()));
        knots(&Modules::of(sources))
    };
    let gives_out = (
        "a/mod.rs",
        "mod b;\nmod c;\npub use self::{b::B, c::{self, C as D}};\n",
    );
    let b = ("a/b.rs", "use crate::a::D;\npub struct B;\n");
    let c = ("a/c.rs", "pub struct C;\n");
    assert_eq!(knots_of(&[gives_out, b, c]), [""; 0]);
    let knotted = (
        "a/c.rs",
        "pub(in super::super) struct C;\nfn f() { super::B }\n",
    );
    assert_eq!(knots_of(&[gives_out, b, knotted]).len(), 4);
    // What the folder has itself.
    let has = ("a/mod.rs", "mod b;\nuse self::b::B;\npub struct D;\n");
    assert_eq!(knots_of(&[has, b])[0], "a imports a/b");
    // Two folders of a folder, without a circle of files.
    let folders = [
        ("a/mod.rs", ""),
        ("a/x/mod.rs", ""),
        ("a/y/mod.rs", ""),
        ("a/x/one.rs", "use crate::a::y::two::T;\n"),
        ("a/x/three.rs", ""),
        ("a/y/two.rs", ""),
        ("a/y/four.rs", "use super::super::x::{three, three::T};\n"),
    ];
    assert_eq!(knots_of(&folders), ["a/x imports a/y", "a/y imports a/x"]);
}
