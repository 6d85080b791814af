"""Variants of files that are no longer, or hardly, what they were."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable

import numpy as np

Random = np.random.Generator

TOKENS = [
    b"1e308", b"-1e999", b"9" * 30, b"9" * 5000, b"-1", b"nan", b"inf", b"NA", b"", b" ", b"0x10", b"1_000",
    b"\xc2\xa0", b"\xe2\x88\x921", b"=1+1", b'"', b'""', b"'", b"{", b"[", b"]", b"}", b"</node>", b"<a>", b"&amp;",
    b"&lol;", b"#", b"\\", b"\0", b"\r", b"\xff\xfe", b"\xef\xbb\xbf", b"true", b"None", b"null", b"1.5",
    b"18446744073709551616", b"2147483648", b"-9223372036854775809", b"C1CC", b"[Xx]", b"C" * 3000, b"train",
    b"\xf0\x9f\x98\x80",
]  # fmt: skip


def flip(text: bytes, r: Random) -> bytes:
    out = bytearray(text)
    for _ in range(int(r.integers(1, 6))):
        if out:
            out[int(r.integers(len(out)))] ^= 1 << int(r.integers(8))
    return bytes(out)


def cut(text: bytes, r: Random) -> bytes:
    return text[: int(r.integers(len(text) + 1))]


def insert(text: bytes, r: Random) -> bytes:
    place = int(r.integers(len(text) + 1))
    noise = r.bytes(int(r.integers(1, 20))) if r.random() < 0.3 else TOKENS[int(r.integers(len(TOKENS)))]
    return text[:place] + noise + text[place + int(r.integers(3)) :]


def replace_field(text: bytes, r: Random) -> bytes:
    """One field between separators becomes something odd."""
    separators = b",;\t| \n"
    ends = [-1, *(k for k, byte in enumerate(text) if byte in separators), len(text)]
    k = int(r.integers(len(ends) - 1))
    return text[: ends[k] + 1] + TOKENS[int(r.integers(len(TOKENS)))] + text[ends[k + 1] :]


def lines(text: bytes, r: Random) -> bytes:
    """Lines dropped, doubled, swapped, emptied, shuffled or repeated."""
    rows = text.split(b"\n")
    k, j = (int(r.integers(len(rows))) for _ in range(2))
    match int(r.integers(6)):
        case 0:
            del rows[k]
        case 1:
            rows.insert(j, rows[k])
        case 2:
            rows[k], rows[j] = rows[j], rows[k]
        case 3:
            rows[k] = b""
        case 4:
            rows = [rows[i] for i in r.permutation(len(rows))]
        case 5:
            rows[k : k + 1] = [rows[k]] * int(r.integers(2, 2000))
    return b"\n".join(rows)


def separators(text: bytes, r: Random) -> bytes:
    old, new = ([b",", b";", b"\t", b"|", b" ", b"\n", b"\r\n", b":"][int(r.integers(8))] for _ in range(2))
    return text.replace(old, new, int(r.integers(1, 50)))


def encoding(text: bytes, r: Random) -> bytes:
    plain = text.decode("utf-8", "replace")
    return plain.encode(("utf-16", "utf-32", "utf-8-sig", "cp037", "utf-16-be")[int(r.integers(5))], "replace")


def nest(text: bytes, r: Random) -> bytes:
    opening, closing = [(b"[ a ", b"]"), (b"<a>", b"</a>"), (b"{'a':", b"}"), (b"(", b")"), (b'"', b'"')][
        int(r.integers(5))
    ]
    depth, place = int(10 ** r.uniform(0, 4.5)), int(r.integers(len(text) + 1))
    return text[:place] + opening * depth + (closing * depth if r.random() < 0.5 else b"") + text[place:]


def grow(text: bytes, r: Random) -> bytes:
    """A part of it again and again, up to some megabytes."""
    a, b = sorted(int(r.integers(len(text) + 1)) for _ in range(2))
    part = text[a:b][:200] or b"0"
    return text[:b] + part * int(10 ** r.uniform(0, 5.5) / len(part) + 1) + text[b:]


def nothing(text: bytes, r: Random) -> bytes:
    return [b"", b"\n", b"\0" * 100, r.bytes(200)][int(r.integers(4))]


HARMS: list[Callable[[bytes, Random], bytes]] = [
    flip, cut, insert, insert, replace_field, replace_field, replace_field, lines, lines, separators, encoding, nest,
    grow, nothing,
]  # fmt: skip


def harmed(files: dict[str, bytes], r: Random) -> tuple[dict[str, bytes], str]:
    """One or two of the files changed, as they lie there or, of packed ones, within; and how."""
    out, how = dict(files), []
    for _ in range(1 if r.random() < 0.7 else 2):
        name = sorted(out)[int(r.integers(len(out)))]
        if r.random() < 0.02:
            how.append(f"{name} gone")
            del out[name]
            if not out:
                out[name] = b""
            continue
        if name.endswith(".gz") and r.random() < 0.01:
            how.append(f"{name} a bomb")
            out[name] = gzip.compress(gzip.decompress(files[name])[:40] + b"1,1\n" * 8_000_000)
            continue
        harm = HARMS[int(r.integers(len(HARMS)))]
        inside = (name.endswith((".gz", ".zip")) and r.random() < 0.8) and out[name] == files[name]
        how.append(f"{name} {'within ' * inside}{harm.__name__}")
        out[name] = within(name, out[name], harm, r) if inside else harm(out[name], r)
    return out, ", ".join(how)


def within(name: str, packed: bytes, harm: Callable[[bytes, Random], bytes], r: Random) -> bytes:
    if name.endswith(".gz"):
        return gzip.compress(harm(gzip.decompress(packed), r), 1)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    chosen = sorted(entries)[int(r.integers(len(entries)))]
    entries[chosen] = harm(entries[chosen], r)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content)
    return out.getvalue()
