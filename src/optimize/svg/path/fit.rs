//! One cubic for several curves.
