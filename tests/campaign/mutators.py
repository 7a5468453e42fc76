"""Mutations of bytes: the damage of an accident to a sound file, or of an adversary who writes a new checksum into a model file."""

from __future__ import annotations

import hashlib
import json
import random
import zlib
from typing import Any

_HUGE = [
    b"1e308",
    b"-1e309",
    b"99999999999999999999",
    b"4294967296",
    b"2147483648",
    b"-1",
    b"nan",
    b"1e-320",
    b"0",
    b"9" * 5000,
]


def mutate(content: bytes, rng: random.Random) -> bytes:
    """The content after one to three random changes; one may undo another."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        content = rng.choice(_CHANGES)(content, rng)
    return content


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _flip(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _insert(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.randbytes(rng.choice([1, 2, 8, 200])) + content[at:]


def _delete(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[at + rng.choice([1, 2, 8, 100]) :]


def _numbers(content: bytes) -> list[tuple[int, int]]:
    found, begin = [], None
    for at, byte in enumerate(content + b" "):
        if 48 <= byte <= 57:
            begin = at if begin is None else begin
        elif begin is not None:
            found.append((begin, at))
            begin = None
    return found


def _swap_numbers(content: bytes, rng: random.Random) -> bytes:
    numbers = _numbers(content)
    if len(numbers) < 2:
        return content
    (a, b), (c, d) = sorted(rng.sample(numbers, 2))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def _huge_number(content: bytes, rng: random.Random) -> bytes:
    numbers = _numbers(content)
    if not numbers:
        return content
    begin, end = rng.choice(numbers)
    return content[:begin] + rng.choice(_HUGE) + content[end:]


def _repeat_line(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines[: rng.choice([1, len(lines)])]))
    return b"\n".join(lines)


def _drop_line(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    del lines[rng.randrange(len(lines))]
    return b"\n".join(lines)


def _odd_text(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    odd = [
        "\0",
        '"',
        ",,,,",
        ";",
        "\t",
        ":",
        "#",
        "\r",
        "\ufeff",
        "٣",
        "\u2028",
        "qid:1",
        " 7:7 ",
        "x" * 200_000,
        "(" * 3000,
        "[" * 3000,
    ]
    return content[:at] + rng.choice(odd).encode() + content[at:]


_CHANGES = [
    _cut,
    _flip,
    _flip,
    _insert,
    _delete,
    _swap_numbers,
    _swap_numbers,
    _huge_number,
    _huge_number,
    _repeat_line,
    _drop_line,
    _odd_text,
]


def mutate_sealed(content: bytes, rng: random.Random) -> bytes:
    """A model file with a change of the header, of the description in it, or of the arrays, and with the checksum of the changed content."""
    length = int.from_bytes(content[:8], "little")
    header, arrays = content[8 : 8 + length], content[8 + length :]
    kind = rng.randrange(4)
    if kind == 0:
        arrays = mutate(arrays, rng)
    elif kind == 1:
        header = mutate(header, rng)
    else:
        parsed = json.loads(header)
        description = json.loads(parsed["__metadata__"]["model"])
        if kind == 2:
            _change_tree(description, rng)
            parsed["__metadata__"]["model"] = json.dumps(description)
        else:
            parsed["__metadata__"]["model"] = mutate(parsed["__metadata__"]["model"].encode(), rng).decode(
                errors="replace"
            )
        header = json.dumps(parsed, separators=(",", ":")).encode()
        header += b" " * (-len(header) % 8)
    return _sealed(len(header).to_bytes(8, "little") + header + arrays)


def mutate_journal(content: bytes, rng: random.Random) -> bytes:
    """The file of a search with a change of one of its lines, whose checksum is that of the changed line."""
    lines = content.splitlines()
    at = rng.randrange(len(lines))
    body = lines[at].rpartition(b', "crc32"')[0] + b"}"
    changed = mutate(body, rng).replace(b"\n", b" ") or b"{}"
    lines[at] = changed[:-1] + b', "crc32": "%08x"}' % zlib.crc32(changed[:-1] + b"}")
    return b"\n".join(lines) + b"\n"


def _sealed(content: bytes) -> bytes:
    """The file with a checksum that fits its content; unchanged where it has no checksum in its header."""
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length]
    begin = header.find(b'"checksum":"')
    if begin < 0:
        return content
    begin += 8 + len(b'"checksum":"')
    blank = content[:begin] + b"0" * 64 + content[begin + 64 :]
    return blank[:begin] + hashlib.sha256(blank).hexdigest().encode() + blank[begin + 64 :]


def _change_tree(tree: Any, rng: random.Random) -> None:
    """Replace, remove or exchange one of the values of nested lists and dicts."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in items:
            places.append((node, key))
            walk(value)

    walk(tree)
    (node, key), (other, name) = rng.choice(places), rng.choice(places)
    odd = [
        None,
        -1,
        0,
        2**31,
        2**40,
        2**63,
        1e308,
        True,
        "",
        "x",
        "<U99999",
        "nan",
        [],
        {},
        [[]],
        ["a"] * 5000,
        {"tuple": 3},
        {"float": "x"},
        {"same": "coef_"},
    ]
    change = rng.randrange(3)
    if change == 0:
        node[key] = rng.choice(odd)
    elif change == 1:
        node[key] = json.loads(json.dumps(other[name]))
    else:
        del node[key]
