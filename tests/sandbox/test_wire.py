"""The frames: what an honest side sends arrives, and nothing that a hostile one sends does harm."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sdpa_cli.sandbox.inside import wire
from sdpa_cli.sandbox.inside.wire import Opaque, TooBigError, WireError, decode, encode

SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)
SENT = st.one_of(
    arrays.arrays(st.sampled_from(list(wire.DTYPES.values())), SHAPES),
    st.none(),
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(),
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.binary(max_size=20),
    st.text(st.characters(codec="utf-8"), max_size=20).map(Opaque),
)
VALUES = st.recursive(
    SENT, lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple), max_leaves=8
)


def same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and one.tobytes() == other.tobytes()
            and one.shape == other.shape
        )
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or one != one)  # NaN


@settings(deadline=None, max_examples=200)
@given(VALUES)
def test_a_value_arrives_as_it_was_sent(value):
    assert same(value, decode(encode(value)))


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200))
def test_random_bytes_are_a_value_or_refused(data):
    try:
        value = decode(data)
    except WireError:
        return
    encode(value)


@settings(deadline=None, max_examples=200)
@given(VALUES, st.data())
def test_a_damaged_value_is_a_value_or_refused(value, draw):
    data = bytearray(encode(value))
    data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    try:
        decode(bytes(data))
    except WireError:
        return


@settings(deadline=None, max_examples=100)
@given(VALUES, st.data())
def test_a_truncated_value_is_refused(value, draw):
    data = encode(value)
    with pytest.raises(WireError):
        decode(data[: draw.draw(st.integers(0, len(data) - 1))])


@given(VALUES, st.binary(min_size=1, max_size=9))
@settings(deadline=None, max_examples=50)
def test_bytes_after_the_value_are_refused(value, more):
    with pytest.raises(WireError, match="bytes after the value"):
        decode(encode(value) + more)


class Boasting(np.ndarray):
    """Equal to everything, it says."""

    __hash__ = None

    def __eq__(self, other):
        return True


def array(code: bytes, shape: tuple[int, ...], payload: bytes = b"", ndim: int | None = None) -> bytes:
    return (
        b"A" + code + bytes([len(shape) if ndim is None else ndim]) + struct.pack(f"<{len(shape)}Q", *shape) + payload
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", "fewer bytes", id="nothing"),
        pytest.param(b"Z", "unknown kind of value", id="unknown tag"),
        pytest.param(array(b"O8", (1,), bytes(8)), "unknown kind of array", id="object array"),
        pytest.param(array(b"f8", (1,), bytes(8), ndim=9), "unknown kind of array", id="nine axes"),
        pytest.param(array(b"f8", (2, 3), bytes(40)), "fewer bytes", id="payload too short"),
        pytest.param(array(b"f8", (1 << 32, 1 << 32)), "axis too long", id="a product that wraps to zero"),
        pytest.param(array(b"f8", (1 << 31, 1 << 31)), "fewer bytes", id="2**65 bytes"),
        pytest.param(array(b"f8", (1 << 31, 1 << 31, 1 << 31, 0)), "impossible shape", id="empty and beyond addresses"),
        pytest.param(b"S" + struct.pack("<I", 1 << 31), "too many", id="a text of 2 GiB"),
        pytest.param(b"L\2\0\0\0" + (b"S" + struct.pack("<I", 40000) + b"x" * 40000) * 2, "too many", id="texts"),
        pytest.param(b"T" + struct.pack("<I", 1 << 31), "too many", id="two billion items"),
        pytest.param((b"L" + struct.pack("<I", 1)) * 9 + b"N", "too deep", id="nine lists deep"),
        pytest.param((b"T" + struct.pack("<I", 4000)) * 3, "too many", id="many of many"),
    ],
)
def test_a_lie_about_a_length_is_refused(data, message):
    with pytest.raises(WireError, match=message):
        decode(data)


def test_a_boolean_of_2_is_true():
    assert decode(array(b"b1", (3,), b"\0\1\2")).view(np.uint8).tolist() == [0, 1, 1]


def test_arrays_come_read_only():
    assert not decode(encode(np.zeros(3))).flags.writeable


@pytest.mark.parametrize(
    ("value", "description"),
    [
        pytest.param(np.array([object()]), "ndarray(dtype=object, shape=(1,))", id="objects"),
        pytest.param(np.zeros(2, complex), "ndarray(dtype=complex128, shape=(2,))", id="complex"),
        pytest.param(np.array(["a"]), "ndarray(dtype=<U1, shape=(1,))", id="text"),
        pytest.param(np.zeros((1,) * 9), f"ndarray(dtype=float64, shape={(1,) * 9})", id="nine axes"),
        pytest.param(1 << 63, "int", id="a big integer"),
        pytest.param({}, "dict", id="a dictionary"),
        pytest.param([0] * 5000, "list(…)", id="a long list"),
    ],
)
def test_what_has_no_place_in_the_format_is_described(value, description):
    assert decode(encode(value)) == Opaque(description)


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        pytest.param(np.array([1, 2], ">i4"), np.array([1, 2], "i4"), id="the other byte order"),
        pytest.param(np.arange(6.0).reshape(2, 3).T, np.arange(6.0).reshape(2, 3).T, id="transposed"),
        pytest.param(np.ma.array([1.0, 2.0], mask=[True, False]), np.array([1.0, 2.0]), id="a masked array"),
        pytest.param(np.array([1.0, 2.0]).view(Boasting), np.array([1.0, 2.0]), id="a subclass"),
        pytest.param(np.float32(2), np.array(2, "f4"), id="a NumPy scalar"),
    ],
)
def test_every_array_arrives_as_a_plain_one(value, sent):
    got = decode(encode(value))
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape, got.tolist()) == (sent.dtype, sent.shape, sent.tolist())


def test_text_is_cut_to_what_a_value_may_hold():
    first, second, third = decode(encode(["x" * 60000, "y" * 60000, "z"]))
    assert (len(first), len(second), third) == (60000, (1 << 16) - 60000, "")


def test_a_nominally_huge_array_is_refused_before_it_is_made():
    with pytest.raises(TooBigError):
        encode(np.broadcast_to(np.zeros(1), (1 << 40,)))
