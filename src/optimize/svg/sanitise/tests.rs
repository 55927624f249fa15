use crate::{
    control::{Run, Unattended},
    limits::Limits,
    optimize::svg::{data, write::write},
};

/// Documents that act, load or lead elsewhere in some viewer: after OWASP's and DOMPurify's collections. Each says `EVIL`
/// where the harm is, and `kept` where nothing is wrong.
const ATTACKS: [&str; 88] = [
    "<script>EVIL</script>",
    "<script href=\"EVIL\"/>",
    "<script xlink:href=\"data:text/javascript,EVIL\"/>",
    "<SCRIPT>EVIL</SCRIPT>",
    "<g onload=\"EVIL\"/>",
    "<g ONCLICK=\"EVIL\"/>",
    "<g onbegin=\"EVIL\" onfocusin=\"EVIL\" tabindex=\"0\"/>",
    "<animate onbegin=\"EVIL\" attributeName=\"x\" dur=\"1s\"/>",
    "<a href=\"javascript:EVIL\"><text>kept</text></a>",
    "<a xlink:href=\"javascript:EVIL\"><text>kept</text></a>",
    "<a href=\"java&#9;script:EVIL\"/>",
    "<a href=\"&#xAD;javascript:EVIL\"/>",
    "<a href=\"JaVaScRiPt&#58;EVIL\"/>",
    "<a href=\"vbscript:EVIL\"/>",
    "<a href=\"data:text/html,EVIL\"/>",
    "<a href=\"data:image/svg+xml,EVIL\"/>",
    "<a href=\"blob:EVIL\"/>",
    "<a><animate attributeName=\"href\" values=\"javascript:EVIL\"/></a>",
    "<a><animate attributeName=\"xlink:href\" to=\"javascript:EVIL\"/></a>",
    "<a><set attributeName=\"href\" to=\"javascript:EVIL\"/></a>",
    "<a><set attributeName=\" HREF \" to=\"https://EVIL\"/></a>",
    "<g><set attributeName=\"onmouseover\" to=\"EVIL\"/></g>",
    "<g><animate attributeName=\"fill\" values=\"url(https://EVIL)\"/></g>",
    "<g><set attributeName=\"style\" to=\"fill:url(//EVIL)\"/></g>",
    "<image href=\"https://EVIL/a.png\"/>",
    "<image href=\"//EVIL/a.png\"/>",
    "<image href=\"file:///EVIL\"/>",
    "<image href=\"EVIL.png\"/>",
    "<image xlink:href=\"data:text/html;base64,EVIL\"/>",
    "<feImage href=\"https://EVIL/a.png\"/>",
    "<use href=\"https://EVIL/a.svg#b\"/>",
    "<use href=\"EVIL.svg#b\"/>",
    "<use href=\"data:image/svg+xml;base64,EVIL#b\"/>",
    "<use xlink:href=\"data:application/xml,EVIL\"/>",
    "<linearGradient id=\"g\" href=\"https://EVIL#a\"/><rect fill=\"url(#g)\" class=\"kept\"/>",
    "<rect fill=\"url(https://EVIL#a)\"/>",
    "<rect fill=\"url('//EVIL#a')\" stroke='url(\"EVIL.svg#a\")'/>",
    "<rect style=\"fill:url(https://EVIL)\"/>",
    "<rect style=\"fill:u\\72l(https://EVIL)\"/>",
    "<rect style=\"background:url(javascript:EVIL)\"/>",
    "<rect style=\"width:expression(EVIL)\"/>",
    "<rect style=\"behavior:url(#EVIL)\"/>",
    "<rect style=\"-moz-binding:url(#EVIL)\"/>",
    "<rect style=\"mask:image-set('https://EVIL' 1x)\"/>",
    "<rect clip-path=\"url(https://EVIL#a)\" mask=\"url(EVIL.svg#b)\" filter=\"url(//EVIL#c)\"/>",
    "<rect cursor=\"url(https://EVIL), auto\" marker-end=\"url(https://EVIL#a)\"/>",
    "<style>@import url(https://EVIL);</style>",
    "<style>@import 'https://EVIL';</style>",
    "<style>@font-face{font-family:x;src:url(https://EVIL)}</style>",
    "<style>rect{fill:url(//EVIL)} circle{fill:red}</style>",
    "<style>@media all{rect{fill:url(https://EVIL)}}</style>",
    "<style>/*</style><script>EVIL</script>*/</style>",
    "<style>rect{background:\\75\\72\\6c(https://EVIL)}</style>",
    "<style>@\\69mport 'https://EVIL';</style>",
    "<foreignObject><iframe xmlns=\"http://www.w3.org/1999/xhtml\" src=\"EVIL\"/></foreignObject>",
    "<foreignObject><body xmlns=\"http://www.w3.org/1999/xhtml\"><img src=\"EVIL\" onerror=\"EVIL\"/><p>kept</p></body></foreignObject>",
    "<foreignObject><form xmlns=\"http://www.w3.org/1999/xhtml\" action=\"EVIL\"><input/></form></foreignObject>",
    "<foreignObject><object xmlns=\"http://www.w3.org/1999/xhtml\" data=\"EVIL\"/><embed xmlns=\"http://www.w3.org/1999/xhtml\" src=\"EVIL\"/></foreignObject>",
    "<foreignObject><meta xmlns=\"http://www.w3.org/1999/xhtml\" http-equiv=\"refresh\" content=\"0;url=EVIL\"/></foreignObject>",
    "<foreignObject><script xmlns=\"http://www.w3.org/1999/xhtml\">EVIL</script></foreignObject>",
    "<handler xmlns:ev=\"http://www.w3.org/2001/xml-events\" ev:event=\"load\">EVIL</handler>",
    "<audio xmlns=\"http://www.w3.org/1999/xhtml\" src=\"EVIL\"/><video href=\"EVIL\"/><iframe src=\"EVIL\"/>",
    "<x xmlns=\"urn:unknown\" onload=\"EVIL\">EVIL</x><metadata><script>EVIL</script></metadata>",
    "<foreignObject><p xmlns=\"http://www.w3.org/1999/xhtml\" style='color:url(\"#a&#10;);background:url(https://EVIL/)'>kept</p></foreignObject>",
    "<style>@media all{p{color:url(\"#a\n);background:url(https://EVIL/)}}</style>",
    "<style>@import 'https://EVIL'</style>",
    "<style>@font-face{font-family:x;a:url(#b'c);src:local(\"x');q\"),url(https://EVIL/f.woff2)}</style>",
    "<style>@font-face{font-family:x;a:\\75rl(#b'c);src:local(\"x');q\"),url(//EVIL/f.woff2)}</style>",
    "<style>rect{a:url(#b'c);list-style:\"x');q\" url(https://EVIL/l.png)}</style>",
    "<style>rect{fill:red;&amp;:hover{fill:url(https://EVIL)}}</style>",
    "<style>rect{--a:{fill:url(https://EVIL)}}</style>",
    "<style>rect{fill:url(<!-- -->//EVIL/x)}</style>",
    "<foreignObject><ul xmlns=\"http://www.w3.org/1999/xhtml\" style=\"a:url(#b'c);list-style:&quot;x');q&quot; url(https://EVIL/l.png)\"/></foreignObject>",
    "<rect style=\"a:\\75rl(#b'c);mask:'x;q&quot;');url(//EVIL)\"/>",
    "<image href=\"da ta:image/../../EVIL\"/>",
    "<image href=\"&#x200B;data:image/../../EVIL\"/>",
    "<image href=\"&#xA0;data:image/../../EVIL\"/>",
    "<feImage href=\"data\u{AD}:image/png/EVIL\"/>",
    "<use href=\"&#xA0;#EVIL\"/>",
    "<rect style=\"fill:url('da ta:image/../../EVIL#a')\"/>",
    "<rect fill=\"url(&#xA0;#EVIL)\"/>",
    "<rect style=\"fill:url(\\22 data:image/png/../../../EVIL.svg\\22)\"/>",
    "<rect style=\"fill:url(\\22#a\\22/x/EVIL)\"/>",
    "<rect style=\"fill:url(\\&quot;#a\\&quot;/EVIL)\"/>",
    "<rect filter=\"url('#a'/EVIL)\"/>",
    "<style>@font-face{font-family:x;src:url(data:font/woff2;base64,AAAA),url(https://EVIL/f.woff2)}</style>",
    "<style>@font-face{font-family:x;src:url(data:font/woff2;EVIL\\)),url('data:font/woff2;a),url(//EVIL')}</style>",
    "<?xml-stylesheet href=\"https://EVIL\"?><!-- EVIL --><text>kept</text>",
];

