"""Run folders that were edited and sealed again: each must load, or end in an `InputError`; memory stays bounded.

    python tests/fuzz/fuzz_runs.py --variants 3000 --seed 0

A variant changes one file of a run: a value of a JSON document, a tensor, an array of the hierarchy, some bytes, or a
line of checksums.json. Then it is sealed as `wlhn train` seals, loaded, and, if it loads, asked for predictions.
"""

import argparse
import copy
import io
import json
import resource
import shutil
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
from tiny import tiny

from wlhn.data import Dataset, load
from wlhn.errors import InputError
from wlhn.models.registry import MODELS, model_class
from wlhn.runs.run_folder import CHECKSUMS, COLOURS, CONFIG, MODEL, VOCABULARY, load_run, seal
from wlhn.runs.train import train
from wlhn.training.settings import Settings

Edit = Callable[[Path, np.random.Generator], None]
SLOW = 20  # seconds of work after which a variant hangs; a machine that is fitted again takes a second or two

NETWORK = {"hidden_channels": 8, "num_layers": 1, "epochs": 2}
FURTHER: dict[str, dict[str, Any]] = {  # where not as other networks
    "wlhn": {"hidden_channels": 8, "num_layers": 2, "epochs": 2},
    "gat": NETWORK | {"attention_heads": 2},
    "dgcnn": NETWORK | {"sort_nodes": 10},
    "wl-svm": {"rounds": 2},
    "wl-oa": {"rounds": 2},
    "wl-wasserstein": {"rounds": 2},
    "wl-linear": {"rounds": 2, "code": "thermometer"},
    "morgan-forest": {"trees": 3},
    "neighbourhood-trees": {"rounds": 1, "trees": 3},
}
EXTREMES: list[Any] = [
    *(None, True, -1, 0, 1, 2, 3, 10**6, 2**31, 2**47, 10**30, -(10**30), 0.0, 1e308, -0.5, float("nan"), float("inf")),
    *(
        "",
        "x",
        "graph",
        "node",
        "gin",
        "wlhn",
        "classification",
        "regression",
        "\x00",
        "a" * 10_000,
        [],
        {},
        [[]],
        [None],
    ),
    *([1, 0], [0.5], {"x": 1}, [1e400], ["a", "b"], [[1, 2], [3]], list(range(1000))),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a document has values, at any depth."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:5]) if isinstance(value, list) else ()
    return [(*path, key) for key, _ in inner] + [p for key, each in inner for p in places(each, (*path, key))]


def edit_json(name: str) -> Edit:
    def edit(folder: Path, random: np.random.Generator) -> None:
        document = json.loads((folder / name).read_bytes())
        *way, last = (found := places(document))[random.integers(len(found))]
        holder = document
        for key in way:
            holder = holder[key]
        match random.integers(4):
            case 0:
                del holder[last]
            case 1 if isinstance(holder, dict):
                holder[f"{last}x"] = holder[last]
            case 2 if isinstance(holder[last], list):
                holder[last] = holder[last] * 2 if random.random() < 0.5 else holder[last][:-1]
            case _:
                holder[last] = copy.deepcopy(EXTREMES[random.integers(len(EXTREMES))])
        (folder / name).write_text(json.dumps(document))

    return edit


def edit_tensors(folder: Path, random: np.random.Generator) -> None:
    tensors = load_file(folder / MODEL)
    name = sorted(tensors)[random.integers(len(tensors))]
    tensor = tensors.pop(name)
    size = [int(n) for n in random.integers(0, 5, random.integers(0, 4))]
    kinds = [torch.float64, torch.float16, torch.int32, torch.uint8, torch.bool, torch.int64, torch.float32]
    changed = {
        0: lambda: tensor.to(kinds[random.integers(len(kinds))]),
        1: lambda: torch.zeros(size, dtype=tensor.dtype),
        2: lambda: tensor.flatten()[: random.integers(tensor.numel() + 1)].clone(),
        3: lambda: tensor + torch.tensor([1, -1, 10**6, 2**40, -(2**62)])[random.integers(5)].to(tensor.dtype),
        4: lambda: torch.full_like(tensor, float("nan") if tensor.is_floating_point() else -1),
        5: lambda: tensor[torch.randperm(len(tensor))] if tensor.ndim else tensor + 1,
        6: lambda: tensor.T.contiguous() if tensor.ndim == 2 else tensor[None],
    }
    kind = int(random.integers(9))
    if kind in changed:
        tensors[name] = changed[kind]()
    elif kind == 7:
        tensors[f"{name}.more"] = tensor
    save_file(tensors, folder / MODEL)


def edit_colours(folder: Path, random: np.random.Generator) -> None:
    with np.load(folder / COLOURS, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    name = sorted(arrays)[random.integers(len(arrays))]
    array = arrays.pop(name)
    if name == "meta":
        meta = json.loads(str(array))
        meta[sorted(meta)[random.integers(len(meta))]] = EXTREMES[random.integers(len(EXTREMES))]
        arrays[name] = np.array(json.dumps(meta))
    else:
        spot = tuple(random.integers(n) if n else 0 for n in array.shape)
        kind = random.integers(8)
        if kind == 0 and array.size and array.dtype.kind in "iuf":
            array = array.copy()
            array[spot] = [-1, 2**30, -(2**31), 7][random.integers(4)]
        elif kind == 1:
            array = array[: random.integers(len(array) + 1)] if array.ndim else array
        elif kind == 2:
            array = np.concatenate([array, array]) if array.ndim else array
        elif kind == 3:
            array = array.astype([np.float64, ">i4", np.int64, np.uint8, "U5", np.complex64][random.integers(6)])
        elif kind == 4:
            array = array[None]
        elif kind == 5:
            array = array[::-1]
        elif kind == 6:
            array = random.permutation(array) if array.ndim else array
        if kind != 7:
            arrays[name] = array
    if random.random() < 0.1:
        np.savez_compressed(folder / COLOURS, **arrays)
    else:
        np.savez(folder / COLOURS, **arrays)


def edit_shape(folder: Path, random: np.random.Generator) -> None:
    """A shape that the file does not hold, in an array's or in the tensors' header."""
    if random.random() < 0.5:
        raw = (folder / MODEL).read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8 : 8 + length])
        name = sorted(n for n in header if n != "__metadata__")[0]
        part = ["shape", "data_offsets", "dtype"][random.integers(3)]
        header[name][part] = [[2**40, 2**20], [2**62], [-1, 4], [], "F64"][random.integers(5)]
        text = json.dumps(header).encode()
        (folder / MODEL).write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])
        return
    with zipfile.ZipFile(folder / COLOURS) as archive:
        entries = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    name = sorted(entries)[random.integers(len(entries))]
    out = io.BytesIO()
    shape = [(2**40,), (2**20, 2**30), (2**62,), ()][random.integers(4)]
    np.lib.format.write_array_header_1_0(out, {"shape": shape, "fortran_order": False, "descr": "<i4"})
    entries[name] = out.getvalue() + entries[name][-64:]
    with zipfile.ZipFile(folder / COLOURS, "w") as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content)


