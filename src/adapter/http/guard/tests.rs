use super::*;

/// The cases of a table: whether they are let in, and their text.
fn cases(table: &str) -> Vec<(bool, &str)> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| (line.starts_with('+'), &line[2..])).collect()
}

fn wrong(table: &str) -> Vec<String> {
    let guard = Guard::default();
    let judged = cases(table).into_iter().map(|(passes, text)| (passes, text, guard.target(text)));
    judged.filter(|(passes, _, found)| *passes != found.is_ok()).map(|case| format!("{case:?}")).collect()
}

#[test]
fn every_case_of_the_table_is_judged_as_it_says() {
    let table = include_str!("cases.txt");
    let (passing, refused): (Vec<_>, Vec<_>) = cases(table).into_iter().partition(|(passes, _)| *passes);
    assert!(passing.len() > 50 && refused.len() > 150, "{} and {}", passing.len(), refused.len());
    assert_eq!(wrong(table), Vec::<String>::new());
}

#[test]
fn control_characters_blanks_and_backslashes_are_refused_wherever_they_are() {
    for c in ['\0', '\t', '\n', '\r', ' ', '\\', '\u{7f}', '\u{85}', '\u{a0}', '\u{2028}', '\u{3000}'] {
        for text in [
            format!("{c}http://example.com/"),
            format!("ht{c}tp://example.com/"),
            format!("http:/{c}/example.com/"),
            format!("http://exam{c}ple.com/"),
            format!("http://example.com/a{c}"),
            format!("http://example.com/?{c}"),
            format!("http://u{c}@example.com/"),
        ] {
            assert!(Guard::default().target(&text).is_err(), "{text:?}");
        }
    }
}

#[test]
fn ports_are_widened_by_the_host_alone() {
    let guard = Guard::default().ports([9000]);
    assert!(guard.target("http://example.com:9000/").is_ok());
    assert!(guard.target("http://example.com:9001/").is_err());
    assert!(guard.target("http://127.0.0.1:9000/").is_err());
}

#[test]
fn an_open_place_is_open_alone() {
    let guard = Guard::default().open("127.0.0.1:9000".parse().unwrap()).open("minio:9000".parse().unwrap());
    for text in ["http://127.0.0.1:9000/a", "http://0x7f.1:9000/", "http://minio:9000/", "https://MinIO:9000/"] {
        assert!(guard.target(text).is_ok(), "{text}");
    }
    for text in
        ["http://127.0.0.1:9001/", "http://127.0.0.1/", "http://127.0.0.2:9000/", "http://minio/", "http://a:9000/"]
    {
        assert!(guard.target(text).is_err(), "{text}");
    }
    let target = guard.target("http://minio:9000/").unwrap();
    assert!(guard.admits(&target, "10.0.0.9".parse().unwrap()));
    assert!(!guard.admits(&target, "169.254.169.254".parse().unwrap()));
}

#[test]
fn places_are_read_from_host_and_port() {
    assert_eq!("[::1]:80".parse::<Place>().unwrap(), Place::Socket("[::1]:80".parse().unwrap()));
    assert_eq!("MinIO:80".parse::<Place>().unwrap(), Place::Name("minio".into(), 80));
    for text in ["", "minio", ":80", "minio:", "minio:x", "minio:99999", "a b:80", "http://minio:80"] {
        assert!(text.parse::<Place>().is_err(), "{text}");
    }
}

#[test]
fn a_private_guard_opens_private_places_at_every_port_but_no_metadata() {
    let guard = Guard::default().allow_private();
    for text in ["http://127.0.0.1:3000/", "http://localhost:1/", "http://10.0.0.1/", "http://[::1]:9/", "http://db:5/"]
    {
        assert!(guard.target(text).is_ok(), "{text}");
    }
    for text in
        ["http://169.254.169.254/", "http://[fd00:ec2::254]/", "http://0.0.0.0/", "http://[ff02::1]/", "http://a:0/"]
    {
        assert!(guard.target(text).is_err(), "{text}");
    }
}

#[test]
fn user_and_password_become_basic_credentials_and_leave_the_address() {
    for (text, decoded) in [
        ("https://user:pass@example.com/", Some("user:pass")),
        ("https://us%40er:p%3Aa%2Fss@example.com/", Some("us@er:p:a/ss")),
        ("https://user@example.com/", Some("user:")),
        ("https://:pass@example.com/", Some(":pass")),
        ("https://me@mail.net:pw@example.com/", Some("me@mail.net:pw")),
        ("https://example.com/", None),
    ] {
        let target = Guard::default().target(text).unwrap();
        assert_eq!(target.url.as_str(), "https://example.com/");
        let value = target.authorization.map(|secret| STANDARD.decode(&secret.expose()["Basic ".len()..]).unwrap());
        assert_eq!(value.as_deref(), decoded.map(str::as_bytes), "{text}");
    }
}

#[test]
fn a_target_prints_neither_user_nor_path_nor_query() {
    let target = Guard::default().target("https://canary:canary@example.com:8443/canary?canary#canary").unwrap();
    assert_eq!(format!("{target:?}"), "https://example.com:8443");
}

#[test]
fn redirects_are_judged_and_never_leave_tls() {
    let guard = Guard::default();
    let from = guard.target("https://u:p@example.com/a/b?c").unwrap();
    let plain = guard.target("http://example.com/a/b").unwrap();
    for (location, to) in [
        ("d", "https://example.com/a/d"),
        ("/d", "https://example.com/d"),
        ("//example.org/d", "https://example.org/d"),
        ("?d", "https://example.com/a/b?d"),
        ("https://example.net", "https://example.net/"),
    ] {
        assert_eq!(guard.redirect(&from, location).unwrap().url.as_str(), to);
    }
    assert!(guard.redirect(&plain, "https://example.com/").is_ok());
    for location in [
        "http://example.com/",
        "http://127.0.0.1/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "//[::1]/",
        "https://localhost/",
        "https://169.254.169.254/",
        "https://example.com:22/",
        "file:///etc/passwd",
        "data:,x",
        "gopher://example.com/",
        "/\\127.0.0.1/",
        "/a b",
        "https://",
    ] {
        assert!(guard.redirect(&from, location).is_err(), "{location}");
    }
}
