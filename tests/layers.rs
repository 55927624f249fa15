//! The rooms of the crate and who may use whom, as data, and a reading of `src/` that holds the code to it.
//!
//! The reading is of tokens, not of types: it sees every path that begins with `crate` or climbs with `super`, looks up
//! what `lib.rs` re-exports, and skips whatever is behind `#[cfg(test)]`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// A room, its floor, and whom it may use beside itself.
struct Room(&'static str, May);

enum May {
    /// Everything up to and including this floor.
    Floors(u8),
    /// The ground, and these rooms.
    Ground(&'static [&'static str]),
}

/// Floors from the ground up. The crafts of floor 2 may not use each other; ports, adapters and the service see only what
/// is named.
const FLOORS: &[(u8, &[Room])] = &[
    (
        0,
        &[
            Room("error", May::Floors(0)),
            Room("limits", May::Floors(0)),
            Room("control", May::Floors(0)),
            Room("clock", May::Floors(0)),
            Room("format", May::Floors(0)),
            Room("percent", May::Floors(0)),
        ],
    ),
    (1, &[Room("picture", May::Floors(1))]),
    (2, &[Room("codec", May::Floors(1)), Room("operation", May::Floors(1))]),
    (
        3,
        &[
            Room("request", May::Floors(3)),
            Room("optimize", May::Floors(3)),
            Room("description", May::Floors(3)),
            Room("plan", May::Floors(3)),
            Room("engine", May::Floors(3)),
        ],
    ),
    (4, &[Room("port", May::Ground(&["request"]))]),
    (
        5,
        &[
            Room("adapter", May::Ground(&["request", "port"])),
            Room("testing", May::Ground(&["request", "port"])),
            Room("service", May::Ground(&["request", "description", "engine", "port"])),
        ],
    ),
];

/// Names that say nothing of what is inside.
const NAMELESS: &[&str] = &["utils", "util", "common", "helpers", "helper", "types", "misc"];

/// Lines of a source file with its tests.
const LINES_AT_MOST: usize = 600;

fn room(name: &str) -> Option<(u8, &'static Room)> {
    FLOORS.iter().find_map(|(floor, rooms)| rooms.iter().find(|room| room.0 == name).map(|room| (*floor, room)))
}

/// `None` if `from` may use `to`, else why not.
fn objection(from: &str, to: &str) -> Option<String> {
    let Some((_, Room(_, may))) = room(from) else {
        return Some(format!("the room `{from}` is not in the table of floors"));
    };
    let Some((floor, _)) = room(to) else { return Some(format!("`{to}` is not in the table of floors")) };
    let allowed = from == to
        || match may {
            May::Floors(top) => floor <= *top,
            May::Ground(rooms) => floor == 0 || rooms.contains(&to),
        };
    (!allowed).then(|| format!("`{from}` may not use `{to}`"))
}

/// A source file: its path below `src/` with `/` between the parts, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// `codec/png/read.rs` is the module `codec::png::read`; `lib.rs` and `main.rs` are the root.
    fn module(&self) -> Vec<&str> {
        let mut parts: Vec<&str> = self.path.trim_end_matches(".rs").split('/').collect();
        if parts.last().is_some_and(|last| matches!(*last, "mod" | "lib" | "main")) {
            parts.pop();
        }
        parts
    }
}

/// What is wrong, as `src/<file>:<line>: <why>`.
fn violations(sources: &[Source]) -> Vec<String> {
    let exports = sources.iter().find(|source| source.path == "lib.rs").map(|lib| exports(&lib.text));
    let exports = exports.unwrap_or_default();
    let mut found = Vec::new();
    for source in sources {
        let lines = source.text.lines().count();
        if lines > LINES_AT_MOST {
            found.push(format!("src/{}:{lines}: {lines} lines, {LINES_AT_MOST} at most", source.path));
        }
        let tokens = without_tests(tokens(&source.text));
        let module = source.module();
        for name in module.iter().copied().filter(|name| NAMELESS.contains(name)) {
            found.push(format!("src/{}:1: a module named `{name}` says nothing of what is inside", source.path));
        }
        // The root sees every room, and a file of tests (`mod tests;` behind `#[cfg(test)]`) may use any.
        let Some(from) = module.first().filter(|_| !module.contains(&"tests")) else { continue };
        for (line, path) in paths(&tokens, &module) {
            let to = exports.get(&path).unwrap_or(&path);
            if let Some(why) = objection(from, to) {
                found.push(format!("src/{}:{line}: {why}", source.path));
            }
        }
    }
    found
}

