//! The syntax of CSS as far as it is needed to split it, <https://www.w3.org/TR/css-syntax-3/>.

/// A property and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declaration {
    /// In lower case, but for custom properties.
    pub name: String,
    pub value: String,
    pub important: bool,
}

/// What stands between braces and in front of them; at-rules as they are, with an empty body where they have none. Rules
/// that say nothing are left out, so that what has no body and is no at-rule is a declaration beside nested rules. Where rules are
/// not `nested` there are no such: what ends like one belongs to the selectors of the rule behind it, which nobody understands then.
pub(crate) fn rules(sheet: &str, nested: bool) -> Vec<(&str, &str)> {
    let (mut found, mut spoilt) = (Vec::new(), false);
    let mut rest = sheet;
    while let Some((at, c)) = outside(rest, &['{', ';', '}']) {
        let head = rest[..at].trim();
        rest = &rest[at + 1..];
        if c == '{' {
            let end = closing(rest);
            let body = rest[..end].trim();
            let said = !std::mem::take(&mut spoilt) && (head.starts_with('@') || !body.is_empty());
            found.extend(Some((head, body)).filter(|_| said));
            rest = rest.get(end + 1..).unwrap_or("");
        } else if !nested && (spoilt || c == '}' || !head.starts_with('@')) {
            spoilt = true;
        } else if !head.is_empty() {
            found.push((head, ""));
        }
    }
    // The end of a sheet ends its last statement.
    found.extend(
        Some((rest.trim(), "")).filter(|(head, _)| !head.is_empty() && (nested || !spoilt && head.starts_with('@'))),
    );
    found
}

/// What stands in front of braces and between them, written again; what has nothing between them is a statement.
pub(crate) fn rule(head: &str, body: &str) -> String {
    if body.is_empty() { format!("{head};") } else { format!("{head}{{{body}}}") }
}

/// Whether a character may stand in an identifier without an escape.
pub(crate) fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() || matches!(c, '-' | '_')
}

/// The declarations of a block or a `style` attribute, in their order.
pub(crate) fn declarations(block: &str) -> Vec<Declaration> {
    split(block, ';').into_iter().filter_map(declaration).collect()
}

fn declaration(text: &str) -> Option<Declaration> {
    let (name, value) = text.split_once(':')?;
    let (name, mut value) = (name.trim(), value.trim());
    let mut important = false;
    if let Some((before, last)) = value.rsplit_once('!')
        && last.trim().eq_ignore_ascii_case("important")
    {
        (value, important) = (before.trim_end(), true);
    }
    let name = if name.starts_with("--") { name.to_owned() } else { name.to_ascii_lowercase() };
    (!name.is_empty() && !value.is_empty()).then(|| Declaration { name, value: value.to_owned(), important })
}

/// Declarations as a `style` attribute has them.
pub(crate) fn written(declarations: &[Declaration]) -> String {
    let one = |declaration: &Declaration| {
        let important = if declaration.important { "!important" } else { "" };
        format!("{}:{}{important}", declaration.name, declaration.value)
    };
    declarations.iter().map(one).collect::<Vec<_>>().join(";")
}

/// The parts between separators that stand outside of strings, brackets and parentheses.
pub(crate) fn split(text: &str, separator: char) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((at, _)) = outside(rest, &[separator]) {
        found.push(rest[..at].trim());
        rest = &rest[at + separator.len_utf8()..];
    }
    found.push(rest.trim());
    found.retain(|part| !part.is_empty());
    found
}

/// The first function of `text`: what stands before it, its name and arguments, and what stands behind it.
pub(crate) fn function(text: &str) -> Option<(&str, &str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + outside(&text[from..], &['('])?.0;
        let (before, inner) = (&text[..open], &text[open + 1..]);
        let name = before.trim_end_matches(in_name).len();
        if name < open {
            let end = match begins_address(before, inner) {
                true => inner.find(')'),
                false => outside(inner, &[')']).map(|(at, _)| at),
            };
            let (arguments, behind) = end.map_or((inner, ""), |end| (&inner[..end], &inner[end + 1..]));
            return Some((&before[..name], &before[name..], arguments, behind));
        }
        from = open + 1;
    }
}

