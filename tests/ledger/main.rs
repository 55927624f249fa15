//! The ledger in SQLite and the blobs in a directory: what their ports promise, and what becomes of it when processes are
//! killed, disks are full and files are damaged.
#![cfg(unix)]

mod child;
mod conformance;
mod crash;
mod faults;
mod folder;
mod speed;
mod syncs;
mod work;
