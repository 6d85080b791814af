"""The weights of a run, compared with what a model of its settings has, before any such model is made.

The model is laid out on torch's meta device, where tensors have shapes and no memory; and laying out stops as soon as
it has more parameters than any model with the tensors of the file could have, so that a million layers cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load as load_tensors
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from wlhn.errors import InputError
from wlhn.models.registry import build_model
from wlhn.nn.capabilities import FitsAfterwards, FittedInOneGo
from wlhn.training.settings import Settings

SPARE = 1000  # parameters that a model may make and not keep


def load_model(path: Path, settings: Settings, *widths: Any) -> nn.Module:
    """The model with the weights of a file, or an `InputError` that names the tensor that does not fit.

    `widths` are those that `build_model` takes: inputs, outputs, level and edges.
    """
    tensors = _read(path)
    outline = _outline(path, settings, widths, 4 * len(tensors) + SPARE)
    if not isinstance(outline, FittedInOneGo):  # whose state is its own to check
        wanted = outline.state_dict()
        later = isinstance(outline, FitsAfterwards)  # then there is more, which it checks itself
        if later and tensors.keys() <= wanted.keys():
            raise InputError(f"{path}: what {settings.model} fits after its network is missing")
        _compare(path, {k: v for k, v in tensors.items() if k in wanted or not later}, wanted)
    model = build_model(settings.model, settings.options, *widths)
    try:
        model.load_state_dict(tensors)
    except Exception as error:  # whatever models say of tensors that make no sense to them
        said = " ".join(str(error).split())  # on one line
        raise InputError(f"{path}: does not hold a {settings.model} ({said})") from None
    return model


def _read(path: Path) -> dict[str, Tensor]:
    try:
        tensors = load_tensors(path.read_bytes())
    except OSError:
        raise
    except Exception as error:  # safetensors has several
        raise InputError(f"{path}: is damaged, not a file of tensors ({error})") from None
    for name, tensor in tensors.items():
        unknown_targets = name == "y"  # which machines remember as NaN
        if tensor.is_floating_point() and not unknown_targets and not bool(tensor.isfinite().all()):
            raise InputError(f"{path}, {name}: must be finite numbers, found NaN or infinity")
    return tensors


def _outline(path: Path, settings: Settings, widths: tuple[Any, ...], most: int) -> nn.Module:
    try:
        with torch.device("meta"), _at_most(most):
            return build_model(settings.model, settings.options, *widths)
    except InputError as error:
        raise InputError(f"{path}: does not fit the settings of the run ({error})") from None
    except Exception as error:  # numbers beyond what torch can count to
        raise InputError(
            f"{path}: no {settings.model} of these settings can be laid out ({str(error).splitlines()[0]})"
        ) from None


@contextmanager
def _at_most(parameters: int) -> Iterator[None]:
    """Models made in this block have no more parameters, counted as they are made."""
    count = 0

    def counted(module: nn.Module, name: str, parameter: Any) -> None:
        nonlocal count
        count += 1
        if count > parameters:
            raise InputError(f"they ask for more than {parameters} parameters")

    hook = register_module_parameter_registration_hook(counted)
    try:
        yield
    finally:
        hook.remove()


def _compare(path: Path, found: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    for name in sorted(found.keys() ^ wanted.keys()):
        state = "missing" if name in wanted else "not a tensor of this model"
        raise InputError(f"{path}, {name}: is {state}, by the settings of the run")
    for name, tensor in wanted.items():
        kinds = [f"{tuple(each.shape)} of {each.dtype}" for each in (tensor, found[name])]
        if kinds[0] != kinds[1]:
            raise InputError(f"{path}, {name}: must be {kinds[0]} by the settings of the run, found {kinds[1]}")