/// The first of `wanted` outside of strings, brackets and parentheses. An address without quotes ends like a string, but
/// with its bracket and with nothing else.
fn outside(text: &str, wanted: &[char]) -> Option<(usize, char)> {
    let (mut quote, mut depth) = (None, 0u32);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (_, '\\') => {
                // Two characters may be one end of a line.
                let returned = chars.next().is_some_and(|(_, c)| c == '\r');
                chars.next_if(|(_, c)| returned && *c == '\n');
            }
            (Some(open), _) if c == open => quote = None,
            (Some('"' | '\''), '\n' | '\r' | '\x0c') => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, _) if depth == 0 && wanted.contains(&c) => return Some((at, c)),
            (None, '(') if begins_address(&text[..at], &text[at + 1..]) => quote = Some(')'),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Whether a bracket between these two begins an address without quotes.
fn begins_address(before: &str, behind: &str) -> bool {
    let named = |c: char| in_name(c) || matches!(c, '#' | '@');
    let split = before.len().checked_sub(3).and_then(|at| before.split_at_checked(at));
    split.is_some_and(|(before, name)| name.eq_ignore_ascii_case("url") && !before.ends_with(named))
        && !behind.trim_ascii_start().starts_with(['"', '\''])
}

/// Where the brace that is already open closes.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    let mut from = 0;
    while let Some((at, c)) = outside(&text[from..], &['{', '}']) {
        depth += if c == '{' { 1 } else { -1 };
        if depth == 0 {
            return from + at;
        }
        from += at + 1;
    }
    text.len()
}

/// The same without comments, which count as a space, and without the brackets of old HTML.
pub(crate) fn stripped(css: &str) -> String {
    let mut text = String::with_capacity(css.len());
    let mut rest = css;
    while let Some(at) = rest.find("/*") {
        text.push_str(&rest[..at]);
        text.push(' ');
        rest = rest[at + 2..].find("*/").map_or("", |end| &rest[at + 2 + end + 2..]);
    }
    text.push_str(rest);
    text.replace("<!--", " ").replace("-->", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_declarations_are_split_outside_of_strings_and_parentheses() {
        let sheet = "@import url(a;b); a>b , .c{fill:url(\"x;}y\") ; Stroke : red!IMPORTANT} @media x{a{b:c}}";
        let rules = rules(sheet, false);
        assert_eq!(rules.iter().map(|rule| rule.0).collect::<Vec<_>>(), ["@import url(a;b)", "a>b , .c", "@media x"]);
        let found = declarations(rules[1].1);
        assert_eq!(written(&found), "fill:url(\"x;}y\");stroke:red!important");
        assert_eq!(rules[2].1, "a{b:c}");
    }

    #[test]
    fn strings_end_with_their_line_unless_that_goes_on() {
        for end in ["\n", "\r", "\r\n", "\x0c"] {
            assert_eq!(declarations(&format!("a:\"b{end};c:d")).len(), 2, "{end:?}");
            assert_eq!(declarations(&format!("a:\"b\\{end};c:d\";e:f")).len(), 2, "{end:?}");
        }
        assert_eq!(rules("a{b:'c\n}d{e:f}", false).len(), 2);
    }

    #[test]
    fn what_ends_between_rules_spoils_the_next_of_them_unless_they_are_nested() {
        for sheet in ["a{b:c};d{e:f}g{h:i}", "a{b:c}}d{e:f}g{h:i}", "a{b:c}j;@k{e:f}g{h:i}"] {
            assert_eq!(rules(sheet, false), [("a", "b:c"), ("g", "h:i")], "{sheet}");
        }
        assert_eq!(rules("a{b:c};d{e:f}", true).len(), 2);
    }

    #[test]
    fn what_the_end_cuts_off_is_a_rule_too() {
        assert_eq!(rules("a{b:c}@import 'd'", false), [("a", "b:c"), ("@import 'd'", "")]);
    }

    #[test]
    fn comments_are_a_space_and_what_is_cut_off_does_not_matter() {
        assert_eq!(stripped("a/*b*/c<!--d-->e/*f"), "a c d e ");
        assert_eq!(declarations("fill;:x;;y:"), []);
        assert_eq!(rules("a{b:c", false), [("a", "b:c")]);
        assert_eq!(rules("a{}@b{}", false), [("@b", "")]);
    }

    #[test]
    fn addresses_without_quotes_end_with_their_bracket() {
        for address in ["url(#b'c)", "URL( #b\"c\n)", "url(b(c)", "url(b\\)'c)"] {
            assert_eq!(declarations(&format!("a:{address};d:e")).len(), 2, "{address}");
        }
        for function in ["url( ';)')", "curl(';)')", "#url(';)')", "url(;"] {
            assert_eq!(declarations(&format!("a:{function}")).len(), 1, "{function}");
            assert_eq!(split(function, ';').len(), 1, "{function}");
        }
    }
}