/// Names that `lib.rs` re-exports, with the room they come from.
fn exports(lib: &str) -> BTreeMap<String, String> {
    let tokens = tokens(lib);
    let mut exports = BTreeMap::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.text == "use") {
        let statement: Vec<&str> =
            tokens[at + 1..].iter().map(|token| token.text.as_str()).take_while(|text| *text != ";").collect();
        let start = usize::from(matches!(statement.first(), Some(&("crate" | "self")))) * 2;
        let Some(room) = statement.get(start) else { continue };
        for (index, name) in statement.iter().enumerate().skip(start + 1) {
            if is_name(name) && matches!(statement.get(index + 1), None | Some(&("," | "}"))) {
                exports.insert((*name).to_owned(), (*room).to_owned());
            }
        }
    }
    exports
}

#[derive(Debug, Clone, PartialEq)]
struct Token {
    line: usize,
    text: String,
}

/// Names, `::` and single characters; comments and literals are left out.
fn tokens(text: &str) -> Vec<Token> {
    let (mut tokens, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest, 1),
            '\'' => character(rest),
            _ if is_name(&first.to_string()) => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                match (&rest[..end], &rest[end..]) {
                    ("r" | "br" | "cr", tail) if tail.starts_with(['"', '#']) => raw_string(rest, end),
                    (name, _) => {
                        tokens.push(Token { line, text: name.to_owned() });
                        end
                    }
                }
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
                tokens.push(Token { line, text: rest[..length].to_owned() });
                length
            }
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Length of a block comment; they nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match rest.as_bytes().get(at..at + 2) {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") if depth == 1 => return at + 2,
            Some(b"*/") => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of a string whose body begins at `from`.
fn string(rest: &str, from: usize) -> usize {
    let mut bytes = rest.bytes().enumerate().skip(from);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Length of a raw string whose hashes begin at `from`; of its prefix alone where it is a raw name.
fn raw_string(rest: &str, from: usize) -> usize {
    let hashes = rest[from..].bytes().take_while(|&byte| byte == b'#').count();
    let body = from + hashes;
    if !rest[body..].starts_with('"') {
        return body;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    rest[body + 1..].find(&end).map_or(rest.len(), |at| body + 1 + at + end.len())
}

/// Length of a character literal; 1 for the tick of a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((after, _))) => rest[after + 1..].find('\'').map_or(1, |at| after + 1 + at + 1),
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

/// Leaves out every item that is marked `#[cfg(test)]`.
fn without_tests(tokens: Vec<Token>) -> Vec<Token> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let marked = tokens[at..].iter().map(|token| token.text.as_str()).take(MARK.len()).eq(MARK);
        if marked {
            at = item_end(&tokens, at + MARK.len());
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Where the item that begins at `from` ends: behind its braces, or behind its semicolon.
fn item_end(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// What is used of the crate's root, by line, in a file that is `module`.
fn paths(tokens: &[Token], module: &[&str]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    // Names of the inline modules around a token, and how many braces were open where each began.
    let (mut inline, mut depth) = (Vec::new(), 0usize);
    while at < tokens.len() {
        let texts: Vec<&str> = tokens[at..].iter().take(3).map(|token| token.text.as_str()).collect();
        match texts[..] {
            ["mod", name, "{"] => {
                inline.push((name, depth));
                (at, depth) = (at + 3, depth + 1);
                continue;
            }
            ["{", ..] => depth += 1,
            ["}", ..] => {
                depth = depth.saturating_sub(1);
                inline.pop_if(|(_, opened)| *opened == depth);
            }
            ["crate" | "super", "::", _] => {
                let level = module.len() + inline.len();
                at = tree(tokens, at, level, &mut found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads one path, or a tree of them, in a module `level` steps below the root, and notes what it takes from the root.
/// Gives back where it ends.
fn tree(tokens: &[Token], mut at: usize, mut level: usize, found: &mut Vec<(usize, String)>) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token: &Token| token.text.as_str());
    loop {
        match text(at) {
            "crate" => level = 0,
            "super" => level = level.saturating_sub(1),
            "self" => {}
            "{" => {
                at += 1;
                while !matches!(text(at), "}" | "") {
                    at = tree(tokens, at, level, found);
                    at += usize::from(text(at) == ",");
                }
                return at + 1;
            }
            name => {
                if level == 0 {
                    found.push((tokens[at].line, name.to_owned()));
                }
                return rest_of_path(tokens, at);
            }
        }
        if text(at + 1) != "::" {
            return at + 1;
        }
        at += 2;
    }
}

/// Skips what is below a name: more names, groups, an alias.
fn rest_of_path(tokens: &[Token], mut at: usize) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token: &Token| token.text.as_str());
    loop {
        at += 1;
        match text(at) {
            "::" if text(at + 1) == "{" => return item_end(tokens, at + 1),
            "::" => at += 1,
            "as" => at += 1,
            _ => return at,
        }
    }
}

fn sources(folder: &Path) -> Vec<Source> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    walk(folder, &mut files);
    files.sort();
    let name = |file: &Path| file.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
    files.iter().map(|file| Source { path: name(file), text: fs::read_to_string(file).unwrap() }).collect()
}

#[test]
fn no_room_uses_a_room_above_it_or_one_it_may_not_see() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sources.len() > 20, "only {} files found", sources.len());
    let violations = violations(&sources);
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

fn check(files: &[(&str, &str)]) -> Vec<String> {
    let source = |&(path, text): &(&str, &str)| Source { path: path.to_owned(), text: text.to_owned() };
    violations(&files.iter().map(source).collect::<Vec<_>>())
}

const LIB: (&str, &str) =
    ("lib.rs", "pub use engine::{Engine, Input};\npub use error::{Error, Result, Source as Cause};");

#[test]
fn an_upward_use_is_named_with_file_and_line() {
    let found = check(&[LIB, ("codec/png/read.rs", "//! PNG.\n\nuse crate::request::Request;\n")]);
    assert_eq!(found, ["src/codec/png/read.rs:3: `codec` may not use `request`"]);
}

#[test]
fn crafts_may_not_use_each_other() {
    let found = check(&[("operation/resize.rs", "fn f() { crate::codec::Codecs::default(); }")]);
    assert_eq!(found, ["src/operation/resize.rs:1: `operation` may not use `codec`"]);
}

#[test]
fn a_re_exported_name_counts_as_its_room() {
    let found = check(&[LIB, ("picture/frame.rs", "use crate::{Cause, Error};\nuse crate::Engine;")]);
    assert_eq!(found, ["src/picture/frame.rs:2: `picture` may not use `engine`"]);
}

#[test]
fn groups_and_climbing_paths_are_followed() {
    let text = "use crate::{\n    error::{Error, Result},\n    optimize::{engine, plan as p},\n    picture,\n};\n";
    assert_eq!(check(&[("codec/mod.rs", text)]), ["src/codec/mod.rs:3: `codec` may not use `optimize`"]);
    let text = "use super::{info::Info, super::picture};\nuse super::super::engine;\nuse super::mark;\n";
    assert_eq!(check(&[("codec/png.rs", text)]), ["src/codec/png.rs:2: `codec` may not use `engine`"]);
    let text = "mod ffi {\n    use super::super::super::plan;\n}\nuse super::info;\n";
    assert_eq!(check(&[("codec/jpeg.rs", text)]), ["src/codec/jpeg.rs:2: `codec` may not use `plan`"]);
}

#[test]
fn tests_comments_and_literals_may_name_anything() {
    let text = "//! See crate::engine.\n/* crate::plan /* nested */ crate::plan */\npub(crate) fn f<'a>() { g('\"', \
                \"crate::engine::x\", r#\"crate::plan\"#, '\\'', b'x') }\n#[cfg(test)]\nmod tests {\n    use crate::engine;\n}\n";
    assert!(check(&[("codec/png.rs", text)]).is_empty());
    assert!(check(&[("codec/png/tests.rs", "use crate::engine;")]).is_empty());
    let after = format!("{text}use crate::engine;\n");
    assert_eq!(check(&[("codec/png.rs", &after)]), ["src/codec/png.rs:8: `codec` may not use `engine`"]);
}

#[test]
fn the_service_sees_ports_and_the_engine_but_no_adapter() {
    let text = "use crate::{engine, port, request};\nuse crate::adapter;\nuse crate::codec;\n";
    let found = check(&[("service/worker.rs", text)]);
    assert_eq!(
        found,
        [
            "src/service/worker.rs:2: `service` may not use `adapter`",
            "src/service/worker.rs:3: `service` may not use `codec`"
        ]
    );
}

#[test]
fn an_unlisted_room_a_nameless_module_and_a_long_file_are_refused() {
    let long = "\n".repeat(601);
    let found = check(&[("attic.rs", "use crate::error;"), ("codec/utils.rs", ""), ("picture/long.rs", &long)]);
    assert_eq!(
        found,
        [
            "src/attic.rs:1: the room `attic` is not in the table of floors",
            "src/codec/utils.rs:1: a module named `utils` says nothing of what is inside",
            "src/picture/long.rs:601: 601 lines, 600 at most"
        ]
    );
}