fn cleaned(inner: &str) -> String {
    let text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">{}</svg>",
        inner.replace(
            "<style>/*</style><script>EVIL</script>*/</style>",
            "<style>/*&lt;/style>&lt;script>EVIL&lt;/script>*/</style>"
        )
    );
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    write(&super::cleaned(&text, 0, run).unwrap().tree)
}

#[test]
fn nothing_that_acts_or_loads_survives() {
    for attack in ATTACKS {
        let text = cleaned(attack);
        assert!(!text.contains("EVIL"), "{attack}\n{text}");
        assert_eq!(text.contains("kept"), attack.contains("kept"), "{attack}\n{text}");
    }
}

#[test]
fn no_document_that_acts_or_loads_may_stay_as_it_is() {
    let limits = Limits::default();
    let run = Run { limits: &limits, control: &Unattended };
    for attack in ATTACKS.iter().filter(|attack| !attack.contains("</style><script>")) {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">{attack}</svg>"
        );
        // Nothing shows elements of a namespace that nobody knows, and comments; a viewer may follow an instruction.
        assert!(!super::cleaned(&text, 0, run).is_ok_and(|cleaned| cleaned.was_clean), "{attack}");
    }
}

#[test]
fn of_a_font_the_sources_that_are_in_the_document_stay() {
    let sources = "url(https://example.com/a.woff2),url('data:font/woff2;base64,A+/=') format('woff2'),local(x)";
    let text = cleaned(&format!("<style>@font-face{{font-family:x;src:{sources}}}text{{font-family:x}}</style>"));
    assert!(text.contains("@font-face{font-family:x;src:url(data:font/woff2;base64,A+/=)}"), "{text}");
}

