//! The typed request: what a client may ask for, validated whole.
