"""The steps of a derivation, one function each: a `Walk` in, a `Step` out."""