#[test]
fn blocks_within_blocks_end_before_the_stack() {
    for head in ["@media all{", "a{"] {
        let text = cleaned(&format!("<style>b{{fill:red}}{}fill:EVIL</style><g class=\"kept\"/>", head.repeat(40_000)));
        assert!(!text.contains("EVIL") && text.contains("b{fill:red}") && text.contains("kept"), "{}", text.len());
    }
}

#[test]
fn what_is_harmless_stays() {
    let harmless = [
        "<a href=\"https://example.com/\"><text>x</text></a>",
        "<a href=\"mailto:a@example.com\"/>",
        "<image href=\"data:image/png;base64,AAAA\"/>",
        "<use href=\"#a\"/>",
        "<rect style=\"fill:url(#a)\" clip-path=\"url(#b)\"/>",
        "<style>@media print{rect{fill:red}}@keyframes x{from{opacity:0}}</style>",
        "<style>@font-face{font-family:x;src:url(data:font/woff2;base64,AAAA)}</style>",
        "<style>@font-face{font-family:x;src:url(data:application/x-font-woff;base64,AAAA)}</style>",
        "<style>@media\nscreen and (min-width:9px){rect{fill:red}}@keyframes\tspin{from{opacity:0}}</style>",
        "<style>@media all{rect{fill:red;&amp;:hover{fill:blue}}}</style>",
        "<style>text{--a:red;font-family:\"a\\\"b\";a:url(#b'c);d:\"{\";e:url( '#f' );}</style>",
        "<image href=\"data: image/png;base64,AAAA\"/>",
        "<rect><animate attributeName=\"fill\" values=\"red;url(#a)\" begin=\"b.click\"/></rect>",
        "<foreignObject><p xmlns=\"http://www.w3.org/1999/xhtml\" style=\"color:red\">x<br/></p></foreignObject>",
        "<title>x</title><desc>y</desc><g role=\"img\" aria-label=\"on: a\" one=\"1\"/>",
    ];
    for inner in harmless {
        let text = cleaned(inner);
        let inside = &text[text.find('>').unwrap() + 1..text.len() - "</svg>".len()];
        assert_eq!(inside.replace(" one=\"1\"", ""), inner.replace(" one=\"1\"", ""));
    }
}