def edit_bytes(folder: Path, random: np.random.Generator) -> None:
    path = folder / [CONFIG, VOCABULARY, MODEL, COLOURS][random.integers(4)]
    content = bytearray(path.read_bytes())
    for _ in range(random.integers(1, 9)):
        content[random.integers(len(content))] = random.integers(256)
    path.write_bytes(content[: random.integers(len(content))] if random.random() < 0.3 else content)


def edit_checksums(folder: Path, random: np.random.Generator) -> None:
    """Here it is the seal that is edited."""
    seal(folder)
    document = json.loads((folder / CHECKSUMS).read_bytes())
    name = sorted(document)[random.integers(len(document))]
    match random.integers(4):
        case 0:
            del document[name]
            (folder / name).unlink()
        case 1:
            document["../outside"] = document[name]
        case 2:
            document[name] = EXTREMES[random.integers(len(EXTREMES))]
        case _:
            document = EXTREMES[random.integers(len(EXTREMES))]
    (folder / CHECKSUMS).write_text(json.dumps(document))


EDITS: dict[str, tuple[float, Edit]] = {  # how often, and what
    "config.json": (0.3, edit_json(CONFIG)),
    "vocabulary.json": (0.15, edit_json(VOCABULARY)),
    "tensors": (0.2, edit_tensors),
    "hierarchy": (0.2, edit_colours),
    "headers": (0.05, edit_shape),
    "bytes": (0.07, edit_bytes),
    "checksums.json": (0.03, edit_checksums),
}


def attempt(folder: Path, data: Dataset) -> str:
    """What loading and predicting ends in: "loads", "refused", or what must not be."""
    started = time.process_time()
    try:
        trained = load_run(folder)
        for _ in trained.predict(data.graphs):
            pass
        said = "loads"
    except InputError as error:
        said = "refused" if "\n" not in str(error) else f"several lines: {error!r}"
    except Exception as error:
        said = f"{type(error).__name__}: {str(error)[:200]}"
    return said if time.process_time() - started < SLOW else f"took {time.process_time() - started:.0f} s, {said}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variants", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        data = {}
        for name in MODELS.names():
            data[name] = tiny() if "graph" in model_class(name).target_levels else load("karate")
            train(data[name], Settings.of(name, **FURTHER.get(name, NETWORK)), root / name)
            attempt(root / name, data[name])  # compiles loops
            assert attempt(root / name, data[name]) == "loads", name
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        names, chances = list(EDITS), [chance for chance, _ in EDITS.values()]
        started = time.monotonic()
        for k in range(asked.variants):
            random = np.random.default_rng([asked.seed, k])
            model, kind = list(data)[k % len(data)], names[random.choice(len(names), p=chances)]
            folder = root / "variant"
            shutil.copytree(root / model, folder)
            EDITS[kind][1](folder, random)
            if kind != "checksums.json":
                seal(folder)
            said = attempt(folder, data[model])
            outcomes[said if said in ("loads", "refused") else "wrong"] += 1
            if said not in ("loads", "refused"):
                wrong.append(f"variant {k}, {model}, {kind}: {said}")
                print(wrong[-1], flush=True)
            shutil.rmtree(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts = ", ".join(f"{count:,} {said}" for said, count in sorted(outcomes.items()))
    print(
        f"run folders, seed {asked.seed}: {asked.variants:,} variants of {len(data)} models, {counts}; "
        f"{1 - len(wrong) / asked.variants:.2%} sound; {time.monotonic() - started:.0f} s; "
        f"peak {peak >> 10:,} MB ({before >> 10:,} at the start)"
    )
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
