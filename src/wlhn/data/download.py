"""Download: resumed where it broke off, checked, and there as a whole or not at all.

What arrives is not trusted. It lies under `incoming` in the cache until it has been read and its statistics agree with
the paper's; only then is it moved to its place.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from wlhn.data.cache import cache_root
from wlhn.data.readers.archive import STEP, bar_options, broken_as_input_error, safe_entries
from wlhn.data.readers.geom_gcn import EDGES, NODES
from wlhn.data.registry import Known
from wlhn.errors import InputError, UnavailableError
from wlhn.files import write_json

TIMEOUT = 30  # seconds without a byte
ATTEMPTS = 5
LARGEST = 1 << 32  # no known set comes near


def fetch(name: str, known: Known, *, check: Callable[[Path], None], progress: bool = False) -> Path:
    """Download a registered set to its place in the cache; `check` reads what arrived and raises if it is wrong."""
    if not known.addresses:
        raise UnavailableError(f"{name}: not found, and nowhere to be downloaded; put it under the data root")
    incoming, raw = cache_root() / "incoming", cache_root() / "raw"
    files = _files(known)
    for address, file in files.items():
        if not (incoming / file).exists():
            download(address, incoming / file, progress=progress)
    arrived = [known.place] if known.kind == "ogb" else list(files.values())
    try:
        if known.kind == "ogb":
            unpack(incoming / files[known.addresses[0]], incoming / known.place)
        check(incoming / known.place)
    except InputError as error:
        for file in (*arrived, *files.values()):
            _remove(incoming / file)
        raise InputError(f"{name}, downloaded from {known.addresses[0]}: {error}") from None
    for file in arrived:
        (raw / file).parent.mkdir(parents=True, exist_ok=True)
        _remove(raw / file)
        (incoming / file).replace(raw / file)
    for file in files.values():
        _remove(incoming / file)
    return raw / known.place


def download(address: str, target: Path, *, progress: bool = False) -> None:
    """One file; a part that is already there is continued if the server still has the same version."""
    part = target.with_name(target.name + ".part")
    part.parent.mkdir(parents=True, exist_ok=True)
    reason: Exception | None = None
    for _ in range(ATTEMPTS):
        try:
            if _transfer(address, part, progress=progress):
                part.replace(target)
                _version_file(part).unlink(missing_ok=True)
                return
        except urllib.error.HTTPError as error:
            if error.code != 416:  # 416: the part is longer than the file, begin again
                raise UnavailableError(f"{address}: the server answers {error.code} {error.reason}") from None
            part.unlink(missing_ok=True)
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.URLError) and not part.exists():
                why = error.reason
                raise UnavailableError(
                    f"{address}: cannot be reached ({why}); connect to a network, or give a data root"
                ) from None
            reason = error
    raise UnavailableError(f"{address}: broke off {ATTEMPTS} times ({reason}), what arrived is kept for the next try")


def unpack(archive: Path, folder: Path) -> None:
    """A zip with one folder inside as `folder`, whole or not at all; nothing is written outside of it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with broken_as_input_error(str(archive)), zipfile.ZipFile(archive) as files:
            safe_entries(files, archive)
            for info in files.infolist():
                inner = PurePosixPath(*PurePosixPath(info.filename).parts[1:])
                if info.is_dir() or not inner.parts:
                    continue
                (draft / inner).parent.mkdir(parents=True, exist_ok=True)
                with files.open(info) as source, (draft / inner).open("wb") as out:
                    shutil.copyfileobj(source, out, STEP)
        _remove(folder)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _transfer(address: str, part: Path, *, progress: bool) -> bool:
    """Continue a part; whether the file is complete now."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    have = part.stat().st_size if part.exists() else 0
    version = _version_of(part, address) if have else None
    headers = {"User-Agent": "wlhn", "Accept-Encoding": "identity"}
    if version:
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=TIMEOUT) as answer:
        continued = answer.status == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        have = have if continued else 0
        length = answer.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        if total is not None and total > LARGEST:
            raise InputError(f"{address}: has {total:,} bytes, more than the {LARGEST:,} allowed")
        mark = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        write_json(_version_file(part), {"address": address, "version": mark})
        columns = "{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn()
        bar = Progress(*columns, **bar_options(progress))
        with bar, part.open("ab" if continued else "wb") as out:
            task = bar.add_task(part.name.removesuffix(".part"), total=total, completed=have)
            while step := answer.read(STEP):
                have += out.write(step)
                if have > LARGEST:
                    raise InputError(f"{address}: has more than the {LARGEST:,} bytes allowed")
                bar.advance(task, len(step))
            out.flush()
            os.fsync(out.fileno())
    return total is None or have == total


def _version_file(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _version_of(part: Path, address: str) -> str | None:
    """The server's mark of the version that a part belongs to; weak marks cannot be continued."""
    try:
        document = json.loads(_version_file(part).read_bytes())
        version = document["version"] if document["address"] == address else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return version if isinstance(version, str) and not version.startswith("W/") else None


def _files(known: Known) -> dict[str, str]:
    """Addresses and where below the cache they go, the file that makes a set complete last."""
    address = known.addresses[0]
    if known.kind != "geom-gcn":
        return {address: known.place if known.kind == "tu" else f"{known.place}.zip"}
    site, _, name = address.rpartition("/new_data/")
    splits = [f"{name}_split_0.6_0.2_{k}.npz" for k in range(10)]
    return {f"{site}/splits/{file}": f"geom-gcn/splits/{file}" for file in splits} | {
        f"{address}/{file}": f"{known.place}/{file}" for file in (NODES, EDGES)
    }


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