#[test]
fn pictures_that_say_another_type_or_none_get_their_own() {
    let typed = "<image href=\"data:image/gif;base64,R0lGODlhAQA=\"/>";
    for said in ["", "img/gif", "application/octet-stream", "text/html"] {
        let text = cleaned(&format!("<image href=\"data:{said};base64,R0lG ODlh\nAQA=\"/>"));
        assert!(text.contains(typed), "{said}: {text}");
    }
    for refused in ["data:,EVIL", "data:text/html,GIF8EVIL", "https://EVIL/GIF89a", "javascript:'GIF89a'"] {
        let text = cleaned(&format!("<image href=\"{refused}\"/>"));
        assert!(!text.contains("href"), "{refused}: {text}");
    }
}

/// The address of a document with `inner` in it, in Base64 or percent-encoded.
fn shown(inner: &str, packed: bool) -> String {
    let text = format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{inner}</svg>");
    match packed {
        true => data::address("image/svg+xml", text.as_bytes()),
        false => format!("data:image/svg+xml;charset=utf-8,{}", text.replace('"', "'").replace('<', "%3C")),
    }
}

#[test]
fn documents_shown_as_pictures_are_cleaned_however_they_are_written() {
    for packed in [true, false] {
        let attack =
            shown("<script>EVIL</script><g onload=\"EVIL\" class=\"kept\"/><image href=\"https://EVIL\"/>", packed);
        let twice = shown(&format!("<image href=\"{attack}\"/>"), true);
        for (address, deep) in [(attack, 1), (twice, 2)] {
            let html = format!(
                "<foreignObject><img xmlns=\"http://www.w3.org/1999/xhtml\" src=\"{address}\"/></foreignObject>"
            );
            for outer in [format!("<image href=\"{address}\"/>"), html] {
                let mut text = cleaned(&outer);
                for _ in 0..deep {
                    let start = text.find("data:").unwrap();
                    let end = start + text[start..].find('"').unwrap();
                    text = String::from_utf8(data::content(&text[start..end]).unwrap().1).unwrap();
                }
                assert!(!text.contains("EVIL") && text.contains("kept"), "{text}");
            }
        }
        let harmless = shown("<g class=\"kept\"/>", packed);
        assert!(cleaned(&format!("<image href=\"{harmless}\"/>")).contains(&harmless));
    }
}

#[test]
fn documents_shown_as_pictures_that_cannot_be_read_or_lie_too_deep_are_taken_out() {
    let deep =
        (0..3).fold("<g class=\"kept\"/>".to_owned(), |inner, _| format!("<image href=\"{}\"/>", shown(&inner, true)));
    let text = cleaned(&deep);
    let inside = |text: &str| {
        let start = text.find("data:").unwrap();
        String::from_utf8(data::content(&text[start..start + text[start..].find('"').unwrap()]).unwrap().1).unwrap()
    };
    assert!(!inside(&inside(&text)).contains("data:"), "{text}");
    for unread in [
        "data:image/svg+xml,%3Csvg",
        "data:image/svg+xml;base64,H4sI",
        "data:image/svg+xml;base64,%%",
        "data:image/png,<svg></svg >",
    ] {
        let text = cleaned(&format!("<image href=\"{}\"/>", unread.replace('<', "&lt;")));
        assert!(!text.contains("data:"), "{unread}: {text}");
    }
    let value = cleaned(&format!("<rect filter=\"url({}#a)\"/>", shown("<g/>", true)));
    assert!(!value.contains("data:"), "{value}");
}

#[test]
fn selectors_with_escapes_stay_and_at_rules_with_such_go() {
    let text = cleaned("<style>.w-1\\/2{fill:red}.md\\:fill{fill:blue}</style>");
    assert!(text.contains(".w-1\\/2{fill:red}.md\\:fill{fill:blue}"), "{text}");
    for attack in ["@im\\port url(//EVIL){a:b}", "\\@import{x:y}", "a\\{}b{fill:u\\72l(//EVIL)}"] {
        let text = cleaned(&format!("<style>{attack}</style>"));
        assert!(!text.contains("EVIL") && !text.contains("import"), "{attack}: {text}");
    }
}
